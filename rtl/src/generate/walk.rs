//! Random executions that look for what has not happened yet.

use std::collections::BTreeSet;

use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Cycle, Modes, Retire, Step, Stimulus, Trap, TrapVectors};

use super::bins::Pair;
use super::program::{Code, Form, Instruction, Kind, handlers};
use super::rng::Rng;
use crate::device::{MODES, mode_of};
use crate::{Device, Signal};

/// Something that makes an encoder report an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Exception,
    Interrupt,
    Notify,
    Context,
    Disable,
    Halt,
    Trigger,
    /// An uninferable jump or a trap return, as soon as there is one.
    Leave,
    /// None: outcomes until the map is full.
    Nothing,
}

/// Walks through the program.
pub(super) struct Walk<'a> {
    device: &'a Device,
    code: &'a Code,
    rng: &'a mut Rng,
    /// Pairs that no case has had.
    missing: &'a BTreeSet<Pair>,
    /// Idle clocks before an `itype` that no case has had.
    idles: &'a BTreeSet<Pair>,
    steps: Vec<Step>,
    at: u64,
    itype: u8,
    privilege: u8,
    context: u64,
    time: u64,
    /// Addresses since the latest branch, uninferable jump or trap: to come to one of them again would be a loop that
    /// no packet shows.
    passed: BTreeSet<u64>,
    /// What is going to happen, and at how many pending outcomes.
    plan: (Event, u32),
    /// Outcomes since the latest report.
    pending: u32,
    /// The next instruction is reported, because it is the target of an uninferable jump or of a trap.
    reported_next: bool,
    events: Vec<Event>,
    modes: Modes,
    /// Addresses after calls, the newest last.
    links: Vec<u64>,
    /// What retired directly before is an upper immediate.
    upper: bool,
    /// Contexts are 0 and 1, so that filters can pass one of them.
    narrow: bool,
}

const PRIVILEGES: [u8; 3] = [3, 0, 1];

impl<'a> Walk<'a> {
    /// An execution of about `length` steps, from switching the trace on to switching it off.
    pub(super) fn run(
        device: &'a Device,
        code: &'a Code,
        rng: &'a mut Rng,
        (missing, idles, narrow): (&'a BTreeSet<Pair>, &'a BTreeSet<Pair>, bool),
        length: usize,
    ) -> Vec<Step> {
        let mut events = vec![
            Event::Exception,
            Event::Interrupt,
            Event::Disable,
            Event::Leave,
            Event::Leave,
            Event::Nothing,
        ];
        let optional = [
            (device.has(Signal::Notify), Event::Notify),
            (device.has(Signal::Ctype) && !device.parameters.nocontext_p, Event::Context),
            (device.has(Signal::Halted) || device.has(Signal::Reset), Event::Halt),
            (device.has(Signal::Trigger), Event::Trigger),
        ];
        events.extend(optional.into_iter().filter(|(there, _)| *there).map(|(_, event)| event));
        let at = rng.pick(&code.ring).unwrap_or_default();
        let mut walk = Self {
            device,
            code,
            rng,
            missing,
            idles,
            steps: Vec::with_capacity(length + 8),
            at,
            itype: 0,
            privilege: 3,
            context: 0,
            time: 0,
            passed: BTreeSet::new(),
            plan: (Event::Nothing, 0),
            pending: 0,
            reported_next: true,
            events,
            modes: device.parameters.modes,
            links: Vec::new(),
            upper: false,
            narrow,
        };
        walk.replan();
        walk.enable(true);
        while walk.steps.len() < length {
            walk.step();
        }
        // The final instruction is one, so that there is something to report.
        walk.retire_one();
        walk.enable(false);
        walk.steps
    }

    fn replan(&mut self) {
        let event = self.rng.pick(&self.events).unwrap_or(Event::Nothing);
        let outcomes = match self.rng.below(8) {
            0 => 0,
            1 => 1,
            2 => 2 + self.rng.below(2),
            3 => 4 + self.rng.below(4),
            4 => 8 + self.rng.below(8),
            5 | 6 => 16 + self.rng.below(15),
            _ => 31,
        };
        // Enough for all branches on the way to be predicted, and 31 of them to be pending.
        let outcomes = if self.modes.branch_prediction && self.rng.chance(128) {
            32 + self.rng.below(96)
        } else {
            outcomes
        };
        self.plan = (event, u32::try_from(outcomes).unwrap_or(0));
    }

