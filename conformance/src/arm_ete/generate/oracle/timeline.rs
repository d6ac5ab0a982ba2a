//! What of an execution is traced, by the rules of the architecture, without packets.

use std::collections::VecDeque;

use traceproof_vectors::Address;
use traceproof_vectors::arm::{Context, InstructionSet};
use traceproof_vectors::arm_ete::{Exception, P0, P0Kind, Signal, State};

use crate::arm_ete::generate::{Instruction, Kind, Scenario};

/// A thing that is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) what: What,
    pub(super) at: Address,
    pub(super) isa: InstructionSet,
    /// The context there, as far as it is traced.
    pub(super) context: Context,
    /// Index of the stimulus.
    pub(super) step: usize,
    /// Number of its P0 element, or of the latest one before it; 0 = before all of them.
    pub(super) element: usize,
    /// Q elements may stand for it (`R_FZTZP`).
    pub(super) q: bool,
}

/// What is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    TraceOn,
    Instruction {
        size: u8,
        /// Of a P0 instruction, whether it was taken.
        outcome: Option<bool>,
        /// A P0 instruction that was not taken and has no element (`R_TZZRH`).
        untraced: bool,
    },
    Exception {
        number: u16,
        returns_to: Option<Address>,
        fault_pending: bool,
    },
    /// ETMv4.
    ExceptionReturn,
    TransactionStart,
    TransactionCommit,
    TransactionFailure,
    Overflow,
    Discard {
        optional: bool,
    },
}

/// A P0 element, cancelled or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Element {
    pub(super) step: usize,
    /// Index of the stimulus that resolved it.
    pub(super) committed: Option<usize>,
    /// Index of the stimulus at which later P0 elements imply its Commit, if none was sent before.
    pub(super) implied: Option<usize>,
    /// Where the instructions after the element before it begin.
    from: State,
}

/// What of an execution is traced.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) items: Vec<Item>,
    /// By number; that of 0 is none.
    pub(super) elements: Vec<Element>,
}

/// Follows an execution.
struct Follower<'a> {
    scenario: &'a Scenario,
    items: Vec<Item>,
    elements: Vec<Element>,
    /// Uncommitted elements, oldest first.
    open: VecDeque<usize>,
    /// Those that would be uncommitted without any Commit packet, oldest first.
    unsent: VecDeque<usize>,
    /// The next instruction.
    at: State,
    /// The first one after the latest P0 element.
    from: State,
    /// Blocks whose P0 instruction is not traced, before one that is.
    untraced: Vec<Item>,
    enabled: bool,
    view_inst: bool,
    overflow: bool,
    prohibited: bool,
    debug: bool,
    /// Trace On is due (`R_LMLSN`).
    gap: bool,
    transaction: bool,
    /// It has a Start element.
    started: bool,
    q_region: bool,
    step: usize,
}

/// The timeline of a scenario.
///
/// # Errors
///
/// Where the execution leaves the program, which would be a fault of the generator.
pub(super) fn timeline(scenario: &Scenario) -> Result<Timeline, String> {
    let mut follower = Follower {
        scenario,
        items: Vec::new(),
        elements: vec![Element::default()],
        open: VecDeque::new(),
        unsent: VecDeque::new(),
        at: State::default(),
        from: State::default(),
        untraced: Vec::new(),
        enabled: false,
        view_inst: true,
        overflow: false,
        prohibited: false,
        debug: false,
        gap: true,
        transaction: false,
        started: false,
        q_region: false,
        step: 0,
    };
    for (step, stimulus) in scenario.stimuli.iter().enumerate() {
        follower.step = step;
        follower.signal(&stimulus.signal)?;
    }
    Ok(Timeline { items: follower.items, elements: follower.elements })
}

