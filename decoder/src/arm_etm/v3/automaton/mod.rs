//! Bytes -> packets: the byte automaton.

use traceproof_vectors::arm_etm::Packet;
use traceproof_vectors::{Fault, FaultClass, Place};

use super::address_bytes::AddressBytes;
use super::fields::{self, Fields};
use super::headers::Header;
use super::listener::Listener;
use super::value_bytes::{LittleEndian, SevenBits};
use crate::arm::alignment::{END, Search};
use state::{Broken, Open, State};

mod branches;
mod data;
mod numbers;
mod state;
mod syncs;

pub(super) use state::Automaton;

impl Automaton {
    /// Consumes the start of `chunk`, which has a byte: a header, another byte of a packet, or all up to the next
    /// packet. Gives the rest.
    pub(in crate::arm_etm::v3) fn next<'a, L: Listener + ?Sized>(
        &mut self,
        chunk: &'a [u8],
        listener: &mut L,
    ) -> &'a [u8] {
        let Some((&byte, rest)) = chunk.split_first() else { return &[] };
        let taken = match &mut self.state {
            State::Header => self.open_packet(byte, self.headers.of(byte), listener),
            State::Search(search) => {
                let end = search.look(self.offset, chunk);
                let passed = end.unwrap_or(chunk.len());
                self.offset += passed as u64;
                if end.is_some() {
                    self.found(listener);
                }
                return chunk.get(passed..).unwrap_or_default();
            }
            _ => self.take(byte, listener),
        };
        if taken { rest } else { chunk }
    }

    /// The record of a bare port whose second byte is at hand makes no sense.
    pub(in crate::arm_etm::v3) fn lose_record<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        if let State::Zero(zeros) = self.state {
            self.zero_fields(zeros, listener);
        }
        self.lose(Broken { class: FaultClass::Framing, byte: self.offset - 1 }, listener);
        self.state = State::Search(Search::from(self.offset + 1));
    }

    /// The stream ends here; whether a packet is cut off.
    pub(in crate::arm_etm::v3) fn finish<L: Listener + ?Sized>(&mut self, listener: &mut L) -> bool {
        match self.state {
            State::Search(Search { start, .. }) => {
                if start < self.offset {
                    listener.skipped(start..self.offset);
                }
                false
            }
            State::Header => false,
            State::Zero(zeros) => {
                self.zero_fields(zeros, listener);
                true
            }
            _ => true,
        }
    }

    /// A search ended before `offset`.
    fn found<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let State::Search(Search { start, zeros, first_zero, .. }) = self.state else { return };
        self.open = Open { start: first_zero, ..Open::default() };
        if start < first_zero {
            listener.skipped(start..first_zero);
        }
        self.zero_fields(zeros, listener);
        if L::TAKES_FIELDS {
            listener.field("end", self.offset - 1, 0, 8, END.into());
        }
        self.complete(&Packet::AlignmentSync { zeros }, listener);
    }

    /// Takes a header of any kind. Whether it did; if not, it is at fault.
    fn open_packet<L: Listener + ?Sized>(&mut self, byte: u8, header: Header, listener: &mut L) -> bool {
        self.open = Open { start: self.offset, header: byte, ..Open::default() };
        let begun = self.begin(byte, header, listener);
        self.conclude(begun, listener)
    }

    /// Takes a byte after a header. Whether it did; if not, it is at fault, or begins something else.
    fn take<L: Listener + ?Sized>(&mut self, byte: u8, listener: &mut L) -> bool {
        let taken = self.step(byte, listener);
        self.conclude(taken, listener)
    }

    #[inline]
    fn conclude<L: Listener + ?Sized>(
        &mut self,
        result: Result<Option<Packet>, Broken>,
        listener: &mut L,
    ) -> bool {
        match result {
            Ok(packet) => {
                self.offset += 1;
                if let Some(packet) = packet {
                    self.complete(&packet, listener);
                }
                true
            }
            Err(broken) => {
                self.lose(broken, listener);
                false
            }
        }
    }

    fn complete<L: Listener + ?Sized>(&mut self, packet: &Packet, listener: &mut L) {
        let place = Place { packet: self.index, byte: self.open.start, bit: 0 };
        self.state = State::Header;
        self.index += 1;
        listener.packet(place, packet);
    }

    /// Spec: ETM3-HDR-004, ETM3-SYN-005 (7.2, 7.10).
    #[cold]
    fn lose<L: Listener + ?Sized>(&mut self, broken: Broken, listener: &mut L) {
        let place = Place { packet: self.index, byte: broken.byte, bit: 0 };
        match self.state {
            // A header counts from its own byte on; only records of a bare port break between packets.
            State::Header if broken.byte < self.offset => {}
            State::Search(Search { start, .. }) => {
                if start < broken.byte {
                    listener.skipped(start..broken.byte);
                }
            }
            _ => self.index += 1,
        }
        // The byte at fault may begin an A-sync, but it is reported already.
        let reported = u64::from(broken.byte == self.offset);
        let search = Search::from(self.offset);
        self.state = State::Search(Search { start: self.offset + reported, ..search });
        self.arm = true;
        listener.lost(&Fault::new(broken.class, place));
    }

    /// The first byte of a packet.
    fn begin<L: Listener + ?Sized>(
        &mut self,
        byte: u8,
        header: Header,
        listener: &mut L,
    ) -> Result<Option<Packet>, Broken> {
        if L::TAKES_FIELDS {
            fields::header(Fields { listener, offset: self.offset }, byte, header);
        }
        match header {
            Header::Atoms => return Ok(Some(Packet::PHeader(byte))),
            Header::Trigger => return Ok(Some(Packet::Trigger)),
            Header::DataSuppressed => return Ok(Some(Packet::DataSuppressed)),
            Header::StoreFailed => return Ok(Some(Packet::StoreFailed)),
            Header::Ignore => return Ok(Some(Packet::Ignore)),
            Header::ExceptionExit => return Ok(Some(Packet::ExceptionExit)),
            Header::ExceptionEntry => return Ok(Some(Packet::ExceptionEntry)),
            Header::WholeBranch | Header::Branch => return self.branch(AddressBytes::EMPTY, byte, listener),
            Header::NormalData | Header::Placeholder | Header::ValueNotTraced => {
                return Ok(self.data_packet(byte));
            }
            Header::OutOfOrderData => return Ok(self.value(LittleEndian::of_ss(byte >> 2 & 3))),
            Header::Reserved => return Err(self.broken(FaultClass::ReservedEncoding)),
            Header::Illegal => return Err(self.broken(FaultClass::IllegalInState)),
            Header::AlignmentSync => self.state = State::Zero(1),
            Header::CycleCount => self.state = State::CycleCount(SevenBits::EMPTY),
            Header::InstructionSyncWithCycles => self.state = State::SyncCycles(SevenBits::EMPTY),
            Header::InstructionSync => self.sync_context(),
            Header::ContextId => {
                self.state = State::ContextId(LittleEndian::of_bytes(self.layout.context_id_bytes));
            }
            Header::Vmid => self.state = State::Vmid,
            Header::Timestamp => self.state = State::Timestamp(SevenBits::EMPTY),
        }
        Ok(None)
    }

    /// Any other byte of a packet.
    fn step<L: Listener + ?Sized>(&mut self, byte: u8, listener: &mut L) -> Result<Option<Packet>, Broken> {
        match self.state {
            State::Header | State::Search(_) => Ok(None),
            State::Zero(zeros) => self.zero(zeros, byte, listener),
            State::Branch(address) => self.branch(address, byte, listener),
            State::Exception(exception) => self.exception(exception, byte, listener),
            State::CycleCount(count) => {
                let Some(count) = self.cycles(count, byte, listener)? else { return Ok(None) };
                Ok(Some(Packet::CycleCount(count.field())))
            }
            State::SyncCycles(count) => {
                if let Some(count) = self.cycles(count, byte, listener)? {
                    self.open.cycle_count = Some(count.field());
                    self.sync_context();
                }
                Ok(None)
            }
            State::SyncContext(context) => {
                if let Some(value) = self.number("context_id", context, State::SyncContext, byte, listener) {
                    self.open.context_id = Some(value);
                    self.state = State::SyncInformation;
                }
                Ok(None)
            }
            State::SyncInformation => self.information(byte, listener),
            State::SyncAddress(address) => {
                let value = self.number("address", address, State::SyncAddress, byte, listener);
                Ok(value.and_then(|value| self.sync_address(value)))
            }
            State::SyncCurrent(address) => self.current(address, byte, listener),
            State::ContextId(context) => {
                let value = self.number("context_id", context, State::ContextId, byte, listener);
                Ok(value.map(|value| Packet::ContextId { more: false, value }))
            }
            State::Vmid => {
                self.whole_byte("vmid", byte, listener);
                Ok(Some(Packet::Vmid(byte)))
            }
            State::DataAddress(address) => self.data_address(address, byte, listener),
            State::Value(value) => {
                let value = self.number("value", value, State::Value, byte, listener);
                Ok(value.map(|value| self.with_value(Some(value))))
            }
            State::Timestamp(value) => Ok(self.timestamp(value, byte, listener)),
        }
    }
}
