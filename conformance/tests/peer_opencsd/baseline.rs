//! OpenCSD over cases, generated executions and relations of ETMv3 and PTM: every failure is in its baselines.

use traceproof_conformance::peers::opencsd;

use crate::peer_baseline;

#[test]
fn every_failure_of_the_library_is_known_and_every_known_failure_fails() {
    super::use_host();
    peer_baseline::holds(&opencsd::subject(), "opencsd", 400);
}

#[test]
fn every_failure_of_the_packet_processor_is_known_and_every_known_failure_fails() {
    super::use_host();
    peer_baseline::holds(&opencsd::packet_reader(), "opencsd-packets", 600);
}
