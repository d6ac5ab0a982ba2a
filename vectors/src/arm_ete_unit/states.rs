//! The programming states and sets of them.

#[cfg(feature = "serde")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A programming state of the trace unit (ETE-WMGGP-001). The number is the one that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum ProgrammingState {
    /// Disabled and drained: IDLE = 1, PMSTABLE = 1.
    Idle = 0,
    /// Enabled, not yet running: IDLE = 1, PMSTABLE UNKNOWN.
    Enabling = 1,
    /// Enabled: IDLE = 0, PMSTABLE UNKNOWN.
    Running = 2,
    /// Disabled, resources still change: IDLE = 0, PMSTABLE = 0.
    Unstable = 3,
    /// Disabled, resources stable, not drained: IDLE = 0, PMSTABLE = 1.
    Stable = 4,
}

impl ProgrammingState {
    /// Every state, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Idle, Self::Enabling, Self::Running, Self::Unstable, Self::Stable];

    /// The specification's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Enabling => "Enabling",
            Self::Running => "Running",
            Self::Unstable => "Unstable",
            Self::Stable => "Stable",
        }
    }

    /// Whether the unit is enabled in it (ETE-WMGGP-004).
    #[must_use]
    pub const fn is_enabled(self) -> bool {
        matches!(self, Self::Enabling | Self::Running)
    }
}

/// A set of states that the unit may be in, and whether something unpredictable led to it.
///
/// Written as names in the order of [`ProgrammingState`], separated by blanks, then `unpredictable`: `Unstable Stable
/// Idle` is read too and written `Idle Unstable Stable`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateSet(u8);

impl StateSet {
    /// No state.
    pub const EMPTY: Self = Self(0);
    /// Every state.
    pub const ALL: Self = Self(0x1F);
    /// Bit of the mark.
    const UNPREDICTABLE: u8 = 0x20;
    const MARK: &str = "unpredictable";

    /// The set with this state too.
    #[must_use]
    pub const fn with(self, state: ProgrammingState) -> Self {
        Self(self.0 | 1 << state as u8)
    }

    /// The states of both, and the mark if one has it.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set with the mark: no expectation holds about it.
    #[must_use]
    pub const fn unpredictable(self) -> Self {
        Self(self.0 | Self::UNPREDICTABLE)
    }

    /// Whether it has the mark.
    #[must_use]
    pub const fn is_unpredictable(self) -> bool {
        self.0 & Self::UNPREDICTABLE != 0
    }

    /// Whether the state is one of the set.
    #[must_use]
    pub const fn contains(self, state: ProgrammingState) -> bool {
        self.0 >> state as u8 & 1 == 1
    }

    /// Its states.
    pub fn states(self) -> impl Iterator<Item = ProgrammingState> {
        ProgrammingState::ALL.into_iter().filter(move |state| self.contains(*state))
    }
}

impl FromIterator<ProgrammingState> for StateSet {
    fn from_iter<I: IntoIterator<Item = ProgrammingState>>(states: I) -> Self {
        states.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Display for StateSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = self.is_unpredictable().then_some(Self::MARK);
        for (index, name) in self.states().map(ProgrammingState::name).chain(mark).enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A word that is no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownState;

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no set of states; write one or more of Idle, Enabling, Running, Unstable, Stable, unpredictable",
        )
    }
}

impl core::error::Error for UnknownState {}

impl FromStr for ProgrammingState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL.into_iter().find(|state| state.name() == text).ok_or(UnknownState)
    }
}

impl FromStr for StateSet {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        let mut set = Self::EMPTY;
        for word in text.split_ascii_whitespace() {
            set = if word == Self::MARK { set.unpredictable() } else { set.with(word.parse()?) };
        }
        if set == Self::EMPTY { Err(UnknownState) } else { Ok(set) }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for StateSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for StateSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for StateSet {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "StateSet".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "States that the unit may be in, e.g. `Idle Stable`; `unpredictable` after an unpredictable choice.",
            "pattern": r"^(Idle|Enabling|Running|Unstable|Stable|unpredictable)( (Idle|Enabling|Running|Unstable|Stable|unpredictable))*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn sets_are_read_as_they_are_written() {
        for text in ["Idle", "Idle Enabling Running Unstable Stable", "Running unpredictable"] {
            assert_eq!(text.parse::<StateSet>().map(|set| set.to_string()), Ok(text.to_string()));
        }
        assert_eq!(
            "Stable Idle".parse(),
            Ok([ProgrammingState::Idle, ProgrammingState::Stable].into_iter().collect::<StateSet>())
        );
        assert_eq!(ProgrammingState::ALL.into_iter().collect::<StateSet>(), StateSet::ALL);
        assert_eq!(StateSet::ALL.states().count(), 5);
        for wrong in ["", " ", "idle", "Idle,Stable"] {
            assert_eq!(wrong.parse::<StateSet>(), Err(UnknownState), "{wrong}");
        }
    }
}
