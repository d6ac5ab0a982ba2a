//! Last state, current state and return stack of appendix B a second time, with room for a deviation.
//!
//! A model never reports anything. It follows the same packets as the reference, to know where a wrong
//! decoder would go on.

use traceproof_decoder::arm::{Destination, Instruction, InstructionSet};
use traceproof_vectors::arm::{self, Barrier, InstructionClass, SecurityState};
use traceproof_vectors::arm_pft::{
    CompressedAddress, ExceptionInformation, Packet, Parameters, Reason, State,
};
use traceproof_vectors::{Address32, DecoderLimits, MemorySpace, Program};

/// How a model deviates from the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deviation {
    None,
    /// E atoms of direct branches change the last state.
    AtomsStateTheLast,
    /// Exception packets leave the last state alone.
    ExceptionsLeaveTheLast,
    /// Packets leave the last state alone while the current one is undefined.
    LastStopsWithTheFlow,
    /// Only an I-sync defines the flow again.
    LostUntilSync,
    /// A waypoint update leaves the current state at the instruction that it names.
    UpdatesAreExclusive,
    /// N atoms of BLX (immediate) change the instruction set.
    NotExecutedChangesState,
    /// A short branch address has the instruction set of the current state.
    ShortAddressInCurrentSet,
    /// Without exception information a branch is to Secure state.
    SecureWithoutInformation,
    /// An indirect branch with link pushes before it pops.
    PushesFirst,
    /// Where the return stack is full, nothing is pushed.
    DropsNewest,
    /// N atoms of branches with link push.
    NotExecutedPushes,
    /// Branch addresses never push.
    BranchesDoNotPush,
    /// A branch address that matches the top of the return stack pops it.
    BranchesPop,
    /// An entry has no instruction set.
    ReturnsInTheSameSet,
    /// Return addresses of 16-bit branches lie 4 bytes on.
    ReturnsAfterFour,
    /// No I-sync empties the return stack.
    StackOverRestarts,
    /// Where synchronisation is lost the return stack is kept.
    StackOverLostSynchronisation,
    /// A waypoint update empties the return stack.
    UpdatesEmptyTheStack,
    /// Indirect branches never push.
    OnlyDirectLinks,
}

/// What the packets so far have said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct States {
    /// An I-sync was seen.
    synchronised: bool,
    pub(super) last: State,
    /// `None` = undefined.
    pub(super) current: Option<State>,
    /// The newest last.
    returns: Vec<State>,
    pub(super) context_id: Option<u32>,
    vmid: Option<u8>,
}

/// A waypoint that is next in the flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waypoint {
    pub(super) address: Address32,
    instruction: Instruction,
    pub(super) is_indirect: bool,
}

/// The states of one stream.
#[derive(Clone, Debug)]
pub(super) struct Model {
    deviation: Deviation,
    pub(super) parameters: Parameters,
    program: Program,
    pub(super) states: States,
}

impl Model {
    pub(super) fn new(deviation: Deviation, parameters: &Parameters, program: &Program) -> Self {
        let (parameters, program) = (parameters.clone(), program.clone());
        Self { deviation, parameters, program, states: States::default() }
    }

    fn deviates(&self, deviation: Deviation) -> bool {
        self.deviation == deviation
    }

    pub(super) const fn is_synchronised(&self) -> bool {
        self.states.synchronised
    }

    /// Packets cannot be read.
    pub(super) fn lose(&mut self) {
        let returns = std::mem::take(&mut self.states.returns);
        let last = self.states.last;
        self.states = States { last, ..States::default() };
        if self.deviates(Deviation::StackOverLostSynchronisation) {
            self.states.returns = returns;
        }
    }

    pub(super) fn take(&mut self, packet: &Packet) {
        let is_sync = matches!(packet, Packet::InstructionSync { .. });
        if !self.states.synchronised && !is_sync {
            return;
        }
        self.states.synchronised = true;
        match *packet {
            Packet::InstructionSync { reason, context_id, .. } => {
                let stated = self.of_sync(packet);
                self.states.last = stated;
                self.states.current = Some(stated);
                self.states.context_id = context_id.or(self.states.context_id);
                if reason != Reason::Periodic && !self.deviates(Deviation::StackOverRestarts) {
                    self.states.returns.clear();
                }
            }
            Packet::Atoms { atoms, .. } => atoms.executed().for_each(|executed| self.atom(executed)),
            Packet::BranchAddress { address, exception, .. } => self.branch(address, exception),
            Packet::WaypointUpdate { address, information, .. } => self.update(address, information),
            Packet::ContextId { value: Some(value) } => self.states.context_id = Some(value),
            Packet::Vmid(value) if self.parameters.virtualization => self.states.vmid = Some(value),
            _ => {}
        }
    }

