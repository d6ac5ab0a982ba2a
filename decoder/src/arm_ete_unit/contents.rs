//! What registers hold, as far as it is known.

use traceproof_vectors::arm_ete_unit::{Parameters, Register, Rule};

use super::report::Step;

/// Registers whose contents are compared: the first one, how many there are, 4 bytes apart.
const COMPARED: [(Register, u8); 9] = [
    (Register::EVENTCTL1R, 1),
    (Register::RSR, 1),
    (Register::SYNCPR, 1),
    (Register::BBCTLR, 1),
    (Register::TRACEIDR, 1),
    (Register::VICTLR, 1),
    (Register::SEQSTR, 1),
    (Register::cntvr(0), 4),
    (Register::sscsr(0), 8),
];
const SLOTS: usize = 19;

/// The slot of a register that is compared.
fn slot(register: Register) -> Option<usize> {
    let mut first = 0;
    for (at, count) in COMPARED {
        let distance = register.offset().wrapping_sub(at.offset()) / 4;
        if register.offset() >= at.offset() && distance < u16::from(count) {
            return Some(first + usize::from(distance));
        }
        first += usize::from(count);
    }
    None
}

/// Where knowledge of resource state comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Write,
    Read,
}

/// What is known of one register.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    state: Option<(u32, Source)>,
    control: Option<u32>,
    /// Whether the latest write was direct, until a context synchronisation event.
    written: Option<bool>,
}

/// What is known of the claim tags.
#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    known: u32,
    set: u32,
    /// Written by direct, by other accesses, with no context synchronisation event since.
    direct: u32,
    external: u32,
}

/// A set of registers of the trace unit below 0x800. A word is rotated by the index of the register modulo 64.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RegisterSet([u64; 8]);

impl RegisterSet {
    fn insert(&mut self, register: Register) {
        let index = register.offset() / 4;
        if let Some(word) = self.0.get_mut(usize::from(index / 64)) {
            *word |= 1_u64.rotate_left(u32::from(index));
        }
    }

    pub(super) fn contains(&self, register: Register) -> bool {
        let index = register.offset() / 4;
        self.0.get(usize::from(index / 64)).is_some_and(|word| word.rotate_right(u32::from(index)) & 1 == 1)
    }
}

/// A register whose fields decide about other rules.
const FIELDS: [Register; 13] = [
    Register::EVENTCTL1R,
    Register::STALLCTLR,
    Register::EVENTCTL0R,
    Register::TSCTLR,
    Register::VICTLR,
    Register::SEQRSTEVR,
    Register::seqevr(0),
    Register::seqevr(1),
    Register::seqevr(2),
    Register::cntctlr(0),
    Register::cntctlr(1),
    Register::cntctlr(2),
    Register::cntctlr(3),
];

/// How a register is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) direct: bool,
    /// The unit is Stable or Idle, and the read sees it.
    pub(super) stable: bool,
}

/// Everything that is known of registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contents {
    slots: [Slot; SLOTS],
    claim: Claim,
    fields: [Option<u32>; FIELDS.len()],
    /// TRCCONFIGR as it was written.
    pub(super) config: Option<u32>,
    /// Not written since the latest trace unit reset: TRCEVENTCTL1R, TRCAUXCTLR, TRCIMSPEC0.
    reset: [bool; 3],
    /// TRCPDSR was read since the latest trace unit reset. Retention keeps what the read cleared (ETE-CMKXK-001).
    sticky_cleared: bool,
    /// Written since a trace unit reset in the log, if there was one.
    pub(super) since_reset: Option<RegisterSet>,
    /// Written since the command last became disabled.
    pub(super) since_disabled: RegisterSet,
}

const RESET_CHECKED: [Register; 3] = [Register::EVENTCTL1R, Register::AUXCTLR, Register::IMSPEC0];

impl Contents {
    /// The known value of a register of `FIELDS`.
    pub(super) fn field(&self, register: Register) -> Option<u32> {
        let index = FIELDS.iter().position(|of| *of == register)?;
        self.fields.get(index).copied().flatten()
    }

