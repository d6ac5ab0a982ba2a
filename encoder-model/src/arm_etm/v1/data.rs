//! Which packets the data of an instruction are.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{Access, Packet, Parameters, Policy, Transfer};

use crate::arm_etm::compression::{DataBase, low_mask};

/// Data packets, and the data address that was output last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    address: bool,
    value: bool,
    coprocessor: bool,
    minimal_addresses: bool,
    base: DataBase,
}

impl Data {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            address: parameters.data_address,
            value: parameters.data_value,
            // `etm1-cprt-has-no-address`
            coprocessor: parameters.monitor_cprt && parameters.data_value,
            minimal_addresses: policy.minimal_addresses,
            base: DataBase::default(),
        }
    }

    /// Tracing was interrupted. Reading `etm1-data-addresses-start-over`.
    pub(super) const fn restart(&mut self) {
        self.base.forget();
    }

    /// A periodic full branch address was output.
    pub(super) const fn require_full(&mut self) {
        self.base.require_full();
    }

    /// The packets of an instruction's transfers: the address of the first one, then all values.
    ///
    /// Coprocessor register transfers are outside the filters, which came with architecture 3.
    ///
    /// Spec: ETM1-DAT-001 to 004, 007 (5.4), ETM1-PS-006 (5.7.1).
    pub(super) fn packets(&mut self, transfers: &[Transfer], view_data: bool, packets: &mut Vec<Packet>) {
        let memory = |transfer: &&Transfer| transfer.access != Access::Coprocessor;
        if self.address
            && view_data
            && let Some(first) = transfers.iter().find(memory)
        {
            let address = self.base.compress(first.address.0, self.minimal_addresses);
            packets.push(Packet::DataAddress(address));
        }
        for transfer in transfers {
            let traced = if memory(&transfer) { self.value && view_data } else { self.coprocessor };
            if traced {
                values(transfer, packets);
            }
        }
    }
}

/// The words of a transfer, the one with the lower address first, or what is less than a word.
///
/// Spec: ETM-GEN-008, ETM-GEN-010 (4.9.2), ETM1-DAT-002 (5.4).
fn values(transfer: &Transfer, packets: &mut Vec<Packet>) {
    let bytes = match transfer.size {
        size @ (1 | 2) if !transfer.wide => size,
        _ => 4,
    };
    let value = (transfer.value & low_mask(8 * u32::from(bytes))) as u32;
    packets.push(Packet::DataValue { bytes, value });
    if transfer.wide {
        packets.push(Packet::DataValue { bytes, value: (transfer.value >> 32) as u32 });
    }
}
