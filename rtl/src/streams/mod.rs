//! Packs of shipped cases, for hardware that is no E-Trace encoder: streams for decoders, and stimulus for models of
//! everything else, in rows of numbers.
//!
//! One mechanism serves every protocol: the bytes of a case, its stimulus as the columns that its notation has, and
//! what is expected in JSON Lines. What came out of a simulation is a log of answers; [`Replay`] makes a decoder or an
//! encoder of it, so that whatever judges those judges hardware, too. `docs/pack.md` describes the files.

mod answers;
mod manifest;
mod read;
mod replay;
mod table;
mod write;

pub use answers::{Answer, Answers};
pub use manifest::{FORMAT, Rows, StreamEntry, StreamManifest};
pub use read::{StreamPack, read};
pub use replay::{Recorded, Replay};
pub use table::Column;
pub use write::{StreamCase, write};

use crate::Checksum;

/// What a row of `bytes.memh` or `stimulus.memh` orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The last row.
    End = 0,
    /// A case begins: the device is reset. The argument is its number.
    Case = 1,
    /// A byte, which is the argument, or a step of stimulus.
    Step = 2,
    /// The stream or the stimulus of the case ends.
    Finish = 3,
}

/// The first two words of a row: its number, what it orders, an argument of 24 bits.
fn head(number: usize, step: Step, argument: u32) -> [u32; 2] {
    [u32::try_from(number).unwrap_or(u32::MAX), (step as u32) << 24 | (argument & 0xff_ffff)]
}

/// Rows as text, with their count and checksum.
#[derive(Default)]
struct Sheet {
    text: String,
    rows: usize,
    checksum: Checksum,
}

impl Sheet {
    /// Adds a row; `rest` are the digits after its head, so many that words are whole.
    fn row(&mut self, step: Step, argument: u32, rest: &str) {
        let [number, order] = head(self.rows, step, argument);
        let text = format!("{number:08x}_{:02x}_{:06x}{rest}\n", order >> 24, order & 0xff_ffff);
        let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
        for word in digits.chunks(8) {
            self.checksum.add_word(word.iter().fold(0, |word, digit| word << 4 | digit));
        }
        self.text.push_str(&text);
        self.rows += 1;
    }

    fn rows(&self, words: usize) -> Rows {
        Rows { rows: self.rows as u64, words, checksum: format!("{:08x}", self.checksum.value()) }
    }
}
