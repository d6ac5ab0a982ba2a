//! Runs the cases: selects, spreads them over threads, isolates panics and hangs.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rayon::prelude::*;
use traceproof_vectors::case::{CaseFile, Level, Polarity, Resolved, SuiteError};
use traceproof_vectors::clause::Registry;

use crate::ProtocolName;
use crate::check;
use crate::family::{self, FamilyRules, ProgramRequest, Visitor};
use crate::generate::{OpcodeSweep, Seed};
use crate::isolation::{THREAD_NAME, caught, guarded};
use crate::journal::Journal;
use crate::loaded::{OfProtocol, Work};
use crate::process;
use crate::repeat;
use crate::run::{CaseResult, Check, ClauseName, ProgramRun, Run};
use crate::suite::{Directories, Selection};
use crate::verdict::{Divergence, Verdict};
use crate::{Agreement, Direction, Invocation, Subject};

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the cases are.
    pub directories: Directories,
    /// Which of them to run.
    pub selection: Selection,
    /// Only these directions; empty = all.
    pub directions: Vec<Direction>,
    /// The numbers of the generated scenarios to judge besides, of each family, each whole and damaged.
    pub generated: Range<u64>,
    /// Whether to judge sweeps of opcodes besides, where a family has them.
    pub opcodes: bool,
    /// Whether to send real programs through the subject, too. Their names are matched by the filters of the
    /// selection as `program/set`. They take seconds, and nothing stops a subject in this process that hangs there.
    pub programs: bool,
    /// The text of a file of parameters: real programs run under these alone.
    pub parameters: Option<String>,
    /// How many cases at once; `None` = one per processor.
    pub jobs: Option<usize>,
    /// How long one direction of one case may take in this process. A thread that exceeds it is abandoned, because a
    /// thread cannot be stopped. Subjects in other processes have their own deadlines ([`crate::process::Limits`]).
    pub deadline: Duration,
    /// How far encoders must agree with the cases; the reference must exactly.
    pub require: Agreement,
    /// How often everything is judged. What does not come out the same each time is [`Verdict::Flaky`].
    pub repeat: NonZeroUsize,
    /// The command that starts the harness, for the commands of reports.
    pub invocation: Invocation,
    /// When it returns true, no more cases are started, and the results so far are those of the run.
    pub stop: Arc<AtomicBool>,
    /// Whether a case that fails sets [`stop`](Self::stop).
    pub fail_fast: bool,
    /// Results that are there already, and the file that gets the others as they come.
    pub journal: Option<Arc<Journal>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            directories: Directories::default(),
            selection: Selection::default(),
            directions: Vec::new(),
            generated: 0..0,
            opcodes: false,
            programs: false,
            parameters: None,
            jobs: None,
            deadline: Duration::from_secs(10),
            require: Agreement::default(),
            repeat: NonZeroUsize::MIN,
            invocation: Invocation::default(),
            stop: Arc::default(),
            fail_fast: false,
            journal: None,
        }
    }
}

impl Options {
    pub(crate) fn takes_direction(&self, direction: Direction) -> bool {
        self.directions.is_empty() || self.directions.contains(&direction)
    }
}

/// How far a run is in one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Cases.
    Cases {
        /// Done so far.
        done: usize,
        /// Selected in this family.
        total: usize,
        /// Cases of the whole run so far with a failing check.
        failed: usize,
    },
    /// Real programs.
    Programs {
        /// Done so far.
        done: usize,
    },
}

