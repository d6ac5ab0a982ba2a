//! The steps that write the settings, and what a trace unit does with them.

use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_encoder_model::arm_ete_unit::settings::{Output, Procedure, Setting, TraceRequest};
use traceproof_vectors::arm_ete_unit::{
    Agent, ArmEteUnit, Barrier, DirectWrite, Event, Input, Operation, Packet, Parameters, Policy, Poll,
    ProgrammingState, Register, Reset, Shown, Sink, StatusBit, Stimulus,
};
use traceproof_vectors::{Decoder as _, Fault, Place, Program};

use super::super::procedures::{access, barrier, poll, read, write};
use super::super::{Scenario, Written, log};
use super::check;
use crate::generate::Entropy;

const PROCEDURES: [Procedure; 2] = [Procedure::System, Procedure::External];
const ISB: Stimulus = barrier(Barrier::Isb);
const DSB: Stimulus = barrier(Barrier::Dsb);
const TSB: Stimulus = barrier(Barrier::Tsb);
/// TRCAUTHSTATUS.
const AUTHSTATUS: Register = Register(0xFB8);
/// Bytes of trace in each session.
const BYTES: u32 = 6;

/// The sequences of drivers and debuggers (ETE-PRG-001, ETE-PRG-009, ETE-PRG-010, ETE-ZGJRF-001): each step, in order.
pub(super) fn judge(request: &TraceRequest, unit: &Parameters, settings: &[Setting]) -> Result<(), String> {
    let output = request.output;
    for procedure in PROCEDURES {
        let (enabling, disabling) = match procedure {
            Procedure::System => (driver_enables(unit, settings, output), driver_disables(unit, output)),
            Procedure::External => (debugger_enables(unit, settings), debugger_disables(unit)),
        };
        for (expected, found) in [
            (enabling, procedure.enable(unit, settings, output)),
            (disabling, procedure.disable(unit, output)),
        ] {
            let at = (0..expected.len().max(found.len())).find(|&at| expected.get(at) != found.get(at));
            check(at.is_none(), || {
                let at = at.unwrap_or_default();
                format!("{procedure:?}, step {at}: {:x?}, not {:x?}", found.get(at), expected.get(at))
            })?;
        }
    }
    Ok(())
}

const fn lock(agent: Agent) -> Stimulus {
    Stimulus::Input(Input::OsLock { agent, locked: false })
}

const fn prohibit(prohibited: bool) -> Stimulus {
    Stimulus::Input(Input::TraceFilter { prohibited })
}

const fn buffer(enabled: bool) -> Stimulus {
    Stimulus::Input(Input::TraceBuffer { enabled })
}

/// Unlock; claim, where there is a tag of self-hosted software; EN = 0; poll; program; the sink, then the region, then
/// EN = 1; poll. After direct writes of the OS Lock, claim tags, TRFCR_ELx and EN a context synchronisation event.
fn driver_enables(unit: &Parameters, settings: &[Setting], output: Output) -> Vec<Stimulus> {
    let agent = Agent::System;
    let mut steps = vec![lock(agent), ISB];
    if unit.claim_tags >= 2 {
        let tag = write(agent, Register::CLAIMSET, 2);
        steps.extend([read(agent, Register::CLAIMCLR), tag, ISB, read(agent, Register::CLAIMCLR)]);
    }
    steps.extend([write(agent, Register::PRGCTLR, 0), ISB, poll(agent, StatusBit::Idle, true)]);
    steps.extend(settings.iter().map(|setting| write(agent, setting.register, setting.value)));
    steps.extend(unit.trace_buffer.then_some(buffer(output == Output::TraceBuffer)));
    steps.extend([prohibit(false), ISB, write(agent, Register::PRGCTLR, 1), ISB]);
    steps.extend([poll(agent, StatusBit::Idle, false), DSB, ISB]);
    steps
}

/// Prohibit and flush; EN = 0; poll; flush and disable the sink; release the claim.
fn driver_disables(unit: &Parameters, output: Output) -> Vec<Stimulus> {
    let agent = Agent::System;
    let mut steps = vec![prohibit(true), ISB, DSB, ISB, TSB, write(agent, Register::PRGCTLR, 0), ISB];
    steps.extend([poll(agent, StatusBit::Idle, true), ISB]);
    if output == Output::TraceBuffer {
        steps.extend([TSB, DSB, buffer(false), ISB]);
    }
    if unit.claim_tags >= 2 {
        steps.extend([write(agent, Register::CLAIMCLR, 2), ISB]);
    }
    steps
}

/// Power and lock; claim, where there is a tag of debuggers; EN = 0; poll; program, registers of 64 bits as two words;
/// EN = 1; poll. External accesses need no synchronisation (ETE-SYN-001).
fn debugger_enables(unit: &Parameters, settings: &[Setting]) -> Vec<Stimulus> {
    let agent = Agent::External;
    let mut steps = vec![read(agent, Register::PDSR), lock(agent)];
    if unit.claim_tags >= 1 {
        let tag = write(agent, Register::CLAIMSET, 1);
        steps.extend([read(agent, Register::CLAIMCLR), tag, read(agent, Register::CLAIMCLR)]);
    }
    steps.extend([read(agent, AUTHSTATUS), write(agent, Register::PRGCTLR, 0)]);
    steps.push(poll(agent, StatusBit::Idle, true));
    for setting in settings {
        let (offset, value) = (setting.register.offset(), setting.value);
        steps.push(write(agent, Register(offset), value % (1 << 32)));
        if (0x400..0x680).contains(&offset) {
            steps.push(write(agent, Register(offset + 4), value / (1 << 32)));
        }
    }
    steps.extend([write(agent, Register::PRGCTLR, 1), poll(agent, StatusBit::Idle, false)]);
    steps
}

