//! Values in the notation of a family as columns of numbers, for testbenches that read no text.
//!
//! The columns follow from the values alone: a field is a column, a list is a count and its elements, a variant is a
//! code, and what is not always there has a column that tells.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use traceproof_vectors::notation::parse_bytes;

/// A column of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name: the fields that lead to it, with `_` between them.
    pub name: String,
    /// Its width in hexadecimal digits.
    pub digits: usize,
    /// What its numbers stand for, from 1 on; 0 is none. Empty where they are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// What values at one place look like.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    seen: usize,
    /// Bits of the widest number; 0 = no numbers.
    bits: u32,
    texts: BTreeSet<String>,
    objects: usize,
    /// Objects with more than one field, or none.
    records: usize,
    fields: BTreeMap<String, Self>,
    lists: usize,
    /// All elements of lists together, so that each has the same columns.
    items: Option<Box<Self>>,
    longest: usize,
    /// Values that are more than a flag that is set.
    others: usize,
    /// Names of variants and other words, in order.
    words: Vec<String>,
    /// Most bytes of a text that is bytes, as pairs of digits.
    most_bytes: usize,
}

impl Shape {
    /// Learns from a value.
    pub(super) fn add(&mut self, value: &Value) {
        if value.is_null() {
            return;
        }
        self.seen += 1;
        self.others += usize::from(*value != Value::Bool(true));
        match value {
            Value::String(text) if number(value).is_none() => {
                self.texts.insert(text.clone());
            }
            Value::Array(items) => {
                self.lists += 1;
                self.longest = self.longest.max(items.len());
                let shape = self.items.get_or_insert_default();
                items.iter().for_each(|item| shape.add(item));
            }
            Value::Object(fields) => {
                self.objects += 1;
                self.records += usize::from(fields.len() != 1);
                for (name, field) in fields {
                    self.fields.entry(name.clone()).or_default().add(field);
                }
            }
            _ => self.bits = self.bits.max(64 - number(value).unwrap_or(0).leading_zeros()).max(1),
        }
    }

    /// Works out what the values have in common, once they are all added.
    pub(super) fn settle(&mut self) {
        let long = self.texts.iter().any(|text| text.len() > 2);
        let lengths: Option<Vec<usize>> =
            self.texts.iter().map(|text| Some(parse_bytes(text)?.len())).collect();
        self.most_bytes = lengths.filter(|_| long).and_then(|it| it.into_iter().max()).unwrap_or(0);
        let variants = self.fields.keys().filter(|_| self.is_variant());
        let texts = self.texts.iter().filter(|_| self.most_bytes == 0);
        self.words = texts.chain(variants).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        self.items.iter_mut().for_each(|items| items.settle());
        self.fields.values_mut().for_each(Self::settle);
    }

    /// Whether objects are variants: one field each, and not always the same one.
    fn is_variant(&self) -> bool {
        self.objects > 0 && self.records == 0 && (self.fields.len() > 1 || !self.texts.is_empty())
    }

    /// The columns; `places`: how often there could be a value here.
    pub(super) fn columns(&self, name: &str, places: usize, columns: &mut Vec<Column>) {
        let mut add = |name: String, bits: u32, values: Vec<String>| {
            columns.push(Column { name, digits: bits.div_ceil(4) as usize, values });
        };
        if self.has_valid(places) {
            add(join(name, "valid"), 1, Vec::new());
        }
        if !self.words.is_empty() {
            let bits = usize::BITS - self.words.len().leading_zeros();
            let word = if self.bits > 0 || name.is_empty() { join(name, "kind") } else { name.to_owned() };
            add(word, bits, self.words.clone());
        }
        if self.bits > 0 {
            add(if name.is_empty() { "value".to_owned() } else { name.to_owned() }, self.bits, Vec::new());
        }
        if self.most_bytes > 0 {
            add(join(name, "count"), 32, Vec::new());
            (0..self.most_bytes).for_each(|index| add(join(name, &index.to_string()), 8, Vec::new()));
        }
        if self.lists > 0 {
            add(join(name, "count"), 32, Vec::new());
            for (index, item) in (0..self.longest).filter_map(|index| Some((index, self.items.as_ref()?))) {
                item.columns(&join(name, &index.to_string()), item.seen, columns);
            }
        }
        for (field, shape) in &self.fields {
            let places = if self.is_variant() { shape.seen } else { self.objects };
            shape.columns(&join(name, field), places, columns);
        }
    }

    /// Whether a column says that there is a value: not where a word or a count does, nor of flags that are left out
    /// where they are not set.
    fn has_valid(&self, places: usize) -> bool {
        self.seen < places && (self.bits > 0 || self.words.is_empty()) && self.lists == 0 && self.others > 0
    }