    fn stimulus(&mut self, stimulus: Stimulus) {
        self.steps.push(Step::Stimulus(stimulus));
    }

    fn enable(&mut self, on: bool) {
        if on {
            self.switch_modes();
        }
        self.reported_next = true;
        self.stimulus(Stimulus::Enable(on));
    }

    fn switch_modes(&mut self) {
        let before = self.modes;
        for (control, mode, _) in MODES {
            if self.device.control.contains(&control) && self.rng.chance(100) {
                let on = mode_of(&mut self.modes, mode);
                *on = !*on;
            }
        }
        if self.modes != before {
            self.stimulus(Stimulus::Modes(self.modes));
        }
    }

    fn step(&mut self) {
        self.time = self.time.wrapping_add(self.rng.below(9) as u64);
        let clocks = match self.missing_idle() {
            Some(clocks) => clocks,
            None if self.rng.chance(24) => 1 + self.rng.below(3),
            None => 0,
        };
        for _ in 0..clocks {
            self.stimulus(Stimulus::Cycle(Cycle::default()));
        }
        let in_ring = self.code.ring.contains(&self.at);
        if let Some(interrupt) = self.missing_trap() {
            return self.trap(interrupt);
        }
        if in_ring && self.is_due() {
            let event = self.plan.0;
            self.replan();
            return self.happen(event);
        }
        if !in_ring && self.rng.chance(12) {
            let interrupt = self.rng.chance(128);
            return self.trap(interrupt);
        }
        self.retire(false, 0);
    }

    /// Whether the planned event is to happen now. A request to report the current branch counts its outcome.
    const fn is_due(&self) -> bool {
        let counted = match self.plan.0 {
            Event::Notify => 1,
            // The branch before the jump, and the one that is its target.
            Event::Leave => 2,
            _ => 0,
        };
        self.pending + counted >= self.plan.1
    }

    /// Clocks with an empty port that have never been before the current instruction.
    fn missing_idle(&self) -> Option<usize> {
        let kind = self.code.instructions.get(&self.at)?.kind;
        let itype = kind.itype(false, self.device.parameters.itype_width_p);
        [1, 2].into_iter().find(|clocks| self.idles.contains(&(itype, *clocks))).map(usize::from)
    }

