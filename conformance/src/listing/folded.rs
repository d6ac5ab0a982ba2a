//! Executed instructions by call stack, as the text that tools for flame graphs read: `main;crc_of 1234`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use traceproof_vectors::{Fault, Place, Program, Sink};

use super::{Counts, Instructions};
use crate::family::{FamilyRules, Run};
use crate::stream::StreamSink;
use crate::symbols::{Symbol, Symbols};

/// Frames of a stack; deeper calls count for the deepest one.
const DEEPEST: usize = 128;

/// Different stacks; more count for the function alone.
const MOST_STACKS: usize = 1 << 16;

/// Where no symbol is.
const UNKNOWN: &str = "[unknown]";

/// A sink that counts instructions by call stack.
///
/// A trace has branches, not calls, so the stack follows from the symbols. Execution that goes on
///
/// * at the address after a call that is open returns from it;
/// * at the first instruction of another function calls it, from the instruction before;
/// * inside of a function that is on the stack returns to it, inside of another one replaces the current function.
///
/// A function that calls itself is one frame. After a gap or an error of the trace the stack is empty.
#[derive(Debug)]
pub struct FoldedStacks<'a> {
    program: &'a Program,
    symbols: &'a Symbols,
    stack: Vec<Frame<'a>>,
    /// The address after the latest instruction.
    next: Option<u64>,
    stacks: BTreeMap<Vec<&'a str>, u64>,
    counted: Instructions,
}

#[derive(Clone, Copy, Debug)]
struct Frame<'a> {
    function: Option<&'a Symbol>,
    /// The address after the call; `None` of the outermost frame.
    returns_to: Option<u64>,
}

impl<'a> FoldedStacks<'a> {
    /// Counts for this program.
    #[must_use]
    pub fn new(program: &'a Program, symbols: &'a Symbols) -> Self {
        let (stack, stacks, counted) = (Vec::new(), BTreeMap::new(), Instructions::default());
        Self { program, symbols, stack, next: None, stacks, counted }
    }

    /// Writes a line for each stack, in order of their names.
    ///
    /// # Errors
    ///
    /// The writer's first error.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<Instructions> {
        for (stack, count) in &self.stacks {
            // A `;` in a name is none between frames.
            let frames: Vec<String> = stack.iter().map(|name| name.replace(';', "\\u{3b}")).collect();
            writeln!(out, "{} {count}", frames.join(";"))?;
        }
        out.flush()?;
        Ok(self.counted)
    }

    fn run(&mut self, run: Run) {
        let Some(first) = run.first else {
            self.forget();
            self.counted.unknown += run.count;
            return;
        };
        let end = run.end_in(self.program);
        let function = self.symbols.find(first);
        self.arrive(first, function);
        let last = end.map_or(first, |end| end.wrapping_sub(1));
        if same(function, self.symbols.find(last)) {
            self.count(run.count);
        } else {
            let mut addresses = Vec::new();
            self.counted.unknown += run.addresses(self.program, &mut |address| addresses.push(address));
            for address in addresses {
                let function = self.symbols.find(address);
                self.replace(function);
                self.count(1);
            }
        }
        self.next = end;
    }

    /// Execution goes on at an address in this function.
    fn arrive(&mut self, address: u64, function: Option<&'a Symbol>) {
        let Some(current) = self.stack.last().map(|frame| frame.function) else {
            self.stack.push(Frame { function, returns_to: None });
            return;
        };
        if self.next == Some(address) {
            self.replace(function);
            return;
        }
        if let Some(call) = self.stack.iter().rposition(|frame| frame.returns_to == Some(address)) {
            self.stack.truncate(call.max(1));
            self.replace(function);
            return;
        }
        if same(function, current) {
            return;
        }
        let is_entry = function.is_some_and(|function| function.address == address);
        if is_entry && self.stack.len() < DEEPEST {
            self.stack.push(Frame { function, returns_to: self.next });
        } else if let Some(caller) = self.stack.iter().rposition(|frame| same(frame.function, function)) {
            self.stack.truncate(caller + 1);
        } else {
            self.replace(function);
        }
    }

    fn replace(&mut self, function: Option<&'a Symbol>) {
        if let Some(frame) = self.stack.last_mut() {
            frame.function = function;
        }
    }

    fn count(&mut self, instructions: u64) {
        let name = |frame: &Frame<'a>| frame.function.map_or(UNKNOWN, |function| function.name.as_str());
        let mut stack: Vec<&str> = self.stack.iter().map(name).collect();
        if self.stacks.len() >= MOST_STACKS && !self.stacks.contains_key(&stack) {
            stack.drain(..stack.len().saturating_sub(1));
        }
        *self.stacks.entry(stack).or_default() += instructions;
    }

    fn forget(&mut self) {
        self.stack.clear();
        self.next = None;
    }
}

