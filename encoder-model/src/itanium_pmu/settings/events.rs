//! Which configuration counts which event.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::itanium_pmu::events::SelectableEvent;
use traceproof_vectors::itanium_pmu::{Contents, DataEarThresholds, Register};

use super::ear_events::EarEvent;
use super::{Levels, Setting};
use crate::itanium_pmu::value_of;

/// An event to be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest {
    /// A name of the event table, or one that selects what event address registers capture, such as
    /// `DATA_EAR_CACHE_LAT64`; case does not matter.
    pub name: String,
    /// n of PMD\[n\]; `None` = the first that can count it.
    pub counter: Option<u8>,
    /// Another unit mask than the name's.
    pub umask: Option<u8>,
    /// At which privilege levels: bit k for level k, not 0.
    pub plm: u8,
    /// 0 = every occurrence counts; else cycles count in which it occurs more often than this.
    pub threshold: u8,
    /// Which instruction sets do not count: bit 0 IA-64, bit 1 IA-32.
    pub ism: u8,
    /// The same for the event address registers.
    pub ear_ism: u8,
    /// PSR.pp starts it, instead of PSR.up.
    pub pm: bool,
    /// Overflow freezes and interrupts.
    pub oi: bool,
    /// Overflow is shown outside.
    pub ev: bool,
    /// PMC\[11\].pt, if the data event address registers are set up: the data address range check stays off.
    pub pt: bool,
    /// Which latency thresholds the data event address registers have.
    pub thresholds: DataEarThresholds,
}

impl EventRequest {
    /// The event at these privilege levels, in both instruction sets, started by PSR.up, with overflow interrupts as
    /// libpfm sets it up.
    #[must_use]
    pub fn new(name: &str, plm: u8) -> Self {
        Self {
            name: String::from(name),
            counter: None,
            umask: None,
            plm,
            threshold: 0,
            ism: 0,
            ear_ism: 0,
            pm: false,
            oi: true,
            ev: false,
            pt: true,
            thresholds: DataEarThresholds::default(),
        }
    }

    /// The settings: PMC\[10\] or PMC\[11\] if event address registers are to capture, then PMC\[4\] to PMC\[7\].
    ///
    /// # Errors
    ///
    /// Why it would not count what is requested.
    pub fn settings(&self) -> Result<EventSettings, EventRefusal> {
        let (event, ear) = self.selected()?;
        self.check(event)?;
        let counter = match self.counter {
            Some(counter) => counter,
            None => (4..8)
                .find(|counter| self.check_counter(event, *counter).is_ok())
                .ok_or(EventRefusal::TooHigh { threshold: self.threshold, widest: 7 })?,
        };
        self.check_counter(event, counter)?;
        let mut settings = Vec::new();
        if let Some(ear) = ear {
            settings.push(self.ear_setting(ear)?);
        }
        settings.push(self.counter_setting(event, counter));
        let is_disputed = ear.is_some_and(|ear| {
            ear.is_data()
                && !ear.is_tlb()
                && ear.umask(self.thresholds).is_some_and(|umask| (7..=10).contains(&umask))
        });
        Ok(EventSettings { settings, event, counter, is_disputed })
    }

    /// The row of the event table, and what the name says of event address registers.
    pub(super) fn selected(&self) -> Result<(&'static SelectableEvent, Option<EarEvent>), EventRefusal> {
        if let Some(ear) = EarEvent::by_name(&self.name) {
            if let Some(umask) = self.umask {
                return Err(EventRefusal::UnknownUmask { es: ear.es, umask });
            }
            let event = SelectableEvent::find(ear.es, 0).ok_or_else(|| self.unknown())?;
            return Ok((event, Some(ear)));
        }
        let event = SelectableEvent::by_name(&self.name).ok_or_else(|| self.unknown())?;
        match self.umask {
            None => Ok((event, None)),
            Some(umask) => SelectableEvent::find(event.es, umask)
                .map(|event| (event, None))
                .ok_or(EventRefusal::UnknownUmask { es: event.es, umask }),
        }
    }

    fn unknown(&self) -> EventRefusal {
        EventRefusal::UnknownEvent(self.name.clone())
    }

    /// Says what is wrong on any counter.
    fn check(&self, event: &SelectableEvent) -> Result<(), EventRefusal> {
        if self.plm == 0 || self.plm > 15 {
            return Err(EventRefusal::PrivilegeLevels(self.plm));
        }
        for ism in [self.ism, self.ear_ism] {
            if ism > 2 {
                return Err(EventRefusal::InstructionSets(ism));
            }
        }
        if self.threshold != 0 && self.threshold >= event.max_increment {
            return Err(EventRefusal::NeverCounts {
                threshold: self.threshold,
                max_increment: event.max_increment,
            });
        }
        Ok(())
    }

