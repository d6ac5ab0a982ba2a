// Connects the test device to the testbench. Its parameters are macros, so that a command line selects them.

`ifndef TP_XLEN
`define TP_XLEN 32
`endif
`ifndef TP_LSB
`define TP_LSB 1
`endif
`ifndef TP_PRIVILEGE
`define TP_PRIVILEGE 2
`endif
`ifndef TP_ECAUSE
`define TP_ECAUSE 4
`endif
`ifndef TP_CONTEXT
`define TP_CONTEXT 0
`endif
`ifndef TP_TIME
`define TP_TIME 0
`endif
`ifndef TP_COMPRESS
`define TP_COMPRESS 1
`endif
`ifndef TP_SEPARATE
`define TP_SEPARATE 0
`endif
`ifndef TP_CONTEXT_LAST
`define TP_CONTEXT_LAST 0
`endif

module dut_wrap #(
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
    wire write_valid, unknown, overflow;
    wire [11:0] write_address;
    wire [31:0] write_data;
    wire [287:0] bytes;

    tp_registers map (.*, .write_ready(1'b1));

    logic [7:0] defect;
    initial if (!$value$plusargs("defect=%d", defect)) defect = 8'd0;

    etrace_encoder #(
        .XLEN(`TP_XLEN), .LSB(`TP_LSB), .PRIVILEGE(`TP_PRIVILEGE), .ECAUSE(`TP_ECAUSE), .CONTEXT(`TP_CONTEXT),
        .TIME(`TP_TIME), .COMPRESS(`TP_COMPRESS), .SEPARATE(`TP_SEPARATE), .CONTEXT_LAST(`TP_CONTEXT_LAST)
    ) encoder (
        .clk, .rst, .defect,
        .itype(itype[3:0]), .iretire(iretire[0]), .ilastsize(ilastsize[0]), .iaddr(iaddr[63:0]), .cause, .tval, .ctx,
        .tstamp, .priv, .ctype(ctype[1:0]), .trace_on, .trace_off, .notify(notify[0]), .halted, .hart_reset,
        .write_valid, .write_address, .write_data,
        .out_valid, .out_length, .out_bytes(bytes), .out_ready, .overflow
    );

    assign out_stream = 1'b0;
    assign out_bytes = {224'd0, bytes};
    assign report_valid = unknown || overflow;
    assign report_code = unknown ? 8'd1 : 8'd2;

    wire unused = &{1'b0, epc, handler, sijump, ctype, iaddr, itype, ilastsize, iretire, notify};
endmodule
