//! Framing of payloads in the byte stream (EN 2, 3; the transports of ET 13).

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Padding, PayloadAlignment};

use super::unencodable::Defect;

/// Most bytes that `length` can count: it has 5 bits. Spec: RVET-ENCAP-001 (EN 2.1.1).
const MOST_BYTES: u32 = 31;

/// Bits 4 to 0 of a header: `length`. Spec: RVET-ENCAP-001 (EN 2.1.1).
const LENGTH: u8 = 0x1f;

/// Bit 7 of a header: `extend`. Spec: RVET-ENCAP-001 (EN 2.1.1).
pub(super) const EXTEND: u8 = 0x80;

/// Where `flow` starts in a header. Spec: RVET-ENCAP-001 (EN 2.1.1).
pub(super) const FLOW: u32 = 5;

/// Bytes of the longest packet: header, whole bytes of `srcID`, timestamp, and what `length` counts.
const CAPACITY: usize = 1 + 2 + 8 + MOST_BYTES as usize;

/// What a packet is a part of; decides its `type` (EN 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceKind {
    /// Instruction trace.
    #[default]
    Instruction,
    /// Data trace.
    Data,
}

/// One trace payload for the stream.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// The payload filled to whole bytes with copies of its top bit, first transmitted byte first.
    pub payload: &'a [u8],
    /// How many low bits of `payload` matter; those above are copies of the highest of them.
    pub bits: u32,
    /// What it is a part of.
    pub kind: TraceKind,
    /// The time for transports that have timestamps, cut to their width; `None` = no timestamp (`extend` = 0).
    pub timestamp: Option<u64>,
}

/// How payloads of one source become packets. By RVET-ENCAP-007, 009 and 018 the widths never change.
///
/// The default is a header byte and the payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Framing {
    source: Field,
    timestamp_bytes: u32,
    instruction: Field,
    /// `None` where there is no type that could distinguish data trace.
    data: Option<Field>,
    flow: u8,
    padding: Padding,
    alignment: PayloadAlignment,
}

/// A value and its width in bits.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    value: u64,
    width: u32,
}

impl Framing {
    /// Framing by `encapsulation`, with these choices of the encoder. `flow` is 0 to 3.
    ///
    /// # Errors
    ///
    /// When the encapsulation is unknown to this model, or a choice is not possible in it.
    ///
    /// Spec: RVET-ENCAP-007, RVET-ENCAP-017 (EN 2.1.2, 3.3).
    pub fn new(
        encapsulation: &Encapsulation,
        flow: u8,
        alignment: PayloadAlignment,
    ) -> Result<Self, Refusal> {
        let plain = NormalEncapsulation::default();
        // Instruction trace has type 0 and data trace 1, or 2 and 3 in the messages of ET 13.
        let (normal, first_type) = match *encapsulation {
            Encapsulation::Normal(normal) => (normal, 0),
            Encapsulation::Siemens(siemens) => {
                let timestamp_bytes = if siemens.timestamp { 2 } else { 0 };
                let (src_id_bits, src_id) = (siemens.source_bits, siemens.source);
                (NormalEncapsulation { src_id_bits, src_id, timestamp_bytes, type_bits: 2, ..plain }, 2)
            }
            Encapsulation::Atb => (plain, 0),
            _ => return Err(Refusal::unsupported("encapsulation")),
        };
        if flow > 3 {
            return Err(Refusal::invalid("flow", "must be 0 to 3"));
        }
        if alignment == PayloadAlignment::After && normal.padding == Padding::Arbitrary {
            let reason = "receivers of arbitrary padding need payloads of whole bytes";
            return Err(Refusal::invalid("payload_alignment", reason));
        }
        let width = normal.type_bits.into();
        Ok(Self {
            source: Field { value: normal.src_id.into(), width: normal.src_id_bits.into() },
            timestamp_bytes: normal.timestamp_bytes.into(),
            instruction: Field { value: first_type, width },
            data: (width > 0).then_some(Field { value: first_type + 1, width }),
            flow,
            padding: normal.padding,
            alignment,
        })
    }

    /// Most payload bits of a packet. Spec: RVET-ENCAP-006 (EN 2.1.4).
    #[must_use]
    pub const fn most_payload_bits(&self) -> u32 {
        let bits = (8 * MOST_BYTES).saturating_sub(self.instruction.width + self.source.width % 8);
        match self.alignment {
            PayloadAlignment::Before => bits / 8 * 8,
            PayloadAlignment::After => bits,
        }
    }

    /// Whether packets have a type that distinguishes data trace.
    #[must_use]
    pub const fn has_types(&self) -> bool {
        self.data.is_some()
    }

