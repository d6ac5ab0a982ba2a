//! The crate's generator and packet encoder as an encoder of the contract.

use riscv_etrace::config::AddressMode;
use riscv_etrace::generator::hart2enc::{CType, IType};
use riscv_etrace::generator::step::{Kind, Step};
use riscv_etrace::generator::{self, Event, Generator};
use riscv_etrace::instruction::Size;
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
use riscv_etrace::packet::sync::Synchronization;
use riscv_etrace::packet::{self, encap};
use riscv_etrace::types::{Context, Privilege};
use traceproof_vectors::riscv_etrace::{
    Block, Compression, Cycle, Idle, Modes, Packet, Parameters, Policy, RiscvEtrace, Stimulus, SyncMode,
    Timestamps, Triggers,
};
use traceproof_vectors::{Capabilities, Encoder as Subject, EncoderSink, FaultDetail, Layer, Refusal};

use super::packet::packet;
use super::parameters::{options, packet_parameters, packets, parameters, transport};

const FEATURES: [&str; 9] =
    ["rv32", "rv64", "compressed", "context", "time", "full_address", "sijump", "source_id", "packet_type"];

/// Its notifications have priority; the others are what this adaptor asks of it.
const READINGS: [&str; 4] = [
    "halt-keeps-ienable",
    "triggers-keep-ienable",
    "notify-flag-even-if-due-anyway",
    "undefined-trap-address-is-next-epc",
];

/// Longer than a header byte and the longest payload that it can announce.
const BUFFER: usize = 40;

/// The crate's generator and packet encoder.
///
/// The generator has no transport: packets that a case wants lost are sent all the same. It reports interrupts only in
/// the form of exceptions; directly after an updiscon, where the forms differ, this is `InterruptReport::Separate`,
/// whatever the policy is.
#[derive(Default)]
pub struct Encoder {
    model: Option<Model>,
}

struct Model {
    parameters: Parameters,
    packets: packet::Builder,
    generator: Generator<PortStep>,
    modes: Modes,
    /// Modes of the next step. The generator reports a step when it gets the next one, so they must wait for that.
    coming: Option<Modes>,
    enabled: bool,
    /// Trace-off came later than trace-on.
    triggered_off: bool,
    /// Steps were handed over since the latest end of qualification.
    running: bool,
    timer: Timer,
}

/// The resynchronisation timer, which the generator leaves to its caller: that names the step to resynchronise at.
///
/// A timer that counts packets is impossible, because the generator reports a step when it gets the next one.
struct Timer {
    counts: SyncMode,
    limit: u64,
    count: u64,
    /// What the latest block added to it.
    latest: u64,
    /// Cycles since the latest block.
    cycles: u64,
    /// The next block gets the synchronisation packet.
    due: bool,
}

impl Timer {
    fn new(policy: &Policy) -> Self {
        let limit = 1_u64.checked_shl(u32::from(policy.sync_max) + 4).unwrap_or(u64::MAX);
        Self { counts: policy.sync_mode, limit, count: 0, latest: 0, cycles: 0, due: false }
    }

    /// A block retires, of so many half-words; whether to resynchronise at it.
    fn arrive(&mut self, halfwords: u64) -> bool {
        let cycles = std::mem::take(&mut self.cycles);
        self.latest = match self.counts {
            SyncMode::Cycles => cycles,
            SyncMode::HalfWords => halfwords,
            SyncMode::Off | SyncMode::Packets => return false,
        };
        self.count += self.latest;
        let now = std::mem::take(&mut self.due);
        if now {
            self.count = 0;
        }
        self.due = self.count >= self.limit;
        now
    }

    /// The generator reported the block before the latest one with a synchronisation packet.
    fn synchronised(&mut self) {
        self.count = self.latest;
        self.due &= self.count >= self.limit;
    }
}

/// One block of the ingress port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortStep {
    address: u64,
    last_offset: u64,
    kind: Kind,
    ctype: CType,
    context: Context,
    time: u64,
}

impl Step for PortStep {
    fn address(&self) -> u64 {
        self.address
    }

