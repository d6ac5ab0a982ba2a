//! Which families there are: the one list in this crate that names them.

use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Family, Protocol};

use super::rules::FamilyRules;
use crate::snapshot::TraceProtocol;

/// Something to do with a family that is known only at run time.
pub trait Visitor {
    /// What comes out.
    type Output;

    /// Does it for the family with the vocabulary `P`.
    fn visit<P: FamilyRules>(self) -> Self::Output;
}

/// Makes [`IMPLEMENTED`] and [`visit`] of the vocabularies, in the order of reports.
macro_rules! families {
    ($($vocabulary:ty),+ $(,)?) => {
        /// The families that exist in this build.
        pub const IMPLEMENTED: [Family; [$(<$vocabulary as Protocol>::FAMILY),+].len()] =
            [$(<$vocabulary as Protocol>::FAMILY),+];

        /// Lets `visitor` visit `family`; `None` if this build does not have it.
        pub fn visit<V: Visitor>(family: Family, visitor: V) -> Option<V::Output> {
            $(if family == <$vocabulary as Protocol>::FAMILY {
                return Some(visitor.visit::<$vocabulary>());
            })+
            None
        }
    };
}

families! { RiscvEtrace, ArmEtm, ItaniumPmu }

/// Families that this build does not have, by what their trace sources speak, so that reports can name them. A row goes when its family
/// comes: then the family's [`CAPTURES`](FamilyRules::CAPTURES) says it.
const PLANNED: [(TraceProtocol, Family); 3] = [
    (TraceProtocol::Pft, Family::ArmPft),
    (TraceProtocol::Etmv4, Family::ArmEte),
    (TraceProtocol::Ete, Family::ArmEte),
];

/// The family of a trace source that speaks this, whether this build has it or not; `None` if it is of none.
#[must_use]
pub fn family_of(protocol: TraceProtocol) -> Option<Family> {
    let speaks = |family: &Family| visit(*family, Speaks(protocol)) == Some(true);
    let planned = || PLANNED.iter().find(|(known, _)| *known == protocol).map(|(_, family)| *family);
    IMPLEMENTED.into_iter().find(speaks).or_else(planned)
}

struct Speaks(TraceProtocol);

impl Visitor for Speaks {
    type Output = bool;

    fn visit<P: FamilyRules>(self) -> bool {
        P::CAPTURES.is_some_and(|captures| captures.protocols.contains(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;

    impl Visitor for Name {
        type Output = Family;
        fn visit<P: FamilyRules>(self) -> Family {
            P::FAMILY
        }
    }

    #[test]
    fn what_is_implemented_can_be_visited() {
        for family in Family::ALL {
            let expected = IMPLEMENTED.contains(&family).then_some(family);
            assert_eq!(visit(family, Name), expected, "{family}");
        }
    }

    #[test]
    fn what_is_planned_is_not_decoded_yet() {
        for (protocol, family) in PLANNED {
            assert!(!visit(family, Speaks(protocol)).unwrap_or(false), "{protocol:?}: the row can go");
            assert_eq!(family_of(protocol), Some(family));
        }
    }
}
