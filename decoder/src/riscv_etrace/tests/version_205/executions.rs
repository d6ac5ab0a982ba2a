//! Random executions with `irets`: a program, a way through it, the packets of an encoder that follows the text, and
//! the way that is decoded.

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::Parameters;

use super::super::modes::jal;
use super::super::{JUMP, NOP, RET, pack, program};
use super::{announcement, implicit, payload, summary};

/// Address of the first instruction.
const BASE: i64 = 0x1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Straight,
    Branch(usize),
    Jump(usize),
    Call(usize),
    Return,
    Uninferable,
}

/// Numbers from a seed, by the generator of Marsaglia.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

/// Kinds of the instructions of a program; inferable jumps lead forward.
fn kinds(random: &mut Random) -> Vec<Kind> {
    let length = 8 + random.below(9);
    (0..length)
        .map(|index| match random.below(100) {
            0..35 => Kind::Straight,
            35..43 => Kind::Branch(random.below(length)),
            43..51 if index + 1 < length => Kind::Jump(index + 1 + random.below(length - index - 1)),
            51..72 => Kind::Call(random.below(length)),
            72..93 => Kind::Return,
            93.. => Kind::Uninferable,
            _ => Kind::Straight,
        })
        .collect()
}

fn code(kinds: &[Kind]) -> Program {
    let offset = |from: usize, to: usize| 4 * (to as i32 - from as i32);
    let words: Vec<u32> = kinds
        .iter()
        .enumerate()
        .map(|(at, &kind)| match kind {
            Kind::Straight => NOP,
            // beq x0, x0
            Kind::Branch(to) => {
                let bits = |first: u32, width: u32| (offset(at, to) as u32 >> first) & ((1 << width) - 1);
                bits(12, 1) << 31 | bits(5, 6) << 25 | bits(1, 4) << 8 | bits(11, 1) << 7 | 0x63
            }
            Kind::Jump(to) => jal(0, offset(at, to)),
            Kind::Call(to) => jal(1, offset(at, to)),
            Kind::Return => RET,
            Kind::Uninferable => JUMP,
        })
        .collect();
    program(&[(BASE as u64, &words)])
}

/// A step of an execution.
#[derive(Clone, Copy)]
struct Step {
    at: usize,
    taken: bool,
    notify: bool,
}

/// A way through the program; it ends before it comes back without branch or uninferable discontinuity.
fn way(kinds: &[Kind], random: &mut Random) -> Vec<Step> {
    let mut at = random.below(kinds.len());
    let (mut links, mut seen, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    while steps.len() < 60 && !seen.contains(&at) {
        let Some(&kind) = kinds.get(at) else { break };
        seen.push(at);
        let taken = random.percent(50);
        steps.push(Step { at, taken, notify: random.percent(8) });
        if matches!(kind, Kind::Branch(_) | Kind::Return | Kind::Uninferable) {
            seen.clear();
        }
        at = match kind {
            Kind::Branch(to) if taken => to,
            Kind::Jump(to) => to,
            Kind::Call(to) => {
                links.push(at + 1);
                to
            }
            Kind::Return => match links.pop() {
                Some(link) if random.percent(85) => link,
                _ => random.below(kinds.len()),
            },
            Kind::Uninferable => random.below(kinds.len()),
            Kind::Straight | Kind::Branch(_) => at + 1,
        };
    }
    steps
}

/// How an instruction was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    Inferably,
    Discontinuity,
    Predicted,
    Failed,
    /// By a return that met an empty stack.
    Unpredicted,
}

/// An encoder with a return stack, and a counter that repeats its entries.
struct Encoder<'a> {
    kinds: &'a [Kind],
    entries: usize,
    most_repeats: usize,
    links: Vec<(usize, usize)>,
    /// Implicit returns since the latest branch or packet.
    count: u64,
    outcomes: Vec<bool>,
    base: usize,
    payloads: Vec<String>,
}

