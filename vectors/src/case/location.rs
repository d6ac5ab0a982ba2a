//! Notation of places in the code: one location, or a path of instructions.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Problem;
use crate::notation::parse_u64;

/// The word for a place that the trace does not give. No label may have this name.
pub(super) const UNKNOWN: &str = "unknown";

/// Names and instructions of an assembled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    names: BTreeMap<String, u64>,
    instructions: BTreeMap<u64, u64>,
    address_mask: u64,
}

impl Default for Labels {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Labels {
    /// No names yet, in an address space of the addresses from 0 to `address_mask`.
    #[must_use]
    pub const fn new(address_mask: u64) -> Self {
        Self { names: BTreeMap::new(), instructions: BTreeMap::new(), address_mask }
    }

    /// Gives `address` a name. `false` if the name is taken; nothing changes then.
    pub fn define(&mut self, name: &str, address: u64) -> bool {
        if self.names.contains_key(name) {
            return false;
        }
        self.names.insert(name.to_owned(), address);
        true
    }

    /// Notes that an instruction of `size` bytes lies at `address`.
    pub fn record(&mut self, address: u64, size: u64) {
        self.instructions.insert(address, size);
    }

    /// The address that a name stands for.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// Names and their byte addresses, in the order of the names.
    pub fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(|(name, address)| (name.as_str(), *address))
    }

    /// Byte address and size in bytes of every instruction, in address order.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, u64)> {
        self.instructions.iter().map(|(address, size)| (*address, *size))
    }

    /// Size in bytes of the instruction that starts at `address`.
    #[must_use]
    pub fn size_at(&self, address: u64) -> Option<u64> {
        self.instructions.get(&address).copied()
    }

    /// The instruction that `address` lies in, but not at its start.
    #[must_use]
    pub fn enclosing(&self, address: u64) -> Option<u64> {
        let (&start, &size) = self.instructions.range(..address).next_back()?;
        (address - start < size).then_some(start)
    }

    /// `address` modulo the address space.
    #[must_use]
    pub const fn wrap(&self, address: u64) -> u64 {
        address & self.address_mask
    }

    /// The greatest address.
    #[must_use]
    pub const fn address_mask(&self) -> u64 {
        self.address_mask
    }
}

/// A place in the code: `"A"`, `"A+4"`, `"A-2"` (bytes) or an address such as `"0x1000"`; plain integers are
/// addresses too. The syntax is checked when it is read, the label when it is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    text: String,
    target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Address(u64),
    Label { name: String, offset: i128 },
}

impl Location {
    /// The address that this place has in a program.
    ///
    /// # Errors
    ///
    /// When the label is not defined, or the place lies outside the address space.
    pub fn resolve(&self, labels: &Labels) -> Result<u64, Problem> {
        let address = match &self.target {
            Target::Address(address) => i128::from(*address),
            Target::Label { name, offset } => {
                let base = labels
                    .address(name)
                    .ok_or_else(|| Problem::new("", format!("unknown label `{name}`")))?;
                i128::from(base) + offset
            }
        };
        u64::try_from(address)
            .ok()
            .filter(|&address| labels.wrap(address) == address)
            .ok_or_else(|| Problem::new("", format!("`{self}` is outside the address space")))
    }

    /// Whether this is the word for a place that the trace does not give.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.text == UNKNOWN
    }
}

impl FromStr for Location {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new("", format!("`{text}` is no location; write A, A+4, A-2 or 0x1000"));
        let target = if text.starts_with(|c: char| c.is_ascii_digit()) {
            Target::Address(parse_u64(text).ok_or_else(wrong)?)
        } else {
            let (name, offset) = split_offset(text).ok_or_else(wrong)?;
            if !is_name(name) {
                return Err(wrong());
            }
            Target::Label { name: name.to_owned(), offset }
        };
        Ok(Self { text: text.to_owned(), target })
    }
}

/// Whether `text` can name a label: letters, digits and `_`, not starting with a digit.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Cuts `A+4` into `A` and 4; the offset is 0 where there is none.
pub(super) fn split_offset(text: &str) -> Option<(&str, i128)> {
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, 0));
    };
    let (name, offset) = text.split_at(at);
    let magnitude = i128::from(parse_u64(offset.get(1..)?)?);
    Some((name, if offset.starts_with('-') { -magnitude } else { magnitude }))
}

