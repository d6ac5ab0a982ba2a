//! The HTML page: one file, without network, with the same bytes for the same results.
//!
//! | question | place |
//! |---|---|
//! | What can be read without the script? | this module, `page.html` |
//! | What does the script show, and how large may it be? | `data`, `clauses` |
//! | What do charts look like? | `charts`, `chart.svg.html` |
//! | How does it look and react? | `page.css`, `page.js` |

mod charts;
mod clauses;
mod data;
mod sections;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use crate::causes::causes;
use crate::error::Error;
use crate::kills::Matrices;
use crate::mutants::Mutants;
use crate::performance::Performance;
use crate::results::Run;
use charts::Chart;
use data::Detail;

/// What a page shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'a> {
    /// The results, one for each subject.
    pub runs: &'a [Run],
    /// Results of an earlier run, compared with those of the subject with the same name, or with the first.
    pub earlier: Option<&'a Run>,
    /// The kill matrix of the suite.
    pub kills: Option<&'a Matrices>,
    /// What became of mutants of the reference models.
    pub mutants: Option<&'a Mutants>,
    /// Measurements.
    pub performance: &'a [Performance],
}

impl Inputs<'_> {
    /// The run that is compared with the earlier one.
    pub(crate) fn later(&self) -> Option<&Run> {
        let earlier = self.earlier?;
        let same = self.runs.iter().find(|run| run.subject.name == earlier.subject.name);
        same.or_else(|| self.runs.first())
    }
}

/// The page as text.
///
/// # Errors
///
/// Without results.
pub fn html(inputs: Inputs<'_>) -> Result<String, Error> {
    if inputs.runs.is_empty() {
        return Err(Error::Nothing);
    }
    let labels = labels(inputs.runs);
    let data = data::embedded(inputs.runs, &labels, inputs.kills)?;
    let causes = causes(inputs.runs);
    let environment = environment()?;
    let context = Context {
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        data: data.text,
        left_out: left_out(data.detail),
        subjects: sections::subjects(inputs.runs, &labels),
        directions: sections::directions(inputs.runs),
        folders: sections::folders(inputs.runs),
        causes: sections::causes(inputs.runs, &labels, &causes),
        more_causes: causes.len().saturating_sub(sections::CAUSES),
        known: sections::known(inputs.runs, &labels),
        changes: sections::changes(inputs),
        performance: inputs.performance,
        scopes: charts::scopes(inputs.runs, &labels),
        kinds: charts::kinds(&causes, &labels),
        bits: charts::bits(inputs.runs, &labels),
        throughput: inputs.performance.iter().map(charts::throughput).collect(),
        kills: inputs.kills.map(charts::kills),
        mutants: inputs.mutants.map(charts::mutants),
        modules: inputs.mutants.map(sections::modules).unwrap_or_default(),
        survivors: inputs.mutants.map(sections::survivors).unwrap_or_default(),
        has_saboteurs: inputs.kills.is_some(),
        has_clauses: inputs.runs.iter().any(|run| !run.clauses.is_empty()),
    };
    Ok(environment.get_template("page.html")?.render(Serde(context))?)
}

/// What the template shows.
#[derive(Serialize)]
struct Context<'a> {
    style: &'static str,
    script: &'static str,
    data: String,
    left_out: Option<String>,
    subjects: Vec<sections::Subject<'a>>,
    directions: Vec<sections::TallyRow>,
    folders: Vec<sections::TallyRow>,
    causes: Vec<sections::CauseView<'a>>,
    more_causes: usize,
    known: Vec<sections::Known<'a>>,
    changes: Option<sections::Changes>,
    performance: &'a [Performance],
    scopes: Vec<Chart>,
    kinds: Option<Chart>,
    bits: Vec<Chart>,
    throughput: Vec<Chart>,
    kills: Option<Chart>,
    mutants: Option<Chart>,
    modules: Vec<sections::Module<'a>>,
    survivors: sections::Survivors<'a>,
    has_saboteurs: bool,
    has_clauses: bool,
}

/// Everything from results is escaped, whatever the name of the template.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("urlpart", url_part);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("page.html", include_str!("page.html"))?;
    environment.add_template("chart.svg.html", include_str!("chart.svg.html"))?;
    Ok(environment)
}

/// Text as a value in the fragment of an address.
fn url_part(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

/// Name and version of each subject; with a number where that names several.
fn labels(runs: &[Run]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for run in runs {
        let label = run.label();
        let same = labels
            .iter()
            .filter(|known| **known == label || known.starts_with(&format!("{label} #")))
            .count();
        labels.push(if same == 0 { label } else { format!("{label} #{}", same + 1) });
    }
    labels
}

/// A sentence for the page, if not everything is in it.
fn left_out(detail: Detail) -> Option<String> {
    if detail.evidence == usize::MAX {
        return None;
    }
    let mut text =
        format!("So that the page stays small, it has at most {} dissections of each cause", detail.evidence);
    if detail.rows < usize::MAX {
        text.push_str(&format!(", {} first divergences of each cause", detail.rows));
    }
    if !detail.sources {
        text.push_str(" and no sources of cases");
    }
    text.push_str(". The commands of each case show the rest.");
    Some(text)
}

#[cfg(test)]
mod tests;
