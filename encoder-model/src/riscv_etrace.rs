//! RISC-V Efficient Trace.
