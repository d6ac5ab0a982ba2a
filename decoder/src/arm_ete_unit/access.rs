//! How an access ended, against how it must end.

use traceproof_vectors::arm_ete_unit::{
    Access, AccessClass, Agent, Direction, Operation, Outcome, Parameters, Power, Register, Rule,
};

use super::belief::Belief;
use super::report::Step;
use super::surroundings::Surroundings;

/// Whether the rules of external accesses hold: by the external debug interface, and by memory in ETE.
pub(super) fn is_external(access: &Access, parameters: &Parameters) -> bool {
    match access.agent {
        Agent::System => false,
        Agent::External => true,
        Agent::Memory => parameters.version.is_ete(),
    }
}

/// Whether nothing follows from its value or outcome: 64 bits, but not of a register of 64 bits.
///
/// Spec: ETE-YFRMG-001.
pub(super) fn is_unsupported(access: &Access, parameters: &Parameters) -> bool {
    let Access { double, register, .. } = *access;
    double && !(register.is_wide() && register.exists(parameters))
}

/// What decides how an external access ends.
struct Conditions {
    off: bool,
    /// A configuration has the OS Lock locked, unlocked.
    can_be_locked: bool,
    can_be_unlocked: bool,
    allowed: Option<bool>,
}

impl Conditions {
    /// Whether it must give an error, must not.
    const fn error(&self, class: AccessClass) -> (bool, bool) {
        let locked = !self.can_be_unlocked;
        let unlocked = !self.can_be_locked;
        let (denied, allowed) = (matches!(self.allowed, Some(false)), matches!(self.allowed, Some(true)));
        let (must, must_not) = match class {
            AccessClass::Trace => (locked || denied, unlocked && allowed),
            AccessClass::Claim => (locked, unlocked),
            AccessClass::LockStatus => (denied, allowed),
            AccessClass::Management => (false, true),
            AccessClass::Reserved | AccessClass::Processor => (false, false),
        };
        (self.off || must, !self.off && must_not)
    }
}

/// Judges value and outcome of an access that is none of the unit's state.
pub(super) fn check(step: &mut Step<'_>, access: &Access, belief: &Belief, around: &Surroundings) {
    let unsupported = is_unsupported(access, step.parameters);
    if unsupported && access.register.exists(step.parameters) {
        step.find(Rule::Yfrmg001);
    }
    if access.agent.is_direct() {
        check_direct(step, access, around.level);
    } else if is_external(access, step.parameters) && !unsupported {
        check_external(step, access, belief, around);
    }
}

/// Spec: ETE-ACC-001, ETE-ACC-002, ETE-ACC-003, ETE-ACC-004, ETE-SVSNR-001, ETE-WXKDP-001, ETE-TWQJT-001.
fn check_external(step: &mut Step<'_>, access: &Access, belief: &Belief, around: &Surroundings) {
    let Access { register, operation, outcome, .. } = *access;
    if around.power == Power::Retention {
        step.find_if(outcome == Outcome::Ok, Rule::Twqjt001);
        return;
    }
    let conditions = Conditions {
        off: around.power == Power::Off,
        can_be_locked: belief.can_be_locked(true),
        can_be_unlocked: belief.can_be_locked(false),
        allowed: around.allows(step.parameters, access.space),
    };
    let class = register.class(step.parameters);
    let rule = match class {
        AccessClass::Reserved => return check_reserved(step, access, &conditions, Rule::Kqmkx001),
        AccessClass::Processor => return,
        _ if is_against(register, operation, step.parameters) => {
            let rule = if operation == Operation::Read { Rule::Wxkdp001 } else { Rule::Svsnr001 };
            return check_reserved(step, access, &conditions, rule);
        }
        AccessClass::Trace => Rule::Acc001,
        AccessClass::Claim => Rule::Acc002,
        AccessClass::LockStatus => Rule::Acc003,
        AccessClass::Management => Rule::Acc004,
    };
    let (must, must_not) = conditions.error(class);
    step.find_if(outcome == Outcome::Ok && must || outcome == Outcome::Error && must_not, rule);
}

