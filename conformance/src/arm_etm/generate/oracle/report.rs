//! A decoder's events in the words of the oracle.

use std::collections::{BTreeMap, BTreeSet};

use traceproof_vectors::Log;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, DataAddress, Event, ExceptionKind, Isa, Reason, Value,
};

use super::{Mismatch, Word};
use crate::arm_etm::generate::Scenario;

/// An event of the decoder, and its cycle (ETMv2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) cycle: Option<u64>,
    pub(super) reported: Reported,
}

/// An event of the decoder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reported {
    /// Tracing started; `number` counts the starts from 0; `gap` is the reported number of cycles before it.
    Start {
        number: usize,
        overflow: bool,
        /// The processor leaves debug state.
        debug: bool,
        address: Option<u32>,
        in_progress: Option<u32>,
        gap: Option<Option<u64>>,
    },
    Instruction {
        address: Option<u32>,
        executed: bool,
        cycles: Option<u64>,
    },
    Branch {
        address: u32,
        thumb: bool,
        exception: Option<(u16, bool)>,
    },
    /// `ignored`: the first and the last transfer that mean nothing.
    Exception {
        kind: ExceptionKind,
        cancelled: Option<u64>,
        ignored: Option<(u64, u64)>,
    },
    PossibleException,
    /// `outstanding`: the value came later, or, then it is [`Word::NotTraced`], not at all.
    Transfer {
        address: Option<u32>,
        value: Word,
        outstanding: bool,
        big_endian: bool,
    },
    StoreFailed,
    Context(u32),
    Return,
    Entry,
    Suppressed,
}

/// All events of the decoder.
pub(super) struct Report {
    pub(super) heard: Vec<Heard>,
}

impl Report {
    /// In program order: ETMv2 reports data later than the statuses of their cycle.
    pub(super) fn read(scenario: &Scenario, log: &Log<ArmEtm>) -> Result<Self, Mismatch> {
        let arrived: BTreeMap<u64, u32> = log
            .events()
            .filter_map(|event| match *event {
                Event::MissData { transfer, value, .. } => Some((transfer, value)),
                _ => None,
            })
            .collect();
        let counters: BTreeSet<u64> = scenario.cycles.iter().map(|cycle| cycle.timestamp).collect();
        let wrong = |expected: &str, event: &Event| Mismatch {
            cycle: 0,
            expected: expected.into(),
            got: format!("{event:x?}"),
        };
        let (mut heard, mut starts, mut gap, mut time) = (Vec::new(), 0, None, 0);
        let mut ignored = None;
        for event in log.events() {
            match *event {
                // The cycle count packet follows its I-sync, perhaps after an implied instruction.
                Event::Gap { cycles } if !scenario.policy.count_in_sync => {
                    let start =
                        heard.iter_mut().rev().find_map(|heard: &mut Heard| match &mut heard.reported {
                            Reported::Start { gap, .. } => Some(gap),
                            _ => None,
                        });
                    if let Some(gap) = start {
                        *gap = Some(cycles);
                    }
                }
                Event::Gap { cycles } => gap = Some(cycles),
                Event::Timestamp { value: Some(value), .. } => {
                    if value < time || !counters.contains(&value) {
                        return Err(wrong("a value of the timestamp counter", event));
                    }
                    time = value;
                }
                Event::Transfer { address, .. } if address.is_some_and(|address| !address.is_full()) => {
                    return Err(wrong("a full data address", event));
                }
                // The exception follows.
                Event::IgnoredTransfers { first, last } => ignored = Some((first, last)),
                Event::Exception { cycle, kind, cancelled, .. } => {
                    let ignored = ignored.take();
                    let reported = Reported::Exception { kind, cancelled, ignored };
                    heard.push(Heard { cycle: Some(cycle), reported });
                }
                _ => heard.extend(translate(event, &arrived, starts, gap)),
            }
            if let Some(Heard { reported: Reported::Start { number, .. }, .. }) = heard.last()
                && *number == starts
            {
                starts += 1;
                gap = None;
            }
        }
        if scenario.parameters.architecture == Architecture::V2 {
            heard.sort_by_key(|heard| (heard.cycle, rank(&heard.reported)));
        } else {
            // There `when` counts atoms, not cycles.
            heard.iter_mut().for_each(|heard| heard.cycle = None);
        }
        Ok(Self { heard })
    }
}

/// Order within a cycle.
const fn rank(reported: &Reported) -> u8 {
    match reported {
        Reported::Start { .. } => 0,
        Reported::Instruction { .. } => 1,
        Reported::Branch { .. } => 5,
        Reported::Exception { .. } | Reported::PossibleException => 4,
        Reported::Context(_) => 3,
        _ => 2,
    }
}

fn translate(
    event: &Event,
    arrived: &BTreeMap<u64, u32>,
    number: usize,
    gap: Option<Option<u64>>,
) -> Option<Heard> {
    let (cycle, reported) = match *event {
        Event::Synchronisation { reason: Reason::Periodic, .. }
        | Event::InstructionSync { reason: Reason::Periodic, .. } => return None,
        Event::Synchronisation { cycle, reason, address, lsm, .. } => {
            let overflow = reason == Reason::Overflow;
            let address = Some(address);
            (
                Some(cycle),
                Reported::Start {
                    number,
                    overflow,
                    debug: reason == Reason::DebugExit,
                    address: address.map(u32::from),
                    in_progress: lsm.map(u32::from),
                    gap: None,
                },
            )
        }
        Event::InstructionSync { reason, address, in_progress, .. } => {
            let overflow = reason == Reason::Overflow;
            (
                None,
                Reported::Start {
                    number,
                    overflow,
                    debug: reason == Reason::DebugExit,
                    address: address.map(u32::from),
                    in_progress: in_progress.map(u32::from),
                    gap,
                },
            )
        }
        Event::Instruction { cycle, executed, .. } => {
            (Some(cycle), Reported::Instruction { address: None, executed, cycles: None })
        }
        Event::Atom { address, executed, cycles, .. } => {
            (None, Reported::Instruction { address: address.map(u32::from), executed, cycles })
        }
        Event::Branch { cycle, address, isa } => {
            (Some(cycle), Reported::Branch { address: address.0, thumb: isa == Isa::Thumb, exception: None })
        }
        Event::BranchTo { address, isa, exception } => {
            let exception = exception.filter(|information| information.number != 0);
            let exception = exception.map(|information| (information.number, information.cancel));
            (None, Reported::Branch { address: address.0, thumb: isa == Isa::Thumb, exception })
        }
        Event::PossibleException { cycle, .. } => (Some(cycle), Reported::PossibleException),
        Event::Transfer { transfer, when, address, value, big_endian } => {
            let (value, outstanding) = match value {
                Value::Known(value) => (Word::Known(value), false),
                Value::NotTraced => (Word::NotTraced, false),
                Value::Off => (Word::Off, false),
                Value::Pending(_) | Value::PendingHigh(_) => {
                    (arrived.get(&transfer).map_or(Word::NotTraced, |&value| Word::Known(value)), true)
                }
            };
            let address = address.map(DataAddress::value);
            (Some(when), Reported::Transfer { address, value, outstanding, big_endian })
        }
        Event::StoreFailed { .. } => (None, Reported::StoreFailed),
        Event::ContextId { when, value } => (Some(when), Reported::Context(value)),
        Event::ExceptionReturn { .. } => (None, Reported::Return),
        Event::ExceptionEntry { .. } => (None, Reported::Entry),
        Event::DataSuppressed { .. } => (None, Reported::Suppressed),
        _ => return None,
    };
    Some(Heard { cycle, reported })
}
