//! The copied workspace: mutated crates, crates that need them, the switch and the driver.
//!
//! A file is written only if it changes, so that the compiler starts again only where it must.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::error::Error;

/// The crate with the switch.
const SWITCH: &str = "mutant-switch";
/// The package of the program that judges.
pub(crate) const DRIVER: &str = "mutant-driver";

/// What is copied and mutated.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The checkout.
    pub root: PathBuf,
    /// Holds the copy and the results.
    pub directory: PathBuf,
    /// Holds what is built: where the checkout builds, so that dependencies are compiled once.
    pub build: PathBuf,
    /// Directories of the workspace's members that are copied.
    pub members: Vec<String>,
    /// Those of them that are mutated.
    pub mutated: Vec<String>,
    /// Files of the program that judges, by their paths in its package.
    pub driver: Vec<(String, String)>,
}

impl Layout {
    /// The checkout of Traceproof in `root`.
    #[must_use]
    pub fn of_checkout(root: &Path) -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        Self {
            root: root.to_owned(),
            directory: root.join("target/mutants"),
            build: root.join("target"),
            members: names(&[
                "vectors",
                "decoder",
                "encoder-model",
                "differential",
                "conformance",
                "conformance/opencsd-host",
            ]),
            mutated: names(&["decoder", "encoder-model"]),
            driver: vec![
                file("Cargo.toml", include_str!("../template/driver/manifest.toml")),
                file("src/main.rs", include_str!("../template/driver/src/main.rs")),
            ],
        }
    }

    /// The same with another copy, for planted bugs.
    #[must_use]
    pub fn for_planted(self) -> Self {
        Self { directory: self.directory.join("planted"), ..self }
    }

    /// The copy.
    pub(crate) fn copy(&self) -> PathBuf {
        self.directory.join("src")
    }
}

/// Writes everything but the mutated sources; files that do not belong to the copy are removed.
pub(crate) fn write(layout: &Layout, sources: &[(String, String)], mutants: usize) -> Result<(), Error> {
    let copy = layout.copy();
    let mut written = BTreeSet::new();
    let mut put = |path: &str, text: &[u8]| {
        written.insert(copy.join(path));
        put_file(&copy.join(path), text)
    };
    put("Cargo.toml", root_manifest(layout)?.as_bytes())?;
    let count = format!("/// Number of mutants.\npub(crate) const COUNT: usize = {mutants};\n");
    put(&format!("{SWITCH}/Cargo.toml"), include_bytes!("../template/switch/manifest.toml"))?;
    put(&format!("{SWITCH}/src/lib.rs"), include_bytes!("../template/switch/src/lib.rs"))?;
    put(&format!("{SWITCH}/src/count.rs"), count.as_bytes())?;
    for (path, text) in &layout.driver {
        put(&format!("{DRIVER}/{path}"), text.as_bytes())?;
    }
    for (path, text) in sources {
        put(path, text.as_bytes())?;
    }
    let mutated: BTreeSet<&str> = sources.iter().map(|(path, _)| path.as_str()).collect();
    for member in &layout.members {
        let manifest = format!("{member}/Cargo.toml");
        put(&manifest, member_manifest(layout, member)?.as_bytes())?;
        for path in files(&layout.root.join(member))? {
            let name = relative(&layout.root, &path);
            if name != manifest && !mutated.contains(name.as_str()) && !layout.is_other_member(member, &name)
            {
                let content = fs::read(&path).map_err(|error| Error::file(&path, error))?;
                put(&name, &content)?;
            }
        }
    }
    let lock = copy.join("Cargo.lock");
    written.insert(lock.clone());
    if !lock.exists() && layout.root.join("Cargo.lock").exists() {
        let from = layout.root.join("Cargo.lock");
        fs::copy(&from, &lock).map_err(|error| Error::file(&from, error))?;
    }
    for path in files(&copy)?.into_iter().filter(|path| !written.contains(path)) {
        fs::remove_file(&path).map_err(|error| Error::file(&path, error))?;
    }
    Ok(())
}

impl Layout {
    /// Whether the file belongs to a member within the directory of this one.
    fn is_other_member(&self, member: &str, file: &str) -> bool {
        let within = |other: &&String| other.len() > member.len() && file.starts_with(&format!("{other}/"));
        self.members.iter().any(|other| within(&other))
    }
}

