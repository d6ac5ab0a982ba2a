// What the ingress port reports, as a queue of items: an instruction, a trap, both (the trap is the later one), or a
// marker where tracing is switched. Spec: RVET-ENC-045, RVET-ENC-047, RVET-ENC-048.

module etrace_items #(
    parameter int ITEM = 1,         // bits of an item
    parameter int DEPTH = 64        // a power of 2
) (
    input  logic            clk,
    input  logic            rst,
    // at most a marker and an item per clock, the marker first
    input  logic            marker_valid, item_valid,
    input  logic [ITEM-1:0] marker, item,
    output logic            overflow,
    output logic            head_valid,
    output logic [ITEM-1:0] head,
    input  logic            take
);
    localparam int P = $clog2(DEPTH);

    logic [ITEM-1:0] queue [DEPTH];
    logic [P-1:0] first, last;      // oldest, and first free place
    logic [P:0] used;

    wire [P-1:0] second = last + 1;
    wire [P-1:0] item_at = marker_valid ? second : last;
    wire [1:0] more = {1'b0, marker_valid} + {1'b0, item_valid};
    wire fits = used + (P+1)'(more) <= (P+1)'(DEPTH);

    assign overflow = !fits;
    assign head_valid = used != 0;
    assign head = queue[first];

    always_ff @(posedge clk) begin
        if (rst) begin
            first <= 0;
            last <= 0;
            used <= 0;
        end else begin
            if (fits && marker_valid) queue[last] <= marker;
            if (fits && item_valid) queue[item_at] <= item;
            if (fits) last <= last + P'(more);
            first <= first + P'(take);
            used <= used + (fits ? (P+1)'(more) : 0) - (P+1)'(take);
        end
    end
endmodule
