//! Payload -> data packet: the field layouts of ET 8, and of the extension for multi-memory accesses and
//! compare-and-swap.

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, CsrOperation, DataLayout, DataOptions,
    DataPacket, DataParameters, LoadData, LoadRequest, OfferedCompression, Parameters, ReportedAddress,
    ReportedData, Transfer, Xlen,
};
use traceproof_vectors::{Fault, FaultClass, Place};

use super::super::Payload;
use super::super::bits::{Fields, Observer};
use super::formats::{Direction, Format, formats};

/// Width of a CSR number, and of each of its two fields. Spec: RVET-DATA-020 (ET 8.3).
const CSR_ADDRESS: u32 = 12;
const CSR_PART: u32 = CSR_ADDRESS / 2;

/// Bits 11 and 10 of the number of a read-only register, in `addr_msbs`. Spec: RVET-DATA-021 (ET 8.3).
const READ_ONLY: u64 = 0b11 << 4;

/// Reads data packets one after the other.
#[derive(Clone, Debug)]
pub(in crate::riscv_etrace) struct DataReader {
    parameters: DataParameters,
    /// Log2 of the bytes of a CSR.
    register: u8,
    options: DataOptions,
    /// Atomics of a split interface are two packets without address, too.
    requests_without_address: bool,
    /// What each code of `format` is with these options.
    formats: [Format; 8],
    /// Of each `lrid`, the size of the atomic that is in flight. Spec: RVET-DATA-015 (ET 8.2).
    atomics: Vec<Option<u8>>,
    marks: Marks,
}

/// Where the fields of the latest packet start that may be at fault for what it means. Bits of the payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) size: u32,
    pub(super) lrid: u32,
    /// `diff` or `resp`.
    pub(super) diff: u32,
    pub(super) address: u32,
}

/// How a value travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Full,
    Xor,
    Difference,
}

/// `diff` where address and data travel. Spec: RVET-DATA-009 (ET 8.1).
const BOTH: [(Coding, Coding); 4] = [
    (Coding::Full, Coding::Full),
    (Coding::Difference, Coding::Xor),
    (Coding::Difference, Coding::Full),
    (Coding::Difference, Coding::Difference),
];

impl DataReader {
    /// A reader at the start of a stream; `None` where the parameters have no data trace.
    pub(in crate::riscv_etrace) fn new(parameters: &Parameters) -> Option<Self> {
        let data = parameters.data?;
        // Spec: RVET5-ENC-017 (ET 8.1; issues 301 and 318 of the specification).
        let later = data.layout == DataLayout::MmaCas || parameters.has_standard_support();
        Some(Self {
            requests_without_address: later,
            parameters: data,
            register: if parameters.xlen == Xlen::Rv64 { 3 } else { 2 },
            options: data.options,
            formats: formats(&data, data.options, later),
            atomics: vec![None; if data.split { 1 << data.lrid_width_p } else { 0 }],
            marks: Marks::default(),
        })
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self) {
        self.set_options(self.parameters.options);
        self.forget_requests();
    }

    /// Other options are in force for the packets that follow.
    pub(super) fn set_options(&mut self, options: DataOptions) {
        self.options = options;
        self.formats = formats(&self.parameters, options, self.requests_without_address);
    }

    /// Nothing is known of requests in flight.
    pub(super) fn forget_requests(&mut self) {
        self.atomics.fill(None);
    }

    /// Where the fields of the latest packet are.
    pub(super) const fn marks(&self) -> Marks {
        self.marks
    }

    /// Reads one packet. `place` is the first bit of its payload.
    ///
    /// # Errors
    ///
    /// * `ReservedEncoding` at the field: a `format`, `subformat`, `subtype` or `diff` without meaning, or a `size`
    ///   beyond the bus;
    /// * `IllegalInState` at `format`: a response where the options say that there are none;
    /// * `InvalidReference` at `lrid`: atomic data without request, whose size they have;
    /// * `Overlong` after the last field, as for instruction trace.
    pub(super) fn read(&mut self, place: Place, payload: &Payload) -> Result<DataPacket, Fault> {
        self.read_observed(place, payload, &mut ())
    }

