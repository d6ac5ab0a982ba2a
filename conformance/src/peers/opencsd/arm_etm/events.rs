//! Translates packets and elements into events of the contract.

use std::collections::BTreeMap;

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, InByteException};
use traceproof_vectors::arm_etm::{ArmEtm, Event, Isa, Parameters, Reason};
use traceproof_vectors::{Address32, Fault, FaultClass, Place, Sink};

use super::super::etmv3::{Address, Body, Exception, State};
use super::super::{self as opencsd, Answer, ElementKind, Outcome};
use super::packet::{exception_information, instruction_address};

/// An instruction of the elements, or the address where there is no memory.
#[derive(Clone, Copy)]
enum Step {
    Instruction { address: u32, isa: Isa, cycles: Option<u32> },
    NoMemory { address: u32 },
}

/// Makes events of packets, one after the other.
pub(super) struct Events<'a> {
    parameters: &'a Parameters,
    /// There is code somewhere: where there is none is worth a fault.
    has_code: bool,
    /// The steps of the elements, by the offset of their packet.
    steps: BTreeMap<u32, Vec<Step>>,
    /// Timestamps with a change of the clock frequency, by the offset of their packet.
    clock_changes: Vec<u32>,
    /// Where elements ended fatally.
    end: Option<u64>,
    /// The first I-sync has been.
    started: bool,
    /// The state of the latest I-sync, branch packet or instruction.
    isa: Isa,
    /// How many atoms were handed over.
    atoms: u64,
    /// W atoms since the latest E or N atom, or the first I-sync.
    cycles: u64,
    /// The count set aside by an I-sync that waits for its cycle count.
    aside: Option<u64>,
}

impl<'a> Events<'a> {
    pub(super) fn new(parameters: &'a Parameters, has_code: bool, elements: &Outcome) -> Self {
        let mut steps: BTreeMap<u32, Vec<Step>> = BTreeMap::new();
        let mut clock_changes = Vec::new();
        for element in elements.elements() {
            let step = match element.kind {
                ElementKind::Range { start, isa, .. } => {
                    Step::Instruction { address: start as u32, isa: state(isa), cycles: element.cycles }
                }
                ElementKind::NoMemory { address } => Step::NoMemory { address: address as u32 },
                ElementKind::Timestamp { frequency_change: true } => {
                    clock_changes.push(element.byte);
                    continue;
                }
                _ => continue,
            };
            steps.entry(element.byte).or_default().push(step);
        }
        let end = elements.records.iter().find_map(|record| match record {
            Answer::Fault { byte, response: 6.., .. } => Some(u64::from(*byte)),
            _ => None,
        });
        Self {
            parameters,
            has_code,
            steps,
            clock_changes,
            end,
            started: false,
            isa: Isa::Arm,
            atoms: 0,
            cycles: 0,
            aside: None,
        }
    }

    /// Delivers the events of a packet.
    pub(super) fn packet(&mut self, place: Place, body: &Body, bytes: &[u8], sink: &mut dyn Sink<ArmEtm>) {
        if self.end.is_some_and(|end| place.byte >= end) {
            return;
        }
        let when = self.atoms;
        let event = match body {
            Body::PHeader { format, atoms, cycles } => {
                return self.atoms(place, *format, atoms, *cycles, sink);
            }
            Body::ISync { .. } => return self.i_sync(place, body, sink),
            Body::Trigger => Event::Trigger { when },
            Body::ContextId { value } => Event::ContextId { when, value: *value },
            Body::Vmid { value } => Event::Vmid { when, value: *value },
            Body::Timestamp { value, .. } => Event::Timestamp {
                value: Some(*value).filter(|value| *value != 0),
                clock_change: self.clock_changes.iter().any(|byte| u64::from(*byte) == place.byte),
            },
            _ if !self.started => return,
            Body::CycleCount { count } => {
                let waiting = self.aside.take().unwrap_or(0);
                Event::Gap { cycles: gap(waiting, *count) }
            }
            Body::Branch { address, isa, exception, state } => {
                self.isa = self::state(*isa);
                self.branch(address, *isa, exception.as_ref(), state.as_ref(), bytes)
            }
            Body::ExceptionExit => Event::ExceptionReturn { when },
            Body::ExceptionEntry => Event::ExceptionEntry { when },
            _ => return,
        };
        sink.event(place, &event);
    }

