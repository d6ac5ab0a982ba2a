//! Where the units of a stream and their fields are, by the widths of the transport.

use traceproof_vectors::Field;
use traceproof_vectors::riscv_etrace::{Encapsulation, Padding, Parameters};

/// Widths in bits, and the values that are followed.
pub(super) struct Transport {
    source: u32,
    sources: Vec<u64>,
    timestamp: u32,
    kind: u32,
    /// The types of instruction and data trace.
    kinds: [u64; 2],
    padding: Padding,
    block: usize,
    first_block: usize,
    has_data: bool,
}

/// A unit: a header byte, and what it announces.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) index: u64,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Before the payload.
    pub(super) fields: Vec<Field>,
    pub(super) type_bit: u64,
    pub(super) payload_bit: u64,
    /// The bit after the payload, if there is one for the decoder.
    pub(super) payload: Option<u64>,
    pub(super) is_data: bool,
    pub(super) is_null: bool,
    pub(super) is_other: bool,
    /// By the end of the stream; by a border between blocks.
    pub(super) is_cut_off: bool,
    pub(super) is_cut: bool,
    pub(super) is_shorter: bool,
    pub(super) is_untimed: bool,
    pub(super) is_short: bool,
    pub(super) is_unknown: bool,
    /// A packet of data trace that the parameters do not have.
    pub(super) is_unwanted: bool,
}

impl Unit {
    pub(super) fn carries_nothing(&self) -> bool {
        self.is_null || self.is_other || self.is_unwanted
    }

    /// The value of a field of the transport.
    pub(super) fn says(&self, name: &str) -> Option<u64> {
        self.fields.iter().find(|field| field.name == name).map(|field| field.value)
    }
}

impl Transport {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let own = parameters.data.and_then(|data| data.source).map(u64::from);
        let mut this = Self {
            source: 0,
            sources: vec![0],
            timestamp: 0,
            kind: 0,
            kinds: [0, 1],
            padding: Padding::Sign,
            block: 0,
            first_block: 0,
            has_data: parameters.data.is_some(),
        };
        match parameters.encapsulation {
            Encapsulation::Normal(normal) => {
                this.source = normal.src_id_bits.into();
                this.sources = vec![normal.src_id.into()];
                this.timestamp = 8 * u32::from(normal.timestamp_bytes);
                this.kind = normal.type_bits.into();
                this.padding = normal.padding;
                this.block = normal.block_bytes as usize;
                this.first_block = normal.first_block as usize;
            }
            Encapsulation::Siemens(siemens) => {
                this.source = siemens.source_bits.into();
                this.sources = vec![siemens.source.into()];
                this.timestamp = if siemens.timestamp { 16 } else { 0 };
                (this.kind, this.kinds) = (2, [2, 3]);
            }
            _ => {}
        }
        this.sources.extend(own);
        this
    }

    /// The units of a stream whose first byte is a header.
    pub(super) fn units<'a>(&'a self, wire: &'a [u8]) -> impl Iterator<Item = Unit> + use<'a> {
        let (mut at, mut index) = (0, 0);
        std::iter::from_fn(move || {
            let unit = (at < wire.len()).then(|| self.unit(wire, at, index))?;
            at = unit.end;
            index += u64::from(!unit.is_null);
            Some(unit)
        })
    }

    /// Spec: RVET-ENCAP-001 to 011 (EN 2.1, 2.2), RVET-ENCAP-017 (EN 3.3).
    fn unit(&self, wire: &[u8], start: usize, index: u64) -> Unit {
        let header = wire[start];
        let length = u32::from(header & 0x1f);
        let (is_null, extends) = (length == 0, header & 0x80 != 0);
        let timestamp = if extends { self.timestamp } else { 0 };
        let whole = if is_null { 1 } else { 1 + (self.source / 8 + timestamp / 8 + length) as usize };
        let mut unit = Unit { index, start, is_null, end: start + whole, ..Unit::default() };
        if self.block > 0 {
            let since = (start + self.block - self.first_block % self.block) % self.block;
            let border = start + self.block - since;
            unit.is_cut = unit.end > border;
            unit.end = unit.end.min(border);
        }
        if unit.end > wire.len() {
            (unit.end, unit.is_cut_off) = (wire.len(), true);
        }
        let first = 8 * start as u64;
        unit.type_bit = first + u64::from(8 + self.source + timestamp);
        unit.payload_bit = unit.type_bit + u64::from(self.kind);
        let counted = self.source % 8 + self.kind;
        let bits = (8 * length).saturating_sub(counted);
        let bits = if self.padding == Padding::Arbitrary { bits / 8 * 8 } else { bits };
        unit.is_untimed = !is_null && extends && self.timestamp == 0;
        unit.is_shorter = unit.end < start + whole;
        let mut fields = Fields { wire: &wire[..unit.end], next: first, found: &mut unit.fields };
        let source = fields.peek(first + 8, self.source);
        let is_ours = source.is_some_and(|source| self.sources.contains(&source));
        // Of a unit that is cut it does not matter whether data trace has a source of its own.
        let first_source = source.is_none() || source == self.sources.first().copied();
        unit.is_other = !is_null && if unit.is_cut { !first_source } else { !is_ours && !unit.is_untimed };
        unit.is_cut &= !unit.is_other;
        let there = fields.take("length", 5).and(fields.take("flow", 2)).and(fields.take("extend", 1));
        if there.is_none() || is_null || unit.is_untimed {
            return unit;
        }
        if fields.take("srcID", self.source).is_none() {
            return unit;
        }
        let source = source.unwrap_or_default();
        let time = if extends { fields.take("timestamp", self.timestamp) } else { Some(0) };
        if time.is_none() || !is_ours || counted.div_ceil(8) > length {
            unit.is_short = !unit.is_other && bits == 0;
            return unit;
        }
        let Some(kind) = fields.take("type", self.kind) else { return unit };
        if unit.is_cut || unit.is_cut_off || unit.is_other {
            return unit;
        }
        let own = self.sources.get(1) == Some(&source);
        unit.is_data = own || (self.kind > 0 && kind == self.kinds[1]);
        unit.is_short = bits == 0;
        unit.is_unknown = !unit.is_short && !own && kind != self.kinds[0] && !unit.is_data;
        unit.is_unwanted = unit.is_data && !self.has_data;
        if !unit.is_short && !unit.is_unknown && !unit.is_unwanted {
            unit.payload = Some(unit.payload_bit + u64::from(bits));
        }
        unit
    }
}

struct Fields<'a> {
    wire: &'a [u8],
    next: u64,
    found: &'a mut Vec<Field>,
}

impl Fields<'_> {
    /// The next field, if it arrived whole. One without bits is no field.
    fn take(&mut self, name: &'static str, width: u32) -> Option<u64> {
        let value = self.peek(self.next, width)?;
        if width > 0 {
            self.found.push(Field { name, bit: self.next, width, received: width, value });
        }
        self.next += u64::from(width);
        Some(value)
    }

    fn peek(&self, first: u64, width: u32) -> Option<u64> {
        (0..width).try_fold(0, |value, at| {
            let bit = first + u64::from(at);
            let byte = self.wire.get((bit / 8) as usize)?;
            Some(value | u64::from(byte >> (bit % 8) & 1) << at)
        })
    }
}
