//! One data trace packet as a bit string: the layouts of ET 8.

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, DataLayout, DataOptions, DataPacket,
    DataParameters, LoadData, LoadRequest, Parameters, ReportedAddress, ReportedData, Transfer, Xlen,
};

use crate::riscv_etrace::bits::Bits;

/// The widths and options that shape data packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataFields {
    pub(super) parameters: DataParameters,
    /// In force.
    pub(crate) options: DataOptions,
    /// log2 of the bytes of a CSR.
    pub(super) register: u8,
    /// The requests of split atomics keep their own form where packets have no addresses.
    pub(super) requests_without_address: bool,
}

/// Format codes. Spec: RVET-DATA-003 (ET 8.1 to 8.3).
mod format {
    /// Bit 0 of formats 0 to 3.
    pub(super) const UNALIGNED: u64 = 0b01;
    /// Bit 1 of formats 0 to 3.
    pub(super) const STORE: u64 = 0b10;
    pub(super) const LOAD_DATA: u64 = 0b100;
    pub(super) const CSR: u64 = 0b101;
    pub(super) const ATOMIC: u64 = 0b110;
    pub(super) const ATOMIC_DATA: u64 = 0b111;
}

/// Format codes of the MMA/CAS extension.
mod mma_cas_format {
    pub(super) const SINGLE: u64 = 0b00;
    pub(super) const MULTI: u64 = 0b01;
    pub(super) const ATOMIC_OR_CSR: u64 = 0b10;
    pub(super) const SPLIT_DATA: u64 = 0b11;
}

/// Which of the two compressed parts of a packet differ. Spec: RVET-DATA-009 (ET 8.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Address and data.
    Both,
    /// Address only.
    Address,
    /// Data only.
    Data,
}

impl DataFields {
    /// `None` without data trace.
    pub(crate) fn new(parameters: &Parameters) -> Option<Self> {
        let register = match parameters.xlen {
            Xlen::Rv32 => 2,
            Xlen::Rv64 => 3,
        };
        parameters.data.map(|data| Self {
            parameters: data,
            options: data.options,
            register,
            // Spec: RVET5-ENC-017; reading reduced-split-packets-are-unified.
            requests_without_address: data.layout == DataLayout::MmaCas || parameters.has_standard_support(),
        })
    }

    /// The fields of `packet` in the order of ET 8. Values wider than their field lose their top bits; a field travels
    /// where the packet has it.
    pub(crate) fn pack(&self, packet: &DataPacket) -> Bits {
        let mut bits = Bits::default();
        match packet {
            DataPacket::Load(load) => self.transfer(&mut bits, 0, load),
            DataPacket::Store(store) => self.transfer(&mut bits, format::STORE, store),
            DataPacket::LoadRequest(request) => self.load_request(&mut bits, request),
            DataPacket::LoadData(data) => self.load_data(&mut bits, data),
            DataPacket::Atomic(atomic) => self.atomic(&mut bits, atomic),
            DataPacket::AtomicRequest(request) => self.atomic_request(&mut bits, request),
            DataPacket::AtomicData(data) => self.atomic_data(&mut bits, data),
            DataPacket::Csr(csr) => self.csr(&mut bits, csr),
        }
        bits
    }

    /// Bits of the longest packet. Spec: ET 8.
    pub(crate) fn longest_packet(&self) -> u32 {
        let parameters = &self.parameters;
        let (size, lrid) = (parameters.size_width(), u32::from(parameters.lrid_width_p));
        let (data, address) = (u32::from(parameters.data_width_p), u32::from(parameters.daddress_width_p));
        // The MMA/CAS extension has a subformat of 2 or 4 bits after a format of up to 2.
        let head = 3.max(parameters.format_width()) + 4 + size;
        let length = u32::from(parameters.max_size());
        let transfer = head + 2 + length + data + address;
        let atomic = if parameters.atomics() { transfer + length + data } else { 0 };
        let split = if parameters.split { head + lrid + 2 + (length + data).max(address) } else { 0 };
        let split_atomic = if parameters.split && parameters.atomics() { transfer + lrid } else { 0 };
        let register = 8 << self.register;
        let csr = if parameters.csrs() { 8 + 2 * (u32::from(self.register) + register) + 12 } else { 0 };
        [transfer, atomic, split, split_atomic, csr].into_iter().max().unwrap_or(0)
    }

    fn has_mma_cas(&self) -> bool {
        self.parameters.layout == DataLayout::MmaCas
    }

