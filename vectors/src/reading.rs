//! Named answers to questions that a specification leaves open.

/// One way to read a clause that the text leaves open.
///
/// A case whose expectation depends on one names it; a subject claims the readings that it follows; what a subject does
/// not claim is counted apart, neither passed nor failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The name in case files and capabilities.
    pub name: &'static str,
    /// Who has to follow it.
    pub binds: Binds,
    /// What is read into the text.
    pub text: &'static str,
}

/// Who has to follow a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binds {
    /// Only encoders: any decoder must understand the result either way.
    Encoders,
    /// Only decoders.
    Decoders,
    /// Both sides.
    Both,
}

impl Reading {
    /// Whether a decoder must follow it.
    #[must_use]
    pub const fn binds_decoders(&self) -> bool {
        matches!(self.binds, Binds::Decoders | Binds::Both)
    }

    /// Whether an encoder must follow it.
    #[must_use]
    pub const fn binds_encoders(&self) -> bool {
        matches!(self.binds, Binds::Encoders | Binds::Both)
    }
}
