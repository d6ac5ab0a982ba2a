//! The layers of the reference decoders of ETMv2 and ETMv3, put together again with room for a bug where packets are
//! read.

use traceproof_decoder::arm_etm::{v2, v3};
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Packet, Parameters};
use traceproof_vectors::{Capabilities, Decoder, Fault, Place, Program, Refusal, Sink};

use crate::family::JudgedProtocol;

/// What is read in place of a packet; the flow follows it too.
pub(super) type PacketHook = Box<dyn FnMut(Packet) -> Packet>;

/// Reads packets wrongly, and follows what it reads. Those of ETMv1 are read as they are.
pub(super) fn reading(bug: fn(&Parameters) -> PacketHook) -> Box<dyn Decoder<ArmEtm>> {
    Box::new(Layers { bug, hook: Box::new(|packet| packet), parameters: Parameters::default(), stream: None })
}

struct Layers {
    bug: fn(&Parameters) -> PacketHook,
    hook: PacketHook,
    parameters: Parameters,
    stream: Option<Stream>,
}

enum Stream {
    Whole(Box<dyn Decoder<ArmEtm>>),
    Pins { port: Box<v2::Port>, flow: Box<v2::Flow> },
    Bytes { reader: Box<v3::PacketReader>, flow: Box<v3::Flow> },
}

impl Decoder<ArmEtm> for Layers {
    fn capabilities(&self) -> Capabilities {
        ArmEtm::reference_decoder().capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        self.parameters = parameters.clone();
        self.hook = (self.bug)(parameters);
        self.stream = Some(match parameters.architecture {
            Architecture::V1 => {
                let mut decoder = ArmEtm::reference_decoder();
                decoder.begin(parameters, program)?;
                Stream::Whole(decoder)
            }
            Architecture::V2 => {
                let flow = Box::new(v2::Flow::new(parameters));
                Stream::Pins { port: Box::new(v2::Port::new(parameters)?), flow }
            }
            Architecture::V3 => Stream::Bytes {
                reader: Box::new(v3::PacketReader::new(parameters)?),
                flow: Box::new(v3::Flow::new(parameters, program)),
            },
        });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        let hook = &mut self.hook;
        match &mut self.stream {
            Some(Stream::Whole(decoder)) => decoder.push(chunk, sink),
            Some(Stream::Pins { port, flow }) => {
                port.push(chunk, &mut Reporter { flow: flow.as_mut(), sink, hook });
            }
            Some(Stream::Bytes { reader, flow }) => {
                reader.push(chunk, &mut Reporter { flow: flow.as_mut(), sink, hook });
            }
            None => {}
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEtm>) {
        let hook = &mut self.hook;
        match &mut self.stream {
            Some(Stream::Whole(decoder)) => decoder.finish(sink),
            Some(Stream::Pins { port, flow }) => {
                port.finish(&mut Reporter { flow: flow.as_mut(), sink, hook });
            }
            Some(Stream::Bytes { reader, flow }) => {
                reader.finish(&mut Reporter { flow: flow.as_mut(), sink, hook });
            }
            None => {}
        }
    }

    fn reset(&mut self) {
        self.hook = (self.bug)(&self.parameters);
        match &mut self.stream {
            Some(Stream::Whole(decoder)) => decoder.reset(),
            Some(Stream::Pins { port, flow }) => {
                port.reset();
                flow.reset();
            }
            Some(Stream::Bytes { reader, flow }) => {
                reader.reset();
                flow.reset();
            }
            None => {}
        }
    }
}

struct Reporter<'a, F> {
    flow: &'a mut F,
    sink: &'a mut dyn Sink<ArmEtm>,
    hook: &'a mut PacketHook,
}

impl v2::Listener for Reporter<'_, v2::Flow> {
    fn trigger(&mut self, place: Place, cycle: u64) {
        self.sink.event(place, &Event::Trigger { when: cycle });
    }

    fn instruction(&mut self, place: Place, cycle: u64, executed: bool, phantom: bool) {
        self.sink.event(place, &Event::Instruction { cycle, executed, phantom });
    }

    fn packet(&mut self, carrier: v2::Carrier, packet: &Packet) {
        let packet = (self.hook)(*packet);
        self.sink.packet(carrier.place, &packet);
        self.flow.packet(carrier, &packet, self.sink);
    }

    fn fault(&mut self, fault: &Fault, consequence: v2::Consequence) {
        self.sink.fault(fault);
        if consequence == v2::Consequence::Lost {
            self.flow.lose_synchronisation(fault.place, self.sink);
        }
    }

    fn end(&mut self, place: Place, incomplete: Option<u64>) {
        if let Some(when) = incomplete {
            self.sink.event(place, &Event::Incomplete { when });
        }
        self.flow.end(place, self.sink);
    }
}

impl v3::Listener for Reporter<'_, v3::Flow> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        let packet = (self.hook)(*packet);
        self.sink.packet(place, &packet);
        self.flow.packet(place, &packet, self.sink);
    }

    fn lost(&mut self, fault: &Fault) {
        self.sink.fault(fault);
        self.flow.lose_synchronisation(fault.place, self.sink);
    }

    fn trigger(&mut self, place: Place) {
        self.sink.event(place, &Event::Trigger { when: self.flow.atoms() });
    }

    fn end(&mut self, place: Place, cut_record: Option<&Fault>, cut_packet: bool) {
        if let Some(fault) = cut_record {
            self.sink.fault(fault);
        }
        if cut_packet {
            self.sink.event(place, &Event::Incomplete { when: self.flow.atoms() });
        }
        self.flow.end(place, self.sink);
    }
}
