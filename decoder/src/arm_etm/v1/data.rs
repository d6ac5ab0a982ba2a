//! Data of an instruction: which packets they are, and their addresses.

use traceproof_vectors::arm_etm::{CompressedAddress, DataAddress, Parameters};
use traceproof_vectors::{DecoderState, FaultClass};

use super::flow::Here;
use crate::arm::{Access, Transfers};

/// Data packets that are still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// The address.
    pub(super) address: bool,
    /// Values.
    pub(super) values: u8,
    /// Bytes of each.
    pub(super) size: u8,
    /// Bytes from one transfer to the next.
    stride: u8,
}

/// Why data cannot be assigned to instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The instruction is somewhere.
    Somewhere,
    /// Its code is missing, or does not determine them.
    NotInCode,
    /// It should have none.
    Undue,
}

impl Unreadable {
    /// The class of the fault that it is, if it is one.
    pub(super) const fn class(self) -> Option<FaultClass> {
        match self {
            Self::Somewhere => None,
            Self::NotInCode => Some(FaultClass::NoCode),
            Self::Undue => Some(FaultClass::Contradiction),
        }
    }
}

/// What is traced of data, and what is known of their addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataTrace {
    has_value: bool,
    has_address: bool,
    has_coprocessor: bool,
    /// Number of the next transfer.
    transfers: u64,
    /// The address that travelled last.
    base: DataAddress,
    /// That of the next transfer of the instruction.
    next: Option<DataAddress>,
}

impl DataTrace {
    /// For people: what the next data packet refers to, if data are traced.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        if !self.has_value && !self.has_address {
            return state;
        }
        state.with("data address base", self.base).with("transfers", self.transfers)
    }

    const UNKNOWN: DataAddress = DataAddress::partial(0, 0);

    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            has_value: parameters.data_value,
            has_address: parameters.data_address,
            has_coprocessor: parameters.monitor_cprt,
            transfers: 0,
            base: Self::UNKNOWN,
            next: None,
        }
    }

    /// Whether data packets exist at all.
    pub(super) const fn is_on(&self) -> bool {
        self.has_value || self.has_address
    }

    /// The bits of addresses are not known until they travel again (`etm1-data-addresses-start-over`).
    pub(super) fn forget(&mut self) {
        self.base = Self::UNKNOWN;
    }

    /// The packets of an instruction. Spec: ETM1-DAT-001 to 003, ETM1-DAT-006 (5.4, 5.7).
    pub(super) fn of(&mut self, here: &Here) -> Result<Data, Unreadable> {
        self.next = None;
        if !self.has_value {
            return Ok(Data { address: self.has_address, values: 0, size: 0, stride: 0 });
        }
        if here.address.is_none() {
            return Err(Unreadable::Somewhere);
        }
        let Transfers { access, count, size } = here.instruction.ok_or(Unreadable::NotInCode)?.transfers;
        let (address, stride) = match access {
            Access::None => return Err(Unreadable::Undue),
            Access::Load | Access::Store => (self.has_address, size),
            Access::Swap => (self.has_address, 0),
            Access::ToCoprocessor | Access::FromCoprocessor if self.has_coprocessor => (false, 0),
            Access::ToCoprocessor | Access::FromCoprocessor => return Err(Unreadable::Undue),
        };
        if count == 0 || size == 0 {
            return Err(Unreadable::NotInCode);
        }
        Ok(Data { address, values: count, size, stride })
    }

    /// An address travelled.
    pub(super) fn address(&mut self, packet: CompressedAddress) {
        let sent = u32::MAX.checked_shl(7 * u32::from(packet.bytes)).map_or(u32::MAX, |above| !above);
        let value = self.base.value() & !sent | packet.bits as u32 & sent;
        self.base = DataAddress::partial(value, self.base.known() | sent);
        self.next = Some(self.base);
    }

    /// The number and the address of a transfer.
    pub(super) fn transfer(&mut self, data: &Data) -> (u64, Option<DataAddress>) {
        let current = (self.transfers, self.next);
        self.transfers += 1;
        let following =
            |at: DataAddress| DataAddress::partial(at.value().wrapping_add(data.stride.into()), at.known());
        self.next = self.next.map(following);
        current
    }
}
