//! A stream taken apart bit by bit, for people.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use traceproof_vectors::arm_pft::{ArmPft, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, Field, Place};

use super::layout::Layout;
use super::listener::Listener;
use super::packet::PacketReader;
use super::parse;
use crate::arm::notes::Notes;

/// Takes a stream apart: every packet, and between them what belongs to none.
///
/// * A packet has the field `header`, but a branch address and atoms; then those of its other bytes, in as
///   many parts as travelled apart, low part first: `address`, `cycles`, `context_id`, `timestamp`; those of
///   the information byte and of exception information by name. `C` is a continuation bit, `X` says that
///   exception information (of a waypoint update, the sixth byte) follows, `ISA` is the marker in the fifth
///   address byte, `F` the atoms with the oldest in the highest bit, `count` the marker of how many there
///   are. `0` and `1` are bits with a fixed value. An A-sync has `zeros` and `end`.
/// * What cannot be read, or is cut off by the end, is a unit with a fault.
/// * Bytes that belong to no packet are a unit with the field `skipped`.
///
/// Nothing is said about what packets mean in the flow. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<ArmPft>> {
    let Ok(mut reader) = PacketReader::new(parameters) else { return Vec::new() };
    let mut collector =
        Collector { wire, layout: Layout::new(parameters), units: Vec::new(), end: 0, index: 0 };
    reader.push(wire, &mut collector);
    reader.finish(&mut collector);
    collector.skip_to(wire.len() as u64);
    collector.units
}

struct Collector<'a> {
    wire: &'a [u8],
    layout: Layout,
    units: Vec<Dissection<ArmPft>>,
    /// The bytes up to here are in units.
    end: u64,
    /// Index of the next packet.
    index: u64,
}

/// The fields of the packet at this stream offset.
struct Fields {
    base: u64,
    fields: Vec<Field>,
}

impl Notes for Fields {
    const TAKES_FIELDS: bool = true;

    fn field(&mut self, name: &'static str, byte: usize, first: u8, width: u8, value: u8) {
        if width > 0 {
            let bit = 8 * (self.base + byte as u64) + u64::from(first);
            let width = width.into();
            self.fields.push(Field { name, bit, width, received: width, value: value.into() });
        }
    }
}

impl Collector<'_> {
    fn unit(&mut self, bytes: Range<u64>, fields: Vec<Field>, packet: Option<Result<Packet, Fault>>) {
        let place = Place { packet: self.index, byte: bytes.start, bit: 0 };
        self.index += u64::from(packet.is_some());
        self.end = bytes.end;
        self.units.push(Dissection { place, bytes, fields, packet });
    }

    /// The bytes up to stream offset `to` belong to no packet.
    fn skip_to(&mut self, to: u64) {
        if self.end < to {
            let bytes = self.end..to;
            self.unit(bytes.clone(), vec![whole("skipped", bytes, 0)], None);
        }
    }

    /// The fields of the packet at `at` as far as they can be read, and its end.
    fn read(&self, at: u64) -> (Vec<Field>, u64) {
        let mut fields = Fields { base: at, fields: Vec::new() };
        let bytes = usize::try_from(at).ok().and_then(|at| self.wire.get(at..)).unwrap_or_default();
        let length = match parse::start(&self.layout, bytes, &mut fields) {
            parse::Start::Packet(_, length) => length,
            parse::Start::Part => bytes.len(),
            parse::Start::Reserved => {
                let first = u64::from(bytes.first().copied().unwrap_or_default());
                fields.fields.push(whole("header", at..at + 1, first));
                1
            }
            parse::Start::Zero => {
                let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                fields.fields.push(whole("zeros", at..at + zeros as u64, 0));
                zeros
            }
        };
        (fields.fields, at + length as u64)
    }
}

/// One field of whole bytes.
fn whole(name: &'static str, bytes: Range<u64>, value: u64) -> Field {
    let width = u32::try_from(8 * (bytes.end - bytes.start)).unwrap_or(u32::MAX);
    Field { name, bit: 8 * bytes.start, width, received: width, value }
}

impl Listener for Collector<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.skip_to(place.byte);
        let (mut fields, mut end) = self.read(place.byte);
        if let Packet::AlignmentSync { .. } = packet {
            fields.push(whole("end", end..end + 1, 0x80));
            end += 1;
        }
        self.unit(place.byte..end, fields, Some(Ok(*packet)));
    }

    fn lost(&mut self, fault: &Fault) {
        let (fields, end) = self.read(fault.place.byte);
        self.unit(fault.place.byte..end, fields, Some(Err(*fault)));
    }

    fn cut(&mut self, fault: &Fault) {
        self.lost(fault);
    }
}
