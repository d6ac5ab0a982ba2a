//! Captured cycles -> packets -> events: the contract's decoder.

use alloc::boxed::Box;

use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, Fault, Layer, Place, Program, Refusal,
    Sink,
};

use super::listener::{Consequence, Listener};
use super::port::Port;

/// Optional features that this decoder honours.
const FEATURES: [&str; 5] = ["etmv1", "port_4", "port_16", "cycle_accurate", "jazelle"];

/// The reference decoder of ARM ETMv1.
///
/// Data values need the code: packets have no headers. Input before [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    port: Option<Box<Port>>,
    limits: DecoderLimits,
}

impl Decoder {
    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(port) = &mut self.port {
            port.push(chunk, &mut Reporter(sink));
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(port) = &mut self.port {
            port.finish(&mut Reporter(sink));
        }
    }
}

/// Reports to a sink what the pins carry.
struct Reporter<'a, S: ?Sized>(&'a mut S);

impl<S: Sink<ArmEtm> + ?Sized> Listener for Reporter<'_, S> {
    fn event(&mut self, place: Place, event: &Event) {
        self.0.event(place, event);
    }

    fn packet(&mut self, place: Place, packet: &Packet) {
        self.0.packet(place, packet);
    }

    fn fault(&mut self, fault: &Fault, _: Consequence) {
        self.0.fault(fault);
    }
}

impl Subject<ArmEtm> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(FEATURES)
            .with_readings(READINGS.iter().map(|reading| reading.name))
            .with_warnings(true)
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = *limits;
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.port = None;
        self.port = Some(Box::new(Port::new(parameters, program, &self.limits)?));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.port.as_deref().map(Port::shown).unwrap_or_default()
    }

    fn reset(&mut self) {
        if let Some(port) = &mut self.port {
            port.reset();
        }
    }
}
