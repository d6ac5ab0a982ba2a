//! Which data packets cannot travel, and why.

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, DataLayout, DataPacket, LoadData, LoadRequest,
    OfferedCompression, ReportedAddress, ReportedData, Transfer,
};

use super::fields::{DataFields, data_bits, extend};
use crate::riscv_etrace::unencodable::{Checked, Defect, fits, present};

impl DataFields {
    /// Whether `packet` can travel unchanged with the options in force.
    ///
    /// # Errors
    ///
    /// The first field at fault and its defect.
    pub(crate) fn check(&self, packet: &DataPacket) -> Checked {
        let options = self.options;
        let reduced = options.no_address || options.no_data;
        let whole = !self.parameters.split || reduced;
        let mma_cas = self.parameters.layout == DataLayout::MmaCas;
        let format = |exists: bool| if exists { Ok(()) } else { Err(("format", Defect::Unexpected)) };
        match packet {
            DataPacket::Load(load) => {
                format(whole)?;
                self.check_transfer(load)
            }
            DataPacket::Store(store) => self.check_transfer(store),
            DataPacket::LoadRequest(request) => {
                format(!whole)?;
                self.check_load_request(request)
            }
            DataPacket::LoadData(data) => {
                let of_atomic = mma_cas && self.parameters.atomics() && !options.no_data;
                format(self.parameters.split && (!reduced || of_atomic))?;
                self.check_load_data(data)
            }
            DataPacket::Atomic(atomic) => {
                // The requests of the MMA/CAS extension do not list a failed compare-and-swap.
                let alone = atomic.op == AtomicOperation::CompareAndSwapFailure;
                let unified = whole && !self.split_without_address();
                format(self.parameters.atomics() && (unified || alone))?;
                self.check_atomic(atomic)
            }
            DataPacket::AtomicRequest(request) => {
                format(self.parameters.atomics() && (!whole || self.split_without_address()))?;
                self.check_atomic_request(request)
            }
            DataPacket::AtomicData(data) => {
                format(self.parameters.atomics() && !mma_cas && (!whole || self.split_without_address()))?;
                self.check_atomic_data(data)
            }
            DataPacket::Csr(csr) => {
                format(self.parameters.csrs())?;
                self.check_csr(csr)
            }
        }
    }

    /// Whether split atomics have requests and responses of their own although packets have no addresses.
    const fn split_without_address(&self) -> bool {
        self.parameters.split && self.requests_without_address && self.options.no_address
    }

    fn check_transfer(&self, transfer: &Transfer) -> Checked {
        let &Transfer { size, unaligned, multi, data_len, data, address } = transfer;
        self.check_size(size)?;
        self.check_multi(multi)?;
        present("data", data.is_some(), !self.options.no_data)?;
        present("address", address.is_some(), !self.options.no_address)?;
        self.check_diff(address, data)?;
        Self::check_value("data_len", data_len, address.and(data), size)?;
        Self::check_data("data", data, size)?;
        self.check_address(address, if unaligned { 0 } else { size })
    }

    fn check_load_request(&self, request: &LoadRequest) -> Checked {
        let &LoadRequest { size, unaligned, multi, lrid, address } = request;
        self.check_size(size)?;
        self.check_multi(multi)?;
        self.check_lrid(lrid)?;
        self.check_address(Some(address), if unaligned { 0 } else { size })
    }

    fn check_load_data(&self, response: &LoadData) -> Checked {
        let &LoadData { size, lrid, data } = response;
        self.check_size(size)?;
        self.check_lrid(lrid)?;
        Self::check_data("data", data, size)
    }

    fn check_atomic(&self, atomic: &Atomic) -> Checked {
        let &Atomic { op, size, op_len, operand, data_len, data, address } = atomic;
        let no_data = self.options.no_data;
        self.check_operation(op)?;
        self.check_size(size)?;
        present("operand", operand.is_some(), !no_data)?;
        present("data", data.is_some(), !no_data && op != AtomicOperation::CompareAndSwapFailure)?;
        present("address", address.is_some(), !self.options.no_address)?;
        self.check_diff(address, data.or(operand))?;
        self.check_operand(operand, data)?;
        // Without an address the last value has no length.
        Self::check_value("op_len", op_len, operand.filter(|_| address.is_some() || data.is_some()), size)?;
        Self::check_data("operand", operand, size)?;
        Self::check_value("data_len", data_len, address.and(data), size)?;
        Self::check_data("data", data, size)?;
        self.check_address(address, size)
    }

    fn check_atomic_request(&self, request: &AtomicRequest) -> Checked {
        let &AtomicRequest { op, size, lrid, op_len, operand, address } = request;
        self.check_operation(op)?;
        if op == AtomicOperation::CompareAndSwapFailure {
            return Err(("subtype", Defect::Unexpected));
        }
        self.check_size(size)?;
        self.check_lrid(lrid)?;
        present("address", address.is_some(), !self.options.no_address)?;
        // Without an address the MMA/CAS extension gives `diff` two bits, whatever is offered.
        if address.is_some() {
            self.check_diff(address, Some(operand))?;
        }
        self.check_operand(Some(operand), None)?;
        Self::check_value("op_len", op_len, address.map(|_| operand), size)?;
        Self::check_data("operand", Some(operand), size)?;
        self.check_address(address, size)
    }

    fn check_atomic_data(&self, response: &AtomicData) -> Checked {
        let &AtomicData { size, lrid, data_len, data } = response;
        self.check_size(size)?;
        self.check_lrid(lrid)?;
        Self::check_value("data_len", data_len, data, size)?;
        Self::check_data("data", data, size)
    }

