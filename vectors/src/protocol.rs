//! The families, and the types that make up the vocabulary of one.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{FaultClass, Feature, Reading, Recovery};

/// The vocabulary of one trace protocol.
///
/// A family may have several protocols: packets, and for instance the register log of a trace unit. Each is a
/// `Protocol` with an [`ID`](Self::ID) of its own, and what is kept by name (suites, ids of cases, schemas, claims,
/// tallies) is kept by the name of the protocol.
///
/// The wire of every family is a string of bytes. Families whose hardware has pins or registers define a
/// fixed record per sample (see e.g. [`crate::arm_etm::v2`]), so that chunking, fuzzing, files and
/// out-of-process subjects need to know only bytes.
pub trait Protocol: Copy + fmt::Debug + Default + Send + Sync + 'static {
    /// Which protocol this is.
    const ID: ProtocolId;
    /// The family that it belongs to; follows from [`ID`](Self::ID) and is not to be replaced.
    const FAMILY: Family = Self::ID.family();
    /// The optional features that a subject may claim. Everything else is mandatory for a subject that claims the
    /// protocol at all.
    const FEATURES: &'static [Feature];
    /// The readings of contested clauses that a case may depend on.
    const READINGS: &'static [Reading];
    /// Names of the readings that rest on no primary source. What depends on one is *provisional*: a better source may
    /// change it.
    const PROVISIONAL: &'static [&'static str] = &[];
    /// What a decoder must know beforehand: discovery attributes and static configuration.
    type Parameters: Clone + fmt::Debug + PartialEq + Default + Send + Sync + 'static;
    /// How an encoder is controlled (control fields) and which legal choices it makes.
    type Policy: Clone + fmt::Debug + PartialEq + Default + Send + Sync + 'static;
    /// The inputs of the hardware in one step.
    type Stimulus: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;
    /// One unit of the protocol, field by field as it travels.
    type Packet: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;
    /// What a decoder reports about the execution.
    type Event: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;

    /// What a decoder does after a fault of this class. The page of the family in `docs/families` shows the whole table.
    #[must_use]
    fn recovery(class: FaultClass) -> Recovery;

    /// Whether this event shows that the decoder is synchronised. Up to the first such event after a fault that costs
    /// synchronisation, it is not judged whether that fault is repeated for every packet that is dropped.
    #[must_use]
    fn is_synchronised_by(event: &Self::Event) -> bool;

    /// Puts a list of events into the one form in which two decoders can be compared.
    ///
    /// Decoders may legally cut the same execution into different pieces (one event per instruction, or one per
    /// straight run). This joins pieces where the family gives the cuts no meaning.
    #[must_use]
    fn canonical(events: Vec<Self::Event>) -> Vec<Self::Event> {
        events
    }

    /// Whether `actual` meets `expected`. Equality, unless the vocabulary can express "not specified".
    #[must_use]
    fn accepts(expected: &Self::Event, actual: &Self::Event) -> bool {
        expected == actual
    }
}

/// The five specification families, in the order of the product's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Family {
    /// RISC-V Efficient Trace 2.0.
    RiscvEtrace,
    /// ARM ETM v1, v2 and v3 (IHI 0014Q).
    ArmEtm,
    /// ARM Program Flow Trace (IHI 0035B).
    ArmPft,
    /// ARM FEAT_ETE and ETMv4.
    ArmEte,
    /// Itanium event qualification.
    ItaniumPmu,
}

impl Family {
    /// Every family, in table order.
    pub const ALL: [Self; 5] =
        [Self::RiscvEtrace, Self::ArmEtm, Self::ArmPft, Self::ArmEte, Self::ItaniumPmu];

    /// The module and directory name, e.g. `riscv_etrace`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RiscvEtrace => "riscv_etrace",
            Self::ArmEtm => "arm_etm",
            Self::ArmPft => "arm_pft",
            Self::ArmEte => "arm_ete",
            Self::ItaniumPmu => "itanium_pmu",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = UnknownFamily;

    /// Accepts the module name with `_` or `-`.
    fn from_str(text: &str) -> Result<Self, UnknownFamily> {
        Self::ALL.into_iter().find(|family| is_name(text, family.name())).ok_or(UnknownFamily)
    }
}

/// Whether this is the name, with `_` or `-`.
fn is_name(text: &str, name: &str) -> bool {
    name.len() == text.len()
        && name.bytes().zip(text.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'-'))
}

/// The text names none of the five families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFamily;

impl fmt::Display for UnknownFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown family; known are ")?;
        write_names(f, Family::ALL.map(Family::name))
    }
}

impl core::error::Error for UnknownFamily {}

fn write_names<const N: usize>(f: &mut fmt::Formatter<'_>, names: [&str; N]) -> fmt::Result {
    for (index, name) in names.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        f.write_str(name)?;
    }
    Ok(())
}

