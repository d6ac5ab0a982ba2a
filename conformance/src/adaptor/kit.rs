//! The beginnings of adaptors: files that a person gets into a new directory, and puts a decoder or encoder into.

/// The languages of which there is a kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Language {
    /// An implementation of the traits of `traceproof-vectors`.
    Rust,
    /// C99, without dependencies; also as a shared object.
    C,
    /// Python 3 and its standard library.
    Python,
}

/// A file of a kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KitFile {
    /// Its place in the new directory.
    pub path: &'static str,
    /// Its text as in the kit; [`for_name`](Self::for_name) inserts the name of an adaptor.
    pub text: &'static str,
}

macro_rules! kit {
    ($($directory:literal: $($path:literal),+);+) => {
        &[$($(KitFile {
            path: $path,
            text: include_str!(concat!("../../adaptors/", $directory, "/", $path)),
        }),+),+]
    };
}

impl Language {
    /// The files of the kit. That of Rust has no `Cargo.toml`: its dependencies depend on where the crates of
    /// Traceproof are.
    #[must_use]
    pub const fn files(self) -> &'static [KitFile] {
        match self {
            Self::Rust => kit!("rust": "src/main.rs", "subject.toml"),
            Self::C => kit!("c": "tdut.h", "tdut.c", "example.c", "Makefile", "subject.toml"),
            Self::Python => kit!("python": "tdut.py", "example.py", "subject.toml"),
        }
    }

    /// The files of the kit for an encoder; `None` if there is no kit.
    #[must_use]
    pub const fn encoder_files(self) -> Option<&'static [KitFile]> {
        match self {
            Self::Rust => None,
            Self::C => {
                Some(kit!("c": "tdut.h", "tdut.c"; "c-encoder": "example.c", "Makefile", "subject.toml"))
            }
            Self::Python => Some(kit!("python": "tdut.py"; "python-encoder": "example.py", "subject.toml")),
        }
    }

    /// The file that the decoder or encoder goes into, and what else is to be done.
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            Self::Rust => "src/main.rs",
            Self::C => "example.c, and run make",
            Self::Python => "example.py",
        }
    }
}

impl KitFile {
    /// The text for a decoder or encoder of this name.
    #[must_use]
    pub fn for_name(&self, name: &str) -> String {
        ["example-python", "example-rust", "example-c"]
            .iter()
            .fold(self.text.to_owned(), |text, example| text.replace(example, name))
    }
}
