//! A command-line tool as it is, as a subject: it gets the bytes of a stream in a file, and its output is read for
//! results.
//!
//! The tool is started once for each stream, when the stream has ended, so streams in pieces are never claimed.
//! Everything else, from the process group to the verdict, is as for subjects with `tdut/2`.
//!
//! | question | place |
//! |---|---|
//! | What is in the subject file? | [`Exec`] |
//! | Which files and arguments does a run get? | `render` |
//! | How is it run, and what does its end mean? | `tool` |
//! | Which results are in its output? | `output` |
//! | What does a decoder do? | `decoder` |

mod check;
mod decoder;
mod file;
mod output;
mod render;
mod tool;

use std::path::Path;
use std::sync::Arc;

pub use file::{Exec, Exits, Line, Pattern, Word, WordBits};
use traceproof_vectors::Capabilities;

use super::{Command, Limits, SubjectError};
use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};
use tool::Tool;

/// Makes a subject of a tool, without starting it.
///
/// # Errors
///
/// When there is no such program.
pub(super) fn subject(exec: &Arc<Exec>, command: &Command, limits: &Limits) -> Result<Subject, SubjectError> {
    if !is_there(&command.program) {
        return Err(SubjectError::Start { message: format!("there is no {}", command.program.display()) });
    }
    let name = command
        .name
        .clone()
        .unwrap_or_else(|| command.program.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let tool = Arc::new(Tool::new(Arc::clone(exec), command.clone(), *limits));
    let named = Subject::new(name, exec.version.as_str()).keeping_deadlines();
    Ok(family::IMPLEMENTED.into_iter().fold(named, |subject, protocol| {
        family::visit(protocol, Add { subject: subject.clone(), tool: &tool }).unwrap_or(subject)
    }))
}

/// Whether a program can be found; without one, every case would be a crash.
fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let places = std::env::var_os("PATH").unwrap_or_default();
    let suffix = std::env::consts::EXE_SUFFIX;
    let file = |place: &Path| {
        place.join(program).is_file() || place.join(format!("{}{suffix}", program.display())).is_file()
    };
    std::env::split_paths(&places).any(|place| file(&place))
}

struct Add<'a> {
    subject: Subject,
    tool: &'a Arc<Tool>,
}

impl Visitor for Add<'_> {
    type Output = Subject;

    fn visit<P: FamilyRules>(self) -> Subject {
        let Self { subject, tool } = self;
        let Some(claims) = tool.exec().decoders.get(P::ID.name()) else { return subject };
        let readings = tool.readings().iter().chain(&claims.readings).map(String::as_str);
        let capabilities = Capabilities::from(claims).with_readings(readings).with_incremental(false);
        let tool = Arc::clone(tool);
        subject
            .with_decoder::<P>(move || Box::new(decoder::Proxy::new(Arc::clone(&tool), capabilities.clone())))
    }
}