/// Reserves the copy for this run; it is free when the file is closed.
pub(crate) fn lock(layout: &Layout) -> Result<File, Error> {
    let path = layout.directory.join("lock");
    let error = |error| Error::file(&path, error);
    fs::create_dir_all(&layout.directory).map_err(error)?;
    let file = File::create(&path).map_err(error)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Usage(format!("another run uses {}", layout.directory.display())))
        }
        Err(TryLockError::Error(cause)) => Err(error(cause)),
    }
}

/// Takes the driver out of the directory in which the next build replaces it.
pub(crate) fn keep_driver(layout: &Layout, built: &Path) -> Result<PathBuf, Error> {
    let (driver, new) = (layout.directory.join(DRIVER), layout.directory.join("driver.new"));
    fs::copy(built, &new).map_err(|error| Error::file(built, error))?;
    fs::rename(&new, &driver).map_err(|error| Error::file(&driver, error))?;
    Ok(driver)
}

/// Writes the file unless it has this content already.
pub(crate) fn put_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|now| now == content) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|error| Error::file(parent, error))?;
    fs::write(path, content).map_err(|error| Error::file(path, error))
}

/// The files of a package or of the copy; without tests and what is built.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).map_err(|error| Error::file(&directory, error))?;
        for entry in entries {
            let path = entry.map_err(|error| Error::file(&directory, error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let package = directory.join("Cargo.toml").is_file();
            if path.is_dir() && !name.starts_with('.') && !(package && (name == "tests" || name == "target"))
            {
                pending.push(path);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn relative(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn manifest(path: &Path) -> Result<DocumentMut, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    text.parse().map_err(|error: toml_edit::TomlError| Error::content(path, error))
}

/// The name of the package in the directory `member`.
pub(crate) fn package_name(layout: &Layout, member: &str) -> Result<String, Error> {
    let path = layout.root.join(member).join("Cargo.toml");
    let name = manifest(&path)?.get("package").and_then(|it| it.get("name")?.as_str().map(str::to_owned));
    name.ok_or_else(|| Error::content(&path, "no package has a name"))
}

fn table(entries: &[(&str, Item)]) -> Item {
    let mut table = Table::new();
    for (key, item) in entries {
        table.insert(key, item.clone());
    }
    Item::Table(table)
}

/// The workspace with the copied members. Mutants give rise to lints; only what does not compile is unviable.
fn root_manifest(layout: &Layout) -> Result<String, Error> {
    let mut document = manifest(&layout.root.join("Cargo.toml"))?;
    let members: Array = layout.members.iter().map(String::as_str).chain([SWITCH, DRIVER]).collect();
    let allowed = ["warnings", "arithmetic_overflow", "overflowing_literals", "unconditional_panic"];
    let allowed: Vec<(&str, Item)> = allowed.iter().map(|lint| (*lint, value("allow"))).collect();
    if let Some(workspace) = document.get_mut("workspace").and_then(Item::as_table_mut) {
        workspace.insert("members", value(members));
        workspace.insert("lints", table(&[("rust", table(&allowed))]));
    }
    // As a release, but dependencies are those that the checkout has compiled already.
    let unchecked = table(&[
        ("debug", value(false)),
        ("debug-assertions", value(false)),
        ("overflow-checks", value(false)),
    ]);
    let mut packages = vec![SWITCH.to_owned(), DRIVER.to_owned()];
    for member in &layout.members {
        packages.push(package_name(layout, member)?);
    }
    let packages: Vec<(&str, Item)> =
        packages.iter().map(|name| (name.as_str(), unchecked.clone())).collect();
    let dev = document.entry("profile").or_insert_with(|| table(&[])).as_table_mut();
    let dev = dev.and_then(|profiles| profiles.entry("dev").or_insert_with(|| table(&[])).as_table_mut());
    if let Some(dev) = dev {
        dev.insert("package", table(&packages));
    }
    Ok(document.to_string())
}

/// A member without tests; with the switch, if it is mutated.
fn member_manifest(layout: &Layout, member: &str) -> Result<String, Error> {
    let mut document = manifest(&layout.root.join(member).join("Cargo.toml"))?;
    for key in ["dev-dependencies", "test", "bench", "example"] {
        document.remove(key);
    }
    if layout.mutated.iter().any(|mutated| mutated == member) {
        let path = layout.copy().join(SWITCH).display().to_string();
        let dependencies = document.entry("dependencies").or_insert_with(|| table(&[]));
        if let Some(dependencies) = dependencies.as_table_mut() {
            dependencies.insert(SWITCH, table(&[("path", value(path))]));
        }
    }
    Ok(document.to_string())
}
