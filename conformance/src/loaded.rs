//! What a run judges, loaded once: each part can be judged by itself, and again.

use std::sync::Arc;

use traceproof_vectors::case::{CaseFile, SuiteError};
use traceproof_vectors::clause::Registry;

use crate::family::{self, FamilyRules, Visitor};
use crate::generate::{OpcodeSweep, Seed};
use crate::run::CaseResult;
use crate::runner::{Options, judge_case, judge_seed, judge_sweep, programs_of};
use crate::suite::Suite;
use crate::{Direction, Run, Subject};

/// What one run of a subject judges, in parts: each direction of each case, each generated execution, each sweep of
/// opcodes, and the real programs of each protocol.
pub struct Loaded {
    subject: Subject,
    options: Options,
    protocols: Vec<Box<dyn Parts>>,
    parts: Vec<Part>,
}

/// A part, and where it is.
struct Part {
    name: String,
    protocol: usize,
    piece: Piece,
}

#[derive(Clone, Copy)]
enum Piece {
    /// With the index of the work; one direction of it, or all.
    Work(usize, Option<Direction>),
    Programs,
}

impl Loaded {
    /// Loads what the options select.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the suites.
    pub fn new(subject: &Subject, options: &Options) -> Result<Self, Vec<SuiteError>> {
        let mut loaded = Self {
            subject: subject.clone(),
            options: options.clone(),
            protocols: Vec::new(),
            parts: Vec::new(),
        };
        for protocol in family::IMPLEMENTED.into_iter().filter(|it| options.selection.takes_protocol(*it)) {
            let Some(parts) = family::visit(protocol, Load { subject, options }).transpose()? else {
                continue;
            };
            let number = loaded.protocols.len();
            let mut add = |name, piece| loaded.parts.push(Part { name, protocol: number, piece });
            for (index, (id, split)) in parts.work().into_iter().enumerate() {
                if split {
                    for direction in Direction::ALL.into_iter().filter(|it| options.takes_direction(*it)) {
                        add(format!("{id} {direction}"), Piece::Work(index, Some(direction)));
                    }
                } else {
                    add(id, Piece::Work(index, None));
                }
            }
            if options.programs {
                add(format!("real programs of {protocol}"), Piece::Programs);
            }
            loaded.protocols.push(parts);
        }
        Ok(loaded)
    }

    /// The names of the parts; of a case with its direction.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.iter().map(|part| part.name.as_str())
    }

    /// Judges the part with this index as a run of its own; a part that does not exist, or does not apply, is a run
    /// without results. May panic or never return if the subject does.
    ///
    /// # Errors
    ///
    /// Real programs cannot be read.
    pub fn judge(&self, part: usize) -> Result<Run, SuiteError> {
        let (mut cases, mut programs) = (Vec::new(), Vec::new());
        if let Some(Part { protocol, piece, .. }) = self.parts.get(part)
            && let Some(of_protocol) = self.protocols.get(*protocol)
        {
            let Self { subject, options, .. } = self;
            match *piece {
                Piece::Work(index, Some(direction)) => {
                    let options = Options { directions: vec![direction], ..options.clone() };
                    cases.extend(of_protocol.judge(subject, &options, index));
                }
                Piece::Work(index, None) => cases.extend(of_protocol.judge(subject, options, index)),
                Piece::Programs => programs = of_protocol.programs(subject, options)?,
            }
        }
        Ok(Run::of(&self.subject, &self.options, cases, programs))
    }
}

/// The parts of one protocol, whichever it is.
trait Parts: Send + Sync {
    /// Ids, and whether directions are parts of their own.
    fn work(&self) -> Vec<(String, bool)>;
    fn judge(&self, subject: &Subject, options: &Options, index: usize) -> Option<CaseResult>;
    fn programs(
        &self,
        subject: &Subject,
        options: &Options,
    ) -> Result<Vec<crate::run::ProgramRun>, SuiteError>;
}

struct Load<'a> {
    subject: &'a Subject,
    options: &'a Options,
}

