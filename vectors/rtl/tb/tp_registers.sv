// Control fields as writes of the registers of the RISC-V Trace Control Interface: the register-write map.
//
// A wrapper of a device with these registers connects it to the control fields of tp_driver. Packs write single fields;
// registers hold several, so this module keeps what was written before. A device with other registers has another map.

module tp_registers (
    input  logic        clk,
    input  logic        rst,
    input  logic        field_valid,
    input  logic [7:0]  field,
    input  logic [63:0] field_value,
    output logic        field_ready,
    // one write of 32 bits, two for what has 64; `write_ready` accepts it
    output logic        write_valid,
    output logic [11:0] write_address,
    output logic [31:0] write_data,
    input  logic        write_ready,
    // the field is in none of the registers below
    output logic        unknown
);
    localparam logic [11:0] TR_TE_CONTROL = 12'h000, TR_TE_INST_FEATURES = 12'h008, TR_TE_INST_FILTERS = 12'h00c;
    localparam logic [11:0] TR_TE_FILTER = 12'h400, TR_TE_COMP = 12'h600;

    logic [31:0] control = 0, features = 0;

    // Lowest bit and width of a field in its register; width 0 = not known.
    function automatic logic [9:0] place(input logic [7:0] number);
        case (number)
            8'h01: place = {5'd0, 5'd1};    // trTeActive
            8'h02: place = {5'd1, 5'd1};    // trTeEnable
            8'h03: place = {5'd2, 5'd1};    // trTeInstTracing
            8'h04: place = {5'd16, 5'd2};   // trTeInstSyncMode
            8'h05: place = {5'd20, 5'd4};   // trTeInstSyncMax
            8'h06: place = {5'd0, 5'd1};    // trTeInstNoAddrDiff
            8'h07: place = {5'd1, 5'd1};    // trTeInstNoTrapAddr
            8'h08: place = {5'd2, 5'd1};    // trTeInstEnSequentialJump
            8'h09: place = {5'd3, 5'd1};    // trTeInstEnImplicitReturn
            8'h0a: place = {5'd4, 5'd1};    // trTeInstEnBranchPrediction
            8'h0b: place = {5'd5, 5'd1};    // trTeInstEnJumpTargetCache
            8'h0c: place = {5'd11, 5'd1};   // trTeInstTrigEnable
            default: place = {5'd0, 5'd0};
        endcase
    endfunction

    // Whole registers: the selection of filters, 16 filters and 8 comparators. Groups of numbers: 1 filter control,
    // 2 its MatchInst, 3 its MatchEcause, 4 comparator control, 5 its PMatch, 6 its SMatch.
    wire [2:0] group = field[7:5];
    wire is_filter = group >= 1 && group <= 3 && !field[4];
    wire is_comparator = group >= 4 && group <= 6 && field[4:3] == 0;
    wire is_whole = field == 8'h0d || is_filter || is_comparator;
    wire is_wide = (is_filter && group == 3) || (is_comparator && group >= 5);
    logic high = 0;   // bits 63:32 are written
    wire [11:0] in_filter = group == 1 ? 12'h0 : group == 2 ? 12'h4 : 12'h8;
    wire [11:0] in_comparator = group == 4 ? 12'h0 : group == 5 ? 12'h10 : 12'h18;
    wire [11:0] unit = {3'd0, field[3:0], 5'd0};
    wire [11:0] whole_address = field == 8'h0d ? TR_TE_INST_FILTERS
        : (is_filter ? TR_TE_FILTER + in_filter : TR_TE_COMP + in_comparator) + unit + (high ? 12'h4 : 12'h0);

    wire [4:0] lowest, width;
    assign {lowest, width} = place(field);
    wire in_features = field >= 8'h06 && field <= 8'h0b;
    wire [31:0] mask = ((32'd1 << width) - 1) << lowest;
    wire [31:0] held = in_features ? features : control;

    assign unknown = field_valid && width == 0 && !is_whole;
    assign write_valid = field_valid && !unknown;
    assign write_address = is_whole ? whole_address : in_features ? TR_TE_INST_FEATURES : TR_TE_CONTROL;
    assign write_data = is_whole ? (high ? field_value[63:32] : field_value[31:0])
        : (held & ~mask) | ((field_value[31:0] << lowest) & mask);
    assign field_ready = unknown || (write_ready && (!is_wide || high));

    always_ff @(posedge clk) begin
        if (rst) begin
            control <= 0;
            features <= 0;
            high <= 0;
        end else if (write_valid && write_ready) begin
            high <= is_wide && !high;
            if (in_features) features <= write_data;
            else if (!is_whole) control <= write_data;
        end
    end

endmodule
