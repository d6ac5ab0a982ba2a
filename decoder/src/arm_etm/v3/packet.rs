//! Bytes -> packets: the byte automaton.

use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};
use traceproof_vectors::{Address32, Fault, FaultClass, Place, Refusal};

use super::address_bytes::{AddressBytes, Step};
use super::alignment::{END, Search, ZEROS};
use super::exception_bytes::ExceptionBytes;
use super::fields::{self, Fields};
use super::headers::{Header, Headers};
use super::information;
use super::listener::Listener;
use super::records::Record;
use super::value_bytes::{LittleEndian, SevenBits};
use super::whole;

/// Reads the packets of one stream, chunk by chunk.
///
/// Its state is small and of fixed size; nothing is allocated. It knows of the execution only whether it is in ARM state, which a branch packet
/// with an exception in its fifth byte needs.
#[derive(Clone, Debug)]
pub struct PacketReader {
    layout: Layout,
    headers: Headers,
    /// Stream offset of the next byte.
    offset: u64,
    /// Index of the packet that is being read or comes next.
    index: u64,
    state: State,
    open: Open,
    arm: bool,
    /// TRACECTL of a record whose TRACEDATA is still to come.
    control: Option<u8>,
}

/// What of the parameters decides where packets end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    bare_port: bool,
    pub(super) alternative: bool,
    pub(super) data_only: bool,
    data_address: bool,
    data_value: bool,
    pub(super) context_id_bytes: u8,
    pub(super) timestamp_bits: u8,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug)]
enum State {
    Search(Search),
    Header,
    /// A zero of an A-sync, behind so many, or its end.
    Zero(u64),
    Branch(AddressBytes),
    Exception(ExceptionBytes),
    CycleCount(SevenBits),
    /// The cycle count of an I-sync.
    SyncCycles(SevenBits),
    SyncContext(LittleEndian),
    SyncInformation,
    SyncAddress(LittleEndian),
    /// The address under a load or store.
    SyncCurrent(AddressBytes),
    ContextId(LittleEndian),
    Vmid,
    DataAddress(SevenBits),
    Value(LittleEndian),
    Timestamp(SevenBits),
}

/// The parts of the packet that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    start: u64,
    header: u8,
    /// Of a branch packet or data packet; in an I-sync of the one under a load or store.
    address: Option<CompressedAddress>,
    cycle_count: Option<VariableField>,
    context_id: Option<u32>,
    information: u8,
    full_address: Option<u32>,
}

/// The byte makes no packet; stream offset of what is at fault.
struct Broken {
    class: FaultClass,
    byte: u64,
}

