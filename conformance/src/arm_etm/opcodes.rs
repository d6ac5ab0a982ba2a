//! Sweeps of A32, T32 and ThumbEE as executions of ETMv3, and of what ARMv5 has as executions of ETMv1.
//!
//! ETMv2 needs no code: its decoders classify no instructions.

use std::sync::LazyLock;

use traceproof_encoder_model::arm_etm::Encoder;
use traceproof_vectors::arm::{CodeAddress, InstructionSet};
use traceproof_vectors::arm_etm::v3::ExceptionInformation;
use traceproof_vectors::arm_etm::{
    self as etm, Access, Architecture, ArmEtm, BranchTarget, DataAddress, Event, Exception, Isa, Parameters,
    Policy, Position, Reason, Stimulus, Transfer, Value,
};
use traceproof_vectors::case::Expected;
use traceproof_vectors::{Address32, Encoder as _, Log};

use crate::arm::opcodes::{Batch, Block, Call, Data, Execution, Instruction, Kind, Mode, Row, Way, batches};
use crate::family::{Generated, Sweep, Sweeps};

pub(super) const SWEEPS: Sweeps<ArmEtm> = Sweeps { names, make };

/// The exception of SVC.
const SUPERVISOR_CALL: u16 = 10;
/// BE of a restart is so many records before the first instruction (`etm1-restart-is-three-records-ahead`).
const AHEAD: usize = 3;
/// Cycles that refill the pipeline after a branch whose address is output (ETM1-APO-001).
const REFILL: usize = 2;
/// Bytes of the longest address.
const LONGEST_ADDRESS: usize = 5;
/// Where the first data are.
const DATA: u32 = 0x1000_0000;
/// Words of a transfer whose size is the coprocessor's matter.
const SOME_WORDS: u8 = 3;

/// Of those of ETMv1, what matters without overflow, exceptions and a second start.
const V1_READINGS: [&str; 7] = [
    "etm-pc-4",
    "etm-pc-14",
    "etm1-address-starts-a-cycle",
    "etm1-every-address-is-a-base",
    "etm1-cprt-has-no-address",
    "etm1-data-addresses-start-over",
    "etm1-restart-is-three-records-ahead",
];

/// How the rows of a table are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// ETMv3.4 without data.
    Flow,
    /// The same, of a macrocell that shows two atoms for an instruction of 32 bits.
    TwoAtoms,
    /// ETMv3.4 with addresses and values of data: what transfers any.
    Data,
    /// ETMv1.2 with data.
    V1,
}

static BATCHES: LazyLock<Vec<(Variant, Batch)>> = LazyLock::new(|| {
    let (a32, t32) = (InstructionSet::A32, InstructionSet::T32);
    let of = |variant, prefix, set, has: fn(&Row) -> bool| {
        batches(prefix, set, Mode::Instructions, has).into_iter().map(move |batch| (variant, batch))
    };
    of(Variant::Flow, "v3/", a32, is_executed)
        .chain(of(Variant::Flow, "v3/", t32, is_executed))
        .chain(of(Variant::Flow, "v3/", InstructionSet::T32Ee, is_executed))
        .chain(of(Variant::TwoAtoms, "v3-two-atoms/", t32, |row| is_executed(row) && row.length == 4))
        .chain(of(Variant::Data, "v3-data/", a32, |row| row.data.is_some()))
        .chain(of(Variant::Data, "v3-data/", t32, |row| row.data.is_some()))
        .chain(of(Variant::V1, "v1/", a32, is_armv5))
        .chain(of(Variant::V1, "v1/", t32, |row| row.length == 2 && is_armv5(row)))
        .collect()
});

/// Exceptions that need other states of the processor are left out.
fn is_executed(row: &Row) -> bool {
    !matches!(row.class, "hypervisor-call" | "monitor-call")
}