    /// For people: the registers whose value is known.
    pub(super) fn known(&self) -> impl Iterator<Item = (Register, u32)> {
        let value = |register| self.slots.get(slot(register)?)?.state.map(|(value, _)| (register, value));
        Register::named().filter_map(value)
    }

    /// TRCEVENTCTL1R.OE, if it is known.
    ///
    /// Spec: ETE-OE-RST-001.
    pub(super) fn oe(&self) -> Option<bool> {
        if self.reset[0] {
            Some(false)
        } else {
            self.field(Register::EVENTCTL1R).map(|value| value >> 13 & 1 == 1)
        }
    }

    /// The value of TRCRSR that was written last, if it is known and nothing else has been learnt of it.
    pub(super) fn events_written(&self) -> Option<u32> {
        let known = slot(Register::RSR).and_then(|index| self.slots.get(index))?.state;
        known.filter(|(_, source)| *source == Source::Write).map(|(value, _)| value)
    }

    /// A write that reaches the unit.
    pub(super) fn write(&mut self, parameters: &Parameters, write: &Write) {
        let Write { register, value, direct, proved } = *write;
        self.since_disabled.insert(register);
        if let Some(written) = &mut self.since_reset {
            written.insert(register);
        }
        let known = value.filter(|_| proved);
        for (of, unwritten) in RESET_CHECKED.iter().zip(&mut self.reset) {
            *unwritten &= *of != register;
        }
        if register == Register::CONFIGR {
            self.config = value;
        }
        for (of, field) in FIELDS.iter().zip(&mut self.fields) {
            if *of == register {
                *field = known;
            }
        }
        if let Some(slot) = slot(register).and_then(|index| self.slots.get_mut(index)) {
            let state = register.resource_state(parameters);
            slot.state = known.map(|value| (value & state, Source::Write)).filter(|_| state != 0);
            slot.control = known.map(|value| value & register.written_bits(parameters) & !state);
            slot.written = Some(direct);
        }
        match register {
            Register::CLAIMSET => self.claim.write(value, true, direct),
            Register::CLAIMCLR => self.claim.write(value, false, direct),
            _ => {}
        }
    }

    /// A register becomes unknown without being written.
    pub(super) fn obscure(&mut self, register: Register) {
        for (of, unwritten) in RESET_CHECKED.iter().zip(&mut self.reset) {
            *unwritten &= *of != register;
        }
        for (of, field) in FIELDS.iter().zip(&mut self.fields) {
            *field = field.filter(|_| *of != register);
        }
        if let Some(slot) = slot(register).and_then(|index| self.slots.get_mut(index)) {
            *slot = Slot::default();
        }
        if matches!(register, Register::CLAIMSET | Register::CLAIMCLR) {
            self.claim = Claim::default();
        }
        if register == Register::CONFIGR {
            self.config = None;
        }
    }

    /// A read that reaches the unit and has a known value.
    pub(super) fn read(&mut self, step: &mut Step<'_>, register: Register, value: u32, reading: Reading) {
        self.compare_slot(step, register, value, reading);
        let after_reset = |index: usize| self.reset.get(index) == Some(&true);
        match register {
            Register::EVENTCTL1R => {
                step.find_if(after_reset(0) && value >> 13 & 1 == 1, Rule::OeRst001);
            }
            Register::AUXCTLR => step.find_if(after_reset(1) && value != 0, Rule::Wklgx001),
            Register::IMSPEC0 => step.find_if(after_reset(2) && value >> 4 & 0xF != 0, Rule::Wklgx001),
            Register::CLAIMSET => step.find_if(value != tags(step.parameters), Rule::Acc009),
            Register::CLAIMCLR => self.claim.read(step, value, reading.direct),
            Register::PDSR => {
                let sticky = self.sticky_cleared && value & 2 != 0;
                let off = value & 1 == 0 && step.parameters.version.is_ete();
                step.find_if(off || sticky, Rule::Acc010);
                self.sticky_cleared = true;
            }
            Register::IDR5 => identification(step, value),
            _ => {}
        }
    }

