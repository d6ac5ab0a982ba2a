//! Captured cycles -> packets -> events: the contract's decoder.

use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet, Parameters, READINGS};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderState, Fault, Layer, Place, Program, Refusal, Sink,
};

use super::flow::Flow;
use super::listener::{Carrier, Consequence, Listener};
use super::port::Port;

/// Optional features that this decoder honours.
const FEATURES: [&str; 5] = ["etmv2", "port_4", "port_16", "cycle_accurate", "jazelle"];

/// The reference decoder of ARM ETMv2.
///
/// It needs no code: packets have headers, and events do not name their instruction. Input before
/// [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    stream: Option<Stream>,
}

#[derive(Clone, Debug)]
struct Stream {
    port: Port,
    flow: Flow,
}

impl Decoder {
    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(Stream { port, flow }) = &mut self.stream {
            port.push(chunk, &mut Reporter { flow, sink });
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        if let Some(Stream { port, flow }) = &mut self.stream {
            port.finish(&mut Reporter { flow, sink });
        }
    }
}

/// Reports to a sink what the pins carry.
struct Reporter<'a, S: ?Sized> {
    flow: &'a mut Flow,
    sink: &'a mut S,
}

impl<S: Sink<ArmEtm> + ?Sized> Listener for Reporter<'_, S> {
    fn trigger(&mut self, place: Place, cycle: u64) {
        self.sink.event(place, &Event::Trigger { when: cycle });
    }

    fn instruction(&mut self, place: Place, cycle: u64, executed: bool, phantom: bool) {
        self.sink.event(place, &Event::Instruction { cycle, executed, phantom });
    }

    fn packet(&mut self, carrier: Carrier, packet: &Packet) {
        self.sink.packet(carrier.place, packet);
        self.flow.packet(carrier, packet, self.sink);
    }

    fn fault(&mut self, fault: &Fault, consequence: Consequence) {
        self.sink.fault(fault);
        if consequence == Consequence::Lost {
            self.flow.lose_synchronisation(fault.place, self.sink);
        }
    }

    fn end(&mut self, place: Place, incomplete: Option<u64>) {
        if let Some(cycle) = incomplete {
            self.sink.event(place, &Event::Incomplete { when: cycle });
        }
        self.flow.end(place, self.sink);
    }
}

impl Subject<ArmEtm> for Decoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(FEATURES)
            .with_readings(READINGS.iter().map(|reading| reading.name))
            .with_warnings(true)
    }

    fn begin(&mut self, parameters: &Parameters, _: &Program) -> Result<(), Refusal> {
        self.stream = None;
        self.stream = Some(Stream { port: Port::new(parameters)?, flow: Flow::new(parameters) });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.as_ref().map(|Stream { port, flow }| flow.shown(port.shown())).unwrap_or_default()
    }

    fn reset(&mut self) {
        if let Some(Stream { port, flow }) = &mut self.stream {
            port.reset();
            flow.reset();
        }
    }
}
