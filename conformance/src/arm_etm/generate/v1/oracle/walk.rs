//! Run, records and packets, step by step.

use traceproof_vectors::Log;
use traceproof_vectors::arm_etm::v1::{AddressReason, Pipestat};
use traceproof_vectors::arm_etm::{
    Access, ArmEtm, BranchTarget, Instruction, Packet, Stimulus, Transfer, Value,
};

use super::addresses::Addresses;
use super::knowledge::{Knowledge, Located, Word};
use super::records::{self, Record};
use super::{Expected, Returned, differs};
use crate::arm_etm::generate::oracle::Mismatch;
use crate::arm_etm::generate::v1::Scenario;

/// From BE of a restart to the first instruction (`etm1-restart-is-three-records-ahead`).
const AHEAD: usize = 3;

/// Largest offset that can be encoded (ETM1-APO-003).
const LARGEST_OFFSET: usize = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracing {
    Off,
    /// The first instruction is in this cycle.
    From(usize),
    On,
}

pub(super) struct Walk<'a> {
    scenario: &'a Scenario,
    records: Vec<Record>,
    /// The encoder's packets that were not looked at.
    packets: Vec<Packet>,
    at_packet: usize,
    tracing: Tracing,
    overflowed: bool,
    debugged: bool,
    addresses: Addresses,
    /// Branch addresses that were placed in the FIFO, and marks that were seen.
    placed: usize,
    marks: usize,
    /// What APO records still have to show, the next one last.
    offset: Vec<u8>,
    knowledge: Knowledge,
}

impl<'a> Walk<'a> {
    pub(super) fn new(scenario: &'a Scenario, sent: &Log<ArmEtm>) -> Result<Self, Mismatch> {
        let Scenario { parameters, policy, .. } = scenario;
        Ok(Self {
            scenario,
            records: records::read(&sent.wire, parameters)?,
            packets: sent.packets().copied().collect(),
            at_packet: 0,
            tracing: Tracing::Off,
            overflowed: false,
            debugged: false,
            addresses: Addresses::new(parameters, policy),
            placed: 0,
            marks: 0,
            offset: Vec::new(),
            knowledge: Knowledge::new(parameters),
        })
    }

    pub(super) fn run(mut self) -> Result<(Expected, Returned), Mismatch> {
        let cycles = self.scenario.cycles.len();
        if self.records.len() < cycles {
            return Err(differs(cycles, format!("{cycles} records"), format!("{}", self.records.len())));
        }
        for index in 0..self.records.len() {
            self.record(index)?;
        }
        match self.packets.get(self.at_packet) {
            None if self.marks == self.placed => Ok((self.knowledge.expected, self.knowledge.returned)),
            other => Err(differs(self.records.len(), "the end, all marks seen", format!("{other:x?}"))),
        }
    }

    fn record(&mut self, index: usize) -> Result<(), Mismatch> {
        let record = self.records[index];
        let silent = Stimulus::default();
        let now = self.scenario.cycles.get(index).unwrap_or(&silent);
        if record.trigger != now.trigger {
            return Err(differs(index, format!("trigger {}", now.trigger), format!("{record:?}")));
        }
        if now.trigger {
            self.knowledge.trigger(index as u64);
        }
        if self.tracing == Tracing::From(index) {
            self.tracing = Tracing::On;
        }
        if self.tracing == Tracing::On && !is_wanted(now) {
            self.tracing = Tracing::Off;
        }
        self.debugged |= now.debug && self.tracing == Tracing::Off;
        if let Some(value) = now.context_id {
            self.addresses.write_context(value, self.tracing == Tracing::On);
        }
        match self.tracing {
            Tracing::On => self.traced(index, now, record)?,
            Tracing::Off => self.untraced(index, now, record)?,
            Tracing::From(_) => self.nothing(index, now, record)?,
        }
        self.marks += usize::from(record.mark);
        if self.marks > self.placed {
            return Err(differs(index, "no TRACESYNC", format!("{record:?}")));
        }
        Ok(())
    }

