//! The crates of Traceproof for a Rust adaptor.

use std::env;
use std::path::{Path, PathBuf};

use toml::Value;
use traceproof_vectors::Family;

use crate::exit::Failure;

/// The crates that adaptors and fuzz projects are built with: name, directory in a checkout.
const CRATES: [(&str, &str); 6] = [
    ("traceproof-conformance", "conformance"),
    ("traceproof-vectors", "vectors"),
    ("traceproof-decoder", "decoder"),
    ("traceproof-encoder-model", "encoder-model"),
    ("traceproof-differential", "differential"),
    ("traceproof-opencsd-host", "conformance/opencsd-host"),
];

/// The crates that an adaptor names itself, and what follows their place.
const OF_ADAPTORS: &[(&str, &str)] = &[
    ("traceproof-conformance", ", default-features = false, features = [\"families\"]"),
    ("traceproof-vectors", ""),
];

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The `Cargo.toml` of an adaptor of this name. The crates are those in `directory`; if none is given, those of the
/// checkout that runs this program or those next to the program, as in a release archive; if there are none, those of
/// the repository.
pub(crate) fn manifest(name: &str, directory: Option<&Path>) -> Result<String, Failure> {
    let (dependencies, patches) = tables(OF_ADAPTORS, directory)?;
    Ok(format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}{patches}\n# On its own, wherever it lies.\n[workspace]\n"
    ))
}

/// The `Cargo.toml` of a fuzz project, with crates as those of an adaptor, of which this family alone is compiled.
/// `c`: the decoder is in C or C++.
pub(crate) fn fuzz_manifest(c: bool, family: Family, directory: Option<&Path>) -> Result<String, Failure> {
    let alone = format!(", default-features = false, features = [\"{family}\"]");
    let with_cases = format!(", default-features = false, features = [\"cases\", \"{family}\"]");
    let named = [("traceproof-differential", alone.as_str()), ("traceproof-vectors", &with_cases)];
    let (dependencies, patches) = tables(&named, directory)?;
    let more = if c {
        "serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n\n[build-dependencies]\ncc = \"1\"\n"
    } else {
        ""
    };
    Ok(format!(
        "{FUZZ_PACKAGE}{dependencies}libfuzzer-sys = \"0.4\"\n{more}{patches}\n# On its own, wherever it lies.\n[workspace]\n"
    ))
}

const FUZZ_PACKAGE: &str = "[package]
name = \"decoder-fuzz\"
version = \"0.1.0\"
edition = \"2024\"
publish = false

[package.metadata]
cargo-fuzz = true

[lib]
name = \"subject\"
doctest = false

[[bin]]
name = \"decode\"
path = \"fuzz_targets/decode.rs\"
test = false
doc = false

[profile.release]
debug = \"line-tables-only\"
overflow-checks = true

";

/// The tables of dependencies and of patches, for crates that are named so.
fn tables(named: &[(&str, &str)], directory: Option<&Path>) -> Result<(String, String), Failure> {
    let found = match directory {
        Some(directory) => Some(
            Crates::of(directory)
                .ok_or_else(|| Failure::file(directory, "neither a checkout nor crates of Traceproof"))?,
        ),
        None => places().iter().find_map(|place| Crates::of(place)),
    };
    Ok(found.map_or_else(|| (from_repository(named), String::new()), |crates| crates.tables(named)))
}

/// Where crates may be: the checkout, if `cargo run` started the program; `crates` next to the executable.
fn places() -> Vec<PathBuf> {
    let checkout =
        env::var_os("CARGO_MANIFEST_DIR").and_then(|own| Some(Path::new(&own).parent()?.to_owned()));
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.join("crates")));
    checkout.into_iter().chain(beside).collect()
}

/// Directories of the crates, in the order of [`CRATES`].
struct Crates {
    directories: Vec<PathBuf>,
    /// Crates from packages ask the registry for each other.
    packaged: bool,
}

impl Crates {
    fn of(directory: &Path) -> Option<Self> {
        let directory = directory.canonicalize().ok()?;
        let found = |place: fn(&(&str, &str)) -> String| {
            let paths: Vec<PathBuf> = CRATES.iter().map(|it| directory.join(place(it))).collect();
            paths.iter().all(|path| path.join("Cargo.toml").is_file()).then_some(paths)
        };
        let checkout = found(|(_, path)| (*path).to_owned());
        if let Some(directories) = checkout {
            return Some(Self { directories, packaged: false });
        }
        let directories = found(|(name, _)| (*name).to_owned())
            .or_else(|| found(|(name, _)| format!("{name}-{}", env!("CARGO_PKG_VERSION"))))?;
        Some(Self { directories, packaged: true })
    }

    fn tables(&self, named: &[(&str, &str)]) -> (String, String) {
        let line = |name: &str, directory: &Path, more: &str| {
            let path = Value::String(directory.display().to_string());
            format!("{name} = {{ path = {path}{more} }}\n")
        };
        let mut dependencies = String::from("[dependencies]\n");
        let mut patches = String::from("\n[patch.crates-io]\n");
        for ((name, _), directory) in CRATES.iter().zip(&self.directories) {
            if let Some((_, more)) = named.iter().find(|(other, _)| other == name) {
                dependencies.push_str(&line(name, directory, more));
            }
            // Nothing depends on the first one.
            if *name != CRATES[0].0 {
                patches.push_str(&line(name, directory, ""));
            }
        }
        (dependencies, if self.packaged { patches } else { String::new() })
    }
}

fn from_repository(named: &[(&str, &str)]) -> String {
    let lines = named.iter().map(|(name, more)| format!("{name} = {{ git = \"{REPOSITORY}\"{more} }}\n"));
    format!("[dependencies]\n{}", lines.collect::<String>())
}
