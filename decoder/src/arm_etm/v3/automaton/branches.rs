//! The bytes of a branch packet.

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet};

use super::state::{Automaton, Broken, State};
use crate::arm_etm::v3::address_bytes::{AddressBytes, Step};
use crate::arm_etm::v3::exception_bytes::ExceptionBytes;
use crate::arm_etm::v3::fields::{self, Fields};
use crate::arm_etm::v3::listener::Listener;

impl Automaton {
    /// A byte of a branch address. Spec: ETM3-BR-001 to 010, ETM3-BR-019 (7.3.5).
    pub(super) fn branch<L: Listener + ?Sized>(
        &mut self,
        mut address: AddressBytes,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            let in_byte = self.arm && !self.layout.alternative;
            fields::address(
                Fields { listener, offset: self.offset },
                address,
                byte,
                self.layout.alternative,
                in_byte,
            );
        }
        let in_byte = self.arm && !self.layout.alternative;
        let step = address.take(byte, self.layout.alternative);
        match step {
            Some(Step::More) => self.state = State::Branch(address),
            Some(Step::End { arm }) => {
                self.arm = arm.unwrap_or(self.arm);
                return Ok(Some(Packet::BranchAddress(address.address())));
            }
            Some(Step::Exception { arm }) => {
                self.arm = arm.unwrap_or(self.arm);
                self.open.address = Some(address.address());
                self.state = State::Exception(ExceptionBytes::EMPTY);
            }
            Some(Step::InByte(exception)) if in_byte => {
                return Ok(Some(Packet::InByteExceptionBranch { address: address.address(), exception }));
            }
            Some(Step::InByte(_)) | None => return Err(self.broken(FaultClass::ReservedEncoding)),
        }
        Ok(None)
    }

    /// A byte of exception information. Spec: ETM3-EXC-001 to 004, ETM3-BR-019 (7.3.5).
    pub(super) fn exception<L: Listener + ?Sized>(
        &mut self,
        mut exception: ExceptionBytes,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            fields::exception(Fields { listener, offset: self.offset }, exception, byte);
        }
        match exception.take(byte) {
            Some(true) => {
                let address = self.open.address.unwrap_or(CompressedAddress { bits: 0, bytes: 0 });
                Ok(Some(Packet::ExceptionBranch { address, information: exception.information() }))
            }
            Some(false) => {
                self.state = State::Exception(exception);
                Ok(None)
            }
            None => Err(self.broken(FaultClass::Overlong)),
        }
    }
}
