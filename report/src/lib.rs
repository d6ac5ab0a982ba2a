//! Results of Traceproof for people: an HTML page, a Markdown summary, a badge; the differences between two runs; the
//! parts of a run as one run.
//!
//! ```
//! use traceproof_report::{Inputs, Run, html};
//!
//! # let text = r#"{"schema": 1, "harness": "0.1.0", "subject": {"name": "acme", "version": "2.0"}, "cases": []}"#;
//! // `text` is what `traceproof conformance --json results.json` wrote.
//! let runs = [Run::parse(text)?];
//! let page = html(Inputs { runs: &runs, ..Inputs::default() })?;
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), traceproof_report::Error>(())
//! ```
//!
//! | question | place |
//! |---|---|
//! | Which results can be read? | [`results`], [`kills`], [`mutants`], [`performance`] |
//! | What does a verdict mean, and what do failures have in common? | [`outcome`], [`causes`](mod@causes) |
//! | How many passed? | [`tally`] |
//! | What changed since an earlier run? | [`changes`](mod@changes) |
//! | How do parts become a run? | [`merge()`] |
//! | What is written? | [`html`], [`markdown`], [`badge`] |
//!
//! Everything in results is data: names and messages of a subject are escaped in every format.
#![forbid(unsafe_code)]

mod badge;
pub mod causes;
pub mod changes;
mod error;
pub mod kills;
mod markdown;
mod merge;
pub mod mutants;
pub mod outcome;
mod page;
pub mod performance;
pub mod results;
pub mod tally;

pub use badge::badge;
pub use error::Error;
pub use kills::Matrices;
pub use markdown::markdown;
pub use merge::merge;
pub use mutants::Mutants;
pub use page::{Inputs, html};
pub use performance::Performance;
pub use results::Run;

#[cfg(test)]
#[path = "../examples/sample-page/results.rs"]
mod sample_results;

#[cfg(test)]
mod sample {
    use crate::Run;
    pub(crate) use crate::sample_results::{HOSTILE, large_text, small_text};

    pub(crate) fn small(subject: &str) -> Run {
        Run::parse(&small_text(subject)).expect("sound results")
    }

    pub(crate) fn large(subject: &str, cases: u64, failing: u64) -> Run {
        Run::parse(&large_text(subject, cases, failing)).expect("sound results")
    }
}