    /// A record without instruction: APO, WT or TD. Spec: ETM1-APO-001, ETM1-PS-009, 012, ETM1-SYN-009.
    fn nothing(&mut self, index: usize, now: &Stimulus, record: Record) -> Result<(), Mismatch> {
        let idle = u16::from(self.scenario.parameters.cycle_accurate && now.trace_enable);
        let (expected, agrees) = match self.offset.pop() {
            Some(bits) => (format!("{bits} of the APO"), record.status.code() == bits),
            None => (
                "WT or TD".into(),
                match record.status {
                    Pipestat::Wt => true,
                    Pipestat::Td => record.tracepkt == idle,
                    _ => false,
                },
            ),
        };
        if agrees { Ok(()) } else { Err(differs(index, expected, format!("{record:?}"))) }
    }

    /// Whether the record shows that the FIFO is empty.
    fn shows_empty(&self, record: Record) -> bool {
        self.offset.is_empty() && record.status == Pipestat::Td
    }

    /// Nothing is traced; perhaps a restart begins. Spec: ETM1-SYN-004, 007.
    fn untraced(&mut self, index: usize, now: &Stimulus, record: Record) -> Result<(), Mismatch> {
        let cycles = &self.scenario.cycles;
        let first = cycles.get(index + AHEAD).filter(|cycle| is_wanted(cycle));
        let Some(first) = first.and_then(|cycle| cycle.instruction) else {
            return self.nothing(index, now, record);
        };
        if record.status != Pipestat::Be {
            // It has to wait until the FIFO is empty, or finds no room in it: it cannot be empty.
            if self.shows_empty(record) {
                return Err(differs(index, "BE of a restart", format!("{record:?}")));
            }
            self.overflowed = true;
            return self.nothing(index, now, record);
        }
        let between = &cycles[index + 1..index + AHEAD];
        let reason = if self.overflowed {
            AddressReason::Overflow
        } else if self.debugged || between.iter().any(|cycle| cycle.debug) {
            AddressReason::DebugExit
        } else {
            AddressReason::TraceEnabled
        };
        if self.overflowed && self.placed != self.marks {
            return Err(differs(index, "an empty FIFO", "a branch address in it"));
        }
        let context_id = between.iter().rev().find_map(|cycle| cycle.context_id);
        let packet = self.next_packet(index)?;
        if !self.addresses.restart(index, &packet, (first.address.0, first.isa), reason, context_id) {
            return Err(differs(
                index,
                format!("{reason:?} at {:#x}", first.address),
                format!("{packet:x?}"),
            ));
        }
        let located = self.locate(index);
        let target = BranchTarget { address: first.address, isa: first.isa, ..BranchTarget::default() };
        self.knowledge.address(index as u64, &packet, &target, located);
        (self.overflowed, self.debugged) = (false, false);
        self.tracing = Tracing::From(index + AHEAD);
        Ok(())
    }

    fn traced(&mut self, index: usize, now: &Stimulus, record: Record) -> Result<(), Mismatch> {
        let Some(at) = now.instruction else { return self.nothing(index, now, record) };
        let target = at.branch.filter(|target| self.addresses.is_output(index, target));
        let words = if at.executed { self.words(now) } else { Vec::new() };
        let status = match (at.executed, words.is_empty(), target) {
            (false, ..) => Pipestat::In,
            (true, true, None) => Pipestat::Ie,
            (true, false, None) => Pipestat::Id,
            (true, true, Some(_)) => Pipestat::Be,
            (true, false, Some(_)) => Pipestat::Bd,
        };
        let in_offset = !self.offset.is_empty();
        if record.status == status && (!in_offset || status.has_address()) {
            return self.shown(index, &at, now, &words, target);
        }
        // `etm1-overflow-cuts-data-only`
        if !status.has_address() || self.shows_empty(record) {
            return Err(differs(index, format!("{status}"), format!("{record:?}")));
        }
        self.overflow();
        if status == Pipestat::Bd && record.status == Pipestat::Id && !in_offset {
            return self.shown(index, &at, now, &words, None);
        }
        self.nothing(index, now, record)
    }