fn debugger_disables(unit: &Parameters) -> Vec<Stimulus> {
    let agent = Agent::External;
    let mut steps = vec![write(agent, Register::PRGCTLR, 0), poll(agent, StatusBit::Idle, true)];
    steps.extend((unit.claim_tags >= 1).then_some(write(agent, Register::CLAIMCLR, 1)));
    steps
}

/// Two sessions of a trace unit that is programmed so: it goes along, its bytes arrive where they should, and a checker
/// that sees no states finds nothing wrong.
pub(super) fn run(
    entropy: &mut Entropy<'_>,
    request: &TraceRequest,
    unit: &Parameters,
    settings: &[Setting],
) -> Result<(), String> {
    let procedure = entropy.pick(&PROCEDURES);
    let parameters = Parameters { shown: Shown { states: true, ..Shown::default() }, ..unit.clone() };
    let policy = Policy {
        direct_write: entropy.pick(DirectWrite::ALL),
        unknown: entropy.word(),
        unknown_resource_state: entropy.chance(128),
        ..Policy::default()
    };
    // A Cold reset locks the OS Lock.
    let reset = if entropy.chance(128) { Reset::Cold } else { Reset::TraceUnit };
    let mut stimulus = vec![Stimulus::Input(Input::Reset(reset)), ISB];
    if procedure == Procedure::External {
        // A Cold reset prohibits tracing, too. TRFCR_ELx and the trace buffer unit are not the debugger's.
        stimulus.extend([prohibit(false), buffer(request.output == Output::TraceBuffer), ISB]);
    }
    for _ in 0..2 {
        stimulus.extend(procedure.enable(unit, settings, request.output));
        stimulus.extend([Stimulus::Generate { bytes: BYTES }, Stimulus::Drain { bytes: None }]);
        stimulus.extend(procedure.disable(unit, request.output));
    }
    // What was written is there, and the claim tags are free.
    let agent = Agent::System;
    stimulus.extend((procedure == Procedure::External).then_some(ISB));
    stimulus.extend(settings.iter().map(|setting| read(agent, setting.register)));
    stimulus.extend([read(agent, Register::CLAIMCLR), ISB]);
    let made = log(&Scenario { parameters, policy, stimulus }).map_err(|refusal| refusal.to_string())?;
    let answers = settings.iter().map(|setting| (setting.register, setting.value));
    let answers: Vec<_> = answers.chain([(Register::CLAIMCLR, 0)]).collect();
    went_along(&made, request.output, &answers)
        .and_then(|()| nothing_is_wrong(&made, unit))
        .map_err(|error| format!("{procedure:?} for {request:x?} of {unit:?}: {error}"))
}

fn went_along(made: &Written, output: Output, answers: &[(Register, u64)]) -> Result<(), String> {
    let mut states = Vec::new();
    let mut bytes = [0; 16];
    for packet in &made.packets {
        match *packet {
            Packet::State(state) => states.push(state),
            Packet::Poll(Poll { timed_out: true, .. }) => return Err(format!("{packet:?}")),
            Packet::Output { sink: Sink::TraceBuffer, bytes: some } => bytes[15] += some,
            Packet::Output { sink: Sink::Interface(n), bytes: some } => bytes[usize::from(n)] += some,
            _ => {}
        }
    }
    use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};
    let session = [Enabling, Running, Unstable, Stable, Idle];
    let states = states.strip_prefix(&[Idle]).unwrap_or(&states);
    check(states == session.repeat(2), || format!("states {states:?}"))?;
    let (interfaces, trace_buffer) = (bytes[..15].iter().max().copied(), bytes[15]);
    let all = u64::from(2 * BYTES);
    let expected = if output == Output::TraceBuffer { (Some(0), all) } else { (Some(all), 0) };
    check((interfaces, trace_buffer) == expected, || format!("bytes {bytes:?}"))?;
    let read = |&(register, value): &(Register, u64)| {
        let Stimulus::Access(asked) = access(Agent::System, None, Operation::Read, register, Some(value))
        else {
            return None;
        };
        Some(Packet::Access(asked))
    };
    let expected: Vec<_> = answers.iter().filter_map(read).collect();
    let reads = made.packets.iter().filter(|packet| matches!(packet, Packet::Access(_)));
    let mut latest = expected.iter().rev().zip(reads.rev());
    let wrong = latest.find(|(expected, found)| expected != found);
    check(wrong.is_none(), || format!("expected and read: {wrong:x?}"))
}

fn nothing_is_wrong(made: &Written, unit: &Parameters) -> Result<(), String> {
    let hidden = made.without_states();
    let mut decoder = Decoder::default();
    let parameters = Parameters { shown: Shown::default(), ..unit.clone() };
    decoder.begin(&parameters, &Program::new()).map_err(|refusal| refusal.to_string())?;
    let mut found = Findings::default();
    decoder.push(&hidden.wire, &mut found);
    decoder.finish(&mut found);
    found.first.map_or(Ok(()), Err)
}

/// The first thing that a checker finds, notes included.
#[derive(Default)]
struct Findings {
    first: Option<String>,
}

impl traceproof_vectors::Sink<ArmEteUnit> for Findings {
    fn packet(&mut self, _: Place, _: &Packet) {}

    fn event(&mut self, place: Place, event: &Event) {
        if let Event::Finding { .. } = event {
            self.first.get_or_insert_with(|| format!("{event:?} at {place}"));
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.first.get_or_insert_with(|| fault.to_string());
    }
}
