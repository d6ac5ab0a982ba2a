// The golden model in the place of a device: the wrapper of vectors/rtl/tb for it. +golden=FILE names the `dut.toml`
// whose parameters and policy it has. To compare with your encoder cycle by cycle, give both the same signals.

module dut_wrap
    import tp_golden_pkg::*;
#(
    parameter int BLOCKS = 1
) (
    input  logic                 clk, rst,
    input  logic [3:0]           priv, ctype,
    input  logic                 trace_on, trace_off, halted, hart_reset,
    input  logic [63:0]          cause, tval, ctx, tstamp,
    input  logic [63:0]          epc, handler,
    input  logic [64*BLOCKS-1:0] iaddr,
    input  logic [4*BLOCKS-1:0]  itype, ilastsize,
    input  logic [BLOCKS-1:0]    sijump, notify,
    input  logic [16*BLOCKS-1:0] iretire,
    input  logic                 field_valid,
    input  logic [7:0]           field,
    input  logic [63:0]          field_value,
    output logic                 field_ready,
    output logic                 out_valid, out_stream,
    output logic [7:0]           out_length,
    output logic [511:0]         out_bytes,
    input  logic                 out_ready,
    output logic                 report_valid,
    output logic [7:0]           report_code
);
    chandle model;
    string path;
    bit [511:0] bytes;
    longint length;
    logic ready_q;

    initial begin
        if (!$value$plusargs("golden=%s", path)) $fatal(1, "dut_golden: +golden=FILE is missing");
        model = tp_golden_open_file(path);
        if (model == null) $fatal(1, "dut_golden: %s", tp_golden_error(null));
    end

    task automatic check(input longint result);
        if (result < 0) $fatal(1, "dut_golden: %s", tp_golden_error(model));
    endtask

    task automatic one_clock();
        if (out_ready != ready_q) check(tp_golden_ready(model, {7'd0, out_ready}));
        if (field_valid) begin
            check(tp_golden_field(model, field, field_value));
        end else begin
            for (int k = 0; k < BLOCKS; k++)
                check(tp_golden_block(model, {4'd0, itype[4*k +: 4]}, iaddr[64*k +: 64], {16'd0, iretire[16*k +: 16]},
                                      {4'd0, ilastsize[4*k +: 4]}, {7'd0, sijump[k]}, {7'd0, notify[k]}));
            check(tp_golden_cycle(model, cause, tval, {4'd0, priv}, ctx, tstamp, {4'd0, ctype},
                                  {4'd0, hart_reset, halted, trace_off, trace_on}));
        end
    endtask

    // One packet per clock leaves; the others wait in the model.
    always @(posedge clk) begin
        if (rst) begin
            check(tp_golden_reset(model));
            ready_q <= 1'b1;
            out_valid <= 1'b0;
        end else begin
            ready_q <= out_ready;
            one_clock();
            if (!out_valid || out_ready) begin
                length = tp_golden_payload(model, bytes, 64);
                check(length);
                out_valid <= length > 0;
                out_length <= length[7:0];
                out_bytes <= bytes;
            end
        end
    end

    assign field_ready = 1'b1;
    assign out_stream = 1'b0;
    assign report_valid = 1'b0;
    assign report_code = 8'd0;

    wire unused = &{1'b0, epc, handler};
endmodule
