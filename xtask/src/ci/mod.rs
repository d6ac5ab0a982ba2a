//! `traceproof ci`: a job for the repository of a decoder or encoder.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Print a CI job that judges a subject: cached, in parts, with JUnit, summary and report.
///
/// The job installs this version of the program, builds the subject, judges it in parallel parts, and merges their
/// results into one page and one summary. A failure that the baseline does not have fails the job.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof ci github --subject acme/subject.toml > .github/workflows/traceproof.yml
  traceproof ci github --subject acme/subject.toml --baseline acme.baseline.toml --parts 4
  traceproof ci gitlab --subject acme/subject.toml --build 'make -C acme' > .gitlab-ci.yml")]
pub(crate) struct Arguments {
    /// Where the job runs.
    host: Host,
    /// The subject file, as the job sees it: relative to the root of the repository.
    #[arg(long, value_name = "FILE.toml")]
    subject: PathBuf,
    /// Whether the subject is a decoder or an encoder; only for the names of steps.
    #[arg(long, value_name = "KIND", default_value = "decoder")]
    kind: Kind,
    /// The command that builds the subject.
    #[arg(long, value_name = "COMMAND", default_value = "make")]
    build: String,
    /// Known failures of the subject.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Only these families. May be repeated.
    #[arg(long, value_name = "FAMILY")]
    family: Vec<String>,
    /// Number of parts that are judged in parallel.
    #[arg(long, value_name = "N", default_value = "2")]
    parts: NonZeroU32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Host {
    Github,
    Gitlab,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Decoder,
    Encoder,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print(&arguments.job()?)?;
    Ok(Exit::Ok)
}

impl Arguments {
    fn job(&self) -> Result<String, Failure> {
        let template = match self.host {
            Host::Github => include_str!("github.yml"),
            Host::Gitlab => include_str!("gitlab.yml"),
        };
        let subject = word(&self.subject.to_string_lossy())?;
        let mut options = String::new();
        for family in &self.family {
            options.push_str(&format!(" --family {}", word(family)?));
        }
        if let Some(baseline) = &self.baseline {
            options.push_str(&format!(" --baseline {}", word(&baseline.to_string_lossy())?));
        }
        if self.build.contains(['\n', '\r']) {
            return Err(Failure::usage("--build is one line"));
        }
        let parts: Vec<String> = (1..=self.parts.get()).map(|part| part.to_string()).collect();
        let kind = match self.kind {
            Kind::Decoder => "decoder",
            Kind::Encoder => "encoder",
        };
        let values = [
            ("{{subject}}", subject),
            ("{{options}}", options),
            ("{{kind}}", kind.to_owned()),
            ("{{build}}", quoted(&self.build)),
            ("{{parts}}", parts.join(", ")),
            ("{{count}}", self.parts.to_string()),
            ("{{version}}", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        Ok(values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value)))
    }
}

/// A word that shell and YAML take as it is.
fn word(text: &str) -> Result<String, Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(plain) {
        let allowed = "letters, digits and / . _ - +";
        return Err(Failure::usage(format!("`{text}`: a path or name in a job has {allowed} only")));
    }
    Ok(text.to_owned())
}

/// A scalar of YAML in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
