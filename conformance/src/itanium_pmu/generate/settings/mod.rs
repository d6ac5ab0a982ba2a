//! Register values for a wish, against what the decoder makes of them: what was asked for is what they do, and what is
//! refused cannot be done.
//!
//! | question | place |
//! |---|---|
//! | Do both models put fields into the same bits? | `registers` |
//! | Which syllables does an opcode match tag? | `opcodes` |
//! | Which addresses do pairs of breakpoint registers tag? | `ranges` |
//! | What does a counter count, what is captured? | `events` |
//! | All of it together | `measurement` |

mod events;
mod measurement;
mod opcodes;
mod ranges;
mod registers;

use traceproof_decoder::itanium_pmu::Registers;
use traceproof_encoder_model::itanium_pmu::settings::Setting;
use traceproof_vectors::itanium_pmu::Register;

use crate::generate::Entropy;

/// Judges wishes that follow from these bytes.
///
/// # Errors
///
/// The first one that is not fulfilled, or refused without a reason.
pub(super) fn examine(entropy: &[u8]) -> Result<(), String> {
    let mut entropy = Entropy::new(entropy);
    registers::judge(&mut entropy)?;
    opcodes::judge(&mut entropy)?;
    ranges::judge(&mut entropy)?;
    events::judge(&mut entropy)?;
    measurement::judge(&mut entropy)
}

/// Judges wishes that are rare at random: those at a limit, and those in which several things must be so.
///
/// # Errors
///
/// The first one that is not fulfilled, or refused without a reason.
pub(super) fn examine_once() -> Result<(), String> {
    events::each()?;
    ranges::each()?;
    measurement::each()
}

/// Registers that held something else before, at this privilege level, after the settings.
fn programmed(settings: &[Setting], level: u8) -> Registers {
    let mut registers = Registers::reset();
    for index in 0..8 {
        registers.write(Register::ibr(index), if index % 2 == 1 { 0x0f00_0000_0000_0000 } else { 0 });
        registers.write(Register::dbr(index), if index % 2 == 1 { 0x0f00_0000_0000_0000 } else { 0 });
    }
    for setting in settings {
        registers.write(setting.register, setting.value);
    }
    registers.write(Register::PSR, u64::from(level) << 32);
    registers
}

/// Fails with what `what` says unless `holds`.
fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
