// A CoreSight deformatter for captures in memory: frames in, bytes of trace sources out. It is the example of a decoder
// in hardware, and no product.

module deformatter (
    input  logic       clk,
    input  logic       rst,
    input  logic [7:0] defect,     // 1: a delayed ID takes effect at once
    input  logic       valid,
    input  logic [7:0] value,
    input  logic       finish,     // the stream ends
    output logic       ready,
    output logic       out_valid,  // a byte of a source
    output logic [6:0] out_id,
    output logic [7:0] out_byte,
    output logic       gap,        // a barrier: what comes does not follow on what came
    output logic       reserved,   // an ID that no source has
    output logic       framing,    // what looks like a synchronisation packet
    output logic       truncated   // the stream ends inside of a frame
);
    localparam logic [127:0] BARRIER = {4{32'h7fffffff}};

    logic [127:0] frame;           // byte 0 in bits 7:0
    logic [4:0] filled;
    logic [3:0] at;
    logic delayed;
    logic [6:0] id, next_id;

    wire working = filled == 16;
    wire barrier = working && frame == BARRIER;
    wire [7:0] current = frame[8*at +: 8];
    wire auxiliary = frame[120 + 32'(at[3:1])];
    wire is_id = !at[0] && current[0];
    wire [6:0] new_id = current[7:1];
    // Spec: ARM-FMT-003 to 005. The auxiliary bit of byte 14 delays nothing.
    wire delays = auxiliary && at != 14 && defect != 1;
    wire last = at == 14;

    assign ready = !working;
    assign out_valid = working && !barrier && !is_id && id != 0 && id != 7'h7f;
    assign out_id = id;
    assign out_byte = at[0] ? current : {current[7:1], auxiliary};
    assign gap = barrier;
    wire is_sync = new_id == 7'h7f && frame[8*(at+1) +: 8] == 8'h7f;
    wire no_source = working && !barrier && is_id && new_id >= 7'h70 && new_id != 7'h7d;
    assign reserved = no_source && !is_sync;
    assign framing = no_source && is_sync;
    assign truncated = finish && filled != 0 && !working;

    always_ff @(posedge clk) begin
        if (rst) begin
            {frame, filled, at, delayed, id, next_id} <= 0;
        end else if (barrier) begin
            {filled, at, delayed, id} <= 0;
        end else if (working) begin
            if (is_id && delays) {delayed, next_id} <= {1'b1, new_id};
            else if (is_id) id <= new_id;
            else if (delayed) {delayed, id} <= {1'b0, next_id};
            at <= last ? 0 : at + 1;
            if (last) filled <= 0;
        end else if (valid) begin
            frame[8*filled[3:0] +: 8] <= value;
            filled <= filled + 1;
        end else if (finish) begin
            filled <= 0;
        end
    end
endmodule
