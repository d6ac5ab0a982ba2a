//! What went wrong in the flow.

use traceproof_vectors::{Address, Fault, FaultClass, Place};

use super::bits::at_bit;

/// What went wrong, to be reported at bit `bit` of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) class: FaultClass,
    pub(super) address: Option<Address>,
    pub(super) bit: u32,
}

impl Trouble {
    pub(super) const fn new(class: FaultClass) -> Self {
        Self { class, address: None, bit: 0 }
    }

    pub(super) const fn at(class: FaultClass, address: u64) -> Self {
        Self { class, address: Some(Address(address)), bit: 0 }
    }

    pub(super) const fn fault(self, place: Place) -> Fault {
        Fault::new(self.class, at_bit(place, self.bit)).with_address(self.address)
    }
}
