//! Which branches output an address, and in which form.

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{BranchTarget, CompressedAddress, Isa, Packet, Parameters, Policy};

use super::packet::context_bytes;
use crate::arm_etm::compression::{LONGEST, groups, low_mask};
use traceproof_vectors::Address32;

/// Bytes of the longest branch address, its Context ID included.
pub(super) fn longest_address(parameters: &Parameters) -> usize {
    usize::from(LONGEST) + context_bytes(AddressReason::TraceEnabled, parameters)
}

/// Why a branch outputs its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Its target does not follow from the code, or everything is broadcast.
    Plain,
    /// The Context ID was written. Spec: ETM1-PKT-017 (5.6.3).
    Context,
    /// A full address is due, if it fits. Spec: ETM1-SYN-001 (5.6.2).
    Due,
    /// A full address is overdue. Spec: ETM1-SYN-002 (5.6.2).
    Overdue,
}

/// What earlier branch addresses mean for the next one.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    parameters: Parameters,
    minimal: bool,
    /// Records from one full address to the next; 0 = any number.
    period: u64,
    /// Records since the latest full address.
    age: u64,
    /// The address that was output last as it travels, and its J bit.
    base: (u32, bool),
    context_id: u32,
    /// The Context ID is to be output with the next taken branch.
    context_due: bool,
}

impl Branches {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            parameters: parameters.clone(),
            minimal: policy.minimal_addresses,
            period: policy.sync_period.into(),
            age: 0,
            base: (0, false),
            context_id: 0,
            context_due: false,
        }
    }

    /// Another record.
    pub(super) const fn tick(&mut self) {
        self.age = self.age.saturating_add(1);
    }

    /// The Context ID is written. `traced`: a branch has to output it, because no restart will.
    pub(super) fn write_context(&mut self, value: u32, traced: bool) {
        self.context_id = value;
        self.context_due |= traced && context_bytes(AddressReason::Periodic, &self.parameters) > 0;
    }

    /// Why a taken branch outputs its address; `None` if it does not. Spec: ETM1-PS-008 (5.1).
    pub(super) const fn wish(&self, target: &BranchTarget) -> Option<Wish> {
        if self.period > 0 && self.age >= self.period + self.period / 2 {
            Some(Wish::Overdue)
        } else if self.period > 0 && self.age >= self.period && !target.direct {
            Some(Wish::Due)
        } else {
            self.plain_wish(target)
        }
    }

    /// The same where a full address that is due finds no room. Spec: ETM1-SYN-002 (5.6.2).
    pub(super) const fn plain_wish(&self, target: &BranchTarget) -> Option<Wish> {
        if self.context_due {
            Some(Wish::Context)
        } else if !target.direct || self.parameters.branch_broadcast {
            Some(Wish::Plain)
        } else {
            None
        }
    }

    /// The address of a branch. Spec: ETM1-PKT-009, 011, 015 (5.5.4, 5.11, 5.6.2).
    pub(super) fn address(&self, target: &BranchTarget, wish: Wish) -> Packet {
        let (address, jazelle) = self.travelling(target.address.0, target.isa);
        if wish != Wish::Plain {
            let reason =
                if self.parameters.minor >= 2 { AddressReason::Periodic } else { AddressReason::Branch };
            return self.full(address, jazelle, reason, self.context_id);
        }
        let bytes =
            if self.minimal && jazelle == self.base.1 { groups(self.base.0 ^ address, 7) } else { LONGEST };
        if bytes == LONGEST {
            return self.full(address, jazelle, AddressReason::Branch, self.context_id);
        }
        Packet::BranchAddress(CompressedAddress {
            bits: u64::from(address) & low_mask(u32::from(bytes) * 7),
            bytes,
        })
    }

    /// The address of a restart. Spec: ETM1-PKT-014 (5.8.1).
    pub(super) fn restart(
        &self,
        address: u32,
        isa: Isa,
        reason: AddressReason,
        written: Option<u32>,
    ) -> Packet {
        let (address, jazelle) = self.travelling(address, isa);
        self.full(address, jazelle, reason, written.unwrap_or(self.context_id))
    }

    /// The packet, which says where this is, was output.
    pub(super) fn output(&mut self, packet: &Packet, address: u32, isa: Isa) {
        self.base = self.travelling(address, isa);
        if let Packet::FullBranchAddress { context_id, .. } = packet {
            // Spec: ETM1-SYN-003 (5.6.2).
            self.age = 0;
            self.context_due &= context_id.is_none();
        }
    }

    fn full(&self, address: u32, jazelle: bool, reason: AddressReason, context_id: u32) -> Packet {
        let context_id = match context_bytes(reason, &self.parameters) {
            0 => None,
            count => Some(context_id & low_mask(8 * count as u32) as u32),
        };
        Packet::FullBranchAddress { address: Address32(address), reason, jazelle, context_id }
    }

    /// All 32 bits as they travel, and the J bit. Spec: ETM1-PKT-008 (5.5.4, 5.8.1).
    const fn travelling(&self, address: u32, isa: Isa) -> (u32, bool) {
        match isa {
            Isa::Jazelle if self.parameters.has_jazelle() => (address, true),
            Isa::Thumb | Isa::ThumbEe => (address | 1, false),
            Isa::Arm | Isa::Jazelle => (address & !1, false),
        }
    }
}