    /// As [`read`](Self::read), and passes every field to `observer`.
    pub(super) fn read_observed<O: Observer>(
        &mut self,
        place: Place,
        payload: &Payload,
        observer: &mut O,
    ) -> Result<DataPacket, Fault> {
        self.marks = Marks::default();
        let mut fields = Fields::new(payload, place, observer);
        let packet = self.fields(&mut fields)?;
        fields.finish()?;
        self.follow(&packet);
        Ok(packet)
    }

    /// Spec: RVET-DATA-002, RVET-DATA-003 (ET 8.1.1).
    fn fields<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Result<DataPacket, Fault> {
        let code = fields.take("format", self.parameters.format_width());
        match self.formats.get(code as usize).copied().unwrap_or_default() {
            Format::Reserved => Err(fields.fault(FaultClass::ReservedEncoding, 0)),
            Format::Excluded => Err(fields.fault(FaultClass::IllegalInState, 0)),
            Format::Transfer(direction) => self.transfer(direction, fields),
            Format::LoadRequest(direction) => self.load_request(direction, fields),
            Format::LoadData => self.load_data(fields),
            Format::AtomicData => self.atomic_data(fields),
            Format::Csr => {
                let bit = fields.position();
                match CsrOperation::ALL.get(fields.take("subtype", 2) as usize) {
                    Some(&op) => self.csr(op, fields),
                    None => Err(fields.fault(FaultClass::ReservedEncoding, bit)),
                }
            }
            Format::Atomic => {
                let bit = fields.position();
                let op = AtomicOperation::from_dtype(8 + fields.take("subtype", 3) as u8);
                self.atomic_operation(op, bit, fields)
            }
            Format::Memory { multi } => {
                let subformat = fields.take("subformat", 2);
                let direction = Direction { store: subformat & 2 != 0, unaligned: subformat & 1 != 0, multi };
                if self.parameters.split && !direction.store && !self.is_reduced() {
                    self.load_request(direction, fields)
                } else {
                    self.transfer(direction, fields)
                }
            }
            Format::Register => {
                let bit = fields.position();
                let dtype = fields.take("subformat", 4) as u8;
                match CsrOperation::ALL.into_iter().find(|op| op.dtype() == dtype) {
                    Some(op) => self.csr(op, fields),
                    None => self.atomic_operation(AtomicOperation::from_dtype(dtype), bit, fields),
                }
            }
        }
    }

    const fn is_reduced(&self) -> bool {
        self.options.no_address || self.options.no_data
    }

    /// Requests and responses have an effect on how later packets are read.
    fn follow(&mut self, packet: &DataPacket) {
        let (lrid, size) = match *packet {
            DataPacket::AtomicRequest(AtomicRequest { lrid, size, .. }) => (lrid, Some(size)),
            DataPacket::LoadRequest(LoadRequest { lrid, .. })
            | DataPacket::LoadData(LoadData { lrid, .. })
            | DataPacket::AtomicData(AtomicData { lrid, .. }) => (lrid, None),
            _ => return,
        };
        if let Some(entry) = self.atomics.get_mut(usize::from(lrid)) {
            *entry = size;
        }
    }

