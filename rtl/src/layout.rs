//! `[layout]` of `dut.toml`: payloads whose fields have another order or width than those of the specification.
//!
//! They are put into the order of the specification before anything is judged, so that a wrong layout is one finding
//! for each format and the contents of the fields are judged as usual.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use traceproof_decoder::riscv_etrace::Payload;
use traceproof_vectors::riscv_etrace::Parameters;

/// The fields of each format in the order in which a device sends them; a format that is absent is as specified.
///
/// An entry is the name of a field, or `name:bits` where its width is not that of the specification; `-:bits` are bits
/// that mean nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Layout(BTreeMap<Format, Vec<Slot>>);

/// A format with a layout of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Format 3, subformat 0.
    Start,
    /// Format 3, subformat 1.
    Trap,
    /// Format 3, subformat 2.
    Context,
    /// Format 3, subformat 3.
    Support,
    /// Format 2.
    Address,
    /// Format 1.
    Branch,
}

/// A field: its name, and its width where it is stated.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
struct Slot {
    name: String,
    bits: Option<u32>,
}

impl TryFrom<String> for Slot {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let Some((name, bits)) = text.split_once(':') else { return Ok(Self { name: text, bits: None }) };
        match bits.parse() {
            Ok(bits @ 1..=64) => Ok(Self { name: name.to_owned(), bits: Some(bits) }),
            _ => Err(format!("`{text}`: a field has 1 to 64 bits")),
        }
    }
}

impl From<Slot> for String {
    fn from(slot: Slot) -> Self {
        slot.bits.map_or_else(|| slot.name.clone(), |bits| format!("{}:{bits}", slot.name))
    }
}

/// The bits of a map with so many outcomes. Spec: RVET-PKT-031, RVET-PKT-032.
const fn map_width(branches: u64) -> u32 {
    match branches {
        1 => 1,
        2..=3 => 3,
        4..=7 => 7,
        8..=15 => 15,
        _ => 31,
    }
}

/// Bits that mean nothing.
const UNUSED: &str = "-";

impl Format {
    const ALL: [Self; 6] =
        [Self::Start, Self::Trap, Self::Context, Self::Support, Self::Address, Self::Branch];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Trap => "trap",
            Self::Context => "context",
            Self::Support => "support",
            Self::Address => "address",
            Self::Branch => "branch",
        }
    }

    /// The clause that has its layout.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Start => "RVET-PKT-011",
            Self::Trap => "RVET-PKT-016",
            Self::Context => "RVET-PKT-020",
            Self::Support => "RVET-PKT-021",
            Self::Address => "RVET-PKT-024",
            Self::Branch => "RVET-PKT-031",
        }
    }

    /// Spec: RVET-PKT-009, RVET-PKT-010.
    fn of(payload: &Payload) -> Option<Self> {
        match (payload.bits(0, 2), payload.bits(2, 2)) {
            (1, _) => Some(Self::Branch),
            (2, _) => Some(Self::Address),
            (3, 0) => Some(Self::Start),
            (3, 1) => Some(Self::Trap),
            (3, 2) => Some(Self::Context),
            (3, 3) => Some(Self::Support),
            _ => None,
        }
    }

    /// The fields of the specification with their widths; the map has that of 31 outcomes. Spec: RVET-PKT-011,
    /// RVET-PKT-016, RVET-PKT-020, RVET-PKT-021, RVET-PKT-024, RVET-PKT-031.
    fn specified(self, parameters: &Parameters) -> Vec<(&'static str, u32)> {
        let level = [
            ("privilege", parameters.privilege_width_p.into()),
            ("time", parameters.time_width()),
            ("context", parameters.context_width()),
        ];
        let address = ("address", parameters.address_width());
        let status =
            [("notify", 1), ("updiscon", 1), ("irreport", 1), ("irdepth", parameters.irdepth_width())];
        let mut fields = vec![("format", 2)];
        if !matches!(self, Self::Address | Self::Branch) {
            fields.push(("subformat", 2));
        }
        match self {
            Self::Start => {
                fields.push(("branch", 1));
                fields.extend(level);
                fields.push(address);
            }
            Self::Trap => {
                fields.push(("branch", 1));
                fields.extend(level);
                fields.push(("ecause", parameters.ecause_width_p.into()));
                fields.extend([("interrupt", 1), ("thaddr", 1), address]);
                fields.push(("tval", parameters.iaddress_width_p.into()));
            }
            Self::Context => fields.extend(level),
            Self::Support => {
                let support = &parameters.support;
                let options = u32::try_from(support.ioptions.len()).unwrap_or(u32::MAX);
                fields.extend([("ienable", 1), ("encoder_mode", support.encoder_mode_width.into())]);
                fields.extend([("qual_status", 2), ("ioptions", options)]);
                if support.data_fields {
                    fields.extend([
                        ("denable", 1),
                        ("dloss", 1),
                        ("doptions", support.doptions_width.into()),
                    ]);
                }
            }
            Self::Address => {
                fields.push(address);
                fields.extend(status);
            }
            Self::Branch => {
                fields.extend([("branches", 5), ("branch_map", 31), address]);
                fields.extend(status);
            }
        }
        fields.retain(|(_, bits)| *bits > 0);
        fields
    }
}