/// A write of a register that is only read, or a read of one that is only written.
fn is_against(register: Register, operation: Operation, parameters: &Parameters) -> bool {
    match operation {
        Operation::Write => {
            register.direction() == Some(Direction::ReadOnly) || is_fixed(register, parameters)
        }
        Operation::Read => register.direction() == Some(Direction::WriteOnly),
    }
}

/// TRCSYNCPR, which is only read where its period is fixed. A System instruction that writes it then may be UNDEFINED
/// like other writes of registers that are only read (I_WCXDT), or do nothing: no condition of MSR says so.
fn is_fixed(register: Register, parameters: &Parameters) -> bool {
    register == Register::SYNCPR && parameters.fixed_sync_period
}

/// An access to a reserved register, or one that is taken as such.
///
/// Spec: ETE-KQMKX-001.
fn check_reserved(step: &mut Step<'_>, access: &Access, conditions: &Conditions, rule: Rule) {
    let excused =
        access.register.offset() < 0xF00 && (conditions.can_be_locked || conditions.allowed != Some(true));
    let wrong = match access.outcome {
        Outcome::Ok if conditions.off => true,
        Outcome::Error => !conditions.off && !excused,
        _ => false,
    };
    let read = access.operation == Operation::Read && access.outcome.reaches();
    step.find_if(wrong || read && access.value.is_some_and(|value| value != 0), rule);
}

/// Spec: ETE-ACC-005, ETE-ACC-007, ETE-SGPQB-001, ETE-WCXDT-001.
fn check_direct(step: &mut Step<'_>, access: &Access, level: Option<u8>) {
    let Access { register, operation, outcome, .. } = *access;
    step.find_if(outcome == Outcome::Error, Rule::Acc005);
    let exists = register.exists(step.parameters);
    let of_unit = exists && !register.is_of_processor();
    let encoded = register.has_system_encoding();
    let against = is_against(register, operation, step.parameters);
    let either = is_fixed(register, step.parameters);
    let absent = !register.is_of_processor() && !exists;
    match outcome {
        Outcome::Ok => {
            step.find_if(of_unit && level == Some(0), Rule::Sgpqb001);
            step.find_if(of_unit && !encoded, Rule::Acc007);
            step.find_if(against && !either || absent, Rule::Wcxdt001);
        }
        Outcome::Undefined => {
            let defined = of_unit && encoded && !against && level.is_some_and(|level| level > 0);
            step.find_if(defined, Rule::Wcxdt001);
        }
        _ => {}
    }
}

/// Whether the outcome of the access shows the OS Lock.
pub(super) fn shown_lock(access: &Access, parameters: &Parameters, around: &Surroundings) -> Option<bool> {
    let rules_hold = is_external(access, parameters) && !is_unsupported(access, parameters);
    let against = is_against(access.register, access.operation, parameters);
    if !rules_hold || around.power != Power::On || against {
        return None;
    }
    match access.register.class(parameters) {
        AccessClass::Trace if around.allows(parameters, access.space) == Some(true) => {}
        AccessClass::Claim => {}
        _ => return None,
    }
    match access.outcome {
        Outcome::Ok => Some(false),
        Outcome::Error => Some(true),
        _ => None,
    }
}

/// Whether this value of this register makes the unit behave in ways that the architecture does not describe (`true`),
/// or ends that, with a number for the register; `None`: neither. A value that is not known does.
///
/// Spec: ETE-PRG-012.
pub(super) fn suspends(register: Register, value: Option<u32>) -> Option<(usize, bool)> {
    match register {
        Register::AUXCTLR => Some((0, value != Some(0))),
        Register::IMSPEC0 => Some((1, value.is_none_or(|value| value >> 4 & 0xF != 0))),
        // Only a reset ends integration mode.
        Register::ITCTRL if value.is_none_or(|value| value & 1 == 1) => Some((2, true)),
        _ => None,
    }
}
