//! From items to packets: the state after the decision list, and what each decision changes (ET 9).

use traceproof_vectors::riscv_etrace::{
    InterruptReport, Itype, Modes, Packet, Parameters, Policy, QualStatus, ReportedAddress, SyncMode,
};

use super::branches::Branches;
use super::decide::{Decision, Next, Reason, Situation, Subject, decide};
use super::irets::ReturnCount;
use super::items::{Item, Kind, Retired, TrapTaken};
use super::packet::Layout;
use super::predictor::Predictor;
use super::resync::{Resync, State};
use super::returns::{ReturnKind, Returns};
use super::target_cache::TargetCache;
use traceproof_vectors::Address;

/// Everything that the packets of the next item depend on.
#[derive(Clone, Debug)]
pub(super) struct Tracer {
    parameters: Constants,
    pub(super) layout: Layout,
    separate_interrupts: bool,
    /// A final instruction that is an updiscon target gets the updiscon flag.
    pub(super) updiscon_at_end: bool,
    modes: Modes,
    /// The item before.
    pub(super) previous: Item,
    /// What the item before does to the flow.
    pub(super) flow: Flow,
    /// The trap before has been reported with `thaddr` = 0 (`trep`).
    trap_reported: bool,
    /// Packets were lost: nothing that was sent counts any more.
    pub(super) lost: bool,
    /// No synchronisation packet came yet, or none since packets were lost or an item was reported as the last one.
    ended: bool,
    /// The way of tracing changed: the next instruction starts anew.
    pub(super) restart: bool,
    /// Synchronisation packets in the running trace leave return stack, predictor and cache as they are.
    keeps_state: bool,
    /// Byte address of the latest report. Spec: RVET-ENC-031 (ET 3.2.1).
    pub(super) base: u64,
    pub(super) branches: Branches,
    pub(super) resync: Resync,
    pub(super) cache: Option<TargetCache>,
    pub(super) returns: Option<Returns>,
}

/// The parameters that matter here.
#[derive(Clone, Debug)]
struct Constants {
    all: Parameters,
    address_mask: u64,
    unused_address_bits: u32,
    time: bool,
    context: bool,
    /// The empty count where packets have `irets`.
    no_returns: Option<ReturnCount>,
}

/// What a retired instruction does to the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// A decoder knows where it goes on.
    Inferable,
    /// An uninferable discontinuity (updiscon).
    Uninferable,
    /// A return that is inferable if it goes to this address.
    Predicted(u64),
    /// A return that went to the predicted address.
    PredictedRight,
    /// The same, but its target must be reported: no more returns can be left out.
    PredictedExcess,
    /// A return that did not.
    PredictedWrong,
}

impl Tracer {
    pub(super) fn new(parameters: &Parameters, policy: &Policy, modes: Modes) -> Self {
        let mut tracer = Self {
            parameters: Constants {
                all: parameters.clone(),
                address_mask: parameters.address_mask(),
                unused_address_bits: 64 - u32::from(parameters.iaddress_width_p.clamp(1, 64)),
                time: parameters.time_width() > 0,
                context: parameters.context_width() > 0,
                no_returns: parameters.iret_ext.then(|| ReturnCount::new(policy)),
            },
            layout: Layout::new(parameters),
            separate_interrupts: policy.interrupt_report == InterruptReport::Separate,
            updiscon_at_end: policy.updiscon_at_end,
            modes,
            previous: Item::GAP,
            flow: Flow::Inferable,
            trap_reported: false,
            lost: false,
            ended: true,
            restart: false,
            keeps_state: parameters.resync_disabled_keeps_state && policy.sync_mode == SyncMode::Off,
            base: 0,
            branches: Branches::new(None),
            resync: Resync::new(policy),
            cache: None,
            returns: None,
        };
        tracer.equip(Modes::default());
        tracer
    }

    /// Other modes are in force from here on.
    pub(super) fn change_modes(&mut self, modes: Modes) {
        if changes_walk(self.modes, modes) {
            self.restart = true;
            let before = core::mem::replace(&mut self.modes, modes);
            self.equip(before);
        }
        self.modes = modes;
    }

    /// Provides what the modes need: empty, unless the modes `before` needed it too and it stays as it is.
    fn equip(&mut self, before: Modes) {
        let (modes, parameters) = (self.modes, &self.parameters.all);
        let renews = |before: bool, now: bool| !self.keeps_state || before != now;
        if renews(before.branch_prediction, modes.branch_prediction) {
            self.branches = Branches::new(modes.branch_prediction.then(|| Predictor::new(parameters)));
        }
        if renews(before.jump_target_cache, modes.jump_target_cache) {
            self.cache = modes.jump_target_cache.then(|| TargetCache::new(parameters));
        }
        if renews(before.implicit_return, modes.implicit_return) {
            let count = self.parameters.no_returns;
            self.returns = modes.implicit_return.then(|| Returns::new(parameters, count));
        }
    }