/// Runs the selected cases of every family, and its real programs if wanted, through the subject.
///
/// A panic of the subject is the verdict `crash` of that check, a subject that does not return the verdict `timeout`;
/// both leave the other checks alone. A stack overflow or an abort of a subject in this process ends the run; a subject
/// in separate [processes](crate::process) cannot do that.
///
/// # Errors
///
/// Everything that is wrong with the suites; then nothing ran.
pub fn run(
    subject: &Subject,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Run, Vec<SuiteError>> {
    let mut cases = Vec::new();
    let mut programs = Vec::new();
    let mut errors = Vec::new();
    let failed = AtomicUsize::new(0);
    for protocol in family::IMPLEMENTED {
        if !options.selection.takes_protocol(protocol) {
            continue;
        }
        match family::visit(protocol, RunFamily { subject, options, progress, failed: &failed }) {
            Some(Ok((mut of_cases, mut of_programs))) => {
                cases.append(&mut of_cases);
                programs.append(&mut of_programs);
            }
            Some(Err(mut found)) => errors.append(&mut found),
            None => {}
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Run::of(subject, options, cases, programs))
}

struct RunFamily<'a> {
    subject: &'a Subject,
    options: &'a Options,
    progress: &'a (dyn Fn(Progress) + Sync),
    failed: &'a AtomicUsize,
}

impl Visitor for RunFamily<'_> {
    type Output = Result<(Vec<CaseResult>, Vec<ProgramRun>), Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let (subject, options) = (self.subject, self.options);
        let loaded = OfProtocol::<P>::load(subject, options)?;
        let (done, total) = (AtomicUsize::new(0), loaded.work.len());
        let one = |work: &Work<P>| {
            if options.stop.load(Ordering::Relaxed) {
                return None;
            }
            let journal = options.journal.as_ref();
            let case = journal.and_then(|journal| journal.case(&work.id(), work.rev())).or_else(|| {
                let case = loaded.judge(subject, options, work);
                if let (Some(journal), Some(case)) = (journal, &case) {
                    journal.add_case(case);
                }
                case
            });
            let fails = case.iter().any(|case| case.failures().next().is_some());
            if options.fail_fast && fails {
                options.stop.store(true, Ordering::Relaxed);
            }
            let failed = self.failed.fetch_add(usize::from(fails), Ordering::Relaxed) + usize::from(fails);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress::Cases { done, total, failed });
            case
        };
        let both = || {
            (
                loaded.work.par_iter().filter_map(one).collect(),
                programs_of::<P>(subject, options, self.progress),
            )
        };
        let jobs = self.options.jobs.unwrap_or(0);
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(jobs).thread_name(|_| THREAD_NAME.to_owned()).build();
        // Without its own thread pool the run uses the global one.
        let (cases, programs) = match pool {
            Ok(pool) => pool.install(both),
            Err(_) => both(),
        };
        Ok((cases, programs.map_err(|error| vec![error])?))
    }
}

/// Sends the real programs of a protocol through the subject, if they are wanted.
pub(crate) fn programs_of<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<ProgramRun>, SuiteError> {
    let wanted = options.programs && options.takes_direction(Direction::RoundTrip);
    if !wanted || !(subject.has_decoder::<P>() || subject.has_encoder::<P>()) {
        return Ok(Vec::new());
    }
    let Some(programs) = P::PROGRAMS else { return Ok(Vec::new()) };
    let filters = &options.selection.filters;
    let selected =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| Selection::matches(filter, &[name]));
    let mut known = options.journal.as_ref().map_or_else(Vec::new, |it| it.programs(P::ID));
    known.retain(|run| selected(&run.name()));
    let names: Vec<String> = known.iter().map(ProgramRun::name).collect();
    let wanted = |program: &str, set: &str| {
        let name = format!("{program}/{set}");
        selected(&name) && !names.contains(&name) && !options.stop.load(Ordering::Relaxed)
    };
    let text = options.parameters.as_deref();
    let parameters = text.map(P::read_parameters).transpose().map_err(|errors| SuiteError {
        path: PathBuf::from("parameters"),
        place: None,
        message: errors.join("; "),
    })?;
    let done = AtomicUsize::new(0);
    let progress = || progress(Progress::Programs { done: done.fetch_add(1, Ordering::Relaxed) + 1 });
    let request = ProgramRequest {
        encoder: &|| subject.encoder::<P>().unwrap_or_else(P::reference_encoder),
        decoder: &|| subject.decoder::<P>().unwrap_or_else(P::reference_decoder),
        parameters: parameters.as_ref(),
        wanted: &wanted,
        progress: &progress,
    };
    let once = |_| (programs.run)(&request);
    let runs = (0..options.repeat.get()).map(once).collect::<Result<_, _>>()?;
    let judged = repeat::settled_programs(runs);
    if let Some(journal) = &options.journal {
        judged.iter().for_each(|run| journal.add_program(run));
    }
    known.extend(judged);
    Ok(known)
}

/// Judges one case in every direction that it and the subject allow.
pub(crate) fn judge_case<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    file: &Arc<CaseFile<P>>,
    registry: &Registry,
) -> CaseResult {
    let clauses = file
        .case
        .clauses
        .iter()
        .map(|id| ClauseName {
            id: id.clone(),
            summary: registry.get(id).map(|clause| clause.summary.clone()).unwrap_or_default(),
        })
        .collect();
    let checks = Direction::ALL
        .into_iter()
        .filter(|direction| options.takes_direction(*direction) && check::applies(subject, file, *direction))
        .map(|direction| Check { direction, verdict: judge_fairly(subject, options, file, direction) })
        .collect();
    result(file, clauses, checks)
}

