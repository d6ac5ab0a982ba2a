//! What was read into what the specification leaves open.

use crate::{Binds, Reading};

const fn decoders(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Decoders, text }
}

const fn encoders(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Encoders, text }
}

const fn both(name: &'static str, text: &'static str) -> Reading {
    Reading { name, binds: Binds::Both, text }
}

/// The readings of what no text available to this project settles.
pub const READINGS: [Reading; 30] = [
    decoders("pft-empty-atom-headers", "Headers 80 and 82 without cycle counts are reserved, not one atom."),
    both("pft-hyp-stays-without-byte-1", "Without the second exception information byte Hyp is unchanged."),
    both(
        "pft-thumb-without-information",
        "A Thumb address of five bytes without exception information is Thumb; shorter ones keep ThumbEE.",
    ),
    decoders(
        "pft-alt-isa-of-arm",
        "AltISA of an I-sync without T, or of a branch to ARM, means nothing: a warning.",
    ),
    decoders(
        "pft-waypoint-update-is-a-base",
        "The address of a waypoint update is the base of the next compressed address; encoders send what is right either way.",
    ),
    decoders("pft-waypoint-update-sixth-byte", "A fifth byte with bit 6 announces a sixth byte with AltISA."),
    both(
        "pft-count-of-i-sync-has-bit-7",
        "The first byte of an I-sync's cycle count has bit 7 = 1; 0 is a warning.",
    ),
    decoders(
        "pft-return-stack-over-periodic-sync",
        "The return stack is kept over a periodic I-sync, and emptied by one of another reason.",
    ),
    both("pft-return-stack-over-exceptions", "An exception leaves the return stack alone."),
    decoders(
        "pft-return-stack-of-16",
        "A decoder's return stack has 16 entries where nothing else is known.",
    ),
    encoders(
        "pft-return-stack-security",
        "A branch that changes the security state leaves the return stack alone.",
    ),
    both("pft-link-pops-first", "BLX (register) compares with the return stack before it pushes."),
    encoders(
        "pft-exception-return-is-a-packet",
        "An exception return is a branch address packet even if the return stack matches.",
    ),
    decoders(
        "pft-debug-entry-ends-the-flow",
        "The flow is undefined from the entry to Debug state to the next I-sync.",
    ),
    both("pft-barrier-waypoint-bit", "ETMCCER[24] = 1 says that DMB and DSB are waypoints."),
    encoders("pft-barrier-atom", "The atom of a waypoint DMB or DSB is E if its condition passed."),
    encoders("pft-vmid-like-context-id", "The VMID packet stands where a Context ID packet would, after it."),
    encoders(
        "pft-context-id-after-exceptions",
        "A Context ID that changes with an exception follows the exception's packet.",
    ),
    encoders(
        "pft-long-block-update",
        "The waypoint update of a long block names the instruction before the waypoint.",
    ),
    encoders(
        "pft-debug-entry-context",
        "Changes of Context ID and VMID on entry to Debug state are not sent.",
    ),
    encoders(
        "pft-hyp-entry-update",
        "Entries to Hyp mode and ThumbEE checks have waypoint updates by the general rule.",
    ),
    encoders("pft-overflow-cuts-no-packet", "An overflow loses whole packets."),
    both("pft-thumbee-handlers", "HB, HBL, HBP and HBLP are indirect branches; HBL and HBLP have link."),
    decoders(
        "pft-counts-of-pft-1-0",
        "In PFTv1.0 the counts of I-syncs after overflow and Debug state are counts.",
    ),
    decoders("pft-zero-is-a-value", "A cycle count or timestamp of 0 is that value, not an unknown one."),
    decoders("pft-incomplete-timestamp", "A timestamp before a full one is reported without value."),
    decoders(
        "pft-sync-check-compares-hyp",
        "A periodic I-sync with another Hyp bit than the flow is a contradiction.",
    ),
    decoders(
        "pft-reserved-exceptions",
        "Reserved exception numbers are reported as they are, with a warning; M profile numbers without.",
    ),
    decoders(
        "pft-packets-before-an-exception",
        "Trigger, timestamp, Context ID and VMID may stand between a waypoint update and its exception.",
    ),
    decoders(
        "pft-not-executed-always",
        "An N atom of an unconditional branch is believed without a warning.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_begin_with_the_family() {
        for (index, reading) in READINGS.iter().enumerate() {
            assert!(reading.name.starts_with("pft-") && reading.text.ends_with('.'), "{}", reading.name);
            assert!(READINGS[..index].iter().all(|other| other.name != reading.name), "{}", reading.name);
        }
    }
}
