//! Under which parameters does an execution travel?

use traceproof_encoder_model::riscv_etrace::Retirement;
use traceproof_vectors::riscv_etrace::{
    Compression, InterruptReport, Mode, Parameters, Policy, SyncMode, Xlen,
};

use super::{Environment, ShippedProgram, TriggerPeriod};

/// Everything about a round trip except the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Of encoder and decoder.
    pub parameters: Parameters,
    /// Of the encoder.
    pub policy: Policy,
    /// How the hart shows its instructions to the encoder.
    pub retirement: Retirement,
    /// What is added to the execution.
    pub environment: Environment,
}

impl Setup {
    /// The plainest encoder for a hart: delta addresses and nothing optional, one instruction per cycle.
    #[must_use]
    pub fn plain(xlen: Xlen) -> Self {
        let iaddress_width_p = match xlen {
            Xlen::Rv32 => 32,
            Xlen::Rv64 => 64,
        };
        Self {
            parameters: Parameters { xlen, iaddress_width_p, ..Parameters::default() },
            policy: Policy::default(),
            retirement: Retirement::Single,
            environment: Environment::default(),
        }
    }
}

/// The name of the set that consists of parameters from outside.
pub const OWN_SET: &str = "own";

impl Setup {
    /// What parameters from outside make of a program; `None` if they are for another hart, or leave out handler
    /// addresses that this program does not have in one place.
    ///
    /// Where handlers are is the program's affair and not the encoder's. Context and time change if packets carry them.
    #[must_use]
    pub fn under(parameters: &Parameters, program: &ShippedProgram) -> Option<Self> {
        if parameters.xlen != program.xlen {
            return None;
        }
        let mut setup = Self { parameters: parameters.clone(), ..Self::plain(program.xlen) };
        if parameters.modes.implicit_exception {
            setup.parameters.trap_vectors = Some(program.trap_vectors?);
        }
        if parameters.retires_p > 1 {
            setup.retirement = Retirement::Blocks { max_halfwords: 2 * u32::from(parameters.retires_p) };
        }
        if !parameters.nocontext_p {
            setup.environment.context_period = 769;
        }
        if !parameters.notime_p {
            setup.environment.time_per_step = 3;
        }
        Some(setup)
    }
}

/// A named way from the plain setup to another one.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSet {
    /// Its name in reports and filters.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    change: fn(&mut Setup, &ShippedProgram) -> Option<()>,
}

impl ParameterSet {
    /// The setup for a program; `None` if the set makes no sense for it.
    #[must_use]
    pub fn setup(&self, program: &ShippedProgram) -> Option<Setup> {
        let mut setup = Setup::plain(program.xlen);
        (self.change)(&mut setup, program)?;
        Some(setup)
    }

    /// The set of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|set| set.name == name)
    }

    /// Every set.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "delta",
            about: "the mandatory minimum: differential addresses",
            change: |_, _| Some(()),
        },
        Self { name: "full_address", about: "absolute addresses", change: full_address },
        Self { name: "wide_fields", about: "16-bit ecause, 3-bit privilege", change: wide_fields },
        Self {
            name: "context_time",
            about: "context and time in packets, precise context changes",
            change: context_time,
        },
        Self {
            name: "resync_packets",
            about: "resynchronisation every 16 packets",
            change: |s, _| resync(s, SyncMode::Packets, 0),
        },
        Self {
            name: "resync_cycles",
            about: "resynchronisation every 256 cycles",
            change: |s, _| resync(s, SyncMode::Cycles, 4),
        },
        Self {
            name: "resync_half_words",
            about: "resynchronisation every 64 half-words",
            change: |s, _| resync(s, SyncMode::HalfWords, 2),
        },
        Self { name: "blocks", about: "block retirement, up to 64 instructions a cycle", change: blocks },
        Self { name: "groups", about: "four small blocks a cycle", change: groups },
        Self {
            name: "uncompressed",
            about: "only payloads that must be compressed are",
            change: uncompressed,
        },
        Self { name: "triggers", about: "trace-off and trace-on pulses", change: |s, _| triggers(s, 97, 53) },
        Self {
            name: "triggers_single",
            about: "trace-off and trace-on pulses at every step",
            change: |s, _| triggers(s, 1, 1),
        },
        Self { name: "notify", about: "a trigger asks for a report every 61 instructions", change: notify },
        Self {
            name: "interrupt_separate",
            about: "interrupts after updiscons reported like exceptions",
            change: interrupt_separate,
        },
        Self { name: "itype3", about: "3-bit itype", change: itype3 },
        Self {
            name: "everything",
            about: "blocks, context, time, filters, triggers and resynchronisation at once",
            change: everything,
        },
        Self { name: "implicit_exception", about: "no handler addresses", change: implicit_exception },
        Self { name: "branch_prediction", about: "a predictor of 512 entries", change: branch_prediction },
        Self { name: "jump_target_cache", about: "a cache of 32 targets", change: jump_target_cache },
        Self {
            name: "return_stack",
            about: "returns inferred from a stack of 16 addresses",
            change: return_stack,
        },
        Self {
            name: "call_counter",
            about: "returns inferred from a counter of calls",
            change: call_counter,
        },
        Self { name: "sijump", about: "jumps inferred after lui and auipc", change: sijump },
    ];
}

