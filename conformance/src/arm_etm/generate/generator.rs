//! The generators as a part of the family.

use traceproof_vectors::arm_etm::{Architecture, ArmEtm};

use super::{Scenario, dissected, encode, round_trip, scenario, v1};
use crate::arm_etm_formatter;
use crate::family::{Generated, Generator};

/// By the first byte: ETMv1, ETMv2, ETMv3, or ETMv3 without data trace, which is all that many decoders have.
pub(in crate::arm_etm) const GENERATOR: Generator<ArmEtm> =
    Generator { generate, confirm, examine, examine_once: || Ok(()) };

fn generate(entropy: &[u8]) -> Option<Generated<ArmEtm>> {
    match Made::of(entropy)? {
        Made::V1(made) => {
            let wire = v1::encode(&made).ok()?.wire;
            let program = made.program.code().ok()?;
            let v1::Scenario { parameters, policy, cycles: execution, .. } = made;
            Some(Generated { parameters, policy, program, execution, wire })
        }
        Made::Later(made) => {
            let wire = encode(&made).ok()?.log.wire;
            let program = made.program.code().ok()?;
            let Scenario { parameters, policy, cycles: execution, .. } = made;
            Some(Generated { parameters, policy, program, execution, wire })
        }
    }
}

fn confirm(entropy: &[u8]) -> Result<(), String> {
    let confirmed = match Made::of(entropy).ok_or("these bytes stand for no scenario")? {
        Made::V1(made) => v1::round_trip(&made).map(drop),
        Made::Later(made) => round_trip(&made).map(drop),
    };
    confirmed.map_err(|failure| failure.to_string())
}

fn examine(entropy: &[u8]) -> Result<(), String> {
    let Generated { parameters, program, wire, .. } =
        generate(entropy).ok_or("these bytes stand for no scenario")?;
    let seed = entropy.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte));
    dissected::judge(&wire, &parameters, &program, seed)?;
    // As it leaves a CoreSight system.
    arm_etm_formatter::dissected::judge(&wire, entropy)
}

/// A generated run, by the generator that made it.
enum Made {
    V1(v1::Scenario),
    Later(Scenario),
}

impl Made {
    /// What these bytes stand for; by the first one, for which architecture.
    fn of(entropy: &[u8]) -> Option<Self> {
        let (kind, entropy) = entropy.split_first()?;
        Some(match kind % 4 {
            0 => Self::V1(v1::scenario(entropy)),
            1 => Self::Later(scenario(entropy, Architecture::V2)),
            2 => Self::Later(scenario(entropy, Architecture::V3)),
            _ => {
                let mut made = scenario(entropy, Architecture::V3);
                let parameters = &mut made.parameters;
                (parameters.data_value, parameters.data_address) = (false, false);
                (parameters.data_only, parameters.bare_port) = (false, false);
                Self::Later(made)
            }
        })
    }
}
