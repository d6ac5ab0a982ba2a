//! The decoder of `src/lib.rs` against the reference decoder: see README.md.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use subject::{Protocol, decoder};
use traceproof_differential::fuzz::Target;

static TARGET: LazyLock<Target<Protocol>> = LazyLock::new(|| Target::new(decoder, env!("CARGO_MANIFEST_DIR")));

fuzz_target!(|input: &[u8]| {
    TARGET.run(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    TARGET.mutate(data, size, max_size, seed, fuzzer_mutate)
});