/// Judges the case of a seed; `None` where the family generates none.
pub(crate) fn judge_seed<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    seed: Seed,
    registry: &Registry,
) -> Option<CaseResult> {
    let (mut file, confirmed) = seed.case::<P>()?;
    let confirmed =
        confirmed.and_then(|()| if subject.is_reference() { caught(|| seed.examine::<P>()) } else { Ok(()) });
    let execution = file.resolved.execution.take();
    let file = Arc::new(file);
    let mut case = judge_case(subject, options, &file, registry);
    // Not of the model whose bytes these are.
    if execution.is_some() && !subject.is_reference() {
        // Packets as a decoder delivers them; an encoder may make some that are lost on the way.
        let resolved = Resolved { execution, packets: None, events: None, ..file.resolved.clone() };
        let file = Arc::new(CaseFile { resolved, ..CaseFile::clone(&file) });
        let checks = [Direction::Encode].into_iter().filter(|&direction| {
            options.takes_direction(direction) && check::applies(subject, &file, direction)
        });
        case.checks.extend(
            checks.map(|direction| Check {
                direction,
                verdict: judge_fairly(subject, options, &file, direction),
            }),
        );
    }
    if let Err(message) = confirmed {
        // An error of the runner, not of the subject.
        let verdict = Verdict::Fail(Divergence::sentence("the reference models", message));
        case.checks.insert(0, Check { direction: Direction::Decode, verdict });
    }
    let arguments = format!("conformance --seed {} --generated 1 --filter {}", seed.number, case.id);
    case.reproduce = Some(options.invocation.command(arguments));
    Some(case)
}

/// Judges a sweep of opcodes, without the relations: they are judged by other streams. `None` where the family has none
/// of this name.
pub(crate) fn judge_sweep<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    sweep: &OpcodeSweep,
) -> Option<CaseResult> {
    let file = match sweep.case::<P>()? {
        Ok(file) => Arc::new(file),
        Err(message) => return Some(sweep_without_stream::<P>(sweep, message)),
    };
    let judged =
        [(Direction::Decode, subject.has_decoder::<P>()), (Direction::Encode, subject.has_encoder::<P>())];
    let checks = judged
        .into_iter()
        .filter(|&(direction, has)| has && options.takes_direction(direction))
        .map(|(direction, _)| Check { direction, verdict: judge_fairly(subject, options, &file, direction) })
        .collect();
    let mut case = result(&file, Vec::new(), checks);
    case.reproduce = Some(options.invocation.command(format!("conformance --filter {}", case.id)));
    Some(case)
}

/// The result of a sweep whose stream cannot be made: an error of the runner, not of the subject.
fn sweep_without_stream<P: FamilyRules>(sweep: &OpcodeSweep, message: String) -> CaseResult {
    let verdict = Verdict::Fail(Divergence::sentence("the reference encoder model", message));
    CaseResult {
        id: sweep.id::<P>(),
        rev: 1,
        protocol: ProtocolName(P::ID),
        path: slashed(&sweep.path::<P>()),
        title: sweep.title(),
        level: Level::Must,
        polarity: Polarity::Positive,
        clauses: Vec::new(),
        provisional: Vec::new(),
        catches: OpcodeSweep::CATCHES.to_owned(),
        checks: vec![Check { direction: Direction::Decode, verdict }],
        reproduce: None,
    }
}

/// A failure of a process that has worked for other cases is tried again in one that has not.
fn judge_fairly<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    file: &Arc<CaseFile<P>>,
    direction: Direction,
) -> Verdict {
    let once = || judge(subject, options, file, direction);
    let verdict = repeat::settled(once(), (1..options.repeat.get()).map(|_| once()));
    // Distinguishes a failure of this case from state of earlier cases; only for processes that serve many cases.
    let again = matches!(verdict, Verdict::Fail(_) | Verdict::Crash { .. } | Verdict::ProtocolError { .. });
    match subject.processes() {
        Some(pool) if again && pool.may_start() => {
            let alone = process::of_pool(&Arc::new(pool.anew())).with_limits(*subject.limits());
            match judge(&alone, options, file, direction) {
                alone if alone.kind().is_pass() => Verdict::StateLeak { message: verdict.to_string() },
                _ => verdict,
            }
        }
        _ => verdict,
    }
}

fn judge<P: FamilyRules>(
    subject: &Subject,
    options: &Options,
    file: &Arc<CaseFile<P>>,
    direction: Direction,
) -> Verdict {
    let (of, file) = (subject.clone(), Arc::clone(file));
    // The bytes of cases are those of the reference.
    let required = if subject.is_reference() { Agreement::Exact } else { options.require };
    guarded(subject, options.deadline, move || check::check(&of, &file, direction, required))
}

fn result<P: FamilyRules>(file: &CaseFile<P>, clauses: Vec<ClauseName>, checks: Vec<Check>) -> CaseResult {
    let case = &file.case;
    CaseResult {
        id: case.id.clone(),
        rev: case.rev,
        protocol: ProtocolName(P::ID),
        path: slashed(&file.path),
        title: case.title.clone(),
        level: case.level,
        polarity: case.polarity,
        clauses,
        provisional: provisional::<P>(&case.readings),
        catches: case.catches.clone(),
        checks,
        reproduce: None,
    }
}

/// A path with `/` on every system.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// The readings without a primary source among those of a case.
pub(crate) fn provisional<P: FamilyRules>(readings: &[String]) -> Vec<String> {
    readings.iter().filter(|name| P::PROVISIONAL.contains(&name.as_str())).cloned().collect()
}
