//! The bytes of an A-sync and of an I-sync.

use traceproof_vectors::arm_etm::Packet;
use traceproof_vectors::{Address32, FaultClass};

use super::state::{Automaton, Broken, Open, State};
use crate::arm::alignment::{END, ZEROS};
use crate::arm_etm::v3::address_bytes::{AddressBytes, Step};
use crate::arm_etm::v3::fields::{self, Fields};
use crate::arm_etm::v3::information;
use crate::arm_etm::v3::listener::Listener;
use crate::arm_etm::v3::value_bytes::LittleEndian;

impl Automaton {
    /// Spec: ETM3-SYN-001 to 004 (7.10.4).
    pub(super) fn zero<L: Listener + ?Sized>(
        &mut self,
        zeros: u64,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        match byte {
            0 => {
                self.state = State::Zero(zeros + 1);
                Ok(None)
            }
            END if zeros >= ZEROS => {
                self.zero_fields(zeros, listener);
                self.whole_byte("end", byte, listener);
                Ok(Some(Packet::AlignmentSync { zeros }))
            }
            _ => {
                self.zero_fields(zeros, listener);
                Err(Broken { class: FaultClass::Framing, byte: self.open.start })
            }
        }
    }

    /// The zeros of an A-sync; those of a bare port stand apart, so that only the first has a place.
    pub(super) fn zero_fields<L: Listener + ?Sized>(&self, zeros: u64, listener: &mut L) {
        if L::TAKES_FIELDS {
            let width = if self.layout.bare_port { 8 } else { u32::try_from(8 * zeros).unwrap_or(u32::MAX) };
            listener.field("zeros", self.open.start, 0, width, 0);
        }
    }

    /// What follows the header or cycle count of an I-sync. Spec: ETM3-ISY-002 (7.10.5).
    pub(super) fn sync_context(&mut self) {
        self.state = match self.layout.context_id_bytes {
            0 => State::SyncInformation,
            bytes => State::SyncContext(LittleEndian::of_bytes(bytes)),
        };
    }

    /// Spec: ETM3-ISY-003, ETM3-ISY-009, ETM3-ISY-012 (7.10.5).
    pub(super) fn information<L: Listener + ?Sized>(
        &mut self,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            fields::information(Fields { listener, offset: self.offset }, byte);
        }
        if byte & 1 == 0 {
            return Err(self.broken(FaultClass::ReservedEncoding));
        }
        self.open.information = byte;
        if self.layout.data_only {
            return Ok(Some(self.instruction_sync()));
        }
        self.state = State::SyncAddress(LittleEndian::of_bytes(4));
        Ok(None)
    }

    /// The address of an I-sync is complete.
    pub(super) fn sync_address(&mut self, value: u32) -> Option<Packet> {
        self.open.full_address = Some(value);
        let information = self.open.information;
        self.arm = information & information::J == 0 && value & 1 == 0;
        if information & information::LSIP != 0 {
            self.state = State::SyncCurrent(AddressBytes::EMPTY);
            return None;
        }
        Some(self.instruction_sync())
    }

    fn instruction_sync(&self) -> Packet {
        let Open { cycle_count, context_id, information, full_address, address, .. } = self.open;
        let full_address = full_address.map(Address32);
        information::instruction_sync(information, cycle_count, context_id, full_address, address)
    }

    /// A byte of the address under a load or store. Spec: ETM3-ISY-007 (7.10.5).
    pub(super) fn current<L: Listener + ?Sized>(
        &mut self,
        mut address: AddressBytes,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            fields::address(
                Fields { listener, offset: self.offset },
                address,
                byte,
                self.layout.alternative,
                false,
            );
        }
        if address.is_empty() && byte & 1 == 0 {
            return Err(self.broken(FaultClass::ReservedEncoding));
        }
        match address.take(byte, self.layout.alternative) {
            Some(Step::More) => {
                self.state = State::SyncCurrent(address);
                Ok(None)
            }
            Some(Step::End { arm }) => {
                self.arm = arm.unwrap_or(self.arm);
                self.open.address = Some(address.address());
                Ok(Some(self.instruction_sync()))
            }
            Some(Step::Exception { .. } | Step::InByte(_)) | None => {
                Err(self.broken(FaultClass::ReservedEncoding))
            }
        }
    }
}
