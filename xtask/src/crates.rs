//! The crates of Traceproof for a Rust adaptor.

use std::env;
use std::path::{Path, PathBuf};

use toml::Value;

use crate::exit::Failure;

/// The crates that an adaptor is built with: name, directory in a checkout, whether an adaptor names it itself.
const CRATES: [(&str, &str, bool); 5] = [
    ("traceproof-conformance", "conformance", true),
    ("traceproof-vectors", "vectors", true),
    ("traceproof-decoder", "decoder", false),
    ("traceproof-encoder-model", "encoder-model", false),
    ("traceproof-opencsd-host", "conformance/opencsd-host", false),
];

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The `Cargo.toml` of an adaptor of this name. The crates are those in `directory`; if none is given, those of the
/// checkout that runs this program or those next to the program, as in a release archive; if there are none, those of
/// the repository.
pub(crate) fn manifest(name: &str, directory: Option<&Path>) -> Result<String, Failure> {
    let found = match directory {
        Some(directory) => Some(
            Crates::of(directory)
                .ok_or_else(|| Failure::file(directory, "neither a checkout nor crates of Traceproof"))?,
        ),
        None => places().iter().find_map(|place| Crates::of(place)),
    };
    let tables = found.map_or_else(from_repository, |crates| crates.tables());
    Ok(format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{tables}\n# On its own, wherever it lies.\n[workspace]\n"
    ))
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
        let found = |place: fn(&(&str, &str, bool)) -> String| {
            let paths: Vec<PathBuf> = CRATES.iter().map(|it| directory.join(place(it))).collect();
            paths.iter().all(|path| path.join("Cargo.toml").is_file()).then_some(paths)
        };
        let checkout = found(|(_, path, _)| (*path).to_owned());
        if let Some(directories) = checkout {
            return Some(Self { directories, packaged: false });
        }
        let directories = found(|(name, ..)| (*name).to_owned())
            .or_else(|| found(|(name, ..)| format!("{name}-{}", env!("CARGO_PKG_VERSION"))))?;
        Some(Self { directories, packaged: true })
    }

    fn tables(&self) -> String {
        let line = |name: &str, directory: &Path, more: &str| {
            let path = Value::String(directory.display().to_string());
            format!("{name} = {{ path = {path}{more} }}\n")
        };
        let each = || CRATES.iter().zip(&self.directories);
        let mut text = String::from("[dependencies]\n");
        for ((name, _, named), directory) in each() {
            if *named {
                text.push_str(&line(name, directory, features(name)));
            }
        }
        if self.packaged {
            text.push_str("\n[patch.crates-io]\n");
            // None of them depends on the first one.
            text.extend(each().skip(1).map(|((name, ..), directory)| line(name, directory, "")));
        }
        text
    }
}

/// An adaptor reads no suites.
fn features(name: &str) -> &'static str {
    if name == "traceproof-conformance" { ", default-features = false" } else { "" }
}

fn from_repository() -> String {
    let named = CRATES.iter().filter(|(.., named)| *named);
    let lines = named.map(|(name, ..)| format!("{name} = {{ git = \"{REPOSITORY}\"{} }}\n", features(name)));
    format!("[dependencies]\n{}", lines.collect::<String>())
}
