//! Tests of what the ARM families share.

mod deformatter;
mod program_map;
