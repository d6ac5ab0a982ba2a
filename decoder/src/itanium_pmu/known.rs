//! The registers that the log has shown, and their values.

use traceproof_vectors::itanium_pmu::{EarReadPrivilege, Parameters, Register, RegisterClass};

use super::Registers;
use super::registers::{Context, is_captured};
use super::slice::bit;

/// What a log has shown of registers so far. After a reset all of them are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) registers: Registers,
    /// One bit for each register that was shown.
    shown: u64,
    followed: bool,
}

impl Known {
    /// The processor is reset: from here on everything is known.
    pub(super) fn reset(&mut self) {
        *self = Self { registers: Registers::reset(), shown: u64::MAX, followed: true };
    }

    /// Whether a reset was seen.
    pub(super) const fn is_followed(&self) -> bool {
        self.followed
    }

    /// What the register holds, if the log has shown it.
    pub(super) fn get(&self, register: Register) -> Option<u64> {
        let shown = self.shown >> number(register) & 1 == 1;
        (shown && register.is_implemented()).then(|| self.registers.get(register))
    }

    /// For people: what is known of registers that are not zero, and that were shown.
    pub(super) fn shown_registers(&self) -> impl Iterator<Item = (Register, u64)> {
        let known = |register| self.get(register).map(|value| (register, value));
        Register::implemented().filter_map(known).filter(|(_, value)| *value != 0)
    }

    /// The log shows what the register holds.
    pub(super) fn set(&mut self, register: Register, value: u64) {
        if register.is_implemented() {
            self.registers.write(register, value);
            self.shown |= 1 << number(register);
        }
    }

    /// What is known about the registers that decide how another one is taken apart.
    pub(super) fn context(&self, register: Register, parameters: &Parameters) -> Context {
        Context {
            frozen: self.get(Register::pmc(0)).is_some_and(|value| bit(value, 0)),
            instruction_tlb: self.get(Register::pmc(10)).map(|value| bit(value, 7)),
            data_tlb: self.get(Register::pmc(11)).map(|value| bit(value, 7)),
            masked: self.followed && self.is_masked(register, parameters),
            ..Context::new(parameters)
        }
    }

    /// Whether a read gives 0 because of the privilege level.
    ///
    /// Spec: ITA-CNT-012; reading `ita-a-20`.
    fn is_masked(&self, register: Register, parameters: &Parameters) -> bool {
        let Register { class: RegisterClass::Pmd, index } = register else { return false };
        let registers = &self.registers;
        if registers.cpl() == 0 || !register.is_implemented() {
            return false;
        }
        let by_monitor = parameters.ear_read_privilege == EarReadPrivilege::ByMonitor;
        let monitor = match index {
            4..=7 => Some(index),
            0 | 1 if by_monitor => Some(10),
            2 | 3 | 17 if by_monitor => Some(11),
            _ => None,
        };
        registers.is_secure() || monitor.is_some_and(|pmc| bit(registers.get(Register::pmc(pmc)), 6))
    }
}

/// Whether a register that is read as undefined holds something defined.
pub(super) const fn is_defined(register: Register, context: &Context) -> bool {
    let nothing_in_this_mode = matches!(register, Register { class: RegisterClass::Pmd, index: 1 })
        && !matches!(context.instruction_tlb, Some(false));
    context.masked || !is_captured(register) || (context.frozen && !nothing_in_this_mode)
}

/// A unique number for each register, below 64.
const fn number(register: Register) -> u32 {
    let first = match register.class {
        RegisterClass::Pmc => 0,
        RegisterClass::Pmd => 14,
        RegisterClass::Ibr => 32,
        RegisterClass::Dbr => 40,
        RegisterClass::Psr => 48,
        RegisterClass::Pmv => 49,
    };
    (first + register.index as u32) & 63
}
