// Writes the log that `traceproof check-rtl` reads, and ends the simulation. Users do not change this file.
//
// +log=FILE names the log.

module tp_monitor (
    input logic         clk,
    input logic         rst,
    // from the wrapper
    input logic         out_valid,
    input logic         out_ready,
    input logic         out_stream,
    input logic [7:0]   out_length,
    input logic [511:0] out_bytes,
    input logic         report_valid,
    input logic [7:0]   report_code,
    // from the driver
    input logic [31:0]  row,
    input logic [63:0]  argument,
    input logic         at_case,
    input logic         at_drained,
    input logic         at_end,
    input logic         at_refused,
    input logic [31:0]  row_clocks,
    input logic         quiet,
    input logic [31:0]  rows,
    input logic [31:0]  checksum
);
    integer log;
    string name;
    logic [63:0] clocks = 0;

    initial begin
        if (!$value$plusargs("log=%s", name)) $fatal(1, "tp_monitor: +log=FILE is missing");
        log = $fopen(name, "w");
        if (log == 0) $fatal(1, "tp_monitor: the file of +log cannot be written");
        $fdisplay(log, "traceproof-log 1");
    end

    // One packet (`P`) or one beat of a stream (`B`). Lengths that fit no payload are reported, not cut.
    task automatic packet(input integer to, input logic stream, input logic [31:0] at, input logic [63:0] clock,
                                   input logic [7:0] length, input logic [511:0] bytes);
        if (length == 0 || length > 64) begin
            $fdisplay(to, "X %h %0d packet of %0d bytes", at, clock, length);
        end else begin
            if (stream) $fwrite(to, "B %h %0d ", at, clock);
            else $fwrite(to, "P %h %0d ", at, clock);
            for (int i = 0; i < 64; i++) if (i < 32'(length)) $fwrite(to, "%h", bytes[8*i +: 8]);
            $fwrite(to, "\n");
        end
    endtask

    always @(posedge clk) begin
        clocks <= clocks + 1;
        if (at_case) $fdisplay(log, "C %0d", argument);
        if (!rst && out_valid && out_ready) packet(log, out_stream, row, clocks, out_length, out_bytes);
        if (!rst && report_valid) $fdisplay(log, "X %h %0d code %0d", row, clocks, report_code);
        if (at_refused) $fdisplay(log, "X %h %0d a field was not accepted", row, clocks);
        if (at_drained) $fdisplay(log, "D %h %0d %0d", row, row_clocks, quiet);
        if (at_end) begin
            $fdisplay(log, "R %0d %h", rows, checksum);
            $fdisplay(log, "E");
            $fclose(log);
            $display("tp_monitor: %0d rows in %0d clocks", rows, clocks);
            $finish;
        end
    end
endmodule