impl Visitor for Load<'_> {
    type Output = Result<Box<dyn Parts>, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        Ok(Box::new(OfProtocol::<P>::load(self.subject, self.options)?))
    }
}

impl<P: FamilyRules> Parts for OfProtocol<P> {
    fn work(&self) -> Vec<(String, bool)> {
        self.work.iter().map(|work| (work.id(), matches!(work, Work::Case(_)))).collect()
    }

    fn judge(&self, subject: &Subject, options: &Options, index: usize) -> Option<CaseResult> {
        self.work.get(index).and_then(|work| Self::judge(self, subject, options, work))
    }

    fn programs(
        &self,
        subject: &Subject,
        options: &Options,
    ) -> Result<Vec<crate::run::ProgramRun>, SuiteError> {
        programs_of::<P>(subject, options, &|_| {})
    }
}

/// What a run judges of one protocol, without real programs.
pub(crate) struct OfProtocol<P: FamilyRules> {
    pub(crate) work: Vec<Work<P>>,
    registry: Registry,
}

impl<P: FamilyRules> OfProtocol<P> {
    pub(crate) fn load(subject: &Subject, options: &Options) -> Result<Self, Vec<SuiteError>> {
        let Suite { files, registry } = Suite::<P>::load(&options.directories)?;
        let cases = files.into_iter().filter(|file| options.selection.takes(file)).map(Arc::new);
        let judged = subject.has_decoder::<P>() || subject.has_encoder::<P>();
        let seeds = Seed::of(options.generated.clone())
            .filter(|seed| judged && options.selection.takes_seed::<P>(*seed));
        let sweeps = if options.opcodes && judged { OpcodeSweep::all::<P>() } else { Vec::new() };
        let sweeps = sweeps.into_iter().filter(|sweep| options.selection.takes_sweep::<P>(sweep));
        let generated = seeds.map(Work::Seed).chain(sweeps.map(Work::Sweep));
        Ok(Self { work: cases.map(Work::Case).chain(generated).collect(), registry })
    }

    pub(crate) fn judge(&self, subject: &Subject, options: &Options, work: &Work<P>) -> Option<CaseResult> {
        match work {
            Work::Case(file) => Some(judge_case(subject, options, file, &self.registry)),
            Work::Seed(seed) => judge_seed::<P>(subject, options, *seed, &self.registry),
            Work::Sweep(sweep) => judge_sweep::<P>(subject, options, sweep),
        }
    }
}

/// A case, or what is made when it is its turn.
pub(crate) enum Work<P: FamilyRules> {
    Case(Arc<CaseFile<P>>),
    Seed(Seed),
    Sweep(OpcodeSweep),
}

impl<P: FamilyRules> Work<P> {
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Case(file) => file.case.id.clone(),
            Self::Seed(seed) => seed.id::<P>(),
            Self::Sweep(sweep) => sweep.id::<P>(),
        }
    }

    /// Revision of the expectation.
    pub(crate) fn rev(&self) -> u32 {
        if let Self::Case(file) = self { file.case.rev } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Family;

    use super::*;
    use crate::{Selection, run};

    #[test]
    fn the_parts_of_a_run_have_its_results() {
        let selection = Selection {
            families: vec![Family::ItaniumPmu],
            filters: ["ita-000*", "ita-seed-0*"].map(String::from).to_vec(),
            ..Selection::default()
        };
        let options = Options { selection, generated: 0..1, opcodes: true, ..Options::default() };
        let subject = Subject::reference();
        let whole = run(&subject, &options, &|_| {}).expect("sound");
        let loaded = Loaded::new(&subject, &options).expect("sound");
        let parts: Vec<Run> =
            (0..loaded.names().len()).map(|part| loaded.judge(part).expect("judges")).collect();
        let of_parts: Vec<_> = parts.iter().flat_map(Run::checks).collect();
        let of_whole: Vec<_> = whole.checks().collect();
        assert!(of_whole.len() > 10);
        assert_eq!(of_parts, of_whole);
        assert_eq!(loaded.judge(loaded.names().len()).expect("nothing").checks().count(), 0);
    }
}
