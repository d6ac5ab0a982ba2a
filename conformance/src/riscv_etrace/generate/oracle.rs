//! Does what a decoder reported agree with the execution that was encoded?
//!
//! Knows the execution and nothing of packets: the judge of a round trip must not share the codec's ideas.

use std::fmt;

use traceproof_vectors::riscv_etrace::{Epc, Event, RiscvEtrace, Step, Stimulus, Trap};
use traceproof_vectors::{Address, Entry, Log};

use super::{Kind, Scenario};

/// Where a decoder's report leaves the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// How many observations agreed before.
    pub after: usize,
    /// What the execution has there.
    pub expected: String,
    /// What the decoder reported there.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} matching observations: expected {}, got {}", self.after, self.expected, self.got)
    }
}

impl std::error::Error for Mismatch {}

/// One thing that can be observed in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Observation {
    Retire {
        address: u64,
        privilege: u8,
        context: Option<u64>,
    },
    Trap {
        interrupt: bool,
        cause: u64,
        tval: Option<u64>,
        epc: Epc,
        required: bool,
    },
    /// The encoder may have lost what comes between two of these.
    Gap,
}

/// Compares a decoder's log with the scenario's execution.
///
/// Every qualified retirement must be reported with its privilege level and context. A trap must be reported when it
/// and the first handler instruction are qualified; other traps may. Where the transport lost packets, each stretch
/// between two gaps must be a stretch of the execution.
///
/// # Errors
///
/// The first difference.
pub fn judge(scenario: &Scenario, log: &Log<RiscvEtrace>) -> Result<(), Mismatch> {
    if let Some(fault) = log.faults().next() {
        return Err(Mismatch { after: 0, expected: String::from("no fault"), got: fault.to_string() });
    }
    let expected = expected(scenario);
    let got = reported(scenario, log)?;
    let lossy = scenario.steps.iter().any(|step| matches!(step, Step::Stimulus(Stimulus::Transport(false))));
    if lossy { compare_stretches(&expected, &got) } else { compare(&expected, &got) }
}

fn expected(scenario: &Scenario) -> Vec<Observation> {
    let mut observations = Vec::new();
    let mut previous: Option<(&Step, bool)> = None;
    if !scenario.steps.contains(&Step::Stimulus(Stimulus::Enable(true))) {
        return observations;
    }
    let steps: Vec<(&Step, bool)> = (scenario.steps.iter().zip(scenario.qualified()))
        .filter(|(step, _)| !matches!(step, Step::Stimulus(_)))
        .collect();
    for (index, &(step, qualified)) in steps.iter().enumerate() {
        match step {
            Step::Retire(retire) if qualified => observations.push(Observation::Retire {
                address: retire.address.0,
                privilege: retire.privilege,
                context: (!scenario.parameters.nocontext_p).then_some(retire.context),
            }),
            Step::Trap(trap) => {
                let handled = steps.get(index + 1..).is_some_and(qualified_until_retire);
                let has_epc = !after_checked_return(scenario, previous);
                let has_epc = has_epc && qualified && matches!(previous, Some((Step::Retire(_), true)));
                observations.push(trap_observation(trap, qualified && handled, has_epc));
            }
            Step::Retire(_) | Step::Stimulus(_) => {}
        }
        previous = Some((step, qualified));
    }
    observations
}

/// Whether the next retirement and all traps before it are qualified.
fn qualified_until_retire(steps: &[(&Step, bool)]) -> bool {
    for &(step, qualified) in steps {
        match step {
            Step::Retire(_) => return qualified,
            Step::Trap(_) if !qualified => return false,
            Step::Trap(_) | Step::Stimulus(_) => {}
        }
    }
    false
}

/// Whether a return retired directly before that a return stack may have found right or wrong. A packet with `thaddr` =
/// 0 then means either an exception at its target, or any trap before another one; this is ambiguous, so its address
/// may or may not be the EPC (ET 7.3.1, ET 11).
fn after_checked_return(scenario: &Scenario, previous: Option<(&Step, bool)>) -> bool {
    let Some((Step::Retire(retire), _)) = previous else { return false };
    let is_return = scenario.program.at(retire.address.0).is_some_and(|found| found.kind == Kind::Return);
    is_return && scenario.parameters.modes.implicit_return && scenario.parameters.return_stack_size_p > 0
}

/// `has_epc`: its EPC; at the start of a trace and within chains the protocol does not always carry it (RVET-DEC-050).
fn trap_observation(trap: &Trap, required: bool, has_epc: bool) -> Observation {
    Observation::Trap {
        interrupt: trap.interrupt,
        cause: trap.cause,
        tval: (!trap.interrupt).then_some(trap.tval),
        epc: match (trap.interrupt, has_epc) {
            (true, _) => Epc::Unstated,
            (false, true) => Epc::At(trap.epc),
            (false, false) => Epc::Unknown,
        },
        required,
    }
}

