// The testbench of packs of streams: clock, driver, wrapper. Users do not change this file.
module tp_streams_tb #(
    parameter int WORDS = 2
);
    logic clk = 0;
    initial forever #5 clk = !clk;

    wire rst, valid, finish, ready, busy;
    wire [32*WORDS-1:0] row;
    wire [31:0] log;

    tp_streams #(.WORDS(WORDS)) driver (.*);
    stream_wrap #(.WORDS(WORDS)) wrap (.*);
endmodule
