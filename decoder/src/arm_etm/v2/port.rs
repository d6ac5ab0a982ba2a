//! Captured cycles -> statuses and packets: which FIFO byte belongs to which cycle.

use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat, UPPER_NIBBLE};
use traceproof_vectors::arm_etm::{Architecture, Parameters};
use traceproof_vectors::{DecoderState, Fault, FaultClass, Place, Refusal};

use super::conventions::{
    Bits, VALUE_GAP, VALUE_HIGH, VALUE_HIGH_RESERVED, VALUE_LOW, VALUE_MARK, VALUE_SECOND,
    VALUE_WAIT_AFTER_TRIGGER,
};
use super::listener::{Carrier, Consequence, FifoByte, Listener};
use super::packet::{HeaderSpace, PacketReader, ends_group};
use super::pending::{Expectation, Pending};
use crate::arm_etm::records::{Record, Records};

/// Bits of a status on PIPESTAT, or on TRACEPKT if TR replaces it.
const STATUS: Bits = Bits::new("PIPESTAT", 0, 4);
const REPLACED: Bits = Bits::new("replaced PIPESTAT", 0, 4);

/// Reads trace pins cycle by cycle: statuses at once, packets when the FIFO has delivered them.
///
/// PIPESTAT says when packets are created, TRACEPKT delivers their bytes later in the same order. What is to come is
/// queued (at most 127 groups and 127 TFO packets), so memory does not grow with the stream.
#[derive(Clone, Debug)]
pub struct Port {
    parameters: Parameters,
    records: Records,
    reader: PacketReader,
    /// Index of the next record.
    cycle: u64,
    /// Index of the packet that is being read or comes next.
    packet: u64,
    /// First bit of the packet that is being read.
    reading: Option<Place>,
    synchronised: bool,
    /// The cycle of the latest instruction since synchronisation.
    instruction: Option<u64>,
    pending: Pending,
    /// Bytes that the FIFO has delivered since synchronisation.
    position: u64,
    /// Bytes were skipped because a TFO packet starts later than everything before it ends.
    skipped: bool,
    /// The value of a TFO whose cycle is past is still to come.
    announced: Option<Announced>,
    /// Low half of a FIFO byte, 4-bit port: value, stream offset.
    half: Option<(u8, u64)>,
    /// What the previous record was reported for.
    oddity: Option<Oddity>,
}

/// A TFO value that is travelling.
#[derive(Clone, Copy, Debug)]
struct Announced {
    /// Cycles before its next part.
    wait: u8,
    /// N\[6:4\], if the next part is the second one.
    high: Option<u8>,
}

/// Reported once for a run of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    /// TD without TFO while bytes are pending. Spec: ETM2-PS-010 (6.1.6).
    DisabledTooEarly,
    /// WT while nothing is pending. Spec: ETM2-PS-009 (6.1.6).
    WaitForNothing,
}

/// A record that can be read.
#[derive(Clone, Copy, Debug)]
struct Sample {
    cycle: u64,
    place: Place,
    status: Pipestat,
    /// TR replaced the status.
    triggered: bool,
    /// What the record before was reported for.
    oddity_before: Option<Oddity>,
    /// TRACEPKT\[7:0\], TRACEPKT\[15:8\].
    lanes: [u8; 2],
}

impl Sample {
    /// Stream offset of TRACEPKT.
    const fn tracepkt(&self) -> u64 {
        self.place.byte + 1
    }

    const fn tracepkt_defect(&self) -> Defect {
        Defect { class: FaultClass::ReservedEncoding, byte: self.tracepkt(), bit: 0 }
    }
}

/// Why synchronisation is lost, and where.
#[derive(Clone, Copy, Debug)]
struct Defect {
    class: FaultClass,
    byte: u64,
    bit: u8,
}

impl Port {
    /// For people: what the next record is read with.
    pub(super) fn shown(&self) -> DecoderState {
        DecoderState::default()
            .with("synchronised", if self.synchronised { "yes" } else { "no: waits for a TFO" })
            .with("cycle", self.cycle)
            .with("FIFO bytes since then", self.position)
            .with("groups of packets in the FIFO", self.pending.groups())
    }

