//! What does the outside add to a recorded execution before it is encoded?

use traceproof_vectors::riscv_etrace::{Cycle, Step, Stimulus};

use super::{FlowKind, FlowMap};

/// What triggers, clocks and operating systems add to an execution. By default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Instructions between context changes, in turn as `ctype` 2 and 3; 0 = never.
    pub context_period: u64,
    /// Time that every step takes.
    pub time_per_step: u64,
    /// Instructions between reports that a trigger asks for; 0 = never.
    pub notify_period: u64,
    /// Trace-off and trace-on pulses: the first so many steps of a period are traced, the others of it are not.
    pub triggers: Option<TriggerPeriod>,
}

/// When trigger pulses come, by the number of steps (ET 4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerPeriod {
    /// Steps that are traced.
    pub on: u64,
    /// Steps after them that are not.
    pub off: u64,
}

/// Adds the environment to the steps of an execution, decides its branches, and switches tracing on before and off
/// after it.
///
/// The outcome of a branch follows from where execution goes next: for a trap directly after it that is the EPC, also
/// of interrupts.
pub(super) struct Feed<'a, I> {
    steps: I,
    map: &'a FlowMap,
    environment: Environment,
    count: u64,
    instructions: u64,
    context: u64,
    held: Option<Step>,
    traced: bool,
    phase: Phase,
}

enum Phase {
    Start,
    Running,
    End,
}

impl<'a, I: Iterator<Item = Step>> Feed<'a, I> {
    pub(super) const fn new(steps: I, map: &'a FlowMap, environment: Environment) -> Self {
        Self {
            steps,
            map,
            environment,
            count: 0,
            instructions: 0,
            context: 0,
            held: None,
            traced: true,
            phase: Phase::Start,
        }
    }

    fn add_to(&mut self, step: &mut Step) {
        let environment = self.environment;
        let time = self.count.wrapping_mul(environment.time_per_step);
        match step {
            Step::Retire(retire) => {
                self.instructions += 1;
                let due = |period: u64| period != 0 && self.instructions.is_multiple_of(period);
                if due(environment.context_period) {
                    self.context += 1;
                    retire.ctype = if self.context.is_multiple_of(2) { 3 } else { 2 };
                }
                retire.notify |= due(environment.notify_period);
                (retire.context, retire.time) = (self.context, time);
            }
            Step::Trap(trap) => {
                (trap.context, trap.time) = (self.context, time);
            }
            Step::Stimulus(_) => {}
        }
        self.count += 1;
    }

    /// The pulse that comes before the step at hand, if one does.
    fn pulse(&mut self) -> Option<Step> {
        let TriggerPeriod { on, off } = self.environment.triggers?;
        let traced = self.count % on.saturating_add(off).max(1) < on;
        if traced == std::mem::replace(&mut self.traced, traced) {
            return None;
        }
        let pulse = Cycle { trace_on: traced, trace_off: !traced, ..Cycle::default() };
        Some(Step::Stimulus(Stimulus::Cycle(pulse)))
    }

    /// Fills in the outcome of a branch after which execution continues at `next`.
    fn decide(&self, step: &mut Step, next: Option<u64>) {
        if let Step::Retire(retire) = step
            && retire.taken.is_none()
            && let Some(instruction) = self.map.at(retire.address.0)
            && matches!(instruction.kind, FlowKind::Branch(_))
        {
            let next_address = self.map.next_address(retire.address.0, instruction);
            retire.taken = Some(next.is_some_and(|next| next != next_address));
        }
    }
}

impl<I: Iterator<Item = Step>> Iterator for Feed<'_, I> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        match self.phase {
            Phase::Start => {
                self.phase = Phase::Running;
                self.held = self.steps.next();
                return Some(Step::Stimulus(Stimulus::Enable(true)));
            }
            Phase::Running => {}
            Phase::End => return None,
        }
        if self.held.is_some()
            && let Some(pulse) = self.pulse()
        {
            return Some(pulse);
        }
        let Some(mut step) = self.held.take() else {
            self.phase = Phase::End;
            return Some(Step::Stimulus(Stimulus::Enable(false)));
        };
        self.held = self.steps.next();
        let next = match &self.held {
            Some(Step::Retire(retire)) => Some(retire.address),
            Some(Step::Trap(trap)) => Some(trap.epc),
            Some(Step::Stimulus(_)) | None => None,
        };
        self.add_to(&mut step);
        self.decide(&mut step, next.map(u64::from));
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use traceproof_vectors::riscv_etrace::{Retire, Trap, Xlen};
    use traceproof_vectors::{Program, Section};

    #[test]
    fn a_branch_goes_where_the_next_step_is_even_if_that_is_a_trap() {
        let mut program = Program::new();
        // beq zero, zero, .-4
        let bytes = 0xfe00_0ee3_u32.to_le_bytes().to_vec();
        program.insert(Section::new(0x1004, bytes, "")).expect("free");
        let map = FlowMap::new(&program, Xlen::Rv32);
        let branch = || Step::Retire(Retire { address: Address(0x1004), ..Retire::default() });
        let interrupt = |epc| Step::Trap(Trap { interrupt: true, epc, ..Trap::default() });
        let steps = [
            branch(),
            interrupt(Address(0x1000)),
            branch(),
            interrupt(Address(0x1008)),
            branch(),
            branch(),
            branch(),
        ];
        let outcomes: Vec<_> = Feed::new(steps.into_iter(), &map, Environment::default())
            .filter_map(|step| match step {
                Step::Retire(retire) => Some(retire.taken),
                _ => None,
            })
            .collect();
        assert_eq!(outcomes, [Some(true), Some(false), Some(true), Some(true), Some(false)]);
    }
}
