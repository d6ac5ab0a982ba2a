//! Two protocols in one family keep their suites, ids and case files apart, and share the registry of requirements.

use std::fs;
use std::path::Path;

use traceproof_vectors::case::{
    Assembly, Case, CaseProtocol, Expected, Problem, SuiteError, check, load, retired_ids,
};
use traceproof_vectors::shipped::Tree;
use traceproof_vectors::{Family, FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// A vocabulary of numbers: `N` is the protocol's place among those of the family.
#[derive(Clone, Copy, Debug, Default)]
struct Toy<const N: usize>;

/// The main protocol of the family.
type Packets = Toy<0>;
/// One beside it.
type Unit = Toy<1>;

impl<const N: usize> Protocol for Toy<N> {
    const ID: ProtocolId = [ProtocolId::ArmEte, ProtocolId::ArmEteUnit][N];
    const FEATURES: &'static [Feature] = &[];
    const READINGS: &'static [Reading] = &[];
    type Parameters = ();
    type Policy = ();
    type Stimulus = u8;
    type Packet = u8;
    type Event = u8;

    fn recovery(_: FaultClass) -> Recovery {
        Recovery::GoesOn
    }

    fn is_synchronised_by(_: &u8) -> bool {
        true
    }
}

impl<const N: usize> CaseProtocol for Toy<N> {
    type StimulusEntry = u8;
    type EventEntry = u8;
    type Execution = Vec<u8>;

    fn assemble(_: &str, (): &()) -> Result<Assembly, Problem> {
        Ok(Assembly::default())
    }

    fn execution(entries: &[u8], _: &Assembly) -> Result<Vec<u8>, Problem> {
        Ok(entries.to_vec())
    }

    fn expected(entries: &[u8], _: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        Ok(entries.iter().map(|entry| Expected::Event(*entry)).collect())
    }

    fn wire(lines: &[String], (): &()) -> Result<Vec<u8>, Problem> {
        lines.iter().map(|line| line.parse().map_err(|_| Problem::new("wire", "no number"))).collect()
    }

    fn show_wire(bytes: &[u8], (): &()) -> Vec<String> {
        bytes.iter().map(ToString::to_string).collect()
    }

    fn required_features((): &(), _: &[u8]) -> Vec<&'static str> {
        Vec::new()
    }
}

const CLAUSES: &str = "family = 'arm_ete'\n[[clause]]\nid = 'ETE\
                       -PKT-001'\nsummary = 's'\nsource = 'x'\n\
                       kind = 'packet'\nlevel = 'must'\nscope = 'core'\nviolable = false\n";

/// A case file; `keys` give its family and protocol.
fn case(id: &str, keys: &str) -> String {
    format!(
        "schema = 1\nid = '{id}'\n{keys}\ntitle = 't'\nlevel = 'must'\nclauses = ['ETE\
         -PKT-001']\n\
         polarity = 'positive'\ncatches = 'c'\nprovenance = {{ kind = 'directed' }}\nwire = ['1']\npackets = [1]\n"
    )
}

const MAIN: &str = "family = 'arm_ete'";
const BESIDE: &str = "family = 'arm_ete'\nprotocol = 'arm_ete_unit'";

fn project(files: &[(&str, String)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    };
    write("clauses/arm_ete.toml", CLAUSES);
    for (path, text) in files {
        write(&format!("suites/{path}"), text);
    }
    directory
}

fn ids<P: CaseProtocol>(directory: &Path) -> Result<Vec<String>, Vec<SuiteError>> {
    let files = check::<P>(&directory.join("suites").into(), &directory.join("clauses").into())?;
    Ok(files.into_iter().map(|file| file.case.id).collect())
}

fn message<T>(result: Result<T, Vec<SuiteError>>) -> String {
    let errors = result.err().expect("an error");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_protocol_reads_its_own_suite() {
    let directory = project(&[
        ("arm_ete/first.toml", case("ete-0001", MAIN)),
        ("arm_ete_unit/first.toml", case("eteu-0001", BESIDE)),
        ("arm_ete_unit/deeper/second.toml", case("eteu-0002", BESIDE)),
        ("arm_ete_unit/retired.txt", String::from("eteu-0003\n")),
    ]);
    assert_eq!(ids::<Packets>(directory.path()), Ok(vec![String::from("ete-0001")]));
    assert_eq!(ids::<Unit>(directory.path()), Ok(vec![String::from("eteu-0002"), String::from("eteu-0001")]));
    let suites = Tree::from(directory.path().join("suites"));
    assert!(retired_ids(&suites, ProtocolId::ArmEte).expect("none").is_empty());
    assert!(retired_ids(&suites, ProtocolId::ArmEteUnit).expect("one").contains("eteu-0003"));
    assert_eq!((Packets::FAMILY, Unit::FAMILY), (Family::ArmEte, Family::ArmEte));
}

#[test]
fn a_case_says_its_protocol_unless_it_is_the_main_one() {
    assert!(Case::<Packets>::parse(&case("ete-0001", MAIN)).is_ok());
    let named = format!("{MAIN}\nprotocol = 'arm_ete'");
    assert!(Case::<Packets>::parse(&case("ete-0001", &named)).is_ok());
    let wrong = |keys: &str, id: &str| {
        project(&[("arm_ete_unit/a.toml", case(id, keys)), ("arm_ete/a.toml", case(id, keys))])
    };
    let absent = wrong(MAIN, "eteu-0001");
    let found = message(load::<Unit>(&absent.path().join("suites").into()));
    assert!(found.contains("arm_ete_unit/a.toml:") && found.contains("expected `arm_ete_unit`"), "{found}");
    let other = wrong(BESIDE, "ete-0001");
    let found = message(load::<Packets>(&other.path().join("suites").into()));
    assert!(found.contains("arm_ete/a.toml:4:") && found.contains("expected `arm_ete`"), "{found}");
}

#[test]
fn ids_of_one_protocol_are_none_of_the_other() {
    let directory = project(&[
        ("arm_ete/a.toml", case("eteu-0001", MAIN)),
        ("arm_ete_unit/a.toml", case("ete-0001", BESIDE)),
    ]);
    let found = message(ids::<Packets>(directory.path()));
    assert!(found.contains("`eteu-0001` is not `ete-` and at least four digits"), "{found}");
    let found = message(ids::<Unit>(directory.path()));
    assert!(found.contains("`ete-0001` is not `eteu-` and at least four digits"), "{found}");
}
