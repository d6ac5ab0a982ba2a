//! Back-references for repeated items.
//!
//! Programs loop, so stimulus and results repeat themselves. Where both sides have agreed to it in `hello` (`again`),
//! an element of such a list may be short for items that came before:
//!
//! | element | stands for |
//! |---|---|
//! | an object (or a name) | itself; it gets the next number, from 0 |
//! | `7` | item 7 again |
//! | `[7, 3]` | items 7, 8 and 9 again |
//! | `[7, {"context": "0x2", "time": "0x1a4"}]` | item 7 again, with another context, another time, or both; only of stimulus |
//! | `[4, 9, 0]` | nothing; the place (packet, byte, bit) of the results that follow; only of results |
//!
//! Numbers restart at 0 with every start but `continue`. Items after the first 65,536 get none. A repeated item does
//! not include its `at`.

use std::fmt;
use std::marker::PhantomData;
use std::slice;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use traceproof_vectors::Place;
use traceproof_vectors::notation::hex_option;

use crate::family::Timing;

/// How many items get numbers.
pub const MOST_KNOWN: usize = 1 << 16;

/// How many items the results of an answer may stand for.
pub const MOST_ITEMS: usize = 1 << 20;

/// An element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element<T> {
    /// Itself.
    New(T),
    /// So many items again, from this one on.
    Again {
        /// Number of the first one.
        first: u32,
        /// How many.
        count: u32,
    },
    /// An item again, elsewhere in time.
    Changed(u32, Changes),
    /// Where the results are that follow.
    At(Place),
}

/// What differs in a repeated item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Its context.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex_option")]
    pub context: Option<u64>,
    /// Its time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex_option")]
    pub time: Option<u64>,
}

impl Changes {
    /// What leads from one timing to another one.
    #[must_use]
    pub fn between(from: Timing, to: Timing) -> Self {
        let changed = |from: u64, to: u64| (from != to).then_some(to);
        Self { context: changed(from.context, to.context), time: changed(from.time, to.time) }
    }

    /// The timing after the changes.
    #[must_use]
    pub fn applied(self, from: Timing) -> Timing {
        Timing { context: self.context.unwrap_or(from.context), time: self.time.unwrap_or(from.time) }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Element<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementVisitor(PhantomData))
    }
}

struct ElementVisitor<T>(PhantomData<T>);

/// The second part of an element that is an array.
enum Second {
    Number(u64),
    Changes(Changes),
}

impl<'de> Deserialize<'de> for Second {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecondVisitor)
    }
}

struct SecondVisitor;

impl<'de> Visitor<'de> for SecondVisitor {
    type Value = Second;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or changes")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Second, E> {
        Ok(Second::Number(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Second, A::Error> {
        Changes::deserialize(MapAccessDeserializer::new(map)).map(Second::Changes)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ElementVisitor<T> {
    type Value = Element<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item, its number, or an array of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Element<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Element::New)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Element<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(Element::New)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Element<T>, E> {
        Ok(Element::Again { first: item(number)?, count: 1 })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Element<T>, A::Error> {
        let short = || A::Error::custom("an array of two or three was expected");
        let first: u64 = array.next_element()?.ok_or_else(short)?;
        let second = array.next_element()?.ok_or_else(short)?;
        match (second, array.next_element::<u8>()?) {
            (Second::Number(count), None) => Ok(Element::Again { first: item(first)?, count: item(count)? }),
            (Second::Changes(changes), None) => Ok(Element::Changed(item(first)?, changes)),
            (Second::Number(byte), Some(bit)) => Ok(Element::At(Place { packet: first, byte, bit })),
            (Second::Changes(_), Some(_)) => Err(short()),
        }
    }
}

fn item<E: Error>(number: u64) -> Result<u32, E> {
    u32::try_from(number).map_err(|_| E::custom(format!("there is no item {number}")))
}

/// What the elements of lists stand for.
#[derive(Debug)]
pub(crate) struct Reader<T> {
    known: Vec<T>,
    /// The latest item that got no number.
    surplus: Option<T>,
}

impl<T> Default for Reader<T> {
    fn default() -> Self {
        Self { known: Vec::new(), surplus: None }
    }
}

impl<T> Reader<T> {
    /// Numbers begin again.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// A new item, with a number if there is one left.
    pub(crate) fn learn(&mut self, item: T) -> &[T] {
        if self.known.len() < MOST_KNOWN {
            self.known.push(item);
            self.known.last().map(slice::from_ref).unwrap_or_default()
        } else {
            self.surplus = Some(item);
            self.surplus.as_slice()
        }
    }

    /// Items that came before; `None` if they did not.
    pub(crate) fn again(&self, first: u32, count: u32) -> Option<&[T]> {
        self.known.get(first as usize..)?.get(..count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Element<bool>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Item {
            yes: bool,
        }
        let element: Element<Item> = serde_json::from_str(text)?;
        Ok(match element {
            Element::New(item) => Element::New(item.yes),
            Element::Again { first, count } => Element::Again { first, count },
            Element::Changed(number, changes) => Element::Changed(number, changes),
            Element::At(place) => Element::At(place),
        })
    }

    #[test]
    fn elements_are_told_by_their_shape() {
        let element = |text| read(text).expect("an element");
        assert_eq!(element(r#"{"yes":true}"#), Element::New(true));
        assert_eq!(element("7"), Element::Again { first: 7, count: 1 });
        assert_eq!(element("[7,3]"), Element::Again { first: 7, count: 3 });
        let changes = Changes { context: None, time: Some(0x1a4) };
        assert_eq!(element(r#"[7,{"time":"0x1a4"}]"#), Element::Changed(7, changes));
        assert_eq!(element("[4,9,0]"), Element::At(Place { packet: 4, byte: 9, bit: 0 }));
        let named: Element<String> = serde_json::from_str(r#""cycle""#).expect("a name");
        assert_eq!(named, Element::New(String::from("cycle")));
    }

    #[test]
    fn other_shapes_are_errors() {
        for text in
            ["-1", "1.5", "4294967296", "true", "[1]", "[1,2,3,4]", "[1,{},2]", r#"[1,{"tval":"0x1"}]"#, "[]"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        let missing = read(r#"{"yes":true,"no":1"#);
        assert!(missing.is_err());
    }

    #[test]
    fn only_what_came_comes_again() {
        let mut reader = Reader::default();
        assert_eq!(reader.learn('a'), ['a']);
        reader.learn('b');
        assert_eq!(reader.again(0, 2), Some(&['a', 'b'][..]));
        assert_eq!(reader.again(1, 1), Some(&['b'][..]));
        for (first, count) in [(1, 2), (2, 1), (u32::MAX, u32::MAX)] {
            assert_eq!(reader.again(first, count), None);
        }
        for _ in 2..MOST_KNOWN {
            reader.learn('c');
        }
        assert_eq!(reader.learn('d'), ['d']);
        let last = u32::try_from(MOST_KNOWN - 1).expect("small");
        assert_eq!((reader.again(last, 1), reader.again(last, 2)), (Some(&['c'][..]), None));
        reader.clear();
        assert_eq!(reader.again(0, 1), None);
    }
}
