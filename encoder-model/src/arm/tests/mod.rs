//! Tests of what the ARM families share.

mod formatter;
