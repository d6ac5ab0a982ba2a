//! Cycles in, groups of bytes and records out.

use crate::arm_etm::Encoder;
use crate::arm_etm::v2::write_packet;
use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat};
use traceproof_vectors::arm_etm::{
    Access, Architecture, ArmEtm, BranchTarget, Exception, Instruction, MissReturn, Packet, Parameters,
    Policy, Position, Stimulus, Transfer,
};
use traceproof_vectors::{Address32, Encoder as _, Log};

pub(crate) mod any;

/// A cycle that traces everything there is.
pub(crate) fn wait() -> Stimulus {
    Stimulus { trace_enable: true, view_data: true, ..Stimulus::default() }
}

/// A cycle that traces nothing.
pub(crate) fn off() -> Stimulus {
    Stimulus { view_data: true, ..Stimulus::default() }
}

pub(crate) fn execute(address: u32) -> Stimulus {
    let instruction = Instruction { address: Address32(address), executed: true, ..Instruction::default() };
    Stimulus { instruction: Some(instruction), ..wait() }
}

pub(crate) fn skip(address: u32) -> Stimulus {
    Stimulus {
        instruction: Some(Instruction { address: Address32(address), ..Instruction::default() }),
        ..wait()
    }
}

/// What else happens in a cycle.
pub(crate) trait And: Sized {
    fn and(self, transfer: Transfer) -> Self;
    fn branch(self, address: u32) -> Self;
    fn answer(self, miss: u32, value: u64) -> Self;
    fn unseen(self) -> Self;
    fn trigger(self) -> Self;
}

impl And for Stimulus {
    fn and(mut self, transfer: Transfer) -> Self {
        self.transfers.push(transfer);
        self
    }

    fn branch(mut self, address: u32) -> Self {
        if let Some(instruction) = &mut self.instruction {
            instruction.branch =
                Some(BranchTarget { address: Address32(address), ..BranchTarget::default() });
        }
        self
    }

    fn answer(mut self, miss: u32, value: u64) -> Self {
        self.returns.push(MissReturn { miss, value });
        self
    }

    fn unseen(self) -> Self {
        Self { view_data: false, ..self }
    }

    fn trigger(self) -> Self {
        Self { trigger: true, ..self }
    }
}

const fn transfer(address: u32, access: Access, value: u64) -> Transfer {
    Transfer::new(address, access, value)
}

pub(crate) const fn store(address: u32, value: u64) -> Transfer {
    transfer(address, Access::Store, value)
}

pub(crate) const fn hit(address: u32, value: u64) -> Transfer {
    transfer(address, Access::Hit, value)
}

pub(crate) const fn miss(address: u32, number: u32) -> Transfer {
    transfer(address, Access::Miss(number), 0)
}

pub(crate) const fn wide(transfer: Transfer) -> Transfer {
    Transfer { wide: true, ..transfer }
}

pub(crate) const fn at(position: Position, transfer: Transfer) -> Transfer {
    Transfer { position, ..transfer }
}

/// The instruction is interrupted: the exception of this number, to this vector in ARM state.
pub(crate) fn interrupt(mut cycle: Stimulus, number: u16, vector: u32) -> Stimulus {
    if let Some(instruction) = &mut cycle.instruction {
        let exception = Some(Exception { number, ..Exception::default() });
        instruction.branch =
            Some(BranchTarget { address: Address32(vector), exception, ..BranchTarget::default() });
    }
    cycle
}

/// Everything the encoder sends. Of ETMv3 that is after a cycle in which TraceEnable is low: atoms wait for that.
pub(crate) fn encode(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> Log<ArmEtm> {
    let mut cycles = cycles.to_vec();
    if let (Some(last), Architecture::V3, false) =
        (cycles.last(), parameters.architecture, parameters.bare_port)
    {
        let Stimulus { non_secure, hyp, timestamp, .. } = *last;
        cycles.push(Stimulus { non_secure, hyp, timestamp, ..Stimulus::default() });
    }
    encode_unended(parameters, policy, &cycles)
}

/// These cycles and no others.
pub(crate) fn encode_unended(parameters: &Parameters, policy: &Policy, cycles: &[Stimulus]) -> Log<ArmEtm> {
    let mut encoder = Encoder::default();
    encoder.begin(parameters, policy).expect("supported");
    let mut log = Log::default();
    for cycle in cycles {
        encoder.step(cycle, &mut log);
    }
    encoder.finish(&mut log);
    log
}

/// The wire with default parameters and policy.
pub(crate) fn encode_plainly(cycles: &[Stimulus]) -> Log<ArmEtm> {
    encode(&Parameters::default(), &Policy::default(), cycles)
}

/// TFO packets and groups in the order of the FIFO.
pub(crate) fn units(log: &Log<ArmEtm>) -> Vec<Vec<Packet>> {
    let mut units = Vec::new();
    let mut open = Vec::new();
    for packet in log.packets() {
        open.push(*packet);
        let more = match *packet {
            Packet::NormalData { more, .. }
            | Packet::LoadMissOccurred { more, .. }
            | Packet::LoadMissData { more, .. }
            | Packet::ValueNotTraced { more, .. }
            | Packet::ContextId { more, .. } => more,
            _ => false,
        };
        if !more {
            units.push(std::mem::take(&mut open));
        }
    }
    assert!(open.is_empty(), "the last group has no end: {open:?}");
    units
}

pub(crate) fn unit_bytes(unit: &[Packet], parameters: &Parameters) -> Vec<u8> {
    unit.iter().flat_map(|packet| write_packet(packet, parameters).expect("encodable")).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ")
}

/// The groups, TFO packets left out, as text like that of the worked examples.
pub(crate) fn groups(log: &Log<ArmEtm>, parameters: &Parameters) -> Vec<String> {
    units(log)
        .iter()
        .filter(|unit| !matches!(unit.as_slice(), [Packet::TraceFifoOffset { .. }]))
        .map(|unit| hex(&unit_bytes(unit, parameters)))
        .collect()
}

/// Records as text: `"TD 01"`.
pub(crate) fn records(log: &Log<ArmEtm>, parameters: &Parameters) -> Vec<String> {
    let digits = usize::from(parameters.port_width) / 4;
    cycles(log, parameters)
        .into_iter()
        .map(|Cycle { pipestat, tracepkt }| format!("{pipestat} {tracepkt:0digits$X}"))
        .collect()
}

pub(crate) fn cycles(log: &Log<ArmEtm>, parameters: &Parameters) -> Vec<Cycle> {
    log.wire
        .chunks(Cycle::size(parameters))
        .map(|record| Cycle::from_bytes(record, parameters).expect("a whole record"))
        .collect()
}

/// A status with a D.
pub(crate) const fn has_data(status: Pipestat) -> bool {
    use Pipestat::{De, Dn, Dw, PnDe, PnDn, PtDe, PtDn};
    matches!(status, De | Dn | Dw | PtDe | PtDn | PnDe | PnDn)
}
