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
pub const READINGS: [Reading; 40] = [
    decoders(
        "ete-search-begins-at-the-fault",
        "After what cannot be read the search for an A-sync begins at the byte at fault.",
    ),
    decoders(
        "ete-searched-a-sync-has-11-zeros",
        "The A-sync that ends a search has the last 11 zeros before the 80; in sync all zeros belong to it.",
    ),
    decoders(
        "ete-packets-before-trace-info",
        "Before the first Trace Info, Event, Instrumentation, Discard and Overflow are reported, timestamps and markers are not.",
    ),
    decoders(
        "ete-reserved-bits-are-believed",
        "A packet with a reserved bit that is 1 is believed as if it were 0, with a warning.",
    ),
    decoders("ete-reserved-control-bits", "Reserved bits of PLCTL announce no section."),
    decoders(
        "ete-continued-trace-info",
        "Bit 7 of PLCTL or INFO says that another byte follows, at most four in all; what follows means nothing.",
    ),
    decoders("ete-ignored-info-bits", "INFO[5:1] mean nothing in ETE, and no warning."),
    decoders("ete-threshold-needs-cc", "A threshold without INFO.CC is 0."),
    decoders(
        "ete-later-speculation-depth",
        "A later Trace Info whose SPEC is not the running depth is a warning, and SPEC is the depth for implied commits.",
    ),
    decoders(
        "ete-flags-without-bytes",
        "V or C of a context whose size is 0 announces no bytes; the packet is believed.",
    ),
    decoders(
        "ete-nibble-without-commit",
        "AAAA of a cycle count of format 2 means nothing with COMMOPT = 1.",
    ),
    decoders(
        "ete-disabled-options",
        "Packets of options that are off, where the text does not reserve them, are read and believed with a warning.",
    ),
    decoders(
        "ete-long-timestamps",
        "A timestamp of 48 bits has up to nine bytes like one of 64; bits above 48 are a warning.",
    ),
    decoders("ete-zero-q-count", "A Q element with count 0 has no count."),
    decoders(
        "ete-q-walk-ends-at-uncertainty",
        "A counted Q element is followed up to the first P0 instruction whose successor the code does not determine.",
    ),
    decoders(
        "ete-visible-elements-first",
        "A Cancel takes the elements that were seen, youngest first, then those from before the start.",
    ),
    decoders(
        "ete-cancel-keeps-older-addresses",
        "A Cancel takes back what stands after the oldest P0 it removes; a context and address before that stay in effect.",
    ),
    encoders(
        "ete-cancel-back-to-trace-info",
        "A Cancel of all P0 elements since a Trace Info is followed by context and address.",
    ),
    decoders("ete-cancelled-transaction-commit", "A Cancel removes a Transaction Commit like a Start."),
    decoders(
        "ete-kept-on-discard",
        "Discard and Overflow keep Event, Timestamp, Instrumentation, Trace Info and cycle counts, and drop markers.",
    ),
    decoders(
        "ete-discard-fails-a-transaction",
        "Discard and Overflow with an open transaction are reported as its failure.",
    ),
    decoders(
        "ete-context-of-a-failed-transaction",
        "Context elements within a failed transaction are reported and stay in effect.",
    ),
    decoders("ete-later-t-bit", "T of a later Trace Info neither opens nor closes a transaction."),
    decoders(
        "ete-context-over-trace-on",
        "A context stays in effect over Trace On unless a Trace Info, Discard or Overflow came after it.",
    ),
    decoders("ete-trace-on-empties-return-stack", "Trace On cancels a due pop and empties the return stack."),
    decoders(
        "ete-missing-code-empties-return-stack",
        "Where code is missing or a walk is too long, the return stack is emptied and pops wait for an address.",
    ),
    decoders(
        "ete-mispredict-after-other-elements",
        "A Mispredict of a committed atom after which another P0 element was committed changes its outcome, not the flow.",
    ),
    decoders(
        "ete-return-address-before-the-flow",
        "An exception whose return address lies before the current address has no instructions before it.",
    ),
    decoders(
        "ete-return-address-inside-an-instruction",
        "An instruction that contains the return address of an exception was not executed.",
    ),
    both(
        "ete-implementation-defined-exceptions",
        "After an IMPLEMENTATION DEFINED exception without address the flow goes on at its return address.",
    ),
    decoders(
        "ete-32-bit-addresses-keep-the-upper-half",
        "In AArch32 state, too, an address of 32 bits keeps the upper half in the address history.",
    ),
    decoders("ete-reserved-exceptions", "Reserved exception types are reported as they are, with a warning."),
    both("ete-texit-is-an-exception-return", "TEXIT is an indirect P0 instruction and an exception return."),
    decoders("ete-source-address-needs-pop", "A due pop is done before a Source Address as before an atom."),
    decoders(
        "ete-resynchronization",
        "Header 08 of ETMv4 waits for a Trace Info, and uncommitted elements are kept.",
    ),
    decoders("ete-function-return-is-p0", "A function return packet of ETMv4 is a P0 element."),
    decoders(
        "ete-return-packets-pop-nothing",
        "At a Function Return, and an Exception Return of the M profile, no due pop is done, and it stays due.",
    ),
    both("ete-markers-before-data", "Atoms of a data synchronization marker packet come before the marker."),
    decoders(
        "ete-etmv4-exception-without-address",
        "An exception of ETMv4 without address packet is a P0 element without return address.",
    ),
    decoders(
        "ete-etmv4-event-before-trace-info",
        "Events before the first Trace Info are reported for ETMv4, too.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_begin_with_the_family() {
        for (index, reading) in READINGS.iter().enumerate() {
            assert!(reading.name.starts_with("ete-") && reading.text.ends_with('.'), "{}", reading.name);
            assert!(READINGS[..index].iter().all(|other| other.name != reading.name), "{}", reading.name);
        }
    }
}
