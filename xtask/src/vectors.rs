//! `traceproof vectors`: stimulus packs for hardware.

use traceproof_rtl::verbs;

pub(crate) use traceproof_rtl::verbs::VectorsVerb as Verb;

use crate::check_rtl::outcome;
use crate::exit::Outcome;

pub(crate) fn run(verb: &Verb) -> Outcome {
    outcome(verbs::vectors(verb))
}
