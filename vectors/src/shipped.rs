//! The files that are shipped with this crate: suites, requirements, schemas, programs.
//!
//! A release build with the feature `shipped` embeds them and works wherever it is copied to. Every other build reads
//! them from the source of this crate, so that in a checkout an edited case takes effect without compiling.

mod embedded;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bounded;

/// The suites: `<family>/**/<case>.toml`.
#[must_use]
pub fn suites() -> Tree {
    shipped("suites")
}

/// The registries of requirements: `<family>.toml`.
#[must_use]
pub fn clauses() -> Tree {
    shipped("clauses")
}

/// The JSON Schemas of case files.
#[must_use]
pub fn schemas() -> Tree {
    shipped("schema")
}

/// The real programs of each family, with their executions.
#[must_use]
pub fn programs() -> Tree {
    shipped("programs")
}

/// All of them, each under its name: `suites`, `clauses`, `schema` and `programs`.
#[must_use]
pub fn all() -> [(&'static str, Tree); 4] {
    ["suites", "clauses", "schema", "programs"].map(|name| (name, shipped(name)))
}

fn shipped(name: &str) -> Tree {
    Tree(match embedded::SOURCE {
        Some(directory) => Root::Directory(Path::new(directory).join(name)),
        None => Root::Embedded(PathBuf::from(name)),
    })
}

/// Files that are only read: those of a directory, or some inside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(Root);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    Directory(PathBuf),
    /// The directory among the files inside the program.
    Embedded(PathBuf),
}

/// A file or directory of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Its name in the directory that was listed.
    pub name: OsString,
    /// Whether it is a directory.
    pub is_directory: bool,
}

impl<T: Into<PathBuf>> From<T> for Tree {
    fn from(directory: T) -> Self {
        Self(Root::Directory(directory.into()))
    }
}

impl Tree {
    /// The directory, if it is one outside the program.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        match &self.0 {
            Root::Directory(directory) => Some(directory),
            Root::Embedded(_) => None,
        }
    }

    /// The tree below a directory of this one.
    #[must_use]
    pub fn join(&self, directory: impl AsRef<Path>) -> Self {
        Self(match &self.0 {
            Root::Directory(root) => Root::Directory(root.join(directory)),
            Root::Embedded(root) => Root::Embedded(root.join(directory)),
        })
    }

    /// What messages call a file of the tree: its path, or `shipped:` and its path among the files inside the program.
    #[must_use]
    pub fn locate(&self, path: impl AsRef<Path>) -> PathBuf {
        match &self.0 {
            Root::Directory(root) => root.join(path),
            Root::Embedded(root) => PathBuf::from(format!("shipped:{}", root.join(path).display())),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<Cow<'static, [u8]>> {
        self.read_up_to(path, bounded::LISTING)
    }

    fn read_up_to(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Cow<'static, [u8]>> {
        match &self.0 {
            Root::Directory(root) => bounded::read(&root.join(path), limit).map(Cow::Owned),
            Root::Embedded(root) => {
                let bytes = embedded::files().get(embedded::key(&root.join(path)).as_str());
                bytes.map(|bytes| Cow::Borrowed(*bytes)).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
        }
    }

    /// The text of a file of cases, requirements or the like.
    ///
    /// # Errors
    ///
    /// When there is no such file, it is longer than [`bounded::TOML`], cannot be read or is no UTF-8.
    pub fn read_to_string(&self, path: impl AsRef<Path>) -> io::Result<String> {
        String::from_utf8(self.read_up_to(path, bounded::TOML)?.into_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// What is in a directory of the tree, in the order of names.
    ///
    /// # Errors
    ///
    /// When there is no such directory, or it cannot be read.
    pub fn entries(&self, directory: impl AsRef<Path>) -> io::Result<Vec<TreeEntry>> {
        let mut entries = match &self.0 {
            Root::Directory(root) => listed(&root.join(directory))?,
            Root::Embedded(root) => embedded_entries(&root.join(directory))?,
        };
        entries.sort();
        Ok(entries)
    }

    /// Every file below the tree's root, in the order of paths.
    ///
    /// # Errors
    ///
    /// When a directory cannot be read.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut directories = vec![PathBuf::new()];
        while let Some(directory) = directories.pop() {
            for entry in self.entries(&directory)? {
                let path = directory.join(entry.name);
                if entry.is_directory { directories.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        Ok(files)
    }
}

fn listed(directory: &Path) -> io::Result<Vec<TreeEntry>> {
    fs::read_dir(directory)?
        .map(|entry| {
            let entry = entry?;
            Ok(TreeEntry { name: entry.file_name(), is_directory: entry.file_type()?.is_dir() })
        })
        .collect()
}

fn embedded_entries(directory: &Path) -> io::Result<Vec<TreeEntry>> {
    let prefix = embedded::key(directory) + "/";
    let below = embedded::files().range(prefix.clone()..).map_while(|(path, _)| path.strip_prefix(&prefix));
    let entries: BTreeSet<TreeEntry> = below
        .map(|path| match path.split_once('/') {
            Some((name, _)) => TreeEntry { name: name.into(), is_directory: true },
            None => TreeEntry { name: path.into(), is_directory: false },
        })
        .collect();
    if entries.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(entries.into_iter().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same files on disk and inside the program.
    fn examples() -> [Tree; 2] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tree");
        [Tree::from(source), Tree(Root::Embedded(PathBuf::from("example")))]
    }

    #[test]
    fn files_inside_are_read_as_those_of_a_directory() {
        let paths = ["deeper/b.toml", "deeper/still/c.txt", "top.txt"].map(PathBuf::from);
        for tree in examples() {
            assert_eq!(tree.files().expect("readable"), paths, "{tree:?}");
            assert_eq!(tree.read_to_string("top.txt").expect("readable"), "At the top.\n");
            assert_eq!(&*tree.join("deeper/still").read("c.txt").expect("readable"), b"Further down.\n");
            let names = |path| -> Vec<(String, bool)> {
                let entries = tree.entries(path).expect("readable").into_iter();
                entries.map(|entry| (entry.name.into_string().expect("text"), entry.is_directory)).collect()
            };
            assert_eq!(names(""), [("deeper".into(), true), ("top.txt".into(), false)]);
            assert_eq!(names("deeper"), [("b.toml".into(), false), ("still".into(), true)]);
        }
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        for tree in examples() {
            let kinds = [
                tree.read("deeper/no_such.toml").map(drop),
                tree.read_to_string("no/such.toml").map(drop),
                tree.entries("deep").map(drop),
            ]
            .map(|result| result.map_err(|error| error.kind()));
            assert_eq!(kinds, [Err(io::ErrorKind::NotFound); 3], "{tree:?}");
        }
    }

    #[test]
    fn messages_name_files() {
        let [source, inside] = examples();
        assert_eq!(inside.locate("top.txt"), Path::new("shipped:example/top.txt"));
        assert_eq!(inside.directory(), None);
        assert_eq!(source.directory(), source.locate("top.txt").parent());
    }

    #[test]
    fn every_shipped_tree_has_files() {
        for (name, tree) in all() {
            assert!(!tree.files().expect("readable").is_empty(), "{name}");
        }
    }
}
