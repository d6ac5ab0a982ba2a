//! Names of the ways for messages to travel, as both sides agree to one in `hello`.

use serde::{Deserialize, Serialize};

/// A way for messages to travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Framing {
    /// A line each.
    #[default]
    #[serde(rename = "jsonl")]
    JsonLines,
    /// With their length in front.
    #[serde(rename = "bin1")]
    Bin1,
}

impl Framing {
    /// Every framing.
    pub const ALL: [Self; 2] = [Self::JsonLines, Self::Bin1];

    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Bin1 => "bin1",
        }
    }
}
