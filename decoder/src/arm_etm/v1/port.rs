//! Captured cycles -> statuses, marks and bytes of the FIFO.

use traceproof_vectors::arm_etm::v1::{Cycle, Pipestat};
use traceproof_vectors::arm_etm::v2::UPPER_NIBBLE;
use traceproof_vectors::arm_etm::{Architecture, Event, Parameters};
use traceproof_vectors::{DecoderLimits, DecoderState, Fault, FaultClass, Program, Refusal};

use super::listener::{Consequence, Listener};
use super::pairing::{Defect, Pairing, emit_passed};
use super::waiting::{Kind, Status, Target};
use super::window::{Apo, Sample, Window, true_status};
use crate::arm_etm::records::Records;
use crate::arm_etm::v2::FifoByte;

/// Reads trace pins cycle by cycle.
///
/// PIPESTAT says what was executed, TRACEPKT delivers the packets of it later in the same order. Records are looked at
/// when the two after them have arrived, so that an APO is known in the record of its BE or BD. At most
/// [`DecoderLimits::pending`] statuses wait for their packets; memory does not grow with the stream.
#[derive(Clone, Debug)]
pub struct Port {
    parameters: Parameters,
    records: Records,
    window: Window,
    /// Index of the record that is looked at next.
    cycle: u64,
    /// How many of the next records are APO records.
    apo_records: u8,
    synchronised: bool,
    /// TRACESYNC marks to skip.
    marks: u8,
    /// Low half of a byte, 4-bit port: value, stream offset.
    half: Option<(u8, u64)>,
    /// What the record before was reported for.
    oddity: Option<Oddity>,
    pairing: Pairing,
}

/// Reported once for a run of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    /// TD while a branch address is in the FIFO.
    DisabledTooEarly,
    /// WT while nothing is. Spec: ETM1-PS-009 (5.1).
    WaitForNothing,
}

/// A record that can be read.
#[derive(Clone, Copy, Debug)]
struct Pins {
    cycle: u64,
    /// Stream offset.
    offset: u64,
    status: Pipestat,
    /// TR replaced the status.
    triggered: bool,
    /// It is one of the two after BE or BD.
    is_apo: bool,
    mark: bool,
    /// TRACEPKT\[7:0\], TRACEPKT\[15:8\].
    lanes: [u8; 2],
}

impl Pins {
    /// Stream offset of TRACEPKT.
    const fn tracepkt(&self) -> u64 {
        self.offset + 1
    }
}

/// An APO record says so in two bits.
const APO_RECORDS: u8 = 2;

