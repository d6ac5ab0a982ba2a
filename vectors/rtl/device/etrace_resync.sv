// The resynchronisation timer. Spec: RVET-ENC-005, RVET-ENC-038 to 040, RVET-ENC-080.

module etrace_resync (
    input  logic       clk,
    input  logic       rst,
    input  logic [1:0] mode,         // trTeInstSyncMode: 1 packets, 2 clocks, 3 half-words
    input  logic [3:0] max,          // trTeInstSyncMax
    // the current instruction, and whether it is finished
    input  logic [3:0] halfwords,    // 0 if there is none
    input  logic       step,
    input  logic       is_target,    // it is an uninferable discontinuity, the next one is its target
    input  logic       sent_packet,  // any packet that counts
    input  logic       sent_address, // a format 1 or 2 with address
    input  logic       sent_sync,    // a format 3.0 or 3.1
    output logic       flush,        // state 2: pending outcomes are reported now
    output logic       start         // state 3: the next instruction gets a start packet
);
    logic [1:0] state;
    logic [20:0] count;
    logic running;

    wire [20:0] limit = 21'd16 << max;
    wire [20:0] clocks = mode == 2 ? 1 : 0;
    wire [20:0] packets = (mode == 1 && sent_packet) ? 1 : 0;
    wire [20:0] retired = mode == 3 ? 21'(halfwords) : 0;
    // The current instruction counts: it is the first that may be reported for the timer.
    wire due = mode != 0 && running && count + retired >= limit;
    wire [20:0] sum = count + clocks + packets + (step ? retired : 0);

    assign flush = state == 2 || (state == 1 && due);
    assign start = state == 3;

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= 1;
            count <= 0;
            running <= 0;
        end else if (sent_sync) begin
            state <= 1;
            count <= 0;
            running <= 1;
        end else begin
            if (running && !due) count <= sum;
            if (flush && step) state <= (sent_address || !is_target) ? 3 : 2;
        end
    end
endmodule
