//! The crate's packet decoder and tracer as a decoder of the contract.

use riscv_etrace::binary::error::NoInstruction;
use riscv_etrace::config::AddressMode;
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
use riscv_etrace::packet::sync::{QualStatus, Synchronization};
use riscv_etrace::packet::{self, Error as PacketError, encap};
use riscv_etrace::tracer::error::Error as TracerError;
use riscv_etrace::tracer::item::{Item, Kind};
use riscv_etrace::tracer::{self, Tracer};
use riscv_etrace::types::stack::VecStack;
use traceproof_vectors::riscv_etrace::{Epc, Event, Parameters, RiscvEtrace, StopReason};
use traceproof_vectors::{
    Address, Capabilities, Decoder as Subject, Fault, FaultClass, FaultDetail, Layer, Place, Program,
    Refusal, Sink,
};

use super::code::Code;
use super::packet::packet;
use super::parameters::{packet_parameters, packets, parameters, transport};

/// After so many items of one packet the tracer is stopped. The longest walk of a shipped program is far shorter.
pub const ITEMS_PER_PACKET: u32 = 1 << 14;

const FEATURES: [&str; 11] = [
    "rv32",
    "rv64",
    "compressed",
    "context",
    "time",
    "full_address",
    "implicit_return",
    "sijump",
    "source_id",
    "timestamp",
    "packet_type",
];

/// Modes whose packets the crate reads, and whose flow it does not follow.
const FEATURES_OF_PACKETS: [&str; 3] = ["branch_prediction", "jump_target_cache", "implicit_exception"];

/// Read off its behaviour: it ends a trace without walking on, and takes the address of a `thaddr` = 0 packet for the
/// program counter.
const READINGS: [&str; 2] = ["trace-lost-keeps-first-arrival", "undefined-trap-address-is-next-epc"];

/// The crate's packet decoder and tracer.
#[derive(Default)]
pub struct Decoder {
    /// Only packets, in all modes.
    packets_only: bool,
    stream: Option<Stream>,
}

impl Decoder {
    /// The crate's packet decoder alone.
    #[must_use]
    pub const fn of_packets() -> Self {
        Self { packets_only: true, stream: None }
    }
}

struct Stream {
    parameters: Parameters,
    code: Code,
    packets: packet::Builder,
    /// Absent where only packets are wanted.
    tracer: Option<Tracer<Code, VecStack>>,
    src_id: u16,
    full_address: bool,
    /// Bytes that are not a whole packet yet.
    waiting: Vec<u8>,
    /// Bytes before them.
    offset: u64,
    packet: u64,
}

impl Stream {
    fn new(parameters: &Parameters, code: Code, packets_only: bool) -> Result<Self, Refusal> {
        let translated = packet_parameters(parameters)?;
        let tracer = if packets_only { None } else { Some(tracer(parameters, code.clone())?) };
        Ok(Self {
            tracer,
            packets: packets(parameters, &translated),
            src_id: transport(parameters).unwrap_or_default().src_id,
            full_address: parameters.modes.full_address,
            parameters: parameters.clone(),
            code,
            waiting: Vec::new(),
            offset: 0,
            packet: 0,
        })
    }

    /// Reads every whole packet that is waiting.
    fn read(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut at = 0;
        while let Some(rest) = waiting.get(at..).filter(|rest| !rest.is_empty()) {
            let mut decoder = self.packets.decoder(rest);
            let Ok(unit) = decoder.decode_encap_packet() else { break };
            let length = rest.len() - decoder.bytes_left();
            let place = Place { packet: self.packet, byte: self.offset, bit: 0 };
            if let encap::Packet::Normal(unit) = unit
                && unit.src_id() == self.src_id
            {
                match unit.decode_payload() {
                    Ok(Payload::InstructionTrace(payload)) => self.payload(place, &payload, sink),
                    Ok(Payload::DataTrace) => {}
                    Err(error) => sink.fault(&Fault::new(class(error), place)),
                }
            }
            self.packet += 1;
            self.offset += length as u64;
            at += length;
        }
        self.waiting = waiting;
        self.waiting.drain(..at);
    }

    fn payload(&mut self, place: Place, payload: &InstructionTrace, sink: &mut dyn Sink<RiscvEtrace>) {
        sink.packet(place, &packet(payload, &self.parameters, self.full_address));
        let Some(tracer) = &mut self.tracer else {
            if let Some(support) = payload.as_support() {
                self.full_address = support.ioptions.full_address;
            }
            return;
        };
        if let InstructionTrace::Synchronization(sync) = payload
            && let Some(time) = sync.as_context().and_then(|context| context.time)
        {
            sink.event(place, &Event::Time { time });
        }
        let processed = tracer.process_te_inst(payload);
        if let Err(error) = &processed {
            sink.fault(&fault(place, error));
        }
        self.drain(place, payload, sink);
        if let Some(support) = payload.as_support() {
            if processed.is_ok() {
                self.full_address = support.ioptions.full_address;
            }
            let reason = match support.qual_status {
                QualStatus::NoChange => return,
                QualStatus::TraceLost => StopReason::Lost,
                QualStatus::EndedRep | QualStatus::EndedNtr => StopReason::Ended,
            };
            sink.event(place, &Event::Stop { reason });
        }
    }

