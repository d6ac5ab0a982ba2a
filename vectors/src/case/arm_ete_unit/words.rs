//! Words of an item with their columns, and the names of values.

use crate::arm_ete_unit::{Barrier, Outcome, Resources, Space, StatusBit, Visible};
use crate::notation::parse_u64;

/// What is wrong in a line, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotationError {
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// A word of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub column: usize,
    pub text: &'a str,
}

impl Word<'_> {
    pub(super) fn wrong(&self, message: impl Into<String>) -> NotationError {
        NotationError { column: self.column, message: message.into() }
    }

    /// A decimal or `0x…` number of so many bits.
    pub(super) fn number(&self, bits: u32) -> Result<u64, NotationError> {
        parse_u64(self.text)
            .filter(|value| bits == u64::BITS || value >> bits == 0)
            .ok_or_else(|| self.wrong(format!("`{}` is no number of {bits} bits", self.text)))
    }

    /// 0 or 1.
    pub(super) fn flag(&self) -> Result<bool, NotationError> {
        self.named(&[("0", false), ("1", true)])
    }

    /// A value of a register: hexadecimal, `0x` may precede it.
    pub(super) fn value(&self) -> Result<u64, NotationError> {
        let digits =
            self.text.strip_prefix("0x").or_else(|| self.text.strip_prefix("0X")).unwrap_or(self.text);
        let is_hex = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let value = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex);
        value.ok_or_else(|| {
            self.wrong(format!("`{}` is no value; values are hexadecimal: 1000 or 0x1000", self.text))
        })
    }

    /// The value of this name.
    pub(super) fn named<T: Copy>(&self, names: &[(&str, T)]) -> Result<T, NotationError> {
        names.iter().find(|(name, _)| *name == self.text).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            self.wrong(format!("`{}` is none of {}", self.text, names.join(", ")))
        })
    }

    /// The parts before and after the separator, each with its column.
    pub(super) fn split(&self, separator: &str) -> Option<(Self, Self)> {
        let (before, after) = self.text.split_once(separator)?;
        let column = self.column + before.chars().count() + separator.chars().count();
        Some((Self { text: before, ..*self }, Self { column, text: after }))
    }
}

/// The words of an item that are still to be read.
pub(super) struct Words<'a> {
    words: Vec<Word<'a>>,
    next: usize,
    /// The column after the last word.
    end: usize,
}

impl<'a> Words<'a> {
    /// The words of `text`, whose first character has this column.
    pub(super) fn new(text: &'a str, column: usize) -> Self {
        let mut words = Vec::new();
        let mut rest = text;
        let mut at = column;
        loop {
            let trimmed = rest.trim_start();
            let blanks = rest.len() - trimmed.len();
            at += rest.get(..blanks).unwrap_or_default().chars().count();
            if trimmed.is_empty() {
                break;
            }
            let length = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            let (word, after) = trimmed.split_at(length);
            words.push(Word { column: at, text: word });
            at += word.chars().count();
            rest = after;
        }
        let end = words.last().map_or(column, |word| word.column + word.text.chars().count());
        Self { words, next: 0, end }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Takes off `x 3` at the end: how often the item is repeated.
    pub(super) fn times(&mut self) -> Result<u32, NotationError> {
        if let [_, .., Word { text: "x", .. }, count] = self.words[..]
            && count.text.bytes().all(|digit| digit.is_ascii_digit())
        {
            self.words.truncate(self.words.len() - 2);
            return Ok(count.number(32)? as u32);
        }
        Ok(1)
    }

    /// The next word.
    pub(super) fn word(&mut self, what: &str) -> Result<Word<'a>, NotationError> {
        let message = || NotationError { column: self.end, message: format!("{what} is missing") };
        let word = self.words.get(self.next).copied().ok_or_else(message)?;
        self.next += 1;
        Ok(word)
    }

    /// The next word, if there is one.
    pub(super) fn optional(&mut self) -> Option<Word<'a>> {
        let word = self.words.get(self.next).copied();
        self.next += usize::from(word.is_some());
        word
    }

    /// Every word that is left.
    pub(super) fn rest(&mut self) -> Vec<Word<'a>> {
        let rest = self.words.split_off(self.next.min(self.words.len()));
        self.next = self.words.len();
        rest
    }

    /// There is no word left.
    pub(super) fn finish(&mut self) -> Result<(), NotationError> {
        match self.optional() {
            None => Ok(()),
            Some(word) => Err(word.wrong(format!("`{}` is too much", word.text))),
        }
    }
}

pub(super) const BARRIERS: [(&str, Barrier); 5] = [
    ("isb", Barrier::Isb),
    ("dsb", Barrier::Dsb),
    ("tsb", Barrier::Tsb),
    ("eret", Barrier::ExceptionReturn),
    ("exc", Barrier::ExceptionEntry),
];

pub(super) const OUTCOMES: [(&str, Outcome); 4] = [
    ("ERR", Outcome::Error),
    ("UNDEF", Outcome::Undefined),
    ("TRAP", Outcome::Trapped),
    ("?", Outcome::Unknown),
];

pub(super) const SPACES: [(&str, Space); 4] = [
    ("non-secure", Space::NonSecure),
    ("secure", Space::Secure),
    ("root", Space::Root),
    ("realm", Space::Realm),
];

pub(super) const STATUS_BITS: [(&str, StatusBit); 2] =
    [("IDLE", StatusBit::Idle), ("PMSTABLE", StatusBit::Pmstable)];

pub(super) const RESOURCES: [(&str, Resources); 3] =
    [("running", Resources::Running), ("pausing", Resources::Pausing), ("paused", Resources::Paused)];

pub(super) const VISIBLE: [(&str, Visible); 5] = [
    ("barriers", Visible::Barriers),
    ("system", Visible::System),
    ("external", Visible::External),
    ("states", Visible::States),
    ("events", Visible::Events),
];

/// The name of a value in one of these tables.
pub(super) fn name_of<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, other)| *other == value).map_or("", |(name, _)| name)
}
