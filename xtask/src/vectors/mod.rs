//! `traceproof vectors`: stimulus packs for hardware.

mod answers;
mod streams;

use clap::Subcommand;
use traceproof_rtl::verbs::{self, VectorsVerb};

use crate::check_rtl::outcome;
use crate::exit::Outcome;

/// Stimulus packs for hardware.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    #[command(flatten)]
    Rtl(VectorsVerb),
    Streams(streams::Arguments),
    Answers(answers::Arguments),
}

pub(crate) fn run(verb: &Verb) -> Outcome {
    match verb {
        Verb::Rtl(verb) => outcome(verbs::vectors(verb)),
        Verb::Streams(arguments) => streams::run(arguments),
        Verb::Answers(arguments) => answers::run(arguments),
    }
}
