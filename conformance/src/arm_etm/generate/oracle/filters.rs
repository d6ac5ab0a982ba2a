//! What TraceEnable and ViewData let through.

use traceproof_vectors::arm_etm::{
    Access, Architecture, BranchTarget, ExceptionKind, Instruction, Isa, Parameters, Position, Stimulus,
    Transfer, VectorBase,
};

use super::{Visible, Word};
use crate::arm_etm::generate::Scenario;
use crate::arm_etm::generate::exceptions::{self, Taken};

/// An LSM that has not had its last transfer.
#[derive(Clone, Copy, Debug)]
struct Lsm {
    /// Its instruction; `None` for automatic stacking.
    address: Option<u32>,
    traced: bool,
    /// Its first traced transfer has been.
    seen: bool,
}

/// Cycles for which a 4-bit port may keep a TFO waiting: the other half of a byte, the three of another TFO.
const LONGEST_WAIT: usize = 4;

/// The filters between two cycles.
pub(super) struct Filters<'a> {
    scenario: &'a Scenario,
    /// Cycles in which tracing started, as the encoder knows them: a 4-bit port may be too busy for a TFO.
    starts: &'a [usize],
    /// Cycles for which a start has been waiting for the port.
    waiting: usize,
    v3: bool,
    on: bool,
    lsm: Option<Lsm>,
    /// Traced cycles since the latest instruction.
    passed: u64,
    context_id: u32,
    /// Where the instruction of the latest cycle that had one is; `None` after automatic stacking.
    address: Option<u32>,
    /// What was reported of the previous transfer.
    previous: Option<u32>,
    /// Tracing starts in this cycle, by a packet that has no cycle for anything else (ETMv2).
    starting: bool,
}

impl<'a> Filters<'a> {
    pub(super) fn new(scenario: &'a Scenario, starts: &'a [usize]) -> Self {
        Self {
            scenario,
            starts,
            waiting: 0,
            v3: scenario.parameters.architecture == Architecture::V3,
            on: false,
            lsm: None,
            passed: 0,
            context_id: 0,
            address: None,
            previous: None,
            starting: false,
        }
    }

    /// Cycles are lost from here on; tracing is to start again.
    pub(super) fn interrupt(&mut self) {
        self.on = false;
        if let Some(lsm) = &mut self.lsm {
            lsm.traced = false;
        }
    }

    /// Whether data of a miss that come in this cycle are never traced: in debug state (ETMv3), and in the cycle of a
    /// TFO that starts tracing (ETMv2, ETM2-LM-030).
    pub(super) fn loses_answers(&self, cycle: usize) -> bool {
        if self.v3 { self.scenario.cycles[cycle].debug } else { self.starting }
    }

    /// What is visible of a cycle. `lost`: nothing is, because an overflow drains.
    pub(super) fn cycle(&mut self, cycle: usize, lost: bool) -> Vec<Visible> {
        let now = &self.scenario.cycles[cycle];
        if now.reset {
            self.lsm = None;
        }
        if let Some(instruction) = &now.instruction {
            self.address = Some(instruction.address.0);
        }
        if now.exception_entry {
            self.address = None;
        }
        // ETM2-VNT-006: what began is traced to its end.
        let finishing = self.lsm.is_some_and(|lsm| lsm.traced);
        if self.on && (now.debug || !(now.trace_enable || finishing)) {
            self.interrupt();
        }
        let mut items = Vec::new();
        self.starting = false;
        if self.v3 {
            self.v3_cycle(now, lost, &mut items);
        } else {
            let next = self.scenario.cycles.get(cycle + 1);
            let next = next.filter(|next| !self.on && !lost && wants(next));
            self.waiting = if next.is_some() { self.waiting + 1 } else { 0 };
            let next = next.filter(|_| !self.port_is_busy(cycle));
            self.v2_cycle(now, next, &mut items);
        }
        items
    }