    /// Packets were lost; the next item is treated as the first one. Spec: RVET-ENC-010 (ET 7.5).
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.ended = true;
        self.trap_reported = false;
        self.branches.clear();
    }

    /// The next item comes; what is to be sent for it goes to `send`. If it is the last qualified one, says how its
    /// report is to be read.
    pub(super) fn item(
        &mut self,
        item: &Item,
        next: Next,
        mut send: impl FnMut(&Packet),
    ) -> Option<QualStatus> {
        if !item.qualified {
            self.finish_item(item, Flow::Inferable, false);
            return None;
        }
        self.resync.arrive(item.ticks, item.ends_block() && !self.return_may_fail(item));
        let decision = match item.kind {
            Kind::Retire(retired) => self.arrive(item, &retired, next),
            Kind::Trap(trap) => self.arrive_trap(&trap, next),
            Kind::Gap => Decision::Nothing,
        };
        if let Some(context) = &self.context_packet(decision, item) {
            send(context);
        }
        // Most instructions get no packet, and this is where they are distinguished.
        if decision != Decision::Nothing
            && let Some(packet) = &self.packet(decision, item, next)
        {
            self.sent(decision, packet, item);
            send(packet);
        }
        let flow = match item.kind {
            Kind::Retire(retired) => self.leave(&retired, decision),
            Kind::Trap(_) | Kind::Gap => Flow::Inferable,
        };
        self.finish_item(item, flow, decision == Decision::TrapHere);
        self.ended |= next == Next::Ends;
        // Spec: RVET-ENC-013, RVET-ENC-014 (ET 7.5.1).
        (next == Next::Ends).then_some(match decision {
            Decision::Address(Reason::Updiscon) if !self.updiscon_at_end => QualStatus::EndedNtr,
            _ => QualStatus::EndedRep,
        })
    }

    fn finish_item(&mut self, item: &Item, flow: Flow, trap_reported: bool) {
        self.previous = *item;
        self.flow = flow;
        self.trap_reported = trap_reported;
        self.lost = false;
        self.restart = false;
    }

    /// What the list decides for an instruction.
    fn arrive(&mut self, item: &Item, retired: &Retired, next: Next) -> Decision {
        self.resolve_return(retired.address);
        if let Some(returns) = &mut self.returns {
            returns.arrive();
        }
        // Line 1 of the list.
        if let Some(taken) = retired.taken() {
            self.branches.record(retired.address, taken);
            if let Some(returns) = &mut self.returns {
                returns.branch();
            }
        }
        let change = self.restart || changes_context(&self.previous, item);
        decide(&self.situation(Subject::Instruction, change, retired.notify, next))
    }

    fn arrive_trap(&mut self, trap: &TrapTaken, next: Next) -> Decision {
        if trap.interrupt {
            // No packet reports where an interrupted return went, so it counts as predicted and consumes its link.
            if let Flow::Predicted(expected) = self.flow {
                self.resolve_return(expected);
                self.flow = Flow::Inferable;
            }
        } else {
            self.resolve_return(trap.epc);
        }
        let subject = if trap.interrupt && !self.separate_interrupts {
            Subject::ReportedWithHandler
        } else {
            Subject::Trap
        };
        decide(&self.situation(subject, false, false, next))
    }

    /// Whether the item is a return that may turn out to be mispredicted: then format 3 subformat 0, which has no
    /// `irreport`, cannot name its target.
    pub(super) const fn return_may_fail(&self, item: &Item) -> bool {
        matches!(item.kind, Kind::Retire(retired) if matches!(retired.itype, Itype::Return))
            && self.returns.is_some()
    }

    fn situation(&self, subject: Subject, change: bool, notify: bool, next: Next) -> Situation {
        Situation {
            subject,
            first: self.lost || !self.previous.qualified,
            after_trap: self.previous.is_trap(),
            trap_reported: self.trap_reported,
            after_updiscon: matches!(
                self.flow,
                Flow::Uninferable | Flow::PredictedWrong | Flow::PredictedExcess
            ),
            change,
            resync: self.resync.state(),
            branches: self.branches.any(),
            branches_full: self.branches.full(),
            count_full: self.branches.count_full(),
            notify,
            next,
        }
    }

    /// A predicted return arrives at `target`.
    fn resolve_return(&mut self, target: u64) {
        if let Flow::Predicted(expected) = self.flow {
            self.flow = if expected != target {
                Flow::PredictedWrong
            } else if self.returns.as_mut().is_none_or(Returns::confirm) {
                Flow::PredictedRight
            } else {
                Flow::PredictedExcess
            };
        }
    }

    /// What the instruction does to the flow after it, after its packet.
    fn leave(&mut self, retired: &Retired, decision: Decision) -> Flow {
        let synchronised = matches!(decision, Decision::Start | Decision::Handler);
        let flow = self.flow_after(retired, synchronised);
        // A synchronisation packet after an unreported discontinuity would make decoders stop at an earlier arrival at
        // its address. Spec: RVET-ENC-080.
        let known = matches!(flow, Flow::Inferable | Flow::PredictedRight)
            || matches!(decision, Decision::Address(_));
        // It has neither `irdepth` nor `irets`, so it would name the first of two arrivals that only a return lies
        // between; and directly after the report of a return it would be taken for the target of that (RVET-DEC-022).
        let came_back = self.returns.as_ref().is_some_and(Returns::may_have_come_back);
        self.resync.settle(known && !came_back && !self.branches.any());
        flow
    }

    /// What the instruction does to the flow. `synchronised`: a synchronisation packet was sent for it.
    pub(super) fn flow_after(&mut self, retired: &Retired, synchronised: bool) -> Flow {
        if let Some(returns) = &mut self.returns
            && matches!(retired.itype, Itype::UninferableCall | Itype::InferableCall)
        {
            returns.call(retired.end);
        }
        match retired.itype {
            Itype::UninferableJumpAny
            | Itype::UninferableCall
            | Itype::UninferableJump
            | Itype::CoroutineSwap
            | Itype::OtherUninferableJump => {
                if retired.sijump && !synchronised && self.upper_immediate_was_traced() {
                    Flow::Inferable
                } else {
                    Flow::Uninferable
                }
            }
            // A trap return is an uninferable discontinuity too. Spec: RVET-ENC-017.
            Itype::TrapReturn => Flow::Uninferable,
            Itype::Return => match self.returns.as_mut().map(Returns::returns) {
                None | Some(ReturnKind::Uninferable) => Flow::Uninferable,
                Some(ReturnKind::Inferable) => Flow::PredictedRight,
                Some(ReturnKind::Excess) => Flow::PredictedExcess,
                Some(ReturnKind::Predicted(target)) => Flow::Predicted(target),
            },
            _ => Flow::Inferable,
        }
    }

    /// Spec: RVET-ENC-051 (ET 3.2.4).
    const fn upper_immediate_was_traced(&self) -> bool {
        self.modes.sijump
            && self.previous.qualified
            && !self.lost
            && matches!(self.previous.kind, Kind::Retire(_))
    }

    /// What a packet that was made changes.
    fn sent(&mut self, decision: Decision, packet: &Packet, item: &Item) {
        match decision {
            Decision::Start | Decision::Handler => {
                let own = match item.kind {
                    Kind::Retire(retired) => {
                        self.base = retired.address;
                        retired.taken().map(|taken| (retired.address, taken))
                    }
                    Kind::Trap(_) | Kind::Gap => None,
                };
                self.synchronised(own);
            }
            Decision::TrapBefore | Decision::TrapHere => self.synchronised(None),
            Decision::Nothing | Decision::Branches | Decision::Address(_) => {
                self.branches.clear();
                if let Some(returns) = &mut self.returns {
                    returns.reported();
                }
                if !matches!(
                    packet,
                    Packet::Branch { address: None, .. } | Packet::BranchCount { address: None, .. }
                ) && let Kind::Retire(retired) = item.kind
                {
                    self.base = retired.address;
                }
                self.resync.packet();
            }
        }
    }

    /// Spec: RVET-ENC-037, RVET-ENC-039, RVET-ENC-054, RVET-ENC-062, RVET-ENC-071 (ET 9), RVET5-ENC-015; readings
    /// resync-disabled-resets-state, resync-disabled-keeps-state.
    fn synchronised(&mut self, own: Option<(u64, bool)>) {
        // After an end the trace begins anew, also without a gap.
        let keeps = self.keeps_state && !self.lost && !self.ended;
        self.ended = false;
        self.resync.synchronised();
        self.branches.synchronised(own, keeps);
        if let Some(cache) = self.cache.as_mut().filter(|_| !keeps) {
            cache.invalidate();
        }
        if let Some(returns) = &mut self.returns {
            returns.synchronised(keeps);
        }
    }

    /// The packet that a decision asks for.
    fn packet(&mut self, decision: Decision, item: &Item, next: Next) -> Option<Packet> {
        match (decision, item.kind) {
            (Decision::Start, Kind::Retire(retired)) => Some(self.start(item, &retired)),
            (Decision::Handler, Kind::Retire(retired)) => self.handler(item, &retired),
            (Decision::TrapHere, Kind::Trap(trap)) => Some(self.trap(item, &trap, trap.epc)),
            (Decision::TrapBefore, Kind::Trap(trap)) => match self.previous.kind {
                // Formally undefined; the EPC of the trap that follows helps decoders (RVET-ENC-083).
                Kind::Trap(before) => Some(self.trap(&self.previous, &before, trap.epc)),
                _ => None,
            },
            (Decision::Address(reason), Kind::Retire(retired)) => Some(self.report(&retired, reason, next)),
            (Decision::Branches, _) => Some(self.branches_alone()),
            _ => None,
        }
    }

    /// Line 13 of the list: an imprecise context change that no synchronisation packet carries.
    ///
    /// It has no position in the flow, and comes before the packet of its item so that an `ended` support packet
    /// directly follows the packet it refers to. Spec: RVET-ENC-041 (ET 4.2).
    fn context_packet(&mut self, decision: Decision, item: &Item) -> Option<Packet> {
        if item.ctype() != 1 || matches!(decision, Decision::Start | Decision::Handler) {
            return None;
        }
        self.resync.packet();
        let (time, context) = (self.time(item), self.context(item));
        Some(Packet::Context { privilege: item.privilege, time, context })
    }

    /// Spec: RVET-PKT-011, RVET-PKT-012 (ET 7.2).
    fn start(&self, item: &Item, retired: &Retired) -> Packet {
        Packet::Start {
            branch: retired.taken() != Some(true),
            privilege: item.privilege,
            time: self.time(item),
            context: self.context(item),
            address: Address(retired.address),
        }
    }

    /// Spec: RVET-ENC-021 (ET 7.3.1), RVET-PKT-019 (ET 7.3).
    fn handler(&self, item: &Item, retired: &Retired) -> Option<Packet> {
        let Kind::Trap(trap) = self.previous.kind else { return None };
        Some(Packet::Trap {
            branch: retired.taken() != Some(true),
            privilege: item.privilege,
            time: self.time(item),
            context: self.context(item),
            ecause: trap.cause,
            interrupt: trap.interrupt,
            thaddr: true,
            address: (!self.modes.implicit_exception).then_some(Address(retired.address)),
            tval: (!trap.interrupt).then_some(trap.tval),
        })
    }

    /// Spec: RVET-ENC-022 to 026 (ET 7.3.1).
    fn trap(&self, item: &Item, trap: &TrapTaken, address: u64) -> Packet {
        Packet::Trap {
            branch: true,
            privilege: item.privilege,
            time: self.time(item),
            context: self.context(item),
            ecause: trap.cause,
            interrupt: trap.interrupt,
            thaddr: false,
            address: Some(Address(address)),
            tval: (!trap.interrupt).then_some(trap.tval),
        }
    }

    fn time(&self, item: &Item) -> Option<u64> {
        self.parameters.time.then_some(item.time)
    }

    fn context(&self, item: &Item) -> Option<u64> {
        self.parameters.context.then_some(item.context)
    }

    /// Whether a synchronisation packet directly follows an address packet for the item at hand.
    pub(super) fn synchronisation_follows(&self, next: Next) -> bool {
        match next {
            Next::Changes | Next::Breaks | Next::Traps => true,
            Next::Continues => self.resync.state() == State::Due,
            Next::Ends => false,
        }
    }

    /// The address field. Spec: RVET-ENC-031 to 033 (ET 3.2).
    pub(super) const fn reported(&self, address: u64) -> ReportedAddress {
        if self.modes.full_address {
            ReportedAddress::Full(address & self.parameters.address_mask)
        } else {
            let unused = self.parameters.unused_address_bits;
            ReportedAddress::Delta(((address.wrapping_sub(self.base) << unused) as i64) >> unused)
        }
    }
}

/// Whether a decoder must walk differently under the other modes. Then nothing may be left to walk when the modes
/// change, and tracing starts anew after the change.
pub(super) const fn changes_walk(from: Modes, to: Modes) -> bool {
    from.implicit_return != to.implicit_return
        || from.jump_target_cache != to.jump_target_cache
        || from.branch_prediction != to.branch_prediction
        || from.sijump != to.sijump
}

/// `ppccd`: privilege changes or a context change is to be reported precisely. Spec: RVET-ENC-042 (ET 9).
pub(super) const fn changes_context(from: &Item, to: &Item) -> bool {
    from.privilege != to.privilege || matches!(to.ctype(), 2 | 3)
}
