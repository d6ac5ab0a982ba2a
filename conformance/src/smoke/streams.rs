//! Does a subject do what it claims with streams, and nothing else? Asked through the runner's own way to its decoders
//! and encoders.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use traceproof_vectors::case::{self, CaseFile, SuiteError};
use traceproof_vectors::{Capabilities, Decoder, Encoder, FaultClass, Feature, Log};

use super::{Outcome, Probe, Question, pick, questions};
use crate::check;
use crate::family::{self, FamilyRules, Visitor};
use crate::isolation::guarded;
use crate::judge::{self, Expectation};
use crate::relations::push_all;
use crate::suite::Directories;
use crate::verdict::{Direction, Divergence, Verdict};
use crate::{Agreement, Subject, line::line};

/// How long a decoder in this process may take; others have their own deadlines.
const DEADLINE: Duration = Duration::from_secs(2);

/// Asks about the streams of every family that the subject claims.
pub(super) fn probes(subject: &Subject, directories: &Directories) -> Result<Vec<Probe>, Vec<SuiteError>> {
    let mut probes = Vec::new();
    for protocol in family::IMPLEMENTED {
        if let Some(of_family) = family::visit(protocol, OfFamily { subject, directories }) {
            probes.extend(of_family?);
        }
    }
    Ok(probes)
}

/// The probes of a subject that cannot be asked.
pub(super) fn not_asked(reason: &str) -> Vec<Probe> {
    questions::OF_STREAMS
        .into_iter()
        .map(|question| Probe { question, protocol: None, outcome: Outcome::not_applicable(reason) })
        .collect()
}

struct OfFamily<'a> {
    subject: &'a Subject,
    directories: &'a Directories,
}

impl Visitor for OfFamily<'_> {
    type Output = Result<Vec<Probe>, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Self { subject, directories } = self;
        // A subject in this process may panic wherever it is asked.
        let claims = catch_unwind(AssertUnwindSafe(|| {
            let decoder = subject.decoder::<P>().map(|decoder| Decoder::capabilities(decoder.as_ref()));
            let encoder = subject.encoder::<P>().map(|encoder| Encoder::capabilities(encoder.as_ref()));
            (decoder, encoder)
        }));
        let Ok((decoder, encoder)) = claims else {
            let outcome = Outcome::fail("a question for its capabilities", "it panicked");
            return Ok(vec![Probe { question: &questions::CLAIMS, protocol: Some(P::ID), outcome }]);
        };
        if decoder.is_none() && encoder.is_none() {
            return Ok(Vec::new());
        }
        let files = case::load::<P>(&directories.suites)?;
        let mut probes = Vec::new();
        let mut probe = |question: &'static Question, outcome: Outcome| {
            probes.push(Probe { question, protocol: Some(P::ID), outcome });
        };
        if let Some(capabilities) = &decoder {
            let asked = Asked { subject, files: &files, capabilities };
            let small = pick::small(&files, capabilities);
            let about = |ask: &dyn Fn(&CaseFile<P>) -> Outcome| {
                let none = Outcome::not_applicable("no shipped case needs nothing but what it claims");
                let is_asked = |outcome: &Outcome| !matches!(outcome, Outcome::NotApplicable(_));
                let mut outcomes = small.iter().map(|file| ask(file)).peekable();
                let first = outcomes.peek().cloned().unwrap_or(none);
                outcomes.find(is_asked).unwrap_or(first)
            };
            probe(&questions::EMPTY, about(&|file| asked.empty(file)));
            probe(&questions::AGAIN, about(&|file| asked.again(file)));
            probe(&questions::PIECES, about(&|file| asked.pieces(file)));
            probe(&questions::UNCLAIMED, asked.unclaimed());
            probe(&questions::CLAIMED, asked.claimed());
            probe(&questions::RIGHT, about(&|file| asked.right(file)));
        }
        if let Some(capabilities) = &encoder {
            probe(&questions::ENCODES, encodes(subject, &files, capabilities));
        }
        Ok(probes)
    }
}

/// A decoder, and the cases that it may be asked about.
struct Asked<'a, P: FamilyRules> {
    subject: &'a Subject,
    files: &'a [CaseFile<P>],
    capabilities: &'a Capabilities,
}

