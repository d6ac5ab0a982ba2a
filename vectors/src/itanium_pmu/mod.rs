//! Itanium (first generation) event qualification: the vocabulary of the specification.
//!
//! Source references: plain numbers such as `6.2.4` are sections of the processor manual's chapter on performance
//! monitoring, `MD-n` and `A-n` decisions of this project where the text is silent or sources conflict; each is an
//! option of [`Parameters`] and a reading.
//!
//! `{h:l}` is a slice of bits, 0 = least significant; registers have 64 bits.
//!
//! The wire is the log of everything that happens at the performance monitor ([`wire`]): what goes in (register writes,
//! instructions, accesses, misses, cycles) and what comes out (register reads, tags, interrupts). A model writes the
//! log from stimulus. A decoder takes its registers apart, derives the qualification from the inputs, and reports where
//! the outputs contradict it.
//!
//! | purpose | place |
//! |---|---|
//! | The registers | [`Register`] |
//! | Their contents | [`Contents`], [`Known`] |
//! | Events that can be selected | [`events`] |
//! | What the text leaves open | [`Parameters`], [`READINGS`] |
//! | Stimulus of the performance monitor | [`Stimulus`] |
//! | The bytes of a log | [`wire`] |
//! | The records of a log | [`Packet`] |
//! | What a decoder reports: events, their order, and faults | [`Event`] |

mod contents;
mod event;
pub mod events;
mod packet;
mod parameters;
mod policy;
mod recovery;
mod register;
mod stimulus;
pub mod wire;

pub use contents::{Contents, DataTlbLevel, InstructionTlbResolution, Known};
pub use event::{DataMiss, Event, InstructionMiss, MISSES_PER_CYCLE, Notice};
pub use packet::{Packet, Tags};
pub use parameters::{
    DataEarQualifier, DataEarThresholds, EarReadPrivilege, EarReplacement, FreezeTiming, Ia32Counting,
    IbrLowBits, LatencyOverflow, LatencyThreshold, LongSyllable, Parameters,
};
pub use policy::Policy;
pub use register::{Register, RegisterClass, UnknownRegister};
pub use stimulus::{Access, AccessKind, Instruction, Miss, Occurrence, Stimulus, SyllableType};

use crate::{Binds, FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of Itanium event qualification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItaniumPmu;

impl Protocol for ItaniumPmu {
    const ID: ProtocolId = ProtocolId::ItaniumPmu;
    const FEATURES: &'static [Feature] = &FEATURES;
    const READINGS: &'static [Reading] = &READINGS;
    const PROVISIONAL: &'static [&'static str] = &PROVISIONAL;
    type Parameters = Parameters;
    type Policy = Policy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    fn recovery(class: FaultClass) -> Recovery {
        recovery::recovery(class)
    }

    fn is_synchronised_by(event: &Event) -> bool {
        recovery::is_synchronised_by(event)
    }
}

/// The optional features that a subject may claim in its capabilities. Everything else is mandatory.
pub const FEATURES: [Feature; 3] = [
    Feature::new(
        "qualification",
        "tags, counts or captures are worked out: things happen between accesses to registers",
    ),
    Feature::new(
        "lenient",
        "values that no hardware can hold are made whole instead of refused: `strict` is off",
    ),
    Feature::new("options", "a parameter of MD-1 to MD-9, A-10 or A-20 is not the default"),
];

/// What is read into what the text leaves open.
pub const READINGS: [Reading; 17] = [
    reading("ita-md-1", "Occurrences in IA-32 code count as `Parameters::ia32_counting` says."),
    reading("ita-md-2", "Latencies beyond 12 bits are recorded as `Parameters::latency_overflow` says."),
    reading(
        "ita-md-3",
        "Which miss event address registers keep: `Parameters::ear_replacement`; hardware never clears v.",
    ),
    reading("ita-md-4", "The long syllable of MLX has the type that `Parameters::long_syllable` says."),
    reading("ita-md-5", "What the freezing cycle still counts: `Parameters::freeze`."),
    reading("ita-md-7", "Bits {3:0} of an instruction breakpoint address: `Parameters::ibr_low_bits`."),
    reading("ita-md-8", "Data latency thresholds 7 to 10: `Parameters::data_ear_thresholds`."),
    reading(
        "ita-md-9",
        "What qualifies data misses for capture: `Parameters::data_ear_qualifier`; one address per access, no size.",
    ),
    reading("ita-a-10", "A latency that equals the threshold: `Parameters::latency_threshold`."),
    reading("ita-a-20", "Who may read event address registers: `Parameters::ear_read_privilege`."),
    reading(
        "ita-reserved-umask-captures-nothing",
        "Cache-mode umask 11 to 14 capture nothing; TLB-mode umask bits without a class have no effect.",
    ),
    reading("ita-reset-clears", "Reset leaves 0 in every register without a documented reset value."),
    reading(
        "ita-inst-retired-is-qualified",
        "IA64_INST_RETIRED (umask 0) is qualified by Tag(PMC[8]) as the tagged events are.",
    ),
    reading(
        "ita-implemented-counter-bits",
        "Which bits PMC[4] to PMC[7] implement, with a threshold of two bits in PMC[6] and PMC[7], is what libpfm, VTune \
         and QEMU say.",
    ),
    reading(
        "ita-implemented-capture-bits",
        "Which bits PMC[11], PMC[12] and the PMDs of the event address registers implement is what libpfm and QEMU say.",
    ),
    reading(
        "ita-implemented-breakpoint-bits",
        "Which bits the odd IBRs and DBRs implement is what QEMU, Ski and libpfm say.",
    ),
    Reading {
        name: "ita-out-of-mode-fields-are-0",
        // A decoder compares no undefined bits.
        binds: Binds::Encoders,
        text: "A model records 0 in fields that the mode leaves undefined (MD-10).",
    },
];

/// The readings that rest on software written for the processor (libpfm, VTune, QEMU, Ski) and not on its manual. A
/// verdict that depends on one is provisional.
pub const PROVISIONAL: [&str; 3] =
    ["ita-implemented-counter-bits", "ita-implemented-capture-bits", "ita-implemented-breakpoint-bits"];

const fn reading(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Both, text }
}
