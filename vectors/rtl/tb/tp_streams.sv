// Drives the rows of a pack of streams (`traceproof vectors streams`) and begins and ends the log of answers. Users do
// not change this file; their module is `stream_wrap`.
//
// +rows=FILE names `bytes.memh` or `stimulus.memh`, +log=FILE the log. A row is kept in the register that drives the
// wrapper; the checksum is computed from this register when the wrapper takes it.

module tp_streams #(
    parameter int WORDS = 2  // words of a row: 2 for bytes, `TP_WORDS` of streams.vh for stimulus
) (
    input  logic                clk,
    output logic                rst,     // four clocks at the start of a case
    output logic                valid,   // a byte or a step: `row` is taken in a clock in which `ready` is high, too
    output logic                finish,  // the stream or the stimulus of the case ends; taken like a row
    output logic [32*WORDS-1:0] row,     // a byte is in row[7:0]; columns of stimulus are where streams.vh says
    input  logic                ready,
    input  logic                busy,    // answers still come: the next case waits
    output logic [31:0]         log      // the file for lines of answers
);
    localparam logic [7:0] END = 0, CASE = 1, STEP = 2, FINISH = 3, START = 8'hff;
    localparam int BITS = 32 * WORDS;
    localparam logic [31:0] RESET_CLOCKS = 4, QUIET_CLOCKS = 16;

    logic [BITS-1:0] row_q = {32'd0, START, {(BITS-40){1'b0}}};
    logic [31:0] clocks = 0, rows = 0, checksum = 32'h811c9dc5, quiet = 0;
    logic ending = 0;
    wire [7:0] order = row_q[BITS-33 -: 8];

    integer file;
    string name;
    initial begin
        if (!$value$plusargs("rows=%s", name)) $fatal(1, "tp_streams: +rows=FILE is missing");
        file = $fopen(name, "r");
        if (file == 0) $fatal(1, "tp_streams: the file of +rows cannot be read");
        if (!$value$plusargs("log=%s", name)) $fatal(1, "tp_streams: +log=FILE is missing");
        log = $fopen(name, "w");
        if (log == 0) $fatal(1, "tp_streams: the file of +log cannot be written");
        $fdisplay(log, "traceproof-answers 1");
    end

    function automatic logic [BITS-1:0] next_row();
        logic [BITS-1:0] whole;
        if ($fscanf(file, "%h", whole) != 1) $fatal(1, "tp_streams: the pack has no end row");
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

    assign rst = order == START || order == CASE;
    assign valid = order == STEP;
    assign finish = order == FINISH && !ending;
    assign row = row_q;

    wire taken = order == START || (order == CASE && clocks + 1 >= RESET_CLOCKS) || (valid && ready)
        || (ending && quiet >= QUIET_CLOCKS);

    always @(posedge clk) begin
        clocks <= clocks + 1;
        quiet <= busy ? 0 : quiet + 1;
        if (order == CASE && clocks == 0) $fdisplay(log, "C %0d", row_q[BITS-41 -: 24]);
        if (finish && ready) begin
            ending <= 1;
            quiet <= 0;
        end
        if (taken) begin
            row_q <= next_row();
            clocks <= 0;
            ending <= 0;
            if (order != START) begin
                rows <= rows + 1;
                checksum <= added(checksum, row_q);
            end
        end
        if (order == END) begin
            $fdisplay(log, "R %0d %h", rows + 1, added(checksum, row_q));
            $fdisplay(log, "E");
            $fclose(log);
            $finish;
        end
    end
endmodule