    fn last_offset(&self) -> u64 {
        self.last_offset
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn ctype(&self) -> CType {
        self.ctype
    }

    fn context(&self) -> Context {
        self.context
    }

    fn timestamp(&self) -> Option<u64> {
        Some(self.time)
    }
}

impl PortStep {
    /// The step of a block; `None` for an empty one, or one that the crate has no words for. `first`: of its cycle.
    pub(crate) fn new(cycle: &Cycle, block: &Block, first: bool, parameters: &Parameters) -> Option<Self> {
        let itype = IType::try_from(block.itype as u8).ok()?;
        let retired = block.iretire > 0;
        if !retired && itype == IType::Other {
            return None;
        }
        let size = if block.ilastsize == 0 { Size::Compressed } else { Size::Normal };
        let halfwords = if parameters.retires_p > 1 { block.iretire.into() } else { u64::from(size) / 2 };
        let last_offset = if retired { (2 * halfwords).saturating_sub(size.into()) } else { 0 };
        let ctype = if first { cycle.ctype } else { 0 };
        Some(Self {
            address: block.iaddr.0,
            last_offset,
            kind: Kind::from_hart(itype, cycle.cause as u16, cycle.tval, size, retired, block.sijump),
            ctype: CType::try_from(ctype).unwrap_or_default(),
            context: Context {
                privilege: Privilege::try_from(cycle.privilege).unwrap_or_default(),
                context: cycle.context,
            },
            time: cycle.time,
        })
    }
}

/// Makes packets and bytes of payloads.
struct Output<'a> {
    parameters: &'a Parameters,
    packets: packet::Builder,
    full: bool,
}

impl Output<'_> {
    fn send(&self, payload: InstructionTrace, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        sink.packet(&packet(&payload, self.parameters, self.full));
        let mut buffer = [0; BUFFER];
        let mut encoder = self.packets.encoder(&mut buffer);
        let source = transport(self.parameters).unwrap_or_default().src_id;
        let unit = encap::Normal::new(0, source, Payload::InstructionTrace(payload));
        // Packets that cannot be encoded are not sent; a comparison of the packets detects it.
        if encoder.encode(&unit).is_ok() {
            let length = BUFFER - encoder.uncommitted();
            sink.wire(buffer.get(..length).unwrap_or_default());
        }
    }
}

/// A packet that was read and written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The packet.
    pub packet: Packet,
    /// Its bytes.
    pub read: Vec<u8>,
    /// The bytes that the crate writes for it; `None` if it does not.
    pub written: Option<Vec<u8>>,
}

/// What the crate's encoder of packets makes of each packet that its decoder reads, up to the first that it cannot
/// read. Its generator makes only some of them.
///
/// # Errors
///
/// As for [`parameters`](super::parameters()), but for modes that only the tracer refuses.
pub fn rewritten(wanted: &Parameters, compressed: bool, wire: &[u8]) -> Result<Vec<Rewritten>, Refusal> {
    let packets = packets(wanted, &packet_parameters(wanted)?).with_compression(compressed);
    let (mut full, mut rest, mut written) = (wanted.modes.full_address, wire, Vec::new());
    while !rest.is_empty() {
        let mut decoder = packets.decoder(rest);
        let Ok(unit) = decoder.decode_encap_packet() else { break };
        let (read, left) = rest.split_at(rest.len() - decoder.bytes_left());
        rest = left;
        let encap::Packet::Normal(unit) = unit else { continue };
        let (flow, source, timestamp) = (unit.flow(), unit.src_id(), unit.timestamp());
        let payload = match unit.decode_payload() {
            Ok(Payload::InstructionTrace(payload)) => payload,
            Ok(Payload::DataTrace) => continue,
            Err(_) => break,
        };
        let translated = packet(&payload, wanted, full);
        full = payload.as_support().map_or(full, |support| support.ioptions.full_address);
        let unit = encap::Normal::new(flow, source, Payload::InstructionTrace(payload));
        let unit = match timestamp {
            Some(timestamp) => unit.with_timestamp(timestamp),
            None => unit,
        };
        let mut buffer = [0; BUFFER];
        let mut encoder = packets.encoder(&mut buffer);
        let is_written = encoder.encode(&unit).is_ok();
        let length = BUFFER - encoder.uncommitted();
        let bytes = is_written.then(|| buffer.get(..length).unwrap_or_default().to_vec());
        written.push(Rewritten { packet: translated, read: read.to_vec(), written: bytes });
    }
    Ok(written)
}

