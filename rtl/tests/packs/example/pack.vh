`define TP_ROWS 11
`define TP_BLOCKS 1
`define TP_WORDS 17
