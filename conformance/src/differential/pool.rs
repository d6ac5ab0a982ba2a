//! Streams to mutate, in bounded memory.

use std::collections::BTreeSet;

use traceproof_differential::Stream;
use traceproof_differential::mutation::{Random, mutate};
use traceproof_differential::novelty::features;

use crate::family::FamilyRules;

/// Bytes of all streams that are kept, with their code.
const MOST_BYTES: usize = 32 << 20;

/// The most bytes of one that is kept: each generation may add some.
const MOST_OF_ONE: usize = MOST_BYTES / 16;

/// The most features that are distinguished. With so many known, nothing is new any more.
const MOST_FEATURES: usize = 1 << 20;

/// Streams to mutate.
pub(super) struct Pool<P: FamilyRules> {
    streams: Vec<Stream<P>>,
    /// Their bytes.
    bytes: usize,
    /// What they exercise.
    features: BTreeSet<u64>,
    random: Random,
}

impl<P: FamilyRules> Pool<P> {
    pub(super) const fn new() -> Self {
        Self { streams: Vec::new(), bytes: 0, features: BTreeSet::new(), random: Random::new(0) }
    }

    /// Keeps a stream that exercises something new, or any with `always`. Others make room for it.
    pub(super) fn add(&mut self, stream: &Stream<P>, always: bool) {
        let before = self.features.len();
        for feature in features(stream) {
            if self.features.len() < MOST_FEATURES {
                self.features.insert(feature);
            }
        }
        let size = size(stream);
        if size > MOST_OF_ONE || !(always || self.features.len() > before) {
            return;
        }
        while self.bytes + size > MOST_BYTES && !self.streams.is_empty() {
            let other = self.streams.swap_remove(self.random.below(self.streams.len()));
            self.bytes -= self::size(&other);
        }
        self.bytes += size;
        // The copy has no spare capacity.
        self.streams.push(stream.clone());
    }

    /// Another stream; `None` if there is nothing to begin with.
    pub(super) fn mutated(&mut self) -> Option<Stream<P>> {
        let donor = self.streams.get(self.random.below(self.streams.len()))?.wire.clone();
        let mut stream = self.streams.get(self.random.below(self.streams.len()))?.clone();
        mutate(&mut stream, &donor, &mut self.random);
        if !stream.name.ends_with(" mutated") {
            stream.name.push_str(" mutated");
        }
        Some(stream)
    }
}

/// The bytes of a stream in memory.
fn size<P: FamilyRules>(stream: &Stream<P>) -> usize {
    let Stream { name, program, readings, wire, .. } = stream;
    let text: usize = readings.iter().map(String::len).sum();
    let code: usize = program.sections().iter().map(|section| section.bytes.len() + section.name.len()).sum();
    size_of::<Stream<P>>() + name.len() + text + code + wire.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};
    use traceproof_vectors::{Program, Section};

    /// A stream with a name of so many bytes, which cost no time.
    fn stream(bytes: usize) -> Stream<RiscvEtrace> {
        let mut program = Program::new();
        program.insert(Section::new(0x1000, vec![1, 0], "")).expect("alone");
        let (name, readings) = ("n".repeat(bytes), Vec::new());
        Stream { name, parameters: Parameters::default(), program, readings, wire: vec![3, 0x73, 0, 0] }
    }

    #[test]
    fn the_pool_is_bounded() {
        let mut pool = Pool::new();
        pool.add(&stream(MOST_OF_ONE), true);
        assert_eq!(pool.bytes, 0, "too large");
        assert!(pool.mutated().is_none());
        for _ in 0..3 * (MOST_BYTES >> 20) {
            pool.add(&stream(1 << 20), true);
            assert!(pool.bytes <= MOST_BYTES);
        }
        assert_eq!(pool.bytes, pool.streams.iter().map(size).sum::<usize>());
        assert_eq!(size(&stream(7)) - size(&stream(0)), 7);
        assert!(pool.bytes > MOST_BYTES / 2, "{}", pool.bytes);
        let kept = pool.streams.len();
        for _ in 0..100 {
            let mutated = pool.mutated().expect("there are some");
            pool.add(&mutated, false);
        }
        assert!(pool.bytes <= MOST_BYTES && pool.streams.len() <= kept);
    }

    #[test]
    fn what_exercises_nothing_new_is_not_kept() {
        let mut pool = Pool::new();
        for _ in 0..3 {
            pool.add(&stream(16), false);
        }
        assert_eq!(pool.streams.len(), 1);
    }
}
