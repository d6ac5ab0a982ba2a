//! A baseline brought up to date: its text is edited in place, so that comments and order stay.

use std::collections::BTreeMap;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, RawString, Table, Value};

use super::{Baseline, BaselineError, SCHEMA, Signature};
use crate::report::causes::causes;
use crate::run::Run;
use crate::verdict::{Direction, Verdict};

/// Placeholder reason and finding of new failures, to be replaced by hand.
pub const UNEXPLAINED: &str = "UNEXPLAINED";

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The new text.
    pub text: String,
    /// Checks that fail and were not listed.
    pub added: Vec<Signature>,
    /// The same, grouped by cause as in reports; the most frequent cause first.
    pub causes: Vec<NewCause>,
    /// Lines whose check comes out otherwise.
    pub changed: Vec<Signature>,
    /// Lines whose check passes or is gone.
    pub removed: Vec<Signature>,
}

/// New failures that differ in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCause {
    /// The verdict, and for a failure the difference, without values; see
    /// [`Cause::kind`](crate::report::causes::Cause::kind).
    pub kind: String,
    /// The checks; never empty.
    pub checks: Vec<Signature>,
}

/// Updates the baseline to the outcome of the run (before [`apply`](super::apply)). Lines that pass are removed, lines
/// with another outcome are changed, those of flaky checks stay, new failures are added under the reason
/// [`UNEXPLAINED`], one entry for each cause; an entry without lines is removed. With `whole`, lines for checks that
/// the run does not have are also removed.
///
/// An empty `text` is a new baseline.
///
/// # Errors
///
/// When `text` is no baseline.
pub fn update(text: &str, run: &Run, whole: bool) -> Result<Update, BaselineError> {
    let text = if text.trim().is_empty() {
        format!("schema = {SCHEMA}\nsubject = {}\n", Value::from(run.subject.name.as_str()))
    } else {
        text.to_owned()
    };
    // All its errors are reported by the same reader.
    Baseline::parse(&text)?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| BaselineError {
        line: 1,
        column: 1,
        message: error.message().to_owned(),
    })?;
    let mut outcomes = outcomes(run);
    let mut update = Update::default();
    if let Some(known) = document.get_mut("known").and_then(Item::as_array_of_tables_mut) {
        for entry in known.iter_mut() {
            if let Some(checks) = entry.get_mut("checks").and_then(Item::as_array_mut) {
                settle(checks, &mut outcomes, whole, &mut update);
            }
        }
        known.retain(|entry| {
            entry.get("checks").and_then(Item::as_array).is_some_and(|checks| !checks.is_empty())
        });
    }
    update.added.extend(outcomes.into_iter().filter_map(|((id, direction), outcome)| {
        let Outcome::Fails(outcome) = outcome else { return None };
        Some(Signature { id, direction, outcome })
    }));
    update.added.sort();
    update.causes = new_causes(run, &update.added);
    for cause in &update.causes {
        add(&mut document, cause);
    }
    update.text = document.to_string();
    Ok(update)
}

/// How a check came out.
enum Outcome {
    Passes,
    Fails(String),
    /// Flaky: a line cannot express it.
    Changes,
}

fn outcomes(run: &Run) -> BTreeMap<(String, Direction), Outcome> {
    run.checks()
        .filter_map(|(id, direction, verdict)| {
            let outcome = match verdict {
                Verdict::Unsupported { .. } => return None,
                verdict if verdict.kind().is_pass() => Outcome::Passes,
                Verdict::Flaky { .. } => Outcome::Changes,
                verdict => Outcome::Fails(Signature::new(&id, direction, verdict).outcome),
            };
            Some(((id, direction), outcome))
        })
        .collect()
}

