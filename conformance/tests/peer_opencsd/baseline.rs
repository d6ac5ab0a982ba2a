//! OpenCSD over cases, generated executions and relations of ETMv3, PTM and ETE: every failure is in its baselines.
//!
//! Elements of ETE are not compared: there the library reads memory that it has freed (`docs/findings/opencsd-ete.md`),
//! so that some checks crash in one run and pass in the next. Nor is etm-0607 (OE-72), where it reads memory before a
//! list.

use traceproof_conformance::peers::opencsd;

use crate::peer_baseline;

#[test]
fn every_failure_of_the_library_is_known_and_every_known_failure_fails() {
    super::use_host();
    peer_baseline::holds(&opencsd::subject(), "opencsd", 400, |line| {
        !line.starts_with("ete-") && !line.starts_with("etm-0607 ")
    });
}

#[test]
fn every_failure_of_the_packet_processor_is_known_and_every_known_failure_fails() {
    super::use_host();
    peer_baseline::holds(&opencsd::packet_reader(), "opencsd-packets", 600, |_| true);
}