    /// Unified load, or store. Spec: RVET-DATA-013 (ET 8.1).
    fn transfer<O: Observer>(
        &mut self,
        direction: Direction,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let Direction { store, unaligned, multi } = direction;
        let size = self.size(fields)?;
        let shift = if unaligned { 0 } else { size };
        let mut transfer = Transfer { size, unaligned, multi, data_len: 0, data: None, address: None };
        if self.options.no_data {
            let coding = self.address_diff(fields);
            transfer.address = Some(self.address(coding, shift, fields));
        } else if self.options.no_address {
            let coding = self.data_diff(fields)?;
            transfer.data = Some(self.last_data("data", coding, size, fields));
        } else {
            let (address, data) = self.both_diff(fields);
            let (data_len, value) = counted(("data_len", "data"), u32::from(size), data, size, fields);
            (transfer.data_len, transfer.data) = (data_len, Some(value));
            transfer.address = Some(self.address(address, shift, fields));
        }
        Ok(if store { DataPacket::Store(transfer) } else { DataPacket::Load(transfer) })
    }

    /// Spec: RVET-DATA-013, RVET-DATA-015 (ET 8.1).
    fn load_request<O: Observer>(
        &mut self,
        direction: Direction,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let Direction { unaligned, multi, .. } = direction;
        let size = self.size(fields)?;
        let lrid = self.lrid(fields);
        let coding = self.address_diff(fields);
        let address = self.address(coding, if unaligned { 0 } else { size }, fields);
        Ok(DataPacket::LoadRequest(LoadRequest { size, unaligned, multi, lrid, address }))
    }

    /// Spec: RVET-DATA-013, RVET-DATA-016 (ET 8.1). The table has the data on error too; they mean nothing then.
    fn load_data<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Result<DataPacket, Fault> {
        let size = self.size(fields)?;
        let lrid = self.lrid(fields);
        let coding = self.response(fields);
        let value = self.last_data("data", coding.unwrap_or(Coding::Full), size, fields);
        Ok(DataPacket::LoadData(LoadData { size, lrid, data: coding.map(|_| value) }))
    }

    /// Spec: RVET-DATA-016, RVET-DATA-017 (ET 8.2).
    fn atomic_data<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Result<DataPacket, Fault> {
        let lrid = self.lrid(fields);
        let size = self.atomics.get(usize::from(lrid)).copied().flatten();
        let size = size.ok_or_else(|| fields.fault(FaultClass::InvalidReference, self.marks.lrid))?;
        let mut atomic = AtomicData { size, lrid, data_len: 0, data: None };
        if let Some(coding) = self.response(fields) {
            let (data_len, data) = counted(("data_len", "data"), u32::from(size), coding, size, fields);
            (atomic.data_len, atomic.data) = (data_len, Some(data));
        }
        Ok(DataPacket::AtomicData(atomic))
    }

    /// Whether the operation may be reported here; its name was read at `bit`. Spec: RVET-DATA-018 (ET 8.2).
    fn atomic_operation<O: Observer>(
        &mut self,
        op: Option<AtomicOperation>,
        bit: u32,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let reserved = match op {
            None => true,
            Some(AtomicOperation::ConditionalStoreFailure) => !self.options.no_data,
            // Without address there is no packet for it, nor is there one among the split ones.
            Some(AtomicOperation::CompareAndSwapFailure) => self.options.no_address,
            Some(_) => false,
        };
        match op.filter(|_| !reserved && self.parameters.atomics()) {
            Some(op) => self.atomic(op, fields),
            None => Err(fields.fault(FaultClass::ReservedEncoding, bit)),
        }
    }

    /// Spec: RVET-DATA-013, RVET-DATA-019 (ET 8.2).
    fn atomic<O: Observer>(
        &mut self,
        op: AtomicOperation,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let failed = op == AtomicOperation::CompareAndSwapFailure;
        let DataOptions { no_address, no_data, .. } = self.options;
        let size = self.size(fields)?;
        if self.parameters.split && !failed && !no_data && (self.requests_without_address || !no_address) {
            return self.atomic_request(op, size, fields);
        }
        let mut atomic =
            Atomic { op, size, op_len: 0, operand: None, data_len: 0, data: None, address: None };
        let address = if no_data {
            self.address_diff(fields)
        } else {
            let (address, coding) =
                if no_address { (Coding::Full, self.data_diff(fields)?) } else { self.both_diff(fields) };
            let length = u32::from(size);
            let (op_len, operand) =
                counted(("op_len", "operand"), length, self.operand(coding), size, fields);
            (atomic.op_len, atomic.operand) = (op_len, Some(operand));
            if no_address {
                atomic.data = Some(self.last_data("data", coding, size, fields));
            } else if !failed {
                let (data_len, data) = counted(("data_len", "data"), length, coding, size, fields);
                (atomic.data_len, atomic.data) = (data_len, Some(data));
            }
            address
        };
        if !no_address {
            atomic.address = Some(self.address(address, size, fields));
        }
        Ok(DataPacket::Atomic(atomic))
    }