    /// The state that an I-sync states.
    pub(super) fn of_sync(&self, packet: &Packet) -> State {
        let Packet::InstructionSync { address, non_secure, alt_isa, hyp, .. } = *packet else {
            return State::default();
        };
        let isa = match (address.0 & 1, alt_isa) {
            (0, _) => arm::InstructionSet::A32,
            (_, false) => arm::InstructionSet::T32,
            (_, true) => arm::InstructionSet::T32Ee,
        };
        let low_bits = (1 << isa.alignment_bits()) - 1;
        let hyp = hyp && self.parameters.virtualization;
        State { address: Address32(address.0 & !low_bits), isa, non_secure, hyp }
    }

    /// The address as it travels, relative to the last state.
    fn address(&self, address: CompressedAddress) -> State {
        let last = self.states.last;
        let CompressedAddress { bits, bytes } = address;
        if bytes >= 5 {
            let isa = match bits >> 31 & 3 {
                0 => arm::InstructionSet::A32,
                1 => arm::InstructionSet::T32,
                _ => arm::InstructionSet::Jazelle,
            };
            return State { address: Address32((bits << isa.alignment_bits()) as u32), isa, ..last };
        }
        let isa = match self.states.current {
            Some(current) if self.deviates(Deviation::ShortAddressInCurrentSet) => current.isa,
            _ => last.isa,
        };
        let width = [6, 6, 12, 19, 26].get(usize::from(bytes)).copied().unwrap_or(26) + isa.alignment_bits();
        let replaced = (1_u32 << width) - 1;
        let address = last.address.0 & !replaced | (bits << isa.alignment_bits()) as u32 & replaced;
        State { address: Address32(address), isa, ..last }
    }

    /// Where a branch address leads.
    pub(super) fn target(
        &self,
        address: CompressedAddress,
        exception: Option<ExceptionInformation>,
    ) -> State {
        let target = self.address(address);
        let Some(exception) = exception else {
            let secure = self.deviates(Deviation::SecureWithoutInformation);
            return State { non_secure: target.non_secure && !secure, ..target };
        };
        State {
            isa: thumb(target.isa, exception.alt_isa),
            non_secure: exception.non_secure,
            hyp: exception.hyp.map_or(target.hyp, |hyp| hyp && self.parameters.virtualization),
            ..target
        }
    }

    /// Where a waypoint update is.
    pub(super) fn updated(&self, address: CompressedAddress, information: Option<u8>) -> State {
        let at = self.address(address);
        let isa = information.map_or(at.isa, |information| thumb(at.isa, information & 0x40 != 0));
        State { isa, ..at }
    }

    fn branch(&mut self, address: CompressedAddress, exception: Option<ExceptionInformation>) {
        let target = self.target(address, exception);
        let number = exception.map_or(0, |exception| exception.number);
        let lost = self.states.current.is_none();
        if let Some(waypoint) = self.reach().filter(|_| number == 0) {
            if !self.deviates(Deviation::BranchesDoNotPush) {
                self.push(waypoint);
            }
            if self.deviates(Deviation::BranchesPop)
                && waypoint.is_indirect
                && self.states.returns.last().is_some_and(|top| top.address == target.address)
            {
                self.states.returns.pop();
            }
        }
        let keeps_last = number != 0 && self.deviates(Deviation::ExceptionsLeaveTheLast)
            || lost && self.deviates(Deviation::LastStopsWithTheFlow);
        if !keeps_last {
            self.states.last = target;
        }
        let is_entry_to_debug_state = number == 1 && !self.parameters.m_profile;
        let stays_lost = lost && self.deviates(Deviation::LostUntilSync);
        self.states.current = (!is_entry_to_debug_state && !stays_lost).then_some(target);
    }

    fn update(&mut self, address: CompressedAddress, information: Option<u8>) {
        let at = self.updated(address, information);
        if self.states.current.is_some() || !self.deviates(Deviation::LastStopsWithTheFlow) {
            self.states.last = at;
        }
        if self.deviates(Deviation::UpdatesEmptyTheStack) {
            self.states.returns.clear();
        }
        let Some(current) = self.states.current else { return };
        let named = State { address: at.address, ..current };
        self.states.current = self.instruction(named).map(|instruction| {
            let length = if self.deviates(Deviation::UpdatesAreExclusive) { 0 } else { instruction.length };
            State { address: named.address.wrapping_add(length.into()), ..named }
        });
    }

