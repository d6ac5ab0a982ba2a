//! Translates elements into events of the contract.

use std::collections::HashMap;

use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{ArmEte, Event, Outcome, Parameters, TimestampOf};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

use super::super::etmv4::Body;
use super::super::{Answer, Element, ElementKind, Isa, Security};
use super::held::Held;

/// The library's type of an instruction that is no P0 instruction (`OCSD_INSTR_OTHER`).
const NO_P0: u32 = 0;

/// INFO of a Trace Info: CC and T.
const CYCLE_COUNTING: u32 = 1;
const TRANSACTIONAL: u32 = 1 << 6;

/// Why the decoder starts again (`unsync_info_t`): a bad packet or a contradiction among elements, a bad image.
const BAD_PACKET: u32 = 5;
const BAD_IMAGE: u32 = 6;

/// The library's decoder found an error of its own, or stops (`ocsd_datapath_resp_t`); less is a bad packet. The number
/// of the error is not used: it can be that of an earlier stream.
const ERROR: u32 = 2;

/// A packet that the library's decoder got, and its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) place: Place,
    pub(super) body: &'a Body,
    pub(super) header: u8,
}

/// Makes events of elements, one after the other.
pub(super) struct Events<'a> {
    parameters: &'a Parameters,
    packets: &'a [Read<'a>],
    /// Index in `packets` by offset.
    at: HashMap<u64, usize>,
    /// The first packet whose own events are still to come.
    next: usize,
    cycles: u64,
}

