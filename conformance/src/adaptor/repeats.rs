//! Which items of a list have come before, and how is the list written then?

use std::collections::HashMap;

use serde::Serialize;
use traceproof_vectors::Place;

use super::backref::{Changes, MOST_KNOWN};
use crate::family::Timing;

/// Number of remembered successors of an item.
const SUCCESSORS: usize = 8;

/// No item.
const NONE: u32 = u32::MAX;

/// Writes the elements of lists, [short](super::backref) for items that came before if the other side understands that.
///
/// An item is usually followed by one of its earlier successors, so few items are compared and fewer are looked up.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    again: bool,
    /// By number.
    known: Vec<Known<T>>,
    /// By the text of the item.
    numbers: HashMap<Box<[u8]>, u32>,
    latest: Option<u32>,
    /// First item and number of repeated items that are not written yet.
    open: Option<(u32, u32)>,
    place: Option<Place>,
    text: Vec<u8>,
    failed: Option<serde_json::Error>,
}

#[derive(Debug)]
struct Known<T> {
    item: T,
    /// When it was, as the other side knows it.
    timing: Timing,
    /// Numbers of its successors, the latest first.
    successors: [u32; SUCCESSORS],
}

impl<T: Clone + PartialEq + Serialize> Writer<T> {
    /// Writes short if `again`, otherwise item by item.
    pub(crate) fn new(again: bool) -> Self {
        Self {
            again,
            known: Vec::new(),
            numbers: HashMap::new(),
            latest: None,
            open: None,
            place: None,
            text: Vec::new(),
            failed: None,
        }
    }

