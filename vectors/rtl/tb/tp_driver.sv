// Drives the rows of a pack, one after the other. Users do not change this file.
//
// Rows are read while the simulation runs, so no pack is too large: +rows=FILE names `pack.memh`. A row is
// kept in the register that drives the wrapper; the checksum is computed from this register at the clock edge at which
// the device samples it, so it shows what the device saw.

module tp_driver #(
    parameter int BLOCKS = 1  // blocks per clock, `TP_BLOCKS` of the pack
) (
    input  logic                  clk,
    // the ingress port and the control fields, see dut_wrap.sv
    output logic                  rst,
    output logic [3:0]            priv,
    output logic [3:0]            ctype,
    output logic                  trace_on,
    output logic                  trace_off,
    output logic                  halted,
    output logic                  hart_reset,
    output logic [63:0]           cause,
    output logic [63:0]           tval,
    output logic [63:0]           ctx,
    output logic [63:0]           tstamp,
    output logic [63:0]           epc,
    output logic [63:0]           handler,
    output logic [64*BLOCKS-1:0]  iaddr,
    output logic [4*BLOCKS-1:0]   itype,
    output logic [4*BLOCKS-1:0]   ilastsize,
    output logic [BLOCKS-1:0]     sijump,
    output logic [BLOCKS-1:0]     notify,
    output logic [16*BLOCKS-1:0]  iretire,
    output logic                  field_valid,
    output logic [7:0]            field,
    output logic [63:0]           field_value,
    input  logic                  field_ready,
    output logic                  out_ready,
    input  logic                  out_valid,
    // to the monitor
    output logic [31:0]           row,
    output logic [63:0]           argument,   // number of the case
    output logic                  at_case,    // first clock of a case row
    output logic                  at_drained, // last clock of a drain row
    output logic                  at_end,     // the end row was driven
    output logic                  at_refused, // the wrapper does not accept a field
    output logic [31:0]           row_clocks, // clocks of the row, this one included
    output logic                  quiet,
    output logic [31:0]           rows,
    output logic [31:0]           checksum
);
    localparam int WORDS = 14 + 3 * BLOCKS;
    localparam int BITS = 32 * WORDS;

    localparam logic [7:0] END = 8'h00, CASE = 8'h01, CYCLE = 8'h02, IDLE = 8'h03;
    localparam logic [7:0] FIELD = 8'h04, READY = 8'h05, DRAIN = 8'h06;

    // Clocks of reset, and clocks after which a field counts as refused.
    localparam logic [31:0] RESET_CLOCKS = 32'd4, PATIENCE = 32'd65536;

    // The row and its columns. One register, assigned as a whole: Verilator 5.006 evaluates a function once for each
    // part of a concatenation on the left.
    logic [BITS-1:0]      row_q = {32'd0, CASE, {(BITS-40){1'b0}}};
    wire [7:0]            op, trigger, status;
    wire [31:0]           number;
    wire [3:0]            priv_q, ctype_q;
    wire [63:0]           cause_q, tval_q, ctx_q, tstamp_q, epc_q, handler_q;
    wire [96*BLOCKS-1:0]  blocks_q;
    assign {number, op, priv_q, ctype_q, trigger, status, cause_q, tval_q, ctx_q, tstamp_q, epc_q, handler_q, blocks_q}
        = row_q;

    // How long the row has been driven, and what was driven.
    logic                 started = 0, ended = 0, ready_q = 1;
    logic [31:0]          clocks_q = 0, silent_q = 0;
    logic [31:0]          rows_q = 0, checksum_q = 32'h811c9dc5;

    integer file;

    // The next row of the file.
    function automatic logic [BITS-1:0] next_row();
        logic [BITS-1:0] whole;
        if ($fscanf(file, "%h", whole) != 1) $fatal(1, "tp_driver: the pack has no end row");
        next_row = whole;
    endfunction

    function automatic logic [31:0] added(input logic [31:0] sum, input logic [BITS-1:0] whole);
        logic [31:0] h, x;
        h = sum;
        for (int w = WORDS - 1; w >= 0; w--) begin
            x = h ^ whole[32*w +: 32];
            x = {x[26:0], x[31:27]};
            h = x * 32'h01000193;
        end
        added = h;
    endfunction

    // Files

    string name;
    initial begin
        if (!$value$plusargs("rows=%s", name)) $fatal(1, "tp_driver: +rows=FILE is missing");
        file = $fopen(name, "r");
        if (file == 0) $fatal(1, "tp_driver: the file of +rows cannot be read");
    end

    // When the row ends

    wire active = started && op != END;
    wire is_cycle = active && op == CYCLE;
    wire is_idle = active && op == IDLE;
    assign row_clocks = clocks_q + 1;
    wire [31:0] silent = (out_valid && out_ready) ? 0 : silent_q + 1;
    assign quiet = silent >= tval_q[31:0];
    assign at_refused = field_valid && !field_ready && row_clocks >= PATIENCE;

    function automatic logic ends(input logic [7:0] order, input logic [31:0] clocks, input logic [31:0] most,
                                  input logic accepted, input logic is_quiet);
        case (order)
            CASE: ends = clocks >= RESET_CLOCKS;
            IDLE: ends = clocks >= most;
            FIELD: ends = accepted;
            DRAIN: ends = is_quiet || clocks >= most;
            default: ends = 1'b1;
        endcase
    endfunction

    wire last = active && ends(op, row_clocks, cause_q[31:0], field_ready || at_refused, quiet);

    // What the wrapper and the monitor see

    assign rst = !started || op == CASE;
    assign priv = (is_cycle || is_idle) ? priv_q : 0;
    assign ctype = (is_cycle || is_idle) ? ctype_q : 0;
    assign trace_on = is_cycle && trigger[0];
    assign trace_off = is_cycle && trigger[1];
    assign halted = (is_cycle || is_idle) && status[0];
    assign hart_reset = (is_cycle || is_idle) && status[1];
    assign cause = is_cycle ? cause_q : 0;
    assign tval = is_cycle ? tval_q : 0;
    assign ctx = (is_cycle || is_idle) ? ctx_q : 0;
    assign tstamp = (is_cycle || is_idle) ? tstamp_q : 0;
    assign epc = is_cycle ? epc_q : 0;
    assign handler = is_cycle ? handler_q : 0;

    for (genvar k = 0; k < BLOCKS; k++) begin : gen_block
        wire [95:0] block = blocks_q[96*(BLOCKS-1-k) +: 96];
        assign iaddr[64*k +: 64] = (is_cycle || is_idle) ? block[95:32] : 0;
        assign itype[4*k +: 4] = is_cycle ? block[31:28] : 0;
        assign ilastsize[4*k +: 4] = (is_cycle || is_idle) ? block[27:24] : 0;
        assign sijump[k] = is_cycle && block[16];
        assign notify[k] = is_cycle && block[17];
        assign iretire[16*k +: 16] = is_cycle ? block[15:0] : 0;
        wire unused = &{1'b0, block[23:18]};
    end

    wire unused = &{1'b0, trigger, status};

    assign field_valid = active && op == FIELD;
    assign field = field_valid ? cause_q[7:0] : 0;
    assign field_value = field_valid ? tval_q : 0;
    assign out_ready = (active && op == READY) ? cause_q[0] : ready_q;

    assign row = number;
    assign argument = cause_q;
    assign at_case = active && op == CASE && clocks_q == 0;
    assign at_drained = last && op == DRAIN;
    wire is_end = started && op == END;
    assign at_end = ended;
    assign rows = rows_q;
    assign checksum = checksum_q;

    always @(posedge clk) begin
        started <= 1'b1;
        clocks_q <= row_clocks;
        silent_q <= silent;
        if (rst) ready_q <= 1'b1;
        else ready_q <= out_ready;
        if (last || (is_end && !ended)) begin
            rows_q <= rows_q + 1;
            checksum_q <= added(checksum_q, row_q);
            ended <= is_end;
        end
        if (last || !started) begin
            row_q <= next_row();
            clocks_q <= 0;
            silent_q <= 0;
        end
    end
endmodule
