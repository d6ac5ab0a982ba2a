//! A stream taken apart bit by bit, for people.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::{ControlFlow, Range};

use traceproof_vectors::arm_ete::{ArmEte, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, Field, Place, Refusal};

use super::layout::Layout;
use super::listener::Listener;
use super::packet::PacketReader;
use super::parse;
use crate::arm::notes::Notes;

/// Takes streams apart: every packet, and between them what belongs to none.
///
/// * Fields have the names of the specification, in as many parts as travelled apart, low part first. `C` is a
///   continuation bit; as the highest bit of a context byte it says that a Context ID is present. `A` are address bits,
///   `atoms` a header that stands for a list of atoms. `0` are bits that must be 0. An A-sync has `zeros` and `end`.
/// * What cannot be read, or is cut off by the end, is a unit with a fault.
/// * Bytes that belong to no packet are a unit with the field `skipped`.
///
/// Nothing is said about what packets mean in the flow, so commits and cancels of too many elements are no faults here.
#[derive(Clone, Debug)]
pub struct Dissector {
    layout: Layout,
}

impl Dissector {
    /// For streams of a trace unit with these parameters.
    ///
    /// # Errors
    ///
    /// When no trace unit has these parameters (ETE-DEC-CFG-001).
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        Ok(Self { layout: Layout::new(parameters) })
    }

    /// The units of a whole stream, in order.
    #[must_use]
    pub fn dissect(&self, wire: &[u8]) -> Vec<Dissection<ArmEte>> {
        let mut reader = PacketReader::byte_by_byte(self.layout.clone());
        let mut collector = Collector { wire, layout: &self.layout, units: Vec::new(), end: 0, index: 0 };
        reader.push(wire, &mut collector);
        reader.finish(&mut collector);
        collector.skip_to(wire.len() as u64);
        collector.units
    }
}

/// Takes one stream apart, as [`Dissector::dissect`]. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<ArmEte>> {
    Dissector::new(parameters).map_or_else(|_| Vec::new(), |dissector| dissector.dissect(wire))
}

struct Collector<'a> {
    wire: &'a [u8],
    layout: &'a Layout,
    units: Vec<Dissection<ArmEte>>,
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

    /// The search that follows a fault begins with the byte at fault, so that an A-sync can begin with it, too.
    fn give_back(&mut self, from: u64) {
        if let Some(unit) = self.units.last_mut().filter(|unit| from < unit.bytes.end) {
            unit.bytes.end = from;
            unit.fields.retain(|field| field.bit < 8 * from);
            self.end = from;
        }
    }

    fn from(&self, at: u64) -> &[u8] {
        usize::try_from(at).ok().and_then(|at| self.wire.get(at..)).unwrap_or_default()
    }

    /// The fields from `at` on, as far as they can be read, and where they end.
    fn read(&self, at: u64) -> (Vec<Field>, u64) {
        let mut fields = Fields { base: at, fields: Vec::new() };
        let bytes = self.from(at);
        let length = match parse::start(self.layout, bytes, &mut fields) {
            parse::Start::Packet(_, length) => length,
            parse::Start::Part => bytes.len(),
            parse::Start::Reserved(_) => {
                fields.fields.iter().map(|field| field.width as usize).sum::<usize>() / 8
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
    fn packet(&mut self, place: Place, packet: &Packet) -> ControlFlow<()> {
        self.give_back(place.byte);
        self.skip_to(place.byte);
        let (mut fields, mut end) = self.read(place.byte);
        let second = match packet {
            Packet::AlignmentSync { .. } => Some("end"),
            Packet::Discard | Packet::Overflow | Packet::BranchFutureFlush => Some("extension"),
            _ => None,
        };
        if let Some(name) = second {
            let value = self.from(end).first().copied().unwrap_or_default();
            fields.push(whole(name, end..end + 1, value.into()));
            end += 1;
        }
        self.unit(place.byte..end, fields, Some(Ok(*packet)));
        ControlFlow::Continue(())
    }

    /// The unit begins with the packet and ends with the byte at fault, or with the last one that could be read.
    fn lost(&mut self, fault: &Fault) {
        let (mut fields, mut end) = self.read(self.end);
        if end <= fault.place.byte {
            let bytes = end..fault.place.byte + 1;
            let value = self.from(fault.place.byte).first().copied().unwrap_or_default();
            end = bytes.end;
            fields.push(whole("reserved", bytes, value.into()));
        }
        self.unit(self.end..end, fields, Some(Err(*fault)));
    }

    fn cut(&mut self, fault: &Fault) {
        let (fields, end) = self.read(fault.place.byte);
        self.unit(fault.place.byte..end, fields, Some(Err(*fault)));
    }
}
