//! OpenCSD as a peer. Needs the feature `peer-opencsd`.

mod baseline;
mod directed;
mod findings;
#[path = "../shared/peer_baseline.rs"]
mod peer_baseline;
