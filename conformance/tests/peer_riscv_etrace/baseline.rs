//! The crate `riscv-etrace` over cases, generated executions, relations and real programs: every failure is in its
//! baseline.

use traceproof_conformance::peers;

use crate::peer_baseline;

#[test]
fn every_failure_is_known_and_every_known_failure_fails() {
    let subject = peers::named("riscv-etrace").expect("it is in this build");
    peer_baseline::holds(&subject, "riscv-etrace", 1000, |_| true);
}

#[test]
fn every_failure_of_the_packet_reader_is_known() {
    let subject = peers::named("riscv-etrace-packets").expect("it is in this build");
    peer_baseline::holds(&subject, "riscv-etrace-packets", 1000, |_| true);
}
