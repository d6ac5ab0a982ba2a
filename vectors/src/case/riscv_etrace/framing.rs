//! The bytes of one packet in an encapsulation, and back: the bit string of EN 2.1 written out.

use crate::riscv_etrace::{Encapsulation, NormalEncapsulation, Padding};

/// Most bytes that `length` can count, and its bits in the header (RVET-ENCAP-001).
const LONGEST: usize = 31;
const LENGTH: u8 = 0x1f;

/// Bit 7 of the header: a timestamp follows.
const EXTEND: u8 = 0x80;

/// The widths of the fields, and what they usually are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    source_bits: usize,
    source: u64,
    timestamp_bytes: usize,
    type_bits: usize,
    instruction: u64,
    padding: Padding,
}

/// The fields of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) source: u64,
    pub(super) time: Option<u64>,
    pub(super) flow: u64,
    pub(super) kind: u64,
    /// Only the significant bits of the payload travel.
    pub(super) packed: bool,
    pub(super) payload: Vec<u8>,
}

impl Framing {
    pub(super) fn new(encapsulation: Encapsulation) -> Self {
        let (normal, instruction) = match encapsulation {
            Encapsulation::Normal(normal) => (normal, 0),
            Encapsulation::Siemens(siemens) => {
                let (src_id_bits, src_id) = (siemens.source_bits, siemens.source);
                let timestamp_bytes = if siemens.timestamp { 2 } else { 0 };
                let plain = NormalEncapsulation::default();
                (NormalEncapsulation { src_id_bits, src_id, timestamp_bytes, type_bits: 2, ..plain }, 2)
            }
            Encapsulation::Atb => (NormalEncapsulation::default(), 0),
        };
        Self {
            source_bits: normal.src_id_bits.into(),
            source: normal.src_id.into(),
            timestamp_bytes: normal.timestamp_bytes.into(),
            type_bits: normal.type_bits.into(),
            instruction,
            padding: normal.padding,
        }
    }

    /// An instruction trace packet of the usual source.
    pub(super) const fn plain(&self, payload: Vec<u8>) -> Unit {
        Unit { source: self.source, time: None, flow: 0, kind: self.instruction, packed: false, payload }
    }

    /// Bytes of the packet that starts with `header` (RVET-ENCAP-003, EN 2.1.5).
    pub(super) const fn length(&self, header: u8) -> usize {
        let length = (header & LENGTH) as usize;
        if length == 0 {
            return 1;
        }
        let timestamp = if header & EXTEND == 0 { 0 } else { self.timestamp_bytes };
        1 + self.source_bits / 8 + timestamp + length
    }

    /// The bytes of a packet (RVET-ENCAP-002, RVET-ENCAP-004).
    pub(super) fn frame(&self, unit: &Unit) -> Result<Vec<u8>, String> {
        if unit.payload.is_empty() {
            return Err("a payload has at least one byte".to_owned());
        }
        if unit.time.is_some() && self.timestamp_bytes == 0 {
            return Err("`@time` needs `timestamp_bytes`".to_owned());
        }
        let mut payload = Vec::new();
        for &byte in &unit.payload {
            push(&mut payload, byte.into(), 8);
        }
        let top = payload.last().copied().unwrap_or(false);
        if unit.packed {
            let significant = payload.iter().rposition(|&bit| bit != top).map_or(1, |highest| highest + 2);
            payload.truncate(significant);
        }
        let counted = self.source_bits % 8 + self.type_bits + payload.len();
        let length = counted.div_ceil(8);
        if length > LONGEST {
            return Err(format!("{counted} bits do not fit the {LONGEST} bytes that `length` can count"));
        }
        let mut bits = Vec::new();
        push(&mut bits, length as u64, 5);
        field(&mut bits, "@flow", unit.flow, 2)?;
        bits.push(unit.time.is_some());
        field(&mut bits, "@src", unit.source, self.source_bits)?;
        if let Some(time) = unit.time {
            field(&mut bits, "@time", time, 8 * self.timestamp_bytes)?;
        }
        field(&mut bits, "@type", unit.kind, self.type_bits)?;
        bits.extend(payload);
        // RVET-ENCAP-022; arbitrary padding is written as zeros.
        let filling = top && self.padding == Padding::Sign;
        bits.resize(bits.len().next_multiple_of(8), filling);
        Ok(bits.chunks(8).map(|byte| value(byte) as u8).collect())
    }

    /// The fields of the packet whose bytes these are, unless [`frame`](Self::frame) cannot make them.
    pub(super) fn read(&self, bytes: &[u8]) -> Option<Unit> {
        let header = *bytes.first()?;
        let extend = header & EXTEND != 0;
        let mut bits = Vec::new();
        for &byte in bytes {
            push(&mut bits, byte.into(), 8);
        }
        let mut at = 8;
        let mut take = |width| {
            let field = bits.get(at..at + width);
            at += width;
            field.map(value)
        };
        let source = take(self.source_bits)?;
        let time = if extend { Some(take(8 * self.timestamp_bytes)?) } else { None };
        let kind = take(self.type_bits)?;
        let rest = bits.get(at..)?;
        let top = rest.last().copied()?;
        let mut signed = rest.to_vec();
        signed.resize(rest.len().next_multiple_of(8), top);
        let whole = rest.get(..rest.len() / 8 * 8)?;
        let flow = u64::from(header >> 5 & 3);
        [(false, whole), (true, &signed)]
            .into_iter()
            .map(|(packed, payload)| {
                let payload = payload.chunks(8).map(|byte| value(byte) as u8).collect();
                Unit { source, time, flow, kind, packed, payload }
            })
            .find(|unit| self.frame(unit).is_ok_and(|framed| framed == bytes))
    }
}

/// Appends the low `width` bits, least significant first.
fn push(bits: &mut Vec<bool>, value: u64, width: usize) {
    bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
}

fn field(bits: &mut Vec<bool>, name: &str, value: u64, width: usize) -> Result<(), String> {
    if width < 64 && value >> width != 0 {
        return Err(format!("`{name}` = {value:#x} does not fit {width} bits"));
    }
    push(bits, value, width);
    Ok(())
}

/// The number that at most 64 bits are, least significant first.
fn value(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit))
}