    /// The I-sync is in the cycle of the first instruction (7.10.5).
    fn v3_cycle(&mut self, now: &Stimulus, lost: bool, items: &mut Vec<Visible>) {
        let wanted = if self.scenario.parameters.data_only { allows(now) } else { wants(now) };
        if !self.on && !lost && wanted {
            self.start(now, items);
        }
        let begins = |transfer: &Transfer| matches!(transfer.position, Position::Only | Position::First);
        let own = now.transfers.iter().position(begins).filter(|_| now.instruction.is_some()).unwrap_or(0);
        let (earlier, own) = now.transfers.split_at(own);
        self.transfers(earlier, now, items);
        self.passed += u64::from(self.on);
        let instruction = now.instruction.filter(|_| self.on && !self.scenario.parameters.data_only);
        if let Some(instruction) = instruction {
            self.instructions(&instruction, items);
        }
        // ETM3-MISC-003, and 7.5: in the M profile the registers are popped first.
        let Parameters { minor, m_profile, .. } = self.scenario.parameters;
        let returns = instruction.is_some_and(|instruction| {
            instruction.exception_return && instruction.executed && (m_profile || minor >= 5)
        });
        if returns && !m_profile {
            items.push(Visible::Return);
        }
        if self.on && now.exception_entry && self.scenario.parameters.traces_data() {
            items.push(Visible::Entry);
        }
        self.transfers(own, now, items);
        if returns && m_profile {
            items.push(Visible::Return);
        }
        self.context(now, items);
        self.branch(now, items);
    }

    /// The TFO is in the cycle before the first instruction (6.5.1).
    ///
    /// `next`: it starts in this cycle, and this is the next cycle.
    fn v2_cycle(&mut self, now: &Stimulus, next: Option<&Stimulus>, items: &mut Vec<Visible>) {
        if let Some(next) = next {
            // Nothing of this cycle is traced, but it happens.
            self.starting = true;
            self.transfers(&now.transfers, now, &mut Vec::new());
            self.context(now, &mut Vec::new());
            self.start(next, items);
            return;
        }
        if let Some(instruction) = now.instruction.filter(|_| self.on) {
            self.instructions(&instruction, items);
        }
        self.transfers(&now.transfers, now, items);
        self.context(now, items);
        self.branch(now, items);
    }

    /// PC-8: on a 4-bit port a TFO waits while half a byte, or another TFO, is on its way. Not for long.
    fn port_is_busy(&self, cycle: usize) -> bool {
        let narrow = self.scenario.parameters.port_width == 4;
        narrow && self.waiting <= LONGEST_WAIT && !self.starts.contains(&cycle)
    }

    fn start(&mut self, first: &Stimulus, items: &mut Vec<Visible>) {
        self.on = true;
        self.passed = 0;
        self.previous = None;
        let traced_at = first.instruction.filter(|_| !self.scenario.parameters.data_only);
        let address = traced_at.map(|at| at.phantom.map_or(at.address, |phantom| phantom.address));
        let in_progress = self.lsm.and_then(|lsm| lsm.address).filter(|_| traced_at.is_some());
        items.push(Visible::Start { address: address.map(u32::from), in_progress });
        let Some(lsm) = &mut self.lsm else { return };
        (lsm.traced, lsm.seen) = (true, false);
        if let Some(address) = in_progress {
            items.push(Visible::Instruction { address, executed: true, cycles: None });
        }
    }

    fn instructions(&mut self, instruction: &Instruction, items: &mut Vec<Visible>) {
        let mut atom = |address: u32, executed: bool| {
            let cycles = Some(core::mem::take(&mut self.passed));
            items.push(Visible::Instruction { address, executed, cycles });
        };
        if let Some(phantom) = instruction.phantom {
            atom(phantom.address.0, phantom.taken);
        }
        atom(instruction.address.0, instruction.executed);
        if instruction.thumb32 && self.v3 && !self.scenario.parameters.thumb32_single {
            atom(instruction.address.0 + 2, instruction.executed);
        }
        if let Some(phantom) = instruction.phantom
            && phantom.taken
            && self.v3
            && self.scenario.parameters.branch_broadcast
        {
            // After the folded branch's own atom.
            let thumb = instruction.isa == Isa::Thumb;
            let at = items.len()
                - 1
                - usize::from(instruction.thumb32 && !self.scenario.parameters.thumb32_single);
            items.insert(at, Visible::Branch { address: instruction.address.0, thumb, exception: None });
        }
    }

    fn transfers(&mut self, transfers: &[Transfer], now: &Stimulus, items: &mut Vec<Visible>) {
        for transfer in transfers {
            self.transfer(transfer, now.view_data, items);
        }
    }

