//! Are the names in claims known, and is anything claimed at all?

use serde_json::Value;
use traceproof_vectors::{Decoder, Encoder, Feature, ProtocolId};

use super::{Finding, Outcome, Probe, questions};
use crate::Subject;
use crate::adaptor::message::Claims;
use crate::family::{self, FamilyRules, Visitor};

/// The names that a protocol knows.
struct Names {
    features: Vec<&'static str>,
    readings: Vec<&'static str>,
}

struct NamesOf;

impl Visitor for NamesOf {
    type Output = Names;

    fn visit<P: FamilyRules>(self) -> Names {
        Names {
            features: Feature::names(P::FEATURES).collect(),
            readings: P::READINGS.iter().map(|reading| reading.name).collect(),
        }
    }
}

/// The probe of a subject whose claims are not JSON.
pub(super) fn of_subject(subject: &Subject) -> Probe {
    let mut problems = Vec::new();
    let mut families = 0;
    for protocol in family::IMPLEMENTED {
        let claims = family::visit(protocol, ClaimsOf(subject)).unwrap_or_default();
        families += claims.len();
        for (role, claims) in claims {
            problems.extend(names(role, protocol, &claims, false));
        }
    }
    if families == 0 {
        problems.push(String::from("it claims no family that this build has"));
    }
    let outcome = if problems.is_empty() {
        Outcome::Pass(None)
    } else {
        Outcome::fail("a question for its capabilities", problems.join("; "))
    };
    Probe { question: &questions::CLAIMS, protocol: None, outcome }
}

struct ClaimsOf<'a>(&'a Subject);

impl Visitor for ClaimsOf<'_> {
    type Output = Vec<(&'static str, Claims)>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let decoder =
            self.0.decoder::<P>().map(|decoder| Claims::from(&Decoder::capabilities(decoder.as_ref())));
        let encoder =
            self.0.encoder::<P>().map(|encoder| Claims::from(&Encoder::capabilities(encoder.as_ref())));
        [("decoder", decoder), ("encoder", encoder)]
            .into_iter()
            .filter_map(|(role, claims)| Some((role, claims?)))
            .collect()
    }
}

/// What is wrong with the claims in an answer to `hello`.
pub(super) fn wrong_in(welcome: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    if welcome.get("name").and_then(Value::as_str).is_none_or(|name| name.trim().is_empty()) {
        problems.push(String::from("`name` does not say who it is"));
    }
    let mut claimed = 0;
    for (role, field) in [("decoder", "decoders"), ("encoder", "encoders")] {
        let families = match welcome.get(field) {
            None => continue,
            Some(Value::Object(families)) => families,
            Some(_) => {
                problems.push(format!("`{field}` is no object"));
                continue;
            }
        };
        for (name, claims) in families {
            claimed += 1;
            let Some(protocol) = ProtocolId::ALL.into_iter().find(|known| known.name() == name) else {
                let known: Vec<&str> = family::IMPLEMENTED.iter().map(|known| known.name()).collect();
                problems.push(format!("no protocol is called `{name}`; known are {}", known.join(", ")));
                continue;
            };
            match serde_json::from_value::<Claims>(claims.clone()) {
                Ok(claims) => problems.extend(names(role, protocol, &claims, true)),
                Err(error) => problems.push(format!("{role} of {protocol}: {error}")),
            }
        }
    }
    if claimed == 0 {
        problems
            .push(String::from("it claims neither `decoders` nor `encoders`, so nothing would be judged"));
    }
    problems
}

/// Names that the protocol does not know. Readings of a subject file count for every protocol, so they are looked up
/// only where the subject itself claims them (`own`).
fn names(role: &str, protocol: ProtocolId, claims: &Claims, own: bool) -> Vec<String> {
    let mut problems = Vec::new();
    if claims.layers.is_empty() && role == "decoder" {
        problems.push(format!("{role} of {protocol}: no layers, so nothing would be judged"));
    }
    let Some(known) = family::visit(protocol, NamesOf) else { return problems };
    let unknown = |name: &&String, known: &[&str]| !known.contains(&name.as_str());
    for feature in claims.features.iter().filter(|name| unknown(name, &known.features)) {
        let features = known.features.join(", ");
        problems
            .push(format!("{role} of {protocol}: no feature is called `{feature}`; known are {features}"));
    }
    if own {
        for reading in claims.readings.iter().filter(|name| unknown(name, &known.readings)) {
            problems.push(format!("{role} of {protocol}: no reading is called `{reading}` (docs/families)"));
        }
    }
    problems
}

/// The outcome for the error of `wrong` in an answer to `sent`.
pub(super) fn outcome(sent: &str, wrong: Vec<String>) -> Outcome {
    if wrong.is_empty() {
        Outcome::Pass(None)
    } else {
        Outcome::Fail(Finding { sent: sent.to_owned(), came: wrong.join("; ") })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn misspelt_names_are_reported() {
        let right = json!({"name": "acme", "decoders": {"riscv_etrace": {"layers": ["packets"], "features": ["rv32"]}}});
        assert_eq!(wrong_in(&right), [""; 0]);
        for (claims, problem) in [
            (json!({}), "`name` does not say who it is; it claims neither"),
            (json!({"name": "a", "decoders": []}), "`decoders` is no object"),
            (json!({"name": "a", "decoders": {"etrace": {"layers": []}}}), "no protocol is called `etrace`"),
            (
                json!({"name": "a", "decoders": {"arm_etm": {"layers": ["packet"]}}}),
                "decoder of arm_etm: unknown variant `packet`",
            ),
            (json!({"name": "a", "decoders": {"arm_etm": {"layers": []}}}), "decoder of arm_etm: no layers"),
            (
                json!({"name": "a", "decoders": {"arm_etm": {"layers": ["events"], "feature": ["data"]}}}),
                "unknown field `feature`",
            ),
            (
                json!({"name": "a", "encoders": {"itanium_pmu": {"layers": [], "features": ["optoins"]}}}),
                "encoder of itanium_pmu: no feature is called `optoins`; known are qualification, lenient, options",
            ),
            (
                json!({"name": "a", "decoders": {"arm_etm": {"layers": ["events"], "readings": ["etm-pc-99"]}}}),
                "no reading is called `etm-pc-99`",
            ),
        ] {
            let problems = wrong_in(&claims).join("; ");
            assert!(problems.contains(problem), "{claims}: {problems}");
        }
    }
}
