//! Optional features of a protocol.

/// Something that a decoder or encoder of a protocol may leave out.
///
/// What a case needs follows from its parameters and its wire; what a subject does not claim is counted apart, neither
/// passed nor failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feature {
    /// The name in capabilities.
    pub name: &'static str,
    /// Where it is needed.
    pub text: &'static str,
}

impl Feature {
    /// A feature of this name, needed there.
    #[must_use]
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text }
    }

    /// The names, in order.
    pub fn names(features: &[Self]) -> impl Iterator<Item = &'static str> + Clone {
        features.iter().map(|feature| feature.name)
    }
}
