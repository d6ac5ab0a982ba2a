//! What a walk is to reach, and how it ended.

/// When a walk is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// At the branch that the last outcome is for, not past it (RVET-DEC-011).
    LastBranch,
    /// As soon as the address is met with all outcomes consumed, however it is reached.
    Arrival,
    /// When an uninferable discontinuity leads to the address.
    Discontinuity,
}

/// What a walk is to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) until: Until,
    /// The reported address; means nothing for [`Until::LastBranch`].
    pub(super) address: u64,
    /// `irdepth` or `irets`, if the packet reports one.
    pub(super) depth: Option<u32>,
    /// The address comes from a synchronisation packet: the caller reports the instruction there, and the
    /// jump target cache does not learn it.
    pub(super) synchronisation: bool,
}

/// How a walk ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Without an uninferable discontinuity right before.
    Direct,
    /// By an uninferable discontinuity.
    Discontinuity,
}
