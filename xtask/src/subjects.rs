//! Subjects by name or by the file that says how to start them.

use std::path::Path;

use traceproof_conformance::process::{self, SubjectFile};
use traceproof_conformance::{Subject, peers};

use crate::exit::{Exit, Failure};

/// The subject of a name or file; `timeout_scale` multiplies the deadlines of a file's.
pub(crate) fn named(name: &str, timeout_scale: Option<f64>) -> Result<Subject, Failure> {
    if name.ends_with(".toml") {
        let mut file =
            SubjectFile::read(Path::new(name)).map_err(|error| Failure::usage(error.to_string()))?;
        if let Some(factor) = timeout_scale {
            if !(factor.is_finite() && factor > 0.0) {
                return Err(Failure::usage(format!("--timeout-scale: `{factor}` is no factor")));
            }
            file.limits.scale *= factor;
        }
        return process::subject(&file.command, &file.limits).map_err(|demise| Failure::Message {
            exit: Exit::Failed,
            message: format!("{name}: the subject does not say hello as it should: {demise}"),
        });
    }
    if name == "reference" {
        return Ok(Subject::reference());
    }
    peers::named(name).ok_or_else(|| {
        let known: Vec<&str> = peers::KNOWN.iter().map(|(name, _)| *name).collect();
        Failure::usage(if known.contains(&name) {
            format!("this build does not have {name}; build it with `cargo run --release -p traceproof-xtask --features peers --`")
        } else {
            format!("no subject is called `{name}`; known are reference, {}", known.join(", "))
        })
    })
}
