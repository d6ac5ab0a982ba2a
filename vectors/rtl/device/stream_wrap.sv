// The wrapper of the deformatter: the example for a decoder in hardware. Answers are JSON as in `<id>.expect`.

module stream_wrap #(
    parameter int WORDS = 2
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                valid,
    input  logic                finish,
    input  logic [32*WORDS-1:0] row,
    output logic                ready,
    output logic                busy,
    input  logic [31:0]         log
);
    logic [7:0] defect;
    initial if (!$value$plusargs("defect=%d", defect)) defect = 0;

    wire out_valid, gap, reserved, framing, truncated;
    wire [6:0] out_id;
    wire [7:0] out_byte;

    deformatter dut (.clk, .rst, .defect, .valid, .value(row[7:0]), .finish, .ready, .out_valid, .out_id, .out_byte,
                     .gap, .reserved, .framing, .truncated);
    assign busy = !ready;

    always @(posedge clk) if (!rst) begin
        if (out_valid) $fdisplay(log, "J {\"event\":{\"data\":{\"id\":%0d,\"bytes\":\"%h\"}}}", out_id, out_byte);
        if (gap) $fdisplay(log, "J {\"event\":\"gap\"}");
        if (reserved) $fdisplay(log, "J {\"fault\":\"reserved-encoding\"}");
        if (framing) $fdisplay(log, "J {\"fault\":\"framing\"}");
        if (truncated) $fdisplay(log, "J {\"fault\":\"truncated\"}");
    end

    wire unused = &{1'b0, row[32*WORDS-1:8]};
endmodule