    /// A port at the start of a stream.
    ///
    /// # Errors
    ///
    /// The feature of the architecture if that is not 2; a parameter that no ETMv2 can have.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        if parameters.architecture != Architecture::V2 {
            return Err(Refusal::unsupported(parameters.architecture.feature()));
        }
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        Ok(Self {
            parameters: parameters.clone(),
            records: Records::new(parameters),
            reader: PacketReader::new(parameters),
            cycle: 0,
            packet: 0,
            reading: None,
            synchronised: false,
            instruction: None,
            pending: Pending::new(),
            position: 0,
            skipped: false,
            announced: None,
            half: None,
            oddity: None,
        })
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.forget();
        self.records = Records::new(&self.parameters);
        self.cycle = 0;
        self.packet = 0;
        self.oddity = None;
    }

    /// Reads the next bytes of the stream.
    pub fn push<L: Listener>(&mut self, chunk: &[u8], listener: &mut L) {
        let mut rest = chunk;
        while let Some(record) = self.records.next(&mut rest) {
            self.record(&record, listener);
        }
    }

    /// The stream ends here.
    pub fn finish<L: Listener>(&mut self, listener: &mut L) {
        let (length, cut) = self.records.finish();
        if let Some(byte) = cut {
            listener.record(self.place(byte, 0), length - byte);
            let fault = self.fault(FaultClass::Truncated, byte, 0);
            listener.fault(&fault, Consequence::GoesOn);
        }
        let incomplete = self.pending.front().map(Expectation::cycle);
        listener.end(self.place(length, 0), incomplete);
        self.forget();
    }

    fn place(&self, byte: u64, bit: u8) -> Place {
        Place { packet: self.packet, byte, bit }
    }

    fn fault(&self, class: FaultClass, byte: u64, bit: u8) -> Fault {
        Fault::new(class, self.place(byte, bit))
    }

    /// Forgets everything that is pending, and waits for the next TFO.
    fn forget(&mut self) {
        self.drop_packet();
        self.synchronised = false;
        self.instruction = None;
        self.pending.clear();
        self.skipped = false;
        self.announced = None;
        self.half = None;
    }

    /// A packet that was begun but will not be read has an index nevertheless.
    fn drop_packet(&mut self) {
        self.reader.drop_open();
        if self.reading.take().is_some() {
            self.packet += 1;
        }
    }

    fn record<L: Listener>(&mut self, record: &Record, listener: &mut L) {
        let cycle = self.cycle;
        self.cycle += 1;
        let place = self.place(record.offset, 0);
        listener.record(place, record.bytes().len() as u64);
        let (defect, reported) = match Cycle::from_bytes(record.bytes(), &self.parameters) {
            Ok(pins) => match self.sample(cycle, place, pins, listener) {
                Ok(()) => return,
                Err(defect) => (defect, self.synchronised),
            },
            Err(malformed) => {
                self.oddity = None;
                let byte = record.offset + malformed.byte as u64;
                let bit = UPPER_NIBBLE.trailing_zeros() as u8;
                (Defect { class: FaultClass::Framing, byte, bit }, true)
            }
        };
        if reported {
            let fault = self.fault(defect.class, defect.byte, defect.bit);
            listener.fault(&fault, Consequence::Lost);
        }
        self.forget();
    }

    /// Spec: ETM2-TRG-001, ETM2-TRG-006 (6.1.7).
    fn sample<L: Listener>(
        &mut self,
        cycle: u64,
        place: Place,
        pins: Cycle,
        listener: &mut L,
    ) -> Result<(), Defect> {
        let lanes = pins.tracepkt.to_le_bytes();
        let status = pins.pipestat;
        let oddity_before = self.oddity.take();
        let mut sample = Sample { cycle, place, status, triggered: false, oddity_before, lanes };
        emit(STATUS, place.byte, status.code(), listener);
        if status == Pipestat::Tr {
            listener.trigger(place, cycle);
            let [replaced, _] = lanes;
            emit(REPLACED, sample.tracepkt(), replaced, listener);
            let status = Pipestat::from_code(REPLACED.of(replaced)).unwrap_or(Pipestat::Tr);
            sample = Sample { status, triggered: true, ..sample };
            if status == Pipestat::Tr {
                return Err(sample.tracepkt_defect());
            }
        }
        match sample.status {
            Pipestat::Td => self.disabled(&sample, listener),
            _ if self.synchronised => self.enabled(&sample, listener),
            _ => Ok(()),
        }
    }

    /// Reports an oddity of this record, unless the record before had the same one.
    fn report<L: Listener>(&mut self, oddity: Oddity, sample: &Sample, listener: &mut L) {
        self.oddity = Some(oddity);
        if self.oddity != sample.oddity_before {
            let fault = self.fault(FaultClass::Contradiction, sample.place.byte, 0);
            listener.fault(&fault, Consequence::GoesOn);
        }
    }

    /// A cycle with any status but TD, while synchronised.
    #[inline]
    fn enabled<L: Listener>(&mut self, sample: &Sample, listener: &mut L) -> Result<(), Defect> {
        let (phantom, executed, data) = meaning(sample.status);
        if let Some(taken) = phantom {
            listener.instruction(sample.place, sample.cycle, taken, true);
        }
        if let Some(executed) = executed {
            listener.instruction(sample.place, sample.cycle, executed, false);
            self.instruction = Some(sample.cycle);
        }
        if sample.status == Pipestat::Wt && !sample.triggered && self.pending.is_empty() {
            self.report(Oddity::WaitForNothing, sample, listener);
        }
        let group = Expectation::Group { cycle: sample.cycle, instruction: self.instruction };
        let at_once = self.parameters.fifo_latency == 0;
        if data && at_once {
            self.expect(group, sample)?;
        }
        if self.announced.is_some() {
            self.value(sample, listener)?;
        } else if !sample.triggered {
            self.drain(sample, listener)?;
        }
        if data && !at_once {
            self.expect(group, sample)?;
        }
        Ok(())
    }

    /// A TD cycle: perhaps a TFO, and certainly one if TR replaced the status.
    ///
    /// Spec: ETM2-TFO-001 (6.1.6), ETM2-TRG-005 (6.1.7).
    fn disabled<L: Listener>(&mut self, sample: &Sample, listener: &mut L) -> Result<(), Defect> {
        let [code, _] = sample.lanes;
        let is_reserved = VALUE_HIGH.of(code) == VALUE_HIGH_RESERVED;
        if sample.triggered {
            if self.announced.is_some() {
                return Err(sample.tracepkt_defect());
            }
            self.begin(sample)?;
            self.announced = Some(Announced { wait: VALUE_WAIT_AFTER_TRIGGER, high: None });
            return Ok(());
        }
        if self.announced.is_none() && VALUE_MARK.any(code) && !is_reserved {
            self.begin(sample)?;
            self.announced = Some(Announced { wait: 0, high: None });
            return self.value(sample, listener);
        }
        if self.announced.is_none() && VALUE_MARK.any(code) && !self.parameters.cycle_accurate {
            return Err(sample.tracepkt_defect());
        }
        if !self.pending.is_empty() {
            self.report(Oddity::DisabledTooEarly, sample, listener);
        }
        if self.announced.is_some() { self.value(sample, listener) } else { Ok(()) }
    }

    /// A TFO cycle. Spec: ETM2-TFO-017 (6.5).
    fn begin(&mut self, sample: &Sample) -> Result<(), Defect> {
        let joining = !self.synchronised;
        self.synchronised = true;
        self.half = None;
        self.expect(Expectation::TraceFifoOffset { cycle: sample.cycle, start: None, joining }, sample)
    }

    fn expect(&mut self, expectation: Expectation, sample: &Sample) -> Result<(), Defect> {
        if self.pending.push(expectation) {
            return Ok(());
        }
        Err(Defect { class: FaultClass::Limit, byte: sample.place.byte, bit: 0 })
    }

    /// A cycle with part of a TFO value on TRACEPKT, or before one. The FIFO stalls.
    ///
    /// In a cycle with a trigger TRACEPKT holds the replaced status, so the value comes one cycle later
    /// (ETM2-TRG-003, 6.1.7).
    fn value<L: Listener>(&mut self, sample: &Sample, listener: &mut L) -> Result<(), Defect> {
        let Some(announced) = &mut self.announced else { return Ok(()) };
        let [code, _] = sample.lanes;
        let narrow = self.parameters.port_width == 4;
        if sample.triggered {
            return Ok(());
        }
        if announced.wait > 0 {
            announced.wait -= 1;
            return Ok(());
        }
        let high = match announced.high {
            Some(high) => high,
            None => {
                let high = VALUE_HIGH.of(code);
                if !VALUE_MARK.any(code) || high == VALUE_HIGH_RESERVED {
                    return Err(sample.tracepkt_defect());
                }
                emit(VALUE_MARK, sample.tracepkt(), code, listener);
                emit(VALUE_HIGH, sample.tracepkt(), code, listener);
                if narrow {
                    *announced = Announced { wait: VALUE_GAP, high: Some(high) };
                    return Ok(());
                }
                high
            }
        };
        let low = if narrow { VALUE_SECOND } else { VALUE_LOW };
        emit(low, sample.tracepkt(), code, listener);
        self.announced = None;
        self.pending.announce(self.position + u64::from(high << 4 | low.of(code)));
        Ok(())
    }

    /// A cycle in which the FIFO delivers. Spec: ETM2-FIFO-004 (6.3), ETM2-CB-010, ETM2-CB-011 (6.1.6, 6.3).
    #[inline]
    fn drain<L: Listener>(&mut self, sample: &Sample, listener: &mut L) -> Result<(), Defect> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let [first, second] = sample.lanes;
        let offset = sample.tracepkt();
        if self.parameters.port_width != 4 {
            self.byte(FifoByte { value: first, low: offset, high: None }, listener)?;
            if self.parameters.port_width == 16 && !self.pending.is_empty() {
                self.byte(FifoByte { value: second, low: offset + 1, high: None }, listener)?;
            }
            return Ok(());
        }
        match self.half.take() {
            None => self.half = Some((first, offset)),
            Some((half, low)) => {
                self.byte(FifoByte { value: first << 4 | half, low, high: Some(offset) }, listener)?;
            }
        }
        Ok(())
    }

    /// A byte of what is pending.
    #[inline]
    fn byte<L: Listener>(&mut self, byte: FifoByte, listener: &mut L) -> Result<(), Defect> {
        if self.pending.starts_at(self.position) {
            self.reach(byte, listener);
        }
        let position = self.position;
        self.position += 1;
        let Some(expectation) = self.pending.front() else { return Ok(()) };
        let space = match expectation {
            Expectation::Group { .. } => HeaderSpace::Group,
            Expectation::TraceFifoOffset { start: Some(start), .. } if start <= position => {
                HeaderSpace::TraceFifoOffset
            }
            Expectation::TraceFifoOffset { joining, .. } => {
                emit_skipped(byte, listener);
                self.skipped |= !joining;
                return Ok(());
            }
        };
        let place = *self.reading.get_or_insert(Place { packet: self.packet, byte: byte.low, bit: 0 });
        let read = self.reader.read(space, byte, listener);
        if let Some(packet) = read.map_err(|class| Defect { class, byte: byte.low, bit: 0 })? {
            let (cycle, instruction) = (expectation.cycle(), expectation.instruction());
            listener.packet(Carrier { place, last: byte.low, cycle, instruction }, &packet);
            self.reading = None;
            self.packet += 1;
            if ends_group(&packet) {
                self.pending.pop();
            }
        }
        Ok(())
    }

    /// A TFO packet starts at this byte. This overrides any other expectation.
    ///
    /// Spec: ETM2-TFO-018 (6.5.1), ETM2-CB-006 (6.4.1, 6.5).
    fn reach<L: Listener>(&mut self, byte: FifoByte, listener: &mut L) {
        let dropped = self.pending.advance_to(self.position);
        if dropped > 0 || self.skipped {
            self.drop_packet();
            let fault = self.fault(FaultClass::Contradiction, byte.low, 0);
            listener.fault(&fault, Consequence::Lost);
        }
        self.skipped = false;
    }
}