    pub(super) fn atom(&mut self, executed: bool) {
        let Some(current) = self.states.current else { return };
        let Some(waypoint) = self.reach() else {
            self.states.current = None;
            return;
        };
        let Waypoint { address, instruction, is_indirect } = waypoint;
        let next = State { address: address.wrapping_add(instruction.length.into()), ..current };
        if !executed {
            if self.deviates(Deviation::NotExecutedPushes) {
                self.push(waypoint);
            }
            let changes = !is_indirect && self.deviates(Deviation::NotExecutedChangesState);
            let isa = if changes { self.target_of(waypoint, current).isa } else { current.isa };
            self.states.current = Some(State { isa, ..next });
        } else if is_indirect {
            self.states.current = self.return_from_call(waypoint, current);
        } else {
            self.push(waypoint);
            let target = self.target_of(waypoint, current);
            self.states.current = Some(target);
            if self.deviates(Deviation::AtomsStateTheLast) {
                self.states.last = target;
            }
        }
    }

    fn return_from_call(&mut self, waypoint: Waypoint, current: State) -> Option<State> {
        if !self.parameters.return_stack {
            return None;
        }
        let popped = if self.deviates(Deviation::PushesFirst) {
            self.push(waypoint);
            self.states.returns.pop()
        } else {
            let popped = self.states.returns.pop();
            self.push(waypoint);
            popped
        };
        let keeps = self.deviates(Deviation::ReturnsInTheSameSet);
        popped.map(|entry| State {
            hyp: current.hyp,
            isa: if keeps { current.isa } else { entry.isa },
            ..entry
        })
    }

    /// The return address of a branch with link.
    fn push(&mut self, waypoint: Waypoint) {
        let Waypoint { address, instruction, is_indirect } = waypoint;
        let Some(current) = self.states.current else { return };
        let links =
            instruction.class.has_link() && !(is_indirect && self.deviates(Deviation::OnlyDirectLinks));
        if !links || !self.parameters.return_stack {
            return;
        }
        if self.states.returns.len() >= self.parameters.return_stack_depth.into() {
            if self.deviates(Deviation::DropsNewest) {
                return;
            }
            self.states.returns.remove(0);
        }
        let length = if self.deviates(Deviation::ReturnsAfterFour) { 4 } else { instruction.length };
        let address = address.wrapping_add(length.into());
        self.states.returns.push(State { address, ..current });
    }

    /// Where a direct branch, ISB or barrier leads.
    fn target_of(&self, waypoint: Waypoint, current: State) -> State {
        let Waypoint { address, instruction, .. } = waypoint;
        if instruction.destination() != Destination::Target {
            return State { address: address.wrapping_add(instruction.length.into()), ..current };
        }
        let target = Address32(instruction.target(address.0.into()) as u32);
        State { address: target, isa: instruction.target_set.state(), ..current }
    }

    /// The next waypoint from the current state on.
    pub(super) fn reach(&self) -> Option<Waypoint> {
        let mut at = self.states.current?;
        for _ in 0..=DecoderLimits::default().steps {
            let instruction = self.instruction(at)?;
            let (is_waypoint, is_indirect) = match instruction.class {
                InstructionClass::DirectBranch { .. } | InstructionClass::StateChange => (true, false),
                InstructionClass::IndirectBranch { .. } | InstructionClass::ExceptionReturn(_) => {
                    (true, true)
                }
                InstructionClass::Barrier(barrier) => {
                    (barrier == Barrier::Isb || self.parameters.barrier_waypoints, false)
                }
                _ => (false, false),
            };
            if is_waypoint {
                return Some(Waypoint { address: at.address, instruction, is_indirect });
            }
            at.address = at.address.wrapping_add(instruction.length.into());
        }
        None
    }

    fn instruction(&self, at: State) -> Option<Instruction> {
        let security = if at.non_secure { SecurityState::NonSecure } else { SecurityState::Secure };
        let mut space = MemorySpace::ANY.with_security(security);
        space.context_id = self.states.context_id;
        space.vmid = self.states.vmid.map(u32::from);
        let set = InstructionSet::of(at.isa)?;
        let code = self.program.bytes_in(space, u64::from(at.address.0))?;
        let instruction = set.decode(code, None);
        (!instruction.is_missing()).then_some(instruction)
    }
}

/// What AltISA makes of the instruction set.
const fn thumb(isa: arm::InstructionSet, alt_isa: bool) -> arm::InstructionSet {
    match (isa.is_thumb(), alt_isa) {
        (true, true) => arm::InstructionSet::T32Ee,
        (true, false) => arm::InstructionSet::T32,
        (false, _) => isa,
    }
}
