//! Which protocol a result belongs to, as results spell it.

use std::fmt;

use serde::{Deserialize, Serialize};
use traceproof_vectors::{Family, ProtocolId};

/// A protocol in results: `"family": "arm_ete"`, and `"protocol": "arm_ete_unit"` beside it unless it is the family's
/// main protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct ProtocolName(pub ProtocolId);

#[derive(Serialize, Deserialize)]
struct Parts {
    family: Family,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protocol: Option<ProtocolId>,
}

impl From<Parts> for ProtocolName {
    fn from(parts: Parts) -> Self {
        Self(parts.protocol.unwrap_or_else(|| parts.family.into()))
    }
}

impl From<ProtocolName> for Parts {
    fn from(ProtocolName(protocol): ProtocolName) -> Self {
        Self { family: protocol.family(), protocol: (!protocol.is_main()).then_some(protocol) }
    }
}

impl fmt::Display for ProtocolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_protocol_is_spelt_as_its_family() {
        for (protocol, text) in [
            (ProtocolId::ArmEte, r#"{"family":"arm_ete"}"#),
            (ProtocolId::ArmEteUnit, r#"{"family":"arm_ete","protocol":"arm_ete_unit"}"#),
        ] {
            assert_eq!(serde_json::to_string(&ProtocolName(protocol)).expect("writes"), text);
            assert_eq!(serde_json::from_str::<ProtocolName>(text).expect("reads"), ProtocolName(protocol));
        }
    }
}
