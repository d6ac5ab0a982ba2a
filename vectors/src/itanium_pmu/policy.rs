//! Which legal choices a model makes.

/// What a model writes into its log beyond what it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// A record of the tags after every instruction and access. Default: true.
    pub tags: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { tags: true }
    }
}
