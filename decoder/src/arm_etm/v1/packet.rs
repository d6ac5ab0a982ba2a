//! Bytes -> packets, one kind at a time: the bytes do not identify the kind.

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};
use traceproof_vectors::{Address32, FaultClass};

use super::listener::Listener;
use crate::arm_etm::v2::FifoByte;

/// Which packet the bytes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    BranchAddress,
    DataAddress,
    /// Of so many bytes.
    DataValue(u8),
}

/// Reads a packet byte by byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketReader {
    minor: u8,
    /// Bytes of a Context ID.
    context_id_bytes: u8,
    bits: u32,
    /// Bytes so far.
    count: u8,
    /// The Context ID is coming: its bytes so far are in `context_id`.
    full: Option<Packet>,
    context_id: u32,
}

/// A fifth byte, counted from 0.
const FIFTH: u8 = 4;
/// Bit 7: another byte follows.
const CONTINUE: u8 = 0x80;
/// ETMv1.2 brought reason 100 and Context IDs (5.6.2, 5.6.3).
const WITH_CONTEXT_ID: u8 = 2;
/// ETMv1.3 brought Java state (5.11).
const WITH_JAZELLE: u8 = 3;

impl PacketReader {
    /// Spec: ETM1-PKT-018 (5.6.3).
    pub(super) fn new(parameters: &Parameters) -> Self {
        let has_context_id = parameters.minor >= WITH_CONTEXT_ID;
        Self {
            minor: parameters.minor,
            context_id_bytes: if has_context_id { parameters.context_id_bytes } else { 0 },
            bits: 0,
            count: 0,
            full: None,
            context_id: 0,
        }
    }

    /// Forgets what was begun.
    pub(super) fn clear(&mut self) {
        (self.bits, self.count, self.full, self.context_id) = (0, 0, None, 0);
    }

    /// Takes a byte; the packet if this was its last one.
    pub(super) fn read<L: Listener>(
        &mut self,
        wanted: Wanted,
        byte: FifoByte,
        listener: &mut L,
    ) -> Result<Option<Packet>, FaultClass> {
        let packet = match wanted {
            Wanted::BranchAddress => self.branch_address(byte, listener),
            Wanted::DataAddress => self.data_address(byte, listener),
            Wanted::DataValue(bytes) => Ok(self.data_value(bytes, byte, listener)),
        };
        if !matches!(packet, Ok(None)) {
            self.clear();
        }
        packet
    }

    /// One of the first four bytes of an address; whether it is the last one. Spec: ETM1-PKT-004 (5.5.4), ETM1-DAT-004
    /// (5.4).
    fn seven_bits<L: Listener>(&mut self, byte: FifoByte, listener: &mut L) -> bool {
        listener.field("address", byte, 0, 7);
        listener.field("c", byte, 7, 1);
        self.bits |= u32::from(byte.value & !CONTINUE) << (7 * self.count);
        self.count += 1;
        byte.value & CONTINUE == 0
    }

    fn compressed(&self) -> CompressedAddress {
        CompressedAddress { bits: self.bits.into(), bytes: self.count }
    }

    fn data_address<L: Listener>(
        &mut self,
        byte: FifoByte,
        listener: &mut L,
    ) -> Result<Option<Packet>, FaultClass> {
        if self.count < FIFTH {
            let is_last = self.seven_bits(byte, listener);
            return Ok(is_last.then(|| Packet::DataAddress(self.compressed())));
        }
        listener.field("address", byte, 0, 4);
        listener.field("0", byte, 4, 4);
        self.bits |= u32::from(byte.value & 0xf) << 28;
        self.count += 1;
        if byte.value & 0xf0 != 0 {
            return Err(FaultClass::Contradiction);
        }
        Ok(Some(Packet::DataAddress(self.compressed())))
    }

    /// Spec: ETM1-DAT-002, ETM1-DAT-005 (5.4).
    fn data_value<L: Listener>(&mut self, bytes: u8, byte: FifoByte, listener: &mut L) -> Option<Packet> {
        listener.field("value", byte, 0, 8);
        self.bits |= u32::from(byte.value) << (8 * (self.count & 3));
        self.count += 1;
        (self.count >= bytes).then_some(Packet::DataValue { bytes, value: self.bits })
    }

    /// Spec: ETM1-PKT-005 to 007, ETM1-PKT-012, ETM1-PKT-013 (5.5.4, 5.6, 5.8.1).
    fn branch_address<L: Listener>(
        &mut self,
        byte: FifoByte,
        listener: &mut L,
    ) -> Result<Option<Packet>, FaultClass> {
        if self.full.is_some() {
            return Ok(self.context_id(byte, listener));
        }
        if self.count < FIFTH {
            let is_last = self.seven_bits(byte, listener);
            return Ok(is_last.then(|| Packet::BranchAddress(self.compressed())));
        }
        listener.field("address", byte, 0, 4);
        listener.field("reason", byte, 4, 3);
        listener.field("J", byte, 7, 1);
        self.count += 1;
        let address = self.bits | u32::from(byte.value & 0xf) << 28;
        let jazelle = byte.value & 0x80 != 0;
        let reason = AddressReason::from_code(byte.value >> 4 & 0b111).ok_or(FaultClass::ReservedEncoding)?;
        let is_too_new = reason == AddressReason::Periodic && self.minor < WITH_CONTEXT_ID;
        if is_too_new || jazelle && self.minor < WITH_JAZELLE {
            return Err(FaultClass::ReservedEncoding);
        }
        let packet =
            Packet::FullBranchAddress { address: Address32(address), reason, jazelle, context_id: None };
        if reason == AddressReason::Branch || self.context_id_bytes == 0 {
            return Ok(Some(packet));
        }
        self.full = Some(packet);
        Ok(None)
    }

    /// Spec: ETM1-PKT-016 (5.6.3); byte order: PC-14.
    fn context_id<L: Listener>(&mut self, byte: FifoByte, listener: &mut L) -> Option<Packet> {
        listener.field("context_id", byte, 0, 8);
        let index = self.count - FIFTH - 1;
        self.context_id |= u32::from(byte.value) << (8 * (index & 3));
        self.count += 1;
        if index + 1 < self.context_id_bytes {
            return None;
        }
        let mut packet = self.full?;
        if let Packet::FullBranchAddress { context_id, .. } = &mut packet {
            *context_id = Some(self.context_id);
        }
        Some(packet)
    }
}
