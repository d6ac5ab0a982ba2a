//! Accesses to registers: whether they reach the unit, what they return and what they change.

use traceproof_vectors::arm_ete_unit::{
    Access, AccessClass, DirectWrite, Direction, Operation, Outcome, Packet, ProgrammingState, Register,
    UnpredictableWrite, UnsupportedSize,
};

use super::ImpossibleStimulus;
use super::identification::identification;
use super::record::record_of;
use super::registers::claim_mask;
use super::unit::{Log, Unit};

/// Offsets from here on are RES0 where nothing is implemented, whatever the OS Lock (ETE-KQMKX-001).
const MANAGEMENT: u16 = 0xF00;

impl Unit {
    /// The record of an access, and what it does.
    pub(super) fn access(&mut self, stimulus: &Access, log: &mut Log<'_>) -> Result<(), ImpossibleStimulus> {
        let mut access = *stimulus;
        if access.operation == Operation::Write && access.value.is_none() {
            return Err(ImpossibleStimulus::WithoutValue);
        }
        access.outcome = self.outcome(&access)?;
        let reaches = access.outcome == Outcome::Ok;
        if access.operation == Operation::Read {
            access.value = if reaches { self.read(&access) } else { None };
        }
        log.write(&Packet::Access(access))?;
        match access.operation {
            Operation::Read => {
                if reaches && access.register == Register::PDSR {
                    self.surroundings.sticky_power_down = false;
                }
            }
            Operation::Write if self.has_unsupported_size(&access) => self.write_unsupported(&access),
            Operation::Write if reaches && !self.is_reserved(&access) => self.write(&access),
            Operation::Write => {}
        }
        Ok(())
    }

    /// How an access ends.
    pub(super) fn outcome(&self, access: &Access) -> Result<Outcome, ImpossibleStimulus> {
        record_of(&Packet::Access(*access))?;
        if access.agent.is_direct() {
            return self.direct_outcome(access);
        }
        if access.register.is_of_processor() {
            return Err(ImpossibleStimulus::NotExternal);
        }
        Ok(if self.gives_error(access) { Outcome::Error } else { Outcome::Ok })
    }

    /// Spec: ETE-ACC-005, ETE-ACC-007, ETE-ACC-008, ETE-WCXDT-001, ETE-SGPQB-001.
    fn direct_outcome(&self, access: &Access) -> Result<Outcome, ImpossibleStimulus> {
        let register = access.register;
        if !self.surroundings.is_powered() {
            return Err(ImpossibleStimulus::WithoutPower);
        }
        let is_defined = register.is_of_processor()
            || !self.surroundings.at_el0
                && register.has_system_encoding()
                && register.exists(&self.parameters)
                && has_direction(register, access.operation);
        Ok(match access.outcome {
            _ if !is_defined => Outcome::Undefined,
            Outcome::Trapped => Outcome::Trapped,
            _ => Outcome::Ok,
        })
    }

    /// Whether an external access gives an error response.
    fn gives_error(&self, access: &Access) -> bool {
        let unsupported = self.policy.unsupported_size == UnsupportedSize::Error;
        self.is_refused(access) || unsupported && self.has_unsupported_size(access)
    }

    /// Whether an external access gives an error response, whatever its size, and has no effect.
    ///
    /// Spec: ETE-ACC-001 to ETE-ACC-004, ETE-KQMKX-001, ETE-SVSNR-001, ETE-WXKDP-001, ETE-TWQJT-001.
    fn is_refused(&self, access: &Access) -> bool {
        let allowed = self.surroundings.allows(access.space, &self.parameters);
        let locked = self.machine.locked;
        if !self.surroundings.is_powered() {
            return true;
        }
        match access.register.class(&self.parameters) {
            AccessClass::Trace => locked || !allowed,
            AccessClass::Claim => locked,
            AccessClass::LockStatus => !allowed,
            AccessClass::Management | AccessClass::Processor => false,
            AccessClass::Reserved => {
                let below = access.register.offset() < MANAGEMENT;
                below && (locked || !allowed) && self.policy.reserved_is_error
            }
        }
    }

    /// Whether an external access is taken as one of a reserved register: a read returns 0, a write is ignored.
    fn is_reserved(&self, access: &Access) -> bool {
        let there =
            access.register.exists(&self.parameters) && has_direction(access.register, access.operation);
        !access.agent.is_direct() && !there
    }

    /// ETE-VNNPF-001 excepts no register. One that counts as reserved is RES0 at any size: that is among the outcomes
    /// of ETE-YFRMG-001 (UNKNOWN includes 0, and the write is ignored), while an error is none of ETE-KQMKX-001.
    ///
    /// Spec: ETE-VQWLY-001, ETE-VNNPF-001.
    fn has_unsupported_size(&self, access: &Access) -> bool {
        access.double && !access.register.is_wide() && !self.is_reserved(access)
    }

