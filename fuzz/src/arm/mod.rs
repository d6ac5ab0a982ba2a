//! Properties of what the ARM families share.

pub mod formatter;
