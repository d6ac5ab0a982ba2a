//! The interface of decoders and encoders, for this project's and third parties', and the receivers of results.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::{DecoderLimits, DecoderState, Fault, Place, Program, Protocol};

/// A decoder of one family.
///
/// The life of a decoder: [`begin`](Self::begin), any number of [`push`](Self::push), [`finish`](Self::finish).
/// After `finish`, or at any time, [`reset`](Self::reset) returns to the state right after `begin`; `begin`
/// may be called again with other parameters.
///
/// Rules that the runner checks:
/// * the borders between chunks never matter: any cut of the same bytes gives the same results;
/// * packets and faults go to the sink in stream order; a packet is delivered before the events that it causes;
/// * an event is delivered when it is committed, in the order of execution. Its place is that of the packet that
///   carried it, so that under speculation places of events need not ascend. What is not committed at
///   [`finish`](Self::finish) is not delivered;
/// * to commit or cancel more than is open is a fault of class `contradiction`; more open elements than
///   [`DecoderLimits::speculation`] are one of class `limit`;
/// * what a [`Fault`] costs is stated for each class by [`Protocol::recovery`];
/// * no input makes it panic, loop without consuming, or allocate without bound.
pub trait Decoder<P: Protocol> {
    /// What this decoder claims to support for the family.
    fn capabilities(&self) -> Capabilities;

    /// Takes other limits than the default ones; they hold from the next [`begin`](Self::begin) on. A decoder that has
    /// no limits to set ignores them, as this does.
    fn set_limits(&mut self, _limits: &DecoderLimits) {}

    /// Takes the configuration and the code image and waits for the first byte.
    ///
    /// # Errors
    ///
    /// When the parameters cannot be honoured. Refusing is never a failure; guessing is.
    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal>;

    /// Consumes the next bytes of the stream.
    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>);

    /// The stream ends here: reports what is pending, and a packet that is cut off.
    fn finish(&mut self, sink: &mut dyn Sink<P>);

    /// Forgets the stream but keeps parameters and program.
    fn reset(&mut self);

    /// What the next packet is decoded with, for people: after the bytes of a packet it contains what that packet
    /// changed. A decoder that does not show it has no parts, as this.
    fn state(&self) -> DecoderState {
        DecoderState::default()
    }
}

/// An encoder (or any model that turns stimulus into a trace) of one family.
pub trait Encoder<P: Protocol> {
    /// What this encoder claims to support for the family.
    fn capabilities(&self) -> Capabilities;

    /// Takes the hardware configuration and the choices to make.
    ///
    /// # Errors
    ///
    /// When parameters or policy cannot be honoured.
    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal>;

    /// Lets one step of stimulus happen.
    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>);

    /// The stimulus ends here: what is a packet already, or the record of a cycle, and is still buffered, leaves the
    /// encoder.
    ///
    /// Nothing new is decided or reported. Hardware cannot know that nothing will follow, so what ends a trace (a
    /// disable, a filter, a halt, TraceEnable that falls) is a step of the stimulus. Per family:
    ///
    /// * E-Trace: nothing is buffered. The packets that report the final instruction come when tracing stops (ET 7.5).
    /// * ETMv1 and ETMv2: one record for each cycle whose record is still in the pipeline; then the trace clock runs
    ///   on, with nothing to trace, until the FIFO is empty (IHI 0014Q 5.4, 6.1.6).
    /// * ETMv3: packets of the latest cycle and the FIFO. Atoms without P-header stay; they go when tracing stops
    ///   (7.3).
    /// * Itanium: nothing is buffered.
    /// * ARM PFT: the FIFO. Atoms without packet stay; they go at a flush, or when tracing stops (4.15).
    fn finish(&mut self, sink: &mut dyn EncoderSink<P>);
}

/// Where a decoder's results go.
pub trait Sink<P: Protocol> {
    /// A whole packet was read. `place` is its first bit.
    fn packet(&mut self, place: Place, packet: &P::Packet);
    /// Something happened in the traced execution. `place` is the packet that carried it.
    fn event(&mut self, place: Place, event: &P::Event);
    /// Something is wrong.
    fn fault(&mut self, fault: &Fault);
}

/// Where an encoder's results go.
///
/// Packets and bytes are separate because a packet may be created long before its bytes leave a FIFO.
pub trait EncoderSink<P: Protocol> {
    /// A packet was created.
    fn packet(&mut self, packet: &P::Packet);
    /// Bytes left the encoder. The concatenation of all calls is the wire; cuts carry no meaning.
    fn wire(&mut self, bytes: &[u8]);
}

/// Throws everything away; for measuring.
impl<P: Protocol> Sink<P> for () {
    fn packet(&mut self, _: Place, _: &P::Packet) {}
    fn event(&mut self, _: Place, _: &P::Event) {}
    fn fault(&mut self, _: &Fault) {}
}

/// Throws everything away; for measuring.
impl<P: Protocol> EncoderSink<P> for () {
    fn packet(&mut self, _: &P::Packet) {}
    fn wire(&mut self, _: &[u8]) {}
}

/// One line of a [`Log`].
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<P: Protocol> {
    /// A packet.
    Packet(P::Packet),
    /// An event of the execution.
    Event(P::Event),
    /// A fault; its place is in the fault itself too.
    Fault(Fault),
}

