// The testbench: clock, driver, wrapper, monitor. Users do not change this file.

module tp_tb #(
    parameter int BLOCKS = 1
);
    logic clk = 0;
    initial forever #5 clk = !clk;

    tp_bench #(.BLOCKS(BLOCKS)) bench (.clk(clk));
endmodule
