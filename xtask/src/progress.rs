//! Progress on a terminal: how far, how fast, failures so far, time left. Elsewhere nothing is drawn.

use indicatif::{ProgressBar, ProgressStyle};
use traceproof_conformance::Progress;

/// Counts `things`.
pub(crate) fn progress_bar(things: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = format!("{{bar:30}} {{pos}}/{{len}} {things}, {{per_sec}}, {{eta}} left {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Counts `things` whose number is not known, with their rate.
pub(crate) fn counter(things: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {things}, {{per_sec}} {{msg}}"))
    {
        bar.set_style(style);
    }
    bar
}

/// Shows how far a run is.
pub(crate) fn show(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Cases { done, total, failed } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            if failed > 0 {
                bar.set_message(format!("({failed} failed)"));
            }
        }
        Progress::Programs { done } => bar.set_message(format!("and {done} round trips")),
    }
}
