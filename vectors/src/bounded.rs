//! Files that are read whole: plain ones, up to a stated size.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a TOML file of settings: parameters, policy, subject, device.
///
/// Reading TOML may take fifty times its length.
pub const TEXT: u64 = 1 << 20;

/// Bytes of a longer TOML file: cases, requirements, baselines, stimulus, a stream of a corpus.
pub const TOML: u64 = 4 << 20;

/// Bytes of results, of a log in the notation of cases, of formatter frames.
pub const LISTING: u64 = 256 << 20;

/// Reads a file.
///
/// # Errors
///
/// When it cannot be read, is no plain file (reading a pipe or a device might never end), or has more than `limit`
/// bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = || io::Error::other(format!("larger than the limit of {limit} bytes"));
    let length = file.metadata()?.len();
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // It may grow meanwhile.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a file as text.
///
/// # Errors
///
/// As [`read`], and when it is not UTF-8.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens a plain file.
///
/// # Errors
///
/// When it cannot be opened, or is a directory, pipe or device.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its writer, so look first.
    let plain = |found: fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("not a plain file")),
    };
    plain(fs::metadata(path)?)?;
    let file = File::open(path)?;
    plain(file.metadata()?)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), b"four").expect("written");
        assert_eq!(read(file.path(), 4).expect("as large as allowed"), b"four");
        assert_eq!(
            read(file.path(), 3).expect_err("too large").to_string(),
            "larger than the limit of 3 bytes"
        );
    }

    #[test]
    fn directories_and_devices_are_refused() {
        for path in ["/", "/dev/zero", "/dev/null"] {
            if Path::new(path).exists() {
                assert_eq!(read(Path::new(path), TEXT).expect_err(path).to_string(), "not a plain file");
            }
        }
        assert_eq!(read(Path::new("/no/such"), TEXT).expect_err("nothing").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), b"\xff\xfe").expect("written");
        let error = read_to_string(file.path(), TEXT).expect_err("no text");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
