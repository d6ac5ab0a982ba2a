//! A badge: how many checks passed, as a small SVG file.

use minijinja::{AutoEscape, Environment, context};

use crate::error::Error;
use crate::results::Run;
use crate::tally;

/// Width of a letter of the badge's font, about.
const LETTER: usize = 7;

/// The badge of one run: its subject, and how many of the judged checks passed, with the colour of the outcome.
///
/// # Errors
///
/// Those of the template engine.
pub fn badge(run: &Run) -> Result<String, Error> {
    let tally = tally::of_run(run);
    let (text, colour) = match (tally.judged(), tally.fail) {
        (0, _) => (String::from("nothing judged"), "#6e7781"),
        _ if run.incomplete => (format!("{} of {}, incomplete", tally.pass, tally.judged()), "#6e7781"),
        (judged, 0) if tally.known > 0 => {
            (format!("{} of {judged} pass, {} known", tally.pass, tally.known), "#9a6700")
        }
        (judged, 0) => (format!("{judged} of {judged} pass"), "#1a7f37"),
        (judged, fail) => (format!("{fail} of {judged} fail"), "#c4232b"),
    };
    let label = format!("traceproof: {}", run.subject.name);
    let width = |text: &str| 12 + LETTER * text.chars().count();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("badge.svg", include_str!("badge.svg"))?;
    let (left, right) = (width(&label), width(&text));
    Ok(environment.get_template("badge.svg")?.render(context! { label, text, colour, left, right })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_badge_has_numbers_and_escapes_names() {
        let mut run = sample::small("acme");
        let text = badge(&run).expect("renders");
        assert!(text.contains(">3 of 6 fail<") && text.contains("#c4232b"), "{text}");
        run.subject.name = sample::HOSTILE.to_owned();
        let text = badge(&run).expect("renders");
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;"), "{text}");
        run.cases.retain(|case| case.id == "etr-0001");
        assert!(badge(&run).expect("renders").contains(">2 of 2 pass<"));
        run.incomplete = true;
        assert!(badge(&run).expect("renders").contains(">2 of 2, incomplete<"));
        run.cases.clear();
        run.programs.clear();
        assert!(badge(&run).expect("renders").contains(">nothing judged<"));
    }
}
