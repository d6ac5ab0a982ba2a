//! The fields between the header of a transport unit and the trace payload (EN 2.1, EN 3, ET 13).

use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Padding, Parameters};
use traceproof_vectors::{Field, Place, Refusal};

use super::unit::{Header, Route, Unit};
use crate::riscv_etrace::Payload;

/// Bits of the header.
const HEADER: u32 = 8;

/// Where the fields of a unit are and which units are followed. By default a unit is one header byte and the payload.
///
/// After the header come `srcID`, the timestamp where `extend` is 1, `type` and the payload, without any alignment
/// between them. Spec: RVET-ENCAP-002 (EN 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::riscv_etrace) struct Layout {
    source_bits: u32,
    /// The source that is followed.
    source: u16,
    timestamp_bits: u32,
    type_bits: u32,
    /// The `type` of instruction trace.
    instruction: u64,
    /// The `type` of data trace.
    data: u64,
    /// The source of data trace, where it has one of its own.
    data_source: Option<u16>,
    padding: Padding,
    synchronised: bool,
    /// Bytes of a block of memory; 0 = there are none.
    block: u32,
    /// Offset of the first border between two, less than `block`.
    first_block: u32,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            source_bits: 0,
            source: 0,
            timestamp_bits: 0,
            type_bits: 0,
            instruction: 0,
            data: 1,
            data_source: None,
            padding: Padding::Sign,
            synchronised: true,
            block: 0,
            first_block: 0,
        }
    }
}

impl Layout {
    /// Bytes of the longest timestamp: `trTsWidth` says less than 64 bits.
    pub(super) const LONGEST_TIMESTAMP: usize = 8;

