//! What subjects write to their standard error, for a person to watch.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A line that is longer is cut into pieces, in bytes.
const MOST: usize = 4 << 10;

/// Where the lines go that subjects write to their standard error, besides the end of it that verdicts show. Clones
/// write to the same place, a whole line at a time, in front of it the number of the process.
#[derive(Clone)]
pub struct StderrCopy(Arc<Mutex<Box<dyn Write + Send>>>);

impl StderrCopy {
    /// Copies to this writer. Its errors are not reported: nobody is judged by them.
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

/// The same place.
impl PartialEq for StderrCopy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Cuts what one process writes into lines.
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
        // Whoever watches may have gone.
        let _ = self.copy.line(self.process, &line);
    }
}

/// A last line without its end.
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
            self.0.lock().expect("nobody panics").write(bytes)
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
        let text = String::from_utf8(kept.0.lock().expect("nobody panics").clone()).expect("text");
        let x = "x".repeat(MOST);
        assert_eq!(text, format!("[2] a\n[1] begun\n[2] b\n[1] {x}\n[1] x\n"));
    }
}
