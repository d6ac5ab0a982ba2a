//! Names that select what event address registers capture.

use traceproof_vectors::itanium_pmu::DataEarThresholds;
use traceproof_vectors::itanium_pmu::events::{ES_DATA_EAR_EVENTS, ES_INSTRUCTION_EAR_EVENTS};

/// Unit mask of the cache modes that captures nothing by definition.
const LAT_NONE: u8 = 15;

/// What a name selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Cache misses of at least so many clocks.
    Latency(u16),
    /// No cache miss.
    NoLatency,
    /// TLB misses, by this unit mask.
    Tlb(u8),
}

/// One name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarEvent {
    /// Event select code of the counter: which event address registers.
    pub(super) es: u8,
    pub(super) selection: Selection,
}

impl EarEvent {
    /// What a name selects, if it is one of `INSTRUCTION_EAR_CACHE_LAT8`, `DATA_EAR_TLB_VHPT` and the like.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        for (es, prefix, tlb_names) in [
            (ES_INSTRUCTION_EAR_EVENTS, "INSTRUCTION_EAR_", &[("VHPT", 4), ("SW", 8)][..]),
            (ES_DATA_EAR_EVENTS, "DATA_EAR_", &[("L2", 2), ("VHPT", 4), ("SW", 8)][..]),
        ] {
            let Some(rest) = strip_prefix(name, prefix) else { continue };
            let selection = if let Some(latency) = strip_prefix(rest, "CACHE_LAT") {
                by_latency(latency)
            } else {
                let resolution = strip_prefix(rest, "TLB_")?;
                tlb_names
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(resolution))
                    .map(|(_, umask)| Selection::Tlb(*umask))
            };
            return selection.map(|selection| Self { es, selection });
        }
        None
    }

    /// Whether these are the data event address registers.
    pub(super) const fn is_data(self) -> bool {
        self.es == ES_DATA_EAR_EVENTS
    }

    /// Whether they are in TLB mode.
    pub(super) const fn is_tlb(self) -> bool {
        matches!(self.selection, Selection::Tlb(_))
    }

    /// The unit mask; `None` if the processor has no such threshold.
    pub(super) fn umask(self, thresholds: DataEarThresholds) -> Option<u8> {
        let latency = match self.selection {
            Selection::Latency(latency) => latency,
            Selection::NoLatency => return Some(LAT_NONE),
            Selection::Tlb(umask) => return Some(umask),
        };
        // 4 clocks are 0, 8 are 1, ...
        let step = latency.ilog2() as u8 - 2;
        if !self.is_data() || thresholds == DataEarThresholds::Regular || step < 7 {
            return Some(step);
        }
        // Shifted: 512, 1024, 2048 are 8, 9, 10; there is no 4096.
        (step < 10).then_some(step + 1)
    }
}

/// `4` to `4096`, powers of two only, or `_NONE`.
fn by_latency(text: &str) -> Option<Selection> {
    if text.eq_ignore_ascii_case("_NONE") {
        return Some(Selection::NoLatency);
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let latency: u16 = text.parse().ok()?;
    (is_plain && latency.is_power_of_two() && (4..=4096).contains(&latency))
        .then_some(Selection::Latency(latency))
}

/// Without regard to case.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (front, rest) = text.split_at_checked(prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select_their_unit_masks() {
        let umask = |name: &str, thresholds| EarEvent::by_name(name).unwrap().umask(thresholds);
        let (regular, shifted) = (DataEarThresholds::Regular, DataEarThresholds::Shifted);
        for (name, in_regular, in_shifted) in [
            ("INSTRUCTION_EAR_CACHE_LAT4", Some(0), Some(0)),
            ("INSTRUCTION_EAR_CACHE_LAT4096", Some(10), Some(10)),
            ("instruction_ear_cache_lat_none", Some(15), Some(15)),
            ("INSTRUCTION_EAR_TLB_VHPT", Some(4), Some(4)),
            ("INSTRUCTION_EAR_TLB_SW", Some(8), Some(8)),
            ("DATA_EAR_CACHE_LAT4", Some(0), Some(0)),
            ("DATA_EAR_CACHE_LAT256", Some(6), Some(6)),
            ("DATA_EAR_CACHE_LAT512", Some(7), Some(8)),
            ("DATA_EAR_CACHE_LAT1024", Some(8), Some(9)),
            ("DATA_EAR_CACHE_LAT2048", Some(9), Some(10)),
            ("DATA_EAR_CACHE_LAT4096", Some(10), None),
            ("DATA_EAR_CACHE_LAT_NONE", Some(15), Some(15)),
            ("DATA_EAR_TLB_L2", Some(2), Some(2)),
            ("DATA_EAR_TLB_VHPT", Some(4), Some(4)),
            ("DATA_EAR_TLB_SW", Some(8), Some(8)),
        ] {
            assert_eq!((umask(name, regular), umask(name, shifted)), (in_regular, in_shifted), "{name}");
        }
        for name in [
            "INSTRUCTION_EAR_TLB_L2",
            "DATA_EAR_CACHE_LAT5",
            "DATA_EAR_CACHE_LAT2",
            "DATA_EAR_CACHE_LAT8192",
            "DATA_EAR_CACHE_LAT04",
            "DATA_EAR_CACHE_LAT+4",
            "DATA_EAR_CACHE_LAT",
            "DATA_EAR_EVENTS",
            "DATA_EAR_",
            "é",
        ] {
            assert_eq!(EarEvent::by_name(name), None, "{name}");
        }
    }
}
