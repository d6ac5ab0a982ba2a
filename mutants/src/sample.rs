//! A random sample in which every file and every operator has its share.

use std::collections::BTreeMap;

use crate::mutant::{Mutant, Operator};

/// `count` of the candidates, which are numbers of mutants; the same ones for the same seed.
///
/// The candidates are arranged by file and operator, in random order within these; then every k-th one is taken.
pub(crate) fn sample(mutants: &[Mutant], candidates: &[usize], count: usize, seed: u64) -> Vec<usize> {
    if count >= candidates.len() {
        return candidates.to_vec();
    }
    let mut random = SplitMix(seed);
    let mut strata: BTreeMap<(&str, Operator), Vec<(u64, usize)>> = BTreeMap::new();
    for &candidate in candidates {
        if let Some(mutant) = mutants.get(candidate) {
            strata.entry((&mutant.file, mutant.operator)).or_default().push((random.next(), candidate));
        }
    }
    let arranged: Vec<usize> = strata
        .into_values()
        .flat_map(|mut stratum| {
            stratum.sort_unstable();
            stratum.into_iter().map(|(_, candidate)| candidate)
        })
        .collect();
    let start = (random.next() >> 32) as usize % arranged.len();
    let mut taken: Vec<usize> = (0..count)
        .filter_map(|index| arranged.get((start + index * arranged.len() / count) % arranged.len()).copied())
        .collect();
    taken.sort_unstable();
    taken
}

/// SplitMix64.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn mutants(strata: &[(&str, Operator, usize)]) -> Vec<Mutant> {
        let one = |file: &str, operator| Mutant {
            id: String::new(),
            file: file.to_owned(),
            line: 1,
            column: 1,
            function: String::new(),
            operator,
            text: String::new(),
            change: String::new(),
            occurrence: 0,
        };
        strata.iter().flat_map(|(file, operator, count)| vec![one(file, *operator); *count]).collect()
    }

    #[test]
    fn strata_have_their_share() {
        let all =
            mutants(&[("a", Operator::Body, 10), ("a", Operator::Binary, 60), ("b", Operator::Unary, 30)]);
        let candidates: Vec<usize> = (0..all.len()).collect();
        for seed in 0..50 {
            let taken = sample(&all, &candidates, 20, seed);
            assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 20, "each at most once");
            let share = |range: std::ops::Range<usize>| taken.iter().filter(|it| range.contains(it)).count();
            assert_eq!((share(0..10), share(10..70), share(70..100)), (2, 12, 6));
        }
    }

    #[test]
    fn a_seed_gives_one_sample_and_every_mutant_can_be_in_one() {
        let all = mutants(&[("a", Operator::Body, 7), ("b", Operator::Binary, 6)]);
        let candidates: Vec<usize> = (0..all.len()).collect();
        assert_eq!(sample(&all, &candidates, 3, 8), sample(&all, &candidates, 3, 8));
        let seen: BTreeSet<usize> = (0..200).flat_map(|seed| sample(&all, &candidates, 3, seed)).collect();
        assert_eq!(seen.len(), 13);
        assert_eq!(sample(&all, &candidates, 40, 8), candidates);
    }

    #[test]
    fn the_generator_is_splitmix64() {
        // The published sequence of seed 1234567.
        let mut random = SplitMix(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