impl Follower<'_> {
    fn signal(&mut self, signal: &Signal) -> Result<(), String> {
        match *signal {
            Signal::Enable(state) => (self.enabled, self.at) = (true, state),
            Signal::Disable => self.disable(),
            Signal::ViewInst(active) => {
                self.view_inst = active;
                self.interrupt();
            }
            Signal::P0(p0) => self.p0(&p0)?,
            Signal::Exception(exception) => self.exception(&exception)?,
            Signal::Context(context) => self.at.context = context,
            Signal::Commit(count) => self.commit(count),
            Signal::Cancel { count, .. } => self.cancel(count),
            Signal::Mispredict(next) => {
                self.flip();
                self.at = next;
            }
            Signal::Redirect(next) => self.at = next,
            Signal::TransactionStart => {
                self.transaction = true;
                self.start();
            }
            Signal::TransactionCommit => {
                self.end_transaction(What::TransactionCommit);
                self.transaction = false;
            }
            Signal::TransactionFailure(next) => {
                self.end_transaction(What::TransactionFailure);
                self.untraced.clear();
                (self.transaction, self.at) = (false, next);
            }
            Signal::QRegion(begins) => self.q_region = begins,
            Signal::ProhibitedEntry => self.prohibited = true,
            Signal::ProhibitedExit(next) | Signal::DebugExit(next) => {
                (self.prohibited, self.debug, self.at) = (false, false, next);
                self.interrupt();
            }
            Signal::Overflow(full) => {
                self.overflow = full;
                self.interrupt();
                if full {
                    self.discard(What::Overflow);
                }
            }
            _ => {}
        }
        self.from = self.at;
        Ok(())
    }

    /// What is executed before and after it is not one piece of trace.
    fn interrupt(&mut self) {
        self.gap = true;
        self.untraced.clear();
    }

    const fn is_traced(&self) -> bool {
        self.enabled && self.view_inst && !self.overflow && !self.prohibited && !self.debug
    }

    /// The number of the latest element.
    const fn latest(&self) -> usize {
        self.elements.len() - 1
    }

    fn item(&self, what: What) -> Item {
        let State { address: at, isa, context } = self.at;
        let context = traced(self.scenario, context);
        Item { what, at, isa, context, step: self.step, element: self.latest(), q: self.q_region }
    }

    fn push(&mut self, what: What) {
        let item = self.item(what);
        self.items.push(item);
    }

    /// A P0 element; implied commits (`R_YKLRM`).
    fn element(&mut self) {
        let most = u64::from(self.scenario.parameters.maxspec);
        self.elements.push(Element { step: self.step, from: self.from, ..Element::default() });
        self.open.push_back(self.latest());
        if self.open.len() as u64 > most {
            self.commit(1);
        }
        self.unsent.push_back(self.latest());
        if self.unsent.len() as u64 > most
            && let Some(oldest) = self.unsent.pop_front()
        {
            self.elements[oldest].implied = Some(self.step);
        }
    }

    /// What comes before the first P0 element of a piece of trace (`R_KMFKP`, `R_RKGLY`).
    fn begin(&mut self) {
        if core::mem::take(&mut self.gap) {
            self.push(What::TraceOn);
        }
        if self.transaction && !self.started {
            self.start();
        }
    }

    /// The Start element, if something is traced now (`R_CYHKB`).
    fn start(&mut self) {
        if !self.is_traced() || self.gap {
            return;
        }
        self.started = true;
        if !self.scenario.parameters.commtrans {
            self.element();
        }
        self.push(What::TransactionStart);
    }

    /// The instructions from here up to an address, which is not one of them.
    fn instructions(&mut self, end: Address) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        while self.at.address != end {
            let place = self.scenario.program.place(self.at.address);
            let instruction = place.map(|place| *self.scenario.program.at(place));
            let here = instruction.filter(|here| here.isa == self.at.isa);
            let Some(here) = here else {
                return Err(format!("step {}: no instruction at {}", self.step, self.at.address));
            };
            // P0 instructions have steps of their own.
            if here.is_p0(&self.scenario.parameters) {
                return Err(format!("step {}: {} has no step", self.step, here.address));
            }
            items.push(self.item(What::Instruction { size: here.size, outcome: None, untraced: false }));
            self.at.address = here.end();
        }
        Ok(items)
    }

    fn p0(&mut self, p0: &P0) -> Result<(), String> {
        let mut block = self.instructions(p0.address)?;
        // A Q element stands for what was not taken, too, unless something before it was left out.
        let in_q = self.q_region && self.untraced.is_empty();
        let untraced = self.scenario.policy.source_addresses && !p0.taken && !in_q;
        let what = What::Instruction { size: p0.size, outcome: Some(p0.taken), untraced };
        block.push(self.item(what));
        if self.is_traced() {
            self.untraced.append(&mut block);
            if !untraced {
                self.trace_block();
                if p0.kind == P0Kind::ExceptionReturn
                    && p0.taken
                    && !self.scenario.parameters.version.is_ete()
                {
                    self.push(What::ExceptionReturn);
                }
            }
        }
        self.at = p0.next;
        Ok(())
    }

    /// A P0 element with the instructions since the one before.
    fn trace_block(&mut self) {
        let block = core::mem::take(&mut self.untraced);
        self.begin();
        self.element();
        let element = self.latest();
        self.items.extend(block.into_iter().map(|item| Item { element, ..item }));
    }

    /// Spec: ETE-QHRVX-001, ETE-SFYMW-001, ETE-NRJGC-001, A27.
    fn exception(&mut self, exception: &Exception) -> Result<(), String> {
        let reset = exception.number == 0;
        let block = if reset { Vec::new() } else { self.instructions(exception.returns_to.address)? };
        if self.is_traced() {
            self.untraced.extend(block);
            if reset {
                self.untraced.clear();
                self.reset();
            }
            self.trace_block();
            let returns_to = (!reset).then_some(exception.returns_to.address);
            let Exception { number, fault_pending, .. } = *exception;
            self.push(What::Exception { number, returns_to, fault_pending });
        } else if reset {
            self.end_transaction(What::TransactionFailure);
        }
        self.transaction &= !reset;
        self.at = exception.handler;
        self.debug |= exception.number == 1;
        Ok(())
    }

    /// A transaction fails at a PE Reset, with or without Discard (`R_NSMJF`, `R_QWGXL`).
    fn reset(&mut self) {
        if self.started || !self.open.is_empty() {
            self.discard(What::Discard { optional: self.open.is_empty() });
        }
        self.transaction = false;
    }

    fn commit(&mut self, count: u32) {
        for _ in 0..count {
            if let Some(element) = self.open.pop_front() {
                self.elements[element].committed = Some(self.step);
            }
        }
    }

    /// Execution is back after the latest element that is left; what was executed from there up to where it goes on
    /// is part of the next one.
    ///
    /// Spec: ETE-SPBCG-001.
    fn cancel(&mut self, count: u32) {
        let kept = self.open.len().saturating_sub(count as usize);
        let Some(&first) = self.open.get(kept) else { return };
        self.open.truncate(kept);
        self.unsent.retain(|element| *element < first);
        let started = self.items.iter().rposition(|item| item.what == What::TransactionStart);
        if started.is_some_and(|started| self.started && self.items[started].element >= first) {
            (self.started, self.transaction) = (false, false);
        }
        self.items.retain(|item| item.element < first);
        self.untraced.clear();
        self.at = self.elements[first].from;
    }

    /// The youngest atom has the other outcome.
    fn flip(&mut self) {
        let outcomes = self.items.iter_mut().rev().find_map(|item| match &mut item.what {
            What::Instruction { outcome: Some(outcome), .. } => Some(outcome),
            _ => None,
        });
        if let Some(outcome) = outcomes {
            *outcome = !*outcome;
        }
    }

    /// The end of a transaction that has a Start element; nothing that a failed one did happened (`R_XZBFV`).
    fn end_transaction(&mut self, what: What) {
        if !core::mem::take(&mut self.started) {
            return;
        }
        if what == What::TransactionFailure {
            self.fail();
        }
        self.push(what);
    }

    /// What stands after the latest Start did not happen.
    fn fail(&mut self) {
        let start = self.items.iter().rposition(|item| item.what == What::TransactionStart);
        self.items.truncate(start.map_or(self.items.len(), |start| start + 1));
    }

    /// What is uncommitted is lost; an open transaction fails (`R_CTYFK`, `R_YTKLN`).
    fn discard(&mut self, what: What) {
        if let Some(&first) = self.open.front() {
            self.items.retain(|item| item.element < first);
        }
        self.open.clear();
        self.unsent.clear();
        self.started = false;
        let latest = self.items.iter().rev().find(|item| {
            use What::{TransactionCommit, TransactionFailure, TransactionStart};
            matches!(item.what, TransactionStart | TransactionCommit | TransactionFailure)
        });
        if latest.is_some_and(|latest| latest.what == What::TransactionStart) {
            self.fail();
            self.push(What::TransactionFailure);
        }
        self.push(what);
    }

    /// Spec: ETE-WDWGV-001, `R_ZJXHP`.
    fn disable(&mut self) {
        let uncommitted = !self.open.is_empty();
        if uncommitted || self.started {
            self.discard(What::Discard { optional: !uncommitted });
        }
        self.enabled = false;
    }
}