    /// Numbers begin again.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.again);
    }

    /// Whether it writes short.
    pub(crate) const fn is_short(&self) -> bool {
        self.again
    }

    /// Adds an item.
    pub(crate) fn item(&mut self, item: &T) {
        if self.again {
            self.known_or(item, Timing::default(), item);
        } else {
            self.object(item);
        }
    }

    /// Adds an item that differs from `timeless` by its timing alone.
    pub(crate) fn item_at(&mut self, timeless: &T, timing: Timing, item: &T) {
        if self.again {
            self.known_or(timeless, timing, item);
        } else {
            self.object(item);
        }
    }

    /// Sets the place of the following items.
    pub(crate) fn at(&mut self, place: Place) {
        if self.place != Some(place) {
            self.place = Some(place);
            self.close();
            self.write(&(place.packet, place.byte, place.bit));
        }
    }

    /// The elements so far, with commas between them; the next list begins.
    pub(crate) fn take(&mut self) -> Result<Vec<u8>, serde_json::Error> {
        self.close();
        self.place = None;
        let text = std::mem::take(&mut self.text);
        self.failed.take().map_or(Ok(text), Err)
    }

    fn known_or(&mut self, timeless: &T, timing: Timing, item: &T) {
        let number = self.following(timeless).ok_or_else(|| serde_json::to_vec(timeless));
        let number = number.or_else(|text| match text {
            Ok(text) => self.numbers.get(text.as_slice()).copied().ok_or(text),
            Err(error) => {
                self.failed.get_or_insert(error);
                Err(Vec::new())
            }
        });
        match number {
            Ok(number) => self.refer(number, timing),
            Err(text) => {
                self.object(item);
                self.learn(timeless, timing, text);
            }
        }
    }

    /// The number of an item if it is an earlier successor of the latest one.
    fn following(&self, item: &T) -> Option<u32> {
        let latest = self.latest?;
        if self.known.get(latest as usize + 1).is_some_and(|known| known.item == *item) {
            return Some(latest + 1);
        }
        let successors = self.known.get(latest as usize)?.successors;
        let is_it = |number: &u32| self.known.get(*number as usize).is_some_and(|known| known.item == *item);
        successors.into_iter().take_while(|number| *number != NONE).find(is_it)
    }

    fn refer(&mut self, number: u32, timing: Timing) {
        let then = self.known.get(number as usize).map(|known| known.timing);
        match (self.open, then) {
            (Some((first, count)), Some(then)) if then == timing && first + count == number => {
                self.open = Some((first, count + 1));
            }
            (_, Some(then)) if then != timing => {
                self.close();
                self.write(&(number, Changes::between(then, timing)));
            }
            _ => {
                self.close();
                self.open = Some((number, 1));
            }
        }
        self.comes(Some(number));
    }

    fn learn(&mut self, item: &T, timing: Timing, text: Vec<u8>) {
        let number = u32::try_from(self.known.len()).ok().filter(|_| self.known.len() < MOST_KNOWN);
        if let Some(number) = number {
            self.known.push(Known { item: item.clone(), timing, successors: [NONE; SUCCESSORS] });
            self.numbers.insert(text.into_boxed_slice(), number);
        }
        self.comes(number);
    }

    /// This item is the latest now.
    fn comes(&mut self, number: Option<u32>) {
        if let (Some(latest), Some(number)) = (self.latest, number)
            && number != latest + 1
            && let Some(known) = self.known.get_mut(latest as usize)
        {
            let successors = &mut known.successors;
            let from = successors.iter().position(|other| *other == number).unwrap_or(SUCCESSORS - 1);
            successors.copy_within(..from, 1);
            successors[0] = number;
        }
        self.latest = number;
    }

    fn close(&mut self) {
        match self.open.take() {
            Some((number, 1)) => self.write(&number),
            Some(run) => self.write(&run),
            None => {}
        }
    }

    fn object(&mut self, item: &T) {
        self.close();
        self.write(item);
    }

    fn write(&mut self, element: &impl Serialize) {
        if !self.text.is_empty() {
            self.text.push(b',');
        }
        if let Err(error) = serde_json::to_writer(&mut self.text, element) {
            self.failed.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::backref::{Element, Reader};
    use super::*;

    fn taken(writer: &mut Writer<String>) -> String {
        String::from_utf8(writer.take().expect("JSON")).expect("UTF-8")
    }

    fn write(writer: &mut Writer<String>, items: &str) -> String {
        items.chars().for_each(|item| writer.item(&item.to_string()));
        taken(writer)
    }

    #[test]
    fn what_came_before_is_written_by_its_number() {
        let mut writer = Writer::new(true);
        assert_eq!(write(&mut writer, "abcabc"), r#""a","b","c",[0,3]"#);
        assert_eq!(write(&mut writer, "bcxcbb"), r#"[1,2],"x",2,1,1"#);
        assert_eq!(write(&mut writer, ""), "");
        writer.clear();
        assert_eq!(write(&mut writer, "c"), r#""c""#);
        assert_eq!(write(&mut Writer::new(false), "aa"), r#""a","a""#);
    }

    #[test]
    fn timings_and_places_are_told_when_they_change() {
        let mut writer = Writer::new(true);
        let mut step = |item: &str, context, time| {
            let full = format!("{item} at {time}");
            writer.item_at(&item.to_owned(), Timing { context, time }, &full);
            taken(&mut writer)
        };
        assert_eq!(step("a", 1, 5), r#""a at 5""#);
        assert_eq!(step("a", 1, 5), "0");
        assert_eq!(step("a", 1, 0), r#"[0,{"time":"0x0"}]"#);
        assert_eq!(step("a", 16, 8), r#"[0,{"context":"0x10","time":"0x8"}]"#);

        let place = |packet, byte| Place { packet, byte, bit: 3 };
        for at in [place(0, 0), place(0, 0), place(1, 7)] {
            writer.at(at);
            writer.item(&String::from("p"));
        }
        assert_eq!(taken(&mut writer), r#"[0,0,3],"p",1,[1,7,3],1"#);
        // A list contains its first place even if it is that of the previous list.
        writer.at(place(1, 7));
        assert_eq!(taken(&mut writer), "[1,7,3]");
    }

    /// Random lists, more items than get numbers, lists cut anywhere.
    #[test]
    fn what_is_written_can_be_read() {
        let (mut writer, mut reader) = (Writer::new(true), Reader::default());
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..800_u64 {
            let fresh = round * 200;
            let mut item = 0;
            let items: Vec<String> = (0..300)
                .map(|_| {
                    item = match random(8) {
                        0 => random(40),
                        1 | 2 => fresh + random(200),
                        _ => item + 1,
                    };
                    item.to_string()
                })
                .collect();
            items.iter().for_each(|item| writer.item(item));
            let text = format!("[{}]", taken(&mut writer));
            let elements: Vec<Element<String>> = serde_json::from_str(&text).expect("elements");
            let mut read = Vec::new();
            for element in elements {
                match element {
                    Element::New(item) => read.extend_from_slice(reader.learn(item)),
                    Element::Again { first, count } => {
                        read.extend_from_slice(reader.again(first, count).expect("came before"));
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(read, items);
        }
        assert!(reader.again(u32::try_from(MOST_KNOWN - 1).expect("small"), 1).is_some(), "too few items");
    }
}
