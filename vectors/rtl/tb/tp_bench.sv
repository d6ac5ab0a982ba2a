// Driver, wrapper and monitor with a clock from outside. Users do not change this file.

module tp_bench #(
    parameter int BLOCKS = 1
) (
    input logic clk
);
    wire rst, trace_on, trace_off, halted, hart_reset;
    wire [3:0] priv, ctype;
    wire [63:0] cause, tval, ctx, tstamp, epc, handler;
    wire [64*BLOCKS-1:0] iaddr;
    wire [4*BLOCKS-1:0] itype, ilastsize;
    wire [BLOCKS-1:0] sijump, notify;
    wire [16*BLOCKS-1:0] iretire;
    wire field_valid, field_ready;
    wire [7:0] field;
    wire [63:0] field_value;
    wire out_valid, out_ready, out_stream;
    wire [7:0] out_length, report_code;
    wire [511:0] out_bytes;
    wire report_valid;
    wire [31:0] row, row_clocks, rows, checksum;
    wire [63:0] argument;
    wire at_case, at_drained, at_end, at_refused, quiet;

    tp_driver #(.BLOCKS(BLOCKS)) driver (.*);
    dut_wrap #(.BLOCKS(BLOCKS)) wrap (.*);
    tp_monitor monitor (.*);
endmodule
