//! Verdicts: their symbols, their order, and an outcome as a sentence.

use crate::results::Outcome;

/// A verdict as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name in results.
    pub name: &'static str,
    /// A sign that needs no colour.
    pub symbol: &'static str,
    /// Pass, failure, known failure or not judged: what charts and colours distinguish.
    pub group: Group,
}

/// What verdicts mean for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Not judged.
    Skipped,
    /// It passed.
    Pass,
    /// A failure that the baseline lists.
    Known,
    /// A failure.
    Fail,
}

impl Group {
    /// The name in style sheet and script.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skip",
            Self::Pass => "pass",
            Self::Known => "known",
            Self::Fail => "fail",
        }
    }
}

/// Every verdict of the harness. The last one stands for verdicts of a newer harness.
pub const KINDS: [Kind; 15] = [
    kind("pass", "✓", Group::Pass),
    kind("legal", "l", Group::Pass),
    kind("semantic", "s", Group::Pass),
    kind("fail", "✗", Group::Fail),
    kind("crash", "C", Group::Fail),
    kind("timeout", "T", Group::Fail),
    kind("overflow", "O", Group::Fail),
    kind("protocol-error", "P", Group::Fail),
    kind("state-leak", "S", Group::Fail),
    kind("flaky", "F", Group::Fail),
    kind("undeclared", "U", Group::Fail),
    kind("unexpected-pass", "X", Group::Fail),
    kind("expected-failure", "k", Group::Known),
    kind("unsupported", "–", Group::Skipped),
    kind("unknown", "?", Group::Fail),
];

const fn kind(name: &'static str, symbol: &'static str, group: Group) -> Kind {
    Kind { name, symbol, group }
}

impl Outcome {
    /// The kind of the verdict.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let [.., unknown] = KINDS;
        KINDS.into_iter().find(|kind| kind.name == self.verdict).unwrap_or(unknown)
    }

    /// Whether a run with this outcome has failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.kind().group == Group::Fail
    }

    /// The outcome in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.verdict.as_str() {
            "fail" => self.difference(),
            "legal" => format!("legal: {}", self.difference()),
            "semantic" => format!("the same execution: {}", self.difference()),
            "crash" => format!("the subject crashed: {}{}", self.message, self.standard_error()),
            "timeout" => format!("the subject did not return within {} ms", self.milliseconds),
            "overflow" => format!("the subject answered more than {} bytes at once", self.limit),
            "protocol-error" => format!("no way to answer: {}{}", self.message, self.standard_error()),
            "state-leak" => format!("right in a new process, but not after other cases: {}", self.message),
            "flaky" => self.flaky(),
            "unsupported" => format!("needs {}", self.needs.join(", ")),
            "undeclared" => format!("claimed, but refused: {}", self.refusal),
            "expected-failure" => format!("{}, as known: {} ({})", self.outcome, self.reason, self.finding),
            "unexpected-pass" => format!("passes, but is known to fail: {}", self.reason),
            verdict => verdict.to_owned(),
        }
    }

    fn difference(&self) -> String {
        let nothing = "nothing more";
        let (expected, got) = (self.expected().unwrap_or(nothing), self.got().unwrap_or(nothing));
        format!("{} differ at item {}: expected {expected}, got {got}", self.what, self.index)
    }

    fn standard_error(&self) -> String {
        let ending = |stderr: &String| format!("; its standard error ends with: {stderr}");
        self.stderr.as_ref().map(ending).unwrap_or_default()
    }

    fn flaky(&self) -> String {
        let all: u64 = self.seen.iter().fold(0, |all, seen| all.saturating_add(seen.times));
        let counts = self.seen.iter().map(|seen| format!("{} of {all} times {}", seen.times, seen.outcome));
        format!("not the same each time: {}", counts.collect::<Vec<_>>().join(", "))
    }

    /// The first row that differs: what was expected.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.rows.iter().find(|row| !row.same)?.expected.as_deref()
    }

    /// The first row that differs: what came.
    #[must_use]
    pub fn got(&self) -> Option<&str> {
        self.rows.iter().find(|row| !row.same)?.got.as_deref()
    }

    /// The verdict, and of a failure what differs, without values: the same for failures that look alike.
    #[must_use]
    pub fn cause(&self) -> String {
        if self.verdict != "fail" {
            return self.verdict.clone();
        }
        let field = self.field().map(|field| format!(" ({field})")).unwrap_or_default();
        format!("fail: {}: {} / {}{field}", self.what, first_words(self.expected()), first_words(self.got()))
    }

    /// The first field that differs, if both sides are results of one kind.
    fn field(&self) -> Option<&str> {
        let (mut expected, mut got) = (self.expected()?.split_whitespace(), self.got()?.split_whitespace());
        if expected.next() != got.next() {
            return None;
        }
        loop {
            let (expected, got) = (expected.next(), got.next());
            if expected != got {
                let part = expected.or(got)?;
                return part.split('=').next();
            }
            expected?;
        }
    }

    /// The outcome as a line of a baseline has it; it changes when the defect does.
    #[must_use]
    pub fn signature(&self) -> String {
        if self.verdict != "fail" {
            return self.verdict.clone();
        }
        let place = self.place.map(|place| format!(" at {}/{}.{}", place.packet, place.byte, place.bit));
        format!("fail {} {}{}", self.what, self.index, place.unwrap_or_default())
    }
}

