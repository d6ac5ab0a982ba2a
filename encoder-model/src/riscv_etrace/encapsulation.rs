//! Framing of payloads in the byte stream (EN 2).

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::Encapsulation;

/// Most payload bytes of one packet: `length` has 5 bits. Spec: RVET-ENCAP-001, RVET-ENCAP-006 (EN 2.1).
pub(super) const MOST_BYTES: usize = 31;

/// Whether packets are a header byte and the payload, nothing else.
///
/// # Errors
///
/// The feature that the other encapsulations need.
pub(super) fn check(encapsulation: &Encapsulation) -> Result<(), Refusal> {
    let Encapsulation::Normal(constants) = encapsulation else {
        return Err(Refusal::unsupported("encapsulation"));
    };
    if constants.src_id_bits > 0 {
        return Err(Refusal::unsupported("source_id"));
    }
    if constants.timestamp_bytes > 0 {
        return Err(Refusal::unsupported("timestamp"));
    }
    // Instruction trace alone needs no type field (RVET-ENCAP-017).
    if constants.type_bits > 0 {
        return Err(Refusal::unsupported("data_trace"));
    }
    Ok(())
}

/// The header byte: `length`, `flow` = 0, `extend` = 0. `None` where the payload does not fit.
///
/// Spec: RVET-ENCAP-001, RVET-ENCAP-005, RVET-ENCAP-008 (EN 2.1.1).
pub(super) fn header(payload: &[u8]) -> Option<u8> {
    u8::try_from(payload.len()).ok().filter(|length| (1..=MOST_BYTES as u8).contains(length))
}

/// A framed packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    bytes: [u8; 1 + MOST_BYTES],
    length: usize,
}

impl Frame {
    /// Frames a payload of 1 to 31 bytes.
    pub(super) fn new(payload: &[u8]) -> Option<Self> {
        let header = header(payload)?;
        let mut bytes = [0; 1 + MOST_BYTES];
        let (first, rest) = bytes.split_first_mut()?;
        *first = header;
        rest.get_mut(..payload.len())?.copy_from_slice(payload);
        Some(Self { bytes, length: 1 + payload.len() })
    }

    /// The bytes, first transmitted first.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&self.bytes)
    }
}
