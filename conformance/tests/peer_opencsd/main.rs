//! OpenCSD as a peer. Needs the feature `peer-opencsd`.

mod baseline;
mod directed;
mod findings;
mod findings_ptm;
#[path = "../shared/peer_baseline.rs"]
mod peer_baseline;
