//! Copies the standard error of subjects.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum length of a line in bytes; longer lines are split.
const MOST: usize = 4 << 10;

/// A copy of the standard error of subjects; verdicts show only the end of it. Clones write to the same writer, one
/// whole line at a time, after the id of the process.
#[derive(Clone)]
pub struct StderrCopy(Arc<Mutex<Box<dyn Write + Send>>>);

impl StderrCopy {
    /// Copies to this writer. Its errors are ignored: they do not affect verdicts.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(writer))))
    }

    fn line(&self, process: u32, line: &[u8]) -> io::Result<()> {
        let mut text =
            format!("[{process}] {}", String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']));
        text.push('\n');
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(text.as_bytes())?;
        writer.flush()
    }
}

impl fmt::Debug for StderrCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StderrCopy")
    }
}

/// Equal if both write to the same writer.
impl PartialEq for StderrCopy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Splits the output of one process into lines.
pub(super) struct Lines {
    copy: StderrCopy,
    process: u32,
    begun: Vec<u8>,
}

impl Lines {
    pub(super) const fn new(copy: StderrCopy, process: u32) -> Self {
        Self { copy, process, begun: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.begun.push(*byte);
            if *byte == b'\n' || self.begun.len() >= MOST {
                self.write();
            }
        }
    }

    fn write(&mut self) {
        let line = std::mem::take(&mut self.begun);
        // The writer may be closed.
        let _ = self.copy.line(self.process, &line);
    }
}

/// Writes a last line that has no line end.
impl Drop for Lines {
    fn drop(&mut self) {
        if !self.begun.is_empty() {
            self.write();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("not poisoned").write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_of_processes_stay_whole() {
        let kept = Kept::default();
        let copy = StderrCopy::new(kept.clone());
        let (mut one, mut other) = (Lines::new(copy.clone(), 1), Lines::new(copy, 2));
        one.push(b"be");
        other.push(b"a\r\nb");
        one.push(b"gun\n");
        drop(other);
        one.push(&[b'x'; MOST + 1]);
        drop(one);
        let text = String::from_utf8(kept.0.lock().expect("not poisoned").clone()).expect("text");
        let x = "x".repeat(MOST);
        assert_eq!(text, format!("[2] a\n[1] begun\n[2] b\n[1] {x}\n[1] x\n"));
    }
}