impl PacketReader {
    /// At the start of a stream.
    ///
    /// # Errors
    ///
    /// When no macrocell has these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        let layout = Layout {
            bare_port: parameters.bare_port,
            alternative: parameters.alternative_branches,
            data_only: parameters.data_only,
            data_address: parameters.data_address,
            data_value: parameters.data_value,
            context_id_bytes: parameters.context_id_bytes,
            timestamp_bits: parameters.timestamp_bits,
        };
        Ok(Self {
            layout,
            headers: Headers::new(parameters),
            offset: 0,
            index: 0,
            state: State::Search(Search::from(0)),
            open: Open::default(),
            arm: true,
            control: None,
        })
    }

    /// Back to the start of a stream.
    pub fn reset(&mut self) {
        (self.offset, self.index) = (0, 0);
        self.state = State::Search(Search::from(0));
        (self.arm, self.control) = (true, None);
    }

    /// Consumes the next bytes of the stream.
    pub fn push<L: Listener + ?Sized>(&mut self, chunk: &[u8], listener: &mut L) {
        if self.layout.bare_port {
            for byte in chunk {
                self.pin_byte(*byte, listener);
            }
        } else {
            self.bytes(chunk, listener);
        }
    }

    /// The stream ends here.
    pub fn finish<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let cut_packet = match self.state {
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
        };
        let cut_record = self.control.take().map(|_| {
            let place = Place { packet: self.index, byte: self.offset - 1, bit: 0 };
            Fault { class: FaultClass::Truncated, place, address: None }
        });
        let place = Place { packet: self.index, byte: self.offset, bit: 0 };
        listener.end(place, cut_record.as_ref(), cut_packet);
    }

    /// A byte of a record of a bare port. Spec: ETM3-MISC-007.
    fn pin_byte<L: Listener + ?Sized>(&mut self, byte: u8, listener: &mut L) {
        let Some(control) = self.control.take() else {
            self.control = Some(byte);
            self.offset += 1;
            return;
        };
        let record = self.offset - 1;
        match Record::new(control, byte) {
            Record::Trace(byte) => {
                self.bytes(&[byte], listener);
                return;
            }
            Record::Trigger => {
                listener.trigger(Place { packet: self.index, byte: record, bit: 0 });
            }
            Record::Nothing => {}
            Record::Malformed => {
                self.lose(Broken { class: FaultClass::Framing, byte: record }, listener);
                self.state = State::Search(Search::from(self.offset + 1));
            }
        }
        self.offset += 1;
    }

    fn bytes<L: Listener + ?Sized>(&mut self, mut chunk: &[u8], listener: &mut L) {
        while let Some((&byte, rest)) = chunk.split_first() {
            match &mut self.state {
                State::Header => chunk = self.packets(chunk, listener),
                State::Search(search) => {
                    let end = search.look(self.offset, chunk);
                    self.offset += end.unwrap_or(chunk.len()) as u64;
                    chunk = chunk.get(end.unwrap_or(chunk.len())..).unwrap_or_default();
                    if end.is_some() {
                        self.found(listener);
                    }
                }
                _ => {
                    if self.take(byte, listener) {
                        chunk = rest;
                    }
                }
            }
        }
    }

    /// A search ended in front of `offset`.
    fn found<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let State::Search(Search { start, zeros, first_zero }) = self.state else { return };
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

    /// Takes packets as long as they lie whole in the chunk and are of the usual kinds; begins the one behind them. Gives
    /// the rest.
    #[inline]
    fn packets<'a, L: Listener + ?Sized>(&mut self, chunk: &'a [u8], listener: &mut L) -> &'a [u8] {
        let base = self.offset;
        let mut index = self.index;
        let mut at = 0;
        while let Some(&byte) = chunk.get(at) {
            let header = self.headers.of(byte);
            let place = Place { packet: index, byte: base + at as u64, bit: 0 };
            let length = match header {
                _ if L::TAKES_FIELDS => 0,
                Header::Atoms => {
                    listener.packet(place, &Packet::PHeader(byte));
                    1
                }
                Header::WholeBranch => {
                    let bits = u64::from(byte >> 1 & 0x3f);
                    listener.packet(place, &Packet::BranchAddress(CompressedAddress { bits, bytes: 1 }));
                    1
                }
                _ => self.whole(place, header, chunk.get(at..).unwrap_or_default(), listener),
            };
            if length > 0 {
                index += 1;
                at += length;
                continue;
            }
            (self.offset, self.index) = (place.byte, index);
            if self.open_packet(byte, header, listener) {
                at += 1;
            }
            return chunk.get(at..).unwrap_or_default();
        }
        (self.offset, self.index) = (base + at as u64, index);
        &[]
    }

    /// Takes the packet at the start of `bytes` if it lies there whole and is of the usual kinds; its length, otherwise 0.
    fn whole<L: Listener + ?Sized>(
        &mut self,
        place: Place,
        header: Header,
        bytes: &[u8],
        listener: &mut L,
    ) -> usize {
        if header == Header::Branch
            && let Some((address, arm)) = whole::branch(bytes, self.layout.alternative)
        {
            self.arm = arm.unwrap_or(self.arm);
            listener.packet(place, &Packet::BranchAddress(address));
            return address.bytes.into();
        }
        let Some(whole) = whole::other(&self.layout, header, bytes) else { return 0 };
        self.arm = whole.arm.unwrap_or(self.arm);
        listener.packet(place, &whole.packet);
        whole.bytes
    }

    /// Takes a header of any kind. Whether it did; if not, it is at fault.
    fn open_packet<L: Listener + ?Sized>(&mut self, byte: u8, header: Header, listener: &mut L) -> bool {
        self.open = Open { start: self.offset, header: byte, ..Open::default() };
        let begun = self.begin(byte, header, listener);
        self.conclude(begun, listener)
    }

    /// Takes a byte behind a header. Whether it did; if not, it is at fault, or begins something else.
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
        // The byte at fault may begin an A-sync, but it is told already.
        let told = u64::from(broken.byte == self.offset);
        let search = Search::from(self.offset);
        self.state = State::Search(Search { start: self.offset + told, ..search });
        self.arm = true;
        listener.lost(&Fault { class: broken.class, place, address: None });
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
                self.whole_byte("context_id", byte, listener);
                match context.take(byte) {
                    Ok(value) => {
                        self.open.context_id = Some(value);
                        self.state = State::SyncInformation;
                    }
                    Err(more) => self.state = State::SyncContext(more),
                }
                Ok(None)
            }
            State::SyncInformation => self.information(byte, listener),
            State::SyncAddress(address) => {
                self.whole_byte("address", byte, listener);
                match address.take(byte) {
                    Ok(value) => Ok(self.sync_address(value)),
                    Err(more) => {
                        self.state = State::SyncAddress(more);
                        Ok(None)
                    }
                }
            }
            State::SyncCurrent(address) => self.current(address, byte, listener),
            State::ContextId(context) => {
                self.whole_byte("context_id", byte, listener);
                match context.take(byte) {
                    Ok(value) => Ok(Some(Packet::ContextId { more: false, value })),
                    Err(more) => {
                        self.state = State::ContextId(more);
                        Ok(None)
                    }
                }
            }
            State::Vmid => {
                self.whole_byte("vmid", byte, listener);
                Ok(Some(Packet::Vmid(byte)))
            }
            State::DataAddress(address) => self.data_address(address, byte, listener),
            State::Value(value) => {
                self.whole_byte("value", byte, listener);
                match value.take(byte) {
                    Ok(value) => Ok(Some(self.with_value(Some(value)))),
                    Err(more) => {
                        self.state = State::Value(more);
                        Ok(None)
                    }
                }
            }
            State::Timestamp(value) => Ok(self.timestamp(value, byte, listener)),
        }
    }

    fn broken(&self, class: FaultClass) -> Broken {
        Broken { class, byte: self.offset }
    }

    fn whole_byte<L: Listener + ?Sized>(&self, name: &'static str, byte: u8, listener: &mut L) {
        if L::TAKES_FIELDS {
            Fields { listener, offset: self.offset }.all(name, byte);
        }
    }

    /// Spec: ETM3-SYN-001 to 004 (7.10.4).
    fn zero<L: Listener + ?Sized>(
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
    fn zero_fields<L: Listener + ?Sized>(&self, zeros: u64, listener: &mut L) {
        if L::TAKES_FIELDS {
            let width = if self.layout.bare_port { 8 } else { u32::try_from(8 * zeros).unwrap_or(u32::MAX) };
            listener.field("zeros", self.open.start, 0, width, 0);
        }
    }

    /// A byte of a branch address. Spec: ETM3-BR-001 to 010, ETM3-BR-019 (7.3.5).
    fn branch<L: Listener + ?Sized>(
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

    /// A byte of the address under a load or store. Spec: ETM3-ISY-007 (7.10.5).
    fn current<L: Listener + ?Sized>(
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

    /// A byte of exception information. Spec: ETM3-EXC-001 to 004, ETM3-BR-019 (7.3.5).
    fn exception<L: Listener + ?Sized>(
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

    /// A byte of a cycle count; the whole, if it was the last one. Spec: ETM3-CC-001, ETM3-CC-006 (7.2).
    fn cycles<L: Listener + ?Sized>(
        &mut self,
        mut count: SevenBits,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<SevenBits>, Broken> {
        if L::TAKES_FIELDS {
            fields::seven_bits(Fields { listener, offset: self.offset }, "cycles", count, byte, 5, 4);
        }
        if count.bytes() == 4 && byte & 0xf0 != 0 {
            return Err(self.broken(FaultClass::Overlong));
        }
        if count.take(byte) {
            return Ok(Some(count));
        }
        let with_sync = matches!(self.state, State::SyncCycles(_));
        self.state = if with_sync { State::SyncCycles(count) } else { State::CycleCount(count) };
        Ok(None)
    }

    /// What comes behind the header or cycle count of an I-sync. Spec: ETM3-ISY-002 (7.10.5).
    fn sync_context(&mut self) {
        self.state = match self.layout.context_id_bytes {
            0 => State::SyncInformation,
            bytes => State::SyncContext(LittleEndian::of_bytes(bytes)),
        };
    }

    /// Spec: ETM3-ISY-003, ETM3-ISY-009, ETM3-ISY-012 (7.10.5).
    fn information<L: Listener + ?Sized>(
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

    /// The address of an I-sync is here.
    fn sync_address(&mut self, value: u32) -> Option<Packet> {
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
        information::instruction_sync(
            information,
            cycle_count,
            context_id,
            full_address.map(Address32),
            address,
        )
    }

    /// Normal Data, a placeholder or Value Not Traced begins. Spec: ETM3-DAT-001, ETM3-DAT-006, ETM3-OOO-002 (7.4).
    fn data_packet(&mut self, header: u8) -> Option<Packet> {
        let first = match header {
            0x6a | 0x7a => header & 0x10 != 0,
            _ => header & 0x20 != 0,
        };
        if first && self.layout.data_address {
            self.state = State::DataAddress(SevenBits::EMPTY);
            return None;
        }
        self.behind_data_address()
    }

    /// Spec: ETM3-DAT-003 (7.4.2).
    fn data_address<L: Listener + ?Sized>(
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
        Ok(self.behind_data_address())
    }

    /// The packet, or the state of its value. Spec: ETM3-DAT-001, ETM3-DAT-002 (7.4.2).
    fn behind_data_address(&mut self) -> Option<Packet> {
        let is_normal = self.open.header & 0x53 == 0x02;
        if is_normal && self.layout.data_value {
            return self.value(LittleEndian::of_ss(self.open.header >> 2 & 3));
        }
        Some(self.with_value(None))
    }

    /// The packet, if its value has no bytes.
    fn value(&mut self, value: LittleEndian) -> Option<Packet> {
        if value.is_whole() {
            return Some(self.with_value(Some(0)));
        }
        self.state = State::Value(value);
        None
    }

    /// The data packet that is being read. Spec: ETM3-OOO-001, ETM3-OOO-003 (7.4).
    fn with_value(&self, value: Option<u32>) -> Packet {
        let Open { header, address, .. } = self.open;
        let (first, ss) = (header & 0x20 != 0, header >> 2 & 3);
        match header & 0x53 {
            0x02 => Packet::NormalData { more: false, first, address, ss, value },
            0x50 => Packet::LoadMissOccurred { more: false, first, tag: header >> 2 & 3, address },
            0x42 | 0x52 => Packet::ValueNotTraced { more: false, first: header & 0x10 != 0, address },
            _ => Packet::LoadMissData { more: false, tag: header >> 5 & 3, ss, value: value.unwrap_or(0) },
        }
    }

    /// Spec: ETM3-TS-001, ETM3-TS-002, ETM3-TS-008 (7.7.4).
    fn timestamp<L: Listener + ?Sized>(
        &mut self,
        mut value: SevenBits,
        byte: u8,
        listener: &mut L,
    ) -> Option<Packet> {
        let (longest, last_bits) = if self.layout.timestamp_bits == 48 { (7, 6) } else { (9, 8) };
        if L::TAKES_FIELDS {
            fields::seven_bits(
                Fields { listener, offset: self.offset },
                "timestamp",
                value,
                byte,
                longest,
                last_bits,
            );
        }
        let is_whole = if value.bytes() + 1 == longest {
            value.take_last(byte, last_bits.into());
            true
        } else {
            value.take(byte)
        };
        if is_whole {
            let clock_change = self.open.header & 4 != 0;
            return Some(Packet::Timestamp { clock_change, value: value.field() });
        }
        self.state = State::Timestamp(value);
        None
    }
}
