//! Data packets -> accesses.

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicData, AtomicRequest, Csr, DataEvent, DataLayout, DataPacket, DataParameters, Event,
    LoadData, LoadRequest, ReportedAddress, ReportedData, RiscvEtrace, Transfer, Xlen,
};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Sink};

use super::super::bits::at_bit;
use super::bases::{Bases, Restored};
use super::reader::Marks;
use super::requests::{Request, Requests};

/// Restores values that packets carry only as a difference, and joins requests and responses.
#[derive(Clone, Debug)]
pub(super) struct DataFlow {
    bases: Bases,
    requests: Requests,
    /// Operands are compressed as data are.
    compressed_operands: bool,
    /// Atomics have no response of their own.
    joint_responses: bool,
    /// Log2 of the bytes of a CSR.
    register: u8,
    /// There was a synchronisation packet (RVET-DATA-022).
    synchronised: bool,
}

/// Why an access is not reported.
enum Trouble {
    /// A fault at this bit of the payload.
    Fault(FaultClass, u32),
    /// A fault has already been reported.
    Silent,
}

impl DataFlow {
    pub(super) fn new(parameters: &DataParameters, xlen: Xlen) -> Self {
        Self {
            bases: Bases::new(parameters),
            requests: Requests::new(parameters),
            compressed_operands: parameters.compressed_operands,
            joint_responses: parameters.layout == DataLayout::MmaCas,
            register: if xlen == Xlen::Rv64 { 3 } else { 2 },
            synchronised: false,
        }
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self) {
        self.bases.forget();
        self.requests.clear();
        self.synchronised = false;
    }

    /// Every size starts over with full addresses and data. Spec: RVET-DATA-007, RVET-DATA-022 (ET 8.1.3).
    pub(super) fn synchronise(&mut self) {
        self.bases.forget();
        self.synchronised = true;
    }

    /// Packets are missing. Spec: RVET-DATA-024 (ET 7.5).
    pub(super) fn lose_packets(&mut self) {
        self.bases.forget();
        self.requests.clear();
    }

    /// A packet could not be read, which a fault has reported.
    pub(super) fn lose_bases(&mut self) {
        self.bases.lose();
    }

    /// Takes the next packet. `place` is the first bit of its payload.
    pub(super) fn packet<S>(&mut self, place: Place, packet: &DataPacket, marks: Marks, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let fault = |class, bit| Fault::new(class, at_bit(place, bit));
        if !self.synchronised {
            sink.fault(&fault(FaultClass::NotSynchronised, 0));
            return;
        }
        let mut reused = None;
        let event = match packet {
            DataPacket::Load(load) => self.transfer(load, marks).map(|(address, data)| {
                let &Transfer { size, multi, .. } = load;
                DataEvent::Load { address: address.map(Address), size, data, multi }
            }),
            DataPacket::Store(store) => self.transfer(store, marks).map(|(address, data)| {
                let &Transfer { size, multi, .. } = store;
                DataEvent::Store { address: address.map(Address), size, data, multi }
            }),
            DataPacket::LoadRequest(request) => self.load_request(request, marks, &mut reused),
            DataPacket::LoadData(data) => self.load_data(data, marks),
            DataPacket::Atomic(atomic) => self.atomic(atomic, marks),
            DataPacket::AtomicRequest(request) => self.atomic_request(request, marks, &mut reused),
            DataPacket::AtomicData(data) => self.atomic_data(data, marks),
            DataPacket::Csr(csr) => self.csr(csr, marks),
        };
        if let Some(bit) = reused {
            sink.fault(&fault(FaultClass::Contradiction, bit));
        }
        match event {
            Ok(event) => sink.event(place, &Event::Data(event)),
            Err(Trouble::Fault(class, bit)) => sink.fault(&fault(class, bit)),
            Err(Trouble::Silent) => {}
        }
    }

    fn transfer(
        &mut self,
        transfer: &Transfer,
        marks: Marks,
    ) -> Result<(Option<u64>, Option<u128>), Trouble> {
        let Transfer { size, unaligned, data, address, .. } = *transfer;
        let address = self.address(size, !unaligned, address, marks);
        let data = self.data(size, data, marks);
        Ok((address?, data?))
    }

    fn load_request(
        &mut self,
        request: &LoadRequest,
        marks: Marks,
        reused: &mut Option<u32>,
    ) -> Result<DataEvent, Trouble> {
        let LoadRequest { size, unaligned, multi, lrid, address } = *request;
        let address = self.address(size, !unaligned, Some(address), marks);
        let known = address.as_ref().ok().copied().flatten();
        if !self.requests.open(lrid, Request { op: None, size, address: known }) {
            *reused = Some(marks.lrid);
        }
        match address? {
            Some(address) => Ok(DataEvent::LoadRequest { lrid, address: Address(address), size, multi }),
            None => Err(Trouble::Silent),
        }
    }

