//! Fuzz projects for other people's decoders: files, seeds and dictionary.
//!
//! A project depends on `traceproof-differential`, which needs no generator: executions of the generator are among the
//! seeds instead.

use std::collections::BTreeSet;
use std::ops::Range;

use traceproof_differential::Stream;
use traceproof_vectors::ProtocolId;
use traceproof_vectors::case::SuiteError;

use crate::adaptor::kit::{self, KitFile};
use crate::differential::{of_cases, of_seed};
use crate::family::{self, FamilyRules, Visitor};
use crate::suite::{Directories, Selection};

/// The languages of decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// An implementation of `traceproof_vectors::Decoder`.
    Rust,
    /// The functions of `tdut.h`.
    C,
    /// The same in C++.
    Cpp,
}

macro_rules! file {
    ($path:literal, $source:literal) => {
        KitFile { path: $path, text: include_str!(concat!("../adaptors/fuzz/", $source)) }
    };
}

const COMMON: [KitFile; 3] = [
    file!("fuzz_targets/decode.rs", "decode.rs"),
    file!(".cargo/config.toml", "config.toml"),
    file!("README.md", "README.md"),
];

impl Language {
    /// What a person changes, as part of a sentence.
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            Self::Rust => "the function `decoder` in src/lib.rs, and the dependencies in Cargo.toml",
            Self::C => "example.c and the list `SOURCES` in build.rs; the functions are described in tdut.h",
            Self::Cpp => {
                "example.cpp and the list `SOURCES` in build.rs; the functions are described in tdut.h"
            }
        }
    }

    /// The files of a project by path and text, without its manifest, whose dependencies depend on where the crates of
    /// Traceproof are.
    #[must_use]
    pub fn files(self, protocol: ProtocolId) -> Vec<(&'static str, String)> {
        let own: &[KitFile] = match self {
            Self::Rust => &[file!("src/lib.rs", "rust.rs")],
            Self::C | Self::Cpp => &[file!("src/lib.rs", "c.rs"), file!("build.rs", "build.rs")],
        };
        let kit = match self {
            Self::Rust => &[],
            Self::C | Self::Cpp => kit::Language::C.files(),
        };
        let kit = kit.iter().filter(|file| file.path.ends_with(".c") || file.path.ends_with(".h"));
        let protocol = |text: &str| {
            text.replace("example_family::ExampleProtocol", &format!("{protocol}::{}", type_name(protocol)))
        };
        COMMON
            .iter()
            .chain(own)
            .chain(kit)
            .map(|file| match (file.path, self) {
                ("example.c", Self::Cpp) => ("example.cpp", file.text.to_owned()),
                ("build.rs", Self::Cpp) => (file.path, file.text.replace("example.c", "example.cpp")),
                ("README.md", _) => (file.path, file.text.replace("LANGUAGE", self.place())),
                _ => (file.path, protocol(file.text)),
            })
            .collect()
    }
}

/// `RiscvEtrace` for `riscv_etrace`.
fn type_name(protocol: ProtocolId) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    protocol.name().split('_').map(word).collect()
}

/// The most generated executions among the seeds.
const GENERATED: u64 = 64;

/// The longest file of a seed; longer ones make the fuzzer slow.
const LONGEST: usize = 8 << 10;

/// The most entries of a dictionary, and the longest.
const ENTRIES: (usize, usize) = (2000, 32);

/// What a fuzzer begins with.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// Names and contents of the files of streams.
    pub seeds: Vec<(String, Vec<u8>)>,
    /// A dictionary as libFuzzer reads it: the transport units of the streams.
    pub dictionary: String,
}

/// The streams of the cases of a protocol and of generated executions, and a dictionary of their transport units.
///
/// # Errors
///
/// What is wrong with the cases.
pub fn corpus(protocol: ProtocolId, directories: &Directories) -> Result<Corpus, Vec<SuiteError>> {
    family::visit(protocol, Seeds { directories }).unwrap_or_else(|| Ok(Corpus::default()))
}

struct Seeds<'a> {
    directories: &'a Directories,
}

impl Visitor for Seeds<'_> {
    type Output = Result<Corpus, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let mut streams = of_cases::<P>(self.directories, &Selection::default())?;
        streams.extend((0..GENERATED).filter_map(of_seed::<P>));
        let mut corpus = Corpus::default();
        let (mut files, mut units) = (BTreeSet::new(), BTreeSet::new());
        for stream in streams {
            let file = stream.file();
            // Several cases may judge one stream.
            if file.len() > LONGEST || !files.insert(file.clone()) {
                continue;
            }
            units.extend(entries(&stream));
            corpus.seeds.push((stream.name.replace(' ', "-"), file));
        }
        // Short ones first: they are the most likely to fit anywhere.
        let mut units: Vec<Vec<u8>> = units.into_iter().collect();
        units.sort_by_key(Vec::len);
        units.truncate(ENTRIES.0);
        corpus.dictionary = units.iter().map(|unit| entry(unit)).collect();
        Ok(corpus)
    }
}

fn entries<P: FamilyRules>(stream: &Stream<P>) -> impl Iterator<Item = Vec<u8>> {
    let unit = |unit: Range<usize>| stream.wire.get(unit).unwrap_or_default().to_vec();
    stream.units().into_iter().map(unit).filter(|unit| (2..=ENTRIES.1).contains(&unit.len()))
}

fn entry(bytes: &[u8]) -> String {
    let bytes: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("\"{bytes}\"\n")
}

#[cfg(test)]
mod tests {
    use traceproof_differential::stream::protocol_of;

    use super::*;

    #[test]
    fn every_protocol_has_seeds_that_are_streams_of_it() {
        for protocol in family::IMPLEMENTED {
            let corpus = corpus(protocol, &Directories::default()).expect("sound suites");
            // The formatter has fewer cases, and no generator.
            let fewest = if protocol == ProtocolId::ArmEtmFormatter { 30 } else { 100 };
            assert!(corpus.seeds.len() > fewest, "{protocol}: {}", corpus.seeds.len());
            for (name, file) in &corpus.seeds {
                assert_eq!(protocol_of(file), Ok(protocol), "{name}");
            }
            let names: BTreeSet<&String> = corpus.seeds.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), corpus.seeds.len(), "{protocol}: a name is used twice");
            assert!(corpus.dictionary.lines().count() > 20, "{protocol}");
            assert!(corpus.dictionary.lines().all(|line| line.starts_with("\"\\x") && line.ends_with('"')));
        }
    }

    #[test]
    fn files_name_the_protocol_and_no_placeholder() {
        for (language, file) in
            [(Language::Rust, "src/lib.rs"), (Language::C, "example.c"), (Language::Cpp, "example.cpp")]
        {
            let files = language.files(ProtocolId::ArmEteUnit);
            let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
            assert!(all.contains("arm_ete_unit::ArmEteUnit as Protocol"), "{all}");
            assert!(!all.contains("ExampleProtocol") && !all.contains("LANGUAGE"), "{all}");
            assert!(files.iter().any(|(path, _)| *path == file), "{language:?}");
        }
        let build = Language::Cpp.files(ProtocolId::RiscvEtrace);
        assert!(build.iter().any(|(path, text)| *path == "build.rs" && text.contains("[\"example.cpp\"]")));
    }
}
