//! Translates packets and elements into events of the contract.

use std::collections::BTreeMap;

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{ArmPft, Event, Outcome, Parameters, Reason};
use traceproof_vectors::{Address32, Fault, FaultClass, Place, Sink};

use super::super::ptm::{Body, State};
use super::super::{self as opencsd, Answer, Element, ElementKind, Isa};

/// The library's number of the error that its return stack is empty (`OCSD_ERR_RET_STACK_OVERFLOW`).
const RETURN_STACK: u32 = 28;

/// The library's type of an instruction that is no waypoint (`OCSD_INSTR_OTHER`).
const NO_WAYPOINT: u32 = 0;

/// How far the decoder is synchronised. It does not say when it is again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Search,
    Aligned,
    Done,
}

/// Makes events of packets, one after the other.
pub(super) struct Events<'a> {
    parameters: &'a Parameters,
    /// The elements, by the offset of their packet.
    elements: BTreeMap<u32, Vec<&'a Element>>,
    /// Where elements ended fatally, with the library's error number.
    end: Option<(u64, u32)>,
    sync: Sync,
    /// Non-secure state and Hyp mode of the latest I-sync or branch.
    state: State,
    cycles: u64,
}

impl<'a> Events<'a> {
    pub(super) fn new(parameters: &'a Parameters, outcome: &'a opencsd::Outcome) -> Self {
        let mut elements: BTreeMap<u32, Vec<&Element>> = BTreeMap::new();
        for element in outcome.elements() {
            elements.entry(element.byte).or_default().push(element);
        }
        let end = outcome.records.iter().find_map(|record| match record {
            Answer::Fault { byte, response: 6.., error, .. } => Some((u64::from(*byte), *error)),
            _ => None,
        });
        let state = State { ns: false, hyp: false, alt_isa: false };
        Self { parameters, elements, end, sync: Sync::Search, state, cycles: 0 }
    }

    /// Delivers the events of a packet.
    pub(super) fn packet(&mut self, place: Place, body: &Body, sink: &mut dyn Sink<ArmPft>) {
        match (self.sync, body) {
            (Sync::Search, Body::ASync) => self.sync = Sync::Aligned,
            (Sync::Aligned, Body::ISync { .. }) => self.sync = Sync::Done,
            (Sync::Done, Body::BadSequence { .. } | Body::Reserved) => self.sync = Sync::Search,
            _ => {}
        }
        if self.sync != Sync::Done || self.end.is_some_and(|(end, _)| place.byte > end) {
            return;
        }
        let elements = u32::try_from(place.byte).ok().and_then(|byte| self.elements.remove(&byte));
        let elements = elements.unwrap_or_default();
        if let Some(count) = elements.iter().find_map(|element| element.cycles) {
            self.cycles = self.cycles.saturating_add(count.into());
            sink.event(place, &Event::Cycles { count, total: self.cycles });
        }
        if let Body::ISync { .. } = body {
            return self.trace_on(place, body, sink);
        }
        for element in &elements {
            self.element(place, element, body, sink);
        }
        if self.end.is_some_and(|(end, error)| place.byte == end && error == RETURN_STACK) {
            sink.fault(&Fault::new(FaultClass::InvalidReference, place));
        }
        if let Body::Branch { address, isa, state, .. } = body {
            self.state = *state;
            let is_followed = |element: &&Element| {
                matches!(element.kind, ElementKind::Exception { .. } | ElementKind::Range { .. })
            };
            let is_lost = |element: &&Element| matches!(element.kind, ElementKind::NoMemory { .. });
            if !elements.iter().any(is_followed) || elements.iter().any(is_lost) {
                let event = Event::BranchTo {
                    address: Address32(address.value as u32),
                    isa: instruction_set(*isa),
                    non_secure: state.ns,
                    hyp: self.hyp(),
                };
                sink.event(place, &event);
            }
        }
    }

    fn trace_on(&mut self, place: Place, body: &Body, sink: &mut dyn Sink<ArmPft>) {
        let Body::ISync { reason, address, isa, state, context_id, .. } = body else { return };
        let Some(reason) = u8::try_from(*reason).ok().and_then(Reason::from_code) else { return };
        self.state = *state;
        let event = Event::TraceOn {
            reason,
            address: Address32(address.value as u32),
            isa: instruction_set(*isa),
            non_secure: state.ns,
            hyp: self.hyp(),
            context_id: *context_id,
        };
        sink.event(place, &event);
    }

    /// Delivers what an element of a packet says.
    fn element(&self, place: Place, element: &Element, body: &Body, sink: &mut dyn Sink<ArmPft>) {
        let event = match &element.kind {
            ElementKind::Range { isa, start, end, instructions, last } => {
                let is_waypoint = last.kind != NO_WAYPOINT && !matches!(body, Body::WaypointUpdate { .. });
                Event::Instructions {
                    first: Address32(*start as u32),
                    end: Address32(*end as u32),
                    count: u64::from(*instructions),
                    isa: instruction_set(*isa),
                    non_secure: self.state.ns,
                    hyp: self.hyp(),
                    last: match (is_waypoint, last.executed) {
                        (false, _) => Outcome::Unknown,
                        (true, true) => Outcome::Executed,
                        (true, false) => Outcome::NotExecuted,
                    },
                }
            }
            ElementKind::NoMemory { address } => {
                let address = Address32(*address as u32);
                return sink.fault(&Fault::new(FaultClass::NoCode, place).with_address(Some(address.into())));
            }
            ElementKind::Exception { number, return_address, .. } => {
                let Body::Branch { address, isa, state, .. } = body else { return };
                Event::Exception {
                    number: u16::try_from(*number).unwrap_or(u16::MAX),
                    returns_to: return_address.map(|address| Address32(address as u32)),
                    address: Address32(address.value as u32),
                    isa: instruction_set(*isa),
                    non_secure: state.ns,
                    hyp: state.hyp && self.parameters.virtualization,
                }
            }
            ElementKind::ExceptionReturn => Event::ExceptionReturn,
            ElementKind::Timestamp { frequency_change } => {
                Event::Timestamp { value: element.timestamp, clock_change: *frequency_change }
            }
            ElementKind::Event { kind: 1, .. } => Event::Trigger,
            ElementKind::Context(context) => match (body, context.context_id, context.vmid) {
                (Body::ContextId { .. }, Some(context_id), _) => Event::ContextId(context_id),
                (Body::Vmid { .. }, _, Some(vmid)) => Event::Vmid(vmid as u8),
                _ => return,
            },
            _ => return,
        };
        sink.event(place, &event);
    }

    const fn hyp(&self) -> bool {
        self.state.hyp && self.parameters.virtualization
    }
}

const fn instruction_set(isa: Isa) -> InstructionSet {
    match isa {
        Isa::Thumb => InstructionSet::T32,
        Isa::ThumbEe => InstructionSet::T32Ee,
        Isa::Jazelle => InstructionSet::Jazelle,
        _ => InstructionSet::A32,
    }
}