    /// The data phase of a load, and in the MMA/CAS extension of an atomic.
    fn load_data(&mut self, response: &LoadData, marks: Marks) -> Result<DataEvent, Trouble> {
        let LoadData { size, lrid, data } = *response;
        let data = self.response(size, data, marks);
        let unknown = Trouble::Fault(FaultClass::Contradiction, marks.lrid);
        let ours = |request: &Request| request.op.is_none() || self.joint_responses;
        let request = self.requests.close(lrid).filter(ours).ok_or(unknown)?;
        if request.size != size {
            return Err(Trouble::Fault(FaultClass::Contradiction, marks.size));
        }
        let (address, data) = (request.address, data?);
        Ok(match request.op {
            None => DataEvent::LoadResponse { lrid, address: address.map(Address), size, data },
            Some(op) => DataEvent::AtomicResponse { op, lrid, address: address.map(Address), size, data },
        })
    }

    fn atomic(&mut self, atomic: &Atomic, marks: Marks) -> Result<DataEvent, Trouble> {
        let Atomic { op, size, operand, data, address, .. } = *atomic;
        let address = self.address(size, true, address, marks);
        // The operand travels first, which matters where it is compressed too.
        let operand = operand.map(|operand| self.operand(size, operand, marks)).transpose();
        // A failed compare-and-swap has an operand and no data; compressed, the operand is the latest base.
        let data = match (data, operand.as_ref()) {
            (None, Ok(Some(_))) if self.compressed_operands => Ok(None),
            _ => self.data(size, data, marks),
        };
        Ok(DataEvent::Atomic { op, address: address?.map(Address), size, operand: operand?, data: data? })
    }

    fn atomic_request(
        &mut self,
        request: &AtomicRequest,
        marks: Marks,
        reused: &mut Option<u32>,
    ) -> Result<DataEvent, Trouble> {
        let AtomicRequest { op, size, lrid, operand, address, .. } = *request;
        let address = self.address(size, true, address, marks);
        let operand = self.operand(size, operand, marks);
        let known = address.as_ref().ok().copied().flatten();
        if !self.requests.open(lrid, Request { op: Some(op), size, address: known }) {
            *reused = Some(marks.lrid);
        }
        Ok(DataEvent::AtomicRequest { op, lrid, address: address?.map(Address), size, operand: operand? })
    }

    /// The reader has found the request already, for its size.
    fn atomic_data(&mut self, response: &AtomicData, marks: Marks) -> Result<DataEvent, Trouble> {
        let AtomicData { size, lrid, data, .. } = *response;
        let data = self.response(size, data, marks);
        let unknown = Trouble::Fault(FaultClass::Contradiction, marks.lrid);
        let Some(Request { op: Some(op), address, .. }) = self.requests.close(lrid) else {
            return Err(unknown);
        };
        Ok(DataEvent::AtomicResponse { op, lrid, address: address.map(Address), size, data: data? })
    }

    /// Spec: RVET-DATA-019 to 021 (ET 8.3).
    fn csr(&mut self, csr: &Csr, marks: Marks) -> Result<DataEvent, Trouble> {
        let Csr { op, data, operand, address, .. } = *csr;
        let number = restored(self.bases.csr(address), marks);
        let data = self.data(self.register, data, marks);
        let operand = operand.map(|operand| self.operand(self.register, operand, marks)).transpose();
        Ok(DataEvent::Csr { op, address: number?, operand: operand?, data: data? })
    }

    /// The address of an access, if it travels. Spec: RVET-DATA-006, RVET-DATA-008 (ET 8.1).
    fn address(
        &mut self,
        size: u8,
        aligned: bool,
        address: Option<ReportedAddress>,
        marks: Marks,
    ) -> Result<Option<u64>, Trouble> {
        let Some(address) = address else {
            self.bases.forget_address(size);
            return Ok(None);
        };
        let address = restored(self.bases.address(size, address), marks)?;
        if aligned && address & ((1 << size) - 1) != 0 {
            self.bases.lose_address(size);
            return Err(Trouble::Fault(FaultClass::Contradiction, marks.address));
        }
        Ok(Some(address))
    }

    /// The data of an access, if they travel.
    fn data(&mut self, size: u8, data: Option<ReportedData>, marks: Marks) -> Result<Option<u128>, Trouble> {
        let Some(data) = data else {
            self.bases.forget_data(size);
            return Ok(None);
        };
        restored(self.bases.data(size, data), marks).map(Some)
    }

    /// The data of a response; an error leaves the latest data as they were.
    fn response(
        &mut self,
        size: u8,
        data: Option<ReportedData>,
        marks: Marks,
    ) -> Result<Option<u128>, Trouble> {
        data.map(|data| restored(self.bases.data(size, data), marks)).transpose()
    }

    fn operand(&mut self, size: u8, operand: ReportedData, marks: Marks) -> Result<u128, Trouble> {
        match operand {
            ReportedData::Full(value) if !self.compressed_operands => Ok(value),
            operand => restored(self.bases.data(size, operand), marks),
        }
    }
}

/// Spec: RVET-DATA-007 (ET 8.1.3).
fn restored<T>(value: Restored<T>, marks: Marks) -> Result<T, Trouble> {
    match value {
        Restored::Value(value) => Ok(value),
        Restored::Missing => Err(Trouble::Fault(FaultClass::NotSynchronised, marks.diff)),
        Restored::Lost => Err(Trouble::Silent),
    }
}
