//! What the optional modes keep between packets: calls, jump targets, predictions of branches.

use std::collections::BTreeMap;

use traceproof_vectors::riscv_etrace::{Modes, Packet, Parameters, ReportedAddress};

use super::rules::is_marker;
use super::{Due, Flag, Reason, Referee, Wanted, fields};
use crate::{Item, ItemKind};

/// How the instruction before leads to the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Flow {
    /// As its `itype` says.
    #[default]
    Usual,
    /// A jump or return that needs no report of its target.
    Inferable,
    /// A return that needs none if it goes to this address.
    Predicted(u64),
    /// A return that went where its call came from.
    Right,
    /// One that did not.
    Wrong,
}

/// What is known since the latest synchronisation packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) modes: Modes,
    pub(super) flow: Flow,
    /// Addresses after calls, the newest last.
    links: Vec<u64>,
    /// There was a return since the latest call.
    returned: bool,
    /// There was a branch since the latest return.
    branched: bool,
    /// Entries of the jump target cache.
    targets: BTreeMap<u64, u64>,
    /// Entries of the predictor that are not 01.
    predictions: BTreeMap<u64, u8>,
    /// Pending outcomes that were predicted.
    pub(super) predicted: u32,
    /// The latest outcome was not.
    pub(super) missed: bool,
    /// The packet that was an index of the jump target cache.
    pub(super) indexed: Option<usize>,
}

/// The entry of a table of `2^size` for an address. Spec: RVET-ENC-060, RVET-ENC-068.
const fn entry(parameters: &Parameters, address: u64, size: u8) -> u64 {
    (address >> parameters.iaddress_lsb_p) & ((1 << size) - 1)
}

impl Kept {
    pub(super) fn new(modes: Modes) -> Self {
        Self { modes, ..Self::default() }
    }

    /// A synchronisation packet. Spec: RVET-ENC-054, RVET-ENC-062, RVET-ENC-071.
    fn synchronised(&mut self) {
        let Self { modes, flow, indexed, .. } = *self;
        *self = Self { modes, flow, indexed, ..Self::default() };
    }

    /// Spec: RVET-ENC-060, RVET-ENC-061.
    fn outcome(&mut self, parameters: &Parameters, address: u64, taken: bool) -> bool {
        let state = self.predictions.entry(entry(parameters, address, parameters.bpred_size_p)).or_insert(1);
        let right = (*state >> 1 & 1 != 0) == taken;
        let prediction = if *state >> 1 == *state & 1 { *state >> 1 } else { u8::from(taken) };
        *state = prediction << 1 | u8::from(taken);
        right
    }
}

