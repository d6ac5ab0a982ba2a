//! Names and messages of others, as text that cannot command a terminal, forge a line or change the order of what is
//! shown.

use std::borrow::Cow;

/// Whether a character is escaped: controls except for tabs, separators of lines, and marks of the direction of text.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_mark || (c.is_control() && c != '\t')
}

/// A name, for a place inside of a line: hidden characters as they are written in strings.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A text of several lines, whose line breaks stay.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c != '\n' && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let parts = text.split('\n').map(|part| line(part.strip_suffix('\r').unwrap_or(part)));
    Cow::Owned(parts.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subject;

    #[test]
    fn hidden_characters_are_escaped() {
        assert!(matches!(line("a\tb é"), Cow::Borrowed("a\tb é")));
        assert_eq!(line("\x1b]0;t\x07\r\n\u{9b}1m\x7f"), r"\u{1b}]0;t\u{7}\r\n\u{9b}1m\u{7f}");
        assert_eq!(line("\u{202e}a\u{2066}\u{61c}\u{2028}"), r"\u{202e}a\u{2066}\u{61c}\u{2028}");
        assert!(matches!(lines("a\nb\n"), Cow::Borrowed("a\nb\n")));
        assert_eq!(lines("a\r\n\x1b[32mPASS\x1b[0m\n"), "a\n\\u{1b}[32mPASS\\u{1b}[0m\n");
    }

    #[test]
    fn a_subject_cannot_paint_its_name() {
        let subject = Subject::new("a\x1b[32mPASS\n", "\u{202e}1");
        assert_eq!((subject.name(), subject.version()), (r"a\u{1b}[32mPASS\n", r"\u{202e}1"));
    }
}
