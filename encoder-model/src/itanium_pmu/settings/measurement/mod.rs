//! Everything of one measurement together: events on counters, and their qualification.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::itanium_pmu::Register;
use traceproof_vectors::itanium_pmu::events::{Qualifier, SelectableEvent};

use super::{
    CodeRanges, Covered, DataRanges, EventRefusal, EventRequest, EventSettings, OpcodeMatch, OpcodeRefusal,
    RangeRefusal, Setting,
};

/// PMC\[11\].pt.
const PT: u64 = 1 << 28;

/// Events, and the code, data and instructions that they shall be counted for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurement<'a> {
    /// Up to four events. `pt` of those that set up event address registers is taken from whether data ranges are
    /// given.
    pub events: Vec<EventRequest>,
    /// Code; `None` = everywhere.
    pub code: Option<CodeRanges<'a>>,
    /// Data; `None` = everywhere. `pmc11` is taken from the events, if one of them sets up event address registers.
    pub data: Option<DataRanges<'a>>,
    /// Instructions of PMC\[8\] and PMC\[9\]; none = all.
    pub opcodes: Vec<OpcodeMatch>,
    /// Events are counted even if what was given does not qualify them, or not at all of their privilege levels.
    pub unqualified: bool,
}

/// What to write, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementSettings {
    /// All registers, each once: opcode matches, ranges, event address registers, counters.
    pub settings: Vec<Setting>,
    /// The counter of each event, in the order of the events.
    pub counters: Vec<u8>,
    /// What code is tagged.
    pub code: Vec<Covered>,
    /// What data is tagged.
    pub data: Vec<Covered>,
    /// Bits of syllables that were asked for and cannot be compared, for each opcode match.
    pub not_compared: Vec<u64>,
}

/// Why a measurement cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasurementRefusal {
    /// A range is at fault.
    Range(RangeRefusal),
    /// An opcode match is.
    Opcode(OpcodeRefusal),
    /// An event is: which, and why.
    Event(usize, EventRefusal),
    /// Two need the same register with different contents.
    Conflict(Register),
    /// There is no counter left for this event.
    NoCounterLeft(usize),
    /// What was given does not qualify this event: it would be counted regardless of the data or of everything.
    NotQualified(usize),
    /// The event is to be counted at a privilege level at which no code is tagged, so that it never would be.
    NeverTagged(usize),
}

impl fmt::Display for MeasurementRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(refusal) => refusal.fmt(f),
            Self::Opcode(refusal) => refusal.fmt(f),
            Self::Event(index, refusal) => write!(f, "event {index}: {refusal}"),
            Self::Conflict(register) => write!(f, "{register} is needed with different contents"),
            Self::NoCounterLeft(index) => write!(f, "event {index}: no counter that can count it is left"),
            Self::NotQualified(index) => {
                write!(f, "event {index}: it would be counted regardless of what it is to be restricted to")
            }
            Self::NeverTagged(index) => {
                write!(f, "event {index}: at some of its privilege levels no code is tagged")
            }
        }
    }
}

impl core::error::Error for MeasurementRefusal {}

impl From<RangeRefusal> for MeasurementRefusal {
    fn from(refusal: RangeRefusal) -> Self {
        Self::Range(refusal)
    }
}

impl From<OpcodeRefusal> for MeasurementRefusal {
    fn from(refusal: OpcodeRefusal) -> Self {
        Self::Opcode(refusal)
    }
}