impl Encoder<'_> {
    fn call(&mut self, link: usize) {
        match self.links.last_mut() {
            Some((top, repeats)) if *top == link && *repeats < self.most_repeats => *repeats += 1,
            _ => self.links.push((link, 0)),
        }
        if self.links.len() > self.entries {
            self.links.remove(0);
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let (link, repeats) = self.links.last_mut()?;
        let link = *link;
        if *repeats > 0 {
            *repeats -= 1;
        } else {
            self.links.pop();
        }
        Some(link)
    }

    /// Leaves `at` for `next`.
    fn leave(&mut self, at: usize, next: usize) -> Reached {
        match self.kinds[at] {
            Kind::Call(_) => {
                self.call(at + 1);
                Reached::Inferably
            }
            Kind::Uninferable => Reached::Discontinuity,
            Kind::Return => match self.pop() {
                None => Reached::Unpredicted,
                Some(link) if link == next => {
                    self.count += 1;
                    Reached::Predicted
                }
                Some(_) => Reached::Failed,
            },
            _ => Reached::Inferably,
        }
    }

    /// Whether the instruction is due for how it was reached.
    fn is_due(&self, reached: Reached) -> bool {
        match reached {
            Reached::Inferably => false,
            Reached::Predicted => self.count == 256,
            _ => true,
        }
    }

    /// Format 1 or 2 for the instruction at `at`.
    fn report(&mut self, step: Step, reached: Reached) {
        let due = self.is_due(reached);
        let is_branch = matches!(self.kinds[step.at], Kind::Branch(_));
        let irets = match reached {
            Reached::Discontinuity => None,
            Reached::Failed => Some(self.count),
            // The text has the return in the count unless it is due.
            Reached::Predicted => Some(self.count - u64::from(due)),
            Reached::Unpredicted => Some(self.count).filter(|&count| count > 0),
            Reached::Inferably => Some(self.count).filter(|&count| count > 0 && !is_branch),
        };
        let notify = step.notify && matches!(reached, Reached::Inferably | Reached::Predicted);
        let mut fields = Vec::new();
        if self.outcomes.is_empty() {
            fields.push((2, 2));
        } else {
            let branches = self.outcomes.len() as u64;
            let width = [1, 3, 7, 15, 31].into_iter().find(|&width| branches <= width).expect("at most 31");
            let map = self.outcomes.iter().rev().fold(0, |map, &taken| map << 1 | u64::from(!taken));
            fields.extend([(1, 2), (branches, 5), (map, width as u32)]);
        }
        let delta = 4 * (step.at as i64 - self.base as i64);
        let top = u64::from(delta < 0);
        let before = top ^ u64::from(notify);
        let last = before ^ u64::from(irets.is_some());
        fields.extend([(delta as u64 >> 1, 31), (before, 1), (before, 1), (last, 1)]);
        fields.push((irets.unwrap_or(0xff * last), 8));
        self.payloads.push(pack(&fields));
        self.base = step.at;
        self.outcomes.clear();
        self.count = 0;
    }
}

/// The payloads of an execution: start, reports, end.
fn encode(kinds: &[Kind], steps: &[Step], parameters: &Parameters) -> Vec<String> {
    let first = steps[0];
    let is_taken = |step: Step| matches!(kinds[step.at], Kind::Branch(_)) && step.taken;
    let start = (BASE as u64 + 4 * first.at as u64) >> 1;
    let mut encoder = Encoder {
        kinds,
        entries: 1 << parameters.return_stack_size_p,
        most_repeats: (1 << parameters.call_counter_size_p) - 1,
        links: Vec::new(),
        count: 0,
        outcomes: Vec::new(),
        base: first.at,
        payloads: Vec::from([
            payload(&announcement(parameters)),
            pack(&[(3, 2), (0, 2), (u64::from(!is_taken(first)), 1), (3, 2), (start, 31)]),
        ]),
    };
    let mut due = false;
    for pair in steps.windows(2) {
        let [before, step] = [pair[0], pair[1]];
        let reached = encoder.leave(before.at, step.at);
        if let Kind::Branch(_) = kinds[step.at] {
            encoder.outcomes.push(step.taken);
        }
        due = encoder.is_due(reached);
        let is_last = core::ptr::eq(&pair[1], &steps[steps.len() - 1]);
        if due || step.notify || is_last {
            encoder.report(step, reached);
        } else if encoder.outcomes.len() == 31 {
            let map = encoder.outcomes.iter().rev().fold(0, |map, &taken| map << 1 | u64::from(!taken));
            encoder.payloads.push(pack(&[(1, 2), (0, 5), (map, 31)]));
            encoder.outcomes.clear();
        }
        if let Kind::Branch(_) = kinds[step.at] {
            encoder.count = 0;
        }
    }
    let mut end = announcement(parameters);
    end.qual_status = if due {
        traceproof_vectors::riscv_etrace::QualStatus::EndedNtr
    } else {
        traceproof_vectors::riscv_etrace::QualStatus::EndedRep
    };
    encoder.payloads.push(payload(&end));
    encoder.payloads
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_is_decoded_is_what_ran(
        seed in 1..u64::MAX,
        return_stack_size_p in 1..4_u8,
        call_counter_size_p in 0..3_u8,
    ) {
        let random = &mut Random(seed);
        let kinds = kinds(random);
        let steps = way(&kinds, random);
        let parameters = Parameters { return_stack_size_p, call_counter_size_p, ..implicit() };
        let payloads = encode(&kinds, &steps, &parameters);
        let texts: Vec<&str> = payloads.iter().map(String::as_str).collect();
        let ran: String = steps.iter().map(|step| alloc::format!(" {:x}", BASE as usize + 4 * step.at)).collect();
        prop_assert_eq!(summary(&parameters, &code(&kinds), &texts), alloc::format!("P3{ran} end"));
    }
}
