//! What ETMv3 decoders are measured on: a capture, repeated, and the output of the encoder model for a generated
//! execution.

use std::fmt;
use std::path::Path;

use traceproof_encoder_model::arm_etm::v3::Encoder;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, BranchTarget, Instruction, Packet, Parameters, Policy, Stimulus,
};
use traceproof_vectors::{Address32, Encoder as _, EncoderSink, Program, Refusal, Section};

use crate::snapshot::{Snapshot, SnapshotError};

/// A trace with its code.
#[derive(Clone, Debug)]
pub(super) struct Etmv3Workload {
    pub(super) name: &'static str,
    pub(super) program: Program,
    pub(super) parameters: Parameters,
    pub(super) wire: Vec<u8>,
}

/// Why a trace cannot be prepared.
#[derive(Debug)]
#[non_exhaustive]
pub(super) enum Etmv3WorkloadError {
    /// The capture cannot be read.
    Snapshot(SnapshotError),
    /// There is nothing in the capture.
    Empty,
    /// The encoder model refuses the parameters.
    Refused(Refusal),
}

impl fmt::Display for Etmv3WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(error) => error.fmt(f),
            Self::Empty => f.write_str("nothing is in the capture"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for Etmv3WorkloadError {}

/// Instruction trace of ETMv3.5, cycle-accurate.
fn cycle_accurate() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        minor: 5,
        data_value: false,
        data_address: false,
        cycle_accurate: true,
        thumb32_single: true,
        timestamps: true,
        timestamp_bits: 64,
        timestamp_gray: false,
        virtualization: true,
        ..Parameters::default()
    }
}

/// What an A-sync is at least.
const ALIGNMENT: [u8; 6] = [0, 0, 0, 0, 0, 0x80];

impl Etmv3Workload {
    /// The capture of a Cortex-A7 from its first A-sync on, repeated, `bytes` bytes or a little more; `None` where it
    /// is not available.
    pub(super) fn cortex_a7(captures: &Path, bytes: usize) -> Result<Option<Self>, Etmv3WorkloadError> {
        let directory = captures.join("tc2-etmv3-id10");
        if !directory.is_dir() {
            return Ok(None);
        }
        let snapshot = Snapshot::read(&directory).map_err(Etmv3WorkloadError::Snapshot)?;
        let buffer = snapshot.buffers.first().ok_or(Etmv3WorkloadError::Empty)?;
        let core = snapshot.core_of("ETM_0").ok_or(Etmv3WorkloadError::Empty)?;
        let program = snapshot.program(core).map_err(Etmv3WorkloadError::Snapshot)?;
        let once = snapshot.trace(buffer).map_err(Etmv3WorkloadError::Snapshot)?;
        let start = once.windows(ALIGNMENT.len()).position(|bytes| bytes == ALIGNMENT);
        let once = start.and_then(|start| once.get(start..)).ok_or(Etmv3WorkloadError::Empty)?;
        let wire = once.repeat(bytes.div_ceil(once.len()));
        Ok(Some(Self { name: "Cortex-A7", program, parameters: cycle_accurate(), wire }))
    }

    /// An invented execution of an invented program, `bytes` bytes or a little more; always the same.
    pub(super) fn generated(bytes: usize) -> Result<Self, Etmv3WorkloadError> {
        let code = Code::invented();
        let parameters = cycle_accurate();
        let policy = Policy { sync_period: 4096, ..Policy::default() };
        let mut encoder = Encoder::default();
        encoder.begin(&parameters, &policy).map_err(Etmv3WorkloadError::Refused)?;
        let mut sent = Sent(Vec::with_capacity(bytes + 4096));
        let mut execution = Execution::new(&code);
        while sent.0.len() < bytes {
            let instruction = execution.cycle();
            let stimulus = Stimulus { trace_enable: true, instruction, ..Stimulus::default() };
            encoder.step(&stimulus, &mut sent);
        }
        encoder.finish(&mut sent);
        let program = code.program();
        Ok(Self { name: "generated", program, parameters, wire: sent.0 })
    }
}

/// Keeps what travels.
struct Sent(Vec<u8>);

