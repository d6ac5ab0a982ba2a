//! The state of a decoder between two packets, as people read it.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt::Display;

/// Entries of a list that are shown.
const MOST: usize = 16;

/// What the next packet is decoded with: parts by name, such as the address that compressed addresses refer to, the
/// return stack, outcomes that are still to be used.
///
/// It is for people who read a dissection; nothing is judged by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecoderState {
    parts: Vec<(String, String)>,
}

impl DecoderState {
    /// With one more part.
    #[must_use]
    pub fn with(mut self, name: impl Display, value: impl Display) -> Self {
        self.parts.push((name.to_string(), value.to_string()));
        self
    }

    /// With an address or another number that is read in hexadecimal; `None` is `unknown`.
    #[must_use]
    pub fn with_hex(self, name: impl Display, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.with(name, format!("{value:#x}")),
            None => self.with(name, "unknown"),
        }
    }

    /// With a list, of which the first entries are shown.
    #[must_use]
    pub fn with_list<T: Display>(self, name: impl Display, entries: impl IntoIterator<Item = T>) -> Self {
        let (mut text, mut count) = (String::new(), 0);
        for entry in entries {
            if count < MOST {
                text += &format!("{}{entry}", if count > 0 { ", " } else { "" });
            }
            count += 1;
        }
        match count {
            0 => self.with(name, "empty"),
            1..=MOST => self.with(name, text),
            _ => self.with(name, format!("{text}, {} more", count - MOST)),
        }
    }

    /// The parts in order, each with its name.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a part.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parts().find(|(part, _)| *part == name).map(|(_, value)| value)
    }

    /// The parts that have another value than before, with the value of then.
    pub fn changes<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.parts()
            .map(|(name, value)| (name, before.get(name).unwrap_or("unknown"), value))
            .filter(|(_, before, after)| before != after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_parts_are_found_by_name() {
        let before = DecoderState::default().with("pc", "0x10").with_list("return stack", [1, 2]);
        let after = DecoderState::default()
            .with_hex("base", None)
            .with_hex("pc", Some(0x14))
            .with_list("return stack", [1, 2]);
        assert_eq!(after.changes(&before).collect::<Vec<_>>(), [("pc", "0x10", "0x14")]);
        assert_eq!(before.get("return stack"), Some("1, 2"));
        let after = DecoderState::default().with_list::<u8>("return stack", []);
        assert_eq!(after.changes(&before).collect::<Vec<_>>(), [("return stack", "1, 2", "empty")]);
    }

    #[test]
    fn long_lists_are_cut() {
        let state = DecoderState::default().with_list("history", 0..20);
        assert_eq!(
            state.get("history"),
            Some("0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 4 more")
        );
    }
}
