//! What of an execution is traced, by the rules of chapters 2 to 5, without packets.

use traceproof_vectors::Address32;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{Action, Exception, Execute, Signal, State, TakenException};

use crate::arm_pft::generate::{Instruction, Kind, Scenario};

/// A thing that is traced, or an edge of what is traced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) what: What,
    /// The state of the next instruction before it.
    pub(super) at: State,
    /// The registers that are in force there.
    pub(super) context_id: u32,
    pub(super) vmid: u8,
    /// What was written to them, which takes effect later. An I-sync may carry it already: 4.5.7 speaks of
    /// packets of their own only.
    pub(super) written: (u32, u8),
    /// The security state when this happened; a write to SCR changes it within a block (4.12.2).
    pub(super) non_secure: bool,
    /// Index of the step.
    pub(super) step: usize,
}

/// What is traced.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Tracing starts with an I-sync (3.3.2, 4.7, 4.8, 4.17, 5.3.8; PFT-ENC-002, PFT-ENC-003).
    Start {
        reasons: Reasons,
        /// Nothing happened since tracing stopped, so that a PTM may not notice.
        optional: bool,
    },
    /// An instruction.
    Instruction {
        size: u8,
        /// Of a waypoint, whether it was executed.
        executed: Option<bool>,
        /// A branch was taken: the security state is that of `next` (4.12.2).
        branches: bool,
        /// The state after it.
        next: State,
    },
    /// An exception (5.2, 5.3).
    Exception { number: u16, handler: Option<State> },
    /// The waypoint before was an exception return (4.5.10).
    Return,
    /// Tracing stops. From `lossy_from` on, atoms may not have come out (4.8).
    Stop { lossy_from: usize },
}

/// Reasons that an I-sync may have: each thing that stopped tracing, or that happened while it was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons {
    pub(super) enabled: bool,
    pub(super) overflow: bool,
    pub(super) debug_exit: bool,
}

/// A register that takes effect after the next waypoint (4.5.7, PFT-ENC-037).
#[derive(Clone, Copy, Default)]
struct Register<T> {
    written: T,
    in_force: T,
}

/// Follows an execution.
pub(super) struct Follower<'a> {
    scenario: &'a Scenario,
    items: Vec<Item>,
    /// The next instruction.
    next: State,
    /// The destination of the latest waypoint.
    block_start: State,
    /// Instructions since the latest waypoint.
    block: Vec<Item>,
    context_id: Register<u32>,
    vmid: Register<u8>,
    enabled: bool,
    trace_enable: bool,
    overflow: bool,
    prohibited: bool,
    debug: bool,
    on: bool,
    reasons: Reasons,
    /// Something was missed while tracing was off.
    missed: bool,
    step: usize,
}

/// The timeline of a scenario.
///
/// # Errors
///
/// Where the execution leaves the program, which would be a fault of the generator.
pub(super) fn timeline(scenario: &Scenario) -> Result<Vec<Item>, String> {
    let mut follower = Follower {
        scenario,
        items: Vec::new(),
        next: State::default(),
        block_start: State::default(),
        block: Vec::new(),
        context_id: Register::default(),
        vmid: Register::default(),
        enabled: false,
        trace_enable: true,
        overflow: false,
        prohibited: false,
        debug: false,
        on: false,
        reasons: Reasons::default(),
        missed: true,
        step: 0,
    };
    for (index, step) in scenario.steps.iter().enumerate() {
        follower.step = index;
        match step.action {
            Action::Execute(execute) => follower.execute(&execute)?,
            Action::Exception(taken) => follower.exception(&taken),
            Action::DebugEntry => follower.debug_entry(),
            Action::Signal(signal) => follower.signal(&signal),
            _ => {}
        }
        follower.update();
    }
    Ok(follower.items)
}

