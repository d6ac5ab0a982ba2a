//! Every case as a test of `cargo test`, in the repository of the subject.
//!
//! A test binary without the usual harness:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use traceproof_conformance::{Subject, trials};
//! use traceproof_vectors::riscv_etrace::RiscvEtrace;
//! # use traceproof_decoder::riscv_etrace::Decoder as AcmeDecoder;
//!
//! fn main() -> ExitCode {
//!     let subject = Subject::new("acme", "2.3.1").with_decoder::<RiscvEtrace>(|| Box::new(AcmeDecoder::default()));
//!     trials::main(&subject, None)
//! }
//! ```

use std::env;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use traceproof_vectors::case::{CaseFile, SuiteError};

use crate::baseline::Baseline;
use crate::family::{self, FamilyRules, Visitor};
use crate::report::text;
use crate::runner::{Options, judge_case};
use crate::suite::Suite;
use crate::verdict::Kind;
use crate::{Subject, baseline};

/// The whole of a test binary: understands the arguments of `cargo test`, runs every case as a test, and returns the
/// exit code.
///
/// A case of which nothing is judged is ignored, with the reason. What the baseline knows to fail is ignored, too; what
/// it knows to fail and passes fails.
#[must_use]
pub fn main(subject: &Subject, baseline: Option<&Baseline>) -> ExitCode {
    match trials(subject, &Options::default(), baseline) {
        Ok(trials) => libtest_mimic::run(&Arguments::from_args(), trials).exit_code(),
        Err(errors) => {
            for error in errors {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The cases of every family that the subject has, as tests named by path and id.
///
/// # Errors
///
/// Everything that is wrong with the suites.
pub fn trials(
    subject: &Subject,
    options: &Options,
    baseline: Option<&Baseline>,
) -> Result<Vec<Trial>, Vec<SuiteError>> {
    let baseline = baseline.map(|known| Arc::new(known.clone()));
    let mut trials = Vec::new();
    for protocol in family::IMPLEMENTED {
        if options.selection.takes_protocol(protocol) {
            let of_family = OfFamily { subject, options, baseline: baseline.as_ref() };
            trials.extend(family::visit(protocol, of_family).transpose()?.unwrap_or_default());
        }
    }
    Ok(trials)
}

struct OfFamily<'a> {
    subject: &'a Subject,
    options: &'a Options,
    baseline: Option<&'a Arc<Baseline>>,
}

impl Visitor for OfFamily<'_> {
    type Output = Result<Vec<Trial>, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        if !(self.subject.has_decoder::<P>() || self.subject.has_encoder::<P>()) {
            return Ok(Vec::new());
        }
        let suite = Arc::new(Suite::<P>::load(&self.options.directories)?);
        let taken = suite.files.iter().filter(|file| self.options.selection.takes(file));
        Ok(taken
            .map(|file| {
                let (subject, options, file) =
                    (self.subject.clone(), self.options.clone(), Arc::new(file.clone()));
                let (suite, baseline) = (Arc::clone(&suite), self.baseline.map(Arc::clone));
                let level = file.case.level;
                let name = format!("{}::{}", file.path.with_extension("").display(), file.case.id);
                Trial::ignorable_test(name.clone(), move || {
                    one(&subject, &options, &file, &suite, baseline.as_deref(), &name)
                })
                .with_kind(text::level(level))
            })
            .collect())
    }
}

/// The command that runs the trial `name` of this test binary alone, in the repository that the binary belongs to.
fn reproduce(name: &str) -> String {
    let binary = env::current_exe().unwrap_or_default();
    let stem = binary.file_stem().unwrap_or_default().to_string_lossy();
    // Cargo provides the name of the package, and appends a hash to the name of the target.
    match (env::var("CARGO_PKG_NAME"), stem.rsplit_once('-')) {
        (Ok(package), Some((target, _))) => {
            format!("cargo test --package {package} --test {target} -- --exact {name}")
        }
        _ => format!("{} --exact {name}", binary.display()),
    }
}

fn one<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    file: &Arc<CaseFile<P>>,
    suite: &Suite<P>,
    known: Option<&Baseline>,
    name: &str,
) -> Result<Completion, Failed> {
    let mut case = judge_case(subject, options, file, &suite.registry);
    case.reproduce = Some(reproduce(name));
    if let Some(known) = known {
        for check in &mut case.checks {
            baseline::expect(known, &case.id, check);
        }
    }
    if case.failures().next().is_some() {
        return Err(text::failure(&case, text::Style::default()).into());
    }
    let passed = case.checks.iter().any(|check| check.verdict.kind() == Kind::Pass);
    let other = case.checks.iter().find(|check| check.verdict.kind() != Kind::Pass);
    Ok(match other {
        Some(check) if !passed => Completion::ignored_with(check.verdict.to_string()),
        None if !passed => Completion::ignored_with("the subject offers nothing for this case"),
        _ => Completion::Completed,
    })
}
