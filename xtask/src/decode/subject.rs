//! A trace through the decoder of a subject, beside the reference.

use std::io::Write as _;
use std::time::Duration;

use traceproof_conformance::family::{FamilyRules, Visitor};
use traceproof_conformance::report::explain::{self, Explaining};
use traceproof_conformance::visible;

use super::arguments::Arguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{COMPARED, Output, read_trace};
use crate::subjects::named;

/// How long a subject in this process may take.
const DEADLINE: Duration = Duration::from_secs(600);

/// Compares a subject with the reference over the trace.
pub(super) struct Compare<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) name: &'a str,
}

impl Visitor for Compare<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let Arguments { target, input, output, text, limiting, starting, .. } = self.arguments;
        let limits = limiting.collected();
        let subject = named(self.name, starting)?.with_limits(limits);
        let (program, parameters) = target.load::<P>()?;
        let wire = read_trace::<P>(input, *text, &parameters, COMPARED)?;
        let explaining =
            Explaining { limits, subject: Some(&subject), deadline: DEADLINE, ..Explaining::default() };
        let compared = explain::compare::<P>(&wire, &parameters, &program, &explaining)
            .map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let mut out = Output::create(output)?;
        out.write_all(visible::lines(&compared.text).as_bytes())?;
        out.publish()?;
        Ok(if compared.agrees { Exit::Ok } else { Exit::Failed })
    }
}