impl Follower<'_> {
    fn item(&self, what: What, at: State) -> Item {
        let (context_id, vmid) = (self.context_id.in_force, self.vmid.in_force);
        let written = (self.context_id.written, self.vmid.written);
        let non_secure = self.next.non_secure;
        Item { what, at, context_id, vmid, written, non_secure, step: self.step }
    }

    fn push(&mut self, what: What, at: State) {
        let item = self.item(what, at);
        self.items.push(item);
    }

    /// Execution goes on here, after a waypoint.
    fn arrive(&mut self, state: State) {
        (self.next, self.block_start) = (state, state);
        self.block.clear();
        self.context_id.in_force = self.context_id.written;
        self.vmid.in_force = self.vmid.written;
    }

    fn instruction(&self, execute: &Execute) -> Result<Instruction, String> {
        let found = self.scenario.program.find(execute.address, self.next.isa);
        let here = found.filter(|item| item.address == self.next.address);
        here.copied().ok_or_else(|| format!("step {}: no instruction at {}", self.step, execute.address))
    }

    fn execute(&mut self, execute: &Execute) -> Result<(), String> {
        let item = self.instruction(execute)?;
        let parameters = &self.scenario.parameters;
        let here = self.next;
        let (address, isa) =
            if execute.skipped { (item.end(), item.isa) } else { self.scenario.program.destination(&item) };
        let known = State { address, isa, ..here };
        let next = execute.to.filter(|_| !execute.skipped).unwrap_or(known);
        let executed = item.is_waypoint(parameters).then_some(!execute.skipped);
        let branches = item.is_branch() && !execute.skipped;
        let what = What::Instruction { size: item.size, executed, branches, next };
        let item_here = self.item(what, here);
        self.block.push(item_here);
        self.next = next;
        if executed.is_none() {
            return Ok(());
        }
        let returns = !execute.skipped && (item.kind == Kind::ExceptionReturn || execute.exception_return);
        self.end_block();
        self.arrive(next);
        if self.on && returns && parameters.has_exception_returns() {
            self.push(What::Return, next);
        }
        Ok(())
    }

    /// The instructions of the block are traced, or missed.
    fn end_block(&mut self) {
        if self.on {
            self.items.append(&mut self.block);
        }
        self.missed |= !self.on;
    }

    /// Of a reset it is not known where execution was: the latest waypoint counts (5.3.1, PFT-ENC-014).
    fn exception(&mut self, taken: &TakenException) {
        let reset = taken.number == 8 && !self.scenario.parameters.m_profile;
        if reset {
            self.block.clear();
        }
        let at = if reset { self.block_start } else { self.next };
        self.take(&Exception { number: taken.number, last: None, handler: taken.handler }, at);
    }

    fn take(&mut self, exception: &Exception, at: State) {
        self.end_block();
        if self.on {
            self.push(What::Exception { number: exception.number, handler: Some(exception.handler) }, at);
        }
        self.arrive(exception.handler);
    }

    /// Spec: PFT-ENC-019 (5.3.8).
    fn debug_entry(&mut self) {
        self.end_block();
        if self.on {
            self.push(What::Exception { number: 1, handler: None }, self.next);
        }
        self.block.clear();
        self.debug = true;
    }

    fn signal(&mut self, signal: &Signal) {
        match *signal {
            Signal::Enable(state) => {
                self.enabled = true;
                self.reasons.enabled = true;
                self.arrive(state);
            }
            Signal::Disable => self.enabled = false,
            Signal::TraceEnable(on) => {
                self.trace_enable = on;
                self.reasons.enabled |= on;
            }
            Signal::DebugExit(state) => {
                self.debug = false;
                self.reasons.debug_exit = true;
                self.missed = true;
                self.arrive(state);
            }
            Signal::ProhibitedEntry => self.prohibited = true,
            Signal::ProhibitedExit(state) => {
                self.prohibited = false;
                self.reasons.enabled = true;
                self.missed = true;
                self.arrive(state);
            }
            Signal::JazelleExit(state) => {
                self.reasons.enabled = true;
                self.missed = true;
                self.arrive(state);
            }
            Signal::Overflow(full) => {
                self.overflow = full;
                self.reasons.overflow |= !full;
            }
            Signal::ContextId(value) => self.context_id.written = value,
            Signal::Vmid(value) => self.vmid.written = value,
            Signal::NonSecure(non_secure) => self.next.non_secure = non_secure,
            _ => {}
        }
    }

    /// Tracing starts or stops where execution is now: at the destination of the latest waypoint.
    fn update(&mut self) {
        let jazelle = self.next.isa == InstructionSet::Jazelle;
        let stopped = self.overflow || self.prohibited || self.debug || jazelle;
        let on = self.enabled && self.trace_enable && !stopped;
        if on == self.on {
            return;
        }
        self.on = on;
        if on {
            let reasons = core::mem::take(&mut self.reasons);
            self.push(What::Start { reasons, optional: !self.missed }, self.block_start);
        } else {
            self.missed = false;
            self.reasons = Reasons::default();
            let lossy_from = if self.overflow { self.held_from() } else { self.items.len() };
            self.push(What::Stop { lossy_from }, self.block_start);
        }
    }

    /// The first item that atoms held in the PTM may stand for (4.2).
    fn held_from(&self) -> usize {
        let parameters = &self.scenario.parameters;
        let mut most = usize::from(self.scenario.policy.atoms_per_packet);
        if parameters.cycle_accurate {
            most = 0;
        }
        let mut from = self.items.len();
        for (index, item) in self.items.iter().enumerate().rev() {
            match item.what {
                What::Instruction { executed: Some(_), .. } if most == 0 => return from,
                What::Instruction { executed, .. } => most -= usize::from(executed.is_some()),
                _ => return from,
            }
            from = index;
        }
        from
    }
}

/// Where an item leads without branching, for messages.
pub(super) fn show(item: &Item) -> String {
    let State { address, isa, non_secure, hyp } = item.at;
    let state = if non_secure { "Non-secure" } else { "Secure" };
    let mode = if hyp { ", Hyp mode" } else { "" };
    match item.what {
        What::Start { .. } => format!("an I-sync at {address} ({isa}, {state}{mode})"),
        What::Instruction { executed, .. } => {
            let outcome = match executed {
                None => "no waypoint",
                Some(true) => "executed",
                Some(false) => "not executed",
            };
            format!("the instruction at {address} ({isa}, {state}{mode}, {outcome})")
        }
        What::Exception { number, handler } => {
            let to = handler.map_or(Address32(0), |handler| handler.address);
            format!("exception {number} before {address} to {to}")
        }
        What::Return => "an exception return".to_owned(),
        What::Stop { .. } => "the end of tracing".to_owned(),
    }
}
