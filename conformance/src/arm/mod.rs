//! What the harness shares among the ARM families.

pub(crate) mod bench;
pub(crate) mod opcodes;
