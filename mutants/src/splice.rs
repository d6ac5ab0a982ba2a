//! Writes the source in which every mutant of a file can be switched on.
//!
//! Only one mutant is active at a time. So the text of a mutant has no other mutants in it, and the source grows with
//! the depth of expressions, not exponentially.

use std::ops::Range;

use crate::find::MutatedFile;
use crate::mutant::{Site, SiteKind};

/// A source with its mutants, and where they are in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Spliced {
    pub(crate) text: String,
    /// The text of each mutant.
    pub(crate) mutants: Vec<(Range<usize>, usize)>,
    /// The whole of each site, with its mutants.
    pub(crate) sites: Vec<(Range<usize>, Vec<usize>)>,
}

/// The source of the file with those of its mutants that are taken.
pub(crate) fn splice(file: &MutatedFile, takes: &dyn Fn(usize) -> bool) -> Spliced {
    let mut writer = Writer { file, takes, next: 0, out: Spliced::default() };
    writer.copy(0..file.text.len());
    writer.out
}

struct Writer<'a> {
    file: &'a MutatedFile,
    takes: &'a dyn Fn(usize) -> bool,
    /// The first site that is not written yet.
    next: usize,
    out: Spliced,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    /// Writes a part of the original source with the sites in it.
    fn copy(&mut self, range: Range<usize>) {
        let file = self.file;
        let mut at = range.start;
        while let Some(site) = file.sites.get(self.next).filter(|site| site.range.end <= range.end) {
            self.push(file.text.get(at..site.range.start).unwrap_or_default());
            self.next += 1;
            let begin = self.out.text.len();
            match site.kind {
                SiteKind::Expression => self.alternatives(site, ["(", ")"]),
                SiteKind::Statements => self.alternatives(site, ["", ""]),
                SiteKind::Body => self.body(site),
                SiteKind::Arm => self.arm(site),
                SiteKind::Const => {}
            }
            let taken: Vec<usize> = self.taken(site).map(|(mutant, _)| mutant).collect();
            self.out.sites.push((begin..self.out.text.len(), taken));
            at = site.range.end;
        }
        self.push(file.text.get(at..range.end).unwrap_or_default());
    }

    fn taken<'b>(&self, site: &'b Site) -> impl Iterator<Item = (usize, &'b str)> + use<'b, '_> {
        let takes = self.takes;
        site.alternatives
            .iter()
            .map(|it| (it.mutant, it.text.as_str()))
            .filter(move |(mutant, _)| takes(*mutant))
    }

    /// Writes the text of a mutant.
    fn mutant(&mut self, mutant: usize, text: &str) {
        let begin = self.out.text.len();
        self.push(text);
        self.out.mutants.push((begin..self.out.text.len(), mutant));
    }

    fn alternatives(&mut self, site: &Site, [open, close]: [&str; 2]) {
        let taken: Vec<(usize, &str)> = self.taken(site).collect();
        for (index, (mutant, text)) in taken.iter().enumerate() {
            self.push(if index == 0 { open } else { " else " });
            self.push(&format!("if {} {{ ", active(*mutant)));
            self.mutant(*mutant, text);
            // A comment may be its end.
            self.push(if text.contains("//") { "\n}" } else { " }" });
        }
        self.push(if taken.is_empty() { "" } else { " else { " });
        self.copy(site.range.clone());
        if !taken.is_empty() {
            self.push(" }");
            self.push(close);
        }
    }

    fn body(&mut self, site: &Site) {
        for (mutant, text) in self.taken(site).collect::<Vec<_>>() {
            self.push(&format!(" if {} {{ return ", active(mutant)));
            self.mutant(mutant, text);
            self.push("; }");
        }
    }

    fn arm(&mut self, site: &Site) {
        for (mutant, _) in self.taken(site).collect::<Vec<_>>() {
            self.mutant(mutant, &format!(" if !{}", active(mutant)));
        }
    }
}

fn active(mutant: usize) -> String {
    format!("::mutant_switch::active({mutant})")
}
