//! Cycle by cycle: what is traced, the packets of it, and what the port carries.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::arm_etm::v1::{AddressReason, Cycle, Pipestat};
use traceproof_vectors::arm_etm::{
    ArmEtm, BranchTarget, Instruction, Isa, Packet, Parameters, Policy, Stimulus,
};

use super::branches::{Branches, Wish};
use super::data::Data;
use super::offset::OffsetRecords;
use super::packet;
use super::port::Port;

/// Cycles that the processor's pipeline shows in advance, so that BE of a restart and its APO come in time
/// (`etm1-restart-is-three-records-ahead`).
pub(super) const AHEAD: usize = 3;

/// Whether instructions are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracing {
    /// No.
    Off,
    /// BE of a restart was shown; so many cycles are still to come up to the first traced instruction.
    Starting(usize),
    /// Yes.
    On,
}

/// A macrocell between two cycles.
#[derive(Debug)]
pub(super) struct Macrocell {
    parameters: Parameters,
    port: Port,
    offset: OffsetRecords,
    tracing: Tracing,
    /// Something did not fit in the FIFO since the latest restart.
    overflowed: bool,
    /// The processor was in debug state since it was traced last.
    debugged: bool,
    branches: Branches,
    data: Data,
    /// Records that the capture still misses.
    lost_records: u64,
    /// Data packets of this cycle, and bytes.
    packets: Vec<Packet>,
    bytes: Vec<u8>,
}

