//! Compiles the copy; mutants that do not compile are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::copy::{self, DRIVER, Layout};
use crate::error::Error;
use crate::find::{self, Constants, MutatedFile, Skipped, Wanted};
use crate::mutant::{Mutant, fingerprint};
use crate::planted::Bug;
use crate::splice::{Spliced, splice};

/// More rounds than this find nothing new.
const ROUNDS: usize = 30;

/// What is to be found in the sources.
#[derive(Clone, Debug)]
pub enum Sought {
    /// Every mutant.
    Mutants(Wanted),
    /// These bugs, and nothing else; the index of a bug is its number in the copy.
    Planted(Vec<Bug>),
}

/// All mutants of the mutated crates.
#[derive(Debug)]
pub struct Found {
    /// In the order of files and places; the index is their number in the copy.
    pub mutants: Vec<Mutant>,
    /// What has none.
    pub skipped: Skipped,
    files: Vec<MutatedFile>,
}

/// The program in which every viable mutant can be switched on.
#[derive(Debug)]
pub struct Built {
    /// All mutants.
    pub found: Found,
    /// The numbers of those that do not compile.
    pub unviable: BTreeSet<usize>,
    /// The errors of those that do not compile, as far as the compiler was asked this time.
    pub errors: BTreeMap<usize, String>,
    /// How often the compiler was asked.
    pub rounds: usize,
    pub(crate) driver: PathBuf,
    /// No other run uses the directory.
    lock: File,
}

/// Finds the mutants.
///
/// # Errors
///
/// A source that cannot be read or parsed, or a bug that has no place.
pub fn find(layout: &Layout, sought: &Sought) -> Result<Found, Error> {
    find_with(layout, sought, &BTreeSet::new(), &BTreeSet::new())
}

/// As [`find`]; functions of these names stay `const`, and these bugs change whole blocks.
fn find_with(
    layout: &Layout,
    sought: &Sought,
    forced: &BTreeSet<String>,
    whole_blocks: &BTreeSet<usize>,
) -> Result<Found, Error> {
    let mut constants = Constants::default();
    let mut sources = Vec::new();
    for package in &layout.mutated {
        sources.extend(find::of_package(&layout.root, package)?);
    }
    sources.iter().for_each(|file| constants.add(&file.syntax));
    for name in forced {
        constants.force(name);
    }
    constants.close();
    let mut found = Found { mutants: Vec::new(), skipped: Skipped::default(), files: Vec::new() };
    match sought {
        Sought::Mutants(wanted) => {
            for file in sources {
                let Found { mutants, skipped, files } = &mut found;
                files.push(find::in_file(file, &constants, *wanted, mutants, skipped));
            }
        }
        Sought::Planted(bugs) => {
            (found.mutants, found.files) = find::planted(sources, &constants, bugs, whole_blocks)
                .map_err(|errors| Error::Usage(errors.join("\n")))?;
        }
    }
    Ok(found)
}

/// Finds the mutants and compiles them.
///
/// # Errors
///
/// The copy cannot be written, or does not compile for a reason that no mutant has.
pub fn build(layout: &Layout, sought: &Sought, progress: &dyn Fn(&str)) -> Result<Built, Error> {
    let lock = copy::lock(layout)?;
    let built = build_with(layout, sought, &BTreeSet::new(), lock, progress)?;
    if matches!(sought, Sought::Mutants(_)) || built.unviable.is_empty() {
        return Ok(built);
    }
    // A block can be chosen where its expression cannot, e.g. because the value would move.
    build_with(layout, sought, &built.unviable, built.lock, progress)
}

fn build_with(
    layout: &Layout,
    sought: &Sought,
    whole_blocks: &BTreeSet<usize>,
    lock: File,
    progress: &dyn Fn(&str),
) -> Result<Built, Error> {
    let mut forced = BTreeSet::new();
    let mut found = find_with(layout, sought, &forced, whole_blocks)?;
    let known = Known::of(layout, &found);
    let mut unviable = known.read();
    let mut errors_of: BTreeMap<usize, String> = BTreeMap::new();
    for round in 1..=ROUNDS {
        let spliced = write(layout, &found, &unviable)?;
        let what = if round == 1 { "compiling" } else { "compiling without those that do not compile" };
        progress(&format!(
            "{what}: {} of {} mutants",
            found.mutants.len() - unviable.len(),
            found.mutants.len()
        ));
        let errors = match cargo(layout, "check", &layout.mutated)? {
            Ended::Errors(errors) => errors,
            Ended::Built(_) => match cargo(layout, "build", &[])? {
                Ended::Errors(errors) => errors,
                Ended::Built(None) => return Err(Error::Build(String::from("no driver was built"))),
                Ended::Built(Some(driver)) => {
                    known.write(&unviable)?;
                    let driver = copy::keep_driver(layout, &driver)?;
                    return Ok(Built { found, unviable, errors: errors_of, rounds: round, driver, lock });
                }
            },
        };
        let before = unviable.len();
        let mut others = Vec::new();
        for error in &errors {
            let blamed = error.blamed(layout, &spliced);
            if blamed.is_empty() {
                others.push(error);
            }
            for mutant in &blamed {
                errors_of.entry(*mutant).or_insert_with(|| error.text().to_owned());
            }
            unviable.extend(blamed);
        }
        if unviable.len() > before {
            continue;
        }
        let needed: Vec<String> = others.iter().filter_map(|error| error.needs_const()).collect();
        if needed.iter().filter(|name| forced.insert((*name).clone())).count() == 0 {
            let texts: Vec<&str> = others.iter().take(3).map(|error| error.text()).collect();
            return Err(Error::Build(format!("no mutant explains this error:\n{}", texts.join("\n"))));
        }
        // The numbers are others now.
        found = find_with(layout, sought, &forced, whole_blocks)?;
        unviable.clear();
        errors_of.clear();
    }
    Err(Error::Build(format!("after {ROUNDS} rounds there are still mutants that do not compile")))
}