    /// Spec: ETE-BPTKT-001, ETE-BPTKT-002, ETE-RWYQD-004.
    fn compare_slot(&mut self, step: &mut Step<'_>, register: Register, value: u32, reading: Reading) {
        let Some(slot) = slot(register).and_then(|index| self.slots.get_mut(index)) else { return };
        if slot.written.is_some_and(|direct| direct != reading.direct) {
            return;
        }
        let state = register.resource_state(step.parameters);
        let control = register.written_bits(step.parameters) & !state;
        if let Some(known) = slot.control {
            step.find_if((known ^ value) & control != 0, Rule::Rwyqd004);
            slot.control = Some(value & control);
        }
        if !reading.stable || state == 0 {
            return;
        }
        let seen = value & state;
        match slot.state {
            Some((known, _)) if known == seen => {}
            Some((_, source)) => {
                let rule = if source == Source::Write { Rule::Bptkt002 } else { Rule::Bptkt001 };
                step.find(rule);
                slot.state = Some((seen, Source::Read));
            }
            None => slot.state = Some((seen, Source::Read)),
        }
    }

    /// A context synchronisation event is in the log.
    pub(super) fn synchronise(&mut self) {
        for slot in &mut self.slots {
            slot.written = None;
        }
        self.claim.direct = 0;
        self.claim.external = 0;
    }

    /// Resource state may change from here on.
    pub(super) fn forget_state(&mut self) {
        for slot in &mut self.slots {
            slot.state = None;
        }
    }

    /// Registers may hold anything from here on.
    pub(super) fn forget_values(&mut self) {
        self.slots = [Slot::default(); SLOTS];
        self.claim = Claim::default();
        self.fields = [None; FIELDS.len()];
        self.reset = [false; 3];
    }

    /// A trace unit reset that the log shows.
    pub(super) fn reset(&mut self, parameters: &Parameters) {
        *self = Self {
            claim: Claim { known: tags(parameters), ..Claim::default() },
            reset: [true; 3],
            since_reset: Some(RegisterSet::default()),
            since_disabled: self.since_disabled,
            ..Self::default()
        };
    }
}

/// A write that reaches the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) register: Register,
    pub(super) value: Option<u32>,
    pub(super) direct: bool,
    /// There was proof of Idle, and every configuration is in Idle.
    pub(super) proved: bool,
}

/// The mask of implemented claim tags.
fn tags(parameters: &Parameters) -> u32 {
    1_u32.checked_shl(u32::from(parameters.claim_tags)).map_or(u32::MAX, |bit| bit - 1)
}

impl Claim {
    /// Ones in TRCCLAIMSET (`set`) or TRCCLAIMCLR.
    fn write(&mut self, value: Option<u32>, set: bool, direct: bool) {
        let ones = value.unwrap_or(u32::MAX);
        if value.is_some() {
            self.known |= ones;
            self.set = if set { self.set | ones } else { self.set & !ones };
        } else {
            // Tags that already are what the write makes them stay so.
            self.known &= if set { self.set } else { !self.set };
        }
        let (latest, other) = if direct {
            (&mut self.direct, &mut self.external)
        } else {
            (&mut self.external, &mut self.direct)
        };
        *latest |= ones;
        *other &= !ones;
    }

    /// Spec: ETE-ACC-009.
    fn read(&mut self, step: &mut Step<'_>, value: u32, direct: bool) {
        let implemented = tags(step.parameters);
        let seen = !if direct { self.external } else { self.direct };
        let differs = (self.set ^ value) & self.known & seen & implemented;
        step.find_if(differs != 0 || value & !implemented != 0, Rule::Acc009);
        self.set = self.set & !seen | value & seen;
        self.known |= implemented & seen;
    }
}

/// Spec: ETE-RWPFG-001, ETE-RWPFG-002, ETE-HBBDV-001.
fn identification(step: &mut Step<'_>, value: u32) {
    use traceproof_vectors::arm_ete::Version;
    let parameters = step.parameters;
    let interface = parameters.interfaces > 0;
    let atb = interface && parameters.atb;
    step.find_if(atb && value >> 22 & 1 == 0, Rule::Rwpfg001);
    step.find_if(atb && value >> 16 & 0x3F != 7, Rule::Rwpfg002);
    let enable = interface && parameters.version >= Version::Ete1_3;
    step.find_if(enable && value >> 31 == 0, Rule::Hbbdv001);
}
