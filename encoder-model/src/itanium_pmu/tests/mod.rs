//! Worked examples through the whole model: registers are written, events occur, and the log is checked.

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, Contents, DataEarQualifier, DataEarThresholds, DataTlbLevel, EarReadPrivilege,
    EarReplacement, FreezeTiming, Ia32Counting, IbrLowBits, Instruction, InstructionTlbResolution,
    ItaniumPmu, Known, LatencyOverflow, LatencyThreshold, LongSyllable, Miss, Occurrence, Packet, Parameters,
    Policy, Register, Stimulus, SyllableType, Tags,
};
use traceproof_vectors::{Address, Encoder as _, Log};

use super::Encoder;

mod counting;
mod ears;
mod robustness;
mod tags;

/// PSR with up = 1, at this privilege level.
const fn user(level: u64) -> u64 {
    1 << 2 | level << 32
}
const DB: u64 = 1 << 24;
const IS: u64 = 1 << 34;
const PP: u64 = 1 << 21;
const SP: u64 = 1 << 20;
const NEUTRAL: u64 = 0x0100_0000_0000_0000;
const PASS_ALL: u64 = 0xf000_0000_3fff_fff8;

/// A model, and the log of its latest step.
struct Bench {
    encoder: Encoder,
    log: Log<ItaniumPmu>,
}

impl Bench {
    fn new() -> Self {
        Self::with(&Parameters::default())
    }

    fn with(parameters: &Parameters) -> Self {
        let mut encoder = Encoder::default();
        encoder.begin(parameters, &Policy::default()).unwrap();
        Self { encoder, log: Log::default() }
    }

    /// The packets of one step.
    fn step(&mut self, stimulus: Stimulus) -> Vec<Packet> {
        self.log = Log::default();
        self.encoder.step(&stimulus, &mut self.log);
        let packets: Vec<Packet> = self.log.packets().copied().collect();
        assert_eq!(self.log.wire.len(), 16 * packets.len(), "one record per packet");
        packets
    }

    fn write(&mut self, register: Register, value: u64) {
        self.step(Stimulus::Write { register, value });
    }

    fn pmc(&mut self, index: u8, value: u64) -> &mut Self {
        self.write(Register::pmc(index), value);
        self
    }

    fn pmd(&mut self, index: u8, value: u64) -> &mut Self {
        self.write(Register::pmd(index), value);
        self
    }

    fn psr(&mut self, value: u64) -> &mut Self {
        self.write(Register::PSR, value);
        self
    }

    fn ibrs(&mut self, values: &[u64]) -> &mut Self {
        for (index, value) in (0..).zip(values) {
            self.write(Register::ibr(index), *value);
        }
        self
    }

    fn dbrs(&mut self, values: &[u64]) -> &mut Self {
        for (index, value) in (0..).zip(values) {
            self.write(Register::dbr(index), *value);
        }
        self
    }

    /// The value in the record of a read, or `None` if it is undefined.
    fn read(&mut self, register: Register) -> Option<u64> {
        match self.step(Stimulus::Read(register))[..] {
            [Packet::Read(contents)] => {
                assert_eq!(contents.register(), register);
                Some(u64::from_le_bytes(self.log.wire[8..].try_into().unwrap()))
            }
            [Packet::ReadUndefined(read)] => {
                assert_eq!(read, register);
                None
            }
            ref packets => panic!("{packets:?}"),
        }
    }

    fn read_pmc(&mut self, index: u8) -> u64 {
        self.read(Register::pmc(index)).unwrap()
    }

    fn read_pmd(&mut self, index: u8) -> u64 {
        self.read(Register::pmd(index)).unwrap()
    }

    fn fetch(&mut self, instruction: Instruction) -> Tags {
        match self.step(Stimulus::Instruction(instruction))[..] {
            [Packet::Instruction(written), Packet::Tags(tags)] if written == instruction => tags,
            ref packets => panic!("{packets:?}"),
        }
    }

    /// IBRRangeTag of an instruction at `ip`.
    fn range(&mut self, ip: u64) -> bool {
        self.fetch(nop_at(ip)).range
    }

    /// DBRRangeTag.
    fn access(&mut self, kind: AccessKind, address: u64) -> bool {
        let access = Access { kind, address: Address(address) };
        match self.step(Stimulus::Access(access))[..] {
            [Packet::Access(written), Packet::DataTag(tag)] if written == access => tag,
            ref packets => panic!("{packets:?}"),
        }
    }

    fn miss(&mut self, miss: Miss) {
        assert_eq!(self.step(Stimulus::Miss(miss)), [Packet::Miss(miss)]);
    }

    fn occur(&mut self, es: u8, umask: u8, count: u8) {
        let occurrence = Occurrence { es, umask, count };
        assert_eq!(self.step(Stimulus::Occurrence(occurrence)), [Packet::Occurrence(occurrence)]);
    }

    /// Whether the cycle's end raises an interrupt.
    fn cycle(&mut self) -> bool {
        match self.step(Stimulus::Cycle)[..] {
            [Packet::Cycle] => false,
            [Packet::Cycle, Packet::Interrupt] => true,
            ref packets => panic!("{packets:?}"),
        }
    }
}

const fn nop_at(ip: u64) -> Instruction {
    Instruction {
        ip: Address(ip),
        slot: 0,
        itype: SyllableType::M,
        enco: 0x800_0000,
        retired: true,
        squashed: false,
    }
}

#[test]
fn what_software_writes_and_what_the_register_keeps_stand_side_by_side() {
    let mut bench = Bench::new();
    let packets = bench.step(Stimulus::Write { register: Register::pmc(0), value: u64::MAX });
    assert_eq!(packets, [Packet::Write(Contents::OverflowStatus { fr: true, overflow: 0xf0 })]);
    assert_eq!(bench.log.wire, [1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!(bench.read_pmc(0), 0xf1);
    assert_eq!(bench.log.wire, [2, 0, 0, 0, 0, 0, 0, 0, 0xf1, 0, 0, 0, 0, 0, 0, 0]);
    bench.pmc(6, 0x0050_0028);
    assert_eq!(bench.read_pmc(6), 0x0010_0028);
    bench.pmc(8, 0x8400_0000_07e7_fffb);
    assert_eq!(bench.read_pmc(8), 0x8400_0000_07e7_fff8);
    bench.psr(u64::MAX);
    assert_eq!(bench.read(Register::PSR), Some(u64::MAX));
    assert_eq!(bench.step(Stimulus::Reset), [Packet::Reset]);
    let values: Vec<u64> = (0..14).map(|index| bench.read_pmc(index)).collect();
    assert_eq!(values, [0, 0, 0, 0, 0, 0, 0, 0, PASS_ALL, PASS_ALL, 0, 0x1000_0000, 0, 1]);
    assert_eq!(bench.read(Register::PSR), Some(0));
}