    /// The record shows the instruction, with these words of data and perhaps its target.
    fn shown(
        &mut self,
        index: usize,
        at: &Instruction,
        now: &Stimulus,
        words: &[Word],
        target: Option<BranchTarget>,
    ) -> Result<(), Mismatch> {
        self.knowledge.instruction(index as u64, at);
        if !words.is_empty() {
            let whole = self.data(index, at, now, words);
            if !whole && target.is_some() {
                return Err(differs(index, "whole data", "less"));
            }
            if !whole {
                self.overflow();
            }
        }
        let Some(target) = target else { return Ok(()) };
        let packet = self.next_packet(index)?;
        let due = self
            .addresses
            .branch(index, &packet, &target)
            .ok_or_else(|| differs(index, format!("{target:x?}"), format!("{packet:x?}")))?;
        self.knowledge.returned.periodic += usize::from(due);
        let located = self.locate(index);
        self.knowledge.address(index as u64, &packet, &target, located);
        Ok(())
    }

    const fn overflow(&mut self) {
        self.tracing = Tracing::Off;
        self.overflowed = true;
    }

    fn next_packet(&mut self, index: usize) -> Result<Packet, Mismatch> {
        let packet = self.packets.get(self.at_packet).copied();
        self.at_packet += 1;
        packet.ok_or_else(|| differs(index, "a packet", "the end"))
    }

    /// Another branch address is in the FIFO: whether a decoder can locate it, and what the APO must be.
    fn locate(&mut self, index: usize) -> Located {
        let waiting = self.placed - self.marks;
        self.placed += 1;
        let offset = if waiting > LARGEST_OFFSET { 15 } else { waiting as u8 };
        self.offset = vec![offset >> 2, offset & 3];
        let following = self.records.iter().skip(index + 1).take(2);
        if following.clone().any(|record| record.status.has_address()) {
            Located::Abandoned
        } else if offset == 15 {
            Located::Far
        } else {
            Located::Yes
        }
    }

    /// The expected report of an instruction's transfers. Spec: ETM1-DAT-001 to 003, ETM1-PS-006.
    fn words(&self, now: &Stimulus) -> Vec<Word> {
        let parameters = &self.scenario.parameters;
        let is_traced = |transfer: &&Transfer| match transfer.access {
            Access::Coprocessor => parameters.monitor_cprt && parameters.data_value,
            _ => now.view_data && parameters.traces_data(),
        };
        let address = |transfer: &Transfer| {
            (parameters.data_address && transfer.access != Access::Coprocessor).then_some(transfer.address)
        };
        let traced = now.transfers.iter().filter(is_traced);
        if !parameters.data_value {
            return traced
                .take(1)
                .map(|it| Word { address: address(it).map(u32::from), value: Value::Off })
                .collect();
        }
        traced
            .flat_map(|transfer| {
                let word = |half: u32| Word {
                    address: address(transfer).map(|address| address.wrapping_add(4 * half)).map(u32::from),
                    value: Value::Known((transfer.value >> (32 * half)) as u32),
                };
                (0..if transfer.wide { 2 } else { 1 }).map(word)
            })
            .collect()
    }

    /// Takes the data packets of an instruction. Whether all of them are there.
    fn data(&mut self, index: usize, at: &Instruction, now: &Stimulus, words: &[Word]) -> bool {
        let begin = self.at_packet;
        let mut got = 0;
        let addressed = match words[0].address {
            Some(address) => {
                let there =
                    self.packets.get(begin).is_some_and(|packet| self.addresses.data(packet, address));
                self.at_packet += usize::from(there);
                there
            }
            None => true,
        };
        let size = now.transfers[0].size;
        let is_next = |packet: Option<&Packet>, word: &Word| match word.value {
            Value::Known(value) => packet == Some(&Packet::DataValue { bytes: size, value }),
            _ => true,
        };
        while addressed && got < words.len() && is_next(self.packets.get(self.at_packet), &words[got]) {
            self.at_packet += usize::from(words[got].value != Value::Off);
            got += 1;
        }
        let packets = &self.packets[begin..self.at_packet];
        let whole = got == words.len();
        self.knowledge.data(index as u64, at, &words[..got], packets, whole);
        whole
    }
}

const fn is_wanted(cycle: &Stimulus) -> bool {
    cycle.trace_enable && !cycle.debug
}
