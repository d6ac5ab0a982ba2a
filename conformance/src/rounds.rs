//! Rounds of two sides in turn, and their medians.

use std::time::Instant;

/// What a side saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Instructions or packets.
    pub(crate) units: u64,
    /// Of every program counter, so that none can be left out.
    pub(crate) sum: u64,
}

/// Seconds per round.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) reference: Vec<f64>,
    pub(crate) peer: Vec<f64>,
}

/// Runs both sides in turn; the first side alternates.
pub(crate) fn alternate(
    rounds: usize,
    reference: &mut dyn FnMut() -> Seen,
    mut peer: Option<&mut (dyn FnMut() -> Seen + '_)>,
) -> Times {
    let mut times = Times { reference: Vec::with_capacity(rounds), peer: Vec::with_capacity(rounds) };
    for round in 0..rounds {
        if round % 2 == 0 {
            times.reference.push(timed(reference));
        }
        if let Some(peer) = &mut peer {
            times.peer.push(timed(*peer));
        }
        if round % 2 == 1 {
            times.reference.push(timed(reference));
        }
    }
    times
}

fn timed(work: &mut dyn FnMut() -> Seen) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_secs_f64()
}

/// The middle one; 0 if there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl Times {
    pub(crate) fn throughput(&self, units: u64) -> f64 {
        units as f64 / median(self.reference.clone())
    }

    pub(crate) fn peer_throughput(&self, units: u64) -> Option<f64> {
        (!self.peer.is_empty()).then(|| units as f64 / median(self.peer.clone()))
    }

    /// How many times longer the peer took.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let ratios =
            self.reference.iter().zip(&self.peer).map(|(reference, peer)| peer / reference).collect();
        (!self.peer.is_empty()).then(|| median(ratios))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios() {
        assert_eq!(median(vec![3.0, 1.0, 9.0]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
        let times = Times { reference: vec![1.0, 2.0, 4.0], peer: vec![3.0, 2.0, 40.0] };
        assert_eq!(times.throughput(8), 4.0);
        assert_eq!((times.peer_throughput(6), times.ratio()), (Some(2.0), Some(3.0)));
        let alone = Times { reference: vec![1.0], peer: Vec::new() };
        assert_eq!((alone.peer_throughput(6), alone.ratio()), (None, None));
    }

    #[test]
    fn both_sides_run_equally_often() {
        let (mut ours, mut theirs) = (0, 0);
        let mut reference = || {
            ours += 1;
            Seen::default()
        };
        let mut peer = || {
            theirs += 1;
            Seen::default()
        };
        let times = alternate(5, &mut reference, Some(&mut peer));
        assert_eq!((ours, theirs, times.reference.len(), times.peer.len()), (5, 5, 5, 5));
    }
}