    /// The numbers of a value, one for each column.
    pub(super) fn cells(&self, value: Option<&Value>, places: usize, cells: &mut Vec<u64>) {
        let value = value.filter(|value| !value.is_null());
        if self.has_valid(places) {
            cells.push(value.is_some().into());
        }
        if !self.words.is_empty() {
            let word = match value {
                Some(Value::String(text)) => Some(text.as_str()),
                Some(Value::Object(fields)) => fields.keys().next().map(String::as_str),
                _ => None,
            };
            let code = self.words.iter().position(|known| Some(known.as_str()) == word);
            cells.push(code.map_or(0, |code| code as u64 + 1));
        }
        if self.bits > 0 {
            cells.push(value.and_then(number).unwrap_or(0));
        }
        if self.most_bytes > 0 {
            let bytes = value.and_then(Value::as_str).and_then(parse_bytes).unwrap_or_default();
            cells.push(bytes.len() as u64);
            cells.extend((0..self.most_bytes).map(|index| u64::from(bytes.get(index).copied().unwrap_or(0))));
        }
        if self.lists > 0 {
            let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            cells.push(items.len() as u64);
            for (index, shape) in (0..self.longest).filter_map(|index| Some((index, self.items.as_ref()?))) {
                shape.cells(items.get(index), shape.seen, cells);
            }
        }
        for (field, shape) in &self.fields {
            let places = if self.is_variant() { shape.seen } else { self.objects };
            shape.cells(value.and_then(|value| value.get(field)), places, cells);
        }
    }
}

/// A number, a flag, or a text that is a number: hexadecimal, with or without a sign. Negative ones are two's
/// complement.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Bool(flag) => Some((*flag).into()),
        Value::Number(number) => number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned)),
        Value::String(text) => {
            let (negative, digits) = match text.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, text.strip_prefix('+').unwrap_or(text)),
            };
            let value = u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
            Some(if negative { value.wrapping_neg() } else { value })
        }
        _ => None,
    }
}

fn join(name: &str, part: &str) -> String {
    if name.is_empty() { part.to_owned() } else { format!("{name}_{part}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(values: &[Value]) -> (Vec<(String, usize)>, Vec<Vec<u64>>) {
        let mut shape = Shape::default();
        values.iter().for_each(|value| shape.add(value));
        shape.settle();
        let mut columns = Vec::new();
        shape.columns("", values.len(), &mut columns);
        let rows = values.iter().map(|value| {
            let mut cells = Vec::new();
            shape.cells(Some(value), values.len(), &mut cells);
            assert_eq!(cells.len(), columns.len());
            cells
        });
        let rows = rows.collect();
        (columns.into_iter().map(|column| (column.name, column.digits)).collect(), rows)
    }

    fn named(columns: &[(&str, usize)]) -> Vec<(String, usize)> {
        columns.iter().map(|(name, digits)| ((*name).to_owned(), *digits)).collect()
    }

    #[test]
    fn variants_are_codes_and_have_their_fields() {
        let values = [
            json!("cycle"),
            json!({"write": {"register": "PMC[4]", "value": "0x1ff"}}),
            json!({"read": "PMD[4]"}),
        ];
        let (columns, rows) = table(&values);
        let expected = [("kind", 1), ("read", 1), ("write_register", 1), ("write_value", 3)];
        assert_eq!(columns, named(&expected));
        // The kinds are cycle, read, write.
        assert_eq!(rows, [[1, 0, 0, 0], [3, 0, 1, 0x1ff], [2, 1, 0, 0]]);
    }

    #[test]
    fn what_may_be_absent_has_a_column_that_tells() {
        let values = [
            json!({"enable": true, "instruction": {"address": "0x8000"}, "list": []}),
            json!({"enable": false, "instruction": null, "list": [{"value": -1}, {"value": 2}]}),
        ];
        let (columns, rows) = table(&values);
        let expected = [
            ("enable", 1),
            ("instruction_valid", 1),
            ("instruction_address", 4),
            ("list_count", 8),
            ("list_0_value", 16),
            ("list_1_value", 16),
        ];
        assert_eq!(columns, named(&expected));
        assert_eq!(rows, [vec![1, 1, 0x8000, 0, 0, 0], vec![0, 0, 0, 2, u64::MAX, 2]]);
    }

    #[test]
    fn elements_of_lists_have_the_same_columns() {
        let values =
            [json!({"list": ["hit"]}), json!({}), json!({"list": ["store", {"miss": 9}], "last": true})];
        let (columns, rows) = table(&values);
        let expected = [
            ("last", 1),
            ("list_count", 8),
            ("list_0", 1),
            ("list_0_miss", 1),
            ("list_1", 1),
            ("list_1_miss", 1),
        ];
        assert_eq!(columns, named(&expected));
        // Elements are hit, miss, store.
        assert_eq!(rows, [[0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 2, 3, 0, 2, 9]]);
    }

    #[test]
    fn bytes_are_a_count_and_a_column_each() {
        let values = [json!({"id": 5, "bytes": "01 ff"}), json!({"id": 0x70, "bytes": "02"})];
        let (columns, rows) = table(&values);
        assert_eq!(columns, named(&[("bytes_count", 8), ("bytes_0", 2), ("bytes_1", 2), ("id", 2)]));
        assert_eq!(rows, [[2, 1, 0xff, 5], [1, 2, 0, 0x70]]);
    }
}