impl<P: FamilyRules> Asked<'_, P> {
    /// The outcome of an action with new decoders that have begun with the case's parameters and code.
    fn ask(
        &self,
        file: &CaseFile<P>,
        what: impl FnOnce(&Begin<P>) -> Result<(), Verdict> + Send + 'static,
    ) -> Verdict {
        let claims = self.capabilities.clone();
        let begin = Begin { subject: self.subject.clone(), file: Arc::new(file.clone()), claims };
        guarded(self.subject, DEADLINE, move || what(&begin).err().unwrap_or(Verdict::Pass))
    }

    fn empty(&self, file: &CaseFile<P>) -> Outcome {
        let verdict = self.ask(file, |begin| {
            let log = push_all(begin.decoder()?.as_mut(), [[].as_slice()]);
            let packet = log.packets().next().map(|packet| format!("the packet {}", line(packet)));
            let event = log.events().next().map(|event| format!("the event {}", line(event)));
            match packet.or(event) {
                Some(made_up) => Err(Verdict::Fail(Divergence::sentence("an empty stream", made_up))),
                None => Ok(()),
            }
        });
        match verdict {
            Verdict::Fail(divergence) => {
                let sent = format!("parameters and code of {}, no bytes, and the end", file.case.id);
                Outcome::fail(sent, divergence.got().unwrap_or("something"))
            }
            other => outcome(other, format!("no bytes, with parameters and code of {}", file.case.id)),
        }
    }

    fn again(&self, file: &CaseFile<P>) -> Outcome {
        let incremental = self.capabilities.incremental;
        let verdict = self.ask(file, move |begin| {
            let mut decoder = begin.decoder()?;
            let first = push_all(decoder.as_mut(), [begin.wire()]);
            begin.same(
                "asked of another decoder",
                &first,
                &push_all(begin.decoder()?.as_mut(), [begin.wire()]),
            )?;
            if incremental {
                decoder.reset();
                begin.same("after a reset", &first, &push_all(decoder.as_mut(), [begin.wire()]))?;
                // In the middle of a stream there is more to be forgotten.
                decoder.reset();
                decoder.push(begin.wire().get(..begin.wire().len() / 2).unwrap_or_default(), &mut ());
                decoder.reset();
                begin.same(
                    "after a reset in mid-stream",
                    &first,
                    &push_all(decoder.as_mut(), [begin.wire()]),
                )?;
            }
            begin.same(
                "asked of a third decoder",
                &first,
                &push_all(begin.decoder()?.as_mut(), [begin.wire()]),
            )
        });
        outcome(verdict, format!("the stream of {}, several times", file.case.id))
    }

    fn pieces(&self, file: &CaseFile<P>) -> Outcome {
        if !self.capabilities.incremental {
            return Outcome::not_applicable("it takes whole streams only");
        }
        let verdict = self.ask(file, |begin| {
            let whole = push_all(begin.decoder()?.as_mut(), [begin.wire()]);
            let bytes = push_all(begin.decoder()?.as_mut(), begin.wire().chunks(1));
            begin.same("byte by byte", &whole, &bytes)?;
            let (front, tail) = begin.wire().split_at(begin.wire().len() / 2);
            let mut decoder = begin.decoder()?;
            let mut halves = Log::default();
            for piece in [front, &[], tail] {
                decoder.push(piece, &mut halves);
            }
            decoder.finish(&mut halves);
            begin.same("in two halves with nothing between", &whole, &halves)
        });
        outcome(verdict, format!("the stream of {}, whole and in pieces", file.case.id))
    }

    fn unclaimed(&self) -> Outcome {
        let mut refused = Vec::new();
        let mut right = Vec::new();
        for feature in
            Feature::names(P::FEATURES).filter(|feature| !self.capabilities.features.contains(*feature))
        {
            let Some(file) = pick::unclaimed(self.files, feature, self.capabilities) else { continue };
            match self.attempt(file) {
                Verdict::Undeclared { .. } | Verdict::Unsupported { .. } => refused.push(feature),
                Verdict::Pass => right.push(feature),
                verdict => {
                    let sent = format!("parameters and stream of {}, which need {feature}", file.case.id);
                    return Outcome::fail(sent, taken(&verdict));
                }
            }
        }
        if refused.is_empty() && right.is_empty() {
            let all = Feature::names(P::FEATURES).all(|feature| self.capabilities.features.contains(feature));
            return Outcome::not_applicable(if all {
                "it claims every feature"
            } else {
                "no shipped case has parameters that need what it does not claim"
            });
        }
        let more = format!("it does more than it claims: {}", right.join(", "));
        Outcome::Pass(Some(if right.is_empty() { format!("refused: {}", refused.join(", ")) } else { more }))
    }

    fn claimed(&self) -> Outcome {
        let mut taken = 0_usize;
        for feature in &self.capabilities.features {
            let Some(file) = pick::claimed(self.files, feature, self.capabilities) else { continue };
            match self.attempt(file) {
                // Whether the results are right is another question.
                Verdict::Pass | Verdict::Fail(_) => taken += 1,
                Verdict::Unsupported { .. } => {}
                verdict => {
                    let sent = format!("parameters and stream of {}, which need {feature}", file.case.id);
                    return Outcome::fail(sent, verdict.to_string());
                }
            }
        }
        match taken {
            0 => Outcome::not_applicable("it claims no feature that a shipped case needs"),
            1 => Outcome::Pass(Some(String::from("tried with one feature"))),
            _ => Outcome::Pass(Some(format!("tried with {taken} features"))),
        }
    }

    fn right(&self, file: &CaseFile<P>) -> Outcome {
        match self.attempt(file) {
            Verdict::Pass => Outcome::Pass(Some(format!("{}, {}", file.case.id, file.case.title))),
            verdict => outcome(verdict, format!("the stream of {}, {}", file.case.id, file.case.title)),
        }
    }

    /// The outcome of a case, whether its features are claimed or not. A fault `unsupported-mode` also counts as a
    /// refusal.
    fn attempt(&self, file: &CaseFile<P>) -> Verdict {
        let capabilities = self.capabilities.clone();
        self.ask(file, move |begin| {
            let log = push_all(begin.decoder()?.as_mut(), [begin.wire()]);
            if log.faults().any(|fault| fault.class == FaultClass::UnsupportedMode) {
                return Err(Verdict::Undeclared { refusal: String::from("a fault `unsupported-mode`") });
            }
            let resolved = &begin.file.resolved;
            let expected =
                Expectation { packets: resolved.packets.as_deref(), events: resolved.events.as_deref() };
            judge::decoding(expected, &log, &capabilities).map_err(|divergence| Verdict::Fail(*divergence))
        })
    }
}