    /// Spec: RVET-DATA-013, RVET-DATA-015 (ET 8.2).
    fn atomic_request<O: Observer>(
        &mut self,
        op: AtomicOperation,
        size: u8,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let lrid = self.lrid(fields);
        let (op_len, operand, address) = if self.options.no_address {
            // Here the tables have two bits whatever is offered (RVET5-PKT-020).
            let coding = self.data_diff_of(2, fields)?;
            (0, self.last_data("operand", self.operand(coding), size, fields), None)
        } else {
            let (address, coding) = self.both_diff(fields);
            let coding = self.operand(coding);
            let (op_len, operand) = counted(("op_len", "operand"), u32::from(size), coding, size, fields);
            (op_len, operand, Some(self.address(address, size, fields)))
        };
        Ok(DataPacket::AtomicRequest(AtomicRequest { op, size, lrid, op_len, operand, address }))
    }

    /// Spec: RVET-DATA-020, RVET-DATA-021 (ET 8.3).
    fn csr<O: Observer>(
        &mut self,
        op: CsrOperation,
        fields: &mut Fields<'_, O>,
    ) -> Result<DataPacket, Fault> {
        let mut csr =
            Csr { op, data_len: 0, data: None, op_len: 0, operand: None, address: ReportedAddress::Full(0) };
        let mut address = Coding::Full;
        let mut coding = Coding::Full;
        let length = u32::from(self.register);
        if self.options.no_data {
            address = self.address_diff(fields);
        } else {
            coding = self.data_diff(fields)?;
            let (data_len, data) = counted(("data_len", "data"), length, coding, self.register, fields);
            (csr.data_len, csr.data) = (data_len, Some(data));
        }
        self.marks.address = fields.position();
        let top = fields.take("addr_msbs", CSR_PART);
        if !self.options.no_data && top & READ_ONLY != READ_ONLY {
            let coding = self.operand(coding);
            let (op_len, operand) = counted(("op_len", "operand"), length, coding, self.register, fields);
            (csr.op_len, csr.operand) = (op_len, Some(operand));
        }
        let number = top << CSR_PART | fields.take("addr_lsbs", CSR_PART);
        csr.address = reported_address(address, number, CSR_ADDRESS);
        Ok(DataPacket::Csr(csr))
    }

    /// Spec: RVET-DATA-004 (ET 8.1).
    fn size<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Result<u8, Fault> {
        let bit = fields.position();
        self.marks.size = bit;
        let size = fields.take("size", self.parameters.size_width()) as u8;
        if size > self.parameters.max_size() {
            return Err(fields.fault(FaultClass::ReservedEncoding, bit));
        }
        Ok(size)
    }

    fn lrid<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> u16 {
        self.marks.lrid = fields.position();
        fields.take("lrid", self.parameters.lrid_width_p.into()) as u16
    }

    /// `diff` before address and data.
    fn both_diff<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> (Coding, Coding) {
        self.marks.diff = fields.position();
        let [full, ..] = BOTH;
        BOTH.get(fields.take("diff", 2) as usize).copied().unwrap_or(full)
    }

    /// `diff` before an address. Spec: RVET-DATA-009 (ET 8.1).
    fn address_diff<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Coding {
        self.marks.diff = fields.position();
        if fields.flag("diff") { Coding::Difference } else { Coding::Full }
    }

