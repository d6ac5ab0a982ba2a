//! Pairs statuses with their bytes, in program order -> packets and events.

use traceproof_vectors::arm_etm::{Event, Isa, Packet, Parameters, Value, VectorBase};
use traceproof_vectors::{Address, Address32, DecoderState, Fault, FaultClass, Place, Program};

use super::data::{Data, DataTrace};
use super::flow::{Flow, Here};
use super::held::Held;
use super::listener::{Consequence, Listener};
use super::packet::{PacketReader, Wanted};
use super::waiting::{Kind, Status, Waiting};
use crate::arm_etm::v2::FifoByte;

mod branches;

/// Reports every status when its address and data have come out of the FIFO.
#[derive(Clone, Debug)]
pub(super) struct Pairing {
    record_size: u64,
    latency: bool,
    hivecs: VectorBase,
    waiting: Waiting,
    /// What the first status that waits needs.
    stage: Stage,
    /// Bytes belong to nothing up to the next branch address.
    passing: bool,
    reader: PacketReader,
    /// First bit of the packet that is being read.
    opened: Option<Place>,
    /// Index of the packet that is being read or comes next.
    packet: u64,
    flow: Flow,
    data: DataTrace,
    /// What is known of the first status that waits, if that is BD.
    held: Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not examined, or nothing waits.
    New,
    /// These data packets.
    Data(Data),
    /// A branch address that has not begun.
    Address,
    /// The rest of a branch address.
    Reading {
        /// It cut off data.
        cut: bool,
    },
}

/// Why synchronisation is lost, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defect {
    pub(super) class: FaultClass,
    pub(super) byte: u64,
    pub(super) bit: u8,
}

