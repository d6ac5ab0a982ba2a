//! A whole scenario: parameters, policy, program and execution.

use std::fmt;

use traceproof_vectors::riscv_etrace::{
    AddressRange, CauseRange, Compression, DataCompression, DataLayout, DataLength, DataParameters,
    DataPolicy, Encapsulation, Filter, InterruptReport, IretsLimit, Modes, NormalEncapsulation,
    OfferedCompression, Parameters, Policy, Step, SyncMode, TrapFilter, TrapVectors, Version, Xlen,
};

use super::accesses::DataHappenings;
use super::execution::{Handlers, Happenings, Returns, Walk};
use super::program::Flavour;
use super::{GeneratedProgram, Kind, Qualification};
use crate::generate::Entropy;
use traceproof_vectors::Address;

/// Everything that a round trip needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The encoder's constants and initial modes.
    pub parameters: Parameters,
    /// The encoder's control fields and choices.
    pub policy: Policy,
    /// The code.
    pub program: GeneratedProgram,
    /// The execution, from enabling the trace to disabling it.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// Whether each step is traced, as far as filters and triggers go.
    #[must_use]
    pub fn qualified(&self) -> Vec<bool> {
        let returns_from_trap =
            |address| self.program.at(address).is_some_and(|found| found.kind == Kind::TrapReturn);
        Qualification::of_all(&self.policy, &self.steps, returns_from_trap)
    }
}

/// Which modes a scenario may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Delta and full address mode only.
    Core,
    /// Any mixture of the optional modes.
    Modes,
    /// Data trace, with or without the optional modes.
    Data,
}

/// The scenario that `bytes` stand for.
#[must_use]
pub fn scenario(bytes: &[u8], scope: Scope) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let compressed = entropy.chance(160);
    let wide = entropy.chance(96);
    let modes = modes(entropy, scope);
    let mut parameters = parameters(entropy, modes, compressed, wide);
    let mut policy = policy(entropy);
    // Drawn apart, so that executions of version 2.0 do not depend on it.
    let later = &mut Entropy::new(bytes.get(bytes.len() / 3..).unwrap_or_default());
    if scope != Scope::Core && later.chance(64) {
        version_205(later, &mut parameters, &mut policy);
    }
    let base = base_address(entropy, parameters.iaddress_width_p);
    if parameters.modes.implicit_exception {
        parameters.trap_vectors = Some(TrapVectors { base: Address(base), vectored: entropy.chance(128) });
    }
    let flavour = flavour(entropy, parameters.modes);
    if flavour == Flavour::Branches {
        // So that a synchronisation meets long runs of branches.
        policy.sync_max += 3;
    }
    let mut happenings = happenings(entropy, &parameters, flavour);
    // Drawn apart, so that executions without filters do not depend on it.
    let apart = &mut Entropy::new(bytes.get(bytes.len() / 2..).unwrap_or_default());
    if apart.chance(24) {
        policy.filters = filters(apart, base);
    }
    let counts_calls =
        parameters.call_counter_size_p > 0 && parameters.return_stack_size_p == 0 && !parameters.iret_ext;
    parameters.call_counter_fits_irdepth = counts_calls && bytes.last().is_some_and(|byte| byte % 4 == 3);
    if scope == Scope::Data {
        data_trace(entropy, &mut parameters, &mut policy, &mut happenings);
    }
    let program = GeneratedProgram::generate(entropy, base, compressed, flavour);
    let most_steps =
        entropy.pick(if flavour == Flavour::Branches { &[400, 1600][..] } else { &[100, 400, 1600] });
    let length = 2 + entropy.below(most_steps);
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
        bpred_size_p: if modes.branch_prediction { entropy.pick(&[6, 4, 6, 1]) } else { 0 },
        cache_size_p: if modes.jump_target_cache { entropy.pick(&[5, 2]) } else { 0 },
        f0s_width_p: u8::from(modes.branch_prediction && modes.jump_target_cache) + entropy.pick(&[0, 1]),
        return_stack_size_p: stack,
        call_counter_size_p: counter,
        sijump_p: modes.sijump,
        modes,
        ..defaults
    }
}