fn full_address(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.modes.full_address = true;
    Some(())
}

fn wide_fields(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.ecause_width_p = 16;
    setup.parameters.privilege_width_p = 3;
    Some(())
}

fn context_time(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    let parameters = &mut setup.parameters;
    (parameters.nocontext_p, parameters.context_width_p) = (false, 20);
    (parameters.notime_p, parameters.time_width_p) = (false, 40);
    setup.environment.context_period = 769;
    setup.environment.time_per_step = 3;
    Some(())
}

fn resync(setup: &mut Setup, mode: SyncMode, max: u8) -> Option<()> {
    setup.policy.sync_mode = mode;
    setup.policy.sync_max = max;
    Some(())
}

fn blocks(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.retires_p = 64;
    setup.retirement = Retirement::Blocks { max_halfwords: 128 };
    Some(())
}

fn groups(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.retires_p = 3;
    setup.retirement = Retirement::Groups { groups: 4, max_halfwords: 6 };
    Some(())
}

fn uncompressed(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.policy.compression = Compression::Mandatory;
    Some(())
}

fn triggers(setup: &mut Setup, on: u64, off: u64) -> Option<()> {
    setup.environment.triggers = Some(TriggerPeriod { on, off });
    Some(())
}

fn notify(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.environment.notify_period = 61;
    Some(())
}

fn interrupt_separate(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.policy.interrupt_report = InterruptReport::Separate;
    Some(())
}

fn itype3(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.itype_width_p = 3;
    Some(())
}

fn everything(setup: &mut Setup, program: &ShippedProgram) -> Option<()> {
    blocks(setup, program)?;
    context_time(setup, program)?;
    notify(setup, program)?;
    triggers(setup, 4001, 13)?;
    resync(setup, SyncMode::Packets, 2)?;
    setup.policy.support_at_disable = true;
    Some(())
}

fn implicit_exception(setup: &mut Setup, program: &ShippedProgram) -> Option<()> {
    setup.parameters.trap_vectors = Some(program.trap_vectors?);
    setup.parameters.modes.implicit_exception = true;
    Some(())
}

fn branch_prediction(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.bpred_size_p = 9;
    setup.parameters.modes.branch_prediction = true;
    Some(())
}

fn jump_target_cache(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.cache_size_p = 5;
    setup.parameters.modes.jump_target_cache = true;
    Some(())
}

fn return_stack(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.return_stack_size_p = 4;
    setup.parameters.modes.implicit_return = true;
    Some(())
}

fn call_counter(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.call_counter_size_p = 4;
    setup.parameters.modes.implicit_return = true;
    Some(())
}

fn sijump(setup: &mut Setup, _: &ShippedProgram) -> Option<()> {
    setup.parameters.sijump_p = true;
    setup.parameters.modes.sijump = true;
    setup.parameters.support.ioptions.push(Mode::SequentiallyInferredJumps);
    Some(())
}
