//! A capture taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet, Parameters};
use traceproof_vectors::{DecoderLimits, Dissection, Fault, Place, Program};

use super::listener::{Consequence, Listener};
use super::port::Port;
use crate::arm_etm::units::Units;
use crate::arm_etm::v2::FifoByte;

/// Takes a capture apart: every record, then every packet whose last byte it carries.
///
/// * A record has the fields `PIPESTAT` and `TRACESYNC`; of TR also `replaced PIPESTAT`; after BE and BD `APO[1:0]` and
///   `APO[3:2]` in place of `PIPESTAT`, or of what TR replaces; of TD `keep`; and `skipped` for bytes that belong to
///   nothing. It is a unit without packet, or with the fault that it gave.
/// * A packet has the fields `address`, `reason`, `J`, `context_id` and `value`, in as many parts as travelled apart,
///   low part first, and
///   `c` for the continue bits. The unit's `bytes` reach from the first to the last byte that carried it, with
///   everything between.
/// * A packet that is cut off is a unit without packet.
///
/// Data that cannot be assigned by the code in `program` are `skipped`. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Dissection<ArmEtm>> {
    let Ok(mut port) = Port::new(parameters, program, &DecoderLimits::default()) else { return Vec::new() };
    let mut units = Units::default();
    port.push(wire, &mut units);
    port.finish(&mut units);
    units.finish()
}

impl Listener for Units {
    fn event(&mut self, _: Place, _: &Event) {}

    fn packet(&mut self, _: Place, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn fault(&mut self, fault: &Fault, consequence: Consequence) {
        self.fault(fault, consequence == Consequence::GivenUp);
    }

    fn dropped(&mut self) {
        self.close(None);
    }

    fn record(&mut self, place: Place, size: u64) {
        self.record(place, size);
    }

    fn pins(&mut self, name: &'static str, offset: u64, first: u8, width: u8, value: u8) {
        self.pins(name, offset, first, width, value);
    }

    fn field(&mut self, name: &'static str, byte: FifoByte, first: u8, width: u8) {
        self.field(name, byte, first, width);
    }
}