fn emit<L: Listener>(bits: Bits, offset: u64, byte: u8, listener: &mut L) {
    listener.pins(bits.name, offset, bits.first, bits.width, bits.of(byte));
}

fn emit_skipped<L: Listener>(byte: FifoByte, listener: &mut L) {
    match byte.high {
        None => listener.pins("skipped", byte.low, 0, 8, byte.value),
        Some(high) => {
            listener.pins("skipped", byte.low, 0, 4, byte.value & 0xf);
            listener.pins("skipped", high, 0, 4, byte.value >> 4);
        }
    }
}

/// Whether a phantom branch was taken, whether the instruction was executed, and whether there are packets.
///
/// Spec: ETM2-PS-002 to 005, ETM2-PS-007 (6.1.2, 6.1.3).
const fn meaning(status: Pipestat) -> (Option<bool>, Option<bool>, bool) {
    match status {
        Pipestat::Ie => (None, Some(true), false),
        Pipestat::De => (None, Some(true), true),
        Pipestat::In => (None, Some(false), false),
        Pipestat::Dn => (None, Some(false), true),
        Pipestat::Wt | Pipestat::Tr | Pipestat::Td => (None, None, false),
        Pipestat::Dw => (None, None, true),
        Pipestat::PtIe => (Some(true), Some(true), false),
        Pipestat::PtDe => (Some(true), Some(true), true),
        Pipestat::PtIn => (Some(true), Some(false), false),
        Pipestat::PtDn => (Some(true), Some(false), true),
        Pipestat::PnIe => (Some(false), Some(true), false),
        Pipestat::PnDe => (Some(false), Some(true), true),
        Pipestat::PnIn => (Some(false), Some(false), false),
        Pipestat::PnDn => (Some(false), Some(false), true),
    }
}
