//! Limits of a decoder's work and memory for a stream.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// Work and memory that a stream may cause. Where one of these is reached, a decoder reports a fault of class
/// [`Limit`](crate::FaultClass::Limit).
///
/// They are common to all decoders; one that has no such queue ignores its limit. Bounds of the protocol itself (such
/// as the 127 pending groups of ETMv2) are no limits. Cases are written for
/// [`COLLECTED`](Self::COLLECTED).
///
/// ```
/// use traceproof_vectors::DecoderLimits;
///
/// let limits = DecoderLimits::default().with_steps(4096);
/// assert_eq!(Ok(limits), "steps=4096".parse().map(|limit| DecoderLimits::default().with(limit)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct DecoderLimits {
    /// Instructions that a decoder passes without consuming an outcome or an address that travelled.
    pub steps: u64,
    /// Results that a count in one packet may stand for. By default any that E-Trace can express, because they are
    /// legal: one packet of a few bytes may cost minutes. Set less where a stream is damaged or not trusted.
    pub repeats: u64,
    /// Instructions for each byte of the stream up to there that a decoder passes by predicted outcomes and inferred
    /// jumps; one packet may spend what earlier ones left. [`repeats`](Self::repeats) come on top, once for a stream.
    /// By default more than a second of a processor for each kilobyte.
    pub work: u64,
    /// Results that wait for later bytes of the stream, because results come in order.
    pub pending: u32,
    /// Items of one cycle that are kept up to its end.
    pub gathered: u32,
    /// Elements that are neither committed nor cancelled.
    pub speculation: u32,
}

/// The largest number of predictions of an E-Trace packet: a count of 32 bits and 31 more (ET 7.8).
const LARGEST_COUNT: u64 = u32::MAX as u64 + 31;

impl DecoderLimits {
    /// The default values.
    pub const DEFAULT: Self = Self {
        steps: 1 << 20,
        repeats: LARGEST_COUNT,
        work: 1 << 20,
        pending: 1024,
        gathered: 4096,
        speculation: 1 << 16,
    };

    /// The limits where results are collected in memory, as the harness does: cases are written for them.
    pub const COLLECTED: Self = Self::DEFAULT.with_repeats(1 << 16).with_work(1 << 12);

    /// Every limit by name, as [`Limit::from_str`] reads them, and what it bounds.
    pub const NAMES: [(&str, &str); 6] = [
        ("steps", "instructions passed without an outcome or an address, or in one walk (PFT, ETE)"),
        ("repeats", "results that a count in one packet may stand for (E-Trace predictions)"),
        ("work", "instructions by prediction or inference, for each byte of the stream (E-Trace)"),
        ("pending", "results that wait for later bytes (ETMv1 statuses)"),
        ("gathered", "items of one cycle that are kept up to its end (Itanium misses)"),
        ("speculation", "elements that are neither committed nor cancelled"),
    ];

    /// These limits with another value for one of them, which was named in a text.
    #[must_use]
    pub fn with(self, limit: Limit) -> Self {
        let Limit { name, value } = limit;
        let narrow = u32::try_from(value).unwrap_or(u32::MAX);
        match name {
            Name::Steps => self.with_steps(value),
            Name::Repeats => self.with_repeats(value),
            Name::Work => self.with_work(value),
            Name::Pending => self.with_pending(narrow),
            Name::Gathered => self.with_gathered(narrow),
            Name::Speculation => self.with_speculation(narrow),
        }
    }

    /// Sets [`steps`](Self::steps).
    #[must_use]
    pub const fn with_steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Sets [`repeats`](Self::repeats).
    #[must_use]
    pub const fn with_repeats(mut self, repeats: u64) -> Self {
        self.repeats = repeats;
        self
    }

    /// Sets [`work`](Self::work).
    #[must_use]
    pub const fn with_work(mut self, work: u64) -> Self {
        self.work = work;
        self
    }

    /// The instructions that a stream of so many bytes may make a decoder pass by predictions and inferences.
    #[must_use]
    pub const fn passed(&self, bytes: u64) -> u64 {
        self.work.saturating_mul(bytes).saturating_add(self.repeats)
    }

    /// Sets [`pending`](Self::pending).
    #[must_use]
    pub const fn with_pending(mut self, pending: u32) -> Self {
        self.pending = pending;
        self
    }

    /// Sets [`gathered`](Self::gathered).
    #[must_use]
    pub const fn with_gathered(mut self, gathered: u32) -> Self {
        self.gathered = gathered;
        self
    }

    /// Sets [`speculation`](Self::speculation).
    #[must_use]
    pub const fn with_speculation(mut self, speculation: u32) -> Self {
        self.speculation = speculation;
        self
    }
}

impl Default for DecoderLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A value for one of the [`DecoderLimits`], written `name=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: Name,
    value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Steps,
    Repeats,
    Work,
    Pending,
    Gathered,
    Speculation,
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let (name, value) = text.split_once('=').ok_or(LimitError::NoValue)?;
        let name = match name {
            "steps" => Name::Steps,
            "repeats" => Name::Repeats,
            "work" => Name::Work,
            "pending" => Name::Pending,
            "gathered" => Name::Gathered,
            "speculation" => Name::Speculation,
            _ => return Err(LimitError::UnknownName(name.into())),
        };
        let value = value.parse().map_err(|_| LimitError::NoNumber(value.into()))?;
        Ok(Self { name, value })
    }
}

/// Why a text is no [`Limit`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// It has no `=`.
    NoValue,
    /// No limit has this name.
    UnknownName(String),
    /// The value is no decimal number of 64 bits.
    NoNumber(String),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue => f.write_str("expected NAME=VALUE, such as steps=4096"),
            Self::UnknownName(name) => {
                write!(f, "no limit is called `{name}`; known are ")?;
                for (index, (known, _)) in DecoderLimits::NAMES.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    f.write_str(known)?;
                }
                Ok(())
            }
            Self::NoNumber(value) => write!(f, "`{value}` is no number"),
        }
    }
}

impl core::error::Error for LimitError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn every_name_sets_a_limit_of_its_own() {
        for (name, _) in DecoderLimits::NAMES {
            let set = DecoderLimits::default().with(format!("{name}=7").parse().expect(name));
            assert_ne!(set, DecoderLimits::default(), "{name}");
            assert!(format!("{set:?}").contains(&format!("{name}: 7")), "{set:?}");
        }
    }

    #[test]
    fn a_large_value_saturates() {
        let limit = format!("pending={}", u64::MAX).parse().expect("a number");
        assert_eq!(DecoderLimits::default().with(limit).pending, u32::MAX);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| text.parse::<Limit>().expect_err("wrong").to_string();
        assert_eq!(error("steps"), "expected NAME=VALUE, such as steps=4096");
        assert_eq!(
            error("step=1"),
            "no limit is called `step`; known are steps, repeats, work, pending, gathered, speculation"
        );
        assert_eq!(error("steps=many"), "`many` is no number");
    }
}
