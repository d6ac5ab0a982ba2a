// Template: connects your encoder to the testbench. Copy it, and replace what is marked.
//
// All signals have fixed widths; take the low bits of what your device has. Block 0 is the oldest of a clock.
// docs/pack.md describes the signals.

module dut_wrap #(
    parameter int BLOCKS = 1
) (
    input  logic                 clk, rst,
    // ingress port
    input  logic [3:0]           priv, ctype,
    input  logic                 trace_on, trace_off, halted, hart_reset,
    input  logic [63:0]          cause, tval, ctx, tstamp,   // `ctx` and `tstamp`: signals `context` and `time`
    input  logic [63:0]          epc, handler,               // look-ahead that cores have, not of the port
    input  logic [64*BLOCKS-1:0] iaddr,
    input  logic [4*BLOCKS-1:0]  itype, ilastsize,
    input  logic [BLOCKS-1:0]    sijump, notify,
    input  logic [16*BLOCKS-1:0] iretire,
    // control fields, numbers as in docs/pack.md; held until accepted
    input  logic                 field_valid,
    input  logic [7:0]           field,
    input  logic [63:0]          field_value,
    output logic                 field_ready,
    // packets or beats of a stream; byte 0 in out_bytes[7:0]
    output logic                 out_valid, out_stream,      // out_stream: 1 if bytes of an encapsulator, else 0
    output logic [7:0]           out_length,                 // bytes, 1 to 64
    output logic [511:0]         out_bytes,
    input  logic                 out_ready,
    // problems, such as an overflow
    output logic                 report_valid,
    output logic [7:0]           report_code
);
    wire write_valid, unknown;
    wire [11:0] write_address;
    wire [31:0] write_data;
    tp_registers map (.*, .write_ready(1'b1));               // or your own registers

    assign out_stream = 1'b0;
    assign report_valid = unknown;
    assign report_code = 8'd1;

    // Your encoder here. This one says nothing, and `check-rtl` reports it.
    assign out_valid = 1'b0;
    assign out_length = 8'd0;
    assign out_bytes = 512'd0;

    wire unused = &{1'b0, out_ready, priv, ctype, trace_on, trace_off, halted, hart_reset, cause, tval, ctx, tstamp,
                    epc, handler, iaddr, itype, ilastsize, sijump, notify, iretire, write_valid, write_address,
                    write_data};
endmodule