/// Makes decoders that have begun.
struct Begin<P: FamilyRules> {
    subject: Subject,
    file: Arc<CaseFile<P>>,
    claims: Capabilities,
}

impl<P: FamilyRules> Begin<P> {
    fn decoder(&self) -> Result<Box<dyn Decoder<P>>, Verdict> {
        let Some(mut decoder) = self.subject.decoder::<P>() else {
            return Err(Verdict::Unsupported { needs: vec![String::from("a decoder")] });
        };
        match decoder.begin(&self.file.case.parameters, &self.file.resolved.program) {
            Ok(()) => Ok(decoder),
            Err(refusal) => Err(Verdict::Undeclared { refusal: refusal.to_string() }),
        }
    }

    fn wire(&self) -> &[u8] {
        &self.file.resolved.wire
    }

    fn same(&self, how: &str, first: &Log<P>, second: &Log<P>) -> Result<(), Verdict> {
        judge::repetition(how, first, second, &self.claims).map_err(|divergence| Verdict::Fail(*divergence))
    }
}

/// What a decoder made of parameters that it should have refused.
fn taken(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fail(_) => format!("it took them, and its results are wrong: {verdict}"),
        _ => verdict.to_string(),
    }
}

fn outcome(verdict: Verdict, sent: String) -> Outcome {
    match verdict {
        Verdict::Pass => Outcome::Pass(None),
        Verdict::Unsupported { needs } => {
            Outcome::not_applicable(format!("it does not claim {}", needs.join(", ")))
        }
        verdict => Outcome::fail(sent, verdict.to_string()),
    }
}

fn encodes<P: FamilyRules>(subject: &Subject, files: &[CaseFile<P>], capabilities: &Capabilities) -> Outcome {
    let Some(file) = pick::stimulus(files, capabilities) else {
        return Outcome::not_applicable("no shipped case has stimulus that needs nothing but what it claims");
    };
    let (of, asked) = (subject.clone(), file.clone());
    let verdict = guarded(subject, DEADLINE, move || {
        check::check(&of, &asked, Direction::Encode, Agreement::default())
    });
    match verdict {
        Verdict::Pass => Outcome::Pass(Some(format!("{}, {}", file.case.id, file.case.title))),
        verdict => outcome(verdict, format!("the stimulus of {}, {}", file.case.id, file.case.title)),
    }
}
