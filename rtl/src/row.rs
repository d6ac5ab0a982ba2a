//! The rows of a pack: one clock of the ingress port, or an order to the testbench.

use std::fmt::Write as _;

/// What a row orders. The discriminant is the number in the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Last row of a pack.
    #[default]
    End = 0,
    /// A case begins.
    Case = 1,
    /// One clock of the ingress port.
    Cycle = 2,
    /// Clocks with an empty ingress port.
    Idle = 3,
    /// A control field is written.
    Field = 4,
    /// The transport takes packets or does not.
    Ready = 5,
    /// Clocks until the output is quiet.
    Drain = 6,
}

impl Op {
    /// The order with this number.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::End,
            1 => Self::Case,
            2 => Self::Cycle,
            3 => Self::Idle,
            4 => Self::Field,
            5 => Self::Ready,
            6 => Self::Drain,
            _ => return None,
        })
    }
}

/// One block of the ingress port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// `iaddr`.
    pub iaddr: u64,
    /// `itype`.
    pub itype: u8,
    /// `ilastsize`.
    pub ilastsize: u8,
    /// Bit 0 `sijump`, bit 1 notify.
    pub flags: u8,
    /// `iretire`.
    pub iretire: u16,
}

impl Slot {
    /// Bit of `sijump`.
    pub const SIJUMP: u8 = 1;
    /// Bit of the notify request.
    pub const NOTIFY: u8 = 2;

    /// Nothing retired or trapped in this block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.itype == 0 && self.iretire == 0
    }
}

/// A row; `docs/pack.md` describes its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its number in the pack.
    pub number: u32,
    /// What it orders.
    pub op: Op,
    /// `priv`.
    pub privilege: u8,
    /// `ctype`.
    pub ctype: u8,
    /// Bit 0 trace-on, bit 1 trace-off.
    pub trigger: u8,
    /// Bit 0 `halted`, bit 1 `reset`.
    pub status: u8,
    /// `cause`, or argument A of an order.
    pub cause: u64,
    /// `tval`, or argument B of an order.
    pub tval: u64,
    /// `context`.
    pub context: u64,
    /// `time`.
    pub time: u64,
    /// EPC of a trap in this row.
    pub epc: u64,
    /// Where the first instruction after a trap in this row retires.
    pub handler: u64,
    /// The blocks, oldest first; as many as the port has.
    pub blocks: Vec<Slot>,
}

/// Columns before the blocks: name and hexadecimal digits.
pub(crate) const HEAD: [(&str, usize); 12] = [
    ("row", 8),
    ("op", 2),
    ("priv", 1),
    ("ctype", 1),
    ("trigger", 2),
    ("status", 2),
    ("cause", 16),
    ("tval", 16),
    ("context", 16),
    ("time", 16),
    ("epc", 16),
    ("handler", 16),
];

/// Columns of each block.
pub(crate) const BLOCK: [(&str, usize); 5] =
    [("iaddr", 16), ("itype", 1), ("ilastsize", 1), ("flags", 2), ("iretire", 4)];

impl Row {
    /// An order without arguments for a port with so many blocks.
    #[must_use]
    pub fn order(op: Op, a: u64, b: u64, blocks: usize) -> Self {
        Self { op, cause: a, tval: b, blocks: vec![Slot::default(); blocks], ..Self::default() }
    }