/// Whether a processor with ETMv1 has it, ARMv5TE without VFP: by the name of the instruction.
fn is_armv5(row: &Row) -> bool {
    /// Data: `ldrht`, `ldrexb` and their like came with ARMv6.
    const TRANSFERS: [&str; 32] = [
        "ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrt", "ldrbt", "ldrd", "str", "strb", "strh", "strt",
        "strbt", "strd", "ldm", "ldmib", "ldmda", "ldmdb", "stm", "stmib", "stmda", "stmdb", "push", "pop",
        "swp", "swpb", "mcr", "mrc", "mcr2", "mrc2", "mcrr", "mrrc",
    ];
    const BRANCHES: [&str; 4] = ["b", "bl", "blx", "bx"];
    const CONDITIONS: [&str; 15] =
        ["", "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];
    let name = row.text.split(['.', ' ', '\t']).next().unwrap_or_default();
    let is = |known: &str| name.strip_prefix(known).is_some_and(|rest| CONDITIONS.contains(&rest));
    match row.class {
        "other" | "load" | "return-load-multiple" => {
            row.data.is_some_and(|data| data.count > 0) && TRANSFERS.into_iter().any(is)
        }
        "direct" | "direct-link" | "direct-link-exchange" | "register" | "register-link" => {
            BRANCHES.into_iter().any(is)
        }
        "data-processing" | "return-data-processing" => true,
        _ => false,
    }
}

fn names() -> Vec<String> {
    BATCHES.iter().map(|(_, batch)| batch.name.clone()).collect()
}

fn make(name: &str) -> Option<Result<Sweep<ArmEtm>, String>> {
    BATCHES.iter().find(|(_, batch)| batch.name == name).map(|(variant, batch)| sweep(*variant, batch))
}

fn parameters(variant: Variant) -> Parameters {
    let v3 = Parameters {
        architecture: Architecture::V3,
        minor: 4,
        data_value: false,
        data_address: false,
        ..Parameters::default()
    };
    match variant {
        Variant::Flow => v3,
        Variant::TwoAtoms => Parameters { thumb32_single: false, ..v3 },
        Variant::Data => Parameters { data_value: true, data_address: true, monitor_cprt: true, ..v3 },
        Variant::V1 => Parameters {
            architecture: Architecture::V1,
            minor: 2,
            port_width: 16,
            monitor_cprt: true,
            ..Parameters::default()
        },
    }
}

fn sweep(variant: Variant, batch: &Batch) -> Result<Sweep<ArmEtm>, String> {
    let parameters = parameters(variant);
    let policy = Policy { sync_period: 0, fifo_size: u8::MAX, ..Policy::default() };
    let Execution { program, start, blocks, rows } = batch.execution()?;
    let mut processor = Processor::new(&parameters, start);
    for block in &blocks {
        processor.run(block);
    }
    let (execution, events) = processor.end();
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &policy).map_err(|refusal| refusal.to_string())?;
    let mut log = Log::<ArmEtm>::default();
    execution.iter().for_each(|stimulus| encoder.step(stimulus, &mut log));
    encoder.finish(&mut log);
    let packets = log.packets().copied().collect();
    let readings = if variant == Variant::V1 { V1_READINGS.to_vec() } else { Vec::new() };
    let events = events.into_iter().map(Expected::Event).collect();
    let generated = Generated { parameters, policy, program, execution, wire: log.wire };
    Ok(Sweep { generated, packets, events, readings, rows })
}

/// What the macrocell sees of the instructions, and what a decoder reports of them.
struct Processor<'a> {
    parameters: &'a Parameters,
    cycles: Vec<Stimulus>,
    events: Vec<Event>,
    /// Atoms and transfers so far.
    atoms: u64,
    transfers: u64,
}

impl<'a> Processor<'a> {
    fn new(parameters: &'a Parameters, start: CodeAddress) -> Self {
        let (address, isa) = (address(start.address), isa(start.instruction_set));
        let reason = Reason::TraceEnabled;
        let begins = if parameters.architecture == Architecture::V3 {
            Event::InstructionSync {
                reason,
                address: Some(address),
                isa,
                non_secure: false,
                hyp: false,
                context_id: None,
                in_progress: None,
            }
        } else {
            Event::Synchronisation { cycle: 0, reason, address, isa, context_id: None, lsm: None }
        };
        let cycles = vec![Stimulus::default(); AHEAD];
        Self { parameters, cycles, events: vec![begins], atoms: 0, transfers: 0 }
    }

    fn is_v1(&self) -> bool {
        self.parameters.architecture == Architecture::V1
    }

    fn run(&mut self, block: &Block) {
        let Some((last, before)) = block.instructions.split_last() else { return };
        for instruction in before {
            self.complete(block.set, instruction, None, false);
        }
        let exception = matches!(block.kind, Kind::Call(Call::Supervisor))
            .then(|| Exception { number: SUPERVISOR_CALL, ..Exception::default() });
        let goes_on = matches!(block.kind, Kind::Isb | Kind::Straight);
        let branch = (block.taken && !goes_on).then(|| BranchTarget {
            address: address(block.next.address),
            isa: isa(block.next.instruction_set),
            direct: matches!(block.kind, Kind::Direct { .. }),
            exception,
        });
        self.complete(block.set, last, branch, block.kind == Kind::ExceptionReturn);
    }