impl Port {
    /// What the next record is read with, for people.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let state = DecoderState::default()
            .with("synchronised", if self.synchronised { "yes" } else { "no: waits for a TRACESYNC" })
            .with("cycle", self.cycle);
        self.pairing.shown(state)
    }

    /// A port at the start of a stream.
    ///
    /// # Errors
    ///
    /// The feature of the architecture if that is not 1; a parameter that no ETMv1 can have.
    pub fn new(parameters: &Parameters, program: &Program, limits: &DecoderLimits) -> Result<Self, Refusal> {
        if parameters.architecture != Architecture::V1 {
            return Err(Refusal::unsupported(parameters.architecture.feature()));
        }
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        Ok(Self {
            parameters: parameters.clone(),
            records: Records::new(parameters),
            window: Window::default(),
            cycle: 0,
            apo_records: 0,
            synchronised: false,
            marks: 0,
            half: None,
            oddity: None,
            pairing: Pairing::new(parameters, program, Cycle::size(parameters), limits.pending as usize),
        })
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.restart();
        self.pairing.reset(&self.parameters);
        self.records = Records::new(&self.parameters);
        self.cycle = 0;
    }

    fn restart(&mut self) {
        self.window = Window::default();
        self.apo_records = 0;
        self.synchronised = false;
        self.marks = 0;
        self.half = None;
        self.oddity = None;
    }

    /// Reads the next bytes of the stream.
    pub fn push<L: Listener>(&mut self, chunk: &[u8], listener: &mut L) {
        let mut rest = chunk;
        while let Some(record) = self.records.next(&mut rest) {
            if let Some((sample, apo)) = self.window.push(Sample::new(&record, &self.parameters)) {
                self.record(sample, apo, listener);
            }
        }
    }

    /// The stream ends here.
    pub fn finish<L: Listener>(&mut self, listener: &mut L) {
        while let Some((sample, apo)) = self.window.drain() {
            self.record(sample, apo, listener);
        }
        let (length, cut) = self.records.finish();
        if let Some(byte) = cut {
            listener.record(self.pairing.place(byte, 0), length - byte);
            self.report(FaultClass::Truncated, byte, 0, listener);
        }
        self.pairing.give_up(true, listener);
        self.pairing.lose(listener);
        self.restart();
    }

    fn report<L: Listener>(&self, class: FaultClass, byte: u64, bit: u8, listener: &mut L) {
        let fault = Fault::new(class, self.pairing.place(byte, bit));
        listener.fault(&fault, Consequence::GoesOn);
    }

    fn record<L: Listener>(&mut self, sample: Sample, apo: Apo, listener: &mut L) {
        let cycle = self.cycle;
        self.cycle += 1;
        let apo_record = self.apo_records;
        self.apo_records = apo_record.saturating_sub(1);
        listener.record(self.pairing.place(sample.offset, 0), Cycle::size(&self.parameters) as u64);
        let read = match sample.pins {
            Ok(pins) => self.sample(cycle, sample.offset, pins, apo_record, apo, listener),
            Err(byte) => {
                self.oddity = None;
                let bit = UPPER_NIBBLE.trailing_zeros() as u8;
                Err(Defect { class: FaultClass::Framing, byte: sample.offset + byte as u64, bit })
            }
        };
        if let Err(Defect { class, byte, bit }) = read {
            let fault = Fault::new(class, self.pairing.place(byte, bit));
            listener.fault(&fault, Consequence::GivenUp);
            self.pairing.lose(listener);
            self.synchronised = false;
            self.marks = 0;
            self.half = None;
        }
    }

    /// Spec: ETM1-PS-010 (5.3, 5.4), ETM1-APO-008 (5.6.1).
    fn sample<L: Listener>(
        &mut self,
        cycle: u64,
        offset: u64,
        pins: Cycle,
        apo_record: u8,
        apo: Apo,
        listener: &mut L,
    ) -> Result<(), Defect> {
        let before = self.oddity.take();
        let triggered = pins.pipestat == Pipestat::Tr;
        let lanes = pins.tracepkt.to_le_bytes();
        emit(offset, pins, apo_record, listener);
        if triggered {
            listener.event(self.pairing.place(offset, 0), &Event::Trigger { when: cycle });
        }
        let Some(status) = true_status(pins) else {
            return Err(Defect { class: FaultClass::ReservedEncoding, byte: offset + 1, bit: 0 });
        };
        let is_output = !triggered && status != Pipestat::Td;
        if pins.tracesync && !is_output && self.synchronised {
            self.report(FaultClass::Contradiction, offset, 3, listener);
        }
        let mark = pins.tracesync && is_output;
        let is_apo = apo_record > 0;
        let pins = Pins { cycle, offset, status, triggered, is_apo, mark, lanes };
        self.status(&pins, before, apo, listener)?;
        if is_output && self.synchronised { self.drain(&pins, listener) } else { Ok(()) }
    }

    #[inline]
    fn status<L: Listener>(
        &mut self,
        pins: &Pins,
        before: Option<Oddity>,
        apo: Apo,
        listener: &mut L,
    ) -> Result<(), Defect> {
        match pins.status {
            Pipestat::Be | Pipestat::Bd => {
                self.apo_records = APO_RECORDS;
                self.branch(pins, apo, listener)
            }
            // Spec: ETM1-APO-006 (5.6.1).
            Pipestat::Td if pins.is_apo => {
                let byte = if pins.triggered { pins.tracepkt() } else { pins.offset };
                self.report(FaultClass::Suspicious, byte, 0, listener);
                Ok(())
            }
            _ if pins.is_apo => Ok(()),
            // Spec: ETM1-PS-012 (6.1.7).
            Pipestat::Td if pins.triggered => {
                self.report(FaultClass::Contradiction, pins.tracepkt(), 0, listener);
                Ok(())
            }
            Pipestat::Td => {
                if self.synchronised && self.pairing.addresses() > 0 {
                    self.odd(Oddity::DisabledTooEarly, before, pins, listener);
                }
                Ok(())
            }
            Pipestat::Wt => {
                if self.synchronised && !pins.triggered && self.pairing.is_idle() {
                    self.odd(Oddity::WaitForNothing, before, pins, listener);
                }
                Ok(())
            }
            Pipestat::Ie | Pipestat::Id | Pipestat::In | Pipestat::Tr => self.instruction(pins, listener),
        }
    }

    /// Reports an oddity of this record, unless the record before had the same one.
    fn odd<L: Listener>(&mut self, oddity: Oddity, before: Option<Oddity>, pins: &Pins, listener: &mut L) {
        self.oddity = Some(oddity);
        if self.oddity != before {
            self.report(FaultClass::Contradiction, pins.offset, 0, listener);
        }
    }

    /// IE, ID, IN.
    #[inline]
    fn instruction<L: Listener>(&mut self, pins: &Pins, listener: &mut L) -> Result<(), Defect> {
        let executed = pins.status != Pipestat::In;
        if !self.synchronised {
            self.pairing.unlocated(pins.cycle, executed, listener);
            return Ok(());
        }
        let has_data = pins.status == Pipestat::Id && self.may_have_data(pins, listener);
        let kind = if has_data { Kind::Data } else { Kind::Plain { executed } };
        self.pairing.push(Status { cycle: pins.cycle, kind }, listener)
    }

    /// Spec: ETM1-PS-003 (5.4).
    fn may_have_data<L: Listener>(&self, pins: &Pins, listener: &mut L) -> bool {
        let has_data = self.pairing.has_data();
        if !has_data {
            self.report(FaultClass::Contradiction, pins.offset, 0, listener);
        }
        has_data
    }

    /// BE, BD. Spec: ETM1-APO-001 to 005 (5.6.1).
    fn branch<L: Listener>(&mut self, pins: &Pins, apo: Apo, listener: &mut L) -> Result<(), Defect> {
        let older = usize::from(self.marks) + self.pairing.unbegun();
        match apo {
            Apo::Skip(skip) if !self.synchronised => {
                self.synchronised = true;
                self.look_for(skip);
            }
            _ if !self.synchronised => {
                self.pairing.unlocated(pins.cycle, true, listener);
                return Ok(());
            }
            Apo::Skip(skip) if usize::from(skip) != older => {
                let place = self.pairing.place(pins.offset, 0);
                let fault = Fault::new(FaultClass::Contradiction, place);
                listener.fault(&fault, Consequence::GivenUp);
                self.pairing.give_up(false, listener);
                self.look_for(skip);
            }
            _ => {}
        }
        let target = match apo {
            Apo::Abandoned => Target::Abandoned,
            Apo::TooLarge => Target::Unlocated,
            Apo::Skip(_) | Apo::Unknown => Target::Next,
        };
        let has_data = pins.status == Pipestat::Bd && self.may_have_data(pins, listener);
        let kind = if has_data { Kind::DataBranch(target) } else { Kind::Branch(target) };
        self.pairing.push(Status { cycle: pins.cycle, kind }, listener)
    }

    /// Number of marks before the next branch address, counted from this record on.
    fn look_for(&mut self, marks: u8) {
        self.marks = marks;
        self.half = None;
        self.pairing.pass_over();
    }

    /// A record in which the FIFO delivers. Spec: ETM1-PKT-001, ETM1-PKT-002 (5.2).
    #[inline]
    fn drain<L: Listener>(&mut self, pins: &Pins, listener: &mut L) -> Result<(), Defect> {
        let [first, second] = pins.lanes;
        let offset = pins.tracepkt();
        if pins.mark {
            self.half = None;
            match self.marks.checked_sub(1) {
                Some(marks) => self.marks = marks,
                None => self.pairing.mark(pins.offset, listener)?,
            }
        }
        if self.parameters.port_width == 4 {
            return self.nibble(pins.cycle, first, offset, listener);
        }
        self.byte(pins.cycle, FifoByte { value: first, low: offset, high: None }, false, listener)?;
        if self.parameters.port_width == 16 {
            self.byte(pins.cycle, FifoByte { value: second, low: offset + 1, high: None }, true, listener)?;
        }
        Ok(())
    }

    fn nibble<L: Listener>(
        &mut self,
        cycle: u64,
        value: u8,
        offset: u64,
        listener: &mut L,
    ) -> Result<(), Defect> {
        match self.half.take() {
            None if self.pairing.accepts(cycle) => self.half = Some((value, offset)),
            None if !self.pairing.is_idle() => listener.pins("skipped", offset, 0, 4, value),
            None => {}
            Some((half, low)) => {
                let byte = FifoByte { value: value << 4 | half, low, high: Some(offset) };
                self.byte(cycle, byte, false, listener)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn byte<L: Listener>(
        &mut self,
        cycle: u64,
        byte: FifoByte,
        upper: bool,
        listener: &mut L,
    ) -> Result<(), Defect> {
        if self.pairing.accepts(cycle) {
            return self.pairing.byte(byte, upper, listener);
        }
        if !self.pairing.is_idle() {
            emit_passed(byte, listener);
        }
        Ok(())
    }
}

/// Names the bits of a record, but for TRACEPKT when it carries packets.
fn emit<L: Listener>(offset: u64, pins: Cycle, apo_record: u8, listener: &mut L) {
    let apo = match apo_record {
        0 => None,
        1 => Some("APO[3:2]"),
        _ => Some("APO[1:0]"),
    };
    let is_part = |status: Pipestat| status.code() <= Pipestat::Wt.code();
    let status = pins.pipestat;
    match apo {
        Some(name) if is_part(status) => {
            listener.pins(name, offset, 0, 2, status.code());
            listener.pins("0", offset, 2, 1, 0);
        }
        _ => listener.pins("PIPESTAT", offset, 0, 3, status.code()),
    }
    listener.pins("TRACESYNC", offset, 3, 1, pins.tracesync.into());
    let low = (pins.tracepkt & 0b111) as u8;
    match (status, apo) {
        (Pipestat::Tr, Some(name)) if low <= Pipestat::Wt.code() => {
            listener.pins(name, offset + 1, 0, 2, low);
            listener.pins("0", offset + 1, 2, 1, 0);
        }
        (Pipestat::Tr, _) => listener.pins("replaced PIPESTAT", offset + 1, 0, 3, low),
        (Pipestat::Td, _) => listener.pins("keep", offset + 1, 0, 1, low & 1),
        _ => {}
    }
}