/// Everything a decoder or encoder delivered, in order.
#[derive(Clone, Debug)]
pub struct Log<P: Protocol> {
    /// What was delivered, with the place it was delivered for.
    pub entries: Vec<(Place, Entry<P>)>,
    /// The bytes of an encoder; empty for a decoder.
    pub wire: Vec<u8>,
}

impl<P: Protocol> Default for Log<P> {
    fn default() -> Self {
        Self { entries: Vec::new(), wire: Vec::new() }
    }
}

impl<P: Protocol> Log<P> {
    /// The packets in order.
    pub fn packets(&self) -> impl Iterator<Item = &P::Packet> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Packet(packet) => Some(packet),
            _ => None,
        })
    }

    /// The events in order, as delivered.
    pub fn events(&self) -> impl Iterator<Item = &P::Event> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Event(event) => Some(event),
            _ => None,
        })
    }

    /// The faults in order.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Fault(fault) => Some(fault),
            _ => None,
        })
    }

    /// The events in the form in which decoders are compared (see [`Protocol::canonical`]).
    #[must_use]
    pub fn canonical_events(&self) -> Vec<P::Event> {
        P::canonical(self.events().cloned().collect())
    }
}

impl<P: Protocol> Sink<P> for Log<P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.entries.push((place, Entry::Packet(packet.clone())));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.entries.push((place, Entry::Event(event.clone())));
    }

    fn fault(&mut self, fault: &Fault) {
        self.entries.push((fault.place, Entry::Fault(*fault)));
    }
}

/// The place of an encoder's packet is its index and the number of bytes that had left before it.
impl<P: Protocol> EncoderSink<P> for Log<P> {
    fn packet(&mut self, packet: &P::Packet) {
        let place = Place { packet: self.entries.len() as u64, byte: self.wire.len() as u64, bit: 0 };
        self.entries.push((place, Entry::Packet(packet.clone())));
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }
}

/// What a subject claims to support for one family. What is not claimed is not tested, and is counted apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Capabilities {
    /// Which results it delivers.
    pub layers: BTreeSet<Layer>,
    /// Names from the family's feature list (see e.g. [`Protocol::FEATURES`]).
    pub features: BTreeSet<String>,
    /// Named readings of contested clauses that it follows.
    pub readings: BTreeSet<String>,
    /// How precise its faults are.
    pub faults: FaultDetail,
    /// Whether it reports warnings (see [`FaultClass::is_warning`](crate::FaultClass::is_warning)). Neither the absence
    /// nor the presence of one is judged of a subject that does not claim them.
    pub warnings: bool,
    /// Whether a stream may come in pieces, and a decoder be used again. All of this workspace's do; a tool that is
    /// started for every trace does not.
    pub incremental: bool,
}

impl Capabilities {
    /// Claims the given layers with full fault detail, no warnings and no optional feature.
    #[must_use]
    pub fn new(layers: impl IntoIterator<Item = Layer>) -> Self {
        Self {
            layers: layers.into_iter().collect(),
            features: BTreeSet::new(),
            readings: BTreeSet::new(),
            faults: FaultDetail::Place,
            warnings: false,
            incremental: true,
        }
    }

    /// Adds features by name.
    #[must_use]
    pub fn with_features<'a>(mut self, features: impl IntoIterator<Item = &'a str>) -> Self {
        self.features.extend(features.into_iter().map(String::from));
        self
    }

    /// Adds readings by name, for instance `READINGS.iter().map(|reading| reading.name)` of a family.
    #[must_use]
    pub fn with_readings<'a>(mut self, readings: impl IntoIterator<Item = &'a str>) -> Self {
        self.readings.extend(readings.into_iter().map(String::from));
        self
    }

    /// States how precise the subject's faults are.
    #[must_use]
    pub fn with_faults(mut self, faults: FaultDetail) -> Self {
        self.faults = faults;
        self
    }

    /// States whether the subject reports warnings.
    #[must_use]
    pub const fn with_warnings(mut self, warnings: bool) -> Self {
        self.warnings = warnings;
        self
    }

    /// States whether a stream may come in pieces, and a decoder be used again.
    #[must_use]
    pub const fn with_incremental(mut self, incremental: bool) -> Self {
        self.incremental = incremental;
        self
    }
}

/// A kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Layer {
    /// Packets, field by field.
    Packets,
    /// Events of the execution.
    Events,
}

/// How precise a subject's faults are; it is judged only on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FaultDetail {
    /// Only that something is wrong.
    Flag,
    /// The class.
    Class,
    /// The class and the packet, byte and bit.
    Place,
}

/// Why a subject does not take a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not support a feature that these parameters need.
    Unsupported {
        /// The feature, by the family's name for it.
        feature: String,
    },
    /// No hardware can have these parameters.
    Invalid {
        /// The parameter, by the specification's name.
        parameter: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A subject outside of this process gave this reason.
    Stated {
        /// The reason, as one of the other variants is shown.
        text: String,
    },
}

impl Refusal {
    /// A refusal because `feature` is not supported.
    #[must_use]
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Self::Unsupported { feature: feature.into() }
    }

    /// A refusal because `parameter` has an impossible value.
    #[must_use]
    pub fn invalid(parameter: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { parameter, reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { feature } => write!(f, "unsupported feature `{feature}`"),
            Self::Invalid { parameter, reason } => {
                write!(f, "invalid parameter `{parameter}`: {reason}")
            }
            Self::Stated { text } => f.write_str(text),
        }
    }
}

impl core::error::Error for Refusal {}
