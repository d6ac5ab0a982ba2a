//! Where the instructions of a sweep lie, and how they are executed.
//!
//! An instruction lies between two `c.nop`, another `c.nop` is its target; one that leads straight on has two after it.
//! It is executed from the first one on: they retire, and an interrupt leads to the next instruction.
//!
//! With implicit return the target is `c.jr x1`, which comes back from a call and goes elsewhere after other jumps; a
//! return has a call before it. So an instruction that is wrongly taken for a call, or not for one, changes the flow.

use std::collections::BTreeMap;

use traceproof_vectors::case::Expected;
use traceproof_vectors::riscv_etrace::{Epc, Event, Retire, RiscvEtrace, Step, Stimulus, StopReason, Trap};
use traceproof_vectors::{Address, Program, Section};

use super::Row;

const NOP: u16 = 0x0001;
/// `c.jr x1`.
const RETURN: u16 = 0x8082;
/// `jal x1, 8`.
const CALL_AHEAD: [u16; 2] = [0x00ef, 0x0080];
/// Address of the first instruction, and the distance of candidates for the others.
const BASE: u64 = 0x4000_0000;
const STEP: u64 = 0x10;
/// Where jumps go whose target is not in the opcode.
const ELSEWHERE: u64 = 0x2000_0000;
/// Where a `c.jr x1` goes that is no return from the call before it.
const FAR_AWAY: u64 = 0x2000_1000;
const MACHINE: u8 = 3;
/// Causes: a breakpoint, an environment call from M-mode, a timer interrupt (privileged architecture, `mcause`).
const BREAKPOINT: u64 = 3;
const CALL: u64 = 11;
const TIMER: u64 = 7;

pub(super) struct Layout {
    mask: u64,
    implicit_return: bool,
    program: Program,
    /// Half-words that are in use, by their address.
    code: BTreeMap<u64, u16>,
    next: u64,
    steps: Vec<Step>,
    events: Vec<Expected<RiscvEtrace>>,
    failed: Option<String>,
}

/// Program, execution, and the events that it must give.
pub(super) struct Finished {
    pub(super) program: Program,
    pub(super) steps: Vec<Step>,
    pub(super) events: Vec<Expected<RiscvEtrace>>,
}

impl Layout {
    /// `mask`: of the bits of addresses.
    pub(super) fn new(mask: u64, implicit_return: bool) -> Self {
        Self {
            mask,
            implicit_return,
            program: Program::new(),
            code: BTreeMap::new(),
            next: BASE,
            steps: vec![Step::Stimulus(Stimulus::Enable(true))],
            events: Vec::new(),
            failed: None,
        }
    }

    /// Executes the instruction of a row; `false` if its target overlaps it, so that it cannot be executed.
    pub(super) fn run(&mut self, row: &Row) -> bool {
        match row.class {
            "return" if self.implicit_return => self.returning(row),
            _ if self.implicit_return => return self.calling(row),
            "branch" => {
                let target = Self::separate_target(row, 0);
                let at = self.place(row, target);
                self.visit(at, row, Some(false), at.wrapping_add(row.length));
                if target.is_some() {
                    self.visit(at, row, Some(true), self.target(at, row));
                }
            }
            "inferable-jump" | "inferable-call" | "other-inferable-jump" => {
                let Some(target) = Self::separate_target(row, 0) else { return false };
                let at = self.place(row, Some(target));
                self.visit(at, row, None, self.target(at, row));
            }
            "environment-call" => {
                let at = self.place(row, None);
                let cause = if row.text.contains("ebreak") { BREAKPOINT } else { CALL };
                self.retire(at.wrapping_sub(2), 2, None);
                self.exception(cause, at);
            }
            "straight" | "load-upper" | "load-upper-pc" => self.straight_on(row),
            // Through a register, or back from a trap.
            _ => {
                let at = self.place(row, None);
                self.landing("target", ELSEWHERE, NOP);
                self.visit(at, row, None, ELSEWHERE);
            }
        }
        true
    }