    /// The layout that the parameters describe.
    ///
    /// # Errors
    ///
    /// If no hardware can have these widths, or when the encapsulation is not known.
    pub(super) fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        let layout = match parameters.encapsulation {
            Encapsulation::Normal(normal) => Ok(Self::normal(normal)),
            Encapsulation::Siemens(siemens) => Ok(Self {
                source_bits: u32::from(siemens.source_bits),
                source: siemens.source,
                timestamp_bits: if siemens.timestamp { 16 } else { 0 },
                type_bits: 2,
                instruction: 2,
                data: 3,
                ..Self::default()
            }),
            // The source travels on ATID and there is no `type` (ET 13).
            Encapsulation::Atb => Ok(Self::default()),
            _ => Err(Refusal::unsupported("encapsulation")),
        }?;
        Ok(Self { data_source: parameters.data.and_then(|data| data.source), ..layout })
    }

    /// Spec: RVET-ENCAP-007, RVET-ENCAP-009, RVET-ENCAP-018 (EN 2.1), RVET-ENCAP-017 (EN 3.3).
    fn normal(normal: NormalEncapsulation) -> Self {
        Self {
            source_bits: u32::from(normal.src_id_bits),
            source: normal.src_id,
            timestamp_bits: 8 * u32::from(normal.timestamp_bytes),
            type_bits: u32::from(normal.type_bits),
            padding: normal.padding,
            synchronised: normal.synchronised,
            block: normal.block_bytes,
            first_block: normal.first_block.checked_rem(normal.block_bytes).unwrap_or(0),
            ..Self::default()
        }
    }

    /// Whether a unit is one header byte and the payload, and always whole.
    pub(in crate::riscv_etrace) const fn is_bare(&self) -> bool {
        self.source_bits == 0 && self.timestamp_bits == 0 && self.type_bits == 0 && self.block == 0
    }

    /// Bytes of a block of memory, 0 = there are none, and the offset of the first border between two.
    pub(super) const fn blocks(&self) -> (u64, u64) {
        (self.block as u64, self.first_block as u64)
    }

    /// Whether these are fewer bytes than the unit with such a header has, because a border between blocks cuts it.
    pub(super) const fn is_cut(&self, header: Header, bytes: &[u8]) -> bool {
        let timestamp = if header.extend() { self.timestamp_bytes() } else { 0 };
        let length = 1 + self.source_bytes() + timestamp + header.length() as u32;
        !header.is_null() && (bytes.len() as u32) < length
    }

    /// Bytes that `srcID` fills. They are not counted in `length`, nor is the timestamp; the remaining bits of `srcID`
    /// are. Spec: RVET-ENCAP-003, RVET-ENCAP-004 (EN 2.1.5).
    pub(super) const fn source_bytes(&self) -> u32 {
        self.source_bits / 8
    }

    pub(super) const fn timestamp_bytes(&self) -> u32 {
        self.timestamp_bits / 8
    }

    pub(super) const fn synchronised(&self) -> bool {
        self.synchronised
    }

    /// `srcID` of the unit that starts `bytes`; `None` if it has not arrived.
    pub(super) fn source_id(&self, bytes: &[u8]) -> Option<u16> {
        bits(bytes, HEADER, self.source_bits).map(|source| source as u16)
    }

    /// Reads the unit that has such a header and these bytes.
    pub(super) fn read(&self, place: Place, header: Header, bytes: &[u8]) -> Unit {
        let mut unit = Unit::new(place, header, Payload::load(&[], 0));
        if header.is_null() {
            return unit;
        }
        let counted = 8 * u32::from(header.length());
        let before_payload = self.source_bits % 8 + self.type_bits;
        let timestamp_bits = if header.extend() { self.timestamp_bits } else { 0 };
        let timestamp = HEADER + self.source_bits;
        let packet_type = timestamp + timestamp_bits;
        unit.length = bytes.len() as u8;
        unit.type_bit = packet_type as u8;
        unit.payload_bit = (packet_type + self.type_bits) as u8;
        unit.source_id = self.source_id(bytes).unwrap_or_default();
        if self.is_cut(header, bytes) {
            let other = self.source_id(bytes).is_some_and(|source| source != self.source);
            unit.route = if other { Route::OtherSource } else { Route::Cut };
            return unit;
        }
        if header.extend() && self.timestamp_bits == 0 {
            return unit;
        }
        unit.timestamp = (timestamp_bits > 0).then(|| bits(bytes, timestamp, timestamp_bits)).flatten();
        let of_data = self.data_source == Some(unit.source_id);
        if unit.source_id != self.source && !of_data {
            unit.route = Route::OtherSource;
            return unit;
        }
        let mut payload_bits = counted.saturating_sub(before_payload);
        if self.padding == Padding::Arbitrary {
            payload_bits -= payload_bits % 8;
        }
        let found = bits(bytes, packet_type, self.type_bits);
        let payload = Payload::from_bits(bytes, unit.payload_bit.into(), payload_bits);
        unit.route = match (found, payload) {
            (Some(found), Some(payload)) if of_data || found == self.instruction || found == self.data => {
                unit.payload = payload;
                if of_data || found == self.data { Route::Data } else { Route::Instruction }
            }
            (Some(_), Some(_)) => Route::UnknownType,
            _ => Route::Short,
        };
        unit
    }

    /// Reports every field before the payload that arrived whole, first to last, for the unit that starts `bytes`.
    ///
    /// The `type` of other sources is not reported: its width is theirs (RVET-ENCAP-018).
    pub(in crate::riscv_etrace) fn fields(&self, place: Place, bytes: &[u8], each: &mut impl FnMut(Field)) {
        let mut next = 0;
        let mut field = |name, width| {
            let value = bits(bytes, next, width)?;
            if width > 0 {
                each(Field { name, bit: 8 * place.byte + u64::from(next), width, received: width, value });
            }
            next += width;
            Some(value)
        };
        // In a function of its own so that `?` can be used.
        let mut all = || {
            let length = field("length", 5)?;
            field("flow", 2)?;
            let extend = field("extend", 1)? != 0;
            if length == 0 || (extend && self.timestamp_bits == 0) {
                return None;
            }
            let source = field("srcID", self.source_bits)?;
            if extend {
                field("timestamp", self.timestamp_bits)?;
            }
            let counted = (self.source_bits % 8 + self.type_bits).div_ceil(8);
            let complete = u64::from(counted) <= length;
            let ours = source == u64::from(self.source) || self.data_source.map(u64::from) == Some(source);
            if ours && complete { field("type", self.type_bits) } else { None }
        };
        all();
    }
}

/// The `width` (0 to 64) bits from bit `first` of `bytes` on; `None` if there are not as many.
fn bits(bytes: &[u8], first: u32, width: u32) -> Option<u64> {
    let bytes = bytes.get(first as usize / 8..(first + width).div_ceil(8) as usize)?;
    let word = bytes.iter().rev().fold(0_u128, |word, &byte| word << 8 | u128::from(byte));
    let mask = u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0);
    Some((word >> (first % 8)) as u64 & mask)
}
