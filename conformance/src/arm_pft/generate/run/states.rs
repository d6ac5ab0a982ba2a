//! Exceptions, and the security states and modes between which they lead.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Action, TakenException};

use super::{DEPTH, Place, Walk};

/// Reset has no place that it can return to (5.3.1).
const RESET: u16 = 8;

impl Walk<'_, '_> {
    /// The number of an exception that comes between instructions.
    pub(super) fn interruption(&mut self) -> u16 {
        if self.parameters.m_profile {
            return self.entropy.pick(&[15, 18, 300, 14, 511]);
        }
        let ee = self.here().isa == InstructionSet::T32Ee;
        match self.entropy.below(16) {
            0 => RESET,
            1 if ee => 5,
            2 if self.parameters.virtualization && self.non_secure => 3,
            number => [14, 15, 12, 4, 11, 13][number % 6],
        }
    }

    /// The exception of SVC, SMC, HVC or an undefined instruction that was executed.
    pub(super) fn call_exception(&mut self, number: u16) {
        let number = match number {
            _ if self.parameters.m_profile => 11,
            // HVC is undefined in Secure state.
            3 if !self.non_secure => 9,
            number => number,
        };
        self.exception(number);
    }

    pub(super) fn exception(&mut self, number: u16) {
        let returns_to = self.here().address;
        let before = (self.at, self.non_secure, self.hyp);
        let security = self.happenings.security;
        match number {
            RESET => {
                (self.non_secure, self.hyp) = (false, false);
                self.calls.clear();
                self.interrupted.clear();
            }
            2 => (self.non_secure, self.hyp) = (self.non_secure && !security, self.hyp && !security),
            3 => self.hyp = true,
            // To the monitor, or to Hyp mode.
            4 | 14 | 15 if security && self.entropy.chance(64) => {
                (self.non_secure, self.hyp) = (false, false);
            }
            _ => {}
        }
        if number != RESET {
            if self.interrupted.len() == DEPTH {
                self.interrupted.remove(0);
            }
            self.interrupted.push(before);
        }
        let section = self.program.vectors;
        let vectors = self.program.sections[section].len();
        let mut index = self.entropy.below(vectors);
        while self.program.at(Place { section, index }).in_it {
            index -= 1;
        }
        self.at = Place { section, index };
        self.push(Action::Exception(TakenException { number, returns_to, handler: self.here() }));
    }

    /// An exception return: to where the exception was, as far as security states allow it.
    pub(super) fn leave_exception(&mut self) {
        let stray = self.entropy.chance(self.happenings.strays / 2);
        let popped = if stray { None } else { self.interrupted.pop() };
        let (secure, hyp) = (!self.non_secure, self.hyp);
        if let Some((place, non_secure, to_hyp)) = popped {
            self.at = place;
            // Non-secure state is left by exceptions only; Hyp mode is entered by them, or from Secure state.
            self.non_secure |= non_secure;
            self.hyp = to_hyp && self.non_secure && (hyp || secure);
        } else {
            self.at = self.anywhere(None);
            let security = self.happenings.security;
            self.non_secure |= security && self.entropy.chance(64);
            self.hyp &= !self.entropy.chance(128);
        }
    }
}