    /// Two `c.nop` come after the row: what is wrongly taken for a jump through a register leads to the last one, which
    /// the trace reports, and passes over the first.
    fn straight_on(&mut self, row: &Row) {
        let start = self.free(2, row.length, 4, None);
        let at = start.wrapping_add(2);
        self.insert(row.text, start, &[&[NOP], row.halves(), &[NOP, NOP]].concat());
        self.retire(start, 2, None);
        self.retire(at, row.length, None);
        self.nops_and_interrupt(at.wrapping_add(row.length));
    }

    /// A call whose link is before the return: `jal`, two `c.nop`, the return.
    fn returning(&mut self, row: &Row) {
        let start = self.free(8, row.length, 2, None);
        let at = start.wrapping_add(8);
        self.insert(row.text, start, &[&CALL_AHEAD[..], &[NOP, NOP], row.halves(), &[NOP]].concat());
        self.retire(start, 4, None);
        self.retire(at, row.length, None);
        self.nops_and_interrupt(start.wrapping_add(4));
    }

    /// A jump to a `c.jr x1`, which comes back if the jump is a call; `false` if the target is in its own place.
    fn calling(&mut self, row: &Row) -> bool {
        let target = if row.class.contains("uninferable") || row.class == "coroutine-swap" {
            Target::At(ELSEWHERE.cast_signed())
        } else {
            let Some(target) = Self::separate_target(row, 4) else { return false };
            target
        };
        let start = self.free(2, row.length, 4, Some((target, RETURN)));
        let at = start.wrapping_add(2);
        self.insert(row.text, start, &[&[NOP], row.halves(), &[NOP, NOP]].concat());
        let target = target.of(at) & self.mask;
        self.landing("return", target, RETURN);
        self.retire(start, 2, None);
        self.retire(at, row.length, None);
        self.retire(target, 2, None);
        if row.class.ends_with("call") {
            self.nops_and_interrupt(at.wrapping_add(row.length));
        } else {
            self.landing("target", FAR_AWAY, NOP);
            self.landing("target", FAR_AWAY + 2, NOP);
            self.nops_and_interrupt(FAR_AWAY);
        }
        true
    }

    /// Two `c.nop`, then an interrupt: the latest instruction is no target of a return.
    fn nops_and_interrupt(&mut self, at: u64) {
        self.retire(at, 2, None);
        self.retire(at.wrapping_add(2), 2, None);
        self.interrupt();
    }

    /// The last instructions, and the end of the trace.
    pub(super) fn finish(mut self) -> Result<Finished, String> {
        let at = self.free(2, 0, 2, None);
        self.insert("end", at, &[NOP, NOP]);
        self.retire(at, 2, None);
        self.retire(at.wrapping_add(2), 2, None);
        self.steps.push(Step::Stimulus(Stimulus::Enable(false)));
        self.events.push(Expected::Event(Event::Stop { reason: StopReason::Ended }));
        match self.failed {
            Some(message) => Err(message),
            None => Ok(Finished { program: self.program, steps: self.steps, events: self.events }),
        }
    }

    /// Distance or address of the target; `None` if a half-word there would be in the row's own place, or in the
    /// `after` bytes that follow it.
    fn separate_target(row: &Row, after: u64) -> Option<Target> {
        let length = (row.length + after).cast_signed();
        let own = !row.absolute && (-3..length).contains(&row.distance);
        (!own).then_some(if row.absolute { Target::At(row.distance) } else { Target::Distance(row.distance) })
    }

    fn target(&self, at: u64, row: &Row) -> u64 {
        let base = if row.absolute { 0 } else { at };
        base.wrapping_add_signed(row.distance) & self.mask
    }

