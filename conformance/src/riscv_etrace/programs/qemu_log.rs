//! How does a log of QEMU become an execution?
//!
//! The log is that of `-singlestep -d exec,nochain,int` (QEMU 7.2): a `Trace` line before every instruction, with its
//! address and, in the flags, its privilege level, and a `riscv_cpu_do_interrupt` line for every trap. What the log
//! does not contain directly:
//!
//! * An instruction whose line stands there may not retire: it may trap itself (a synchronous trap whose EPC
//!   is this address), be put off for an interrupt (`Stopped execution`), or be started again
//!   (`cpu_io_recompile`).
//! * The level between a trap return and a trap taken directly after it, or between two traps without an instruction in
//!   between, is not logged. It follows from the privilege stack of `mstatus` and from what the program delegates to S.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read};

use traceproof_vectors::riscv_etrace::{Retire, Step, Trap};

use super::{FlowKind, FlowMap};
use traceproof_vectors::Address;

/// No line of a log is longer.
const LONGEST_LINE: u64 = 4096;

/// What a program has in `medeleg` and `mideleg`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegation {
    /// Causes of exceptions that S handles when they come from U or S.
    pub exceptions: Vec<u64>,
    /// Causes of interrupts that S handles.
    pub interrupts: Vec<u64>,
}

/// Why a log gives no execution.
#[derive(Debug)]
pub struct QemuLogError {
    /// Line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub defect: QemuLogDefect,
}

/// What is wrong with a log.
#[derive(Debug)]
#[non_exhaustive]
pub enum QemuLogDefect {
    /// Reading failed.
    Io(io::Error),
    /// A line of a known kind whose values are missing or no numbers.
    Malformed(String),
    /// The logged privilege level contradicts the one that follows from traps and trap returns.
    Privilege {
        /// Address of the instruction.
        address: u64,
        /// Level that follows.
        derived: u8,
        /// Level in the log.
        logged: u8,
    },
    /// Not a line of a log but, presumably, of the emulator itself.
    Emulator(String),
}

impl fmt::Display for QemuLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log line {}: ", self.line)?;
        match &self.defect {
            QemuLogDefect::Io(error) => error.fmt(f),
            QemuLogDefect::Malformed(line) => write!(f, "malformed: {line}"),
            QemuLogDefect::Privilege { address, derived, logged } => {
                write!(f, "level {logged} at {address:#x}, but {derived} follows from the traps before")
            }
            QemuLogDefect::Emulator(line) => write!(f, "the emulator says: {line}"),
        }
    }
}

impl std::error::Error for QemuLogError {}

/// Privilege level and the two entries of the privilege stack (privileged ISA 3.1.6.1).
#[derive(Clone, Copy, Debug)]
struct Levels {
    current: u8,
    mpp: u8,
    spp: u8,
}

/// Turns a log into steps, from the program's first instruction up to its end.
///
/// The end is that of the log, or the second iteration of a jump to itself: the number of iterations is irrelevant to
/// the program, and a trace cannot carry it.
#[derive(Debug)]
pub struct QemuLog<'a, R> {
    input: R,
    map: &'a FlowMap,
    delegation: &'a Delegation,
    line: u64,
    text: Vec<u8>,
    levels: Levels,
    started: bool,
    /// The instruction of the latest `Trace` line, which may still turn out not to retire.
    pending: Option<(u64, u8)>,
    /// The latest instruction that retired was a trap return: software may have set another level than that of the
    /// stack.
    returned: bool,
    latest: Option<u64>,
    ready: VecDeque<Step>,
    finished: bool,
}

enum Line {
    Trace { address: u64, privilege: u8 },
    Withdrawn,
    Trap { interrupt: bool, cause: u64, epc: u64, tval: u64 },
    Other,
}

impl<'a, R: BufRead> QemuLog<'a, R> {
    /// Reads a log of the program with this code. What ran before it (the machine's boot code) is passed
    /// over.
    pub const fn new(input: R, map: &'a FlowMap, delegation: &'a Delegation) -> Self {
        Self {
            input,
            map,
            delegation,
            line: 0,
            text: Vec::new(),
            levels: Levels { current: 3, mpp: 0, spp: 0 },
            started: false,
            pending: None,
            returned: false,
            latest: None,
            ready: VecDeque::new(),
            finished: false,
        }
    }

    fn error(&self, defect: QemuLogDefect) -> QemuLogError {
        QemuLogError { line: self.line, defect }
    }