    /// `code` is [`format::STORE`] or 0. Spec: RVET-DATA-003, RVET-DATA-013 (ET 8.1).
    fn transfer(&self, bits: &mut Bits, code: u64, transfer: &Transfer) {
        let &Transfer { size, unaligned, multi, data_len, data, address } = transfer;
        self.memory_format(bits, code | if unaligned { format::UNALIGNED } else { 0 }, multi);
        self.size(bits, size);
        match (data, address) {
            (Some(data), Some(address)) => {
                self.diff(bits, Shape::Both, Some(address), Some(data));
                Self::value(bits, data, data_len, size);
                self.address(bits, address, if unaligned { 0 } else { size });
            }
            (None, Some(address)) => {
                self.diff(bits, Shape::Address, Some(address), None);
                self.address(bits, address, if unaligned { 0 } else { size });
            }
            (data, None) => {
                self.diff(bits, Shape::Data, None, data);
                self.last_value(bits, data, size);
            }
        }
    }

    fn load_request(&self, bits: &mut Bits, request: &LoadRequest) {
        let &LoadRequest { size, unaligned, multi, lrid, address } = request;
        self.memory_format(bits, if unaligned { format::UNALIGNED } else { 0 }, multi);
        self.size(bits, size);
        self.lrid(bits, lrid);
        self.diff(bits, Shape::Address, Some(address), None);
        self.address(bits, address, if unaligned { 0 } else { size });
    }

    fn load_data(&self, bits: &mut Bits, response: &LoadData) {
        let &LoadData { size, lrid, data } = response;
        self.format(bits, if self.has_mma_cas() { mma_cas_format::SPLIT_DATA } else { format::LOAD_DATA });
        self.size(bits, size);
        self.lrid(bits, lrid);
        bits.push(response_code(data), 2);
        self.last_value(bits, data, size);
    }

    fn atomic(&self, bits: &mut Bits, atomic: &Atomic) {
        let &Atomic { op, size, op_len, operand, data_len, data, address } = atomic;
        self.atomic_format(bits, op);
        self.size(bits, size);
        match (operand, address) {
            (Some(operand), Some(address)) => {
                self.diff(bits, Shape::Both, Some(address), data.or(Some(operand)));
                Self::value(bits, operand, op_len, size);
                if let Some(data) = data {
                    Self::value(bits, data, data_len, size);
                }
                self.address(bits, address, size);
            }
            (None, Some(address)) => {
                self.diff(bits, Shape::Address, Some(address), None);
                self.address(bits, address, size);
            }
            (operand, None) => {
                self.diff(bits, Shape::Data, None, data.or(operand));
                match (operand, data) {
                    (Some(operand), Some(_)) => {
                        Self::value(bits, operand, op_len, size);
                        self.last_value(bits, data, size);
                    }
                    // A compare-and-swap that failed has no data: the operand is the last field.
                    _ => self.last_value(bits, operand.or(data), size),
                }
            }
        }
    }

    fn atomic_request(&self, bits: &mut Bits, request: &AtomicRequest) {
        let &AtomicRequest { op, size, lrid, op_len, operand, address } = request;
        self.atomic_format(bits, op);
        self.size(bits, size);
        self.lrid(bits, lrid);
        // Two bits, whatever is offered: reading split-atomic-diff-has-two-bits.
        self.diff(bits, Shape::Both, address, Some(operand));
        match address {
            Some(address) => {
                Self::value(bits, operand, op_len, size);
                self.address(bits, address, size);
            }
            None => self.last_value(bits, Some(operand), size),
        }
    }

    /// Spec: RVET-DATA-017 (ET 8.2).
    fn atomic_data(&self, bits: &mut Bits, response: &AtomicData) {
        let &AtomicData { size, lrid, data_len, data } = response;
        self.format(bits, format::ATOMIC_DATA);
        self.lrid(bits, lrid);
        bits.push(response_code(data), 2);
        if let Some(data) = data {
            Self::value(bits, data, data_len, size);
        }
    }

    /// Spec: RVET-DATA-020, RVET-DATA-021 (ET 8.3).
    fn csr(&self, bits: &mut Bits, csr: &Csr) {
        let &Csr { op, data_len, data, op_len, operand, address } = csr;
        if self.has_mma_cas() {
            self.format(bits, mma_cas_format::ATOMIC_OR_CSR);
            bits.push(op.dtype().into(), 4);
        } else {
            self.format(bits, format::CSR);
            bits.push((op.dtype() & 0b11).into(), 2);
        }
        let number = address_bits(address);
        let (high, low) = (number >> 6 & 0x3f, number & 0x3f);
        match data {
            Some(data) => {
                self.diff(bits, Shape::Data, None, Some(data));
                Self::value(bits, data, data_len, self.register);
                bits.push(high, 6);
                if let Some(operand) = operand {
                    Self::value(bits, operand, op_len, self.register);
                }
            }
            None => {
                self.diff(bits, Shape::Address, Some(address), None);
                bits.push(high, 6);
            }
        }
        bits.push(low, 6);
    }