    /// The longest run of null bytes inside a packet, N. Spec: RVET-ENCAP-013 (EN 2.3).
    #[must_use]
    pub const fn longest_null_run(&self) -> u32 {
        MOST_BYTES + self.timestamp_bytes + self.source.width / 8
    }

    /// Bytes of the packet that starts with `header`. Spec: RVET-ENCAP-003, RVET-ENCAP-011 (EN 2.1.5, 2.2).
    #[must_use]
    pub const fn packet_length(&self, header: u8) -> usize {
        if is_null(header) {
            return 1;
        }
        let timestamp = if header & EXTEND == 0 { 0 } else { self.timestamp_bytes };
        (1 + self.source.width / 8 + timestamp) as usize + (header & LENGTH) as usize
    }

    /// Frames a payload.
    ///
    /// # Errors
    ///
    /// [`Defect::Missing`] for an empty payload, [`Defect::TooLong`] for one that does not fit,
    /// [`Defect::Unexpected`] for data trace where packets have no type.
    ///
    /// Spec: RVET-ENCAP-001 to 006, RVET-ENCAP-008, RVET-ENCAP-010, RVET-ENCAP-022 (EN 2.1).
    pub fn frame(&self, trace: &Trace<'_>) -> Result<Frame, Defect> {
        let most = 8 * u32::try_from(trace.payload.len()).map_err(|_| Defect::TooLong)?;
        let bits = match self.alignment {
            PayloadAlignment::Before => most,
            PayloadAlignment::After => trace.bits.min(most),
        };
        if bits == 0 {
            return Err(Defect::Missing);
        }
        if bits > self.most_payload_bits() {
            return Err(Defect::TooLong);
        }
        let kind = match trace.kind {
            TraceKind::Instruction => self.instruction,
            TraceKind::Data => self.data.ok_or(Defect::Unexpected)?,
        };
        let timestamp = trace.timestamp.filter(|_| self.timestamp_bytes > 0);
        let length = (self.source.width % 8 + kind.width + bits).div_ceil(8);
        let mut frame = Frame { bytes: [0; CAPACITY], bits: 8 };
        let extend = if timestamp.is_some() { EXTEND } else { 0 };
        let [header, ..] = &mut frame.bytes;
        *header = length as u8 | self.flow << FLOW | extend;
        frame.push(self.source.value, self.source.width);
        frame.push(timestamp.unwrap_or(0), if timestamp.is_some() { 8 * self.timestamp_bytes } else { 0 });
        frame.push(kind.value, kind.width);
        let top = frame.push_payload(trace.payload, bits);
        let filling = if top && self.padding == Padding::Sign { u64::MAX } else { 0 };
        frame.push(filling, frame.bits.wrapping_neg() % 8);
        Ok(frame)
    }
}

/// Whether a header byte is a packet of its own. Spec: RVET-ENCAP-005, RVET-ENCAP-011 (EN 2.2).
pub(super) const fn is_null(header: u8) -> bool {
    header & LENGTH == 0
}

/// A framed packet.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    bytes: [u8; CAPACITY],
    bits: u32,
}

impl Frame {
    /// The bytes, first transmitted first.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.bits.div_ceil(8) as usize).unwrap_or(&self.bytes)
    }

    /// Appends the low `width` bits of `value`, least significant first; `width` is 0 to 64.
    fn push(&mut self, value: u64, width: u32) {
        let mut value = if width < 64 { value & ((1 << width) - 1) } else { value };
        let mut left = width;
        while left > 0 {
            let shift = self.bits % 8;
            let some = left.min(8 - shift);
            if let Some(byte) = self.bytes.get_mut((self.bits / 8) as usize) {
                *byte |= (value as u8) << shift;
            }
            value >>= some;
            left -= some;
            self.bits += some;
        }
    }

    /// Appends the low `bits` bits of a payload; the highest of them.
    fn push_payload(&mut self, payload: &[u8], bits: u32) -> bool {
        let whole = payload.get(..(bits / 8) as usize).unwrap_or(payload);
        let start = (self.bits / 8) as usize;
        match self.bytes.get_mut(start..start + whole.len()) {
            Some(room) if self.bits.is_multiple_of(8) => {
                room.copy_from_slice(whole);
                self.bits += bits / 8 * 8;
            }
            _ => whole.iter().for_each(|&byte| self.push(byte.into(), 8)),
        }
        if let Some(&last) = payload.get(whole.len()) {
            self.push(last.into(), bits % 8);
        }
        let top = bits.saturating_sub(1);
        payload.get((top / 8) as usize).is_some_and(|byte| byte >> (top % 8) & 1 == 1)
    }
}
