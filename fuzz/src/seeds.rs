//! Seeds made from the shipped cases. They are made when they are needed; only inputs that once failed are committed
//! (`fuzz/regressions/<target>/`).

use std::path::Path;
use std::{fs, io};

/// A seed: target, file name and bytes.
pub type Seed = (&'static str, String, Vec<u8>);

/// Writes the seeds to `<corpus>/<target>/<name>`; other files there stay. Returns how many were written.
///
/// # Errors
///
/// When a directory or file cannot be written.
pub fn write(corpus: &Path, seeds: &[Seed]) -> io::Result<usize> {
    for (target, name, bytes) in seeds {
        let directory = corpus.join(target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(name), bytes)?;
    }
    Ok(seeds.len())
}