impl EncoderSink<ArmEtm> for Sent {
    fn packet(&mut self, _: &Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Address of the first instruction.
const BASE: u32 = 0x8000;

/// An ARM instruction; places are indices of instructions.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// NOP.
    Straight,
    /// MOVEQ: half of them fail.
    Conditional,
    /// BNE back: taken seven times of eight.
    Loop(usize),
    /// BEQ ahead: taken every other time.
    Skip(usize),
    /// BL.
    Call(usize),
    /// BX LR.
    Return,
    /// B.
    Jump(usize),
}

impl Operation {
    fn word(self, at: usize) -> u32 {
        // A branch counts words from two instructions after itself (ARM ARM A8.8.18).
        let branch = |head: u32, target: usize| {
            let words = (target as u32).wrapping_sub(at as u32 + 2);
            head << 24 | words & 0xff_ffff
        };
        match self {
            Self::Straight => 0xe320_f000,
            Self::Conditional => 0x03a0_0000,
            Self::Loop(target) => branch(0x1a, target),
            Self::Skip(target) => branch(0x0a, target),
            Self::Call(target) => branch(0xeb, target),
            Self::Return => 0xe12f_ff1e,
            Self::Jump(target) => branch(0xea, target),
        }
    }
}

const fn address(at: usize) -> u32 {
    BASE + 4 * at as u32
}

struct Code(Vec<Operation>);

/// Functions that the main loop calls.
const FUNCTIONS: usize = 64;

impl Code {
    /// A main loop that calls each function; each function has straight code, a loop with conditional instructions, a
    /// branch around some instructions, and a return.
    fn invented() -> Self {
        let mut random = Random(0x1234_5678);
        let mut functions = Vec::new();
        let mut starts = Vec::new();
        let first = 2 * FUNCTIONS + 1;
        for _ in 0..FUNCTIONS {
            let here = |functions: &Vec<Operation>| first + functions.len();
            starts.push(here(&functions));
            functions.extend((0..random.below(8)).map(|_| Operation::Straight));
            let start = here(&functions);
            functions.extend((0..1 + random.below(6)).map(|_| Operation::Straight));
            functions.push(Operation::Conditional);
            functions.push(Operation::Loop(start));
            let skipped = 1 + random.below(4) as usize;
            functions.push(Operation::Skip(here(&functions) + 1 + skipped));
            functions.extend((0..skipped).map(|_| Operation::Straight));
            functions.push(Operation::Return);
        }
        let mut code: Vec<Operation> =
            starts.into_iter().flat_map(|start| [Operation::Straight, Operation::Call(start)]).collect();
        code.push(Operation::Jump(0));
        code.extend(functions);
        Self(code)
    }

    fn program(&self) -> Program {
        let bytes =
            self.0.iter().enumerate().flat_map(|(at, operation)| operation.word(at).to_le_bytes()).collect();
        let mut program = Program::new();
        // The only section.
        let inserted = program.insert(Section::new(Address32(BASE), bytes, "invented"));
        debug_assert!(inserted.is_ok());
        program
    }
}

/// An execution of the code.
struct Execution<'a> {
    code: &'a Code,
    random: Random,
    at: usize,
    returns_to: usize,
    /// Cycles to wait before the next instruction.
    stall: u64,
}

impl<'a> Execution<'a> {
    const fn new(code: &'a Code) -> Self {
        Self { code, random: Random(0x9e37_79b9), at: 0, returns_to: 0, stall: 0 }
    }

    /// The instruction that completes in the next cycle, if one does.
    fn cycle(&mut self) -> Option<Instruction> {
        if self.stall > 0 {
            self.stall -= 1;
            return None;
        }
        // Every eighth instruction waits for something.
        if self.random.below(8) == 0 {
            self.stall = self.random.below(16);
        }
        let at = self.at;
        let operation = self.code.0.get(at).copied().unwrap_or(Operation::Jump(0));
        let (executed, target) = match operation {
            Operation::Straight => (true, None),
            Operation::Conditional => (self.random.below(2) == 0, None),
            Operation::Loop(target) => (self.random.below(8) != 0, Some(target)),
            Operation::Skip(target) => (self.random.below(2) == 0, Some(target)),
            Operation::Call(target) => {
                self.returns_to = at + 1;
                (true, Some(target))
            }
            Operation::Return => (true, Some(self.returns_to)),
            Operation::Jump(target) => (true, Some(target)),
        };
        let target = target.filter(|_| executed);
        self.at = target.unwrap_or(at + 1);
        let branch = target.map(|target| BranchTarget {
            address: Address32(address(target)),
            direct: !matches!(operation, Operation::Return),
            ..BranchTarget::default()
        });
        Some(Instruction { address: Address32(address(at)), executed, branch, ..Instruction::default() })
    }
}

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    const fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_decoder::arm_etm::Decoder;
    use traceproof_vectors::arm_etm::Event;
    use traceproof_vectors::{Decoder as _, Log};

    #[test]
    fn the_generated_trace_is_the_execution() {
        let workload = Etmv3Workload::generated(10_000).expect("accepted");
        let mut decoder = Decoder::default();
        decoder.begin(&workload.parameters, &workload.program).expect("supported");
        let mut log = Log::<ArmEtm>::default();
        decoder.push(&workload.wire, &mut log);
        decoder.finish(&mut log);
        assert_eq!(log.faults().count(), 0);
        let code = Code::invented();
        let mut execution = Execution::new(&code);
        let mut executed = std::iter::from_fn(|| Some(execution.cycle())).flatten();
        let mut count = 0;
        for event in log.events() {
            if let Event::Atom { address, executed: was, .. } = event {
                let instruction = executed.next().expect("goes on for ever");
                assert_eq!((*address, *was), (Some(instruction.address), instruction.executed));
                count += 1;
            }
        }
        assert!(count > 5_000, "{count}");
    }
}