    fn branch(
        &self,
        address: &Address,
        isa: opencsd::Isa,
        exception: Option<&Exception>,
        state: Option<&State>,
        bytes: &[u8],
    ) -> Event {
        let exception = exception.map(|exception| {
            let address_bytes = instruction_address(address, isa).bytes;
            if address_bytes == 5 && bytes.get(4).is_some_and(|byte| byte & 0x80 != 0) {
                let inside =
                    InByteException { code: (exception.number & 7) as u8, cancel: exception.cancelled };
                let number = inside.number();
                return ExceptionInformation { number, cancel: exception.cancelled, ..Default::default() };
            }
            exception_information(bytes, address_bytes, exception, state)
        });
        Event::BranchTo { address: Address32(address.value as u32), isa: self.isa, exception }
    }

    fn i_sync(&mut self, place: Place, body: &Body, sink: &mut dyn Sink<ArmEtm>) {
        let Body::ISync { reason, address, isa, state, context_id, cycle_count, next, .. } = body else {
            return;
        };
        let Some(reason) = u8::try_from(*reason).ok().and_then(Reason::from_code) else { return };
        if reason != Reason::Periodic {
            self.aside = Some(std::mem::take(&mut self.cycles));
        }
        self.started = true;
        if let Some(count) = cycle_count {
            let cycles = gap(self.aside.take().unwrap_or(0), *count);
            sink.event(place, &Event::Gap { cycles });
        }
        self.isa = self::state(*isa);
        let event = Event::InstructionSync {
            reason,
            address: next.or(*address).map(|address| address.value as u32).map(Address32),
            isa: self.isa,
            non_secure: state.ns,
            hyp: state.hyp && self.parameters.virtualization,
            context_id: *context_id,
            // The library forgets this address.
            in_progress: None,
        };
        sink.event(place, &event);
    }

    fn atoms(&mut self, place: Place, format: u8, atoms: &str, cycles: u32, sink: &mut dyn Sink<ArmEtm>) {
        let steps = u32::try_from(place.byte).ok().and_then(|byte| self.steps.remove(&byte));
        let mut steps = steps.unwrap_or_default().into_iter();
        if !self.started {
            return;
        }
        if atoms.is_empty() {
            self.cycles = self.cycles.saturating_add(cycles.into());
        }
        for (index, atom) in atoms.chars().enumerate() {
            let step = steps.next();
            // Format 1 has one cycle per atom; in the others all are the first atom's.
            let own = match (format, index) {
                (1, _) if cycles > 0 => 1,
                (1, _) => 0,
                (_, 0) => cycles,
                _ => 0,
            };
            let (mut address, mut own) = (None, own);
            match step {
                Some(Step::Instruction { address: at, isa, cycles }) => {
                    address = Some(at);
                    self.isa = isa;
                    own = cycles.unwrap_or(own);
                }
                Some(Step::NoMemory { address: at }) => {
                    address = Some(at);
                    if self.has_code {
                        let fault =
                            Fault::new(FaultClass::NoCode, place).with_address(Some(Address32(at).into()));
                        sink.fault(&fault);
                    }
                }
                None => {}
            }
            let cycles = std::mem::take(&mut self.cycles).saturating_add(own.into());
            let cycles = self.parameters.cycle_accurate.then_some(cycles);
            sink.event(
                place,
                &Event::Atom {
                    address: address.map(Address32),
                    isa: self.isa,
                    executed: atom == 'E',
                    cycles,
                },
            );
            self.atoms += 1;
        }
    }
}

/// `None` where the count is 0: unknown.
fn gap(aside: u64, count: u32) -> Option<u64> {
    (count != 0).then(|| aside.saturating_add(count.into()))
}

const fn state(isa: opencsd::Isa) -> Isa {
    match isa {
        opencsd::Isa::Thumb => Isa::Thumb,
        opencsd::Isa::ThumbEe => Isa::ThumbEe,
        opencsd::Isa::Jazelle => Isa::Jazelle,
        _ => Isa::Arm,
    }
}
