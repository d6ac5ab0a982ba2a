//! `traceproof list`: which cases there are.

use std::fmt::Write as _;

use clap::Args;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::text::{level, polarity};
use traceproof_conformance::suite::{Directories, Selection, Suite};
use traceproof_conformance::visible;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;
use crate::select::Select;

/// List the shipped cases: id, level, polarity, file, title.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof list
  traceproof list --clause RVET-DEC-016
  traceproof list --filter traps")]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let selection = arguments.select.selection()?;
    let directories = arguments.select.suite.directories()?;
    let mut text = String::new();
    for protocol in family::IMPLEMENTED {
        if selection.takes_protocol(protocol)
            && let Some(lines) = family::visit(protocol, List(&selection, &directories))
        {
            text.push_str(&lines?);
        }
    }
    print(&text)?;
    Ok(Exit::Ok)
}

struct List<'a>(&'a Selection, &'a Directories);

impl Visitor for List<'_> {
    type Output = Result<String, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let suite = Suite::<P>::load(self.1).map_err(|errors| Failure::suite(&errors))?;
        let taken: Vec<_> = suite.files.iter().filter(|file| self.0.takes(file)).collect();
        let width = taken.iter().map(|file| file.path.to_string_lossy().len()).max().unwrap_or(0);
        let mut text = String::new();
        for file in taken {
            let case = &file.case;
            let (level, polarity) = (level(case.level), polarity(case.polarity));
            let path = file.path.to_string_lossy();
            let (path, title) = (visible::line(&path), visible::line(&case.title));
            let _ = writeln!(text, "{}  {level:<6}  {polarity:<8}  {path:<width$}  {title}", case.id);
        }
        Ok(text)
    }
}