    /// A trap that has never followed what retired last: whether it is an interrupt.
    fn missing_trap(&mut self) -> Option<bool> {
        let itype = self.itype;
        let wanted = [false, true]
            .into_iter()
            .find(|interrupt| self.missing.contains(&(itype, 1 + u8::from(*interrupt))))?;
        self.rng.chance(40).then_some(wanted)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Exception => self.trap(false),
            Event::Interrupt => self.trap(true),
            Event::Notify => self.retire(true, 0),
            Event::Context => {
                let mask = if self.narrow { 1 } else { self.context_mask() };
                self.context = self.rng.word() & mask;
                let ctype = self.rng.pick(&[1, 2, 3, 3]).unwrap_or(3);
                // A precise change directly after an uninferable jump leaves the arrival ambiguous (RVET-ENC-080).
                let ctype = if ctype == 2 && self.passed.len() <= 1 { 3 } else { ctype };
                self.retire(false, ctype);
            }
            Event::Disable => {
                self.enable(false);
                self.untraced();
                self.enable(true);
            }
            Event::Halt => {
                let halted = self.device.has(Signal::Halted);
                let stop = Cycle { halted, reset: !halted, ..Cycle::default() };
                self.reported_next = true;
                self.stimulus(Stimulus::Cycle(stop));
                self.stimulus(Stimulus::Cycle(Cycle::default()));
                self.jump_to_somewhere();
                self.retire_one();
            }
            Event::Trigger => {
                self.stimulus(Stimulus::Cycle(Cycle { trace_off: true, ..Cycle::default() }));
                self.untraced();
                self.stimulus(Stimulus::Cycle(Cycle { trace_on: true, ..Cycle::default() }));
                self.reported_next = true;
                self.retire_one();
            }
            Event::Leave => self.leave(),
            Event::Nothing => self.retire(false, 0),
        }
    }

    /// Instructions while nothing is traced, the last of them no trap.
    fn untraced(&mut self) {
        for _ in 0..=self.rng.below(3) {
            self.retire_one();
        }
    }

    /// After a reset the hart is elsewhere.
    fn jump_to_somewhere(&mut self) {
        self.passed.clear();
        self.links.clear();
        self.itype = 0;
        self.at = self.rng.pick(&self.code.ring).unwrap_or(self.at);
    }

    /// The current branch is not taken, so that what is after it comes.
    fn leave(&mut self) {
        self.take(false, 0, false);
    }

    fn retire_one(&mut self) {
        if self.passed.contains(&self.at) {
            self.jump_to_somewhere_by_trap();
        }
        self.take(false, 0, true);
    }

    /// A loop that no packet shows ends with an interrupt.
    fn jump_to_somewhere_by_trap(&mut self) {
        self.trap(true);
        // Handlers may be where the walk has been: a trap is reported.
        self.passed.clear();
    }

    fn retire(&mut self, notify: bool, ctype: u8) {
        if self.passed.contains(&self.at) {
            return self.trap(true);
        }
        let is_branch = self.code.instructions.get(&self.at).is_some_and(|here| here.kind == Kind::Branch);
        let only_not_taken =
            is_branch && self.missing.contains(&(self.itype, 4)) && !self.missing.contains(&(self.itype, 5));
        let taken = !only_not_taken && (!self.is_due() || self.rng.chance(128));
        self.take_with(taken, ctype, notify);
    }

    fn take(&mut self, taken: bool, ctype: u8, random: bool) {
        let taken = if random { self.rng.chance(128) } else { taken };
        self.take_with(taken, ctype, false);
    }

    /// Retires the current instruction.
    fn take_with(&mut self, taken: bool, ctype: u8, notify: bool) {
        let Some(&instruction) = self.code.instructions.get(&self.at) else {
            return self.jump_to_somewhere();
        };
        let width = self.device.parameters.itype_width_p;
        let branch = instruction.kind == Kind::Branch;
        let itype = instruction.kind.itype(taken, width);
        let notify = notify || (self.device.has(Signal::Notify) && self.rng.chance(6));
        self.passed.insert(self.at);
        self.steps.push(Step::Retire(Retire {
            address: Address(self.at),
            taken: branch.then_some(taken),
            privilege: self.privilege,
            context: self.context,
            time: self.time & self.time_mask(),
            ctype,
            notify,
            partial: false,
        }));
        self.itype = itype;
        let reported = core::mem::take(&mut self.reported_next) || notify || ctype >= 2;
        self.pending += u32::from(branch);
        if reported || (self.pending >= 32 && !self.modes.branch_prediction) {
            self.pending = 0;
        }
        if branch {
            self.passed.clear();
        }
        self.at = self.successor(instruction, taken);
        if instruction.kind == Kind::TrapReturn {
            self.privilege = self.rng.pick(&PRIVILEGES).unwrap_or(3);
        }
    }

    fn successor(&mut self, instruction: Instruction, taken: bool) -> u64 {
        let next = self.at.wrapping_add(instruction.size);
        let after_upper = core::mem::replace(&mut self.upper, instruction.form == Form::Upper);
        if after_upper && instruction.form == Form::Sequential {
            self.call(instruction.kind, next);
            return instruction.target;
        }
        self.call(instruction.kind, next);
        if let Some(link) = self.returns_to(instruction.kind) {
            return link;
        }
        match instruction.kind {
            Kind::Plain => next,
            Kind::Branch if !taken => next,
            Kind::Branch | Kind::Jump | Kind::Call | Kind::OtherJump => instruction.target,
            _ => {
                self.passed.clear();
                self.reported_next = true;
                self.free_target()
            }
        }
    }

    fn call(&mut self, kind: Kind, link: u64) {
        if self.device.knows_calls() && matches!(kind, Kind::Call | Kind::IndirectCall) {
            self.links.push(link);
            if self.links.len() > 64 {
                self.links.remove(0);
            }
        }
    }

    /// Where a return goes if it goes where its call came from. A call counter trusts that it does.
    fn returns_to(&mut self, kind: Kind) -> Option<u64> {
        if kind != Kind::Return || !self.device.knows_calls() {
            return None;
        }
        let trusts = self.device.parameters.return_stack_size_p == 0;
        if !trusts && self.rng.chance(64) {
            return None;
        }
        self.links.pop()
    }

    /// Where an uninferable jump or a trap goes: if possible to something that is missing.
    fn free_target(&mut self) -> u64 {
        let wanted = self.rng.below(100);
        // From lower levels to other lower levels, without a trap between.
        if self.privilege != 3 && self.rng.chance(50) {
            let returns = self.code.by_kind.get(&Kind::TrapReturn);
            if let Some(place) = returns.and_then(|places| self.rng.pick(places)) {
                return place;
            }
        }
        if !self.code.sequential.is_empty() && self.rng.chance(24) {
            return self.rng.pick(&self.code.sequential).unwrap_or(self.at);
        }
        if !self.links.is_empty() && self.rng.chance(64) {
            let returns = self.code.by_kind.get(&Kind::Return);
            if let Some(place) = returns.and_then(|places| self.rng.pick(places)) {
                return place;
            }
        }
        let found = match wanted {
            0..35 => self.missing_after_this(),
            35..50 => self.missing_pair(),
            50..60 => self.rng.pick(&self.code.islands),
            _ => None,
        };
        found.or_else(|| self.rng.pick(&self.code.ring)).unwrap_or(self.at)
    }

    fn missing_after_this(&mut self) -> Option<u64> {
        let wanted: Vec<u8> =
            self.missing.iter().filter(|pair| pair.0 == self.itype).map(|pair| pair.1).collect();
        let itype = self.rng.pick(&wanted)?;
        let kind = self.kind_of(itype)?;
        let places = self.code.by_kind.get(&kind)?;
        self.rng.pick(places)
    }

    fn missing_pair(&mut self) -> Option<u64> {
        let wanted: Vec<Pair> = self.missing.iter().copied().collect();
        let pair = self.rng.pick(&wanted)?;
        let first = self.kind_of(pair.0)?;
        let found = self.kind_of(pair.1).and_then(|second| self.code.pairs.get(&(first, second)).copied());
        // What goes anywhere goes to what is missing once it is reached.
        found.or_else(|| self.code.by_kind.get(&first).and_then(|places| self.rng.pick(places)))
    }

    fn kind_of(&self, itype: u8) -> Option<Kind> {
        let width = self.device.parameters.itype_width_p;
        Kind::ALL
            .into_iter()
            .find(|kind| [false, true].into_iter().any(|taken| kind.itype(taken, width) == itype))
    }

    fn trap(&mut self, interrupt: bool) {
        let parameters = &self.device.parameters;
        let width = parameters.ecause_width_p.min(16);
        let mut cause = self.rng.word() & ((1 << width) - 1);
        let vectors = parameters.trap_vectors;
        if vectors.is_some_and(|vectors| vectors.vectored) && interrupt {
            cause %= handlers(parameters) as u64;
        }
        let tval = if interrupt { 0 } else { self.rng.word() & parameters.address_mask() };
        self.steps.push(Step::Trap(Trap {
            interrupt,
            cause,
            tval,
            epc: Address(self.at),
            privilege: self.privilege,
            context: self.context,
            time: self.time & self.time_mask(),
        }));
        self.privilege = 3;
        self.passed.clear();
        (self.pending, self.reported_next) = (0, true);
        self.itype = 1 + u8::from(interrupt);
        self.upper = false;
        self.at = match vectors {
            Some(TrapVectors { base, vectored }) if vectored && interrupt => base.0 + 4 * cause,
            Some(TrapVectors { base, .. }) => base.0,
            None => self.free_target(),
        };
        // A second trap before the first instruction of the handler.
        if self.rng.chance(40) {
            let interrupt = self.rng.chance(128);
            self.trap(interrupt);
        }
    }

    const fn context_mask(&self) -> u64 {
        mask(self.device.parameters.context_width())
    }

    const fn time_mask(&self) -> u64 {
        mask(self.device.parameters.time_width())
    }
}

/// The low bits.
const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
