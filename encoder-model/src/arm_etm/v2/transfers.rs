//! Which packets a data transfer gets.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{
    Access, CompressedAddress, Isa, Packet, Parameters, Policy, Position, Transfer,
};

use crate::arm_etm::compression::DataBase;
use crate::arm_etm::misses::{MissTable, Outstanding};
use crate::arm_etm::ss::minimal_ss;

/// What one transfer is to the filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It leaves no packet.
    Untraced,
    /// It gets packets; `first`: no earlier transfer of its instruction has any.
    Traced {
        /// A bit.
        first: bool,
    },
    /// Earlier transfers of its LSM have packets, ViewData is off for it. Spec: ETM2-VNT-003 (6.4.4).
    NotTraced,
}

/// Everything that data packets depend on and change.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataState {
    pub(super) base: DataBase,
    pub(super) misses: MissTable,
}

/// Parameters and policy, as far as data packets are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataRules {
    address: bool,
    value: bool,
    coprocessor: bool,
    minimal_values: bool,
    minimal_addresses: bool,
}

/// Spec: ETM2-HDR-006 (6.4.4): without address.
const NOT_TRACED: Packet = Packet::ValueNotTraced { more: false, first: false, address: None };

impl DataRules {
    pub(super) const fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            address: parameters.data_address,
            value: parameters.data_value,
            coprocessor: parameters.monitor_cprt && parameters.data_value,
            minimal_values: policy.minimal_values,
            minimal_addresses: policy.minimal_addresses,
        }
    }

    /// Whether transfers leave packets at all.
    pub(super) const fn is_on(&self) -> bool {
        self.address || self.value
    }

    /// The packets of a transfer. `more` is not set yet.
    pub(super) fn transfer(
        &self,
        transfer: &Transfer,
        treatment: Treatment,
        state: &mut DataState,
        packets: &mut Vec<Packet>,
    ) {
        let words = if transfer.wide { 2 } else { 1 };
        match (transfer.access, treatment) {
            (_, Treatment::Untraced) => {}
            (_, Treatment::NotTraced) => {
                packets.extend(core::iter::repeat_n(NOT_TRACED, words));
            }
            (Access::Miss(miss), Treatment::Traced { first }) => {
                let tag = state.misses.allocate(miss, transfer.wide, None);
                let address = self.address(transfer.address.0, first, state);
                packets.push(Packet::LoadMissOccurred { more: false, first, tag, address });
                if transfer.wide {
                    packets.push(Packet::LoadMissOccurred { more: false, first: false, tag, address: None });
                }
            }
            (_, Treatment::Traced { first }) => {
                let address = self.address(transfer.address.0, first, state);
                packets.push(self.normal_data(first, address, transfer.value as u32));
                if transfer.wide {
                    packets.push(self.normal_data(false, None, (transfer.value >> 32) as u32));
                }
            }
        }
    }

    /// A coprocessor register transfer never has an address. It is outside the filters: FilterCPRT came
    /// with architecture 3. Spec: ETM2-ND-007 (6.4.1).
    pub(super) fn coprocessor(&self, transfer: &Transfer, packets: &mut Vec<Packet>) {
        if self.coprocessor {
            packets.push(self.normal_data(false, None, transfer.value as u32));
            if transfer.wide {
                packets.push(self.normal_data(false, None, (transfer.value >> 32) as u32));
            }
        }
    }

    /// The data of a load miss. Spec: ETM2-LM-010, 036, 039, 042 (6.4.3).
    pub(super) fn miss_data(&self, miss: Outstanding, value: u64, packets: &mut Vec<Packet>) {
        let mut word = |value: u32| {
            packets.push(Packet::LoadMissData { more: false, tag: miss.tag, ss: self.ss(value), value });
        };
        word(value as u32);
        if miss.wide {
            word((value >> 32) as u32);
        }
    }

    fn address(&self, address: u32, first: bool, state: &mut DataState) -> Option<CompressedAddress> {
        (first && self.address).then(|| state.base.compress(address, self.minimal_addresses))
    }

    fn normal_data(&self, first: bool, address: Option<CompressedAddress>, value: u32) -> Packet {
        // Where no values travel the size says nothing, and is 0.
        let ss = if self.value { self.ss(value) } else { 0 };
        Packet::NormalData { more: false, first, address, ss, value: self.value.then_some(value) }
    }

    const fn ss(&self, value: u32) -> u8 {
        if self.minimal_values { minimal_ss(value) } else { 3 }
    }
}

/// An instruction with several transfers that has not had the last of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lsm {
    /// Where it is.
    pub(super) address: u32,
    /// Its state.
    pub(super) isa: Isa,
    /// It was traced itself, or announced by a TFO packet.
    pub(super) traced: bool,
    /// One of its transfers has packets.
    pub(super) output: bool,
}

impl Lsm {
    /// The decision of the filters for its next transfer. Spec: ETM2-VNT-002, 003, ETM2-LM-005, 008 (6.4.3, 6.4.4).
    pub(super) const fn treat(&mut self, view_data: bool) -> Treatment {
        match (self.traced, self.output, view_data) {
            (false, ..) | (true, false, false) => Treatment::Untraced,
            (true, false, true) => {
                self.output = true;
                Treatment::Traced { first: true }
            }
            (true, true, true) => Treatment::Traced { first: false },
            (true, true, false) => Treatment::NotTraced,
        }
    }
}

/// Whether the transfer ends its instruction.
pub(super) const fn is_last(position: Position) -> bool {
    matches!(position, Position::Only | Position::Last)
}
