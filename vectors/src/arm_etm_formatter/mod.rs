//! CoreSight formatter: the vocabulary of frames that carry the bytes of several trace sources.
//!
//! The wire is the formatted stream ([`arm`](crate::arm) has its layout). An encoder is a formatter: bytes of sources
//! in, frames out. A decoder is a deformatter: frames in, bytes of each trace ID out. Requirements are those of the
//! scope `formatter` in `vectors/clauses/arm_etm.toml`; every ARM family travels in such frames.

use alloc::collections::BTreeMap;
#[cfg(feature = "serde")]
use alloc::string::String;
use alloc::vec::Vec;

use crate::arm::{FormatterPolicy, Framing};
use crate::{FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of the CoreSight formatter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArmEtmFormatter;

/// What a deformatter must know beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// How frames lie in the stream.
    pub framing: Framing,
}

/// Bytes of a source, in text pairs of hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct SourceBytes(pub Vec<u8>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SourceBytes {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "SourceBytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Bytes of a source, as pairs of hexadecimal digits.",
            "pattern": "^([0-9a-fA-F]{2} ?)*$",
        })
    }
}

#[cfg(feature = "serde")]
impl From<SourceBytes> for String {
    fn from(bytes: SourceBytes) -> Self {
        crate::notation::show_bytes(&bytes.0)
    }
}

#[cfg(feature = "serde")]
impl TryFrom<String> for SourceBytes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        crate::notation::parse_bytes(&text).map(Self).ok_or("bytes are pairs of hexadecimal digits")
    }
}

/// What happens at the inputs of a formatter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stimulus {
    /// A source sends bytes. Those of an ID that no source can have are not taken (ARM-FMT-013).
    Data {
        /// Its ID.
        id: u8,
        /// The bytes.
        bytes: SourceBytes,
    },
    /// A trigger.
    Trigger,
    /// So many times there is nothing to send.
    Idle(u16),
    /// What was taken leaves; the rest of the frame is filled.
    Flush,
}

/// What stands in the stream. Dissections show it; no decoder reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// A frame.
    Frame(SourceBytes),
    /// A full synchronisation packet between frames.
    FullSync,
}

/// What a deformatter reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Event {
    /// The next bytes of an ID; cuts carry no meaning, nor does the order of bytes of different IDs.
    Data {
        /// Whose they are.
        id: u8,
        /// The bytes as the source sent them.
        bytes: SourceBytes,
    },
    /// What comes now does not follow on what was reported, for any source: the first synchronisation of a trace port,
    /// one after a fault, or a barrier of a capture in memory.
    Gap,
}

impl Protocol for ArmEtmFormatter {
    const ID: ProtocolId = ProtocolId::ArmEtmFormatter;
    const FEATURES: &'static [Feature] = &[];
    const READINGS: &'static [Reading] = &[];
    type Parameters = Parameters;
    type Policy = FormatterPolicy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    /// Frames are found by counting, so only what breaks the count loses them.
    fn recovery(class: FaultClass) -> Recovery {
        match class {
            FaultClass::Truncated | FaultClass::Framing | FaultClass::NotSynchronised => {
                Recovery::SynchronisationLost
            }
            _ => Recovery::GoesOn,
        }
    }

    fn is_synchronised_by(_: &Event) -> bool {
        true
    }

    /// The bytes of each ID together, between every two gaps.
    fn canonical(events: Vec<Event>) -> Vec<Event> {
        fn flush(streams: &mut BTreeMap<u8, Vec<u8>>, events: &mut Vec<Event>) {
            let streams = core::mem::take(streams).into_iter();
            events.extend(streams.map(|(id, bytes)| Event::Data { id, bytes: SourceBytes(bytes) }));
        }
        let mut streams = BTreeMap::<u8, Vec<u8>>::new();
        let mut canonical = Vec::new();
        for event in events {
            match event {
                Event::Data { id, bytes } => streams.entry(id).or_default().extend(bytes.0),
                Event::Gap => {
                    flush(&mut streams, &mut canonical);
                    canonical.push(Event::Gap);
                }
            }
        }
        flush(&mut streams, &mut canonical);
        canonical
    }
}
