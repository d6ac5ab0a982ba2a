//! Frames taken apart byte by byte, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm::{FRAME_BYTES, FULL_SYNC, Framing, HALF_SYNC};
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Packet, Parameters, SourceBytes};
use traceproof_vectors::{Dissection, Fault, FaultClass, Field, Place, Program};

/// Dissects a formatted stream: frames, with the half-word synchronisation packets in them, and full synchronisation
/// packets. Bytes before the first one of a trace port, and a frame that is cut off, have no packet.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<ArmEtmFormatter>> {
    let is_port = parameters.framing != Framing::Memory;
    let mut walk = Walk { wire, byte: 0, index: 0, units: Vec::new() };
    if is_port {
        let first = wire.windows(FULL_SYNC.len()).position(|bytes| *bytes == FULL_SYNC);
        let length = first.unwrap_or(wire.len());
        if length > 0 {
            walk.unit(length, Vec::new(), None);
        }
    }
    while walk.byte < wire.len() {
        if is_port && walk.rest().starts_with(&FULL_SYNC) {
            let fields = walk.fields("synchronisation", FULL_SYNC.len());
            walk.unit(FULL_SYNC.len(), fields, Some(Ok(Packet::FullSync)));
        } else {
            walk.frame(is_port);
        }
    }
    walk.units
}

struct Walk<'a> {
    wire: &'a [u8],
    byte: usize,
    /// Of frames.
    index: u64,
    units: Vec<Dissection<ArmEtmFormatter>>,
}

impl<'a> Walk<'a> {
    fn rest(&self) -> &'a [u8] {
        self.wire.get(self.byte..).unwrap_or_default()
    }

    /// A field of each byte.
    fn fields(&self, name: &'static str, length: usize) -> Vec<Field> {
        let bytes = self.rest().iter().take(length).enumerate();
        bytes.map(|(index, &byte)| field(name, self.byte + index, 0, 8, byte)).collect()
    }

    fn unit(&mut self, length: usize, fields: Vec<Field>, packet: Option<Result<Packet, Fault>>) {
        let place = Place { packet: self.index, byte: self.byte as u64, bit: 0 };
        let bytes = self.byte as u64..(self.byte + length) as u64;
        self.units.push(Dissection { place, bytes, fields, packet });
        self.byte += length;
    }

    /// A frame, or what there is of it.
    fn frame(&mut self, is_port: bool) {
        let rest = self.rest();
        let (mut frame, mut at) = (Vec::new(), 0);
        let mut fields = Vec::new();
        while let Some(&byte) = rest.get(at).filter(|_| frame.len() < FRAME_BYTES) {
            let here = rest.get(at..).unwrap_or_default();
            let is_pair = frame.len().is_multiple_of(2);
            if is_port && is_pair && here.starts_with(&FULL_SYNC) {
                break;
            }
            if is_port && is_pair && here.starts_with(&HALF_SYNC) {
                let bytes = here.iter().take(HALF_SYNC.len()).enumerate();
                fields.extend(
                    bytes.map(|(index, &byte)| field("synchronisation", self.byte + at + index, 0, 8, byte)),
                );
                at += HALF_SYNC.len();
                continue;
            }
            self.byte_of_frame(frame.len(), at, byte, &mut fields);
            frame.push(byte);
            at += 1;
        }
        let place = Place { packet: self.index, byte: self.byte as u64, bit: 0 };
        let packet = if frame.len() == FRAME_BYTES {
            Some(Ok(Packet::Frame(SourceBytes(frame))))
        } else if frame.is_empty() {
            None
        } else {
            Some(Err(Fault::new(FaultClass::Truncated, place)))
        };
        let is_frame = packet.is_some();
        self.unit(at, fields, packet);
        self.index += u64::from(is_frame);
    }

    fn byte_of_frame(&self, position: usize, at: usize, byte: u8, fields: &mut Vec<Field>) {
        let at = self.byte + at;
        if position == FRAME_BYTES - 1 {
            fields.push(field("auxiliary", at, 0, 8, byte));
        } else if position.is_multiple_of(2) {
            let name = if byte & 1 == 1 { "ID" } else { "data[7:1]" };
            fields.push(field("F", at, 0, 1, byte & 1));
            fields.push(field(name, at, 1, 7, byte >> 1));
        } else {
            fields.push(field("data", at, 0, 8, byte));
        }
    }
}

fn field(name: &'static str, byte: usize, bit: u64, width: u32, value: u8) -> Field {
    Field { name, bit: 8 * byte as u64 + bit, width, received: width, value: u64::from(value) }
}
