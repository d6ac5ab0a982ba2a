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
    // one write of 32 bits; `write_ready` accepts it
    output logic        write_valid,
    output logic [11:0] write_address,
    output logic [31:0] write_data,
    input  logic        write_ready,
    // the field is in none of the registers below
    output logic        unknown
);
    localparam logic [11:0] TR_TE_CONTROL = 12'h000, TR_TE_INST_FEATURES = 12'h008;

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

    wire [4:0] lowest, width;
    assign {lowest, width} = place(field);
    wire in_features = field >= 8'h06 && field <= 8'h0b;
    wire [31:0] mask = ((32'd1 << width) - 1) << lowest;
    wire [31:0] held = in_features ? features : control;

    assign unknown = field_valid && width == 0;
    assign write_valid = field_valid && !unknown;
    assign write_address = in_features ? TR_TE_INST_FEATURES : TR_TE_CONTROL;
    assign write_data = (held & ~mask) | ((field_value[31:0] << lowest) & mask);
    assign field_ready = unknown || write_ready;

    always_ff @(posedge clk) begin
        if (rst) begin
            control <= 0;
            features <= 0;
        end else if (write_valid && write_ready) begin
            if (in_features) features <= write_data;
            else control <= write_data;
        end
    end

    wire unused = &{1'b0, field_value[63:32]};
endmodule
