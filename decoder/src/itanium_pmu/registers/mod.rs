//! The meaning of a register value: value -> fields, fields -> value, and oddities of a value.
//!
//! | purpose | place |
//! |---|---|
//! | Bits that a register keeps or ignores | [`stored`], [`ignored`] |
//! | Names of its fields, bit by bit | [`fields`] |
//! | Fields of configuration, data, debug and status registers | `pmc`, `pmd`, `debug`, `status` |

mod debug;
mod kept;
mod layout;
mod pmc;
mod pmd;
mod status;

pub use kept::{ignored, stored};
pub use layout::{RegisterField, fields};

use traceproof_vectors::FaultClass;
use traceproof_vectors::itanium_pmu::events::SelectableEvent;
use traceproof_vectors::itanium_pmu::{Contents, Parameters, Register, RegisterClass};

use super::slice::{bit, small};
use kept::no_copy;

/// What must be known of other registers to take one apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// [`Parameters::strict`].
    pub strict: bool,
    /// PMC\[0\].fr = 1 is known, so that what was captured can be read.
    pub frozen: bool,
    /// PMC\[10\].tlb, if it is known.
    pub instruction_tlb: Option<bool>,
    /// PMC\[11\].tlb, if it is known.
    pub data_tlb: Option<bool>,
    /// The register reads as 0 because of the privilege level, so that it is defined whatever PMC\[0\].fr is.
    pub masked: bool,
}

impl Context {
    /// Nothing is known but the parameters.
    #[must_use]
    pub const fn new(parameters: &Parameters) -> Self {
        Self {
            strict: parameters.strict,
            frozen: false,
            instruction_tlb: None,
            data_tlb: None,
            masked: false,
        }
    }
}

/// A value taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its fields.
    pub contents: Contents,
    /// What the register holds: ignored bits 0, copies of sign bits completed.
    pub value: u64,
    oddities: [Option<Oddity>; 4],
}

impl Decoded {
    /// Oddities of the value, in the order of the fault table. The value is used in spite of them.
    pub fn oddities(&self) -> impl Iterator<Item = Oddity> {
        self.oddities.into_iter().flatten()
    }

    fn note(&mut self, oddity: Oddity) {
        if let Some(free) = self.oddities.iter_mut().find(|oddity| oddity.is_none()) {
            *free = Some(oddity);
        }
    }
}

/// Something that is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// Class of the fault.
    pub class: FaultClass,
    /// What it is.
    pub condition: Condition,
    /// First bit of the value at fault; `None`: the index of the register.
    pub bit: Option<u8>,
}

/// What can be wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The processor does not implement the register (E-REG).
    Unimplemented,
    /// An ignored bit is 1 (E-IGN).
    IgnoredBit,
    /// A bit that copies another one is no copy (E-SXT).
    NoCopy,
    /// The register is not defined while PMC\[0\].fr = 0 (E-UNDEF).
    Undefined,
    /// PMD\[17\].slot is 3 (E-SLOT).
    Slot,
    /// The counter cannot count the event (E-CTR).
    NotCountable,
}

impl Condition {
    /// The class of the fault, strictly and leniently.
    const fn class(self, strict: bool) -> FaultClass {
        match self {
            Self::Unimplemented => FaultClass::InvalidReference,
            _ if !strict => FaultClass::Suspicious,
            Self::IgnoredBit => FaultClass::Overlong,
            Self::NoCopy => FaultClass::Contradiction,
            Self::Undefined | Self::NotCountable => FaultClass::IllegalInState,
            Self::Slot => FaultClass::ReservedEncoding,
        }
    }

    const fn at(self, bit: u8, strict: bool) -> Oddity {
        Oddity { class: self.class(strict), condition: self, bit: Some(bit) }
    }
}

/// Whether the register is defined only while PMC\[0\].fr = 1: PMD\[0\] to PMD\[3\], PMD\[8\] to PMD\[17\].
#[must_use]
pub const fn is_captured(register: Register) -> bool {
    matches!(register, Register { class: RegisterClass::Pmd, index: 0..=3 | 8..=17 })
}

