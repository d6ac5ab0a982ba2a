//! Logs of a trace unit in other forms than the notation of cases, for `decode` and `explain`.

use std::path::Path;

use clap::{Args, ValueEnum};
use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{Parameters, Visible};
use traceproof_vectors::case::arm_ete_unit::{ImportOptions, ImportedLog, LogForm, import_log};
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::{ProtocolId, bounded};

use crate::exit::Failure;
use crate::files::read_listing;

/// A log of the trace unit of ARM ETE and ETMv4.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Import {
    /// The trace is a log of a trace unit (--family arm-ete-unit): a register trace as CSV, or the text of Linux's
    /// ftrace. Results name the line of the file.
    #[arg(long, value_name = "FORM", conflicts_with = "text")]
    import: Option<Form>,
    /// The address of the trace unit, where the log has addresses.
    #[arg(long, value_name = "ADDRESS", requires = "import", value_parser = address)]
    base: Option<u64>,
    /// The log shows every one (1), or not (0), of barriers, system (instructions), external (accesses), states or
    /// events; e.g. barriers=1. May be repeated. Default: what its form can show and what is in it.
    #[arg(long, value_name = "WHAT=0|1", requires = "import", value_parser = visible)]
    see: Vec<(Visible, bool)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Csv,
    Ftrace,
}

const VISIBLE: [(&str, Visible); 5] = [
    ("barriers", Visible::Barriers),
    ("system", Visible::System),
    ("external", Visible::External),
    ("states", Visible::States),
    ("events", Visible::Events),
];

fn address(text: &str) -> Result<u64, String> {
    parse_u64(text).ok_or_else(|| format!("`{text}` is no address; write e.g. 0xffff800012340000"))
}

fn visible(text: &str) -> Result<(Visible, bool), String> {
    let (name, shown) = text.split_once('=').ok_or("expected WHAT=0 or WHAT=1, such as barriers=1")?;
    let what = VISIBLE.into_iter().find(|(other, _)| *other == name);
    let (_, what) = what.ok_or_else(|| {
        let names = VISIBLE.map(|(name, _)| name).join(", ");
        format!("`{name}` is none of {names}")
    })?;
    match shown {
        "0" => Ok((what, false)),
        "1" => Ok((what, true)),
        _ => Err(format!("`{shown}` is neither 0 nor 1")),
    }
}

impl Import {
    pub(crate) const fn is_given(&self) -> bool {
        self.import.is_some()
    }

    /// Reads the log, and reports on the standard error what it does not show.
    pub(crate) fn read(
        &self,
        path: &Path,
        family: ProtocolId,
        parameters: &Parameters,
    ) -> Result<ImportedLog, Failure> {
        if family != ProtocolId::ArmEteUnit {
            return Err(Failure::usage("--import is for logs of a trace unit: --family arm-ete-unit"));
        }
        let form = match self.import {
            Some(Form::Ftrace) => LogForm::Ftrace,
            Some(Form::Csv) | None => LogForm::Csv,
        };
        let text = read_listing(path, bounded::LISTING)?;
        let options =
            ImportOptions { base: self.base, see: self.see.clone(), time: parameters.bound.is_some() };
        let log = import_log(form, &text, &options).map_err(|error| {
            let hint = if self.base.is_none() && error.message.starts_with("the base address") {
                "; use --base"
            } else {
                ""
            };
            Failure::usage(format!("{}:{error}{hint}", path.display()))
        })?;
        report(path, &log)?;
        Ok(log)
    }
}

/// What is left out of a log, and what it is taken to hide.
fn report(path: &Path, log: &ImportedLog) -> Result<(), Failure> {
    if let Some(page) = log.first_other {
        let is_content = |record: &[u8]| record.first() != Some(&(Kind::Visibility as u8));
        if !log.wire.chunks(RECORD).any(is_content) {
            let message = format!("no access is at --base; the first one is in page {page:#x}");
            return Err(Failure::file(path, message));
        }
        eprintln!(
            "note: accesses that are left out, because they are at other addresses: {}; the first is in page {page:#x}",
            log.others
        );
    }
    if !log.hidden.is_empty() {
        let name =
            |what: &Visible| VISIBLE.iter().find(|(_, other)| other == what).map_or("", |(name, _)| name);
        let names: Vec<&str> = log.hidden.iter().map(name).collect();
        eprintln!(
            "note: not every one of these is shown: {}; if the log shows every one, use --see {}=1",
            names.join(", "),
            names.first().copied().unwrap_or_default()
        );
    }
    Ok(())
}
