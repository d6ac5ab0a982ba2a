//! The meaning of a record given the records before it, and contradictions with them.

use alloc::format;

use traceproof_vectors::itanium_pmu::events::{Qualifier, SelectableEvent, is_derived};
use traceproof_vectors::itanium_pmu::wire::RECORD;
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, Contents, Event, Ia32Counting, Instruction, ItaniumPmu, Miss, Occurrence, Packet,
    Parameters, Register, RegisterClass, Tags,
};
use traceproof_vectors::{DecoderLimits, DecoderState, FaultClass, Sink};

use super::cycle::{Cycle, Missed, Taken};
use super::known::{Known, is_defined};
use super::notices::notices;
use super::qualification::ears::{AccessMiss, AccessMissCause, FetchMiss, FetchMissCause};
use super::qualification::{self, data, opcode, range};
use super::readback::Readback;
use super::record::{Body, ES, INDEX, TAGS, VALUE, parse};
use super::registers::{Decoded, decode_register, decode_write, defined};
use super::report::Report;

/// Everything that a log has led to so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    known: Known,
    instruction: Option<Fetched>,
    access: Option<Accessed>,
    cycle: Cycle,
    taken: Taken,
    readback: Readback,
    interrupt_due: bool,
    /// Execution before any reset has been reported.
    said_unsynchronised: bool,
}

/// The latest instruction.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    ip: u64,
    slot: u8,
    tags: Tags,
    ia32: bool,
}

/// The latest access, with what it needs of its instruction.
#[derive(Clone, Copy, Debug)]
struct Accessed {
    kind: AccessKind,
    address: u64,
    tag: bool,
    of: Fetched,
}

impl Follower {
    /// At the start of a log.
    pub(super) fn new(limits: &DecoderLimits) -> Self {
        Self { cycle: Cycle::new(limits.gathered as usize), ..Self::default() }
    }

    /// What the next record is decoded with, for people.
    pub(super) fn shown(&self) -> DecoderState {
        let mut state =
            DecoderState::default().with("reset seen", if self.known.is_followed() { "yes" } else { "no" });
        state = match &self.instruction {
            Some(Fetched { ip, slot, tags, .. }) => {
                let tags = format!("{tags:?}");
                state.with("latest instruction", format!("{ip:#x} slot {slot}")).with("its tags", tags)
            }
            None => state.with("latest instruction", "unknown"),
        };
        state = match &self.access {
            Some(Accessed { address, tag, .. }) => {
                state.with("latest data access", format!("{address:#x} tag={tag}"))
            }
            None => state.with("latest data access", "unknown"),
        };
        self.known
            .shown_registers()
            .fold(state, |state, (register, value)| state.with_hex(register, Some(value)))
    }