fn modes(entropy: &mut Entropy<'_>, scope: Scope) -> Modes {
    let full_address = entropy.chance(64);
    if scope == Scope::Core || scope == Scope::Data && entropy.chance(160) {
        return Modes { full_address, ..Modes::default() };
    }
    Modes {
        full_address,
        implicit_return: entropy.chance(112),
        implicit_exception: entropy.chance(112),
        jump_target_cache: entropy.chance(112),
        branch_prediction: entropy.chance(112),
        sijump: entropy.chance(112),
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
        sync_max: entropy.pick(&[0, 2, 5]),
        interrupt_report: entropy.pick(&[InterruptReport::Handler, InterruptReport::Separate]),
        compression: entropy.pick(&[Compression::Minimal, Compression::Minimal, Compression::Mandatory]),
        support_at_disable: entropy.chance(64),
        ..Policy::default()
    }
}

/// What version 2.0.5 adds to instruction trace. `irets` always counts a predicted return: only then no execution is
/// ambiguous (reading `irets-counts-the-predicted-return`).
fn version_205(entropy: &mut Entropy<'_>, parameters: &mut Parameters, policy: &mut Policy) {
    parameters.version = Version::V2_0_5;
    parameters.time_width_p = entropy.pick(&[16, 32, 48, 64]);
    parameters.vendor_bits = entropy.pick(&[0, 0, 1, 6, 20]);
    parameters.iret_ext = entropy.chance(176);
    policy.other = entropy.word() & ((1 << parameters.vendor_bits) - 1);
    policy.irets_limit = entropy.pick(&[IretsLimit::At255, IretsLimit::At255, IretsLimit::At254]);
    parameters.resync_disabled_keeps_state = entropy.chance(64);
    if parameters.resync_disabled_keeps_state && entropy.chance(192) {
        // Without a period resynchronisation is disabled.
        policy.sync_mode = SyncMode::Off;
    }
}

/// Low, in the middle, and at the top of the address space, where differences wrap around.
fn base_address(entropy: &mut Entropy<'_>, width: u8) -> u64 {
    let mask = u64::MAX >> (64 - u32::from(width));
    entropy.pick(&[0x1000, 0, mask >> 1, mask - 0x3ff, mask & 0xffff_ffff_8000_0000]) & !0xff & mask
}

/// Predictions need more branches in a row than come by chance.
fn flavour(entropy: &mut Entropy<'_>, modes: Modes) -> Flavour {
    let any = entropy.pick(&[Flavour::Mixed, Flavour::Branches, Flavour::Calls, Flavour::Jumps]);
    if modes.branch_prediction && entropy.chance(96) { Flavour::Branches } else { any }
}

fn happenings(entropy: &mut Entropy<'_>, parameters: &Parameters, flavour: Flavour) -> Happenings {
    let context = if parameters.nocontext_p { 0 } else { entropy.pick(&[12, 0]) };
    let returns = match (parameters.modes.implicit_return, parameters.return_stack_size_p) {
        // A call counter trusts the program (ET 3.2.5).
        (true, 0) => Returns::Always,
        // So that there is something to count.
        (true, _) if parameters.iret_ext => Returns::Mostly,
        _ => entropy.pick(&[Returns::Mostly, Returns::Anywhere]),
    };
    let handlers = match parameters.trap_vectors {
        None => Handlers::Anywhere,
        Some(TrapVectors { vectored: false, .. }) => Handlers::One,
        Some(TrapVectors { vectored: true, .. }) => Handlers::Vectored,
    };
    let stack = parameters.modes.implicit_return && parameters.return_stack_size_p > 0;
    // The support packet of the reference layout does not announce `sijump`, the standard one does.
    let others = Modes {
        full_address: !parameters.modes.full_address,
        sijump: parameters.modes.sijump && !parameters.has_standard_support(),
        ..Modes::default()
    };
    let quiet = Happenings {
        handlers,
        returns,
        return_stack: stack.then(|| 1 << parameters.return_stack_size_p),
        irets: parameters.iret_ext,
        whim: entropy.pick(if flavour == Flavour::Branches { &[4, 8, 2, 1] } else { &[128, 24, 3, 1] }),
        either: [parameters.modes, others],
        time: !parameters.notime_p,
        privileges: entropy.pick(&[&[3][..], &[3, 0], &[3, 1, 0]]),
        contexts: 1 << parameters.context_width_p.min(8),
        causes: 1 << parameters.ecause_width_p.min(15),
        tval_mask: parameters.address_mask(),
        ..Happenings::default()
    };
    // Long runs of branches without a report come only where nothing else happens.
    if entropy.chance(if flavour == Flavour::Branches { 160 } else { 40 }) {
        return quiet;
    }
    Happenings {
        traps: entropy.pick(&[0, 8, 48]),
        notify: entropy.pick(&[0, 0, 24]),
        triggers: entropy.pick(&[0, 0, 0, 16]),
        transport: entropy.pick(&[0, 0, 0, 8]),
        modes: entropy.pick(&[0, 0, 0, 8]),
        context,
        ..quiet
    }
}