    /// Puts the row between two `c.nop` and one at its target; the address of the row.
    fn place(&mut self, row: &Row, target: Option<Target>) -> u64 {
        let start = self.free(2, row.length, 2, target.map(|target| (target, NOP)));
        let at = start.wrapping_add(2);
        self.insert(row.text, start, &[&[NOP], row.halves(), &[NOP]].concat());
        if target.is_some() {
            self.landing("target", self.target(at, row), NOP);
        }
        at
    }

    /// An address with room for so many bytes before an instruction, in it and after it, and for a half-word at its
    /// target.
    fn free(&mut self, before: u64, length: u64, after: u64, target: Option<(Target, u16)>) -> u64 {
        loop {
            let start = self.next;
            self.next = self.next.wrapping_add(STEP);
            let at = start.wrapping_add(before);
            let room = before + length + after;
            let vacant = (0..room).step_by(2).all(|byte| !self.code.contains_key(&(start + byte)));
            let reachable = target.is_none_or(|(target, landing)| {
                let target = target.of(at) & self.mask;
                self.code.get(&target).is_none_or(|half| *half == landing)
            });
            if vacant && reachable {
                return start;
            }
        }
    }

    /// This half-word there, unless it is there already.
    fn landing(&mut self, name: &str, at: u64, half: u16) {
        if self.code.get(&at) != Some(&half) {
            self.insert(name, at, &[half]);
        }
    }

    fn insert(&mut self, name: &str, at: u64, halves: &[u16]) {
        for (index, half) in (0..).zip(halves) {
            self.code.insert(at + 2 * index, *half);
        }
        let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        if let Err(error) = self.program.insert(Section::new(at, bytes, name)) {
            self.failed.get_or_insert_with(|| format!("{name}: {error}"));
        }
    }

    /// The `c.nop` before the instruction, itself, the one where it leads to; then an interrupt.
    fn visit(&mut self, at: u64, row: &Row, taken: Option<bool>, to: u64) {
        self.retire(at.wrapping_sub(2), 2, None);
        self.retire(at, row.length, taken);
        self.retire(to, 2, None);
        self.interrupt();
    }

    fn interrupt(&mut self) {
        let (interrupt, cause, privilege) = (true, TIMER, MACHINE);
        self.steps.push(Step::Trap(Trap { interrupt, cause, privilege, ..Trap::default() }));
        self.expect(Event::Trap { interrupt, cause, tval: None, epc: Epc::Unstated });
        self.expect(Event::Context { privilege, context: None, precise: true });
    }

    /// An exception of the instruction there, which does not retire.
    fn exception(&mut self, cause: u64, at: u64) {
        let (privilege, epc) = (MACHINE, Address(at));
        self.steps.push(Step::Trap(Trap { cause, epc, privilege, ..Trap::default() }));
        self.expect(Event::Trap { interrupt: false, cause, tval: Some(0), epc: Epc::At(epc) });
        self.expect(Event::Context { privilege, context: None, precise: true });
    }

    fn retire(&mut self, at: u64, length: u64, taken: Option<bool>) {
        if self.events.is_empty() {
            self.expect(Event::Context { privilege: MACHINE, context: None, precise: true });
        }
        let address = Address(at);
        self.steps.push(Step::Retire(Retire { address, taken, privilege: MACHINE, ..Retire::default() }));
        let end = Address(at.wrapping_add(length) & self.mask);
        self.expect(Event::Retire { first: address, end, count: 1 });
    }

    fn expect(&mut self, event: Event) {
        self.events.push(Expected::Event(event));
    }
}

/// The target of a row.
#[derive(Clone, Copy)]
enum Target {
    At(i64),
    Distance(i64),
}

impl Target {
    /// Its address, if the row is there.
    const fn of(self, at: u64) -> u64 {
        match self {
            Self::At(address) => 0_u64.wrapping_add_signed(address),
            Self::Distance(distance) => at.wrapping_add_signed(distance),
        }
    }
}
