//! Bugs that people wrote, in files under `mutants/planted`.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::error::Error;

/// A bug: all of its hunks are switched on together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// A few words joined by `-`.
    pub name: String,
    /// The requirements that it breaks.
    pub clause: String,
    /// The mistake, and what shows it.
    pub why: String,
    /// The file that has it.
    pub list: String,
    pub(crate) hunks: Vec<Hunk>,
    /// That file and the line, for errors.
    pub(crate) place: String,
}

/// Source that is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hunk {
    /// Relative to the checkout, with `/`.
    pub(crate) file: String,
    /// Occurs once in the file.
    pub(crate) find: String,
    pub(crate) replace: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    bug: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: Spanned<String>,
    clause: String,
    why: String,
    file: Option<String>,
    find: Option<String>,
    replace: Option<String>,
    #[serde(default)]
    hunk: Vec<Hunk>,
}

/// Reads a file of bugs.
///
/// # Errors
///
/// The file cannot be read, or is no list of bugs with names of their own.
pub fn read(path: &Path) -> Result<Vec<Bug>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    let list: List = toml::from_str(&text).map_err(|error| Error::content(path, error))?;
    let mut bugs: Vec<Bug> = Vec::new();
    for row in list.bug {
        let before = text.get(..row.name.span().start).unwrap_or_default();
        let place = format!("{}:{}", path.display(), before.matches('\n').count() + 1);
        let bug = row
            .bug(path.display().to_string(), place.clone())
            .map_err(|message| Error::Usage(format!("{place}: {message}")))?;
        if bugs.iter().any(|other| other.name == bug.name) {
            return Err(Error::Usage(format!("{place}: `{}` is there twice", bug.name)));
        }
        bugs.push(bug);
    }
    Ok(bugs)
}

#[cfg(test)]
impl Bug {
    /// One with one hunk.
    pub(crate) fn one(file: &str, find: &str, replace: &str) -> Self {
        let (file, find, replace) = (file.to_owned(), find.to_owned(), replace.to_owned());
        let name = format!("{find} as {replace}");
        let hunks = vec![Hunk { file, find, replace }];
        let (clause, why, list, place) = (String::new(), String::new(), String::new(), String::new());
        Self { name, clause, why, list, hunks, place }
    }
}

impl Row {
    fn bug(self, list: String, place: String) -> Result<Bug, String> {
        let Self { name, clause, why, file, find, replace, hunk } = self;
        let hunks = match (file, find, replace) {
            (Some(file), Some(find), Some(replace)) if hunk.is_empty() => {
                vec![Hunk { file, find, replace }]
            }
            (None, None, None) if !hunk.is_empty() => hunk,
            _ => return Err(String::from("a bug has either `file`, `find` and `replace`, or `bug.hunk`")),
        };
        Ok(Bug { name: name.into_inner(), clause, why, list, hunks, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_has_one_hunk_or_several() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bugs.toml");
        let bugs_of = |text: &str| {
            fs::write(&path, text).expect("is written");
            read(&path)
        };
        let one = "[[bug]]\nname = \"a\"\nclause = \"C-1\"\nwhy = \"w\"\nfile = \"f\"\nfind = '''x'''\nreplace = '''y'''\n";
        let many = "[[bug]]\nname = \"b\"\nclause = \"C-2\"\nwhy = \"w\"\n\
            [[bug.hunk]]\nfile = \"f\"\nfind = \"1\"\nreplace = \"2\"\n\
            [[bug.hunk]]\nfile = \"g\"\nfind = \"3\"\nreplace = \"4\"\n";
        let bugs = bugs_of(&format!("{one}{many}")).expect("reads");
        let hunk = |file: &str, find: &str, replace: &str| Hunk {
            file: file.to_owned(),
            find: find.to_owned(),
            replace: replace.to_owned(),
        };
        assert_eq!(bugs[0].hunks, [hunk("f", "x", "y")]);
        assert_eq!(bugs[1].hunks, [hunk("f", "1", "2"), hunk("g", "3", "4")]);
        assert!(bugs[1].place.ends_with("bugs.toml:9"), "{}", bugs[1].place);
        let error = |text: &str| bugs_of(text).expect_err("is wrong").to_string();
        assert!(error(&format!("{one}{one}")).ends_with("bugs.toml:9: `a` is there twice"));
        assert!(error(&one.replace("find = '''x'''\n", "")).contains("bugs.toml:2: a bug has either"));
    }
}