    fn check_csr(&self, csr: &Csr) -> Checked {
        let &Csr { op: _, data_len, data, op_len, operand, address } = csr;
        let (no_data, size) = (self.options.no_data, self.register);
        present("data", data.is_some(), !no_data)?;
        match address {
            ReportedAddress::Full(number) => {
                let writable = number >> 10 & 0b11 != 0b11;
                present("operand", operand.is_some(), !no_data && writable)?;
                fits("address", number, 12)?;
            }
            ReportedAddress::Delta(_) if !no_data => return Err(("address", Defect::WrongAddressMode)),
            ReportedAddress::Delta(delta) => {
                present("operand", operand.is_some(), false)?;
                fits_signed(delta, 12)?;
            }
        }
        self.check_diff(None, data)?;
        self.check_operand(operand, data)?;
        Self::check_value("data_len", data_len, data, size)?;
        Self::check_data("data", data, size)?;
        Self::check_value("op_len", op_len, operand, size)?;
        Self::check_data("operand", operand, size)
    }

    fn check_size(&self, size: u8) -> Checked {
        if size <= self.parameters.max_size() { Ok(()) } else { Err(("size", Defect::TooWide)) }
    }

    fn check_multi(&self, multi: bool) -> Checked {
        let known = self.parameters.layout == DataLayout::MmaCas && self.parameters.dtype_width_p >= 2;
        if multi && !known { Err(("format", Defect::Unexpected)) } else { Ok(()) }
    }

    fn check_lrid(&self, lrid: u16) -> Checked {
        fits("lrid", lrid.into(), self.parameters.lrid_width_p.into())
    }

    fn check_operation(&self, op: AtomicOperation) -> Checked {
        let exists = match op {
            AtomicOperation::ConditionalStoreFailure => self.options.no_data,
            // The MMA/CAS extension lists it with an address or with both.
            AtomicOperation::CompareAndSwapFailure => {
                self.parameters.layout == DataLayout::MmaCas && !self.options.no_address
            }
            _ => true,
        };
        if exists { Ok(()) } else { Err(("subtype", Defect::Unexpected)) }
    }

    /// Spec: RVET-DATA-009, RVET-DATA-010 (ET 8.1.3).
    fn check_diff(&self, address: Option<ReportedAddress>, data: Option<ReportedData>) -> Checked {
        let compressed = !matches!(data, None | Some(ReportedData::Full(_)));
        match address {
            Some(ReportedAddress::Full(_)) if compressed => return Err(("diff", Defect::Unexpected)),
            Some(_) => return Ok(()),
            None => {}
        }
        let offered = match data {
            Some(ReportedData::Xor(_)) => self.parameters.offered != OfferedCompression::Differential,
            Some(ReportedData::Delta(_)) => self.parameters.offered != OfferedCompression::Xor,
            _ => true,
        };
        if offered { Ok(()) } else { Err(("diff", Defect::Unexpected)) }
    }

    /// An operand is compressed as its data are, or not at all.
    fn check_operand(&self, operand: Option<ReportedData>, data: Option<ReportedData>) -> Checked {
        let kind = |value: ReportedData| core::mem::discriminant(&value);
        let agrees = match (operand, data) {
            (None, _) => true,
            (Some(operand), _) if !self.parameters.compressed_operands => {
                matches!(operand, ReportedData::Full(_))
            }
            (Some(operand), Some(data)) => kind(operand) == kind(data),
            (Some(_), None) => true,
        };
        if agrees { Ok(()) } else { Err(("operand", Defect::Unexpected)) }
    }

    /// `data`: the value that the length is about.
    fn check_value(field: &'static str, length: u8, data: Option<ReportedData>, size: u8) -> Checked {
        let Some(data) = data else { return present(field, length != 0, false) };
        fits(field, length.into(), size.into())?;
        let (value, unused) = (extend(data_bits(data), size), 128 - 8 * (u32::from(length) + 1));
        let kept = (value << unused) as i128 >> unused;
        if kept as u128 == value { Ok(()) } else { Err((field, Defect::TooWide)) }
    }

    fn check_data(field: &'static str, data: Option<ReportedData>, size: u8) -> Checked {
        let unused = 128 - (8 << u32::from(size));
        let whole = match data {
            None => true,
            Some(ReportedData::Full(value) | ReportedData::Xor(value)) => value << unused >> unused == value,
            Some(ReportedData::Delta(delta)) => delta << unused >> unused == delta,
        };
        if whole { Ok(()) } else { Err((field, Defect::TooWide)) }
    }

    /// Spec: RVET-DATA-006 (ET 8.1.1).
    fn check_address(&self, address: Option<ReportedAddress>, shift: u8) -> Checked {
        let multiple = |value: u64| value & ((1 << shift) - 1) == 0;
        let width = u32::from(self.parameters.daddress_width_p);
        match address {
            Some(ReportedAddress::Full(address)) if multiple(address) => fits("address", address, width),
            Some(ReportedAddress::Delta(delta)) if multiple(delta as u64) => fits_signed(delta, width),
            None => Ok(()),
            _ => Err(("address", Defect::Unaligned)),
        }
    }
}

const fn fits_signed(delta: i64, width: u32) -> Checked {
    let unused = 64 - width;
    if (delta << unused) >> unused == delta { Ok(()) } else { Err(("address", Defect::TooWide)) }
}
