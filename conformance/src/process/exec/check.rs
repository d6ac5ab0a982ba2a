//! What can be seen to be wrong with the table `[exec]` before anything runs.

use traceproof_vectors::ProtocolId;

use super::file::Exec;
use super::{output, render};

impl Exec {
    /// Whether the tool gets the processor states in which a section exists.
    pub(super) fn reads_spaces(&self) -> bool {
        let names = |text: &String| text.contains("{space}") || text.contains("{space:");
        self.section.iter().chain(&self.argv).chain(self.files.values()).any(names)
    }

    /// Checks its consistency.
    pub(in crate::process) fn check(&self) -> Result<(), String> {
        if self.argv.is_empty() {
            return Err(String::from("exec.argv is empty"));
        }
        if self.decoders.is_empty() {
            return Err(String::from("exec.decoders claims nothing, so nothing would be judged"));
        }
        for name in self.decoders.keys().chain(self.only.keys()) {
            if !ProtocolId::ALL.iter().any(|protocol| protocol.name() == name) {
                return Err(format!("no family is called `{name}`"));
            }
        }
        for (name, text) in &self.files {
            if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
                return Err(format!("exec.files: `{name}` is no plain name of a file"));
            }
            render::check(text, self, render::Where::File)?;
        }
        for text in &self.argv {
            render::check(text, self, render::Where::Argument)?;
        }
        for text in &self.section {
            render::check(text, self, render::Where::Section)?;
        }
        self.line.iter().try_for_each(|line| output::check(line, self))
    }
}