/// Instructions one after the other: items separated by blanks.
///
/// | item | meaning |
/// |---|---|
/// | a [`Location`] | the instruction there |
/// | `A..J` | every instruction from A to J inclusive, in address order |
/// | `( … )` | a group of items |
/// | item`*N` | the item N times, e.g. `(B C)*31` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: String,
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    what: What,
    times: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    One(Location),
    Range(Location, Location),
    Group(Vec<Item>),
}

impl Path {
    /// The most instructions that a path may name.
    pub const LIMIT: usize = 1_000_000;

    /// The most groups within each other.
    const DEPTH: usize = 16;

    /// The addresses of the instructions, in order; at least one.
    ///
    /// # Errors
    ///
    /// When a location cannot be resolved, an end of a range is no instruction of the program, or there are
    /// more instructions than [`LIMIT`](Self::LIMIT).
    pub fn resolve(&self, labels: &Labels) -> Result<Vec<u64>, Problem> {
        let mut addresses = Vec::new();
        expand(&self.items, labels, &mut addresses)?;
        Ok(addresses)
    }
}

fn too_long() -> Problem {
    Problem::new("", format!("the path names more than {} instructions", Path::LIMIT))
}

fn expand(items: &[Item], labels: &Labels, addresses: &mut Vec<u64>) -> Result<(), Problem> {
    for item in items {
        let start = addresses.len();
        match &item.what {
            What::One(location) => addresses.push(location.resolve(labels)?),
            What::Range(first, last) => expand_range(first, last, labels, addresses)?,
            What::Group(items) => expand(items, labels, addresses)?,
        }
        let end = addresses.len();
        let total = (end - start).checked_mul(item.times).and_then(|length| length.checked_add(start));
        if total.is_none_or(|total| total > Path::LIMIT) {
            return Err(too_long());
        }
        for _ in 1..item.times {
            addresses.extend_from_within(start..end);
        }
    }
    Ok(())
}

fn expand_range(
    first: &Location,
    last: &Location,
    labels: &Labels,
    addresses: &mut Vec<u64>,
) -> Result<(), Problem> {
    let mut ends = [0; 2];
    for (end, location) in ends.iter_mut().zip([first, last]) {
        *end = location.resolve(labels)?;
        if labels.size_at(*end).is_none() {
            return Err(Problem::new("", format!("no instruction of the program starts at `{location}`")));
        }
    }
    let [from, to] = ends;
    if from > to {
        return Err(Problem::new("", format!("`{first}` lies after `{last}`")));
    }
    addresses.extend(labels.instructions.range(from..=to).map(|(address, _)| *address));
    Ok(())
}

impl FromStr for Path {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let mut reader = PathReader { rest: text };
        let items = reader.items(0)?;
        if !reader.rest.is_empty() {
            return Err(Problem::new("", "`)` without `(`"));
        }
        Ok(Self { text: text.to_owned(), items })
    }
}

/// Reads a path from left to right.
struct PathReader<'a> {
    rest: &'a str,
}

