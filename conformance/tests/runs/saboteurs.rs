//! The suite detects every deliberate bug, and no null subject passes it.

use std::collections::BTreeSet;
use std::panic;
use std::thread;

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::report::kill_matrix;
use traceproof_conformance::saboteurs::matrix::{self, Options};
use traceproof_conformance::saboteurs::{self, Saboteur};
use traceproof_conformance::suite::{Directories, Selection, Suite};
use traceproof_conformance::{Direction, Subject, THREAD_NAME};
use traceproof_vectors::Family;

/// Every family has at least so many of its own.
const FEWEST: usize = 12;

/// A bug of which more than so many percent of the cases know is not subtle. What only a relation notices (chunks,
/// resets) it notices in nearly every stream. A run ends when the others are known to be more (`until_known`).
const MOST_KILLERS: usize = 90;

/// What these keep over `reset` or `begin` does not show when the same stream is repeated, and no expectation of a
/// single stream sees it.
const FORGETFUL: [&str; 3] =
    ["reset-keeps-the-first-event", "reset-keeps-what-was-seen", "begin-keeps-the-first-parameters"];

fn judge(family: Family) {
    // One of them panics.
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(THREAD_NAME) {
            usual(info);
        }
    }));
    let options = Options {
        selection: Selection { families: vec![family], ..Selection::default() },
        until_known: true,
        ..Options::default()
    };
    let matrices = matrix::run(&options, &|_| {}).expect("the shipped suite is sound");
    let text = kill_matrix::text(&matrices, false);
    assert!(matrices.is_success(), "{text}");
    for matrix in &matrices.families {
        assert!(matrix.nulls.iter().all(|null| null.judged > 0), "{text}");
        for row in &matrix.saboteurs {
            let expecting = row.killers.iter().filter(|killer| killer.direction != Direction::Chunks);
            let killers = expecting.count();
            assert!(
                killers == 0 || !FORGETFUL.contains(&row.name.as_str()),
                "{}: {:?}",
                row.name,
                row.killers
            );
            assert!(
                100 * killers <= MOST_KILLERS * row.judged,
                "{} is killed by {killers} of {} cases",
                row.name,
                row.judged
            );
        }
    }
}

#[test]
fn every_saboteur_is_killed() {
    family::families().into_iter().for_each(judge);
}

/// What a table must keep.
struct Table;

impl Visitor for Table {
    type Output = ();

    fn visit<P: FamilyRules>(self) {
        let Some(saboteurs) = P::SABOTEURS else { return };
        let own: &[Saboteur<P>] = saboteurs.table;
        assert!(own.len() >= FEWEST, "{} has {} saboteurs", P::FAMILY, own.len());
        let suite = Suite::<P>::load(&Directories::default()).expect("the shipped suite is sound");
        let mut names = BTreeSet::new();
        for saboteur in saboteurs::of::<P>() {
            let name = saboteur.name;
            assert!(names.insert(name), "{name} is there twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
            assert!(saboteur.bug.ends_with('.') && !saboteur.source.is_empty(), "{name}");
            let words = saboteur.source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            for word in words.filter(|word| is_clause(word)) {
                assert!(suite.registry.get(word).is_some(), "{name}: there is no clause {word}");
            }
        }
    }
}

/// Whether the text has the form of a clause's id, such as `ETM3-PH-001`.
fn is_clause(text: &str) -> bool {
    let number = text.rsplit('-').next().unwrap_or_default();
    text.contains('-') && number.len() == 3 && number.chars().all(|c| c.is_ascii_digit())
}

#[test]
fn tables_are_sound() {
    for protocol in family::IMPLEMENTED {
        family::visit(protocol, Table).expect("a family of this build");
    }
}

/// Without a bug, what saboteurs are made of is the reference: else a kill would prove nothing.
mod without_a_bug {
    use super::*;
    use traceproof_conformance::saboteurs::{decoders, encoders};
    use traceproof_conformance::{Options, run};

    struct Harmless;

    impl Visitor for Harmless {
        type Output = ();

        fn visit<P: FamilyRules>(self) {
            let subjects = [
                Subject::new("parameters", "").with_decoder::<P>(|| decoders::parameters(|_| {})),
                Subject::new("program", "")
                    .with_decoder::<P>(|| decoders::program(|_, program| program.clone())),
                Subject::new("bytes", "").with_decoder::<P>(|| decoders::bytes(|_| Box::new(|byte| byte))),
                Subject::new("results", "").with_decoder::<P>(|| decoders::results(|_| Box::new(Some))),
                Subject::new("configuration", "").with_encoder::<P>(|| encoders::configuration(|_, _| {})),
                Subject::new("steps", "").with_encoder::<P>(|| encoders::steps(|_| Box::new(Some))),
            ];
            for subject in &subjects {
                passes(subject, P::FAMILY);
            }
        }
    }

    pub(super) fn passes(subject: &Subject, family: Family) {
        let options = Options {
            selection: Selection { families: vec![family], ..Selection::default() },
            ..Options::default()
        };
        let run = run(subject, &options, &|_| {}).expect("the shipped suite is sound");
        let failed: Vec<&str> = run.failed().map(|case| case.id.as_str()).collect();
        assert!(run.is_success(), "{} fails {failed:?}", subject.name());
    }

    #[test]
    fn hooks_change_nothing() {
        for protocol in family::IMPLEMENTED {
            family::visit(protocol, Harmless).expect("a family of this build");
        }
    }

    #[test]
    fn layers_are_the_decoder() {
        for protocol in family::IMPLEMENTED {
            family::visit(protocol, Layers).expect("a protocol of this build");
        }
    }

    struct Layers;

    impl Visitor for Layers {
        type Output = ();

        fn visit<P: FamilyRules>(self) {
            let subjects = saboteurs::harmless::<P>();
            assert_eq!(subjects.is_empty(), P::SABOTEURS.is_none(), "{}", P::FAMILY);
            subjects.iter().for_each(|subject| passes(subject, P::FAMILY));
        }
    }
}
