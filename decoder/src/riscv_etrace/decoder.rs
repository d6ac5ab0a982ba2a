//! Bytes -> packets -> events: the contract's decoder.

use traceproof_vectors::riscv_etrace::{Parameters, READINGS, RiscvEtrace};
use traceproof_vectors::{
    Capabilities, Decoder as Subject, DecoderLimits, DecoderState, Fault, FaultClass, Layer, Place, Program,
    Refusal, Sink,
};

use super::Payload;
use super::data::DataTrace;
use super::encapsulation::{Content, Deframer};
use super::fast_path::Receiver;
use super::flow::Flow;
use super::packet::PacketReader;
use super::standard_support::is_support;

/// Optional features that this decoder honours.
const FEATURES: [&str; 23] = [
    "rv32",
    "rv64",
    "compressed",
    "context",
    "time",
    "full_address",
    "implicit_exception",
    "implicit_return",
    "sijump",
    "branch_prediction",
    "jump_target_cache",
    "data_trace",
    "mma_cas",
    "standard_support",
    "irets",
    "support_layout",
    "source_id",
    "timestamp",
    "packet_type",
    "stream_entry",
    "memory_blocks",
    "siemens",
    "atb",
];

/// The reference decoder of RISC-V E-Trace.
///
/// Of the transport it follows the instruction trace of one source (`srcID`), and its data trace where the parameters
/// have one; timestamps of the transport are skipped,
/// for they belong to no instruction. Input before [`begin`](Subject::begin) is discarded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    limits: DecoderLimits,
    without_fast_path: bool,
    stream: Option<Stream>,
}

#[derive(Clone, Debug)]
struct Stream {
    deframer: Deframer,
    packets: Packets,
    fast_path: bool,
}

/// What comes after the transport.
#[derive(Clone, Debug)]
struct Packets {
    reader: PacketReader,
    flow: Flow,
    /// Absent where the parameters have none.
    data: Option<DataTrace>,
}

impl Decoder {
    /// The same decoder without the fast path: it reads field by field and walks instruction by instruction. What it
    /// reports is the same. Holds from the next `begin` on.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { without_fast_path: true, ..self }
    }

    /// [`push`](Subject::push) for a sink whose type is known, which is faster.
    pub fn push_into<S>(&mut self, chunk: &[u8], sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let Some(Stream { deframer, packets, fast_path }) = &mut self.stream else { return };
        let mut following = Following { packets, sink };
        if *fast_path {
            deframer.push_contents(chunk, &mut following);
        } else {
            deframer.push(chunk, |unit| following.content(unit.payload_place(), unit.content()));
        }
    }

    /// [`finish`](Subject::finish) for a sink whose type is known.
    pub fn finish_into<S>(&mut self, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if let Some((_, place)) = self.stream.as_mut().and_then(|stream| stream.deframer.finish()) {
            sink.fault(&Fault::new(FaultClass::Truncated, place));
        }
    }
}

/// What comes after the transport, and where results go.
struct Following<'a, S: ?Sized> {
    packets: &'a mut Packets,
    sink: &'a mut S,
}

impl<S: Sink<RiscvEtrace> + ?Sized> Receiver for Following<'_, S> {
    #[inline(always)]
    fn content(&mut self, place: Place, content: Result<Content<'_>, Fault>) {
        self.packets.content(place, content, self.sink);
    }

    #[inline(always)]
    fn word(&mut self, place: Place, word: i64, received: u32) -> bool {
        self.packets.word(place, word, received, self.sink)
    }
}

impl Packets {
    /// Takes a short packet; whether this is one, and the flow can take it so. They mean nothing to data trace. `place`
    /// is the first bit of the payload, for the rest see [`Receiver::word`].
    #[inline(always)]
    fn word<S>(&mut self, place: Place, word: i64, received: u32, sink: &mut S) -> bool
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let Some(packet) = self.reader.read_word(word, received) else { return false };
        if !self.flow.is_following() {
            return false;
        }
        sink.packet(place, &packet.packet());
        self.flow.short_packet(place, &packet, sink);
        true
    }

    /// Takes what a unit carries. `place` is the first bit of its payload.
    #[inline(never)]
    fn content<S>(&mut self, place: Place, content: Result<Content<'_>, Fault>, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        match content {
            Ok(Content::Instruction(payload)) => {
                let short = payload.short();
                if !short.is_some_and(|word| self.word(place, word, payload.received_bits(), sink)) {
                    self.instruction(place, payload, sink);
                }
            }
            Ok(Content::Null | Content::OtherSource) => {}
            Ok(Content::Data(payload)) => {
                if let Some(data) = &mut self.data {
                    data.payload(place, payload, sink);
                }
            }
            Err(fault) => {
                self.lose(&fault, sink);
                if let Some(data) = &mut self.data {
                    data.lose_synchronisation();
                }
            }
        }
    }

    #[inline(never)]
    fn instruction<S>(&mut self, place: Place, payload: &Payload, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let read = self.reader.read(place, payload);
        // Only support packets are read until one can be honoured (RVET-DEC-026).
        if self.flow.is_refusing() && !read.as_ref().is_ok_and(is_support) {
            return;
        }
        match &read {
            Ok(packet) => {
                sink.packet(place, packet);
                self.flow.packet(place, packet, sink);
                if let Some(data) = &mut self.data {
                    data.instruction_packet(place, packet, sink);
                }
            }
            Err(fault) => self.lose(fault, sink),
        }
    }

    #[cold]
    fn lose<S>(&mut self, fault: &Fault, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        sink.fault(fault);
        self.flow.lose_synchronisation();
    }
}

impl Subject<RiscvEtrace> for Decoder {
    fn capabilities(&self) -> Capabilities {
        let readings = READINGS.iter().filter(|reading| reading.binds_decoders()).map(|reading| reading.name);
        Capabilities::new([Layer::Packets, Layer::Events])
            .with_features(FEATURES)
            .with_readings(readings)
            .with_warnings(true)
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = *limits;
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        let deframer = Deframer::new(parameters)?;
        let mut reader = PacketReader::new(parameters)?;
        let mut flow = Flow::new(parameters, program, self.limits)?;
        if self.without_fast_path {
            (reader, flow) = (reader.without_fast_path(), flow.without_fast_path());
        }
        let packets = Packets { reader, flow, data: DataTrace::new(parameters) };
        self.stream = Some(Stream { deframer, packets, fast_path: !self.without_fast_path });
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.push_into(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.finish_into(sink);
    }

    fn state(&self) -> DecoderState {
        self.stream.as_ref().map(|stream| stream.packets.flow.shown()).unwrap_or_default()
    }

    fn reset(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.deframer.reset();
            stream.packets.reader.reset();
            stream.packets.flow.reset();
            if let Some(data) = &mut stream.packets.data {
                data.reset();
            }
        }
    }
}
