//! Releases of the specification, and what the standard support packet of the later one can hold.

use super::{Parameters, SupportLayout};

/// A release of the specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Version {
    /// 2.0: support packets have the layout [`Parameters::support`].
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "2.0"))]
    V2_0,
    /// 2.0.5, whose protocol version is 2.1: every support packet is a
    /// [standard support packet](super::StandardSupport). Its two other extensions are chosen one by one, by
    /// [`Parameters::iret_ext`] and by [`DataLayout::MmaCas`](super::DataLayout::MmaCas).
    #[cfg_attr(feature = "serde", serde(rename = "2.0.5"))]
    V2_0_5,
}

/// Greatest values of fields of the standard support packet (RVET5-PKT-001).
const MOST_THREE_BITS: u8 = 7;
const MOST_TIME_WIDTH: u8 = 64;
const MOST_VENDOR_BITS: u8 = 64;

impl Parameters {
    /// Whether support packets are standard support packets.
    #[must_use]
    pub const fn has_standard_support(&self) -> bool {
        matches!(self.version, Version::V2_0_5)
    }

    /// What [`check`](Self::check) requires of the parameters that a version adds, or whose values it limits.
    ///
    /// Spec: RVET5-PKT-006, RVET5-PKT-007, RVET5-ENC-002.
    pub(super) fn check_version(&self) -> Result<(), (&'static str, &'static str)> {
        let standard = self.has_standard_support();
        let time = self.time_width();
        let rules: [(&'static str, bool, &'static str); 9] = [
            ("iret_ext", standard || !self.iret_ext, "needs version 2.0.5"),
            ("vendor_bits", standard || self.vendor_bits == 0, "needs version 2.0.5"),
            (
                "resync_disabled_keeps_state",
                standard || !self.resync_disabled_keeps_state,
                "needs version 2.0.5",
            ),
            ("vendor_bits", self.vendor_bits <= MOST_VENDOR_BITS, "must be 0 to 64"),
            (
                "support",
                !standard || self.support == SupportLayout::default(),
                "must be the default, because version 2.0.5 fixes the layout",
            ),
            (
                "time_width_p",
                !standard || time.is_multiple_of(16) && time <= u32::from(MOST_TIME_WIDTH),
                "must be a multiple of 16 in version 2.0.5",
            ),
            (
                "return_stack_size_p",
                !standard || self.return_stack_size_p <= MOST_THREE_BITS,
                "must be 0 to 7 in version 2.0.5",
            ),
            (
                "bpred_size_p",
                !standard || self.bpred_size_p <= MOST_THREE_BITS,
                "must be 0 to 7 in version 2.0.5",
            ),
            (
                "cache_size_p",
                !standard || self.cache_size_p <= MOST_THREE_BITS,
                "must be 0 to 7 in version 2.0.5",
            ),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((parameter, _, reason)) => Err((parameter, reason)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::riscv_etrace::Mode;
    use alloc::vec;

    #[test]
    fn only_the_later_version_has_its_extensions() {
        let plain = Parameters::default;
        for (parameters, name) in [
            (Parameters { iret_ext: true, ..plain() }, "iret_ext"),
            (Parameters { vendor_bits: 1, ..plain() }, "vendor_bits"),
            (Parameters { resync_disabled_keeps_state: true, ..plain() }, "resync_disabled_keeps_state"),
        ] {
            assert_eq!(parameters.check().map_err(|(name, _)| name), Err(name));
            let later = Parameters { version: Version::V2_0_5, ..parameters };
            assert_eq!(later.check(), Ok(()));
        }
    }

    /// Every field of the standard support packet at its greatest value, and one above it.
    #[test]
    fn values_fit_the_standard_support_packet() {
        let later = || Parameters { version: Version::V2_0_5, ..Parameters::default() };
        let full = Parameters {
            return_stack_size_p: 7,
            call_counter_size_p: 15,
            bpred_size_p: 7,
            cache_size_p: 7,
            f0s_width_p: 3,
            notime_p: false,
            time_width_p: 64,
            vendor_bits: 64,
            ..later()
        };
        assert_eq!(full.check(), Ok(()));
        let swapped = SupportLayout { ioptions: vec![Mode::FullAddress], ..SupportLayout::default() };
        for (parameters, name) in [
            (Parameters { return_stack_size_p: 8, ..later() }, "return_stack_size_p"),
            (Parameters { bpred_size_p: 8, ..later() }, "bpred_size_p"),
            (Parameters { cache_size_p: 8, ..later() }, "cache_size_p"),
            (Parameters { notime_p: false, time_width_p: 24, ..later() }, "time_width_p"),
            (Parameters { vendor_bits: 65, ..later() }, "vendor_bits"),
            (Parameters { support: swapped, ..later() }, "support"),
        ] {
            assert_eq!(parameters.check().map_err(|(name, _)| name), Err(name));
            if name != "vendor_bits" {
                let earlier = Parameters { version: Version::V2_0, ..parameters };
                assert_eq!(earlier.check(), Ok(()), "{name}");
            }
        }
    }
}
