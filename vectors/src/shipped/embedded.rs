//! Files that are embedded in the program, if any.
//!
//! `cfg(embedded)` comes from the build script.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

#[cfg(any(test, embedded))]
use include_dir::{Dir, DirEntry, include_dir};

/// The directory that holds the shipped files, where they are not inside the program.
#[cfg(not(embedded))]
pub(super) const SOURCE: Option<&str> = Some(env!("CARGO_MANIFEST_DIR"));
/// The directory that holds the shipped files, where they are not inside the program.
#[cfg(embedded)]
pub(super) const SOURCE: Option<&str> = None;

#[cfg(embedded)]
static SHIPPED: [(&str, Dir<'static>); 4] = [
    ("suites", include_dir!("$CARGO_MANIFEST_DIR/suites")),
    ("clauses", include_dir!("$CARGO_MANIFEST_DIR/clauses")),
    ("schema", include_dir!("$CARGO_MANIFEST_DIR/schema")),
    ("programs", include_dir!("$CARGO_MANIFEST_DIR/programs")),
];

#[cfg(test)]
static EXAMPLE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/tests/data/tree");

/// Paths, joined by `/`, and bytes of the files inside the program.
pub(super) type Files = BTreeMap<String, &'static [u8]>;

/// The files inside the program by their [keys](key); none where they are read from their source.
pub(super) fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        #[cfg_attr(not(any(test, embedded)), expect(unused_mut, reason = "there are none"))]
        let mut files = Files::new();
        #[cfg(embedded)]
        for (name, directory) in &SHIPPED {
            collect(Path::new(name), directory, &mut files);
        }
        #[cfg(test)]
        collect(Path::new("example"), &EXAMPLE, &mut files);
        files
    })
}

#[cfg(any(test, embedded))]
fn collect(root: &Path, directory: &'static Dir<'static>, files: &mut Files) {
    for entry in directory.entries() {
        match entry {
            DirEntry::Dir(directory) => collect(root, directory, files),
            DirEntry::File(file) => {
                files.insert(key(&root.join(file.path())), file.contents());
            }
        }
    }
}

/// The parts of a path, joined by `/` on every machine.
pub(super) fn key(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
