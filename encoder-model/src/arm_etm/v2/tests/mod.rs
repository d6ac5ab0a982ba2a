//! ARM ETMv2: the packet writer and the macrocell model against the specification.

mod control;
mod exceptions;
mod load_misses;
mod packets;
mod pins;
mod transfers;