impl<'a> PathReader<'a> {
    /// Items up to the end of the text or of the group.
    fn items(&mut self, depth: usize) -> Result<Vec<Item>, Problem> {
        if depth > Path::DEPTH {
            return Err(Problem::new("", format!("more than {} groups within each other", Path::DEPTH)));
        }
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                break;
            }
            items.push(self.item(depth)?);
            if !self.rest.is_empty() && !self.rest.starts_with([')', ' ', '\t', '\n', '\r']) {
                return Err(Problem::new("", format!("a blank is missing before `{}`", self.rest)));
            }
        }
        if items.is_empty() {
            let what = if depth == 0 { "the path" } else { "a group" };
            return Err(Problem::new("", format!("{what} names no instruction")));
        }
        Ok(items)
    }

    fn item(&mut self, depth: usize) -> Result<Item, Problem> {
        let what = if let Some(inside) = self.rest.strip_prefix('(') {
            self.rest = inside;
            let items = self.items(depth + 1)?;
            self.rest = self.rest.strip_prefix(')').ok_or_else(|| Problem::new("", "`(` without `)`"))?;
            What::Group(items)
        } else {
            let word = self.word();
            match word.split_once("..") {
                Some((first, last)) => What::Range(first.parse()?, last.parse()?),
                None => What::One(word.parse()?),
            }
        };
        let times = if let Some(tail) = self.rest.strip_prefix('*') {
            self.rest = tail;
            let word = self.word();
            word.parse().ok().filter(|times| (1..=Path::LIMIT).contains(times)).ok_or_else(|| {
                Problem::new("", format!("`*{word}` is no repetition; write *1 to *{}", Path::LIMIT))
            })?
        } else {
            1
        };
        Ok(Item { what, times })
    }

    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| c.is_ascii_whitespace() || matches!(c, '(' | ')' | '*'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// Reads a string or an integer, which stands for its hexadecimal text.
struct Notation<T>(PhantomData<T>);

impl<T: FromStr<Err = Problem>> Visitor<'_> for Notation<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a place in the code such as \"A\", \"A+4\" or \"0x1000\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, address: u64) -> Result<T, E> {
        self.visit_str(&format!("{address:#x}"))
    }

    fn visit_i64<E: de::Error>(self, address: i64) -> Result<T, E> {
        match u64::try_from(address) {
            Ok(address) => self.visit_u64(address),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(address), &self)),
        }
    }
}

macro_rules! written_as_text {
    ($type:ty, $pattern:literal, $description:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.text)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Notation(PhantomData))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": $description,
                    "anyOf": [
                        { "type": "string", "pattern": $pattern },
                        { "type": "integer", "minimum": 0 },
                    ],
                })
            }
        }
    };
}

written_as_text!(
    Location,
    r"^([A-Za-z_][A-Za-z0-9_]*([+-][0-9][0-9a-zA-Z_]*)?|[0-9][0-9a-zA-Z_]*)$",
    "A place in the code: a label, a label plus or minus bytes, or an address."
);
written_as_text!(
    Path,
    r"^[A-Za-z0-9_+\-.*() \t\r\n]+$",
    "Instructions one after the other: locations, ranges `A..J`, groups `( … )`, repetitions `item*N`."
);

#[cfg(test)]
mod tests {
    use super::*;

    /// A at 0x1000 (4 bytes), B at 0x1004 (2), C at 0x1006 (4), J at 0x2000 (4).
    fn labels() -> Labels {
        let mut labels = Labels::new(0xffff_ffff);
        for (name, address, size) in [("A", 0x1000, 4), ("B", 0x1004, 2), ("C", 0x1006, 4), ("J", 0x2000, 4)]
        {
            assert!(labels.define(name, address));
            labels.record(address, size);
        }
        assert!(!labels.define("A", 0));
        labels
    }

    fn location(text: &str) -> Result<u64, String> {
        let location: Location = text.parse().map_err(|problem: Problem| problem.message)?;
        location.resolve(&labels()).map_err(|problem| problem.message)
    }

    fn path(text: &str) -> Result<Vec<u64>, String> {
        let path: Path = text.parse().map_err(|problem: Problem| problem.message)?;
        path.resolve(&labels()).map_err(|problem| problem.message)
    }

    #[test]
    fn locations_are_labels_or_addresses() {
        assert_eq!(location("A"), Ok(0x1000));
        assert_eq!(location("A+4"), Ok(0x1004));
        assert_eq!(location("C-0x6"), Ok(0x1000));
        assert_eq!(location("0x3000"), Ok(0x3000));
        assert_eq!(location("4096"), Ok(0x1000));
        assert!("unknown".parse::<Location>().is_ok_and(|location| location.is_unknown()));
    }

