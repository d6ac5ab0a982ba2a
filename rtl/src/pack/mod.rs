//! A pack on disk; `docs/pack.md` describes it.

mod forms;
mod manifest;
mod read;
mod write;

pub use manifest::{Alternative, BinCounts, CaseEntry, ExpectLine, LeftOut, Manifest};
pub(crate) use read::Files;
pub use read::{Pack, PackCase, image, read};
pub(crate) use write::prepare;
pub use write::{write, write_recorded};

use sha2::{Digest as _, Sha256};

/// SHA256 in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