    /// Formats 0 to 3. Spec: RVET-DATA-002, RVET-DATA-003 (ET 8.1).
    fn memory_format(&self, bits: &mut Bits, code: u64, multi: bool) {
        if self.has_mma_cas() {
            self.format(bits, if multi { mma_cas_format::MULTI } else { mma_cas_format::SINGLE });
            bits.push(code, 2);
        } else {
            self.format(bits, code);
        }
    }

    /// Spec: RVET-DATA-018 (ET 8.2).
    fn atomic_format(&self, bits: &mut Bits, op: AtomicOperation) {
        if self.has_mma_cas() {
            self.format(bits, mma_cas_format::ATOMIC_OR_CSR);
            bits.push(op.dtype().into(), 4);
        } else {
            self.format(bits, format::ATOMIC);
            bits.push((op.dtype() & 0b111).into(), 3);
        }
    }

    fn format(&self, bits: &mut Bits, code: u64) {
        bits.push(code, self.parameters.format_width());
    }

    fn size(&self, bits: &mut Bits, size: u8) {
        bits.push(size.into(), self.parameters.size_width());
    }

    fn lrid(&self, bits: &mut Bits, lrid: u16) {
        bits.push(lrid.into(), self.parameters.lrid_width_p.into());
    }

    /// Spec: RVET-DATA-009, RVET-DATA-010 (ET 8.1.3).
    fn diff(
        &self,
        bits: &mut Bits,
        shape: Shape,
        address: Option<ReportedAddress>,
        data: Option<ReportedData>,
    ) {
        let differs = matches!(address, Some(ReportedAddress::Delta(_)));
        match shape {
            Shape::Address => bits.push_bit(differs),
            Shape::Both => {
                let code = match data {
                    Some(ReportedData::Xor(_)) => 0b01,
                    Some(ReportedData::Delta(_)) => 0b11,
                    _ if differs => 0b10,
                    _ => 0b00,
                };
                bits.push(code, 2);
            }
            Shape::Data => {
                let code = match data {
                    Some(ReportedData::Xor(_)) => 0b01,
                    Some(ReportedData::Delta(_)) => 0b11,
                    _ => 0b00,
                };
                // A single bit says only that data are compressed: the low one.
                bits.push(code, self.parameters.data_diff_width());
            }
        }
    }

    /// A length and so many bytes. Spec: RVET-DATA-011, RVET-DATA-012 (ET 8.1.4).
    fn value(bits: &mut Bits, data: ReportedData, length: u8, size: u8) {
        bits.push(length.into(), size.into());
        push_wide(bits, data_bits(data), 8 * (u32::from(length) + 1));
    }

    /// A value that is the last field: as wide as the bus, extended from the access. An error's has no ones.
    fn last_value(&self, bits: &mut Bits, data: Option<ReportedData>, size: u8) {
        let value = data.map_or(0, |data| extend(data_bits(data), size));
        push_wide(bits, value, self.parameters.data_width_p.into());
    }

    /// Spec: RVET-DATA-005 (ET 8.1).
    fn address(&self, bits: &mut Bits, address: ReportedAddress, shift: u8) {
        let value = match address {
            ReportedAddress::Full(address) => address >> shift,
            ReportedAddress::Delta(delta) => (delta >> shift) as u64,
        };
        bits.push(value, self.parameters.daddress_width_p.into());
    }
}

/// Spec: RVET-DATA-016 (ET 8.1).
const fn response_code(data: Option<ReportedData>) -> u64 {
    match data {
        None => 0b00,
        Some(ReportedData::Xor(_)) => 0b01,
        Some(ReportedData::Full(_)) => 0b10,
        Some(ReportedData::Delta(_)) => 0b11,
    }
}

const fn address_bits(address: ReportedAddress) -> u64 {
    match address {
        ReportedAddress::Full(address) => address,
        ReportedAddress::Delta(delta) => delta as u64,
    }
}

pub(super) const fn data_bits(data: ReportedData) -> u128 {
    match data {
        ReportedData::Full(value) | ReportedData::Xor(value) => value,
        ReportedData::Delta(delta) => delta as u128,
    }
}

/// The low 2^`size` bytes with their top bit repeated above. `size` is 0 to 4.
pub(super) const fn extend(value: u128, size: u8) -> u128 {
    let unused = 128 - (8 << size);
    ((value << unused) as i128 >> unused) as u128
}

fn push_wide(bits: &mut Bits, value: u128, width: u32) {
    bits.push(value as u64, width.min(64));
    bits.push((value >> 64) as u64, width.saturating_sub(64));
}
