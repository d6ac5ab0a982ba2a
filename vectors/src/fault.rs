//! Faults of a trace, and their places.

use core::fmt;

use crate::Address;

/// A defect that a decoder found in the trace, or between the trace and the program.
///
/// Faults are data: the runner compares class and place, never text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Fault {
    /// What kind of defect.
    pub class: FaultClass,
    /// Where it was met.
    pub place: Place,
    /// The code address it is about, if it is about one (for instance where no code is).
    pub address: Option<Address>,
}

impl Fault {
    /// A defect of this class there, about no address.
    #[must_use]
    pub const fn new(class: FaultClass, place: Place) -> Self {
        Self { class, place, address: None }
    }

    /// The same about this address, or about none.
    #[must_use]
    pub const fn with_address(mut self, address: Option<Address>) -> Self {
        self.address = address;
        self
    }

    /// The same at another place.
    #[must_use]
    pub const fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }
}

/// A position in the wire bytes, counted from the latest `begin` or `reset`.
///
/// A fault inside a packet points at the first bit of the field at fault; a fault of a packet as a whole,
/// or of what the packet means in the flow, points at the packet's first bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// Index of the packet, counted from 0. Packets that could not be read count too.
    pub packet: u64,
    /// Byte offset in the stream, transport headers included.
    pub byte: u64,
    /// Bit within that byte, 0 = least significant.
    pub bit: u8,
}

/// The classes of faults. They are few and the same for every family; what one costs is a rule of the protocol
/// ([`Protocol::recovery`](crate::Protocol::recovery)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum FaultClass {
    /// The stream or a packet ends before its last field.
    Truncated,
    /// A packet is longer than its longest legal form, or has content in bits that must be filling.
    Overlong,
    /// A value that the specification reserves or calls invalid.
    ReservedEncoding,
    /// A packet that is legal in itself but not in this state or with these options.
    IllegalInState,
    /// A packet that needs synchronisation comes before any.
    NotSynchronised,
    /// The stream announces an option or mode that this decoder cannot honour.
    UnsupportedMode,
    /// The flow reached a conditional instruction without an outcome for it.
    MissingOutcome,
    /// The flow reached its end point with outcomes left over.
    LeftoverOutcome,
    /// The flow reached an uninferable discontinuity for which the packet has no target.
    UnexpectedDiscontinuity,
    /// An address that the protocol requires at this point is missing.
    MissingAddress,
    /// A reference to an empty entry (cache, tag, table).
    InvalidReference,
    /// No instruction bytes at an address, or bytes with no legal length.
    NoCode,
    /// A stated work budget was spent without reaching an end point.
    Limit,
    /// The contents of the packet contradict what the decoder knows (for instance a tracked address).
    Contradiction,
    /// Transport framing cannot be followed.
    Framing,
    /// Not an error: a value that is legal to ignore but that no conforming encoder sends.
    Suspicious,
}

impl FaultClass {
    /// Every class.
    pub const ALL: [Self; 16] = [
        Self::Truncated,
        Self::Overlong,
        Self::ReservedEncoding,
        Self::IllegalInState,
        Self::NotSynchronised,
        Self::UnsupportedMode,
        Self::MissingOutcome,
        Self::LeftoverOutcome,
        Self::UnexpectedDiscontinuity,
        Self::MissingAddress,
        Self::InvalidReference,
        Self::NoCode,
        Self::Limit,
        Self::Contradiction,
        Self::Framing,
        Self::Suspicious,
    ];

    /// The name used in case files and reports, e.g. `missing-outcome`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Overlong => "overlong",
            Self::ReservedEncoding => "reserved-encoding",
            Self::IllegalInState => "illegal-in-state",
            Self::NotSynchronised => "not-synchronised",
            Self::UnsupportedMode => "unsupported-mode",
            Self::MissingOutcome => "missing-outcome",
            Self::LeftoverOutcome => "leftover-outcome",
            Self::UnexpectedDiscontinuity => "unexpected-discontinuity",
            Self::MissingAddress => "missing-address",
            Self::InvalidReference => "invalid-reference",
            Self::NoCode => "no-code",
            Self::Limit => "limit",
            Self::Contradiction => "contradiction",
            Self::Framing => "framing",
            Self::Suspicious => "suspicious",
        }
    }

    /// Whether it is no error: decoding goes on, and a subject may claim that it does not report such oddities
    /// ([`Capabilities::warnings`](crate::Capabilities::warnings)).
    #[must_use]
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::Suspicious)
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {}, byte {}.{}", self.packet, self.byte, self.bit)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.class, self.place)?;
        if let Some(address) = self.address {
            write!(f, " (code address {address:#x})")?;
        }
        Ok(())
    }
}

impl core::error::Error for Fault {}
