//! How far an encoder agrees with a case: its bytes, another legal choice, or only the execution.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Map, Value};
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{FaultDetail, Log};

use crate::Subject;
use crate::family::FamilyRules;
use crate::judge::{self, events, faults::FaultClaims};
use crate::legal_search;
use crate::relations;
use crate::verdict::{Divergence, Verdict};

/// How far an encoder agrees with a case, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agreement {
    /// The reference decoder reports the same execution.
    Semantic,
    /// The bytes follow from another choice that the specification leaves to encoders.
    #[default]
    Legal,
    /// The bytes of the policy of the case.
    Exact,
}

impl Agreement {
    /// Every agreement, the strongest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Legal, Self::Semantic];

    /// The name in reports and arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Legal => "legal",
            Self::Semantic => "semantic",
        }
    }

    /// The verdict of an encoding that agrees this far, with its first difference.
    pub(crate) const fn verdict(self, difference: Divergence) -> Verdict {
        match self {
            Self::Exact => Verdict::Fail(difference),
            Self::Legal => Verdict::Legal(difference),
            Self::Semantic => Verdict::Semantic(difference),
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Agreement {
    type Err = UnknownAgreement;

    fn from_str(text: &str) -> Result<Self, UnknownAgreement> {
        Self::ALL.into_iter().find(|agreement| agreement.name() == text).ok_or(UnknownAgreement)
    }
}

/// The text names no agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAgreement;

impl fmt::Display for UnknownAgreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected one of ")?;
        f.write_str(&Agreement::ALL.map(Agreement::name).join(", "))
    }
}

impl std::error::Error for UnknownAgreement {}

/// An encoding that agrees less than exactly, with the first difference.
pub(crate) type Weaker = (Agreement, Box<Divergence>);

/// What an encoder is judged by.
#[derive(Debug)]
pub(crate) struct Expected<'a, P: FamilyRules> {
    pub(crate) file: &'a CaseFile<P>,
    /// Those under which it was driven.
    pub(crate) parameters: &'a P::Parameters,
    /// Whether its packets are judged besides its bytes.
    pub(crate) packets: bool,
}

impl<P: FamilyRules> Expected<'_, P> {
    /// Judges the output of an encoder; `None` is exact.
    ///
    /// # Errors
    ///
    /// The first difference, of an output that agrees less than required.
    pub(crate) fn judge(&self, got: &Log<P>, required: Agreement) -> Result<Option<Weaker>, Box<Divergence>> {
        let wire = &self.file.resolved.wire;
        let packets = self.file.resolved.packets.as_deref().filter(|_| self.packets);
        let form = judge::encoding(packets, wire, self.parameters, &self.file.case.policy, got);
        let Err(bytes) = judge::bytes::<P>("wire", wire, &got.wire, self.parameters) else {
            return form.map(|()| None);
        };
        let mut difference = form.as_ref().err().cloned().unwrap_or(bytes);
        if form.is_ok() {
            return weaker(Agreement::Legal, difference, required);
        }
        let (agreement, why) = match self.other_choices(got) {
            Some(choices) => (Agreement::Legal, format!("as legal as with {choices}")),
            None if self.is_same_execution(got) => {
                (Agreement::Semantic, String::from("decodes to the same execution"))
            }
            None => return Err(difference),
        };
        difference.what = format!("{} ({why})", difference.what);
        weaker(agreement, difference, required)
    }

    /// Whether the reference decoder reports the same events and classes of faults for both wires. A wire without
    /// events shows no execution.
    fn is_same_execution(&self, got: &Log<P>) -> bool {
        let decoded = |wire: &[u8]| {
            let mut decoder = Subject::reference_decoder_of::<P>().decoder::<P>()?;
            decoder.begin(self.parameters, &self.file.resolved.program).ok()?;
            Some(relations::push_all(decoder.as_mut(), [wire]))
        };
        let (Some(wanted), Some(came)) = (decoded(&self.file.resolved.wire), decoded(&got.wire)) else {
            return false;
        };
        let claims = FaultClaims { detail: FaultDetail::Class, warnings: true };
        wanted.events().next().is_some() && events::compare(&judge::expected(&wanted), &came, claims).is_ok()
    }

    /// The choices with which the encoder model sends the same, if the specification leaves them to encoders.
    fn other_choices(&self, got: &Log<P>) -> Option<String> {
        let stated = &self.file.case.policy;
        let policy = legal_search::policy_of::<P>(
            stated,
            &got.wire,
            |policy| self.of_model(policy),
            |policy, model| {
                let packets: Vec<P::Packet> = model.packets().cloned().collect();
                let packets = self.packets.then_some(packets.as_slice());
                judge::encoding(packets, &model.wire, self.parameters, policy, got).is_ok()
            },
        )?;
        Some(changed(stated, &policy))
    }

    /// What the encoder model sends for the case under a policy; `None` if it refuses.
    fn of_model(&self, policy: &P::Policy) -> Option<Log<P>> {
        let CaseFile { case, resolved, .. } = self.file;
        let mut encoder = P::reference_encoder();
        encoder.begin(self.parameters, policy).ok()?;
        let mut log = Log::default();
        let execution = resolved.execution.as_ref()?;
        P::drive(execution, &resolved.program, self.parameters, &case.policy, &mut |stimulus| {
            encoder.step(stimulus, &mut log);
        })
        .ok()?;
        encoder.finish(&mut log);
        Some(log)
    }
}

/// An encoding that agrees so far, or an error if that is less than required.
fn weaker(
    agreement: Agreement,
    difference: Box<Divergence>,
    required: Agreement,
) -> Result<Option<Weaker>, Box<Divergence>> {
    if agreement < required { Err(difference) } else { Ok(Some((agreement, difference))) }
}

/// The keys of a policy that differ from those of the policy of a case, with their values.
fn changed<T: Serialize>(stated: &T, policy: &T) -> String {
    let keys = |policy| match serde_json::to_value(policy) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    };
    let stated = keys(stated);
    let others = keys(policy).into_iter().filter(|(key, value)| stated.get(key) != Some(value));
    others.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for agreement in Agreement::ALL {
            assert_eq!(agreement.to_string().parse(), Ok(agreement));
        }
        assert_eq!("fields".parse::<Agreement>(), Err(UnknownAgreement));
        assert!(Agreement::Exact > Agreement::Legal && Agreement::Legal > Agreement::Semantic);
    }
}
