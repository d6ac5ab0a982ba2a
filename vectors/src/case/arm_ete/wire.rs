//! The bytes of `wire`.

use crate::case::arm::stream::read_line;
use crate::case::{Problem, check_wire};

/// No line repeats a byte more often: a slip of the pen shall not fill the memory.
const MOST_REPEATED: usize = 1 << 16;

/// Lines of pairs of hexadecimal digits; `00*11` is a byte so many times.
pub(super) fn read(lines: &[String]) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let wrong = |message: &str| Problem::new(format!("wire[{index}]"), message);
        for word in line.split_ascii_whitespace() {
            let (byte, count) =
                word.split_once('*').map_or((word, None), |(byte, count)| (byte, Some(count)));
            let read = read_line(byte).map_err(wrong)?;
            match (count, read.as_slice()) {
                (None, _) => bytes.extend(read),
                (Some(count), [byte]) => {
                    let count = count.parse().ok().filter(|count| (1..=MOST_REPEATED).contains(count));
                    let count = count.ok_or_else(|| wrong("a byte is repeated 1 to 65536 times"))?;
                    bytes.extend(std::iter::repeat_n(*byte, count));
                }
                (Some(_), _) => return Err(wrong("one byte is repeated, as in `00*11`")),
            }
            check_wire(index, &bytes)?;
        }
    }
    Ok(bytes)
}
