//! Which form a branch address and a data address must have.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{BranchTarget, Isa, Packet, Parameters, Policy};

/// What addresses, and those before them, look like.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    parameters: Parameters,
    minimal: bool,
    period: usize,
    /// Record of the latest full address.
    latest_full: usize,
    /// The branch address before, and whether it was in Java state.
    branch: (u32, bool),
    /// The data address before; none if the next one starts over.
    data: Option<u32>,
    /// The latest Context ID, and whether a branch must carry it.
    context_id: u32,
    context_due: bool,
}

impl Addresses {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            parameters: parameters.clone(),
            minimal: policy.minimal_addresses,
            period: policy.sync_period as usize,
            latest_full: 0,
            branch: (0, false),
            data: None,
            context_id: 0,
            context_due: false,
        }
    }

    pub(super) fn write_context(&mut self, value: u32, traced: bool) {
        self.context_id = value;
        self.context_due |= traced && self.tells_context();
    }

    const fn tells_context(&self) -> bool {
        self.parameters.minor >= 2 && self.parameters.context_id_bytes > 0
    }

    const fn is_due(&self, record: usize) -> bool {
        self.period > 0 && record - self.latest_full >= self.period
    }

    const fn is_overdue(&self, record: usize) -> bool {
        self.period > 0 && record - self.latest_full >= self.period + self.period / 2
    }

    /// Whether a taken branch outputs its address. Spec: ETM1-PS-008, ETM1-PKT-017, ETM1-SYN-002.
    pub(super) const fn is_output(&self, record: usize, target: &BranchTarget) -> bool {
        !target.direct || self.parameters.branch_broadcast || self.context_due || self.is_overdue(record)
    }

    /// Whether this may be the address of a branch in this record; if it may, it is the latest one from now on. Whether
    /// it is a full address that was due.
    pub(super) fn branch(&mut self, record: usize, packet: &Packet, target: &BranchTarget) -> Option<bool> {
        let (address, jazelle) = travelling(target.address.0, target.isa);
        let changed = self.branch.0 ^ address;
        let overdue = self.is_overdue(record);
        let due = overdue || self.is_due(record) && !target.direct;
        let long = !self.minimal || jazelle != self.branch.1 || changed >> 28 != 0;
        let special =
            if self.parameters.minor >= 2 { AddressReason::Periodic } else { AddressReason::Branch };
        let allowed = match *packet {
            Packet::FullBranchAddress { reason, .. } => {
                *packet == self.full(address, jazelle, reason, self.context_id)
                    && (reason == special && (due || self.context_due)
                        || reason == AddressReason::Branch && long && !overdue && !self.context_due)
            }
            // A full address that is due may find no room, but not if it is overdue.
            Packet::BranchAddress(short) => {
                let width = 7 * u32::from(short.bytes);
                let needed = short.bytes == 1 || changed >> (width - 7) != 0;
                let enough = changed >> width == 0;
                let bits = u64::from(address) & ((1 << width) - 1);
                !long && !overdue && !self.context_due && needed && enough && bits == short.bits
            }
            _ => false,
        };
        // Without room for the Context ID, one that compression needs takes its place.
        let full = matches!(*packet, Packet::FullBranchAddress { reason, .. } if reason == special);
        allowed.then(|| {
            self.output(record, packet, (address, jazelle));
            if full && due {
                self.data = None;
            }
            full && due
        })
    }

    /// Whether this is the address of a restart.
    pub(super) fn restart(
        &mut self,
        record: usize,
        packet: &Packet,
        (address, isa): (u32, Isa),
        reason: AddressReason,
        context_id: Option<u32>,
    ) -> bool {
        let (address, jazelle) = travelling(address, isa);
        let expected = self.full(address, jazelle, reason, context_id.unwrap_or(self.context_id));
        self.output(record, packet, (address, jazelle));
        self.data = None;
        *packet == expected
    }

    fn output(&mut self, record: usize, packet: &Packet, branch: (u32, bool)) {
        self.branch = branch;
        if let Packet::FullBranchAddress { reason, .. } = packet {
            self.latest_full = record;
            self.context_due &= *reason == AddressReason::Branch;
        }
    }

    fn full(&self, address: u32, jazelle: bool, reason: AddressReason, context_id: u32) -> Packet {
        let tells = reason != AddressReason::Branch && self.tells_context();
        let bits = 8 * u32::from(self.parameters.context_id_bytes);
        let context_id = tells.then(|| (u64::from(context_id) & ((1 << bits) - 1)) as u32);
        Packet::FullBranchAddress { address: Address32(address), reason, jazelle, context_id }
    }

    /// Whether this is the data address.
    pub(super) fn data(&mut self, packet: &Packet, address: u32) -> bool {
        let Packet::DataAddress(got) = packet else { return false };
        let changed = self.data.replace(address).map(|before| before ^ address);
        let bytes = match changed {
            Some(changed) if self.minimal => (1..5).find(|bytes| changed >> (7 * bytes) == 0).unwrap_or(5),
            _ => 5,
        };
        u32::from(got.bytes) == bytes && got.bits == u64::from(address) & ((1 << (7 * bytes)) - 1)
    }
}

/// With the Thumb bit, and whether it is in Java state.
fn travelling(address: u32, isa: Isa) -> (u32, bool) {
    (address | u32::from(isa == Isa::Thumb), isa == Isa::Jazelle)
}
