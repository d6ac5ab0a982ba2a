//! A whole scenario: parameters, policy, program and run.

use std::fmt;

use traceproof_vectors::arm_etm::{Architecture, Parameters, Policy, Stimulus, TagChoice, VectorBase};

use super::GeneratedProgram;
use super::run::{Happenings, Walk};
use crate::generate::Entropy;

/// Everything that a round trip needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What encoder and decoder know.
    pub parameters: Parameters,
    /// The encoder's choices.
    pub policy: Policy,
    /// The code.
    pub program: GeneratedProgram,
    /// The run.
    pub cycles: Vec<Stimulus>,
}

/// The scenario that `bytes` stand for, for a macrocell of `architecture`: 2 or 3.
///
/// The same bytes give the same run for both, as far as they know the same things.
#[must_use]
pub fn scenario(bytes: &[u8], architecture: Architecture) -> Scenario {
    let entropy = &mut Entropy::new(bytes);
    let parameters = parameters(entropy, architecture);
    let mut policy = policy(entropy, architecture);
    if parameters.data_only {
        // Without instructions between them the suppressed transfers cannot be determined.
        policy.suppress_below = 0;
    }
    let vectors = (architecture == Architecture::V2).then_some(parameters.hivecs);
    let happenings = Happenings { m_profile: parameters.m_profile, vectors, ..happenings(entropy) };
    let program = GeneratedProgram::generate(entropy, parameters.m_profile);
    let length = entropy.pick(&[60, 240, 600]);
    let cycles = Walk::run(&program, entropy, happenings, length);
    Scenario { parameters, policy, program, cycles }
}

fn parameters(entropy: &mut Entropy<'_>, architecture: Architecture) -> Parameters {
    let (data_value, data_address) = entropy.pick(&[
        (true, true),
        (true, true),
        (true, true),
        (true, false),
        (false, true),
        (false, false),
    ]);
    let v3 = architecture == Architecture::V3;
    let minor = entropy.pick(&[5, 5, 4, 2, 3, 0, 1]);
    let [width, broadcast, context, accurate, latency] = std::array::from_fn(|_| entropy.byte());
    let [alternative, single, stamps, long, gray, vmid] = std::array::from_fn(|_| entropy.chance(128));
    let [bare, data_only] = std::array::from_fn(|_| entropy.chance(32));
    let bases = [VectorBase::Low, VectorBase::Low, VectorBase::High, VectorBase::Unknown];
    let hivecs = if v3 { VectorBase::Low } else { bases[usize::from(latency >> 6)] };
    let m_profile = entropy.chance(80) && v3 && minor >= 4;
    let data_only = v3 && data_only && minor >= 1 && (data_value || data_address);
    Parameters {
        architecture,
        minor: if v3 { minor } else { minor & 1 },
        port_width: [8, 16, 8, 4][usize::from(width >> 6)],
        data_value,
        data_address,
        branch_broadcast: broadcast > 200,
        context_id_bytes: [0, 1, 2, 4][usize::from(context & 3)],
        // Without instructions no packet carries cycles.
        cycle_accurate: accurate > 128 && !data_only,
        data_only,
        bare_port: v3 && bare,
        fifo_latency: latency & 1,
        hivecs,
        alternative_branches: v3 && alternative && minor >= 4,
        thumb32_single: single,
        timestamps: v3 && stamps && minor >= 5,
        timestamp_bits: if long { 64 } else { 48 },
        timestamp_gray: gray,
        vmid: v3 && vmid && minor >= 5,
        virtualization: v3 && vmid && minor >= 5 && !m_profile,
        m_profile,
        ..Parameters::default()
    }
}

