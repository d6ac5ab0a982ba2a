//! `traceproof decode`: a trace file as text, a source in formatter frames, or every source of a snapshot.

mod arguments;
mod frames;
mod snapshot;

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::listing::Listing;
use traceproof_conformance::stream;

pub(crate) use arguments::Arguments;
use arguments::exit_for;

use crate::exit::{Failure, Outcome};
use crate::files::{Output, open_trace};
use crate::snapshot::is_snapshot;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    arguments.check_files()?;
    if is_snapshot(&arguments.input) {
        return snapshot::decode(arguments);
    }
    if !arguments.source.is_empty() {
        return Err(Failure::usage(
            "--source selects sources of a snapshot, a directory with a snapshot.ini",
        ));
    }
    let Some(family) = arguments.family else {
        return Err(Failure::usage("--family is missing; only a snapshot declares its protocols"));
    };
    if let Some(id) = arguments.frames.trace_id {
        let decode = frames::Decode { arguments, id };
        return family::visit(family, decode).unwrap_or_else(|| Err(Failure::no_such_family(family)));
    }
    family::visit(family, Decode(arguments)).unwrap_or_else(|| Err(Failure::no_such_family(family)))
}

struct Decode<'a>(&'a Arguments);

impl Visitor for Decode<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let Arguments { target, input, output, .. } = self.0;
        let (program, parameters) = target.load::<P>()?;
        let (layer, format) = (self.0.layer::<P>(&program), self.0.format());
        let mut decoder = P::reference_decoder();
        decoder.set_limits(&self.0.limiting.limits());
        decoder.begin(&parameters, &program).map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let mut trace = open_trace::<P>(input, self.0.text, &parameters)?;
        let mut written = Output::create(output)?;
        let mut listing = Listing::new(&mut written, format, layer);
        stream::decode::<P, _>(decoder.as_mut(), trace.as_mut(), &mut listing)
            .map_err(|error| Failure::file(input, error))?;
        let counts = listing.finish()?;
        written.publish()?;
        Ok(exit_for(counts))
    }
}