    /// Words of 32 bits of a row.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        14 + 3 * blocks
    }

    /// The values of the columns, in order.
    #[must_use]
    pub fn values(&self) -> Vec<u64> {
        let mut values = vec![
            self.number.into(),
            self.op as u64,
            self.privilege.into(),
            self.ctype.into(),
            self.trigger.into(),
            self.status.into(),
            self.cause,
            self.tval,
            self.context,
            self.time,
            self.epc,
            self.handler,
        ];
        for slot in &self.blocks {
            values.extend([
                slot.iaddr,
                slot.itype.into(),
                slot.ilastsize.into(),
                slot.flags.into(),
                slot.iretire.into(),
            ]);
        }
        values
    }

    /// The columns of a row with so many blocks: name and digits.
    pub(crate) fn columns(blocks: usize) -> impl Iterator<Item = (&'static str, usize)> {
        HEAD.into_iter().chain(std::iter::repeat_n(BLOCK, blocks).flatten())
    }

    /// The row as a line of a pack, without line end.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for ((_, digits), value) in Self::columns(self.blocks.len()).zip(self.values()) {
            if !text.is_empty() {
                text.push('_');
            }
            let _ = write!(text, "{value:0digits$x}");
        }
        text
    }

    /// Reads a line of a pack.
    ///
    /// # Errors
    ///
    /// The column, counted in characters from 1, and what is wrong.
    pub fn parse(line: &str, blocks: usize) -> Result<Self, (usize, String)> {
        let mut values = Vec::with_capacity(HEAD.len() + blocks * BLOCK.len());
        let mut rest = line;
        for (index, (name, digits)) in Self::columns(blocks).enumerate() {
            let at = line.len() - rest.len() + 1;
            let text = if index == 0 { rest } else { rest.strip_prefix('_').unwrap_or(rest) };
            let column = text.get(..digits).filter(|column| column.bytes().all(|b| b.is_ascii_hexdigit()));
            let column =
                column.ok_or_else(|| (at, format!("`{name}` must have {digits} hexadecimal digits")))?;
            let value = u64::from_str_radix(column, 16).map_err(|error| (at, error.to_string()))?;
            values.push(value);
            rest = text.get(digits..).unwrap_or_default();
        }
        if !rest.is_empty() {
            return Err((line.len() - rest.len() + 1, format!("`{rest}` is after the last column")));
        }
        Self::from_values(&values).ok_or_else(|| (10, String::from("the opcode is unknown")))
    }

    /// The widths of the columns bound the values, so the casts lose nothing.
    #[allow(clippy::cast_possible_truncation, reason = "columns have no more digits than their fields")]
    pub(crate) fn from_values(values: &[u64]) -> Option<Self> {
        let (head, blocks) = values.split_at_checked(HEAD.len())?;
        let &[number, op, privilege, ctype, trigger, status, cause, tval, context, time, epc, handler] = head
        else {
            return None;
        };
        let blocks = blocks.chunks_exact(BLOCK.len()).map(|slot| match *slot {
            [iaddr, itype, ilastsize, flags, iretire] => Slot {
                iaddr,
                itype: itype as u8,
                ilastsize: ilastsize as u8,
                flags: flags as u8,
                iretire: iretire as u16,
            },
            _ => Slot::default(),
        });
        Some(Self {
            number: number as u32,
            op: Op::from_number(op)?,
            privilege: privilege as u8,
            ctype: ctype as u8,
            trigger: trigger as u8,
            status: status as u8,
            cause,
            tval,
            context,
            time,
            epc,
            handler,
            blocks: blocks.collect(),
        })
    }

    /// Clocks that the row takes at least, without reset and drain.
    #[must_use]
    pub const fn clocks(&self) -> u64 {
        match self.op {
            Op::Idle => self.cause,
            Op::Cycle | Op::Field => 1,
            Op::End | Op::Case | Op::Ready | Op::Drain => 0,
        }
    }
}

/// The checksum of the rows that were driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u32);

impl Default for Checksum {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Checksum {
    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        let (mut word, mut digits) = (0_u32, 0);
        for ((_, width), value) in Row::columns(row.blocks.len()).zip(row.values()) {
            for digit in (0..width).rev() {
                word = word << 4 | (value >> (4 * digit) & 0xf) as u32;
                digits += 1;
                if digits == 8 {
                    self.add_word(word);
                    (word, digits) = (0, 0);
                }
            }
        }
    }

    /// Adds 32 bits of a row.
    pub(crate) const fn add_word(&mut self, word: u32) {
        self.0 = (self.0 ^ word).rotate_left(5).wrapping_mul(0x0100_0193);
    }

    /// The value so far.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/pack.md` shows where the columns are; the widths must fill the words.
    #[test]
    fn columns_fill_the_words() {
        for blocks in 1..=4 {
            let digits: usize = Row::columns(blocks).map(|(_, digits)| digits).sum();
            assert_eq!(digits, 8 * Row::words(blocks));
        }
    }

    #[test]
    fn rows_are_read_back() {
        let slot = Slot { iaddr: 0x8000_0004, itype: 5, ilastsize: 1, flags: 3, iretire: 2 };
        let row = Row {
            number: 7,
            op: Op::Cycle,
            privilege: 3,
            tval: u64::MAX,
            blocks: vec![slot; 2],
            ..Row::default()
        };
        assert_eq!(Row::parse(&row.text(), 2), Ok(row));
    }

    #[test]
    fn errors_name_the_column() {
        let text = Row::order(Op::Idle, 3, 0, 1).text();
        assert_eq!(Row::parse(&text.replacen("_03_", "_99_", 1), 1).unwrap_err().0, 10);
        assert_eq!(Row::parse(&text.replacen("_03_", "_0x_", 1), 1).unwrap_err().0, 9);
        assert!(Row::parse(&text, 2).is_err());
        assert!(Row::parse(&format!("{text}0"), 1).is_err());
        assert!(Row::parse("", 1).is_err());
    }

    /// Computed with another program from the algorithm of `docs/pack.md`.
    #[test]
    fn checksum_of_the_example() {
        let text = include_str!("../tests/packs/example/pack.memh");
        let mut checksum = Checksum::default();
        for line in text.lines() {
            checksum.add(&Row::parse(line, 1).expect("a row"));
        }
        assert_eq!(checksum.value(), 0x24b5_6adf);
    }
}
