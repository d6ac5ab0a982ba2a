//! Which protocols there are: the one list in this crate that names them.

use traceproof_vectors::{Family, Protocol, ProtocolId};

use super::rules::FamilyRules;
use crate::snapshot::TraceProtocol;

/// Something to do with a protocol that is known only at run time.
pub trait Visitor {
    /// What comes out.
    type Output;

    /// Does it for the protocol with the vocabulary `P`.
    fn visit<P: FamilyRules>(self) -> Self::Output;
}

/// Makes [`IMPLEMENTED`] and [`visit`] of the vocabularies, in the order of reports: those of one family together, its
/// main one first.
macro_rules! protocols {
    ($($feature:literal $vocabulary:path),+ $(,)?) => {
        const COUNT: usize = {
            let protocols: &[ProtocolId] = &[$(#[cfg(feature = $feature)] <$vocabulary as Protocol>::ID),+];
            protocols.len()
        };

        /// The protocols that exist in this build.
        pub const IMPLEMENTED: [ProtocolId; COUNT] = [$(#[cfg(feature = $feature)] <$vocabulary as Protocol>::ID),+];

        /// Lets `visitor` visit a protocol, or the main protocol of a family; `None` if this build does not have it.
        pub fn visit<V: Visitor>(protocol: impl Into<ProtocolId>, visitor: V) -> Option<V::Output> {
            let protocol = protocol.into();
            $(#[cfg(feature = $feature)]
            if protocol == <$vocabulary as Protocol>::ID {
                return Some(visitor.visit::<$vocabulary>());
            })+
            None
        }
    };
}

protocols! {
    "riscv_etrace" traceproof_vectors::riscv_etrace::RiscvEtrace,
    "arm_etm" traceproof_vectors::arm_etm::ArmEtm,
    "arm_etm" traceproof_vectors::arm_etm_formatter::ArmEtmFormatter,
    "arm_pft" traceproof_vectors::arm_pft::ArmPft,
    "arm_ete" traceproof_vectors::arm_ete::ArmEte,
    "arm_ete" traceproof_vectors::arm_ete_unit::ArmEteUnit,
    "itanium_pmu" traceproof_vectors::itanium_pmu::ItaniumPmu,
}

/// The families that exist in this build, in the order of reports.
#[must_use]
pub fn families() -> Vec<Family> {
    let mut families: Vec<Family> = IMPLEMENTED.into_iter().map(ProtocolId::family).collect();
    families.dedup();
    families
}

/// The protocols of a family that exist in this build.
pub fn protocols_of(family: Family) -> impl Iterator<Item = ProtocolId> {
    IMPLEMENTED.into_iter().filter(move |protocol| protocol.family() == family)
}

/// The protocol of a trace source of this type; `None` if it is of none.
#[must_use]
pub fn protocol_of(source: TraceProtocol) -> Option<ProtocolId> {
    let speaks = |protocol: &ProtocolId| visit(*protocol, Speaks(source)) == Some(true);
    IMPLEMENTED.into_iter().find(speaks)
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
        type Output = (ProtocolId, Family);
        fn visit<P: FamilyRules>(self) -> Self::Output {
            (P::ID, P::FAMILY)
        }
    }

    #[test]
    fn what_is_implemented_can_be_visited() {
        for protocol in ProtocolId::ALL {
            let expected = IMPLEMENTED.contains(&protocol).then_some((protocol, protocol.family()));
            assert_eq!(visit(protocol, Name), expected, "{protocol}");
        }
        for family in families() {
            assert_eq!(
                visit(family, Name),
                Some((ProtocolId::main(family), family)),
                "the main protocol comes with a family"
            );
        }
    }

    #[test]
    fn protocols_of_a_family_stand_together_and_the_main_one_first() {
        let grouped: Vec<ProtocolId> = families().into_iter().flat_map(protocols_of).collect();
        assert_eq!(grouped, IMPLEMENTED);
        for family in families() {
            assert_eq!(protocols_of(family).next(), Some(family.into()));
        }
    }
}