/// What a trace says of a context (`R_VHQYV`).
fn traced(scenario: &Scenario, context: Context) -> Context {
    let parameters = &scenario.parameters;
    let bytes = |value: Option<u32>, bytes: u8, on: bool| {
        let mask = u32::MAX >> (32 - 8 * u32::from(bytes.clamp(1, 4)));
        (bytes > 0).then_some(if on { value.unwrap_or(0) & mask } else { 0 })
    };
    context
        .with_context_id(bytes(context.context_id, parameters.context_id_bytes, parameters.context_ids))
        .with_vmid(bytes(context.vmid, parameters.vmid_bytes, parameters.vmids))
}

/// An item for messages.
pub(super) fn show(item: &Item) -> String {
    let Item { what, at, isa, .. } = item;
    match what {
        What::Instruction { outcome, .. } => {
            let outcome = match outcome {
                None => "no P0 instruction",
                Some(true) => "taken",
                Some(false) => "not taken",
            };
            format!("the instruction at {at} ({isa}, {outcome})")
        }
        what => format!("{what:x?} at {at} ({isa})"),
    }
}

impl Item {
    /// Whether it is part of an element that can be a P0 element, not something that stands after one.
    pub(super) const fn is_element(&self) -> bool {
        matches!(self.what, What::Instruction { .. } | What::Exception { .. } | What::TransactionStart)
    }
}

/// Whether Q elements go over this instruction (ETE-DEC-AN-004): an unconditional direct branch. In T32 the code does
/// not tell, as an exception may return into an IT block, and what looks like IT may be the end of another instruction.
pub(super) fn is_certain(scenario: &Scenario, item: &Item) -> bool {
    let instruction = scenario.program.place(item.at).map(|place| scenario.program.at(place));
    let is_certain = |item: &Instruction| matches!(item.kind, Kind::Direct { .. }) && !item.conditional;
    item.isa != InstructionSet::T32 && instruction.is_some_and(is_certain)
}