/// One or two filters of any kind, for a program at `base`.
fn filters(entropy: &mut Entropy<'_>, base: u64) -> Vec<Filter> {
    let count = 1 + entropy.below(2);
    (0..count).map(|_| filter(entropy, base)).collect()
}

fn filter(entropy: &mut Entropy<'_>, base: u64) -> Filter {
    let mut filter = Filter::default();
    match entropy.below(5) {
        0 => filter.privileges = vec![entropy.pick(&[3, 0])],
        1 => filter.contexts = (0..4).map(|_| entropy.below(8) as u64).collect(),
        2 => {
            filter.trap =
                Some(TrapFilter { interrupt: entropy.pick(&[None, Some(true)]), ..Default::default() });
        }
        3 => {
            let causes = vec![CauseRange { first: 1, last: entropy.pick(&[3, 9]) }];
            filter.trap = Some(TrapFilter { interrupt: None, causes });
        }
        _ => {
            for _ in 0..=entropy.below(2) {
                let first = base.saturating_add(2 * entropy.below(32) as u64);
                let last = first.saturating_add(1 + 2 * entropy.below(32) as u64);
                filter.addresses.push(AddressRange { first: Address(first), last: Address(last) });
            }
        }
    }
    filter
}

/// Adds data trace to a scenario.
fn data_trace(
    entropy: &mut Entropy<'_>,
    parameters: &mut Parameters,
    policy: &mut Policy,
    happenings: &mut Happenings,
) {
    let data = data_parameters(entropy, parameters.xlen);
    if data.layout == DataLayout::MmaCas && !parameters.has_standard_support() {
        // Its packets come with standard support packets only (RVET5-ENC-002).
        parameters.version = Version::V2_0_5;
        parameters.time_width_p = parameters.time_width_p.next_multiple_of(16);
    }
    let type_bits = if data.source.is_some() { 0 } else { entropy.pick(&[1, 2]) };
    let src_id_bits = if data.source.is_some() { 8 } else { 0 };
    parameters.encapsulation = Encapsulation::Normal(NormalEncapsulation {
        type_bits,
        src_id_bits,
        ..NormalEncapsulation::default()
    });
    parameters.data = Some(data);
    policy.data = DataPolicy {
        compression: entropy.pick(&[
            DataCompression::Shortest,
            DataCompression::Xor,
            DataCompression::Differential,
            DataCompression::FullData,
            DataCompression::Full,
        ]),
        length: entropy.pick(&[DataLength::Minimal, DataLength::Minimal, DataLength::Whole]),
    };
    // Modes that change may hold back what changes with them (RVET-ENC-011).
    happenings.modes = 0;
    happenings.data_alone = entropy.chance(24);
    if happenings.data_alone {
        // Triggers and filters are for instruction trace.
        happenings.triggers = 0;
        policy.filters.clear();
        happenings.transport = 0;
    }
    happenings.data = Some(DataHappenings {
        parameters: data,
        register: if parameters.xlen == Xlen::Rv32 { 2 } else { 3 },
        accesses: entropy.pick(&[128, 64, 200]),
        responses: entropy.pick(&[96, 32, 160]),
        changes: entropy.pick(&[0, 4, 12]),
        losses: entropy.pick(&[0, 0, 0, 8]),
        filtered: entropy.pick(&[0, 0, 24]),
    });
}