    /// Says what is wrong on this counter.
    pub(super) fn check_counter(&self, event: &SelectableEvent, counter: u8) -> Result<(), EventRefusal> {
        if !(4..8).contains(&counter) {
            return Err(EventRefusal::NoCounter(counter));
        }
        if !event.is_countable_on(counter) {
            return Err(EventRefusal::WrongCounter { name: event.name, counter, counters: event.counters });
        }
        let widest = if counter < 6 { 7 } else { 3 };
        if self.threshold > widest {
            return Err(EventRefusal::TooHigh { threshold: self.threshold, widest });
        }
        Ok(())
    }

    fn counter_setting(&self, event: &SelectableEvent, counter: u8) -> Setting {
        let contents = Contents::CounterConfiguration {
            register: Register::pmc(counter),
            plm: self.plm,
            ev: self.ev,
            oi: self.oi,
            pm: self.pm,
            es: event.es,
            umask: event.umask,
            threshold: self.threshold,
            ism: self.ism,
        };
        let levels = Levels(self.plm);
        let meaning = match self.threshold {
            0 => format!("PMD{counter} counts {} at {levels}", event.name),
            threshold => {
                format!("PMD{counter} counts cycles with more than {threshold} {} at {levels}", event.name)
            }
        };
        Setting { register: Register::pmc(counter), value: value_of(&contents), meaning }
    }

    fn ear_setting(&self, ear: EarEvent) -> Result<Setting, EventRefusal> {
        let umask = ear.umask(self.thresholds).ok_or_else(|| self.unknown())?;
        let Self { plm, pm, ear_ism: ism, pt, .. } = *self;
        let tlb = ear.is_tlb();
        let contents = if ear.is_data() {
            Contents::DataEarConfiguration { plm, pm, tlb, umask, ism, pt }
        } else {
            Contents::InstructionEarConfiguration { plm, pm, tlb, umask, ism }
        };
        let meaning = format!("captures {} at {}", self.name.to_ascii_uppercase(), Levels(plm));
        Ok(Setting { register: contents.register(), value: value_of(&contents), meaning })
    }
}

/// What to write, and what it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSettings {
    /// The registers.
    pub settings: Vec<Setting>,
    /// The event that is counted.
    pub event: &'static SelectableEvent,
    /// By which counter.
    pub counter: u8,
    /// Sources disagree about the latency threshold (MD-8): the processor may capture from half or twice the latency
    /// on.
    pub is_disputed: bool,
}

/// Why an event cannot be counted as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventRefusal {
    /// No event has this name, or not on a processor with these thresholds.
    UnknownEvent(String),
    /// The event has no such unit mask.
    UnknownUmask {
        /// Event select code.
        es: u8,
        /// Unit mask.
        umask: u8,
    },
    /// There is no such counter: there are 4 to 7.
    NoCounter(u8),
    /// The counter cannot count it.
    WrongCounter {
        /// The event.
        name: &'static str,
        /// The counter.
        counter: u8,
        /// Those that can: bit n for PMD\[n\].
        counters: u8,
    },
    /// It never occurs more often than this in one cycle.
    NeverCounts {
        /// The threshold.
        threshold: u8,
        /// The most occurrences in one cycle.
        max_increment: u8,
    },
    /// The counter's threshold field is too narrow.
    TooHigh {
        /// The threshold.
        threshold: u8,
        /// The highest that fits.
        widest: u8,
    },
    /// The privilege levels are none, or not four.
    PrivilegeLevels(u8),
    /// No instruction set would count, or there is no such mask.
    InstructionSets(u8),
}

impl fmt::Display for EventRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEvent(name) => write!(f, "no event is called {name}"),
            Self::UnknownUmask { es, umask } => {
                write!(f, "event {es:#04x} has no unit mask {umask:#x} that could be chosen")
            }
            Self::NoCounter(counter) => write!(f, "PMD{counter} is no counter: PMD4 to PMD7 are"),
            Self::WrongCounter { name, counter, counters } => {
                let others = (4..8).filter(|other| counters >> other & 1 != 0);
                let others: Vec<_> = others.map(|other| format!("PMD{other}")).collect();
                write!(f, "PMD{counter} cannot count {name}; {} can", others.join(", "))
            }
            Self::NeverCounts { threshold, max_increment } => write!(
                f,
                "with threshold {threshold} it never counts: it occurs at most {max_increment} times in a cycle"
            ),
            Self::TooHigh { threshold, widest } => {
                write!(f, "threshold {threshold} is above {widest}, the highest that the counter can have")
            }
            Self::PrivilegeLevels(plm) => write!(f, "plm {plm:#x} selects no privilege level of the four"),
            Self::InstructionSets(ism) => write!(f, "with ism {ism} no instruction set counts"),
        }
    }
}

