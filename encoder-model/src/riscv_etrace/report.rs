//! Packets that report an instruction's address, or branches alone: the choice between formats 0, 1 and 2
//! (ET 9.1).

use traceproof_vectors::riscv_etrace::Packet;

use super::branches::MAP_SIZE;
use super::decide::{Next, Reason};
use super::items::Retired;
use super::tracer::{Flow, Tracer};

/// The flags of a report.
#[derive(Clone, Copy)]
struct Flags {
    notify: bool,
    updiscon: bool,
    irreport: bool,
    irdepth: u32,
}

impl Tracer {
    /// The packet with an instruction's address. Spec: RVET-ENC-030 (ET 9.1).
    pub(super) fn report(&mut self, retired: &Retired, reason: Reason, next: Next) -> Packet {
        let (irreport, irdepth) = self.irreport(reason, next);
        let flags = Flags {
            // Spec: RVET-ENC-035 (ET 7.6).
            notify: retired.notify && reason == Reason::Request,
            // Spec: RVET-ENC-034 (ET 7.6.2).
            updiscon: reason == Reason::Updiscon && self.synchronisation_follows(next),
            irreport,
            irdepth,
        };
        // The cache learns every reported target, in whatever form it travels.
        let index = match (&mut self.cache, reason) {
            (Some(cache), Reason::Updiscon) => cache.find_or_store(retired.address),
            _ => None,
        };
        if let Some(branch_count) = self.branches.excess() {
            return self.predicted(retired, branch_count, flags);
        }
        let plain = self.plain(retired, flags);
        match index {
            // Format 0 subformat 1 has no updiscon flag.
            Some(index) if !flags.updiscon => self.shorter(index, flags, plain),
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
    fn predicted(&self, retired: &Retired, branch_count: u32, flags: Flags) -> Packet {
        let Flags { notify, updiscon, irreport, irdepth } = flags;
        let failed = retired.taken().is_some() && self.branches.missed();
        Packet::BranchCount {
            branch_count,
            branch_fmt: if failed { 3 } else { 2 },
            address: Some(self.reported(retired.address)),
            notify,
            updiscon,
            irreport,
            irdepth,
            irets: 0,
        }
    }

    /// Format 1 if branches are pending, else format 2.
    fn plain(&self, retired: &Retired, flags: Flags) -> Packet {
        let Flags { notify, updiscon, irreport, irdepth } = flags;
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
                irets: 0,
            }
        } else {
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets: 0 }
        }
    }

    /// The cache index, unless the plain form takes fewer bytes. Spec: RVET-ENC-070 (ET 7.8).
    fn shorter(&self, index: u32, flags: Flags, plain: Packet) -> Packet {
        let cached = Packet::JumpTargetIndex {
            index,
            branches: self.pending(),
            branch_map: self.branches.map(),
            irreport: flags.irreport,
            irdepth: flags.irdepth,
            irets: 0,
        };
        let length = |packet: &Packet| self.layout.pack(packet).payload(true).bytes().len();
        if length(&plain) < length(&cached) { plain } else { cached }
    }

    fn pending(&self) -> u8 {
        self.branches.count().min(MAP_SIZE) as u8
    }

    /// Spec: RVET-ENC-056 to 058 (ET 3.2.5, 7.6.3).
    fn irreport(&self, reason: Reason, next: Next) -> (bool, u32) {
        let Some(returns) = &self.returns else { return (false, 0) };
        let depth = returns.depth();
        let last = reason == Reason::Last || self.synchronisation_follows(next) || next == Next::Ends;
        let irreport = match self.flow() {
            Flow::PredictedWrong => true,
            Flow::PredictedRight => last && depth != 0,
            _ => reason != Reason::Updiscon && last && returns.ambiguous(),
        };
        (irreport, if irreport { depth } else { 0 })
    }
}