    /// Delivers the results of the tracer for a packet.
    fn drain(&mut self, place: Place, payload: &InstructionTrace, sink: &mut dyn Sink<RiscvEtrace>) {
        for _ in 0..ITEMS_PER_PACKET {
            match self.tracer.as_mut().and_then(Iterator::next) {
                None => return,
                Some(Ok(item)) => {
                    if let Some(event) = self.event(&item, payload) {
                        sink.event(place, &event);
                    }
                }
                Some(Err(error)) => sink.fault(&fault(place, &error)),
            }
        }
        sink.fault(&Fault::new(FaultClass::Limit, place));
        // A tracer that has not come to an end takes no further packet.
        if let Ok(fresh) = tracer(&self.parameters, self.code.clone()) {
            self.tracer = Some(fresh);
        }
    }

    fn event(&self, item: &Item, payload: &InstructionTrace) -> Option<Event> {
        match item.kind() {
            Kind::Regular(instruction) => {
                let mask = self.parameters.address_mask();
                let end = item.pc().wrapping_add(u64::from(instruction.size)) & mask;
                Some(Event::Retire { first: Address(item.pc()), end: Address(end), count: 1 })
            }
            Kind::Trap(info) => Some(Event::Trap {
                interrupt: info.is_interrupt(),
                cause: info.ecause.into(),
                tval: info.tval,
                epc: if info.is_interrupt() { Epc::Unstated } else { Epc::At(Address(item.pc())) },
            }),
            Kind::Context(context) => {
                let precise = match payload {
                    InstructionTrace::Synchronization(Synchronization::Context(_)) => false,
                    // That level is the one before the trap, which is in force anyway.
                    InstructionTrace::Synchronization(Synchronization::Trap(trap)) if !trap.thaddr => {
                        return None;
                    }
                    _ => true,
                };
                let value = (!self.parameters.nocontext_p).then_some(context.context);
                Some(Event::Context { privilege: context.privilege.into(), context: value, precise })
            }
        }
    }
}

fn tracer(wanted: &Parameters, code: Code) -> Result<Tracer<Code, VecStack>, Refusal> {
    let translated = parameters(wanted)?;
    tracer::builder()
        .with_binary(code)
        .with_params(&translated)
        .with_address_mode(AddressMode::from_full(wanted.modes.full_address))
        .with_implicit_return(wanted.modes.implicit_return)
        .build()
        .map_err(|error: TracerError<NoInstruction>| Refusal::unsupported(error.to_string()))
}

fn fault(place: Place, error: &TracerError<NoInstruction>) -> Fault {
    let (class, address) = match error {
        TracerError::StartOfTrace => (FaultClass::NotSynchronised, None),
        TracerError::UnsupportedFeature(_) => (FaultClass::UnsupportedMode, None),
        TracerError::CannotAddBranches(_) | TracerError::UnprocessedBranches(_) => {
            (FaultClass::LeftoverOutcome, None)
        }
        TracerError::UnexpectedUninferableDiscon => (FaultClass::UnexpectedDiscontinuity, None),
        TracerError::UnresolvableBranch => (FaultClass::MissingOutcome, None),
        TracerError::CannotGetInstruction(_, address) => (FaultClass::NoCode, Some(*address)),
        TracerError::UnprocessedInstructions | TracerError::CannotConstructIrStack(_) => {
            (FaultClass::IllegalInState, None)
        }
    };
    Fault::new(class, place).with_address(address.map(Address))
}

const fn class(error: PacketError) -> FaultClass {
    match error {
        PacketError::InsufficientData(_) => FaultClass::Truncated,
        PacketError::UnknownEncoderMode(_) => FaultClass::UnsupportedMode,
        _ => FaultClass::ReservedEncoding,
    }
}

impl Subject<RiscvEtrace> for Decoder {
    fn capabilities(&self) -> Capabilities {
        let claims = if self.packets_only {
            Capabilities::new([Layer::Packets]).with_features(FEATURES_OF_PACKETS)
        } else {
            Capabilities::new([Layer::Packets, Layer::Events])
        };
        claims.with_features(FEATURES).with_readings(READINGS).with_faults(FaultDetail::Class)
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.stream = None;
        self.stream = Some(Stream::new(parameters, Code::new(program, parameters.xlen), self.packets_only)?);
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        if let Some(stream) = &mut self.stream {
            stream.waiting.extend_from_slice(chunk);
            stream.read(sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        if let Some(stream) = &self.stream
            && !stream.waiting.is_empty()
        {
            let place = Place { packet: stream.packet, byte: stream.offset, bit: 0 };
            sink.fault(&Fault::new(FaultClass::Truncated, place));
        }
    }

    fn reset(&mut self) {
        if let Some(stream) = self.stream.take() {
            // What was accepted once is accepted again.
            self.stream = Stream::new(&stream.parameters, stream.code, self.packets_only).ok();
        }
    }
}
