//! Tables of encodings by independent disassemblers: the classification of decoder and encoder model, and executions of
//! every encoding that any subject is judged by.
//!
//! The scripts beside the tables write them; nothing of this project has a part in them.

mod arm;
mod riscv;
mod sweeps;
mod wrong_class;