fn same(a: Option<&Symbol>, b: Option<&Symbol>) -> bool {
    a.map(|symbol| symbol.address) == b.map(|symbol| symbol.address)
}

impl<P: FamilyRules> Sink<P> for FoldedStacks<'_> {
    fn packet(&mut self, _: Place, _: &P::Packet) {
        self.counted.counts.packets += 1;
    }

    fn event(&mut self, _: Place, event: &P::Event) {
        if let Some(run) = P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event)) {
            self.counted.counts.events += 1;
            self.run(run);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let Counts { errors, warnings, .. } = &mut self.counted.counts;
        if fault.class.is_warning() {
            *warnings += 1;
        } else {
            *errors += 1;
            self.forget();
        }
    }
}

impl<P: FamilyRules> StreamSink<P> for FoldedStacks<'_> {
    fn follows_bytes(&self) -> bool {
        false
    }

    fn bytes(&mut self, _: &[u8]) {}

    fn is_done(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Encoding;
    use traceproof_vectors::arm::InstructionSet;

    fn symbols() -> Symbols {
        let symbol = |(name, address): (&str, u64)| Symbol { address, size: 0x100, name: name.to_owned() };
        [("main", 0x1000), ("f", 0x2000), ("g", 0x3000), ("handler", 0x3100)]
            .map(symbol)
            .into_iter()
            .collect()
    }

    /// The folded stacks of runs: first address and number of instructions of four bytes.
    fn folded(runs: &[(u64, u64)]) -> String {
        let (program, symbols) = (Program::new(), symbols());
        let mut stacks = FoldedStacks::new(&program, &symbols);
        for &(first, count) in runs {
            let encoding = Encoding::Arm(InstructionSet::A64);
            stacks.run(Run { first: Some(first), end: Some(first + 4 * count), count, encoding });
        }
        let mut out = Vec::new();
        stacks.finish(&mut out).expect("memory is writable");
        String::from_utf8(out).expect("text")
    }

    /// main calls f, which calls g twice and loops to its own first instruction.
    #[test]
    fn calls_and_returns_follow_from_addresses() {
        let runs = [
            (0x1000, 4),
            (0x2000, 2),
            (0x3000, 1),
            (0x2008, 3),
            (0x2000, 2),
            (0x3000, 1),
            (0x2008, 4),
            (0x1010, 5),
        ];
        assert_eq!(folded(&runs), "main 9\nmain;f 11\nmain;f;g 2\n");
    }

    #[test]
    fn an_interrupt_is_a_call_and_a_jump_into_a_function_replaces_it() {
        let interrupt = [(0x1000, 2), (0x3100, 6), (0x1008, 1)];
        assert_eq!(folded(&interrupt), "main 3\nmain;handler 6\n");
        let jump = [(0x1000, 2), (0x2000, 1), (0x3010, 7), (0x1008, 1)];
        assert_eq!(folded(&jump), "main 3\nmain;f 1\nmain;g 7\n");
    }

    #[test]
    fn code_that_runs_on_into_the_next_function_is_split() {
        assert_eq!(folded(&[(0x30fc, 3), (0x9000, 2)]), "[unknown] 2\ng 1\nhandler 2\n");
    }

    #[test]
    fn a_name_is_one_frame() {
        let program = Program::new();
        let symbols = Symbols::from_iter([Symbol { address: 0, size: 0, name: String::from("a;b") }]);
        let mut stacks = FoldedStacks::new(&program, &symbols);
        let encoding = Encoding::Arm(InstructionSet::A64);
        stacks.run(Run { first: Some(0), end: Some(4), count: 1, encoding });
        let mut out = Vec::new();
        stacks.finish(&mut out).expect("memory is writable");
        assert_eq!(out, b"a\\u{3b}b 1\n");
    }

    #[test]
    fn stacks_are_of_bounded_depth() {
        let deep: Vec<(u64, u64)> =
            [(0x2000, 1), (0x3000, 1)].into_iter().cycle().take(4 * DEEPEST).collect();
        let lines = folded(&deep);
        let deepest = lines.lines().map(|line| line.split(';').count()).max();
        assert_eq!(deepest, Some(DEEPEST));
    }
}