impl Model {
    const fn output(&self) -> Output<'_> {
        Output { parameters: &self.parameters, packets: self.packets, full: self.modes.full_address }
    }

    fn cycle(&mut self, cycle: &Cycle, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        // Trace-off acts after its cycle.
        self.triggered_off &= !cycle.trace_on;
        self.timer.cycles += 1;
        let qualified = self.enabled && !cycle.halted && !cycle.reset && !self.triggered_off;
        if qualified {
            for (index, block) in cycle.blocks.iter().enumerate() {
                self.block(cycle, block, index == 0, sink);
            }
        } else {
            self.end(true, sink);
        }
        self.triggered_off |= cycle.trace_off;
    }

    fn block(&mut self, cycle: &Cycle, block: &Block, first: bool, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let Some(step) = PortStep::new(cycle, block, first, &self.parameters) else { return };
        self.running = true;
        let halfwords =
            if self.parameters.retires_p > 1 { block.iretire.into() } else { 1 << block.ilastsize.min(63) };
        let resynchronise = block.iretire > 0 && self.timer.arrive(halfwords);
        let event = if resynchronise { Some(Event::ReSync) } else { block.notify.then_some(Event::Notify) };
        let output =
            Output { parameters: &self.parameters, packets: self.packets, full: self.modes.full_address };
        for payload in self.generator.process_step(step, event).flatten() {
            if let InstructionTrace::Synchronization(Synchronization::Start(_) | Synchronization::Trap(_)) =
                payload
            {
                self.timer.synchronised();
            }
            output.send(payload, sink);
        }
        self.change_modes(sink);
    }

    /// Takes up the modes that wait, once everything before them was reported.
    fn change_modes(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if let Some(modes) = self.coming.take() {
            self.modes = modes;
            self.begin(sink);
        }
    }

    fn begin(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if let Ok(support) = self.generator.begin_qualification(options(self.modes), Default::default()) {
            self.output().send(support.into(), sink);
        }
    }

    fn end(&mut self, ienable: bool, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let output =
            Output { parameters: &self.parameters, packets: self.packets, full: self.modes.full_address };
        for payload in self.generator.end_qualification(ienable).flatten() {
            output.send(payload, sink);
        }
        self.change_modes(sink);
    }
}

impl Subject<RiscvEtrace> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets])
            .with_features(FEATURES)
            .with_readings(READINGS)
            .with_faults(FaultDetail::Flag)
    }

    fn begin(&mut self, wanted: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.model = None;
        let translated = parameters(wanted)?;
        for (needed, feature) in [
            (wanted.modes.implicit_return, "implicit_return"),
            (policy.sync_mode == SyncMode::Packets, "a resynchronisation timer that counts packets"),
            (!policy.filters.is_empty(), "filters"),
            (policy.triggers != Triggers::default(), "triggers that are off"),
            (policy.support_at_disable, "a second support packet when disabled"),
            (policy.updiscon_at_end, "the updiscon flag before ended_rep"),
            (policy.idle != Idle::default(), "null packets"),
            (policy.flow != 0, "a flow other than 0"),
            (policy.timestamps != Timestamps::default(), "timestamps"),
        ] {
            if needed {
                return Err(Refusal::unsupported(feature));
            }
        }
        let generator = generator::builder()
            .with_params(&translated)
            .with_address_mode(AddressMode::from_full(wanted.modes.full_address))
            .build()
            .map_err(|error| Refusal::unsupported(error.to_string()))?;
        self.model = Some(Model {
            packets: packets(wanted, &translated)
                .with_compression(policy.compression == Compression::Minimal),
            parameters: wanted.clone(),
            generator,
            modes: wanted.modes,
            coming: None,
            enabled: false,
            triggered_off: false,
            running: false,
            timer: Timer::new(policy),
        });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let Some(model) = &mut self.model else { return };
        match stimulus {
            Stimulus::Cycle(cycle) => model.cycle(cycle, sink),
            Stimulus::Enable(true) => {
                model.enabled = true;
                model.begin(sink);
            }
            Stimulus::Enable(false) => {
                model.end(false, sink);
                model.enabled = false;
            }
            Stimulus::Modes(modes) => {
                model.coming = Some(*modes);
                if !model.enabled {
                    model.modes = *modes;
                    model.coming = None;
                } else if !model.running {
                    model.change_modes(sink);
                }
            }
            Stimulus::Transport(_)
            | Stimulus::Data(_)
            | Stimulus::Response(_)
            | Stimulus::DataEnable(_)
            | Stimulus::DataOptions(_)
            | Stimulus::DataTransport(_) => {}
        }
    }

    /// The generator holds the latest step back until it knows the next one, and nothing else.
    fn finish(&mut self, _: &mut dyn EncoderSink<RiscvEtrace>) {}
}