impl<'a> Events<'a> {
    pub(super) fn new(parameters: &'a Parameters, packets: &'a [Read<'a>]) -> Self {
        let at = packets.iter().enumerate().map(|(index, read)| (read.place.byte, index)).collect();
        Self { parameters, packets, at, next: 0, cycles: 0 }
    }

    /// Delivers everything.
    pub(super) fn deliver(&mut self, records: &[Answer], sink: &mut dyn Sink<ArmEte>) {
        let mut has_stopped = false;
        for record in records {
            match record {
                Answer::Element(element) => self.element(element, sink),
                Answer::Fault { response: ERROR.., .. } => {
                    has_stopped = true;
                    self.packets_before(u64::MAX, sink);
                    // Its place, too, can be that of an earlier stream.
                    let place = self.packets.last().map_or(Place::default(), |read| read.place);
                    sink.fault(&Fault::new(FaultClass::Contradiction, place));
                }
                _ => {}
            }
        }
        if !has_stopped {
            let mut held = Held::new(self.parameters);
            self.packets.iter().for_each(|read| held.packet(read.place.byte, read.body));
            self.packets_before(held.oldest().unwrap_or(u64::MAX), sink);
        }
        for read in self.packets.get(self.next..).unwrap_or_default() {
            fault(read).into_iter().for_each(|fault| sink.fault(&fault));
        }
    }

    /// Delivers faults of packets, and the events that have no element, of packets before this offset.
    fn packets_before(&mut self, byte: u64, sink: &mut dyn Sink<ArmEte>) {
        while let Some(read) = self.packets.get(self.next).filter(|read| read.place.byte < byte) {
            self.next += 1;
            fault(read).into_iter().for_each(|fault| sink.fault(&fault));
            let event = match *read.body {
                Body::TraceInfo { info, speculation, threshold, .. } => Event::TraceInfo {
                    cycle_counting: info & CYCLE_COUNTING != 0,
                    cycle_threshold: threshold as u16,
                    speculation,
                    transactional: info & TRANSACTIONAL != 0,
                },
                Body::Discard => Event::Discard,
                Body::Overflow => Event::Overflow,
                _ => continue,
            };
            sink.event(read.place, &event);
        }
    }

    fn element(&mut self, element: &Element, sink: &mut dyn Sink<ArmEte>) {
        let byte = u64::from(element.byte);
        if matches!(element.kind, ElementKind::EndOfTrace { .. }) {
            return;
        }
        self.packets_before(byte, sink);
        if let ElementKind::NoSync { reason: BAD_PACKET | BAD_IMAGE } = element.kind {
            return self.start_again(byte, sink);
        }
        let Some(read) = self.at.get(&byte).map(|index| self.packets[*index]) else { return };
        let place = read.place;
        let event = match &element.kind {
            ElementKind::TraceOn { .. } => Event::TraceOn,
            ElementKind::Context(context) => Event::Context(self.context(context)),
            ElementKind::Range { start, end, instructions: count @ 1.., isa, last } => {
                let outcome = match (read.body, last.executed) {
                    (Body::Exception { .. } | Body::Q { .. }, _) => Outcome::Passed,
                    _ if last.kind == NO_P0 => Outcome::Passed,
                    (_, true) => Outcome::Taken,
                    (_, false) => Outcome::NotTaken,
                };
                Event::Instructions {
                    first: Address(*start),
                    end: Address(*end),
                    count: u64::from(*count),
                    isa: instruction_set(*isa),
                    last: outcome,
                }
            }
            ElementKind::RangeWithoutPath { instructions, .. } => {
                Event::UnknownPath { count: (*instructions > 0).then_some(*instructions) }
            }
            ElementKind::NoMemory { address } => {
                let fault = Fault::new(FaultClass::NoCode, place);
                return sink.fault(&fault.with_address(Some(Address(*address))));
            }
            ElementKind::Exception { number, return_address, .. } => Event::Exception {
                number: u16::try_from(*number).unwrap_or(u16::MAX),
                returns_to: return_address.filter(|_| *read.body != Body::PeReset).map(Address),
                fault_pending: matches!(read.body, Body::Exception { fault_pending: true, .. }),
            },
            ElementKind::ExceptionReturn if *read.body == Body::ExceptionReturn => Event::ExceptionReturn,
            ElementKind::Timestamp { .. } => Event::Timestamp {
                value: element.timestamp.filter(|value| *value != 0),
                cycles: if read.header == 3 { element.cycles } else { None },
                of: TimestampOf::Latest,
            },
            ElementKind::CycleCount => self.cycles(read, element.cycles.unwrap_or_default()),
            ElementKind::Event { number, .. } => {
                let numbers = (0..4).filter(|bit| number >> bit & 1 == 1);
                return numbers.for_each(|number| sink.event(place, &Event::Event { number }));
            }
            ElementKind::Marker { kind: 0 } => Event::TimestampMarker,
            ElementKind::Transaction { kind: 1 } => Event::TransactionStart,
            ElementKind::Transaction { kind: 2 } => Event::TransactionCommit,
            ElementKind::Transaction { kind: 3 } => Event::TransactionFailure,
            ElementKind::Instrumentation { exception_level, value } => Event::Instrumentation {
                exception_level: ExceptionLevel::ALL[usize::from(exception_level & 3)],
                value: *value,
            },
            _ => return,
        };
        sink.event(place, &event);
    }

    /// The decoder started again before the packet at this offset. If a bad packet is the reason it was reported.
    fn start_again(&mut self, byte: u64, sink: &mut dyn Sink<ArmEte>) {
        self.cycles = 0;
        let before = self.packets.iter().rev().find(|read| read.place.byte < byte);
        if let Some(read) = before.filter(|read| !is_bad(read.body)) {
            sink.fault(&Fault::new(FaultClass::Contradiction, read.place));
        }
    }

    /// A header 0F has an UNKNOWN count, for which the library says 0.
    fn cycles(&mut self, read: Read<'_>, count: u32) -> Event {
        let count = (read.header != 0x0f).then_some(count);
        self.cycles = count.map_or(0, |count| self.cycles.saturating_add(count.into()));
        Event::Cycles { count, total: self.cycles }
    }

    fn context(&self, context: &super::super::Context) -> Context {
        let security = match context.security {
            Security::Secure => SecurityState::Secure,
            Security::NonSecure => SecurityState::NonSecure,
            Security::Root => SecurityState::Root,
            Security::Realm => SecurityState::Realm,
        };
        let id = |bytes: u8, id: Option<u32>| (bytes > 0).then(|| id.unwrap_or_default());
        Context::default()
            .with_security(security)
            .with_exception_level(
                context.exception_level.map(|level| ExceptionLevel::ALL[usize::from(level & 3)]),
            )
            .with_64_bit(context.isa == Isa::Aarch64)
            .with_context_id(id(self.parameters.context_id_bytes, context.context_id))
            .with_vmid(id(self.parameters.vmid_bytes, context.vmid))
    }
}

/// The fault of a packet that could not be read.
pub(super) fn fault(read: &Read<'_>) -> Option<Fault> {
    let class = match read.body {
        Body::Incomplete => FaultClass::Truncated,
        body if is_bad(body) => FaultClass::ReservedEncoding,
        _ => return None,
    };
    Some(Fault::new(class, read.place))
}

/// Whether it is no packet of the protocol.
pub(super) const fn is_bad(body: &Body) -> bool {
    matches!(
        body,
        Body::BadSequence { .. } | Body::Reserved | Body::ReservedForConfiguration | Body::Other { .. }
    )
}

const fn instruction_set(isa: Isa) -> InstructionSet {
    match isa {
        Isa::Arm => InstructionSet::A32,
        Isa::Thumb => InstructionSet::T32,
        Isa::ThumbEe => InstructionSet::T32Ee,
        Isa::Jazelle => InstructionSet::Jazelle,
        _ => InstructionSet::A64,
    }
}
