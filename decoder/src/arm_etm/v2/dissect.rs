//! A capture taken apart bit by bit, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{ArmEtm, Packet, Parameters};
use traceproof_vectors::{Dissection, Fault, Place};

use super::listener::{Carrier, Consequence, FifoByte, Listener};
use super::port::Port;
use crate::arm_etm::units::Units;

/// Takes a capture apart: every record, then every packet whose last byte it carries.
///
/// * A record has the field `PIPESTAT`; of TR also `replaced PIPESTAT`; of a TFO value `TFO`, `N[6:4]` and `N[3:0]`,
///   each in the record that carried it; and `skipped` for FIFO bytes that belong to nothing. It is a unit without
///   packet, or with the fault that its statuses and its place in the stream gave.
/// * A packet has the fields of Table 6.2 (`C`, `A`, `TT`, `SS`) or of a TFO packet header (`L`, `RR`, `J`), then
///   `address`, `value` and `context_id` in as many parts as travelled apart, low part first, and `c` for the continue
///   bits. A header that cannot be used is `header`. The unit's `bytes` reach from the first to the last byte that
///   carried it, with everything between.
/// * A packet that the capture cuts off is a unit without packet: that is no fault.
///
/// It does not cover what packets mean in the flow. Empty when the parameters are refused.
#[must_use]
pub fn dissect(wire: &[u8], parameters: &Parameters) -> Vec<Dissection<ArmEtm>> {
    let Ok(mut port) = Port::new(parameters) else { return Vec::new() };
    let mut units = Units::default();
    port.push(wire, &mut units);
    port.finish(&mut units);
    units.finish()
}

impl Listener for Units {
    fn trigger(&mut self, _: Place, _: u64) {}

    fn instruction(&mut self, _: Place, _: u64, _: bool, _: bool) {}

    fn packet(&mut self, _: Carrier, packet: &Packet) {
        self.close(Some(Ok(*packet)));
    }

    fn fault(&mut self, fault: &Fault, consequence: Consequence) {
        self.fault(fault, consequence == Consequence::Lost);
    }

    fn end(&mut self, _: Place, _: Option<u64>) {
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
