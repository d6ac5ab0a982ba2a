//! Independent implementations as subjects, each with its own cargo feature.
//!
//! A peer is judged like any other subject. Where it disagrees, the specification decides; what came of it is in
//! `docs/findings`.

#[cfg(feature = "peer-opencsd")]
pub mod opencsd;
#[cfg(feature = "peer-riscv-etrace")]
pub mod riscv_etrace;

use crate::Subject;

/// Every peer that this workspace knows, and the cargo feature of this crate that it needs.
pub const KNOWN: &[(&str, &str)] = &[
    ("riscv-etrace", "peer-riscv-etrace"),
    ("riscv-etrace-packets", "peer-riscv-etrace"),
    ("opencsd", "peer-opencsd"),
    ("opencsd-packets", "peer-opencsd"),
];

/// The peer of this name; `None` if there is none or this build does not have it.
#[must_use]
pub fn named(name: &str) -> Option<Subject> {
    match name {
        #[cfg(feature = "peer-riscv-etrace")]
        "riscv-etrace" => Some(riscv_etrace::subject()),
        #[cfg(feature = "peer-riscv-etrace")]
        "riscv-etrace-packets" => Some(riscv_etrace::packet_reader()),
        #[cfg(feature = "peer-opencsd")]
        "opencsd" => Some(opencsd::subject()),
        #[cfg(feature = "peer-opencsd")]
        "opencsd-packets" => Some(opencsd::packet_reader()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_peers_are_those_that_are_built() {
        for (name, feature) in KNOWN {
            let built = (*feature == "peer-riscv-etrace" && cfg!(feature = "peer-riscv-etrace"))
                || (*feature == "peer-opencsd" && cfg!(feature = "peer-opencsd"));
            assert_eq!(named(name).is_some(), built, "{name}");
        }
        assert!(named("nobody").is_none());
    }
}