impl Measurement<'_> {
    /// The settings. What is not restricted gets its check switched off, so that nothing is left over from earlier.
    ///
    /// # Errors
    ///
    /// Why it would not measure what is requested.
    pub fn settings(&self) -> Result<MeasurementSettings, MeasurementRefusal> {
        let mut settings = Vec::new();
        let not_compared = self.opcode_settings(&mut settings)?;
        let (monitors, counters) = self.event_settings()?;
        let mut code = Vec::new();
        match &self.code {
            Some(ranges) => {
                let answer = ranges.settings()?;
                settings.extend(answer.settings);
                code = answer.covered;
            }
            None => settings.push(Setting {
                register: Register::pmc(13),
                value: 1,
                meaning: String::from("ta = 1: instructions are tagged wherever they are"),
            }),
        }
        let mut data = Vec::new();
        let ear = monitors.iter().find(|setting| setting.register == Register::pmc(11));
        match &self.data {
            Some(ranges) => {
                let pmc11 = ear.map_or(ranges.pmc11, |setting| setting.value);
                let answer = DataRanges { pmc11, ..*ranges }.settings()?;
                settings.extend(answer.settings);
                data = answer.covered;
            }
            None => settings.push(Setting {
                register: Register::pmc(11),
                value: ear.map_or(0, |setting| setting.value) | PT,
                meaning: String::from("pt = 1: accesses are tagged wherever the data is"),
            }),
        }
        if let (Some(ear), Some(written)) =
            (ear, settings.iter_mut().find(|setting| setting.register == Register::pmc(11)))
        {
            written.meaning = alloc::format!("{}; {}", ear.meaning, written.meaning);
        }
        settings.extend(monitors.into_iter().filter(|setting| setting.register != Register::pmc(11)));
        Ok(MeasurementSettings { settings, counters, code, data, not_compared })
    }

    /// PMC\[8\] and PMC\[9\].
    fn opcode_settings(&self, settings: &mut Vec<Setting>) -> Result<Vec<u64>, MeasurementRefusal> {
        let mut not_compared = Vec::new();
        for matched in &self.opcodes {
            let answer = matched.settings()?;
            merge(settings, answer.setting)?;
            not_compared.push(answer.not_compared);
        }
        for pmc in [8, 9] {
            if !settings.iter().any(|setting| setting.register == Register::pmc(pmc)) {
                settings.push(Setting {
                    register: Register::pmc(pmc),
                    value: 0xf000_0000_3fff_fff8,
                    meaning: alloc::format!("Tag(PMC[{pmc}]): every syllable"),
                });
            }
        }
        Ok(not_compared)
    }

    /// PMC\[10\], PMC\[11\], PMC\[4\] to PMC\[7\], and the counter of each event.
    fn event_settings(&self) -> Result<(Vec<Setting>, Vec<u8>), MeasurementRefusal> {
        let counters = self.assign_counters()?;
        let mut ears = Vec::new();
        let mut monitors = Vec::new();
        for (index, (request, counter)) in self.events.iter().zip(&counters).enumerate() {
            let request =
                EventRequest { counter: Some(*counter), pt: self.data.is_none(), ..request.clone() };
            let EventSettings { settings, .. } =
                request.settings().map_err(|refusal| MeasurementRefusal::Event(index, refusal))?;
            for setting in settings {
                let is_ear = matches!(setting.register.index, 10 | 11);
                merge(if is_ear { &mut ears } else { &mut monitors }, setting)?;
            }
        }
        ears.append(&mut monitors);
        Ok((ears, counters))
    }

    /// A counter for every event: those that name one, then those that few can count, then the others.
    fn assign_counters(&self) -> Result<Vec<u8>, MeasurementRefusal> {
        let mut assigned = alloc::vec![None; self.events.len()];
        let mut free = [4, 5, 6, 7].map(|counter| (counter, true));
        let mut waiting = Vec::new();
        for (index, request) in self.events.iter().enumerate() {
            let blame = |refusal| MeasurementRefusal::Event(index, refusal);
            let event = request.settings().map_err(blame)?.event;
            if !self.unqualified && !self.is_qualified(event) {
                return Err(MeasurementRefusal::NotQualified(index));
            }
            if !self.unqualified && self.code.is_some_and(|code| request.plm & !code.plm != 0) {
                return Err(MeasurementRefusal::NeverTagged(index));
            }
            match request.counter {
                None => {
                    let choice = (4..8).filter(|counter| request.check_counter(event, *counter).is_ok());
                    waiting.push((choice.count(), index, event));
                }
                Some(counter) => {
                    let slot = free.iter_mut().find(|(other, is_free)| *other == counter && *is_free);
                    let (counter, is_free) =
                        slot.ok_or(MeasurementRefusal::Conflict(Register::pmc(counter)))?;
                    *is_free = false;
                    assigned[index] = Some(*counter);
                }
            }
        }
        waiting.sort_by_key(|(choice, index, _)| (*choice, *index));
        for (_, index, event) in waiting {
            let request = &self.events[index];
            let slot = free
                .iter_mut()
                .find(|(counter, is_free)| *is_free && request.check_counter(event, *counter).is_ok());
            let (counter, is_free) = slot.ok_or(MeasurementRefusal::NoCounterLeft(index))?;
            *is_free = false;
            assigned[index] = Some(*counter);
        }
        assigned
            .into_iter()
            .enumerate()
            .map(|(index, counter)| counter.ok_or(MeasurementRefusal::NoCounterLeft(index)))
            .collect()
    }

    /// Whether everything that is restricted restricts this event (section 7). What is restricted by data only is no
    /// more than a restriction by everything before it.
    fn is_qualified(&self, event: &SelectableEvent) -> bool {
        let asks_for = |pmc: u8| self.opcodes.iter().any(|matched| matched.pmc == pmc);
        let reach = match event.qualifier {
            Qualifier::None => 0,
            Qualifier::Range => 1,
            Qualifier::Opcode | Qualifier::OtherOpcode => 2,
            Qualifier::Data => 3,
        };
        let opcode = if event.qualifier == Qualifier::OtherOpcode { 9 } else { 8 };
        let needed = if self.data.is_some() {
            3
        } else if asks_for(8) && opcode == 8 {
            2
        } else {
            u8::from(self.code.is_some())
        };
        reach >= needed
    }
}

/// Adds a setting, unless the register is set to the same already.
fn merge(settings: &mut Vec<Setting>, setting: Setting) -> Result<(), MeasurementRefusal> {
    match settings.iter().find(|other| other.register == setting.register) {
        None => {
            settings.push(setting);
            Ok(())
        }
        Some(other) if other.value == setting.value => Ok(()),
        Some(_) => Err(MeasurementRefusal::Conflict(setting.register)),
    }
}

#[cfg(test)]
mod tests;
