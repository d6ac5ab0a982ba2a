//! A whole scenario: parameters, policy, program and execution.

use std::fmt;

use traceproof_vectors::riscv_etrace::{
    Compression, InterruptReport, Modes, Parameters, Policy, Step, SyncMode, TrapVectors, Xlen,
};

use super::GeneratedProgram;
use super::execution::{Happenings, Returns, Walk};
use crate::generate::Entropy;

/// Everything that a round trip needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The encoder's constants and initial modes.
    pub parameters: Parameters,
    /// The encoder's control fields and choices.
    pub policy: Policy,
    /// The code.
    pub program: GeneratedProgram,
    /// The execution, from enabling the trace on.
    pub steps: Vec<Step>,
}

/// Most steps of an execution.
const MOST_STEPS: usize = 400;

/// Which modes a scenario may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Delta and full address mode only.
    Core,
    /// Any mixture of the optional modes.
    Modes,
}

/// The scenario that `bytes` stand for.
#[must_use]
pub fn scenario(bytes: &[u8], scope: Scope) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let compressed = entropy.chance(160);
    let wide = entropy.chance(96);
    let modes = modes(entropy, scope);
    let mut parameters = parameters(entropy, modes, compressed, wide);
    let policy = policy(entropy);
    let base = base_address(entropy, parameters.iaddress_width_p);
    if parameters.modes.implicit_exception {
        parameters.trap_vectors = Some(TrapVectors { base, vectored: false });
    }
    let happenings = happenings(entropy, &parameters);
    let program = GeneratedProgram::generate(entropy, base, compressed);
    let length = 2 + entropy.below(MOST_STEPS);
    let steps = Walk::run(&program, entropy, happenings, length);
    Scenario { parameters, policy, program, steps }
}

fn parameters(entropy: &mut Entropy<'_>, modes: Modes, compressed: bool, wide: bool) -> Parameters {
    let iaddress_width_p = if wide { entropy.pick(&[64, 48, 40]) } else { entropy.pick(&[32, 32, 24]) };
    let defaults = Parameters::default();
    // A call counter or a return stack; both together only sometimes.
    let (stack, counter) = match (modes.implicit_return, entropy.below(3)) {
        (false, _) => (entropy.pick(&[0, 0, 3]), 0),
        (true, 0) => (entropy.pick(&[3, 1]), 0),
        (true, 1) => (0, entropy.pick(&[3, 1])),
        (true, _) => (2, 2),
    };
    Parameters {
        xlen: if wide { Xlen::Rv64 } else { Xlen::Rv32 },
        iaddress_width_p,
        iaddress_lsb_p: if compressed { 1 } else { entropy.pick(&[2, 1]) },
        ecause_width_p: entropy.pick(&[4, 5, 6]),
        nocontext_p: !entropy.chance(64),
        context_width_p: entropy.pick(&[8, 1, 16, 32]),
        notime_p: !entropy.chance(32),
        time_width_p: entropy.pick(&[16, 32, 40]),
        retires_p: entropy.pick(&[1, 2, 4]),
        itype_width_p: if modes.implicit_return { 4 } else { entropy.pick(&[4, 4, 3]) },
        bpred_size_p: if modes.branch_prediction { entropy.pick(&[1, 4]) } else { 0 },
        cache_size_p: if modes.jump_target_cache { entropy.pick(&[5, 2]) } else { 0 },
        f0s_width_p: u8::from(modes.branch_prediction && modes.jump_target_cache) + entropy.pick(&[0, 1]),
        return_stack_size_p: stack,
        call_counter_size_p: counter,
        sijump_p: modes.sijump,
        modes,
        ..defaults
    }
}

/// In [`Scope::Modes`] half of the scenarios have no optional mode, the others any mixture.
fn modes(entropy: &mut Entropy<'_>, scope: Scope) -> Modes {
    let full_address = entropy.chance(64);
    if scope == Scope::Core || !entropy.chance(128) {
        return Modes { full_address, ..Modes::default() };
    }
    Modes {
        full_address,
        implicit_return: entropy.chance(96),
        implicit_exception: entropy.chance(96),
        jump_target_cache: entropy.chance(96),
        branch_prediction: entropy.chance(96),
        sijump: entropy.chance(96),
    }
}

