//! The decoder under test. Add its crate to Cargo.toml and return it here; the reference decoder is in its place.

use traceproof_vectors::Decoder;
pub use traceproof_vectors::example_family::ExampleProtocol as Protocol;

/// A new decoder.
#[must_use]
pub fn decoder() -> Box<dyn Decoder<Protocol>> {
    <Protocol as traceproof_differential::JudgedProtocol>::reference_decoder()
}