impl Pairing {
    /// For people: what waits for its bytes, and where execution is.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        let (next, base) = self.flow.shown();
        let state = state
            .with("statuses that wait for bytes", self.waiting.len())
            .with("next instruction", next)
            .with("branch address base", base);
        self.data.shown(state)
    }

    pub(super) fn new(
        parameters: &Parameters,
        program: &Program,
        record_size: usize,
        pending: usize,
    ) -> Self {
        Self {
            record_size: record_size as u64,
            latency: parameters.fifo_latency > 0,
            hivecs: parameters.hivecs,
            waiting: Waiting::new(pending),
            stage: Stage::New,
            passing: false,
            reader: PacketReader::new(parameters),
            opened: None,
            packet: 0,
            flow: Flow::new(program),
            data: DataTrace::new(parameters),
            held: Held::default(),
        }
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self, parameters: &Parameters) {
        self.waiting.clear();
        self.stage = Stage::New;
        self.passing = false;
        self.reader.clear();
        self.opened = None;
        self.packet = 0;
        self.flow.reset();
        self.data = DataTrace::new(parameters);
        self.held.clear();
    }

    pub(super) fn place(&self, byte: u64, bit: u8) -> Place {
        Place { packet: self.packet, byte, bit }
    }

    /// That of a status.
    fn status_place(&self, cycle: u64) -> Place {
        self.place(cycle * self.record_size, 0)
    }

    /// Whether data packets exist at all.
    pub(super) const fn has_data(&self) -> bool {
        self.data.is_on()
    }

    /// How many branch addresses are not complete.
    pub(super) const fn addresses(&self) -> usize {
        self.waiting.addresses()
    }

    /// How many branch addresses have not begun.
    pub(super) const fn unbegun(&self) -> usize {
        self.waiting.addresses() - matches!(self.stage, Stage::Reading { .. }) as usize
    }

    /// Nothing is to come, or skipped.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.passing
    }

    /// Bytes belong to nothing from here to the next branch address.
    pub(super) fn pass_over(&mut self) {
        self.passing = true;
    }

    /// Whether a byte without TRACESYNC in the record `cycle` can belong to anything.
    #[inline]
    pub(super) fn accepts(&self, cycle: u64) -> bool {
        let Some(first) = self.waiting.first() else { return false };
        let is_read = matches!(self.stage, Stage::Reading { .. });
        !self.passing && (is_read || !self.latency || first.cycle != cycle)
    }

    /// Adds a status. An error if that is one too many, which then waits, too.
    #[inline]
    pub(super) fn push<L: Listener>(&mut self, status: Status, listener: &mut L) -> Result<(), Defect> {
        if let Kind::Plain { executed } = status.kind
            && self.waiting.is_empty()
        {
            self.step(status.cycle, executed, listener);
            return Ok(());
        }
        if !self.waiting.push(status) {
            let byte = status.cycle * self.record_size;
            return Err(Defect { class: FaultClass::Limit, byte, bit: 0 });
        }
        self.settle(listener);
        Ok(())
    }

    /// An instruction of which nothing is known. Spec: ETM1-SYN-008 (5.6).
    pub(super) fn unlocated<L: Listener>(&self, cycle: u64, executed: bool, listener: &mut L) {
        let event = Event::InstructionAt { cycle, address: None, isa: Isa::Arm, executed };
        listener.event(self.status_place(cycle), &event);
    }

    /// Reports the statuses that wait for nothing, up to the first that does.
    fn settle<L: Listener>(&mut self, listener: &mut L) {
        while self.stage == Stage::New
            && let Some(Status { cycle, kind }) = self.waiting.first()
        {
            match kind {
                Kind::Plain { executed } => {
                    self.step(cycle, executed, listener);
                    self.waiting.pop();
                }
                Kind::Data => {
                    let here = self.step(cycle, true, listener);
                    self.expect_data(cycle, &here, listener);
                }
                Kind::DataBranch(_) => {
                    let here = self.flow.step(true);
                    self.held.begin(here);
                    self.expect_data(cycle, &here, listener);
                }
                Kind::Branch(_) => self.stage = Stage::Address,
            }
        }
    }

    /// Reports an instruction.
    #[inline]
    fn step<L: Listener>(&mut self, cycle: u64, executed: bool, listener: &mut L) -> Here {
        let here = self.flow.step(executed);
        self.report(cycle, &here, executed, listener);
        here
    }

    #[inline]
    fn report<L: Listener>(&self, cycle: u64, here: &Here, executed: bool, listener: &mut L) {
        let place = self.status_place(cycle);
        if let Some(class) = here.fault {
            listener.fault(
                &Fault::new(class, place).with_address(here.address.map(|address| Address32(address).into())),
                Consequence::GoesOn,
            );
        }
        let Here { address, isa, .. } = *here;
        listener
            .event(place, &Event::InstructionAt { cycle, address: address.map(Address32), isa, executed });
    }

    /// The first status has data packets.
    fn expect_data<L: Listener>(&mut self, cycle: u64, here: &Here, listener: &mut L) {
        if self.passing {
            return self.give_up_data(cycle, listener);
        }
        let unreadable = match self.data.of(here) {
            Ok(data) => {
                self.stage = Stage::Data(data);
                return;
            }
            Err(unreadable) => unreadable,
        };
        if let Some(class) = unreadable.class()
            && (class != FaultClass::NoCode || self.flow.report_missing_code())
        {
            let address = here.address.map(u64::from).map(Address);
            if self.held.is_open() {
                self.held.unreadable(class, address);
            } else {
                let fault = Fault::new(class, self.status_place(cycle)).with_address(address);
                listener.fault(&fault, Consequence::GoesOn);
            }
        }
        self.give_up_data(cycle, listener);
    }

    /// The rest of the data of the first status is not reported.
    fn give_up_data<L: Listener>(&mut self, cycle: u64, listener: &mut L) {
        if self.held.is_open() {
            self.held.incomplete();
        } else {
            listener.event(self.status_place(cycle), &Event::Incomplete { when: cycle });
        }
        self.data.forget();
        self.passing = true;
        self.end_data();
    }

    /// The first status needs no more data.
    fn end_data(&mut self) {
        match self.waiting.first() {
            Some(Status { kind: Kind::DataBranch(_), .. }) => self.stage = Stage::Address,
            _ => {
                self.waiting.pop();
                self.stage = Stage::New;
            }
        }
    }

    /// A mark that is not skipped: the next branch address begins. `byte` is the stream offset of the record.
    ///
    /// Spec: ETM1-PKT-003 (5.2), ETM1-SYN-005 (5.9).
    pub(super) fn mark<L: Listener>(&mut self, byte: u64, listener: &mut L) -> Result<(), Defect> {
        if self.unbegun() == 0 || matches!(self.stage, Stage::Reading { .. }) {
            return Err(Defect { class: FaultClass::Framing, byte, bit: 3 });
        }
        let cut = matches!(self.stage, Stage::Data(_));
        if cut {
            self.drop_open(listener);
        }
        while let Stage::Data(_) = self.stage
            && let Some(first) = self.waiting.first()
        {
            // The data of those after are skipped, too.
            self.give_up_data(first.cycle, listener);
            self.settle(listener);
        }
        self.passing = false;
        self.stage = Stage::Reading { cut };
        Ok(())
    }

    /// A byte; `upper` on \[15:8\] of a 16-bit port, where no branch address begins.
    #[inline]
    pub(super) fn byte<L: Listener>(
        &mut self,
        byte: FifoByte,
        upper: bool,
        listener: &mut L,
    ) -> Result<(), Defect> {
        match self.stage {
            Stage::New => {}
            Stage::Data(data) => self.data_byte(data, byte, listener),
            Stage::Address if upper => {}
            Stage::Address => {
                let fault = self.fault(FaultClass::Contradiction, byte.low);
                listener.fault(&fault, Consequence::GoesOn);
                emit_passed(byte, listener);
                self.passing = true;
            }
            Stage::Reading { cut } => {
                let place = self.open(byte);
                let read = self.reader.read(Wanted::BranchAddress, byte, listener);
                if let Some(packet) = read.map_err(|class| Defect { class, byte: byte.low, bit: 0 })? {
                    self.branch_address(place, &packet, cut, listener);
                }
            }
        }
        Ok(())
    }

    fn fault(&self, class: FaultClass, byte: u64) -> Fault {
        Fault::new(class, self.place(byte, 0))
    }

    /// The first bit of the packet that this byte belongs to.
    fn open(&mut self, byte: FifoByte) -> Place {
        let place = self.place(byte.low, 0);
        *self.opened.get_or_insert(place)
    }

    /// The packet that was being read is read, or given up.
    fn close(&mut self) {
        self.reader.clear();
        self.packet += u64::from(self.opened.take().is_some());
    }

    fn drop_open<L: Listener>(&mut self, listener: &mut L) {
        if self.opened.is_some() {
            listener.dropped();
        }
        self.close();
    }

    /// Spec: ETM1-DAT-001 to 005 (5.4, 5.7).
    fn data_byte<L: Listener>(&mut self, mut data: Data, byte: FifoByte, listener: &mut L) {
        let Some(Status { cycle, .. }) = self.waiting.first() else { return };
        let place = self.open(byte);
        let wanted = if data.address { Wanted::DataAddress } else { Wanted::DataValue(data.size) };
        let packet = match self.reader.read(wanted, byte, listener) {
            Ok(Some(packet)) => packet,
            Ok(None) => return,
            Err(class) => {
                listener.fault(&self.fault(class, byte.low), Consequence::GivenUp);
                self.close();
                self.give_up_data(cycle, listener);
                return self.settle(listener);
            }
        };
        self.close();
        listener.packet(place, &packet);
        let value = match packet {
            Packet::DataAddress(address) => {
                self.data.address(address);
                data.address = false;
                (data.values == 0).then_some(Value::Off)
            }
            Packet::DataValue { value, .. } => {
                data.values -= 1;
                Some(Value::Known(value))
            }
            _ => None,
        };
        if let Some(value) = value {
            let (transfer, address) = self.data.transfer(&data);
            let event = Event::Transfer { transfer, when: cycle, address, value, big_endian: false };
            if self.held.is_open() {
                self.held.transfer(place, event);
            } else {
                listener.event(place, &event);
            }
        }
        self.stage = Stage::Data(data);
        if data.values == 0 && !data.address {
            self.end_data();
            self.settle(listener);
        }
    }

    /// Reports everything that waits: its bytes will not come, or not be found. The base of branch addresses is kept.
    pub(super) fn give_up<L: Listener>(&mut self, is_end: bool, listener: &mut L) {
        self.drop_open(listener);
        if let Some(Status { cycle, kind }) = self.waiting.pop() {
            if kind.target().is_some() {
                self.report_branch(cycle, true, None, listener);
            }
            if is_end {
                listener.event(self.status_place(cycle), &Event::Incomplete { when: cycle });
            }
        }
        while let Some(Status { cycle, kind }) = self.waiting.pop() {
            let executed = kind != Kind::Plain { executed: false };
            self.unlocated(cycle, executed, listener);
        }
        self.stage = Stage::New;
        self.passing = false;
        self.flow.forget_next();
        self.data.forget();
    }

    /// Synchronisation is lost.
    pub(super) fn lose<L: Listener>(&mut self, listener: &mut L) {
        self.give_up(false, listener);
        self.flow.forget();
    }
}

/// A byte that belongs to nothing.
pub(super) fn emit_passed<L: Listener>(byte: FifoByte, listener: &mut L) {
    match byte.high {
        None => listener.pins("skipped", byte.low, 0, 8, byte.value),
        Some(high) => {
            listener.pins("skipped", byte.low, 0, 4, byte.value & 0xf);
            listener.pins("skipped", high, 0, 4, byte.value >> 4);
        }
    }
}