    /// `diff` before data. Spec: RVET-DATA-009, RVET-DATA-010 (ET 8.1.3).
    fn data_diff<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Result<Coding, Fault> {
        self.data_diff_of(self.parameters.data_diff_width(), fields)
    }

    fn data_diff_of<O: Observer>(&mut self, width: u32, fields: &mut Fields<'_, O>) -> Result<Coding, Fault> {
        let bit = fields.position();
        self.marks.diff = bit;
        match (fields.take("diff", width), width, self.parameters.offered) {
            (0, _, _) => Ok(Coding::Full),
            (1, 1, OfferedCompression::Differential) | (3, _, _) => Ok(Coding::Difference),
            (1, _, _) => Ok(Coding::Xor),
            _ => Err(fields.fault(FaultClass::ReservedEncoding, bit)),
        }
    }

    /// `None` on error. Spec: RVET-DATA-016 (ET 8.1).
    fn response<O: Observer>(&mut self, fields: &mut Fields<'_, O>) -> Option<Coding> {
        self.marks.diff = fields.position();
        match fields.take("resp", 2) {
            0 => None,
            1 => Some(Coding::Xor),
            2 => Some(Coding::Full),
            _ => Some(Coding::Difference),
        }
    }

    /// How an operand travels where data travel as `coding`.
    const fn operand(&self, coding: Coding) -> Coding {
        if self.parameters.compressed_operands { coding } else { Coding::Full }
    }

    /// A byte address of which the low `shift` bits do not travel. Spec: RVET-DATA-005 (ET 8.1).
    fn address<O: Observer>(
        &mut self,
        coding: Coding,
        shift: u8,
        fields: &mut Fields<'_, O>,
    ) -> ReportedAddress {
        self.marks.address = fields.position();
        let width = u32::from(self.parameters.daddress_width_p);
        let value = fields.take("address", width) << shift & self.parameters.address_mask();
        reported_address(coding, value, width)
    }

    /// Data that are the last field of a packet, as wide as the bus. Spec: RVET-DATA-013 (ET 8.1).
    fn last_data<O: Observer>(
        &self,
        name: &'static str,
        coding: Coding,
        size: u8,
        fields: &mut Fields<'_, O>,
    ) -> ReportedData {
        let width = u32::from(self.parameters.data_width_p);
        reported_data(coding, fields.take_wide(name, width), width, size)
    }
}

/// A value after its length. Spec: RVET-DATA-011, RVET-DATA-012 (ET 8.1.4).
fn counted<O: Observer>(
    (length_name, name): (&'static str, &'static str),
    length_width: u32,
    coding: Coding,
    size: u8,
    fields: &mut Fields<'_, O>,
) -> (u8, ReportedData) {
    let length = fields.take(length_name, length_width) as u8;
    let width = 8 * (u32::from(length) + 1);
    (length, reported_data(coding, fields.take_wide(name, width), width, size))
}

/// The low `width` bits of `value`, as they stand for an access of 2^`size` bytes.
const fn reported_data(coding: Coding, value: u128, width: u32, size: u8) -> ReportedData {
    let unused = 128 - width;
    let extended = ((value << unused).cast_signed()) >> unused;
    let beyond = 128 - (8 << size);
    match coding {
        Coding::Full => ReportedData::Full(extended.cast_unsigned() << beyond >> beyond),
        Coding::Xor => ReportedData::Xor(extended.cast_unsigned() << beyond >> beyond),
        Coding::Difference => ReportedData::Delta((extended << beyond) >> beyond),
    }
}

/// The low `width` (1 to 64) bits of `value`.
const fn reported_address(coding: Coding, value: u64, width: u32) -> ReportedAddress {
    match coding {
        Coding::Difference => {
            let unused = 64 - width;
            ReportedAddress::Delta((value << unused).cast_signed() >> unused)
        }
        _ => ReportedAddress::Full(value),
    }
}