impl Macrocell {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            port: Port::new(parameters, policy.fifo_size),
            offset: OffsetRecords::default(),
            tracing: Tracing::Off,
            overflowed: false,
            debugged: false,
            branches: Branches::new(parameters, policy),
            data: Data::new(parameters, policy),
            lost_records: policy.capture_from,
            packets: Vec::new(),
            bytes: Vec::new(),
            parameters: parameters.clone(),
        }
    }

    /// One cycle, and its record. `ahead`: the cycles after it, up to [`AHEAD`].
    pub(super) fn cycle(
        &mut self,
        now: &Stimulus,
        ahead: &VecDeque<Stimulus>,
        sink: &mut dyn EncoderSink<ArmEtm>,
    ) {
        self.port.begin_cycle();
        self.branches.tick();
        self.observe(now);
        let status = match self.tracing {
            Tracing::On => self.trace(now, sink),
            Tracing::Off => self.start(ahead, sink),
            Tracing::Starting(_) => None,
        };
        let status = match status {
            // It has two APO records of its own (ETM1-APO-005).
            Some(status) if status.has_address() => status,
            // ETM1-APO-008: nothing else comes in these.
            _ if self.offset.is_next() => self.offset.show(),
            Some(status) => status,
            None => self.wait(now.trigger),
        };
        // ETM1-SYN-009: in cycle-accurate mode TRACEPKT[0] of TD is the status of TraceEnable (5.4, table 5.2). 1 says
        // that the cycle is to be kept (5.10, A15); a capture device may drop those with 0.
        let idle = u16::from(self.parameters.cycle_accurate && now.trace_enable);
        let cycle = self.port.record(status, idle, now.trigger);
        if self.lost_records > 0 {
            self.lost_records -= 1;
            return;
        }
        let bytes = cycle.to_bytes(&self.parameters);
        let size = Cycle::size(&self.parameters);
        sink.wire(bytes.get(..size).unwrap_or_default());
    }

    /// Whether the port has nothing more to output.
    pub(super) fn is_drained(&self) -> bool {
        self.port.is_empty()
    }

    /// Records the levels, and starts and stops tracing as they require.
    fn observe(&mut self, now: &Stimulus) {
        self.tracing = match self.tracing {
            Tracing::Starting(left) if left > 1 => Tracing::Starting(left - 1),
            Tracing::Starting(_) => Tracing::On,
            Tracing::On if !is_wanted(now) => Tracing::Off,
            other => other,
        };
        self.debugged |= now.debug && self.tracing == Tracing::Off;
        if let Some(context_id) = now.context_id {
            self.branches.write_context(context_id, self.tracing == Tracing::On);
        }
    }

    /// The status of a record without instruction. Spec: ETM1-PS-009, 012 (5.1, 6.1.7).
    fn wait(&self, trigger: bool) -> Pipestat {
        if self.port.is_empty() && !trigger { Pipestat::Td } else { Pipestat::Wt }
    }

    /// Something does not fit. Spec: ETM1-SYN-004 (5.9).
    const fn overflow(&mut self) {
        self.tracing = Tracing::Off;
        self.overflowed = true;
    }

    /// BE of a restart, if an instruction that is to be traced is near.
    ///
    /// Spec: ETM1-PKT-014, ETM1-SYN-004, 007 (5.8.1, 5.9).
    fn start(&mut self, ahead: &VecDeque<Stimulus>, sink: &mut dyn EncoderSink<ArmEtm>) -> Option<Pipestat> {
        let first = ahead.get(AHEAD - 1).filter(|cycle| is_wanted(cycle))?.instruction.as_ref()?;
        if self.overflowed && !self.port.is_empty() {
            return None;
        }
        // What happens up to the first instruction is known as well as the instruction.
        let between = || ahead.iter().take(AHEAD - 1);
        let reason = if self.overflowed {
            AddressReason::Overflow
        } else if self.debugged || between().any(|cycle| cycle.debug) {
            AddressReason::DebugExit
        } else {
            AddressReason::TraceEnabled
        };
        let written = between().rev().find_map(|cycle| cycle.context_id);
        let packet = self.branches.restart(first.address.0, first.isa, reason, written);
        if self.write(&packet) > self.port.room() {
            self.overflow();
            return None;
        }
        self.output_address(&packet, first.address.0, first.isa, sink);
        self.data.restart();
        self.tracing = Tracing::Starting(AHEAD);
        (self.overflowed, self.debugged) = (false, false);
        Some(Pipestat::Be)
    }

    /// A cycle that is traced. `None` if nothing shows that it has an instruction.
    ///
    /// Spec: ETM1-PS-003 to 008 (5.1, 5.4, 5.7.1), ETM1-SYN-005 (5.9).
    fn trace(&mut self, now: &Stimulus, sink: &mut dyn EncoderSink<ArmEtm>) -> Option<Pipestat> {
        let instruction = now.instruction.as_ref()?;
        let target = taken(instruction);
        let wish = target.and_then(|target| self.branches.wish(&target));
        if wish.is_none() && self.offset.is_next() {
            // The pipeline is being refilled: this cannot be.
            return None;
        }
        if !instruction.executed && target.is_none() {
            return Some(Pipestat::In);
        }
        self.packets.clear();
        self.data.packets(&now.transfers, now.view_data, &mut self.packets);
        let has_data = !self.packets.is_empty();
        let room = self.port.room().checked_sub(self.size_of_data());
        let Some((target, wish)) = target.zip(wish) else {
            self.output_data(sink);
            if room.is_none() {
                self.overflow();
            }
            return Some(if has_data { Pipestat::Id } else { Pipestat::Ie });
        };
        let Some((packet, wish)) = room.and_then(|room| self.choose(&target, wish, room)) else {
            // `etm1-overflow-cuts-data-only`
            let shown = has_data && !self.offset.is_next();
            if shown {
                self.output_data(sink);
            }
            self.overflow();
            return shown.then_some(Pipestat::Id);
        };
        self.output_data(sink);
        self.output_address(&packet, target.address.0, target.isa, sink);
        if matches!(wish, Wish::Due | Wish::Overdue) {
            self.data.require_full();
        }
        Some(if has_data { Pipestat::Bd } else { Pipestat::Be })
    }

    /// The address of a branch that fits in the room that its data leave, and why it is output.
    ///
    /// Spec: ETM1-SYN-001, 002 (5.6.2).
    fn choose(&mut self, target: &BranchTarget, wish: Wish, room: usize) -> Option<(Packet, Wish)> {
        let instead = if wish == Wish::Due { self.branches.plain_wish(target) } else { None };
        [Some(wish), instead].into_iter().flatten().find_map(|wish| {
            let packet = self.branches.address(target, wish);
            (self.write(&packet) <= room).then_some((packet, wish))
        })
    }

    fn size_of_data(&mut self) -> usize {
        self.bytes.clear();
        for packet in &self.packets {
            packet::append(packet, &self.parameters, &mut self.bytes);
        }
        self.bytes.len()
    }

    /// The bytes of a packet. How many there are.
    fn write(&mut self, packet: &Packet) -> usize {
        self.bytes.clear();
        packet::append(packet, &self.parameters, &mut self.bytes);
        self.bytes.len()
    }

    /// Data enter the FIFO as far as they fit; only what is whole is a packet.
    fn output_data(&mut self, sink: &mut dyn EncoderSink<ArmEtm>) {
        for packet in &self.packets {
            self.bytes.clear();
            packet::append(packet, &self.parameters, &mut self.bytes);
            let fits = self.bytes.len() <= self.port.room();
            self.port.append_data(&self.bytes);
            if !fits {
                break;
            }
            sink.packet(packet);
        }
    }

    /// A branch address enters the FIFO; the caller knows that it fits. Spec: ETM1-APO-002, 005 (5.6.1).
    fn output_address(
        &mut self,
        packet: &Packet,
        address: u32,
        isa: Isa,
        sink: &mut dyn EncoderSink<ArmEtm>,
    ) {
        self.write(packet);
        self.offset.begin(self.port.addresses());
        self.port.append_address(&self.bytes);
        self.branches.output(packet, address, isa);
        sink.packet(packet);
    }
}

/// Where it branches to. The instruction that an exception interrupts is the branch to the vector, whether its
/// condition passed or not, and an indirect one.
///
/// Spec: ETM1-EXC-001 to 005, 011 (4.5.3).
fn taken(instruction: &Instruction) -> Option<BranchTarget> {
    let target = instruction.branch?;
    match target.exception {
        Some(_) => Some(BranchTarget { direct: false, ..target }),
        None => instruction.executed.then_some(target),
    }
}

/// Whether instructions of the cycle are to be traced.
const fn is_wanted(cycle: &Stimulus) -> bool {
    cycle.trace_enable && !cycle.debug
}
