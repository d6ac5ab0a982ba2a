//! A pack on disk; `docs/pack.md` describes it.

mod forms;
mod manifest;
mod read;
mod write;

pub use manifest::{Alternative, BinCounts, CaseEntry, ExpectLine, LeftOut, Manifest};
pub use read::{Pack, PackCase, image, read};
pub use write::{write, write_recorded};

use sha2::{Digest as _, Sha256};

/// SHA256 in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
