//! Packets that report an instruction's address, or branches alone: the choice between formats 0, 1 and 2
//! (ET 9.1).

use traceproof_vectors::riscv_etrace::{Itype, Packet};

use super::branches::MAP_SIZE;
use super::decide::{Next, Reason};
use super::irets::Reached;
use super::items::{Kind, Retired};
use super::packet::Status;
use super::returns::Returns;
use super::tracer::{Flow, Tracer};

impl Tracer {
    /// The packet with an instruction's address. Spec: RVET-ENC-030 (ET 9.1).
    pub(super) fn report(&mut self, retired: &Retired, reason: Reason, next: Next) -> Packet {
        let status = Status {
            // Spec: RVET-ENC-035 (ET 7.6).
            notify: retired.notify && reason == Reason::Request,
            // Spec: RVET-ENC-034 (ET 7.6.2, 7.5.1).
            updiscon: reason == Reason::Updiscon
                && (self.synchronisation_follows(next) || (self.updiscon_at_end && next == Next::Ends)),
            ..self.irreport(reason, next)
        };
        // The cache learns every reported target, in whatever form it travels, but no target of an implicit return.
        // Spec: RVET-ENC-072 (ET 3.2.7), RVET5-ENC-014.
        let index = match (&mut self.cache, reason) {
            (Some(cache), Reason::Updiscon) if self.flow != Flow::PredictedExcess => {
                cache.find_or_store(retired.address)
            }
            _ => None,
        };
        if let Some(branch_count) = self.branches.excess() {
            return self.predicted(retired, branch_count, status);
        }
        let plain = self.plain(retired, status);
        match index {
            // Format 0 subformat 1 has no updiscon flag.
            Some(index) if !status.updiscon => self.shorter(index, status, plain),
            _ => plain,
        }
    }

    /// Branches without address. Spec: RVET-ENC-029 (ET 7.7.2), RVET-ENC-064 (ET 7.8).
    pub(super) fn branches_alone(&self) -> Packet {
        match self.branches.excess() {
            Some(branch_count) => Packet::BranchCount {
                branch_count,
                branch_fmt: 0,
                address: None,
                notify: false,
                updiscon: false,
                irreport: false,
                irdepth: 0,
                irets: 0,
            },
            None => Packet::Branch {
                branches: 0,
                branch_map: self.branches.map(),
                address: None,
                notify: false,
                updiscon: false,
                irreport: false,
                irdepth: 0,
                irets: 0,
            },
        }
    }

    /// Format 0 subformat 0 with address. Spec: RVET-ENC-065, RVET-ENC-066 (ET 7.8).
    fn predicted(&self, retired: &Retired, branch_count: u32, status: Status) -> Packet {
        let Status { notify, updiscon, irreport, irdepth, irets } = status;
        let failed = retired.taken().is_some() && self.branches.missed();
        Packet::BranchCount {
            branch_count,
            branch_fmt: if failed { 3 } else { 2 },
            address: Some(self.reported(retired.address)),
            notify,
            updiscon,
            irreport,
            irdepth,
            irets,
        }
    }

    /// Format 1 if branches are pending, else format 2.
    fn plain(&self, retired: &Retired, status: Status) -> Packet {
        let Status { notify, updiscon, irreport, irdepth, irets } = status;
        let address = self.reported(retired.address);
        if self.branches.any() {
            Packet::Branch {
                branches: self.pending(),
                branch_map: self.branches.map(),
                address: Some(address),
                notify,
                updiscon,
                irreport,
                irdepth,
                irets,
            }
        } else {
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets }
        }
    }

    /// The cache index, unless the plain form takes fewer bytes. Spec: RVET-ENC-070 (ET 7.8).
    fn shorter(&self, index: u32, status: Status, plain: Packet) -> Packet {
        let cached = Packet::JumpTargetIndex {
            index,
            branches: self.pending(),
            branch_map: self.branches.map(),
            irreport: status.irreport,
            irdepth: status.irdepth,
            irets: status.irets,
        };
        let length = |packet: &Packet| self.layout.pack(packet).payload(true).bytes().len();
        if length(&plain) < length(&cached) { plain } else { cached }
    }

    fn pending(&self) -> u8 {
        self.branches.count().min(MAP_SIZE) as u8
    }

    /// `irreport` and what comes after it.
    fn irreport(&self, reason: Reason, next: Next) -> Status {
        let Some(returns) = &self.returns else { return Status::default() };
        match returns.count() {
            Some(count) => {
                let irets = count.report(self.reached());
                Status { irreport: irets.is_some(), irets: irets.unwrap_or(0), ..Status::default() }
            }
            None => {
                let irdepth = self.irdepth(returns, reason, next);
                Status { irreport: irdepth.is_some(), irdepth: irdepth.unwrap_or(0), ..Status::default() }
            }
        }
    }

    /// Spec: RVET-ENC-056 to 058 (ET 3.2.5, 7.6.3).
    fn irdepth(&self, returns: &Returns, reason: Reason, next: Next) -> Option<u32> {
        let depth = returns.depth();
        let last = reason == Reason::Last || self.synchronisation_follows(next) || next == Next::Ends;
        let irreport = match self.flow {
            Flow::PredictedWrong => true,
            Flow::PredictedRight => last && depth != 0,
            _ => reason != Reason::Updiscon && last && returns.ambiguous(),
        };
        irreport.then_some(depth)
    }

    /// How the item at hand was reached.
    const fn reached(&self) -> Reached {
        match self.flow {
            Flow::PredictedWrong => Reached::FailedReturn,
            Flow::PredictedExcess => Reached::ExcessReturn,
            Flow::PredictedRight => Reached::PredictedReturn,
            Flow::Uninferable => match self.previous.kind {
                Kind::Retire(Retired { itype: Itype::Return, .. }) => Reached::LoneReturn,
                _ => Reached::Updiscon,
            },
            Flow::Inferable | Flow::Predicted(_) => Reached::Inferably,
        }
    }
}