impl Referee<'_> {
    fn use_of(&mut self, what: &'static str) {
        *self.ruling.used.entry(what).or_default() += 1;
    }

    /// A branch retires.
    pub(super) fn predict(&mut self, item: &Item, taken: bool) {
        self.kept.branched = true;
        if let Some(address) = item.address().filter(|_| self.kept.modes.branch_prediction) {
            let right = self.kept.outcome(&self.device.parameters, address, taken);
            self.kept.predicted += u32::from(right);
            self.kept.missed = !right;
        }
    }

    /// A synchronisation packet for `item`, or for a trap before it. Spec: RVET-ENC-062: the branch that it reports is
    /// the first one that the predictor sees after it.
    pub(super) fn forget(&mut self, item: &Item) {
        self.kept.synchronised();
        if let (Some(taken), Some(address)) = (item.taken(), item.address())
            && self.kept.modes.branch_prediction
        {
            self.kept.outcome(&self.device.parameters, address, taken);
        }
    }

    /// Where the instruction before went: `address` is that of the next instruction, or the EPC of an exception.
    pub(super) fn arrive(&mut self, before: Option<&Item>, address: Option<u64>) {
        let traced = before.is_some_and(|before| before.qualified && !is_marker(before));
        self.kept.flow = match self.kept.flow {
            _ if !traced => Flow::Usual,
            Flow::Predicted(link) if address == Some(link) => {
                self.kept.links.pop();
                self.use_of("return/right");
                Flow::Right
            }
            // An interrupt hides where the return went.
            Flow::Predicted(_) if address.is_none() => Flow::Usual,
            Flow::Predicted(_) => {
                self.use_of("return/wrong");
                Flow::Wrong
            }
            flow => flow,
        };
    }

    /// Whether an uninferable discontinuity leads from the traced item before to here.
    pub(super) fn comes_from_updiscon(&self, before: &Item) -> bool {
        before.is_updiscon() && !matches!(self.kept.flow, Flow::Inferable | Flow::Right)
    }

    /// What the instruction means for the one after it. Spec: RVET-ENC-051 to 055.
    pub(super) fn leave(&mut self, item: &Item, before: Option<&Item>, synchronised: bool) {
        let ItemKind::Retire { itype, .. } = item.kind else { return };
        let modes = self.kept.modes;
        self.kept.flow = Flow::Usual;
        if modes.sijump && item.sijump && matches!(itype, 6 | 8 | 10 | 12 | 14) {
            let upper = before.is_some_and(|before| before.qualified && before.address().is_some());
            let inferred = upper && !synchronised;
            self.kept.flow = if inferred { Flow::Inferable } else { Flow::Usual };
            self.use_of(if inferred { "sijump/inferred" } else { "sijump/reported" });
        }
        if !modes.implicit_return {
            return;
        }
        let parameters = &self.device.parameters;
        match itype {
            8 | 9 => {
                self.kept.returned = false;
                self.kept.links.push(item.end);
                if self.kept.links.len() > deepest(parameters) {
                    self.kept.links.remove(0);
                }
            }
            13 => {
                (self.kept.returned, self.kept.branched) = (true, false);
                self.kept.flow = match self.kept.links.last() {
                    None => Flow::Usual,
                    Some(link) if parameters.return_stack_size_p > 0 => Flow::Predicted(*link),
                    Some(_) => {
                        self.kept.links.pop();
                        Flow::Right
                    }
                };
                match self.kept.flow {
                    Flow::Usual => self.use_of("return/empty"),
                    Flow::Right => self.use_of("return/right"),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// `irreport` and `irdepth` of the packet for the current instruction; `last`: it is reported because of what is after
    /// it. Spec: RVET-ENC-056 to 058, RVET-PKT-029.
    pub(super) fn irdepth(&self, reason: Reason, last: bool) -> Option<u32> {
        let kept = &self.kept;
        let depth = u32::try_from(kept.links.len()).unwrap_or(u32::MAX);
        let reported = match kept.flow {
            _ if !kept.modes.implicit_return => false,
            Flow::Wrong => true,
            Flow::Right => last && depth != 0,
            _ => last && reason != Reason::Updiscon && kept.returned && !kept.branched,
        };
        reported.then_some(depth)
    }

    /// The target of an uninferable discontinuity was reported by its address. Spec: RVET-ENC-068, RVET-ENC-069.
    pub(super) fn store_target(&mut self, address: u64) {
        let parameters = &self.device.parameters;
        if self.kept.modes.jump_target_cache {
            let at = entry(parameters, address, parameters.cache_size_p);
            let before = self.kept.targets.insert(at, address);
            self.use_of(if before == Some(address) { "cache/hit" } else { "cache/miss" });
        }
    }

    /// An index of the jump target cache as the address that it means: the packets before it are all taken.
    pub(super) fn expand_index(&mut self) {
        let Some(Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth, irets }) =
            self.peek().copied()
        else {
            return;
        };
        let Some(target) = self.kept.targets.get(&u64::from(index)) else { return };
        let address = ReportedAddress::Full(*target);
        let (notify, updiscon) = (false, false);
        let packet = if branches == 0 {
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets }
        } else {
            let address = Some(address);
            Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets }
        };
        self.rewrite(packet);
        self.kept.indexed = Some(self.at);
    }

    fn rewrite(&mut self, packet: Packet) {
        if let Some(cell) = self.rewritten.get(self.at) {
            let _ = cell.set(packet);
        }
    }

    /// Whether pending outcomes travel as a count of predicted ones. Spec: RVET-ENC-063.
    pub(super) const fn counts(&self) -> bool {
        self.kept.modes.branch_prediction && self.kept.predicted >= 31
    }

    /// 31 or more predicted outcomes are pending, and the instruction is reported: its count is judged, and what is left
    /// of the packet is an address. Spec: RVET-ENC-065, RVET-ENC-066.
    pub(super) fn count_with_address(&mut self, item: &Item, reason: Reason) {
        let Some(&Packet::BranchCount {
            address: Some(address),
            notify,
            updiscon,
            irreport,
            irdepth,
            irets,
            ..
        }) = self.peek()
        else {
            return;
        };
        self.use_of(if self.kept.missed && item.taken().is_some() {
            "count/failed"
        } else {
            "count/address"
        });
        self.compare_count(item, reason, true);
        self.rewrite(Packet::Address { address, notify, updiscon, irreport, irdepth, irets });
        self.pending.clear();
        self.kept.predicted = 0;
    }

    /// A branch that was not predicted ends the count. Spec: RVET-ENC-064.
    pub(super) fn count_alone(&mut self, item: &Item) {
        let reason = Reason::FailedPrediction;
        let pending = u32::try_from(self.pending.len()).unwrap_or(u32::MAX);
        self.ruling.dues.push(Due { row: item.row, reason, pending });
        self.use_of("count/alone");
        match self.peek() {
            Some(Packet::BranchCount { address: None, .. }) => {
                self.ruling.causes.push((self.at, reason, false));
                self.compare_count(item, reason, false);
                self.at += 1;
            }
            packet => {
                let got = packet.map_or_else(|| String::from("the end"), fields::show);
                let due = "a count of predicted branches (0.0)";
                self.find(item.row, Some(reason), "packet", reason.clause(), due, &got);
            }
        }
        self.pending.clear();
        self.kept.predicted = 0;
    }

    fn compare_count(&mut self, item: &Item, reason: Reason, address: bool) {
        let Some(&Packet::BranchCount { branch_count, branch_fmt, .. }) = self.peek() else { return };
        let failed = self.kept.missed && item.taken().is_some();
        let form = match (address, failed) {
            (false, _) => 0,
            (true, false) => 2,
            (true, true) => 3,
        };
        let due = self.kept.predicted.saturating_sub(31);
        let clause = if address { "RVET-ENC-065" } else { "RVET-ENC-064" };
        if branch_count != due {
            let (due, came) = (due.to_string(), branch_count.to_string());
            self.find(item.row, Some(reason), "branch_count", clause, &due, &came);
        } else if branch_fmt != form {
            let (due, came) = (format!("{form:02b}"), format!("{branch_fmt:02b}"));
            self.find(item.row, Some(reason), "branch_fmt", "RVET-ENC-066", &due, &came);
        }
    }

    /// Whether the instruction is reported because of what is after it.
    pub(super) const fn is_last(reason: Reason, wanted: Wanted) -> bool {
        let Wanted::Address { updiscon, notify, .. } = wanted else { return false };
        updiscon
            || matches!(notify, Flag::Any)
            || matches!(
                reason,
                Reason::Final
                    | Reason::BeforeTrap
                    | Reason::BeforePrivilege
                    | Reason::BeforeContext
                    | Reason::Resync
            )
    }
}

/// Most calls that are known. Spec: RVET-ENC-054; readings `call-counter-is-a-power-of-two`, `call-counter-fits-irdepth`.
fn deepest(parameters: &Parameters) -> usize {
    match (parameters.return_stack_size_p, parameters.call_counter_size_p) {
        (0, counter) => (1 << counter.min(15)) - usize::from(parameters.call_counter_fits_irdepth),
        (stack, _) => 1 << stack.min(15),
    }
}