/// The protocols of all families. The main protocol of a family has the family's name.
///
/// Suites, schemas, claims and tallies go by [`name`](Self::name), ids of cases by [`case_prefix`](Self::case_prefix);
/// requirements go by [`family`](Self::family).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ProtocolId {
    /// Packets of RISC-V Efficient Trace.
    RiscvEtrace,
    /// Pins and packets of ARM ETM.
    ArmEtm,
    /// Frames of the CoreSight formatter, in which every ARM family travels.
    ArmEtmFormatter,
    /// Packets of ARM Program Flow Trace.
    ArmPft,
    /// Packets of ARM FEAT_ETE and ETMv4.
    ArmEte,
    /// Register accesses of an ARM FEAT_ETE trace unit, by which it is programmed.
    ArmEteUnit,
    /// The log of an Itanium performance monitor.
    ItaniumPmu,
}

impl ProtocolId {
    /// Every protocol: those of one family together, its main protocol first.
    pub const ALL: [Self; 7] = [
        Self::RiscvEtrace,
        Self::ArmEtm,
        Self::ArmEtmFormatter,
        Self::ArmPft,
        Self::ArmEte,
        Self::ArmEteUnit,
        Self::ItaniumPmu,
    ];

    /// The main protocol of a family, which has the family's name.
    #[must_use]
    pub const fn main(family: Family) -> Self {
        match family {
            Family::RiscvEtrace => Self::RiscvEtrace,
            Family::ArmEtm => Self::ArmEtm,
            Family::ArmPft => Self::ArmPft,
            Family::ArmEte => Self::ArmEte,
            Family::ItaniumPmu => Self::ItaniumPmu,
        }
    }

    /// The family.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::RiscvEtrace => Family::RiscvEtrace,
            Self::ArmEtm | Self::ArmEtmFormatter => Family::ArmEtm,
            Self::ArmPft => Family::ArmPft,
            Self::ArmEte | Self::ArmEteUnit => Family::ArmEte,
            Self::ItaniumPmu => Family::ItaniumPmu,
        }
    }

    /// Whether it is the main protocol of its family.
    #[must_use]
    pub fn is_main(self) -> bool {
        Self::main(self.family()) == self
    }

    /// The name of its directory of suites and of its claims, e.g. `riscv_etrace`. That of another protocol than the
    /// main one begins with the family's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArmEtmFormatter => "arm_etm_formatter",
            Self::ArmEteUnit => "arm_ete_unit",
            Self::RiscvEtrace | Self::ArmEtm | Self::ArmPft | Self::ArmEte | Self::ItaniumPmu => {
                self.family().name()
            }
        }
    }

    /// What the ids of its cases start with, e.g. `etr-`.
    #[must_use]
    pub const fn case_prefix(self) -> &'static str {
        match self {
            Self::RiscvEtrace => "etr-",
            Self::ArmEtm => "etm-",
            Self::ArmEtmFormatter => "fmt-",
            Self::ArmPft => "pft-",
            Self::ArmEte => "ete-",
            Self::ArmEteUnit => "eteu-",
            Self::ItaniumPmu => "ita-",
        }
    }
}

/// The main protocol.
impl From<Family> for ProtocolId {
    fn from(family: Family) -> Self {
        Self::main(family)
    }
}

impl fmt::Display for ProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ProtocolId {
    type Err = UnknownProtocol;

    /// Accepts the name with `_` or `-`.
    fn from_str(text: &str) -> Result<Self, UnknownProtocol> {
        Self::ALL.into_iter().find(|protocol| is_name(text, protocol.name())).ok_or(UnknownProtocol)
    }
}

/// The text names no protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProtocol;

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown protocol; known are ")?;
        write_names(f, ProtocolId::ALL.map(ProtocolId::name))
    }
}

impl core::error::Error for UnknownProtocol {}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_family_has_a_main_protocol_with_its_name() {
        for family in Family::ALL {
            let main = ProtocolId::main(family);
            assert_eq!((main.family(), main.name(), main.is_main()), (family, family.name(), true));
            let others =
                ProtocolId::ALL.into_iter().filter(|other| other.family() == family && *other != main);
            for other in others {
                assert!(!other.is_main() && other.name().starts_with(family.name()), "{other}");
            }
        }
    }

    #[test]
    fn names_and_prefixes_of_protocols_differ() {
        let names: BTreeSet<_> = ProtocolId::ALL.into_iter().map(ProtocolId::name).collect();
        let prefixes: BTreeSet<_> = ProtocolId::ALL.into_iter().map(ProtocolId::case_prefix).collect();
        assert_eq!((names.len(), prefixes.len()), (ProtocolId::ALL.len(), ProtocolId::ALL.len()));
        for (a, b) in prefixes.iter().flat_map(|a| prefixes.iter().map(move |b| (a, b))) {
            assert!(a == b || !b.starts_with(a), "an id that starts with {b} starts with {a}, too");
        }
    }

    #[test]
    fn names_are_read_back() {
        for protocol in ProtocolId::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
            assert_eq!(protocol.name().replace('_', "-").parse(), Ok(protocol));
        }
        assert_eq!("arm_ete_".parse::<ProtocolId>(), Err(UnknownProtocol));
        assert_eq!("riscv".parse::<Family>(), Err(UnknownFamily));
    }
}
