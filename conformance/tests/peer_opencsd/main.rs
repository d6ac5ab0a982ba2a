//! OpenCSD as a peer. Needs the feature `peer-opencsd`.

mod baseline;
mod captures_ete;
mod captures_ptm;
mod directed;
mod findings;
mod findings_ete;
mod findings_ptm;
mod frames;
#[path = "../shared/peer_baseline.rs"]
mod peer_baseline;

/// The host process of decoders of this test.
fn use_host() {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    let command = traceproof_conformance::peers::opencsd::HostCommand { program, arguments: Vec::new() };
    traceproof_conformance::peers::opencsd::set_command(command);
}
