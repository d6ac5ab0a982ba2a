//! RISC-V E-Trace: the packet writer, the encoder model and the hart against the specification.
//!
//! Expected values are worked examples of the specification or put together by hand; none comes from the code
//! under test.

mod bench;
mod control;
mod data;
mod encapsulation;
mod fast_path;
mod irets;
mod modes;
mod multi_access;
mod packets;
mod ports;
mod resynchronisation;
mod sequences;
mod shapes;
mod standard_support;
mod unencodable;