/// The name of a packet or event; of a fault also its class.
fn first_words(text: Option<&str>) -> String {
    let text = text.unwrap_or("nothing more");
    let most = if text.starts_with("fault ") || text == "nothing more" { 2 } else { 1 };
    text.split_whitespace().take(most).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Row, Seen};

    fn fail(expected: Option<&str>, got: Option<&str>) -> Outcome {
        let row = Row { same: false, expected: expected.map(str::to_owned), got: got.map(str::to_owned) };
        let same = Row { same: true, expected: Some("sync".into()), got: Some("sync".into()) };
        Outcome {
            verdict: "fail".into(),
            what: "events".into(),
            index: 3,
            rows: vec![same, row],
            ..Outcome::default()
        }
    }

    #[test]
    fn causes_have_no_values() {
        let outcome = fail(Some("retire first=0x10 end=0x14"), Some("fault missing-outcome at packet 3"));
        assert_eq!(outcome.cause(), "fail: events: retire / fault missing-outcome");
        assert_eq!(fail(None, Some("trap cause=2")).cause(), "fail: events: nothing more / trap");
        let address = fail(Some("branch address=0x10"), Some("branch address=0x14"));
        assert_eq!(address.cause(), "fail: events: branch / branch (address)");
        assert_eq!(
            outcome.sentence(),
            "events differ at item 3: expected retire first=0x10 end=0x14, got fault missing-outcome at packet 3"
        );
    }

    #[test]
    fn other_verdicts_are_their_own_cause() {
        let flaky = Outcome {
            verdict: "flaky".into(),
            seen: vec![Seen { outcome: "pass".into(), times: 2 }, Seen { outcome: "crash".into(), times: 1 }],
            ..Outcome::default()
        };
        assert_eq!(flaky.cause(), "flaky");
        assert_eq!(flaky.sentence(), "not the same each time: 2 of 3 times pass, 1 of 3 times crash");
    }

    #[test]
    fn a_verdict_of_a_newer_harness_is_a_failure_with_its_own_name() {
        let outcome = Outcome { verdict: "melted".into(), ..Outcome::default() };
        assert_eq!((outcome.kind().name, outcome.kind().symbol), ("unknown", "?"));
        assert!(outcome.is_failure());
        assert_eq!(outcome.sentence(), "melted");
    }

    #[test]
    fn symbols_differ() {
        let mut symbols: Vec<&str> = KINDS.iter().map(|kind| kind.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        assert_eq!(symbols.len(), KINDS.len());
    }
}
