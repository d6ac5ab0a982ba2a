//! Documents, help texts and comments use the terms of the field: some words and phrases are banned from them.

use std::fs;
use std::path::{Path, PathBuf};

/// Banned words and phrases, and what to write instead. Names with `-` or `_` count as one word and are not affected.
const BANNED: [(&[&str], &str); 8] = [
    (&["in front of"], "before"),
    (&["behind"], "after"),
    (&["come again", "comes again"], "repeated"),
    (&["hand on", "hands on", "handed on"], "pass on, forward"),
    (&["whoever"], "the subject, the caller, the user"),
    (&["somebody", "nobody"], "the subject, the caller, the user; or the passive voice"),
    (&["swallow", "swallows", "swallowed"], "consume, discard, drop"),
    (&["told"], "reported, carried, passed, configured"),
];

#[test]
fn prose_has_no_banned_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut found = Vec::new();
    let mut files = 0;
    for path in sources(root) {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let prose =
            if path.extension().is_some_and(|end| end == "rs") { comments(&text) } else { lines(&text) };
        found.extend(hits(&prose).into_iter().map(|(line, hit)| format!("{name}:{line}: {hit}")));
        files += 1;
    }
    assert!(files > 400, "only {files} files: were the sources found?");
    assert!(found.is_empty(), "{} banned words:\n{}", found.len(), found.join("\n"));
}

/// Documents, snapshots of help texts, and Rust sources.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in
            fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let path = entry.expect("readable directory").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let is_help = name.ends_with(".snap") && name.contains("__help_");
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "corpus" {
                pending.push(path);
            } else if path.is_file() && (name.ends_with(".md") || name.ends_with(".rs") || is_help) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The lines of a text with their numbers.
fn lines(text: &str) -> Vec<(usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect()
}

/// The comment lines of a Rust source, without the slashes.
fn comments(text: &str) -> Vec<(usize, &str)> {
    lines(text)
        .into_iter()
        .filter(|(_, line)| line.trim_start().starts_with("//"))
        .map(|(number, line)| (number, line.trim_start().trim_start_matches(['/', '!'])))
        .collect()
}

/// Each banned word or phrase, also across a line break, with the line where it begins.
fn hits(prose: &[(usize, &str)]) -> Vec<(usize, String)> {
    let words: Vec<(usize, String)> = prose
        .iter()
        .flat_map(|&(number, line)| {
            line.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
                .filter(|word| !word.is_empty())
                .map(move |word| (number, word.to_lowercase()))
        })
        .collect();
    let mut found = Vec::new();
    for (index, (number, _)) in words.iter().enumerate() {
        for (phrases, instead) in BANNED {
            let begins = |phrase: &&&str| {
                let mut rest = words.iter().skip(index).map(|(_, word)| word.as_str());
                phrase.split(' ').all(|word| rest.next() == Some(word))
            };
            if let Some(phrase) = phrases.iter().find(begins) {
                found.push((*number, format!("`{phrase}`; write: {instead}")));
            }
        }
    }
    found
}

#[test]
fn banned_words_are_found() {
    let source = "//! Data in front\n//! of it.\nlet told = 1;\n    // Left_behind, hands-on.\n/// Nobody, behind-it\n";
    let found: Vec<(usize, String)> = hits(&comments(source));
    let numbers: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(numbers, [1, 5], "{found:?}");
    assert!(found[0].1.starts_with("`in front of`"), "{found:?}");
    assert_eq!(hits(&lines("It is passed on, after it.\n")), []);
}
