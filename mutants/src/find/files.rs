//! The source files of a crate, by its `mod` declarations; modules that only tests have are left out.

use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item};

use crate::error::Error;

/// A parsed source file.
pub(crate) struct SourceFile {
    /// Relative to the checkout, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) syntax: syn::File,
}

/// The files of the crate in the directory `package` of the checkout, in the order of their declarations.
pub(crate) fn of_package(root: &Path, package: &str) -> Result<Vec<SourceFile>, Error> {
    let start = PathBuf::from(package).join("src/lib.rs");
    let mut files = Vec::new();
    read(root, &start, &PathBuf::from(package).join("src"), &mut files)?;
    Ok(files)
}

/// Reads a file whose modules are in `directory`.
fn read(root: &Path, path: &Path, directory: &Path, files: &mut Vec<SourceFile>) -> Result<(), Error> {
    let full = root.join(path);
    let text = fs::read_to_string(&full).map_err(|error| Error::file(&full, error))?;
    let syntax = syn::parse_file(&text).map_err(|error| Error::content(&full, error))?;
    let names = modules(&syntax.items);
    let name: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    files.push(SourceFile { path: name.join("/"), text, syntax });
    for name in names {
        let (flat, folder) = (directory.join(format!("{name}.rs")), directory.join(&name));
        let path = if root.join(&flat).is_file() { flat } else { folder.join("mod.rs") };
        read(root, &path, &folder, files)?;
    }
    Ok(())
}

/// Modules in files of their own.
fn modules(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && !is_test(&module.attrs) => {
                Some(module.ident.to_string())
            }
            _ => None,
        })
        .collect()
}

/// Whether only tests have it: `#[cfg(test)]` or `#[test]`.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let condition = || attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"));
        path.is_ident("test") || (path.is_ident("cfg") && condition())
    })
}