impl Layout {
    /// Whether every format is as specified.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first format whose fields cannot be read, and why.
    pub(crate) fn check(&self, parameters: &Parameters) -> Result<(), (&'static str, String)> {
        for (format, slots) in &self.0 {
            let specified = format.specified(parameters);
            let wrong = |message: String| Err((format.name(), message));
            let place = |name: &str| slots.iter().position(|slot| slot.name == name);
            for (index, slot) in slots.iter().enumerate() {
                let known = specified.iter().any(|(name, _)| *name == slot.name);
                if slot.name == UNUSED && slot.bits.is_none() {
                    return wrong(String::from("must state the bits of `-`"));
                } else if slot.name != UNUSED && !known {
                    return wrong(format!("has no field `{}` with these parameters", slot.name));
                } else if slot.name != UNUSED && place(&slot.name) != Some(index) {
                    return wrong(format!("has the field `{}` twice", slot.name));
                } else if slot.name == "branch_map" && slot.bits.is_some() {
                    return wrong(String::from("has a map whose width follows from `branches`"));
                }
            }
            let first = specified.iter().take_while(|(name, _)| name.ends_with("format"));
            if !first.zip(slots).all(|((name, bits), slot)| {
                slot.name == *name && slot.bits.is_none_or(|stated| stated == *bits)
            }) || slots.is_empty()
            {
                return wrong(String::from("must begin with the fields that tell formats apart"));
            }
            if place("branch_map").is_some_and(|map| place("branches").is_none_or(|count| count > map)) {
                return wrong(String::from("must have `branches` before `branch_map`"));
            }
            if self.widths(*format, parameters).iter().map(|(_, bits)| bits).sum::<u32>() > 248 {
                return wrong(String::from("has more than 248 bits"));
            }
        }
        Ok(())
    }

    /// The fields of a format as the device sends them.
    fn widths(&self, format: Format, parameters: &Parameters) -> Vec<(String, u32)> {
        let specified = format.specified(parameters);
        let width = |slot: &Slot| {
            let bits = specified.iter().find(|(name, _)| *name == slot.name).map(|(_, bits)| *bits);
            slot.bits.or(bits).unwrap_or(0)
        };
        let slots = self.0.get(&format).into_iter().flatten();
        slots.map(|slot| (slot.name.clone(), width(slot))).collect()
    }

    /// Formats that are not as specified: what is specified, and what the device has.
    pub(crate) fn differences(&self, parameters: &Parameters) -> Vec<(Format, String, String)> {
        let show = |fields: &[(String, u32)]| {
            let fields: Vec<String> = fields.iter().map(|(name, bits)| format!("{name}:{bits}")).collect();
            fields.join(" ")
        };
        let of = |format: Format| {
            let specified = format.specified(parameters);
            let due: Vec<_> = specified.into_iter().map(|(name, bits)| (name.to_owned(), bits)).collect();
            let has = self.widths(format, parameters);
            (self.0.contains_key(&format) && due != has).then(|| (format, show(&due), show(&has)))
        };
        Format::ALL.into_iter().filter_map(of).collect()
    }

    /// A payload with its fields as specified, and its format; `None` if its format is as specified.
    pub(crate) fn specified(&self, bytes: &[u8], parameters: &Parameters) -> Option<(Format, Vec<u8>)> {
        let payload = Payload::new(bytes)?;
        let format = Format::of(&payload).filter(|format| self.0.contains_key(format))?;
        let (fields, end) = read(&payload, &self.widths(format, parameters), parameters);
        let mut bits = Bits::default();
        for (name, width) in format.specified(parameters) {
            if !is_there(name, &fields, parameters) {
                continue;
            }
            let width = width_of(name, width, &fields);
            bits.push(fields.get(name).map_or(0, |field| field.extended(name, width)), width);
        }
        let received = payload.received_bits();
        let top = end.checked_sub(1).map_or(0, |top| payload.bits(top, 1));
        let after: Vec<u64> = (end..received).map(|bit| payload.bits(bit, 1)).collect();
        if after.iter().any(|bit| *bit != top) {
            after.iter().for_each(|bit| bits.push(*bit, 1));
            return Some((format, bits.bytes(true)));
        }
        let redundant =
            matches!(bytes, [.., before, last] if *last == if before & 0x80 == 0 { 0 } else { 0xff });
        Some((format, bits.bytes(redundant)))
    }
}

/// A field that was read.
#[derive(Clone, Copy)]
struct Field {
    value: u64,
    bits: u32,
}

impl Field {
    /// The value in a field of the specification's width: addresses keep their sign.
    fn extended(self, name: &str, width: u32) -> u64 {
        let is_negative = self.bits < 64 && self.value >> (self.bits.max(1) - 1) & 1 == 1;
        if name == "address" && is_negative && width > self.bits {
            self.value | u64::MAX << self.bits
        } else {
            self.value
        }
    }
}

type Fields = BTreeMap<String, Field>;

