//! Files of bounded size inside a directory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use super::error::{SnapshotError, SnapshotProblem};

/// The whole file, if it is a plain one of at most `limit` bytes.
pub(super) fn read(file: &Path, limit: u64) -> Result<Vec<u8>, SnapshotError> {
    let (mut opened, bytes) = open(file)?;
    if bytes > limit {
        return Err(error(file, SnapshotProblem::TooLarge { bytes, limit }));
    }
    let mut content = Vec::new();
    opened.by_ref().take(limit).read_to_end(&mut content).map_err(|reason| unreadable(file, &reason))?;
    Ok(content)
}

/// `length` bytes from `offset` on; what is left of the file without a length.
pub(super) fn read_part(
    file: &Path,
    offset: u64,
    length: Option<u64>,
    limit: u64,
) -> Result<Vec<u8>, SnapshotError> {
    let (mut opened, bytes) = open(file)?;
    let length = length.unwrap_or_else(|| bytes.saturating_sub(offset));
    let wanted = offset.saturating_add(length);
    if wanted > bytes {
        return Err(error(file, SnapshotProblem::ShortFile { wanted, bytes }));
    }
    if length > limit {
        return Err(error(file, SnapshotProblem::TooLarge { bytes: length, limit }));
    }
    opened.seek(SeekFrom::Start(offset)).map_err(|reason| unreadable(file, &reason))?;
    let mut content = Vec::new();
    opened.take(length).read_to_end(&mut content).map_err(|reason| unreadable(file, &reason))?;
    Ok(content)
}

/// The path of a file that a snapshot names; `None` if it leads out of the directory, by its parts or by a link. Both
/// kinds of slash separate.
pub(super) fn inside(directory: &Path, name: &str) -> Option<PathBuf> {
    let relative = PathBuf::from(name.replace('\\', "/"));
    let stays = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = directory.join(relative);
    // A file that is missing is an error of its own, when it is opened.
    let linked_out = || match (path.canonicalize(), directory.canonicalize()) {
        (Ok(path), Ok(directory)) => !path.starts_with(directory),
        _ => false,
    };
    (stays && !name.is_empty() && !linked_out()).then_some(path)
}

fn open(file: &Path) -> Result<(File, u64), SnapshotError> {
    // Opening a pipe would wait for its writer, so look first.
    let metadata = std::fs::metadata(file).map_err(|reason| unreadable(file, &reason))?;
    if !metadata.is_file() {
        return Err(error(file, SnapshotProblem::NotAFile));
    }
    let opened = File::open(file).map_err(|reason| unreadable(file, &reason))?;
    Ok((opened, metadata.len()))
}

fn unreadable(file: &Path, reason: &std::io::Error) -> SnapshotError {
    error(file, SnapshotProblem::Unreadable(reason.to_string()))
}

fn error(file: &Path, problem: SnapshotProblem) -> SnapshotError {
    SnapshotError { file: file.to_owned(), line: 0, problem }
}
