//! Exceptions, and the states of the processor between which they lead.

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{Exception, Signal};

use super::{Context, DEPTH, Instruction, Machine, Mode, Place, Walk};

const RESET: u16 = 0;
const DEBUG_HALT: u16 = 1;
const CALL: u16 = 2;

impl Walk<'_, '_> {
    /// An exception between instructions.
    pub(super) fn interruption(&mut self) {
        let number = match self.entropy.below(24) {
            0 => RESET,
            number => [0xe, 0xf, 4, 0xb, 0xc, 0xa, 7, 3, 6, 0x10, 0x17][number % 11],
        };
        let number = match number {
            // Any IMPLEMENTATION DEFINED one.
            0x10 => 0x10 + u16::from(self.entropy.byte() & 7),
            number => number,
        };
        if number == RESET && self.open > 0 {
            let all = self.open;
            self.commit(all);
        }
        self.exception(number);
    }

    /// SVC, HVC or SMC was executed.
    pub(super) fn call(&mut self) {
        self.exception(CALL);
    }

    /// An exception is taken here; it ends a transaction.
    pub(super) fn exception(&mut self, number: u16) {
        if self.now.transaction.is_some() && number != RESET {
            self.fail_transaction();
        }
        let returns_to = self.here();
        // An occurrence that the processor handles itself goes on where it was.
        let stays = number >= 0x10 && self.entropy.chance(128);
        if !stays {
            self.enter_handler(number);
        }
        let (handler, instructions) = (self.here(), self.executed);
        self.element(None);
        self.history.clear();
        let fault_pending = !self.parameters.version.is_ete() && self.entropy.chance(32);
        self.signal(Signal::Exception(Exception {
            number,
            returns_to,
            handler,
            instructions,
            fault_pending,
        }));
        self.begin_block();
    }

    /// Debug state is entered.
    pub(super) fn debug_halt(&mut self) {
        let here = self.here();
        self.element(None);
        self.history.clear();
        self.mode = Mode::Debug;
        self.signal(Signal::Exception(Exception {
            number: DEBUG_HALT,
            returns_to: here,
            handler: here,
            instructions: 0,
            fault_pending: false,
        }));
    }

    fn enter_handler(&mut self, number: u16) {
        let before = (self.now.at, self.now.context);
        let section = self.program.handlers;
        let mut index = self.entropy.below(self.program.sections[section].len());
        while self.program.at(Place { section, index }).in_it {
            index -= 1;
        }
        self.now.at = Place { section, index };
        if number == RESET {
            self.now.calls.clear();
            self.now.interrupted.clear();
            self.now.transaction = None;
            self.start_is_traced = false;
            self.now.context = self.at_level(ExceptionLevel::El3).with_context_id(Some(0)).with_vmid(Some(0));
            return;
        }
        if self.now.interrupted.len() == DEPTH {
            self.now.interrupted.remove(0);
        }
        self.now.interrupted.push(before);
        let current = before.1.exception_level.unwrap_or_default();
        let level = self.entropy.pick(&[ExceptionLevel::El1, ExceptionLevel::El2, ExceptionLevel::El3]);
        self.now.context = self.at_level(level.max(current));
        if self.entropy.chance(64) {
            self.now.context = self.other_ids();
        }
    }

    /// The context at another level: EL3 is Secure or Root, others keep the security state they came from.
    fn at_level(&self, level: ExceptionLevel) -> Context {
        let context = self.now.context.with_exception_level(Some(level));
        match level {
            ExceptionLevel::El3 if self.happenings.realms => context.with_security(SecurityState::Root),
            ExceptionLevel::El3 => context.with_security(SecurityState::Secure),
            _ if context.security == SecurityState::Root => context.with_security(SecurityState::Secure),
            _ => context,
        }
    }

    /// An exception return: to where the exception was, or anywhere at a lower level.
    pub(super) fn leave_exception(&mut self, item: &Instruction, machine: &mut Machine) {
        let stray = self.entropy.chance(self.happenings.strays / 2);
        let is_64_bit = item.isa.is_64_bit();
        let popped = if stray { None } else { machine.interrupted.pop() };
        let level = machine.context.exception_level.unwrap_or_default();
        // AArch32 state is left by exceptions only.
        let possible = popped.filter(|(at, context)| {
            (is_64_bit || !self.program.at(*at).isa.is_64_bit())
                && context.exception_level.unwrap_or_default() <= level
        });
        if let Some((at, context)) = possible {
            (machine.at, machine.context) = (at, context);
            return;
        }
        machine.at = self.anywhere(|to| is_64_bit || !to.isa.is_64_bit());
        let lower = self.entropy.pick(&ExceptionLevel::ALL).min(level);
        let states = if self.happenings.realms { 4 } else { 2 };
        let security = [SecurityState::NonSecure, SecurityState::Secure, SecurityState::Realm];
        machine.context = machine.context.with_exception_level(Some(lower));
        if level == ExceptionLevel::El3 && lower != level {
            let security = self.entropy.pick(&security[..states.min(3)]);
            machine.context = machine.context.with_security(security);
        }
    }

    /// After an ISB, what was written to registers is in effect (R_HXNXF).
    pub(super) fn synchronise_context(&mut self) {
        self.history.clear();
        if self.wrong.is_none() && self.entropy.chance(self.happenings.contexts) {
            self.now.context = self.other_ids();
            let context = self.here().context;
            self.begin_block();
            self.signal(Signal::Context(context));
        }
    }

    fn other_ids(&mut self) -> Context {
        let id = self.entropy.pick(&[
            1,
            0x42,
            0x1234_5678,
            0,
            0x8000_0001,
            0xff,
            0x100,
            0xffff,
            0x1_0000,
            u32::MAX,
        ]);
        if self.entropy.chance(96) {
            self.now.context.with_vmid(Some(id))
        } else {
            self.now.context.with_context_id(Some(id))
        }
    }

    /// Debug state and prohibited regions may be left in another state.
    pub(super) fn change_state(&mut self) {
        let level = self.entropy.pick(&ExceptionLevel::ALL);
        self.now.context = self.at_level(level);
    }

    /// TRCIT was executed: nothing on a wrong path (`R_NHJLQ`).
    pub(super) fn instrument(&mut self) {
        if self.wrong.is_some() {
            return;
        }
        self.history.clear();
        self.block = None;
        let exception_level = self.now.context.exception_level.unwrap_or_default();
        let value = self.entropy.pick(&[0, 0x1122_3344_5566_7788, u64::MAX, 0x8000_0000_0000_0000]);
        self.signal(Signal::Instrumentation { exception_level, value });
    }
}
