//! OpenCSD over cases, generated executions and relations of ETMv3: every failure is in its baselines.

use traceproof_conformance::peers::opencsd::{self, HostCommand};

use crate::peer_baseline;

fn host() {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    opencsd::set_command(HostCommand { program, arguments: Vec::new() });
}

#[test]
fn every_failure_of_the_library_is_known_and_every_known_failure_fails() {
    host();
    peer_baseline::holds(&opencsd::subject(), "opencsd", 400);
}

#[test]
fn every_failure_of_the_packet_processor_is_known_and_every_known_failure_fails() {
    host();
    peer_baseline::holds(&opencsd::packet_reader(), "opencsd-packets", 600);
}