    /// What a read that reaches the unit returns; of a register of the processor nothing is known.
    fn read(&self, access: &Access) -> Option<u64> {
        let register = access.register;
        if register.is_of_processor() {
            return None;
        }
        if self.is_reserved(access) {
            return Some(0);
        }
        if self.has_unsupported_size(access) {
            return Some(self.policy.unknown);
        }
        let low = u64::from(self.read_word(register, access.agent.is_direct()));
        let is_wide = register.is_wide() && access.value_bits() == 64;
        let high =
            if is_wide { self.registers.word(Register(register.offset() + 4), &self.parameters) } else { 0 };
        Some(u64::from(high) << 32 | low)
    }

    fn read_word(&self, register: Register, direct: bool) -> u32 {
        let parameters = &self.parameters;
        let (locked, sticky) =
            (u32::from(self.machine.locked), u32::from(self.surroundings.sticky_power_down));
        match register {
            // Spec: ETE-SYN-001, ETE-SYN-002.
            Register::PRGCTLR => {
                let pending = self.machine.pending_enable.filter(|_| direct);
                u32::from(pending.unwrap_or(self.machine.enable))
            }
            Register::STATR => self.status(),
            // Spec: ETE-ACC-011. ETMv4 has OSLM = 0b010.
            Register::OSLSR => (if parameters.version.is_ete() { 0x10 } else { 0x8 }) | locked << 1,
            // Spec: ETE-ACC-010.
            Register::PDSR => 1 | sticky << 1 | locked << 5,
            Register::CLAIMSET => claim_mask(parameters),
            Register::CLAIMCLR => self.registers.claimed(),
            _ if register.direction() == Some(Direction::ReadOnly) => identification(register, parameters),
            _ => self.read_held(register),
        }
    }

    /// Resource state may be UNKNOWN outside Idle and Stable.
    fn read_held(&self, register: Register) -> u32 {
        let held = self.registers.word(register, &self.parameters);
        let is_static = matches!(self.machine.state, ProgrammingState::Idle | ProgrammingState::Stable);
        if is_static || !self.policy.unknown_resource_state {
            return held;
        }
        let unknown = register.resource_state(&self.parameters);
        held & !unknown | self.policy.unknown as u32 & unknown
    }

    fn write(&mut self, access: &Access) {
        let value = access.value.unwrap_or(0);
        let direct = access.agent.is_direct();
        match access.register {
            Register::PRGCTLR => self.write_enable(value & 1 == 1, direct),
            Register::CLAIMSET => self.registers.claim(value as u32, &self.parameters),
            Register::CLAIMCLR => self.registers.unclaim(value as u32),
            Register::OSLAR => self.write_lock(access.agent, value & 1 == 1),
            register => self.program(register, value, access.value_bits() == 64),
        }
    }

    fn write_enable(&mut self, enable: bool, direct: bool) {
        if direct {
            self.machine.pending_enable = Some(enable);
            if self.policy.direct_write == DirectWrite::AtOnce {
                self.synchronise_enable();
            }
        } else {
            self.machine.write(Some(enable), None, &self.policy, self.buffers.is_drained());
        }
    }

    fn synchronise_enable(&mut self) {
        let enable = self.machine.pending_enable.take();
        self.machine.write(enable, None, &self.policy, self.buffers.is_drained());
    }

    /// A programming register is written.
    ///
    /// Spec: ETE-RWYQD-001, ETE-RWYQD-002, ETE-RWYQD-004.
    fn program(&mut self, register: Register, value: u64, double: bool) {
        let is_idle = self.machine.state == ProgrammingState::Idle;
        let outside_idle = !is_idle && register.is_programming(&self.parameters);
        let effect = if outside_idle { self.policy.write_outside_idle } else { UnpredictableWrite::Written };
        for (register, word) in words(register, value, double) {
            match effect {
                UnpredictableWrite::Ignored => {}
                UnpredictableWrite::Unknown => self.registers.forget(register),
                UnpredictableWrite::Written => self.registers.write(register, word),
            }
        }
        let is_synchronised = self.surroundings.is_prohibited() && self.surroundings.trace_synchronised;
        if outside_idle && self.policy.corrupts_stream && !self.buffers.is_recovering() && !is_synchronised {
            // One more byte than was generated, if it finds room.
            self.buffers.enter(1);
        }
    }

    /// Registers that are written with a size that is not supported become UNKNOWN, or keep their values. Those that
    /// decide about states keep them, which UNKNOWN includes.
    fn write_unsupported(&mut self, access: &Access) {
        if self.is_refused(access) || self.policy.unsupported_size == UnsupportedSize::WriteIgnored {
            return;
        }
        let offset = access.register.offset();
        let second = if offset.is_multiple_of(8) { offset + 4 } else { offset };
        for register in [access.register, Register(second)] {
            if register.is_programming(&self.parameters) {
                self.registers.forget(register);
            }
        }
    }
}

/// The words of a register, with their values.
fn words(register: Register, value: u64, double: bool) -> impl Iterator<Item = (Register, u32)> {
    let upper =
        (double && register.is_wide()).then(|| (Register(register.offset() + 4), (value >> 32) as u32));
    [(register, value as u32)].into_iter().chain(upper)
}

fn has_direction(register: Register, operation: Operation) -> bool {
    match register.direction() {
        None => false,
        Some(Direction::ReadWrite) => true,
        Some(Direction::ReadOnly) => operation == Operation::Read,
        Some(Direction::WriteOnly) => operation == Operation::Write,
    }
}