/// Updates the lines of one entry; their checks are removed from `outcomes`.
fn settle(
    checks: &mut Array,
    outcomes: &mut BTreeMap<(String, Direction), Outcome>,
    whole: bool,
    update: &mut Update,
) {
    let mut index = 0;
    while let Some(line) = checks.get(index) {
        let Some(entry) = line.as_str().and_then(|text| text.parse::<Signature>().ok()) else {
            index += 1;
            continue;
        };
        match outcomes.remove(&(entry.id.clone(), entry.direction)) {
            Some(Outcome::Fails(outcome)) if !about_the_same(&outcome, &entry.outcome) => {
                remove(checks, index);
                update.added.push(Signature { outcome, ..entry });
            }
            Some(Outcome::Fails(outcome)) if outcome != entry.outcome => {
                let now = Signature { outcome, ..entry };
                if let Some(line) = checks.get_mut(index) {
                    // Its comment and indentation stay.
                    let decor = line.decor().clone();
                    *line = Value::from(now.to_string());
                    *line.decor_mut() = decor;
                }
                update.changed.push(now);
                index += 1;
            }
            Some(Outcome::Fails(_) | Outcome::Changes) => index += 1,
            None if !whole => index += 1,
            Some(Outcome::Passes) | None => {
                remove(checks, index);
                update.removed.push(entry);
            }
        }
    }
}

/// Whether the reason of a line may still be right: verdict and what differs are the same, only elsewhere.
fn about_the_same(one: &str, other: &str) -> bool {
    let words = |outcome: &str| -> Vec<String> {
        let (what, _) =
            outcome.split_once(" at ").filter(|_| outcome.starts_with("fail")).unwrap_or((outcome, ""));
        what.split(' ').filter(|word| word.parse::<u64>().is_err()).map(str::to_owned).collect()
    };
    words(one) == words(other)
}

/// Removes a line, but not the comments before it, which include the one after the comma of the previous line.
fn remove(checks: &mut Array, index: usize) {
    let text = |raw: Option<&RawString>| raw.and_then(RawString::as_str).unwrap_or_default().to_owned();
    let line = checks.remove(index);
    let prefix = text(line.decor().prefix());
    let Some((comments, _)) = prefix.rsplit_once('\n').filter(|(comments, _)| comments.contains('#')) else {
        return;
    };
    match checks.get_mut(index) {
        Some(next) => {
            let own = text(next.decor().prefix());
            next.decor_mut().set_prefix(format!("{comments}{own}"));
        }
        None => {
            let own = text(Some(checks.trailing()));
            checks.set_trailing(format!("{comments}{own}"));
        }
    }
}

/// Groups new failures as reports do.
fn new_causes(run: &Run, added: &[Signature]) -> Vec<NewCause> {
    let mut left: BTreeMap<(String, Direction), &Signature> =
        added.iter().map(|check| ((check.id.clone(), check.direction), check)).collect();
    let mut new: Vec<NewCause> = causes(run)
        .into_iter()
        .map(|cause| {
            let failures = cause.failures.iter();
            let checks = failures.filter_map(|failure| left.remove(&(failure.of.name(), failure.direction)));
            let mut checks: Vec<Signature> = checks.cloned().collect();
            checks.sort();
            NewCause { kind: cause.kind.clone(), checks }
        })
        .filter(|cause| !cause.checks.is_empty())
        .collect();
    // A stable sort: equally frequent causes stay in the order of the report.
    new.sort_by_key(|cause| std::cmp::Reverse(cause.checks.len()));
    new
}

/// Adds new failures of one cause as one entry, for a person to explain.
fn add(document: &mut DocumentMut, cause: &NewCause) {
    let mut checks = Array::new();
    for failure in &cause.checks {
        let mut line = Value::from(failure.to_string());
        line.decor_mut().set_prefix("\n  ");
        checks.push_formatted(line);
    }
    checks.set_trailing("\n");
    checks.set_trailing_comma(true);
    let mut entry = Table::new();
    entry.decor_mut().set_prefix(format!("\n# {}\n", cause.kind.replace(char::is_control, " ")));
    entry.insert("reason", UNEXPLAINED.into());
    entry.insert("finding", UNEXPLAINED.into());
    entry.insert("checks", Item::Value(Value::Array(checks)));
    let known = document.entry("known").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if let Some(known) = known.as_array_of_tables_mut() {
        known.push(entry);
    }
}
