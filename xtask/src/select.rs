//! Selection of cases for a verb.

use std::ops::Range;

use clap::{Args, ValueEnum};
use traceproof_conformance::Shard;
use traceproof_conformance::family::{self, FamilyRules, RecordedProgram, Visitor};
use traceproof_conformance::generate::generated_case;
use traceproof_conformance::suite::{Directories, Selection, Suite};
use traceproof_vectors::Family;
use traceproof_vectors::case::{self, CaseFile};

use crate::exit::Failure;
use crate::suite::SuiteArgument;

/// Arguments that select cases.
#[derive(Debug, Args)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) suite: SuiteArgument,
    /// Only this family, e.g. riscv-etrace. May be repeated.
    #[arg(long, value_name = "FAMILY")]
    pub(crate) family: Vec<Family>,
    /// Only cases whose id, title or path contains this text; with * or ? a pattern of the whole. May be repeated.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// Only cases at least as binding as this.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<Level>,
    /// Only cases that cover this clause, e.g. RVET-PKT-031. May be repeated.
    #[arg(long, value_name = "CLAUSE")]
    pub(crate) clause: Vec<String>,
    /// Only this part of the suite, e.g. 2/5 on the second of five machines. Cases stay in their part when others are
    /// added.
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
}

/// Arguments that select generated scenarios.
#[derive(Debug, Args)]
pub(crate) struct Seeds {
    /// Number of generated executions of each family; default: 100, for `diff` 500.
    #[arg(long, value_name = "N")]
    generated: Option<u64>,
    /// Seed of the first one.
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
}

impl Seeds {
    /// Their numbers; the default count is `usual`.
    pub(crate) fn numbers(&self, usual: u64) -> Result<Range<u64>, Failure> {
        let count = self.generated.unwrap_or(usual);
        let end = self.seed.checked_add(count).ok_or_else(|| {
            let last = u64::MAX - count;
            Failure::usage(format!(
                "--seed: there are not {count} seeds from there on; the highest is {last}"
            ))
        })?;
        Ok(self.seed..end)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Level {
    Must,
    Should,
    May,
    Robust,
}

impl Select {
    /// Whether only some cases of a family are wanted.
    pub(crate) const fn is_narrow(&self) -> bool {
        !self.filter.is_empty() || self.level.is_some() || !self.clause.is_empty() || self.shard.is_some()
    }

    pub(crate) fn selection(&self) -> Result<Selection, Failure> {
        if let Some(missing) = self.family.iter().find(|family| !family::families().contains(family)) {
            return Err(Failure::no_such_family(*missing));
        }
        Ok(Selection {
            families: self.family.clone(),
            filters: self.filter.clone(),
            level: self.level.map(|level| match level {
                Level::Must => case::Level::Must,
                Level::Should => case::Level::Should,
                Level::May => case::Level::May,
                Level::Robust => case::Level::Robust,
            }),
            clauses: self.clause.clone(),
            shard: self.shard,
        })
    }
}

/// Applies `work` to the real program `PROGRAM/SET`, or to one case, given by its id or a filter that only one case
/// matches.
pub(crate) fn with_case<W: WithCase>(name: &str, suite: &SuiteArgument, work: &W) -> Result<String, Failure> {
    if let Some((program, set)) = name.split_once('/') {
        for protocol in family::IMPLEMENTED {
            if let Some(text) = family::visit(protocol, FindProgram { program, set, work }).flatten() {
                return text;
            }
        }
    }
    let directories = suite.directories()?;
    let mut found = Vec::new();
    for protocol in family::IMPLEMENTED {
        if let Some(cases) = family::visit(protocol, Find { name, directories: &directories, work }) {
            found.append(&mut cases?);
        }
    }
    // An exact id takes precedence over other matches.
    if let Some(exact) = found.iter().position(|case| case.id == name) {
        return Ok(found.swap_remove(exact).text);
    }
    match found.as_mut_slice() {
        [only] => Ok(std::mem::take(&mut only.text)),
        [] => Err(Failure::not_found(format!("no case matches `{name}`"), "list")),
        many => {
            let ids: Vec<&str> = many.iter().take(8).map(|case| case.id.as_str()).collect();
            let more = if many.len() > ids.len() { ", …" } else { "" };
            let count = many.len();
            Err(Failure::usage(format!("`{name}` matches {count} cases: {}{more}", ids.join(", "))))
        }
    }
}

/// What to do with a case, or with a real program.
pub(crate) trait WithCase {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, suite: &Suite<P>) -> String;

    /// The error is a sentence.
    fn program_text<P: FamilyRules>(&self, program: RecordedProgram<P>) -> Result<String, String>;
}

struct FindProgram<'a, W> {
    program: &'a str,
    set: &'a str,
    work: &'a W,
}

impl<W: WithCase> Visitor for FindProgram<'_, W> {
    /// `None`: the protocol has no such program.
    type Output = Option<Result<String, Failure>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        match (P::PROGRAMS?.find)(self.program, self.set) {
            Ok(None) => None,
            Ok(Some(program)) => Some(self.work.program_text(program).map_err(Failure::usage)),
            Err(error) => Some(Err(Failure::usage(error.message))),
        }
    }
}

struct Find<'a, W> {
    name: &'a str,
    directories: &'a Directories,
    work: &'a W,
}

struct Found {
    id: String,
    text: String,
}

impl<W: WithCase> Visitor for Find<'_, W> {
    type Output = Result<Vec<Found>, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let suite = Suite::<P>::load(self.directories).map_err(|errors| Failure::suite(&errors))?;
        let selection = Selection { filters: vec![self.name.to_owned()], ..Selection::default() };
        let mut files: Vec<&CaseFile<P>> = suite.files.iter().filter(|file| selection.takes(file)).collect();
        if let Some(exact) = files.iter().copied().find(|file| file.case.id == self.name) {
            files = vec![exact];
        }
        // The texts of many matches are not needed.
        let ambiguous = files.len() > 1;
        if let Some(file) = generated_case::<P>(self.name) {
            let found = Found { id: self.name.to_owned(), text: self.work.text(&file, &suite) };
            return Ok(vec![found]);
        }
        let found = |file: &CaseFile<P>| Found {
            id: file.case.id.clone(),
            text: if ambiguous { String::new() } else { self.work.text(file, &suite) },
        };
        Ok(files.into_iter().map(found).collect())
    }
}