impl core::error::Error for EventRefusal {}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(request: &EventRequest) -> Vec<(Register, u64)> {
        let settings = request.settings().unwrap().settings;
        settings.iter().map(|setting| (setting.register, setting.value)).collect()
    }

    /// What libpfm 3 computes.
    #[test]
    fn the_values_of_libpfm_are_reproduced() {
        let user = |name| EventRequest::new(name, 8);
        let ia64 = |name| EventRequest { ism: 2, ..user(name) };
        let (pmc4, pmc10, pmc11) = (Register::pmc(4), Register::pmc(10), Register::pmc(11));
        for (example, request, expected) in [
            (40, user("CPU_CYCLES"), &[(pmc4, 0x1228)][..]),
            (41, EventRequest { pm: true, ..EventRequest::new("CPU_CYCLES", 1) }, &[(pmc4, 0x1261)]),
            (42, EventRequest { threshold: 5, ..ia64("NOPS_RETIRED") }, &[(pmc4, 0x0250_3028)]),
            (43, ia64("IA64_TAGGED_INST_RETIRED_PMC8"), &[(pmc4, 0x0203_0828)]),
            (44, EventRequest::new("IA64_TAGGED_INST_RETIRED_PMC9", 15), &[(pmc4, 0x0002_082f)]),
            (45, ia64("DATA_EAR_CACHE_LAT64"), &[(pmc11, 0x1004_0008), (pmc4, 0x0200_6728)]),
            (46, user("DATA_EAR_TLB_VHPT"), &[(pmc11, 0x1004_0088), (pmc4, 0x6728)]),
            (47, user("INSTRUCTION_EAR_CACHE_LAT8"), &[(pmc10, 0x0001_0008), (pmc4, 0x2328)]),
            (48, user("INSTRUCTION_EAR_TLB_SW"), &[(pmc10, 0x0008_0088), (pmc4, 0x2328)]),
            (49, user("loads_retired"), &[(pmc4, 0x6c28)]),
        ] {
            assert_eq!(values(&request), expected, "EX-{example}");
        }
        let shifted =
            EventRequest { thresholds: DataEarThresholds::Shifted, ..user("DATA_EAR_CACHE_LAT512") };
        assert_eq!(values(&shifted), [(pmc11, 0x1008_0008), (pmc4, 0x6728)]);
        assert!(shifted.settings().unwrap().is_disputed);
        assert_eq!(values(&user("DATA_EAR_CACHE_LAT512"))[0], (pmc11, 0x1007_0008));
    }

    #[test]
    fn what_would_not_count_is_refused() {
        let refusal = |request: EventRequest| request.settings().unwrap_err();
        let user = |name| EventRequest::new(name, 8);
        for name in ["NO_SUCH_EVENT", "", "DATA_EAR_CACHE_LAT65"] {
            assert_eq!(refusal(user(name)), EventRefusal::UnknownEvent(name.into()));
        }
        assert_eq!(
            refusal(EventRequest { counter: Some(6), ..user("NOPS_RETIRED") }),
            EventRefusal::WrongCounter { name: "NOPS_RETIRED", counter: 6, counters: 0x30 }
        );
        for counter in [3, 8, 255] {
            let asked = EventRequest { counter: Some(counter), ..user("CPU_CYCLES") };
            assert_eq!(refusal(asked), EventRefusal::NoCounter(counter));
        }
        for (name, threshold, max_increment) in [("CPU_CYCLES", 1, 1), ("NOPS_RETIRED", 6, 6)] {
            assert_eq!(
                refusal(EventRequest { threshold, ..user(name) }),
                EventRefusal::NeverCounts { threshold, max_increment }
            );
        }
        assert_eq!(refusal(EventRequest::new("CPU_CYCLES", 0)), EventRefusal::PrivilegeLevels(0));
        assert_eq!(refusal(EventRequest::new("CPU_CYCLES", 16)), EventRefusal::PrivilegeLevels(16));
        assert_eq!(refusal(EventRequest { ism: 3, ..user("CPU_CYCLES") }), EventRefusal::InstructionSets(3));
        assert_eq!(
            refusal(EventRequest { umask: Some(1), ..user("IA64_INST_RETIRED") }),
            EventRefusal::UnknownUmask { es: 8, umask: 1 }
        );
        let missing =
            EventRequest { thresholds: DataEarThresholds::Shifted, ..user("DATA_EAR_CACHE_LAT4096") };
        assert_eq!(refusal(missing), EventRefusal::UnknownEvent("DATA_EAR_CACHE_LAT4096".into()));
    }

    #[test]
    fn a_unit_mask_selects_a_sibling_and_a_counter_is_found() {
        let other = EventRequest { umask: Some(2), ..EventRequest::new("IA64_INST_RETIRED", 1) };
        assert_eq!(other.settings().unwrap().event.name, "IA64_TAGGED_INST_RETIRED_PMC9");
        let seventh = EventRequest { counter: Some(7), ..EventRequest::new("CPU_CYCLES", 1) };
        assert_eq!(values(&seventh), [(Register::pmc(7), 0x1221)]);
        let text = seventh.settings().unwrap().settings[0].meaning.clone();
        assert_eq!(text, "PMD7 counts CPU_CYCLES at privilege level 0");
    }
}
