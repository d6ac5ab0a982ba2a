//! The bytes of a data packet.

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet};

use super::state::{Automaton, Broken, Open, State};
use crate::arm_etm::v3::fields::{self, Fields};
use crate::arm_etm::v3::listener::Listener;
use crate::arm_etm::v3::value_bytes::{LittleEndian, SevenBits};

impl Automaton {
    /// Normal Data, a placeholder or Value Not Traced begins. Spec: ETM3-DAT-001, ETM3-DAT-006, ETM3-OOO-002 (7.4).
    pub(super) fn data_packet(&mut self, header: u8) -> Option<Packet> {
        let first = match header {
            0x6a | 0x7a => header & 0x10 != 0,
            _ => header & 0x20 != 0,
        };
        if first && self.layout.data_address {
            self.state = State::DataAddress(SevenBits::EMPTY);
            return None;
        }
        self.after_data_address()
    }

    /// Spec: ETM3-DAT-003 (7.4.2).
    pub(super) fn data_address<L: Listener + ?Sized>(
        &mut self,
        mut address: SevenBits,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            fields::data_address(Fields { listener, offset: self.offset }, address, byte);
        }
        if address.bytes() == 4 && byte & 0xe0 != 0 {
            return Err(self.broken(FaultClass::Overlong));
        }
        if !address.take(byte) {
            self.state = State::DataAddress(address);
            return Ok(None);
        }
        let v = address.field();
        self.open.address = Some(CompressedAddress { bits: v.bits, bytes: v.bytes });
        Ok(self.after_data_address())
    }

    /// The packet, or the state of its value. Spec: ETM3-DAT-001, ETM3-DAT-002 (7.4.2).
    fn after_data_address(&mut self) -> Option<Packet> {
        let is_normal = self.open.header & 0x53 == 0x02;
        if is_normal && self.layout.data_value {
            return self.value(LittleEndian::of_ss(self.open.header >> 2 & 3));
        }
        Some(self.with_value(None))
    }

    /// The packet, if its value has no bytes.
    pub(super) fn value(&mut self, value: LittleEndian) -> Option<Packet> {
        if value.is_whole() {
            return Some(self.with_value(Some(0)));
        }
        self.state = State::Value(value);
        None
    }

    /// The data packet that is being read. Spec: ETM3-OOO-001, ETM3-OOO-003 (7.4).
    pub(super) fn with_value(&self, value: Option<u32>) -> Packet {
        let Open { header, address, .. } = self.open;
        let (first, ss) = (header & 0x20 != 0, header >> 2 & 3);
        match header & 0x53 {
            0x02 => Packet::NormalData { more: false, first, address, ss, value },
            0x50 => Packet::LoadMissOccurred { more: false, first, tag: header >> 2 & 3, address },
            0x42 | 0x52 => Packet::ValueNotTraced { more: false, first: header & 0x10 != 0, address },
            _ => Packet::LoadMissData { more: false, tag: header >> 5 & 3, ss, value: value.unwrap_or(0) },
        }
    }
}