fn policy(entropy: &mut Entropy<'_>) -> Policy {
    Policy {
        sync_mode: entropy.pick(&[
            SyncMode::Off,
            SyncMode::Off,
            SyncMode::Packets,
            SyncMode::Cycles,
            SyncMode::HalfWords,
        ]),
        sync_max: 0,
        interrupt_report: entropy.pick(&[InterruptReport::Handler, InterruptReport::Separate]),
        compression: entropy.pick(&[Compression::Minimal, Compression::Minimal, Compression::Mandatory]),
        support_at_disable: entropy.chance(64),
    }
}

/// Low, in the middle, and at the top of the address space, where differences wrap around.
fn base_address(entropy: &mut Entropy<'_>, width: u8) -> u64 {
    let mask = u64::MAX >> (64 - u32::from(width));
    entropy.pick(&[0x1000, 0, mask >> 1, mask - 0x3ff, mask & 0xffff_ffff_8000_0000]) & !0xff & mask
}

fn happenings(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Happenings {
    let context = if parameters.nocontext_p { 0 } else { entropy.pick(&[12, 0]) };
    let returns = match (parameters.modes.implicit_return, parameters.return_stack_size_p) {
        // A call counter trusts the program (ET 3.2.5).
        (true, 0) => Returns::Always,
        _ => entropy.pick(&[Returns::Mostly, Returns::Anywhere]),
    };
    Happenings {
        one_handler: parameters.modes.implicit_exception,
        returns,
        traps: entropy.pick(&[0, 8, 48]),
        notify: entropy.pick(&[0, 0, 24]),
        filter: entropy.pick(&[0, 0, 0, 16]),
        transport: entropy.pick(&[0, 0, 0, 8]),
        context,
        time: !parameters.notime_p,
        privileges: entropy.pick(&[&[3][..], &[3, 0], &[3, 1, 0]]),
        contexts: 1 << parameters.context_width_p.min(8),
        causes: 1 << parameters.ecause_width_p,
        tval_mask: parameters.address_mask(),
    }
}

/// A listing for people: what differs from the defaults, the code, the steps.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameters: p, policy, program, steps } = self;
        writeln!(
            f,
            "parameters: {:?} iaddress {}:{} ecause {} context {} time {} retires {} itype {} {:?}",
            p.xlen,
            p.iaddress_width_p,
            p.iaddress_lsb_p,
            p.ecause_width_p,
            p.context_width(),
            p.time_width(),
            p.retires_p,
            p.itype_width_p,
            p.modes
        )?;
        writeln!(f, "policy: {policy:?}")?;
        for (address, instruction) in &program.instructions {
            let size = if instruction.compressed { "c." } else { "" };
            writeln!(f, "{address:#x}: {size}{:?}", instruction.kind)?;
        }
        for step in steps {
            match step {
                Step::Retire(retire) => {
                    write!(f, "retire {:#x} privilege {}", retire.address, retire.privilege)?;
                    let notes = [
                        (retire.taken == Some(true), "taken"),
                        (retire.notify, "notify"),
                        (!retire.qualified, "unqualified"),
                    ];
                    for (_, note) in notes.iter().filter(|(holds, _)| *holds) {
                        write!(f, " {note}")?;
                    }
                    if retire.ctype > 0 {
                        write!(f, " context {:#x} ctype {}", retire.context, retire.ctype)?;
                    }
                    writeln!(f)?;
                }
                Step::Trap(trap) => {
                    let kind = if trap.interrupt { "interrupt" } else { "exception" };
                    let note = if trap.qualified { "" } else { " unqualified" };
                    writeln!(f, "{kind} {} epc {:#x}{note}", trap.cause, trap.epc)?;
                }
                Step::Stimulus(stimulus) => writeln!(f, "{stimulus:?}")?,
            }
        }
        Ok(())
    }
}