fn reported(scenario: &Scenario, log: &Log<RiscvEtrace>) -> Result<Vec<Observation>, Mismatch> {
    let mut observations = Vec::new();
    let (mut privilege, mut context) = (u8::MAX, None);
    for (_, entry) in &log.entries {
        let Entry::Event(event) = entry else { continue };
        match *event {
            Event::Context { privilege: level, context: value, precise: true } => {
                (privilege, context) = (level, value);
            }
            Event::Context { .. } | Event::Time { .. } | Event::Data(_) => {}
            Event::Stop { .. } => observations.push(Observation::Gap),
            Event::Trap { interrupt, cause, tval, epc } => {
                observations.push(Observation::Trap { interrupt, cause, tval, epc, required: false });
            }
            Event::Retire { first, end, count } => {
                let mut address = first;
                for _ in 0..count {
                    let Some(instruction) = scenario.program.at(address.0) else {
                        return Err(Mismatch {
                            after: observations.len(),
                            expected: String::from("an instruction of the program"),
                            got: format!("{event:x?}"),
                        });
                    };
                    observations.push(Observation::Retire { address: address.0, privilege, context });
                    address = Address(
                        (address.wrapping_add(instruction.size())).0 & scenario.parameters.address_mask(),
                    );
                }
                if address != end {
                    return Err(Mismatch {
                        after: observations.len(),
                        expected: format!("a run that ends at {address:#x}"),
                        got: format!("{event:x?}"),
                    });
                }
            }
            _ => {
                return Err(Mismatch {
                    after: observations.len(),
                    expected: String::from("an event that the oracle knows"),
                    got: format!("{event:x?}"),
                });
            }
        }
    }
    Ok(observations)
}

/// Whether a report satisfies what is expected.
fn agrees(expected: &Observation, got: &Observation) -> bool {
    match (expected, got) {
        (
            Observation::Trap { interrupt, cause, tval, epc, .. },
            Observation::Trap { interrupt: i, cause: c, tval: t, epc: e, .. },
        ) => {
            let epc_agrees = match (epc, e) {
                (Epc::At(expected), Epc::At(got)) => expected == got,
                (Epc::At(_), _) => false,
                _ => true,
            };
            (interrupt, cause, tval) == (i, c, t) && epc_agrees
        }
        _ => expected == got,
    }
}

fn compare(expected: &[Observation], got: &[Observation]) -> Result<(), Mismatch> {
    let got: Vec<Observation> = got.iter().copied().filter(|o| *o != Observation::Gap).collect();
    let (mut wanted, mut reported) = (expected, got.as_slice());
    loop {
        let (wanted_traps, wanted_rest) = traps_in_front(wanted);
        let (reported_traps, reported_rest) = traps_in_front(reported);
        let matched = got.len() - reported.len();
        if !satisfied(wanted_traps, reported_traps) {
            return Err(mismatch(matched, wanted.first(), reported.first()));
        }
        match (wanted_rest.split_first(), reported_rest.split_first()) {
            (None, None) => return Ok(()),
            (Some((a, wanted_rest)), Some((b, reported_rest))) if agrees(a, b) => {
                (wanted, reported) = (wanted_rest, reported_rest);
            }
            (a, b) => {
                return Err(mismatch(matched + reported_traps.len(), a.map(|(a, _)| a), b.map(|(b, _)| b)));
            }
        }
    }
}

/// Cuts before the first retirement.
fn traps_in_front(observations: &[Observation]) -> (&[Observation], &[Observation]) {
    let traps = observations.iter().take_while(|o| matches!(o, Observation::Trap { .. })).count();
    observations.split_at(traps)
}

/// Whether the reported traps are some of the wanted ones, in order, and all required ones among them.
fn satisfied(wanted: &[Observation], reported: &[Observation]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return reported.is_empty() };
    let used =
        reported.split_first().is_some_and(|(got, others)| agrees(first, got) && satisfied(rest, others));
    used || (!matches!(first, Observation::Trap { required: true, .. }) && satisfied(rest, reported))
}

/// Every stretch between gaps must be found in the execution, in order.
fn compare_stretches(expected: &[Observation], got: &[Observation]) -> Result<(), Mismatch> {
    let retired = |observations: &[Observation]| -> Vec<Observation> {
        observations.iter().copied().filter(|o| matches!(o, Observation::Retire { .. })).collect()
    };
    let execution = retired(expected);
    let mut from = 0;
    for stretch in got.split(|observation| *observation == Observation::Gap) {
        let stretch = retired(stretch);
        if stretch.is_empty() {
            continue;
        }
        let found = execution
            .get(from..)
            .and_then(|rest| rest.windows(stretch.len()).position(|window| window == stretch));
        match found {
            Some(offset) => from += offset + stretch.len(),
            None => return Err(mismatch(from, execution.get(from), stretch.first())),
        }
    }
    Ok(())
}

fn mismatch(after: usize, expected: Option<&Observation>, got: Option<&Observation>) -> Mismatch {
    let show = |observation: Option<&Observation>| {
        observation.map_or_else(|| String::from("the end"), |observation| format!("{observation:x?}"))
    };
    Mismatch { after, expected: show(expected), got: show(got) }
}