/// Takes a value apart that was read from `register`.
///
/// # Errors
///
/// In strict mode: a value that no hardware can hold (E-IGN, E-SXT, E-UNDEF, E-SLOT), the first of them.
///
/// Spec: ITA-DEC-003 to ITA-DEC-009, ITA-REG-018.
pub fn decode_register(register: Register, value: u64, context: &Context) -> Result<Decoded, Oddity> {
    let strict = context.strict;
    let mut decoded = match unimplemented(register) {
        Some(decoded) => return Ok(decoded),
        None => plain(register, value, context),
    };
    let ignored = value & ignored(register);
    if ignored != 0 {
        refuse(&mut decoded, Condition::IgnoredBit.at(ignored.trailing_zeros() as u8, strict), strict)?;
    }
    if let Some(bit) = no_copy(register, value) {
        refuse(&mut decoded, Condition::NoCopy.at(bit, strict), strict)?;
    }
    if is_captured(register) && !context.frozen && !context.masked {
        decoded.contents = Contents::Undefined(register);
        if strict {
            return Err(Condition::Undefined.at(0, strict));
        }
    }
    if let Contents::DataEarInstruction { v: true, slot: 3, .. } = decoded.contents {
        refuse(&mut decoded, Condition::Slot.at(2, strict), strict)?;
    }
    note_uncountable(&mut decoded, strict);
    Ok(decoded)
}

/// Takes a value apart that is written to `register`: what the register holds of it.
///
/// Spec: ITA-REG-002 to ITA-REG-017, ITA-CNT-002.
#[must_use]
pub fn decode_write(register: Register, value: u64, context: &Context) -> Decoded {
    if let Some(decoded) = unimplemented(register) {
        return decoded;
    }
    let mut decoded = plain(register, value, context);
    let ignored = value & ignored(register);
    if ignored != 0 {
        decoded.note(Condition::IgnoredBit.at(ignored.trailing_zeros() as u8, false));
    }
    note_uncountable(&mut decoded, context.strict);
    decoded
}

/// The value of a register with these fields: fields that are undefined and ignored bits are 0.
///
/// Fields that are too wide for their bits are cut off at the top. Of PSR and PMV only the fields are here.
#[must_use]
pub fn encode_register(contents: &Contents) -> u64 {
    let register = contents.register();
    let value = match register.class {
        RegisterClass::Pmc => pmc::value(contents),
        RegisterClass::Pmd => pmd::value(contents),
        RegisterClass::Ibr | RegisterClass::Dbr => debug::value(contents),
        RegisterClass::Psr | RegisterClass::Pmv => status::value(contents),
    };
    stored(register, value)
}

/// The bits of a register that the specification defines in this context: all of it but fields that the mode leaves
/// undefined.
#[must_use]
pub const fn defined(register: Register, context: &Context) -> u64 {
    match register {
        _ if context.masked => u64::MAX,
        _ if is_captured(register) && !context.frozen => 0,
        Register { class: RegisterClass::Pmd, index } => pmd::defined(index, context),
        _ => u64::MAX,
    }
}

fn unimplemented(register: Register) -> Option<Decoded> {
    let condition = Condition::Unimplemented;
    let oddity = Oddity { class: condition.class(true), condition, bit: None };
    (!register.is_implemented()).then_some(Decoded {
        contents: Contents::Unimplemented(register),
        value: 0,
        oddities: [Some(oddity), None, None, None],
    })
}

fn plain(register: Register, value: u64, context: &Context) -> Decoded {
    let value = stored(register, value);
    let contents = match register.class {
        RegisterClass::Pmc => pmc::contents(register, value),
        RegisterClass::Pmd => pmd::contents(register, value, context),
        RegisterClass::Ibr | RegisterClass::Dbr => debug::contents(register, value),
        RegisterClass::Psr => status::processor_status(value),
        RegisterClass::Pmv => status::interrupt_vector(value),
    };
    Decoded { contents, value, oddities: [None; 4] }
}

fn refuse(decoded: &mut Decoded, oddity: Oddity, strict: bool) -> Result<(), Oddity> {
    if strict {
        return Err(oddity);
    }
    decoded.note(oddity);
    Ok(())
}

/// Spec: ITA-CNT-010 (E-CTR).
fn note_uncountable(decoded: &mut Decoded, strict: bool) {
    if let Contents::CounterConfiguration { register, es, umask, .. } = decoded.contents
        && SelectableEvent::find(es, umask).is_some_and(|event| !event.is_countable_on(register.index))
    {
        decoded.note(Condition::NotCountable.at(8, strict));
    }
}

/// es and umask of a counter configuration.
pub(super) const fn selection(pmc: u64) -> (u8, u8) {
    (small(pmc, 14, 8), small(pmc, 19, 16))
}

/// Whether the freeze bit of PMC\[0\] is 1.
pub(super) const fn is_frozen(pmc0: u64) -> bool {
    bit(pmc0, 0)
}