/// The fields of a payload, and the number of its first bit after them.
fn read(payload: &Payload, widths: &[(String, u32)], parameters: &Parameters) -> (Fields, u32) {
    let (mut fields, mut at) = (Fields::new(), 0);
    for (name, width) in widths {
        if !is_there(name, &fields, parameters) {
            continue;
        }
        let bits = width_of(name, *width, &fields);
        if name != UNUSED {
            fields.insert(name.clone(), Field { value: payload.bits(at, bits), bits });
        }
        at += bits;
    }
    (fields, at)
}

/// Spec: RVET-PKT-017, RVET-PKT-019, RVET-PKT-032.
fn is_there(name: &str, fields: &Fields, parameters: &Parameters) -> bool {
    let is = |flag: &str, value: u64| fields.get(flag).is_some_and(|field| field.value == value);
    match name {
        "tval" => !is("interrupt", 1),
        "address" if parameters.modes.implicit_exception => !is("thaddr", 1),
        "format" | "subformat" | "branches" | "branch_map" => true,
        _ => !is("branches", 0),
    }
}

fn width_of(name: &str, width: u32, fields: &Fields) -> u32 {
    let branches = fields.get("branches").map_or(0, |field| field.value);
    if name == "branch_map" { map_width(branches) } else { width }
}

/// Bits, the first one in bit 0 of the first byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, value: u64, width: u32) {
        for bit in 0..width {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> bit & 1 == 1) << (self.count % 8);
            }
            self.count += 1;
        }
    }

    /// Filled to whole bytes with the top bit, and as short as it can be unless `whole`.
    fn bytes(mut self, whole: bool) -> Vec<u8> {
        let top = self.bytes.last().map_or(0, |last| last >> ((self.count + 7) % 8) & 1);
        while !self.count.is_multiple_of(8) {
            self.push(top.into(), 1);
        }
        let sign = if top == 0 { 0 } else { 0xff };
        while !whole
            && matches!(self.bytes.as_slice(), [.., before, last] if *last == sign && before >> 7 == top)
        {
            self.bytes.pop();
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A start packet at 0x80000000 by hand: 3, 0, not a taken branch, level 3, address / 2. The device has the level
    /// before `branch`, and all 32 bits of the address.
    #[test]
    fn another_order_and_width_are_read() {
        let device = layout("start = ['format', 'subformat', 'privilege', 'branch', 'address:32']");
        let parameters = Parameters::default();
        assert_eq!(device.check(&parameters), Ok(()));
        // 3 | 0 << 2 | 3 << 4 | 1 << 6 | 0x40000000 << 7
        let bytes = [0x73, 0, 0, 0, 0x20];
        let specified = device.specified(&bytes, &parameters);
        // The same with `branch` << 4, level << 5: all ones. The top bit is that of an address of 31 bits.
        assert_eq!(specified, Some((Format::Start, vec![0x73, 0, 0, 0, 0xe0])));
        assert_eq!(device.specified(&[0x0a], &parameters), None);
        let [(format, due, has)] = &device.differences(&parameters)[..] else { panic!("one") };
        assert_eq!(*format, Format::Start);
        assert_eq!(due, "format:2 subformat:2 branch:1 privilege:2 address:31");
        assert_eq!(has, "format:2 subformat:2 privilege:2 branch:1 address:32");
    }

    /// Two outcomes in a map of 3 bits, difference +4 (2 without bit 0): `branches` 2, map 0b01, address 2.
    #[test]
    fn maps_have_the_width_of_their_count() {
        let device = layout(
            "branch = ['format', 'branches', '-:1', 'branch_map', 'address', 'notify', 'updiscon', 'irreport']",
        );
        let parameters = Parameters::default();
        // 1 | 2 << 2 | 1 << 8 | 2 << 11
        assert_eq!(device.specified(&[0x09, 0x11], &parameters), Some((Format::Branch, vec![0x89, 0x08])));
    }

    #[test]
    fn what_follows_the_fields_stays_after_them() {
        let device = layout("context = ['format', 'subformat', '-:2', 'privilege']");
        let parameters = Parameters::default();
        // 3 | 2 << 2 | 1 << 6, then 0x55
        let specified = device.specified(&[0x4b, 0x55], &parameters);
        // 3 | 2 << 2 | 1 << 4 | 0x55 << 6, filled with 0
        assert_eq!(specified, Some((Format::Context, vec![0x5b, 0x15])));
    }

    #[test]
    fn impossible_layouts_are_refused() {
        for (text, message) in [
            ("start = ['subformat', 'format']", "must begin"),
            ("start = ['format', 'subformat', 'tval']", "no field `tval`"),
            ("trap = ['format', 'subformat', 'branch', 'branch']", "twice"),
            ("branch = ['format', 'branch_map', 'branches']", "before"),
            ("context = ['format', 'subformat', '-']", "bits of `-`"),
        ] {
            let (_, error) = layout(text).check(&Parameters::default()).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
        assert!(toml::from_str::<Layout>("start = ['format:65']").is_err());
        assert!(toml::from_str::<Layout>("begin = ['format']").is_err());
    }
}
