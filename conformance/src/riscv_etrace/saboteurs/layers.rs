//! The layers of the reference decoder of instruction trace, put together again with room for a bug between them.

use traceproof_decoder::riscv_etrace::{Content, Deframer, Flow, PacketReader, Receiver};
use traceproof_vectors::riscv_etrace::{Packet, Parameters, RiscvEtrace};
use traceproof_vectors::{
    Capabilities, Decoder, DecoderLimits, Fault, FaultClass, Place, Program, Refusal, Sink,
};

use crate::family::JudgedProtocol;

/// What is read in place of a packet; the flow follows it too.
pub(super) type PacketHook = Box<dyn FnMut(Packet) -> Packet>;
/// What the flow follows in place of a packet; `None` = nothing.
pub(super) type Following = Box<dyn FnMut(Packet, &mut Flow) -> Option<Packet>>;

/// Reads packets wrongly, and follows what it reads.
pub(super) fn reading(bug: fn(&Parameters) -> PacketHook) -> Box<dyn Decoder<RiscvEtrace>> {
    Box::new(Layers { reading: Some(bug), ..Layers::default() })
}

/// Reads packets as they are, and follows them wrongly.
pub(super) fn following(bug: fn(&Parameters) -> Following) -> Box<dyn Decoder<RiscvEtrace>> {
    Box::new(Layers { following: Some(bug), ..Layers::default() })
}

/// Reads packets as they are, and follows them with the wrong idea of the hardware.
pub(super) fn flow_parameters(bug: fn(&mut Parameters)) -> Box<dyn Decoder<RiscvEtrace>> {
    Box::new(Layers { flow_parameters: Some(bug), ..Layers::default() })
}

/// Deframer, reader and flow, and what is wrong between them. It has no data trace.
#[derive(Default)]
struct Layers {
    reading: Option<fn(&Parameters) -> PacketHook>,
    following: Option<fn(&Parameters) -> Following>,
    flow_parameters: Option<fn(&mut Parameters)>,
    stream: Option<(Deframer, Packets)>,
    parameters: Parameters,
}

/// The layers above the transport.
struct Packets {
    reader: PacketReader,
    flow: Flow,
    hooks: Hooks,
}

struct Hooks {
    reading: PacketHook,
    following: Following,
}

impl Layers {
    fn hooks(&self) -> Hooks {
        Hooks {
            reading: self
                .reading
                .map_or_else(|| Box::new(|packet| packet) as PacketHook, |bug| bug(&self.parameters)),
            following: self.following.map_or_else(
                || Box::new(|packet, _: &mut Flow| Some(packet)) as Following,
                |bug| bug(&self.parameters),
            ),
        }
    }
}

impl Decoder<RiscvEtrace> for Layers {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = RiscvEtrace::reference_decoder().capabilities();
        capabilities.features.retain(|feature| !matches!(feature.as_str(), "data_trace" | "mma_cas"));
        capabilities
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        self.parameters = parameters.clone();
        let mut believed = parameters.clone();
        if let Some(bug) = self.flow_parameters {
            bug(&mut believed);
        }
        let packets = Packets {
            reader: PacketReader::new(parameters)?,
            flow: Flow::new(&believed, program, DecoderLimits::default())?,
            hooks: self.hooks(),
        };
        self.stream = Some((Deframer::new(parameters)?, packets));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        if let Some((deframer, packets)) = &mut self.stream {
            deframer.push_contents(chunk, &mut Reporter { packets, sink });
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        if let Some((_, place)) = self.stream.as_mut().and_then(|(deframer, _)| deframer.finish()) {
            sink.fault(&Fault::new(FaultClass::Truncated, place));
        }
    }

    fn reset(&mut self) {
        let hooks = self.hooks();
        if let Some((deframer, packets)) = &mut self.stream {
            deframer.reset();
            packets.reader.reset();
            packets.flow.reset();
            packets.hooks = hooks;
        }
    }
}

struct Reporter<'a> {
    packets: &'a mut Packets,
    sink: &'a mut dyn Sink<RiscvEtrace>,
}

impl Receiver for Reporter<'_> {
    fn content(&mut self, place: Place, content: Result<Content<'_>, Fault>) {
        let Packets { reader, flow, hooks } = &mut *self.packets;
        let read = match content {
            Ok(Content::Instruction(payload)) => reader.read(place, payload),
            Ok(Content::Null | Content::OtherSource | Content::Data(_)) => return,
            Err(fault) => Err(fault),
        };
        // Only a support packet can be understood until one can be honoured (RVET-DEC-026).
        if flow.is_refusing()
            && content.is_ok()
            && !matches!(read, Ok(Packet::Support { .. } | Packet::StandardSupport(_)))
        {
            return;
        }
        match read {
            Ok(packet) => {
                let packet = (hooks.reading)(packet);
                self.sink.packet(place, &packet);
                if let Some(packet) = (hooks.following)(packet, flow) {
                    flow.packet(place, &packet, self.sink);
                }
            }
            Err(fault) => {
                self.sink.fault(&fault);
                flow.lose_synchronisation();
            }
        }
    }
}