    #[test]
    fn bad_locations_are_refused() {
        for text in ["", "+4", "A+", "A+x", "A B", "A+-4", "A.", "0xg", "1x", "-4", "A--1", "A+4+4"] {
            let message = format!("`{text}` is no location; write A, A+4, A-2 or 0x1000");
            assert_eq!(location(text), Err(message));
        }
        assert_eq!(location("Z"), Err("unknown label `Z`".to_owned()));
        for text in ["A-0x1001", "0x100000000", "J+0xffffffffffffffff"] {
            assert_eq!(location(text), Err(format!("`{text}` is outside the address space")));
        }
    }

    #[test]
    fn paths_have_ranges_groups_and_repetitions() {
        assert_eq!(path("A"), Ok(vec![0x1000]));
        assert_eq!(path(" A  J\n"), Ok(vec![0x1000, 0x2000]));
        assert_eq!(path("A..C J"), Ok(vec![0x1000, 0x1004, 0x1006, 0x2000]));
        assert_eq!(path("B..J"), Ok(vec![0x1004, 0x1006, 0x2000]));
        assert_eq!(path("A..A"), Ok(vec![0x1000]));
        assert_eq!(path("B*3"), Ok(vec![0x1004; 3]));
        assert_eq!(path("A (B C)*2 J"), Ok(vec![0x1000, 0x1004, 0x1006, 0x1004, 0x1006, 0x2000]));
        assert_eq!(path("((A B)*2 C)*2").map(|all| all.len()), Ok(10));
        assert_eq!(path("A..B*2"), Ok(vec![0x1000, 0x1004, 0x1000, 0x1004]));
        assert_eq!(path("0x7000"), Ok(vec![0x7000]));
        assert_eq!(path("(A*1000)*1000").map(|all| all.len()), Ok(Path::LIMIT));
    }

    #[test]
    fn bad_paths_are_refused() {
        for (text, message) in [
            ("", "the path names no instruction"),
            ("A ()", "a group names no instruction"),
            ("(A B", "`(` without `)`"),
            ("A B)", "`)` without `(`"),
            ("A(B)", "a blank is missing before `(B)`"),
            ("(A)B", "a blank is missing before `B`"),
            ("A*0", "`*0` is no repetition; write *1 to *1000000"),
            ("A*", "`*` is no repetition; write *1 to *1000000"),
            ("A*-1", "`*-1` is no repetition; write *1 to *1000000"),
            ("A*2*3", "a blank is missing before `*3`"),
            ("*3", "`` is no location; write A, A+4, A-2 or 0x1000"),
            ("A..", "`` is no location; write A, A+4, A-2 or 0x1000"),
            ("A..Z", "unknown label `Z`"),
            ("C..A", "`C` lies after `A`"),
            ("A..A+2", "no instruction of the program starts at `A+2`"),
            ("A*1000000 A", "the path names more than 1000000 instructions"),
            ("(((A*1000)*1000)*1000)*1000", "the path names more than 1000000 instructions"),
        ] {
            assert_eq!(path(text), Err(message.to_owned()), "{text}");
        }
        let deep = format!("{}A{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(path(&deep), Err("more than 16 groups within each other".to_owned()));
    }

    #[test]
    fn text_survives_a_round_trip_and_integers_are_addresses() {
        for text in ["\"A+4\"", "\"unknown\"", "\"0x0010\""] {
            let read: Location = serde_json::from_str(text).expect("a location");
            assert_eq!(serde_json::to_string(&read).expect("text"), text);
        }
        let text = "\" (B C)*31  A..J \"";
        let read: Path = serde_json::from_str(text).expect("a path");
        assert_eq!(serde_json::to_string(&read).expect("text"), text);
        let read: Location = serde_json::from_str("4096").expect("an address");
        assert_eq!(read, "0x1000".parse().expect("the same"));
        assert!(serde_json::from_str::<Location>("-1").is_err());
        assert!(serde_json::from_str::<Location>("true").is_err());
    }

    #[test]
    fn the_middle_of_an_instruction_is_known() {
        let labels = labels();
        assert_eq!(labels.enclosing(0x1002), Some(0x1000));
        assert_eq!(labels.enclosing(0x1000), None);
        assert_eq!(labels.enclosing(0x1008), Some(0x1006));
        assert_eq!(labels.enclosing(0x100a), None);
        assert_eq!(labels.enclosing(0), None);
    }
}