    /// The next line; `None` at the end of the log.
    fn read(&mut self) -> Result<Option<Line>, QemuLogError> {
        self.text.clear();
        self.line += 1;
        let read = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.text);
        if read.map_err(|error| self.error(QemuLogDefect::Io(error)))? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&self.text);
        let parsed = match text.trim_end() {
            line if line.starts_with("Trace ") => trace_line(line),
            line if line.starts_with("riscv_cpu_do_interrupt:") => trap_line(line),
            line if line.starts_with("Stopped execution") => Some(Line::Withdrawn),
            line if line.starts_with("cpu_io_recompile:") => Some(Line::Withdrawn),
            line if line.starts_with("qemu") => {
                return Err(self.error(QemuLogDefect::Emulator(line.to_owned())));
            }
            _ => Some(Line::Other),
        };
        match parsed {
            Some(line) => Ok(Some(line)),
            None => Err(self.error(QemuLogDefect::Malformed(text.trim_end().to_owned()))),
        }
    }

    /// Lets the pending instruction retire; `false` when the program ends before it.
    fn settle(&mut self) -> Result<bool, QemuLogError> {
        let Some((address, logged)) = self.pending.take() else { return Ok(true) };
        self.arrive(address, logged)?;
        let kind = self.map.at(address).map(|instruction| instruction.kind);
        if self.latest == Some(address) && kind == Some(FlowKind::Jump(address)) {
            return Ok(false);
        }
        self.latest = Some(address);
        let retire = Retire { address: Address(address), privilege: logged, ..Retire::default() };
        self.ready.push_back(Step::Retire(retire));
        self.returned = true;
        match kind {
            Some(FlowKind::MachineReturn) => (self.levels.current, self.levels.mpp) = (self.levels.mpp, 0),
            Some(FlowKind::SupervisorReturn) => (self.levels.current, self.levels.spp) = (self.levels.spp, 0),
            _ => self.returned = false,
        }
        Ok(true)
    }

    /// Compares the level of a logged instruction with the derived one. After a trap return the log is right.
    fn arrive(&mut self, address: u64, logged: u8) -> Result<(), QemuLogError> {
        let derived = self.levels.current;
        if derived != logged && !self.returned {
            return Err(self.error(QemuLogDefect::Privilege { address, derived, logged }));
        }
        self.levels.current = logged;
        self.returned = false;
        Ok(())
    }

    fn trap(&mut self, interrupt: bool, cause: u64, epc: u64, tval: u64) -> Result<bool, QemuLogError> {
        if let Some((address, logged)) = self.pending.take_if(|(address, _)| !interrupt && *address == epc) {
            self.arrive(address, logged)?;
        } else if !self.settle()? {
            return Ok(false);
        }
        let privilege = self.levels.current;
        let tval = if interrupt { 0 } else { tval };
        let trap = Trap { interrupt, cause, tval, epc: Address(epc), privilege, ..Trap::default() };
        self.ready.push_back(Step::Trap(trap));
        let delegated = if interrupt { &self.delegation.interrupts } else { &self.delegation.exceptions };
        if privilege <= 1 && delegated.contains(&cause) {
            self.levels = Levels { current: 1, spp: privilege, ..self.levels };
        } else {
            self.levels = Levels { current: 3, mpp: privilege, ..self.levels };
        }
        (self.returned, self.latest) = (false, None);
        Ok(true)
    }

    /// Reads on until a step is ready; `false` at the end.
    fn advance(&mut self) -> Result<bool, QemuLogError> {
        let Some(line) = self.read()? else {
            return self.settle().map(|_| false);
        };
        match line {
            Line::Trace { address, privilege } => {
                self.started = self.started || self.map.at(address).is_some();
                if !self.started {
                    return Ok(true);
                }
                let goes_on = self.settle()?;
                self.pending = Some((address, privilege));
                Ok(goes_on)
            }
            Line::Withdrawn => {
                self.pending = None;
                Ok(true)
            }
            Line::Trap { interrupt, cause, epc, tval } if self.started => {
                self.trap(interrupt, cause, epc, tval)
            }
            Line::Trap { .. } | Line::Other => Ok(true),
        }
    }
}