fn data_parameters(entropy: &mut Entropy<'_>, xlen: Xlen) -> DataParameters {
    let (layout, dtypes) = if entropy.chance(64) {
        (DataLayout::MmaCas, &[1, 2, 3, 4, 4, 4][..])
    } else {
        (DataLayout::Ratified, &[1, 4, 4, 3][..])
    };
    let data_width_p = match xlen {
        Xlen::Rv32 => entropy.pick(&[32, 32, 8, 16, 64]),
        Xlen::Rv64 => entropy.pick(&[64, 32, 128]),
    };
    let dtype_width_p = entropy.pick(dtypes);
    DataParameters {
        daddress_width_p: if xlen == Xlen::Rv32 { entropy.pick(&[32, 24]) } else { entropy.pick(&[64, 40]) },
        data_width_p,
        // The atomics of 128 bits have packets that no header can count.
        dtype_width_p: if data_width_p == 128 { dtype_width_p.min(3) } else { dtype_width_p },
        layout,
        split: entropy.chance(128),
        lrid_width_p: entropy.pick(&[1, 4, 2]),
        offered: entropy.pick(&[
            OfferedCompression::Both,
            OfferedCompression::Xor,
            OfferedCompression::Differential,
        ]),
        compressed_operands: entropy.chance(48),
        source: entropy.chance(48).then_some(5),
        ..DataParameters::default()
    }
}

/// A listing for people: what differs from the defaults, the code, the steps.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameters: p, policy, program, steps } = self;
        writeln!(
            f,
            "parameters: {:?} iaddress {}:{} ecause {} context {} time {} retires {} itype {}",
            p.xlen,
            p.iaddress_width_p,
            p.iaddress_lsb_p,
            p.ecause_width_p,
            p.context_width(),
            p.time_width(),
            p.retires_p,
            p.itype_width_p
        )?;
        writeln!(
            f,
            "return stack {} call counter {} (fits irdepth: {}) predictor {} cache {} f0s {} {:x?} {:?}",
            p.return_stack_size_p,
            p.call_counter_size_p,
            p.call_counter_fits_irdepth,
            p.bpred_size_p,
            p.cache_size_p,
            p.f0s_width_p,
            p.trap_vectors,
            p.modes
        )?;
        let keeps = p.resync_disabled_keeps_state;
        writeln!(
            f,
            "version {:?} irets {} vendor bits {} keeps {keeps}",
            p.version, p.iret_ext, p.vendor_bits
        )?;
        if let Some(data) = &p.data {
            writeln!(f, "{data:?}")?;
        }
        writeln!(f, "policy: {policy:?}")?;
        for (address, instruction) in &program.instructions {
            let size = if instruction.compressed { "c." } else { "" };
            writeln!(f, "{address:#x}: {size}{:?}", instruction.kind)?;
        }
        let qualified = self.qualified();
        for (step, qualified) in steps.iter().zip(qualified) {
            match step {
                Step::Retire(retire) => {
                    write!(f, "retire {:#x} privilege {}", retire.address, retire.privilege)?;
                    let notes = [
                        (retire.taken == Some(true), "taken"),
                        (retire.notify, "notify"),
                        (!qualified, "unqualified"),
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
                    let note = if qualified { "" } else { " unqualified" };
                    writeln!(f, "{kind} {} epc {:#x}{note}", trap.cause, trap.epc)?;
                }
                Step::Stimulus(stimulus) => writeln!(f, "{stimulus:?}")?,
            }
        }
        Ok(())
    }
}
