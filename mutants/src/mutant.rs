//! What a mutant is, and how it is named so that its name survives edits elsewhere.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

/// The kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// A function returns a constant at once.
    Body,
    /// A binary or assignment operator is another one.
    Binary,
    /// `!` or `-` is missing.
    Unary,
    /// An arm of a `match` never matches.
    Arm,
    /// The guard of an arm is constant.
    Guard,
    /// A field of a struct expression comes from its base.
    Field,
    /// An integer literal is off by one. The only one of these that `cargo-mutants` does not have.
    Literal,
    /// What a person wrote.
    Planted,
}

impl Operator {
    /// The name in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Body => "function-body",
            Self::Binary => "binary-operator",
            Self::Unary => "unary-operator",
            Self::Arm => "match-arm",
            Self::Guard => "match-guard",
            Self::Field => "struct-field",
            Self::Literal => "integer-literal",
            Self::Planted => "planted",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Operator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// Sixteen hexadecimal digits, made from file, function, operator, text and occurrence.
    pub id: String,
    /// The file, relative to the checkout, with `/`.
    pub file: String,
    /// Line of the place, from 1.
    pub line: usize,
    /// Column of the place in characters, from 1.
    pub column: usize,
    /// The function, with its type if it has one: `Cursor::next`.
    pub function: String,
    /// The kind of change.
    pub operator: Operator,
    /// The source that changes, in one line.
    pub text: String,
    /// The change in words: `replace == with !=`.
    pub change: String,
    /// Which of several equal ones in the function, from 0.
    pub occurrence: usize,
}

impl Mutant {
    /// The crate: first directory of the file.
    #[must_use]
    pub fn package(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }

    /// The module right under the root of the crate, which is a family or what families share.
    #[must_use]
    pub fn module(&self) -> &str {
        let module = self.file.split('/').nth(2).unwrap_or_default();
        module.strip_suffix(".rs").unwrap_or(module)
    }

    /// Whether this is its id or the beginning of it, or the name of a planted bug.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let planted = self.operator == Operator::Planted;
        self.id.starts_with(name)
            || (planted && self.change.split_once(' ').is_some_and(|(of, _)| of == name))
    }

    /// Sets [`id`](Self::id) from the rest.
    pub(crate) fn identify(&mut self) {
        let Self { file, function, operator, text, change, occurrence, .. } = &*self;
        self.id = fingerprint(&format!("{file}\n{function}\n{operator}\n{text}\n{change}\n{occurrence}"));
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, function, change, text, .. } = self;
        write!(f, "{file}:{line}:{column}: {change} in {function}: {}", shortened(text))
    }
}

/// At most so many characters of a text in a line of a list.
const SHOWN: usize = 60;

fn shortened(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(SHOWN - 1).collect();
    short.push('…');
    short
}

/// FNV-1a of 64 bits: the same on every machine and in every version of the toolchain.
pub(crate) fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A place in a file, and what may stand there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Bytes of the original source; empty where text is only inserted.
    pub(crate) range: Range<usize>,
    pub(crate) kind: SiteKind,
    pub(crate) alternatives: Vec<Alternative>,
}

/// How the alternatives of a site are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteKind {
    /// Instead of statements, or of all that is in a block.
    Statements,
    /// Instead of an expression.
    Expression,
    /// At the start of a function's block: what it returns at once.
    Body,
    /// After a pattern without a guard.
    Arm,
    /// A `const` that is removed, because its function can no longer be evaluated at compile time.
    Const,
}

/// One mutant of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alternative {
    /// Index in the list of all mutants.
    pub(crate) mutant: usize,
    /// The source with the change; nothing for [`SiteKind::Arm`].
    pub(crate) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant() -> Mutant {
        let mut mutant = Mutant {
            id: String::new(),
            file: String::from("decoder/src/arm/frame.rs"),
            line: 3,
            column: 9,
            function: String::from("Frame::next"),
            operator: Operator::Binary,
            text: String::from("a + b"),
            change: String::from("replace + with -"),
            occurrence: 0,
        };
        mutant.identify();
        mutant
    }

    #[test]
    fn the_id_depends_on_what_changes_and_not_on_where_the_line_is() {
        let first = mutant();
        let mut moved = Mutant { line: 40, column: 1, ..first.clone() };
        moved.identify();
        assert_eq!(moved.id, first.id);
        let mut second = Mutant { occurrence: 1, ..first.clone() };
        second.identify();
        assert_ne!(second.id, first.id);
        // FNV-1a of 64 bits, from its published test vectors.
        assert_eq!(fingerprint("foobar"), "85944171f73967e8");
    }

    #[test]
    fn package_and_module_come_from_the_path() {
        let mut mutant = mutant();
        assert_eq!((mutant.package(), mutant.module()), ("decoder", "arm"));
        mutant.file = String::from("decoder/src/arm.rs");
        assert_eq!(mutant.module(), "arm");
    }
}