fn policy(entropy: &mut Entropy<'_>, architecture: Architecture) -> Policy {
    let v3 = architecture == Architecture::V3;
    let size = entropy.byte();
    let [narrow, suppress, each, late_count, round] = std::array::from_fn(|_| entropy.chance(64));
    let [values, addresses] = std::array::from_fn(|_| entropy.chance(48));
    Policy {
        fifo_size: if v3 {
            [255, 64, 96][usize::from(size % 3)]
        } else {
            [111, 24, 48][usize::from(size % 3)]
        },
        sync_period: entropy.pick(&[0, 100, 37, 400]),
        port_bytes: if narrow { 1 } else { 4 },
        suppress_below: if suppress { 40 } else { 0 },
        pack_atoms: !each,
        count_in_sync: !late_count,
        tags: if round { TagChoice::RoundRobin } else { TagChoice::Lowest },
        minimal_values: !values,
        minimal_addresses: !addresses,
        ..Policy::default()
    }
}

/// From a quiet run to one in which everything happens.
fn happenings(entropy: &mut Entropy<'_>) -> Happenings {
    let many = |entropy: &mut Entropy<'_>, rates: &[u8]| entropy.pick(rates);
    Happenings {
        misses: many(entropy, &[128, 220, 0]),
        // Hit under one miss; or several, answered in any order.
        outstanding: entropy.pick(&[1, 3]),
        returns: many(entropy, &[60, 20, 140]),
        filter: many(entropy, &[0, 8, 32]),
        view: many(entropy, &[0, 10, 40]),
        exceptions: many(entropy, &[0, 6, 30]),
        debug: many(entropy, &[0, 0, 6]),
        resets: many(entropy, &[0, 0, 4]),
        contexts: many(entropy, &[0, 8]),
        triggers: many(entropy, &[0, 8]),
        timestamps: many(entropy, &[0, 16]),
        waits: many(entropy, &[20, 100, 0]),
        folds: many(entropy, &[0, 128]),
        states: entropy.chance(128),
        big_endian: entropy.chance(64),
        m_profile: false,
        vectors: None,
    }
}

/// A listing for people.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.parameters)?;
        writeln!(f, "{:?}", self.policy)?;
        for item in
            self.program.arm.iter().chain(&self.program.thumb).chain(self.program.vectors.iter().flatten())
        {
            writeln!(f, "{:#x}: {:?} {:?}", item.address, item.isa, item.kind)?;
        }
        for (index, cycle) in self.cycles.iter().enumerate() {
            if *cycle
                != (Stimulus { timestamp: cycle.timestamp, ..self.cycles[index.saturating_sub(1)].clone() })
            {
                writeln!(f, "{index}: {}", show(cycle))?;
            }
        }
        Ok(())
    }
}

fn show(cycle: &Stimulus) -> String {
    let mut text = String::new();
    for (set, name) in [
        (cycle.trace_enable, "trace"),
        (cycle.view_data, "view"),
        (cycle.debug, "debug"),
        (cycle.reset, "reset"),
        (cycle.trigger, "trigger"),
        (cycle.exception_entry, "entry"),
        (cycle.non_secure, "ns"),
    ] {
        if set {
            text += name;
            text.push(' ');
        }
    }
    if let Some(at) = &cycle.instruction {
        text += &format!("{:#x}{} ", at.address, if at.executed { "E" } else { "N" });
        if let Some(phantom) = at.phantom {
            text += &format!("behind {:#x} taken {} ", phantom.address, phantom.taken);
        }
        if let Some(to) = at.branch {
            text += &format!("-> {:#x} {:?} direct {} {:?} ", to.address, to.isa, to.direct, to.exception);
        }
    }
    for transfer in &cycle.transfers {
        text += &format!(
            "[{:#x} {:?} {:#x} {:?}{}] ",
            transfer.address,
            transfer.access,
            transfer.value,
            transfer.position,
            if transfer.wide { " wide" } else { "" }
        );
    }
    for answer in &cycle.returns {
        text += &format!("({} = {:#x}) ", answer.miss, answer.value);
    }
    if let Some(context_id) = cycle.context_id {
        text += &format!("context {context_id:#x}");
    }
    text
}
