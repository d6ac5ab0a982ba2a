//! Questions in, answers out.

use std::io::{self, BufRead, BufWriter, ErrorKind, Read, Write};

use crate::library;
use crate::question::{Answer, Question};

/// The longest line of a question, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Answers questions from `input` until it ends.
///
/// # Errors
///
/// When a question cannot be read or an answer cannot be written. What OpenCSD does is not an error here, and nothing
/// holds it back: it may crash this process, or never come back.
pub fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    let mut input = io::BufReader::new(input);
    let mut output = BufWriter::new(output);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let question: Question =
            serde_json::from_slice(&line).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        let mut memory = Vec::with_capacity(question.memory.len());
        for section in &question.memory {
            memory.push((section.address, read(&mut input, section.length)?));
        }
        let trace = read(&mut input, question.trace)?;
        let mut broken = Ok(());
        let last = library::answer(&question, &memory, &trace, &mut |answer| {
            if broken.is_ok() {
                broken = write(&mut output, answer);
            }
        });
        broken?;
        write(&mut output, &last)?;
        output.flush()?;
    }
}

fn read(input: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let got = input.take(length.into()).read_to_end(&mut bytes)?;
    if got as u64 == u64::from(length) { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn write(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    serde_json::to_writer(&mut *output, answer)?;
    output.write_all(b"\n")
}