    /// An instruction completes, and branches.
    fn complete(
        &mut self,
        set: InstructionSet,
        at: &Instruction,
        branch: Option<BranchTarget>,
        exception_return: bool,
    ) {
        let transfers = at.data.filter(|_| self.parameters.data_value).map_or_else(Vec::new, transfers);
        let instruction = etm::Instruction {
            address: address(at.address),
            isa: isa(set),
            executed: at.executed,
            branch,
            exception_return,
            thumb32: set != InstructionSet::A32 && at.size == 4,
            ..etm::Instruction::default()
        };
        self.report(&instruction, &transfers);
        let bytes = LONGEST_ADDRESS + transfers.iter().map(|it| usize::from(it.size)).sum::<usize>();
        let tracing = Stimulus { trace_enable: true, view_data: true, ..Stimulus::default() };
        self.cycles.push(Stimulus { instruction: Some(instruction), transfers, ..tracing.clone() });
        if self.is_v1() {
            // The FIFO is empty before the next one.
            let waits = if branch.is_some() { REFILL + LONGEST_ADDRESS } else { 0 };
            let data = if at.data.is_some() { bytes } else { 0 };
            self.cycles.extend(vec![tracing; waits + data]);
        } else if at.data.is_some() {
            self.cycles.extend(vec![tracing; bytes]);
        }
    }

    fn report(&mut self, instruction: &etm::Instruction, transfers: &[Transfer]) {
        let etm::Instruction { address, isa, executed, branch, thumb32, .. } = *instruction;
        let cycle = self.cycles.len() as u64;
        if self.is_v1() {
            self.events.push(Event::InstructionAt { cycle, address: Some(address), isa, executed });
        } else {
            let halves = thumb32 && !self.parameters.thumb32_single;
            for half in 0..if halves { 2 } else { 1 } {
                let address = Some(address.wrapping_add(2 * half));
                self.events.push(Event::Atom { address, isa, executed, cycles: None });
                self.atoms += 1;
            }
        }
        let when = if self.is_v1() { cycle } else { self.atoms };
        for (index, transfer) in transfers.iter().enumerate() {
            let is_register = transfer.access == Access::Coprocessor;
            // With coprocessor transfers traced, the next word of an LSM of ETMv3 may be one of these.
            let follows = index > 0 && transfers[index - 1].address.wrapping_add(4) == transfer.address;
            let unknown = is_register || !self.is_v1() && follows;
            let address = (!unknown).then(|| DataAddress::full(transfer.address.0));
            let value = Value::Known(transfer.value as u32);
            let number = self.transfers;
            self.events.push(Event::Transfer { transfer: number, when, address, value, big_endian: false });
            self.transfers += 1;
        }
        let Some(target) = branch else { return };
        let BranchTarget { address, isa, direct, exception } = target;
        let exception = exception.map(|exception| ExceptionInformation {
            number: exception.number,
            ..ExceptionInformation::default()
        });
        if !direct {
            self.events.push(match self.parameters.architecture {
                Architecture::V1 => Event::Branch { cycle, address, isa },
                _ => Event::BranchTo { address, isa, exception },
            });
        }
    }

    /// Tracing stops; the last branch has its APO, and the FIFO drains.
    fn end(mut self) -> (Vec<Stimulus>, Vec<Event>) {
        self.cycles.extend(vec![Stimulus::default(); REFILL]);
        (self.cycles, self.events)
    }
}

/// Words one after the other, those of a swap at one place.
fn transfers(data: Data) -> Vec<Transfer> {
    let count = if data.count == 0 { SOME_WORDS } else { data.count };
    let size = u32::from(data.size);
    let transfer = |index: u8| {
        let access = match data.way {
            Way::Coprocessor => Access::Coprocessor,
            Way::Load => Access::Hit,
            Way::Swap if index == 0 => Access::Hit,
            Way::Swap | Way::Store => Access::Store,
        };
        let step = if data.way == Way::Swap { 0 } else { size * u32::from(index) };
        let position = match index {
            _ if count == 1 => Position::Only,
            0 => Position::First,
            _ if index + 1 == count => Position::Last,
            _ => Position::Middle,
        };
        let value = 0x8182_8384_u64.wrapping_add(u64::from(index)) & (u64::MAX >> (64 - 8 * size));
        Transfer { size: data.size, position, ..Transfer::new(DATA + step, access, value) }
    };
    (0..count).map(transfer).collect()
}

const fn address(address: u64) -> Address32 {
    Address32(address as u32)
}

const fn isa(set: InstructionSet) -> Isa {
    match set {
        InstructionSet::T32 => Isa::Thumb,
        InstructionSet::T32Ee => Isa::ThumbEe,
        _ => Isa::Arm,
    }
}