    /// Takes one record.
    pub(super) fn record<S>(
        &mut self,
        parameters: &Parameters,
        record: &[u8; RECORD],
        report: &mut Report<'_, S>,
    ) where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        match parse(record) {
            Err(defect) => report.fault(defect.class, defect.bit),
            Ok(Body::Reset) => {
                report.packet(Packet::Reset);
                self.expect_interrupt(report);
                self.cycle.clear();
                *self = Self {
                    said_unsynchronised: self.said_unsynchronised,
                    cycle: core::mem::take(&mut self.cycle),
                    ..Self::default()
                };
                self.known.reset();
            }
            Ok(Body::Write(register, value)) => self.write(parameters, register, value, report),
            Ok(Body::Read(register, value)) => self.read(parameters, register, value, report),
            Ok(Body::ReadUndefined(register)) => self.read_undefined(parameters, register, report),
            Ok(Body::Execution(packet)) => {
                report.packet(packet);
                if self.known.is_followed() {
                    self.execute(parameters, packet, report);
                } else {
                    self.not_synchronised(packet, report);
                }
            }
        }
    }

    /// The log ends.
    pub(super) fn finish<S>(&mut self, parameters: &Parameters, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        self.expect_interrupt(report);
        if !self.known.is_followed() {
            notices(&self.known, parameters, |register, notice| {
                report.event(Event::Notice { register, notice });
            });
        }
    }

    /// Another record comes: checks whether an interrupt was due.
    fn expect_interrupt<S>(&mut self, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        if core::mem::take(&mut self.interrupt_due) {
            report.fault(FaultClass::Contradiction, 0);
        }
    }

    fn not_synchronised<S>(&mut self, packet: Packet, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        if !core::mem::replace(&mut self.said_unsynchronised, true) {
            report.fault(FaultClass::NotSynchronised, 0);
        }
        if packet == Packet::Cycle {
            self.readback = Readback::default();
        }
    }

    fn write<S>(
        &mut self,
        parameters: &Parameters,
        register: Register,
        value: u64,
        report: &mut Report<'_, S>,
    ) where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let decoded = decode_write(register, value, &self.known.context(register, parameters));
        report.packet(Packet::Write(decoded.contents));
        note(&decoded, report);
        self.expect_interrupt(report);
        let was_frozen = self.known.registers.is_frozen();
        self.known.set(register, value);
        if let Register { class: RegisterClass::Pmc, index: 0 | 10 | 11 } = register {
            self.readback = Readback::default();
        }
        if was_frozen && !self.known.registers.is_frozen() {
            self.taken = Taken::default();
        }
    }

    /// Spec: ITA-CNT-012, ITA-DEC-006, ITA-EAR-017.
    fn read<S>(&mut self, parameters: &Parameters, register: Register, value: u64, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let context = self.known.context(register, parameters);
        let decoded = match decode_register(register, value, &context) {
            Ok(decoded) => decoded,
            Err(oddity) => return report.fault(oddity.class, oddity.bit.map_or(INDEX, |bit| VALUE + bit)),
        };
        report.packet(Packet::Read(decoded.contents));
        note(&decoded, report);
        let holds = register.is_implemented() && !matches!(decoded.contents, Contents::Undefined(_));
        let expected = if context.masked { Some(0) } else { self.known.get(register) };
        let differs = match expected {
            Some(expected) if self.known.is_followed() && holds => {
                (decoded.value ^ expected) & defined(register, &context)
            }
            _ => 0,
        };
        if differs != 0 {
            report.fault(FaultClass::Contradiction, VALUE + differs.trailing_zeros() as u8);
        }
        self.expect_interrupt(report);
        if holds && (differs != 0 || !self.known.is_followed()) {
            self.known.set(register, decoded.value);
        }
        if holds
            && !context.masked
            && let Some(event) = self.readback.read(&decoded.contents)
        {
            report.event(event);
        }
    }

    fn read_undefined<S>(&mut self, parameters: &Parameters, register: Register, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        report.packet(Packet::ReadUndefined(register));
        if !register.is_implemented() {
            report.fault(FaultClass::InvalidReference, INDEX);
        } else if is_defined(register, &self.known.context(register, parameters)) {
            report.fault(FaultClass::Contradiction, 0);
        }
        self.expect_interrupt(report);
    }

    /// A record of execution after a reset.
    fn execute<S>(&mut self, parameters: &Parameters, packet: Packet, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        match packet {
            Packet::Tags(tags) => self.check_tags(tags, report),
            Packet::DataTag(tag) => match self.access {
                Some(access) if access.tag == tag => {}
                Some(_) => report.fault(FaultClass::Contradiction, TAGS),
                None => report.fault(FaultClass::InvalidReference, 0),
            },
            Packet::Access(_) if self.instruction.is_none() => report.fault(FaultClass::InvalidReference, 0),
            Packet::Occurrence(occurrence) => self.occur(parameters, occurrence, report),
            Packet::Miss(miss) => self.miss(parameters, miss, report),
            Packet::Interrupt if !core::mem::take(&mut self.interrupt_due) => {
                report.fault(FaultClass::Contradiction, 0);
            }
            _ => {}
        }
        self.expect_interrupt(report);
        match packet {
            Packet::Instruction(instruction) => {
                let tags = self.fetch(parameters, &instruction);
                report.event(Event::Tags(tags));
            }
            Packet::Access(access) => {
                if let Some(event) = self.access(access) {
                    report.event(event);
                }
            }
            Packet::Cycle => {
                self.readback = Readback::default();
                let registers = &mut self.known.registers;
                self.interrupt_due =
                    self.cycle.end(registers, parameters, &mut self.taken, |event| report.event(event));
            }
            _ => {}
        }
    }

    fn check_tags<S>(&self, tags: Tags, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let Some(instruction) = self.instruction else {
            return report.fault(FaultClass::InvalidReference, 0);
        };
        let ours = instruction.tags;
        let differ = [tags.range != ours.range, tags.pmc8 != ours.pmc8, tags.pmc9 != ours.pmc9];
        for (bit, differs) in (TAGS..).zip(differ) {
            if differs {
                report.fault(FaultClass::Contradiction, bit);
            }
        }
    }

    fn fetch(&mut self, parameters: &Parameters, instruction: &Instruction) -> Tags {
        let registers = &self.known.registers;
        let tags = qualification::tags(registers, parameters, instruction);
        let ia32 = registers.is_ia32();
        self.instruction = Some(Fetched { ip: instruction.ip.0, slot: instruction.slot, tags, ia32 });
        if instruction.retired && !ia32 {
            self.cycle.retire(tags);
        }
        tags
    }

    fn access(&mut self, access: Access) -> Option<Event> {
        let of = self.instruction?;
        let registers = &self.known.registers;
        let Access { kind, address } = access;
        let tag = data::data_tag(registers, kind, address.0, of.tags.pmc8);
        self.access = Some(Accessed { kind, address: address.0, tag, of });
        Some(Event::DataTag { matched: data::data_range_match(registers, address.0), tag })
    }

    fn miss<S>(&mut self, parameters: &Parameters, miss: Miss, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let registers = &self.known.registers;
        let fetch = |ip, cause| {
            Some(Missed::Fetch(FetchMiss { ip, tag: range::range_tag(registers, parameters, ip), cause }))
        };
        let access = |cause| {
            let Accessed { kind, address, tag, of } = self.access?;
            let (ip, slot, pmc8) = (of.ip, of.slot, of.tags.pmc8);
            Some(Missed::Access(AccessMiss { kind, address, ip, slot, pmc8, data: tag, cause }))
        };
        let missed = match miss {
            Miss::InstructionCache { ip, latency } => fetch(ip.0, FetchMissCause::Cache(latency)),
            Miss::InstructionTlb { ip, resolution } => fetch(ip.0, FetchMissCause::Tlb(resolution)),
            Miss::DataCache { latency } => access(AccessMissCause::Cache(latency)),
            Miss::DataTlb { level } => access(AccessMissCause::Tlb(level)),
        };
        match missed {
            None => report.fault(FaultClass::InvalidReference, 0),
            Some(missed) => {
                if !self.cycle.miss(missed) {
                    report.fault(FaultClass::Limit, 0);
                }
            }
        }
    }

    /// Spec: ITA-QUA-002, ITA-QUA-003, ITA-QUA-006; reading `ita-md-1`.
    fn occur<S>(&mut self, parameters: &Parameters, occurrence: Occurrence, report: &mut Report<'_, S>)
    where
        S: Sink<ItaniumPmu> + ?Sized,
    {
        let Some(event) = SelectableEvent::find(occurrence.es, occurrence.umask) else {
            return report.fault(FaultClass::ReservedEncoding, ES);
        };
        if is_derived(event.es) {
            return report.fault(FaultClass::IllegalInState, ES);
        }
        match self.qualifies(parameters, event.qualifier) {
            None => report.fault(FaultClass::InvalidReference, 0),
            Some(false) => {}
            Some(true) => self.cycle.occur(event, occurrence.count),
        }
    }

    /// Whether an occurrence counts that is recorded now; `None`: what it belongs to is missing.
    fn qualifies(&self, parameters: &Parameters, qualifier: Qualifier) -> Option<bool> {
        if qualifier == Qualifier::None {
            return Some(true);
        }
        let instruction = self.instruction?;
        let unrestricted_ia32 = instruction.ia32 && parameters.ia32_counting == Ia32Counting::Unrestricted;
        let by_tag = match qualifier {
            Qualifier::None => true,
            Qualifier::Range => return Some(instruction.tags.range),
            Qualifier::OtherOpcode => return Some(instruction.tags.pmc9),
            Qualifier::Opcode => instruction.tags.pmc8,
            Qualifier::Data => self.access?.tag,
        };
        let registers = &self.known.registers;
        Some(if unrestricted_ia32 {
            range::tags_all(registers) && opcode::passes_all(registers) && data::passes_tags(registers)
        } else {
            by_tag
        })
    }
}

/// Reports oddities of a value that is used nevertheless.
fn note<S>(decoded: &Decoded, report: &mut Report<'_, S>)
where
    S: Sink<ItaniumPmu> + ?Sized,
{
    for oddity in decoded.oddities() {
        report.fault(oddity.class, oddity.bit.map_or(INDEX, |bit| VALUE + bit));
    }
}
