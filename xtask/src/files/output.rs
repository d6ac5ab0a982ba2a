//! Outputs: a file appears, or changes, only when it is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::Failure;

/// An output. A plain file is written beside its place and renamed; without [`publish`](Self::publish) nothing of it is
/// left, and what was there stays.
pub(crate) struct Output {
    to: To,
    target: PathBuf,
}

enum To {
    /// The standard output, a device or a pipe of the shell, as it comes.
    Stream(BufWriter<Box<dyn Write + 'static>>),
    /// A new file beside the target.
    Beside(BufWriter<NamedTempFile>),
    /// A temporary file, for a stream that gets everything or nothing.
    Held(BufWriter<NamedTempFile>),
}

impl Output {
    /// An output that a stream gets as it is written.
    pub(crate) fn create(target: &Path) -> Result<Self, Failure> {
        if is_stream(target) {
            let to = To::Stream(BufWriter::with_capacity(BUFFER, stream(target)?));
            return Ok(Self { to, target: target.to_owned() });
        }
        Self::beside(target)
    }

    /// An output that appears only when it is complete, in a stream, too.
    pub(crate) fn whole(target: &Path) -> Result<Self, Failure> {
        if is_stream(target) {
            let held = NamedTempFile::new().map_err(|error| Failure::file(target, error))?;
            return Ok(Self {
                to: To::Held(BufWriter::with_capacity(BUFFER, held)),
                target: target.to_owned(),
            });
        }
        Self::beside(target)
    }

    fn beside(target: &Path) -> Result<Self, Failure> {
        // Of a link, the file that it leads to is replaced, not the link.
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let name = target.file_name().ok_or_else(|| Failure::file(&target, "not the name of a file"))?;
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{}.", name.to_string_lossy());
        builder.prefix(&prefix).suffix(".partial");
        if let Some(permissions) = permissions(&target) {
            builder.permissions(permissions);
        }
        let file = builder
            .tempfile_in(directory.unwrap_or(Path::new(".")))
            .map_err(|error| Failure::file(&target, error))?;
        Ok(Self { to: To::Beside(BufWriter::with_capacity(BUFFER, file)), target })
    }

    /// The output is complete.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { to, target } = self;
        let failed = |error: io::Error| Failure::file(&target, error);
        match to {
            To::Stream(mut stream) => Ok(stream.flush()?),
            To::Beside(file) => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                file.persist(&target).map(drop).map_err(|error| failed(error.error))
            }
            To::Held(file) => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                let mut to = stream(&target)?;
                io::copy(&mut file.reopen().map_err(failed)?, &mut to)?;
                Ok(to.flush()?)
            }
        }
    }
}

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

impl Write for Output {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            To::Stream(stream) => stream.write_all(bytes),
            To::Beside(file) | To::Held(file) => file.write_all(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Stream(stream) => stream.write(bytes),
            To::Beside(file) | To::Held(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stream(stream) => stream.flush(),
            To::Beside(file) | To::Held(file) => file.flush(),
        }
    }
}

/// Writes a file at once; `-` is the standard output.
pub(crate) fn write(target: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut output = Output::create(target)?;
    output.write_all(content.as_ref()).map_err(|error| Failure::file(target, error))?;
    output.publish()
}

/// Refuses outputs that are one of the inputs, or one another, or named pipes: `(option, file)` each.
pub(crate) fn check_apart(
    inputs: &[(&str, Option<&Path>)],
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    let given = |files: &[(&str, Option<&Path>)]| -> Vec<(String, PathBuf)> {
        let named =
            files.iter().filter_map(|(option, file)| Some(((*option).to_owned(), (*file)?.to_owned())));
        named.collect()
    };
    let outputs = given(outputs);
    for (index, (option, output)) in outputs.iter().enumerate() {
        check_no_pipe(output)?;
        let before = given(inputs).into_iter().chain(outputs.iter().take(index).cloned());
        for (other, file) in before {
            if is_same(&file, output) {
                return Err(Failure::usage(format!(
                    "{option} {} is the file of {other}; nothing was written",
                    output.display()
                )));
            }
        }
    }
    Ok(())
}

/// Refuses outputs that are files in a directory of inputs, or below: `(option, file)` each.
pub(crate) fn check_outside(
    what: &str,
    directory: &Path,
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    for (option, output) in outputs {
        if let Some(output) = output
            && is_inside(output, directory)
        {
            return Err(Failure::usage(format!(
                "{option} {} is a file of {what}; nothing was written",
                output.display()
            )));
        }
    }
    Ok(())
}

/// Whether a file is there, in a directory or below.
fn is_inside(file: &Path, directory: &Path) -> bool {
    match (file.canonicalize(), directory.canonicalize()) {
        (Ok(file), Ok(directory)) => file.starts_with(directory),
        _ => false,
    }
}

/// Whether two paths lead to one plain file, which may not exist yet.
fn is_same(a: &Path, b: &Path) -> bool {
    if is_stream(a) || is_stream(b) {
        return false;
    }
    match (identity(a), identity(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => place(a).is_some_and(|a| Some(a) == place(b)),
        _ => false,
    }
}

/// Refuses a named pipe: it would wait for its other end, which may never come.
pub(crate) fn check_no_pipe(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() != "-" && is_named_pipe(path) {
        return Err(Failure::file(path, "a named pipe, not a plain file; use - and a pipe of the shell"));
    }
    Ok(())
}

/// Whether it is a pipe with a place among the files; those of the shell, such as `/dev/stdout`, have none.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let is_pipe = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    is_pipe
        && path.canonicalize().is_ok_and(|path| !path.starts_with("/proc") && !path.starts_with("/dev/fd"))
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}

/// Directory and name of a file that does not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Those of the file that is replaced, or what a new file usually has.
#[cfg(unix)]
fn permissions(target: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    let there = fs::metadata(target).map(|found| found.permissions());
    // The process's mask applies.
    Some(there.unwrap_or_else(|_| Permissions::from_mode(0o666)))
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Permissions> {
    None
}

/// Whether it is the standard output, a device or a pipe: nothing that could be replaced.
fn is_stream(target: &Path) -> bool {
    target.as_os_str() == "-" || fs::metadata(target).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn stream(target: &Path) -> Result<Box<dyn Write>, Failure> {
    if target.as_os_str() == "-" {
        return Ok(Box::new(io::stdout()));
    }
    check_no_pipe(target)?;
    let file = File::options().write(true).open(target).map_err(|error| Failure::file(target, error))?;
    Ok(Box::new(file))
}
