//! Which families exist, and which types make up the vocabulary of one.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{FaultClass, Recovery};

/// The vocabulary of one trace protocol family.
///
/// The wire of every family is a string of bytes. Families whose hardware has pins or registers define a
/// fixed record per sample (see e.g. [`crate::arm_etm::v2`]), so that chunking, fuzzing, files and
/// out-of-process subjects need to know only bytes.
pub trait Protocol: Copy + fmt::Debug + Default + Send + Sync + 'static {
    /// The family that this vocabulary belongs to.
    const FAMILY: Family;
    /// The readings of contested clauses that a case may depend on.
    const READINGS: &'static [crate::Reading];
    /// What a decoder must know beforehand: discovery attributes and static configuration.
    type Parameters: Clone + fmt::Debug + PartialEq + Default + Send + Sync + 'static;
    /// What an encoder was told (control fields) and which legal choices it makes.
    type Policy: Clone + fmt::Debug + PartialEq + Default + Send + Sync + 'static;
    /// What the hardware sees in one step.
    type Stimulus: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;
    /// One unit of the protocol, field by field as it travels.
    type Packet: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;
    /// What a decoder reports about the execution.
    type Event: Clone + fmt::Debug + PartialEq + Send + Sync + 'static;

    /// What a decoder does after a fault of this class. The whole table is shown in `docs/faults.md`.
    #[must_use]
    fn recovery(class: FaultClass) -> Recovery;

    /// Whether this event shows that the decoder is synchronised. Up to the first such event after a fault that costs synchronisation, it
    /// is not judged whether that fault is repeated for every packet that is dropped.
    #[must_use]
    fn is_synchronised_by(event: &Self::Event) -> bool;

    /// Puts a list of events into the one form in which two decoders can be compared.
    ///
    /// Decoders may legally cut the same execution into different pieces (one event per instruction, or one
    /// per straight run). This joins what the family says carries no meaning when cut.
    #[must_use]
    fn canonical(events: Vec<Self::Event>) -> Vec<Self::Event> {
        events
    }

    /// Whether `actual` is what `expected` asks for. Equality, unless the vocabulary has words for
    /// "nothing is said about this".
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
        Self::ALL
            .into_iter()
            .find(|family| {
                family.name().len() == text.len()
                    && family
                        .name()
                        .bytes()
                        .zip(text.bytes())
                        .all(|(a, b)| a == b || (a == b'_' && b == b'-'))
            })
            .ok_or(UnknownFamily)
    }
}

/// The text names none of the five families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFamily;

impl fmt::Display for UnknownFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown family; known are ")?;
        for (index, family) in Family::ALL.into_iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(family.name())?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownFamily {}
