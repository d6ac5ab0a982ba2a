//! Packet layer: any payload is a packet that the writer turns back into an equal packet, or a typed fault.
//!
//! Input: byte 0 = parameter preset; the rest = one payload.

use traceproof_decoder::riscv_etrace::dissect;
use traceproof_encoder_model::riscv_etrace::write_packets;
use traceproof_vectors::riscv_etrace::Policy;

use super::presets::preset;

/// Longest payload that the encapsulation can carry.
const LONGEST: usize = 31;

/// Reads the payload, writes what was read, and reads that.
///
/// # Panics
///
/// When the writer cannot write what the reader read, writes something longer, or something that reads as
/// another packet.
pub fn run(data: &[u8]) {
    let Some((&number, payload)) = data.split_first() else { return };
    let payload = payload.get(..LONGEST).unwrap_or(payload);
    if payload.is_empty() {
        return;
    }
    let parameters = preset(number);
    let framed = [&[u8::try_from(payload.len()).expect("at most 31")][..], payload].concat();
    let dissected = dissect(&framed, &parameters);
    let Some(Ok(packet)) = dissected.first().and_then(|unit| unit.packet) else { return };
    let written = write_packets(&[packet], &parameters, &Policy::default())
        .unwrap_or_else(|error| panic!("{packet:?} was read but cannot be written: {error}"));
    assert!(written.len() <= framed.len(), "{packet:?} became longer: {framed:02x?} -> {written:02x?}");
    let again = dissect(&written, &parameters);
    assert_eq!(
        again.first().and_then(|unit| unit.packet),
        Some(Ok(packet)),
        "{framed:02x?} -> {written:02x?}"
    );
}