/// Writes the copy with the mutants that may be viable.
fn write(
    layout: &Layout,
    found: &Found,
    unviable: &BTreeSet<usize>,
) -> Result<Vec<(String, Spliced)>, Error> {
    let takes = |mutant: usize| !unviable.contains(&mutant);
    let spliced: Vec<(String, Spliced)> =
        found.files.iter().map(|file| (file.path.clone(), splice(file, &takes))).collect();
    let sources: Vec<(String, String)> =
        spliced.iter().map(|(path, spliced)| (path.clone(), spliced.text.clone())).collect();
    copy::write(layout, &sources, found.mutants.len())?;
    Ok(spliced)
}

/// The mutants that did not compile last time, if the sources are the same.
struct Known {
    path: PathBuf,
    sources: String,
}

impl Known {
    fn of(layout: &Layout, found: &Found) -> Self {
        let texts: Vec<String> =
            found.files.iter().map(|file| format!("{}\n{:?}", file.text, file.sites)).collect();
        let sources = fingerprint(&format!("{}\n{}", found.mutants.len(), texts.join("\n")));
        Self { path: layout.directory.join("unviable.txt"), sources }
    }

    fn read(&self) -> BTreeSet<usize> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(self.sources.as_str()) {
            return BTreeSet::new();
        }
        lines.filter_map(|line| line.parse().ok()).collect()
    }

    fn write(&self, unviable: &BTreeSet<usize>) -> Result<(), Error> {
        let numbers: String = unviable.iter().map(|mutant| format!("\n{mutant}")).collect();
        copy::put_file(&self.path, format!("{}{numbers}\n", self.sources).as_bytes())
    }
}

enum Ended {
    /// With the program, if one was asked for.
    Built(Option<PathBuf>),
    Errors(Vec<CompilerError>),
}

/// Checks these packages, or builds the driver.
fn cargo(layout: &Layout, verb: &str, packages: &[String]) -> Result<Ended, Error> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(layout.copy())
        .args([verb, "--quiet", "--keep-going", "--message-format=json"])
        .env("CARGO_TARGET_DIR", &layout.build)
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    for package in packages {
        command.args(["--package", &copy::package_name(layout, package)?]);
    }
    if packages.is_empty() {
        command.args(["--package", DRIVER]);
    }
    let output = command.output().map_err(|error| Error::file(Path::new("cargo"), error))?;
    let messages: Vec<Message> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    if output.status.success() {
        return Ok(Ended::Built(messages.into_iter().rev().find_map(|message| message.executable)));
    }
    let errors: Vec<CompilerError> = messages
        .into_iter()
        .filter_map(|message| message.message)
        .filter(|message| message.level == "error" && !message.spans.is_empty())
        .collect();
    if errors.is_empty() {
        return Err(Error::Build(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(Ended::Errors(errors))
}

#[derive(Deserialize)]
struct Message {
    message: Option<CompilerError>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct CompilerError {
    level: String,
    message: String,
    rendered: Option<String>,
    spans: Vec<CompilerSpan>,
}

#[derive(Deserialize)]
struct CompilerSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
    expansion: Option<Box<CompilerExpansion>>,
}

#[derive(Deserialize)]
struct CompilerExpansion {
    span: CompilerSpan,
}

impl CompilerSpan {
    /// Where the macro was called, if it is in one.
    fn written(&self) -> &Self {
        self.expansion.as_ref().map_or(self, |expansion| expansion.span.written())
    }
}

impl CompilerError {
    fn text(&self) -> &str {
        self.rendered.as_deref().unwrap_or(&self.message)
    }

    /// The function that a constant calls.
    fn needs_const(&self) -> Option<String> {
        let called = self.message.strip_prefix("cannot call non-const ")?;
        let path = called.split('`').nth(1)?;
        let name = path.rsplit("::").next()?;
        Some(name.split('<').next().unwrap_or(name).to_owned())
    }

    /// The mutants in whose text the error is; if there are none, those of the innermost place around the error.
    fn blamed(&self, layout: &Layout, files: &[(String, Spliced)]) -> Vec<usize> {
        let copy = layout.copy();
        let mut inside = Vec::new();
        let mut around: Option<(usize, &[usize])> = None;
        for span in self.spans.iter().map(CompilerSpan::written) {
            let path = Path::new(&span.file_name);
            let path = path.strip_prefix(&copy).unwrap_or(path);
            let Some((_, spliced)) = files.iter().find(|(file, _)| Path::new(file) == path) else { continue };
            let holds =
                |range: &std::ops::Range<usize>| range.start <= span.byte_start && span.byte_end <= range.end;
            inside
                .extend(spliced.mutants.iter().filter(|(range, _)| holds(range)).map(|(_, mutant)| *mutant));
            let sites = spliced.sites.iter().filter(|(range, mutants)| holds(range) && !mutants.is_empty());
            for (range, mutants) in sites.filter(|_| span.is_primary) {
                if around.is_none_or(|(length, _)| range.len() < length) {
                    around = Some((range.len(), mutants));
                }
            }
        }
        if inside.is_empty() { around.map_or_else(Vec::new, |(_, mutants)| mutants.to_vec()) } else { inside }
    }
}