impl<R: BufRead> Iterator for QemuLog<'_, R> {
    type Item = Result<Step, QemuLogError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.finished {
            match self.advance() {
                Ok(goes_on) => self.finished = !goes_on,
                Err(error) => {
                    self.finished = true;
                    self.ready.clear();
                    return Some(Err(error));
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// `Trace 0: 0x7f… [cs_base/pc/flags/cflags] symbol`: the low two bits of the flags are the privilege level.
fn trace_line(line: &str) -> Option<Line> {
    let (_, rest) = line.split_once('[')?;
    let mut fields = rest.split(['/', ']']);
    let address = u64::from_str_radix(fields.nth(1)?, 16).ok()?;
    let flags = u32::from_str_radix(fields.next()?, 16).ok()?;
    Some(Line::Trace { address, privilege: (flags & 3) as u8 })
}

/// `riscv_cpu_do_interrupt: hart:0, async:0, cause:…, epc:0x…, tval:0x…, desc=…`.
fn trap_line(line: &str) -> Option<Line> {
    let field = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        let value = rest.split(',').next()?;
        u64::from_str_radix(value.strip_prefix("0x").unwrap_or(value), 16).ok()
    };
    Some(Line::Trap {
        interrupt: field("async:")? == 1,
        cause: field("cause:")?,
        epc: field("epc:")?,
        tval: field("tval:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::Xlen;
    use traceproof_vectors::{Program, Section};

    /// 0x1000 nop; 0x1004 ecall; 0x1008 mret; 0x100c j .
    fn map() -> FlowMap {
        let mut program = Program::new();
        let words = [0x0000_0013_u32, 0x0000_0073, 0x3020_0073, 0x0000_006f];
        let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
        program.insert(Section::new(0x1000, bytes, "")).expect("free");
        FlowMap::new(&program, Xlen::Rv64)
    }

    fn steps(log: &str, delegation: &Delegation) -> Result<Vec<String>, String> {
        let map = map();
        QemuLog::new(log.as_bytes(), &map, delegation)
            .map(|step| match step {
                Ok(Step::Retire(retire)) => Ok(format!("{:x}@{}", retire.address, retire.privilege)),
                Ok(Step::Trap(trap)) => {
                    Ok(format!("trap {} epc {:x}@{}", trap.cause, trap.epc, trap.privilege))
                }
                Ok(Step::Stimulus(_)) => Err(String::from("stimulus")),
                Err(error) => Err(error.to_string()),
            })
            .collect()
    }

    fn trace(address: u64, level: u8) -> String {
        format!("Trace 0: 0x7f [0000000000000000/{address:016x}/0020900{level}/ff000201] name\n")
    }

    fn trap(asynchronous: u8, cause: u64, epc: u64) -> String {
        format!(
            "riscv_cpu_do_interrupt: hart:0, async:{asynchronous}, cause:{cause:016x}, epc:0x{epc:016x}, tval:0x0000000000000000, desc=x\n"
        )
    }

    #[test]
    fn lines_of_instructions_that_do_not_retire_are_dropped() {
        let log = [
            trace(0x20, 3),
            trace(0x1000, 3),
            String::from("cpu_io_recompile: rewound execution of TB to 0000000000001000\n"),
            trace(0x1000, 3),
            trace(0x1004, 3),
            trap(0, 11, 0x1004),
            trace(0x1000, 3),
            trace(0x1004, 3),
            String::from("Stopped execution of TB chain before 0x7f [0000000000001004] name\n"),
            trap(1, 7, 0x1004),
            trace(0x100c, 3),
            trace(0x100c, 3),
            trace(0x100c, 3),
        ]
        .concat();
        let expected = ["1000@3", "trap 11 epc 1004@3", "1000@3", "trap 7 epc 1004@3", "100c@3"];
        assert_eq!(steps(&log, &Delegation::default()), Ok(expected.map(String::from).to_vec()));
    }

    #[test]
    fn levels_that_no_line_shows_follow_from_the_privilege_stack() {
        let delegation = Delegation { exceptions: vec![], interrupts: vec![5] };
        let log = [
            trace(0x1000, 3),
            trace(0x1008, 3), // software had set MPP to U: the log is right
            trace(0x1000, 0),
            trap(1, 7, 0x1004), // from U to M
            trace(0x1008, 3),
            trap(1, 5, 0x1004), // back to U and at once to S
            trap(0, 1, 0x40),   // fetch fault at the first instruction of the handler
            trace(0x1000, 3),
        ]
        .concat();
        let expected = [
            "1000@3",
            "1008@3",
            "1000@0",
            "trap 7 epc 1004@0",
            "1008@3",
            "trap 5 epc 1004@0",
            "trap 1 epc 40@1",
            "1000@3",
        ];
        assert_eq!(steps(&log, &delegation), Ok(expected.map(String::from).to_vec()));
        let wrong = trace(0x1000, 3) + &trace(0x1000, 0);
        assert!(steps(&wrong, &delegation).is_err_and(|error| error.contains("level 0 at 0x1000")));
    }

    #[test]
    fn lines_that_cannot_be_read_are_errors() {
        let none = Delegation::default();
        assert!(steps("Trace 0: nothing\n", &none).is_err_and(|error| error.contains("line 1: malformed")));
        let emulator = "qemu-system-riscv64: could not load kernel\n";
        assert!(steps(emulator, &none).is_err_and(|error| error.contains("could not load kernel")));
    }
}
