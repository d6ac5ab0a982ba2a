//! The command line of Traceproof.
#![forbid(unsafe_code)]
fn main() {}
