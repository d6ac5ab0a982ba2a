//! The decoder and the encoder model classify every encoding of a table as an independent disassembler's text does.
//!
//! The scripts beside this file write the tables; nothing of this project has a part in them.

mod riscv;
