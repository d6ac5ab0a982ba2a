//! A trace in formatter frames as text.

use std::io::Read as _;

use traceproof_conformance::captures::Captured;
use traceproof_conformance::family::{FamilyRules, Visitor};
use traceproof_conformance::listing::Counts;
use traceproof_conformance::snapshot::{SourceBytes, first_frame};
use traceproof_vectors::arm::{Framing, TraceId};
use traceproof_vectors::{Program, bounded};

use super::arguments::{Arguments, exit_for};
use super::hints;
use super::snapshot::list;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{Output, open};

/// Decodes one source.
pub(super) struct Decode<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) id: TraceId,
}

impl Visitor for Decode<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let Arguments { target, input, output, frames, .. } = self.arguments;
        let (program, parameters) = target.load::<P>()?;
        let mut port = Vec::new();
        let read = open(input)?.take(bounded::LISTING.saturating_add(1)).read_to_end(&mut port);
        read.map_err(|error| Failure::file(input, error))?;
        if port.len() as u64 > bounded::LISTING {
            return Err(Failure::file(input, format!("larger than the limit of {} bytes", bounded::LISTING)));
        }
        let framing = frames.framing.framing();
        let first = match (frames.first_frame, framing) {
            (Some(first), _) => first,
            (None, Framing::Memory) => first_frame(&port),
            (None, Framing::Normal | Framing::Continuous) => 0,
        };
        let Some(framed) = port.get(first..) else {
            return Err(Failure::usage(format!("--first-frame {first}: the trace has {} bytes", port.len())));
        };
        let mut bytes = SourceBytes::of_frames(framed, framing, self.id);
        for fault in &mut bytes.faults {
            fault.place.byte += first as u64;
        }
        let length: usize = bytes.pieces.iter().map(Vec::len).sum();
        eprintln!("trace ID {:#04x}: {length} bytes in frames from byte {first}", self.id.value());
        for (id, length) in &bytes.others {
            eprintln!("not decoded: trace ID {:#04x}: {length} bytes", id.value());
        }
        let mut out = Output::create(output)?;
        let mut counts = Counts::default();
        let first = bytes.pieces.first().cloned().unwrap_or_default();
        let known = parameters.clone();
        // The listing adds the code itself.
        let captured = Captured { parameters, program: Program::new(), bytes };
        list::<P>(self.arguments, captured, &mut out, &mut counts)?;
        out.publish()?;
        let exit = exit_for(counts);
        if exit == Exit::Failed {
            hints::of_bytes::<P>(self.arguments, &known, &program, &first);
        }
        Ok(exit)
    }
}