    /// ETM2-ND-006, ETM2-VNT-002, 003: from the first traced transfer of an LSM on, every one of it leaves something.
    fn transfer(&mut self, transfer: &Transfer, view_data: bool, items: &mut Vec<Visible>) {
        let (traced, first) = match transfer.position {
            Position::Only => (self.on && view_data, true),
            Position::First => {
                let lsm = Lsm { address: self.address, traced: self.on, seen: self.on && view_data };
                self.lsm = Some(lsm);
                (lsm.seen, true)
            }
            Position::Middle | Position::Last => match &mut self.lsm {
                Some(lsm) if lsm.traced => {
                    let first = !lsm.seen;
                    lsm.seen |= view_data;
                    (lsm.seen, first)
                }
                _ => (false, false),
            },
        };
        if transfer.position == Position::Last {
            self.lsm = None;
        }
        if traced {
            self.words(transfer, first, view_data, items);
        }
    }

    fn words(&mut self, transfer: &Transfer, first: bool, view_data: bool, items: &mut Vec<Visible>) {
        let parameters = &self.scenario.parameters;
        if !parameters.traces_data() {
            return;
        }
        for half in 0..1 + u32::from(transfer.wide) {
            let value = (transfer.value >> (32 * half)) as u32;
            let value = match transfer.access {
                _ if !view_data => Word::NotTraced,
                _ if !parameters.data_value => Word::Off,
                Access::Miss(number) => Word::Miss(number, half),
                _ => Word::Known(value),
            };
            // ETMv2 sends one address for an LSM; what follows is taken to be the next word (ETM2-ND-011).
            let address = match self.previous {
                Some(previous) if !(self.v3 || first && half == 0) => previous.wrapping_add(4),
                _ => transfer.address.wrapping_add(4 * half).0,
            };
            self.previous = Some(address);
            items.push(Visible::Transfer {
                address: parameters.data_address.then_some(address),
                value,
                big_endian: transfer.big_endian && parameters.data_address,
            });
        }
        if self.v3 && transfer.failed && view_data && parameters.data_value {
            items.push(Visible::StoreFailed);
        }
    }

    fn context(&mut self, now: &Stimulus, items: &mut Vec<Visible>) {
        let Some(context_id) = now.context_id else { return };
        let bytes = u32::from(self.scenario.parameters.context_id_bytes);
        let visible = (u64::from(context_id) & ((1 << (8 * bytes)) - 1)) as u32;
        if self.on && visible != self.context_id {
            items.push(Visible::Context(visible));
        }
        self.context_id = visible;
    }

    fn branch(&self, now: &Stimulus, items: &mut Vec<Visible>) {
        let Some(target) = now.instruction.and_then(|instruction| instruction.branch) else { return };
        let is_traced = self.on && !self.scenario.parameters.data_only;
        if is_traced && !self.v3 {
            self.exception(&target, items);
        }
        if is_traced && (!target.direct || self.scenario.parameters.branch_broadcast) {
            items.push(Visible::Branch {
                address: target.address.0,
                thumb: target.isa == Isa::Thumb,
                exception: target.exception.map(|exception| (exception.number, exception.cancel)),
            });
        }
    }

    /// ETMv2: what a branch to a vector is. Data of the cycle are those of the instruction that it interrupts.
    ///
    /// Spec: ETM2-EXC-001 to 005, ETM2-EXC-009, ETM2-EXC-010 (4.5.3, 6.8.1).
    fn exception(&self, target: &BranchTarget, items: &mut Vec<Visible>) {
        let hivecs = self.scenario.parameters.hivecs;
        let taken = target.exception.as_ref().map(exceptions::taken);
        let words = items.iter().filter(|item| matches!(item, Visible::Transfer { .. })).count();
        let item = match taken {
            Some(taken) if hivecs != VectorBase::Unknown => {
                let ignored = if taken.ignores_data { words } else { 0 };
                Visible::Exception { kind: taken.kind, cancels: taken.cancels, ignored }
            }
            // Only the exception bit shows it.
            Some(Taken { cancels: true, .. }) => {
                Visible::Exception { kind: ExceptionKind::Unknown, cancels: true, ignored: words }
            }
            _ if hivecs == VectorBase::Unknown
                && target.isa == Isa::Arm
                && exceptions::is_vector(target.address.0) =>
            {
                Visible::PossibleException
            }
            _ => return,
        };
        items.push(item);
    }
}

const fn allows(cycle: &Stimulus) -> bool {
    cycle.trace_enable && !cycle.debug
}

const fn wants(cycle: &Stimulus) -> bool {
    allows(cycle) && cycle.instruction.is_some()
}
