//! Other streams from one: fields and units changed, as the reference reader finds them.

use std::ops::Range;

use traceproof_vectors::Field;

use crate::{JudgedProtocol, Stream};

/// Numbers that depend only on a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        self.next().checked_rem(bound).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    }
}

/// The most bytes that a mutation adds to a stream.
const MOST_ADDED: usize = 256;

/// One to three changes: a field gets another value, a unit grows by a byte, units disappear, are repeated, change
/// places, or come from `donor`, another stream. The wire may be malformed after that.
pub fn mutate<P: JudgedProtocol>(stream: &mut Stream<P>, donor: &[u8], random: &mut Random) {
    for _ in 0..=random.below(3) {
        let units = stream.units();
        match random.below(8) {
            0..=2 => change_field(stream, random),
            3 => grow(stream, random),
            4 => remove(&mut stream.wire, &units, random),
            5 => repeat(&mut stream.wire, &units, random),
            6 => exchange(&mut stream.wire, &units, random),
            _ => insert(stream, &units, donor, random),
        }
    }
}

/// A byte position at which a unit begins, or the end.
fn border(units: &[Range<usize>], random: &mut Random) -> usize {
    let end = units.last().map_or(0, |unit| unit.end);
    units.get(random.below(units.len() + 1)).map_or(end, |unit| unit.start)
}

/// Some units after each other.
fn some(units: &[Range<usize>], random: &mut Random) -> Range<usize> {
    let first = random.below(units.len());
    let last = (first + random.below(4)).min(units.len().saturating_sub(1));
    match (units.get(first), units.get(last)) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    }
}

fn remove(wire: &mut Vec<u8>, units: &[Range<usize>], random: &mut Random) {
    wire.drain(some(units, random));
}

fn repeat(wire: &mut Vec<u8>, units: &[Range<usize>], random: &mut Random) {
    let bytes = wire.get(some(units, random)).unwrap_or_default().to_vec();
    add(wire, border(units, random), &bytes);
}

/// Moves units to another place.
fn exchange(wire: &mut Vec<u8>, units: &[Range<usize>], random: &mut Random) {
    let from = some(units, random);
    let bytes: Vec<u8> = wire.drain(from.clone()).collect();
    let to = border(units, random);
    let to = if to >= from.end { to - bytes.len() } else { to.min(from.start) };
    add(wire, to, &bytes);
}

/// Puts units of another stream into this one.
fn insert<P: JudgedProtocol>(
    stream: &mut Stream<P>,
    units: &[Range<usize>],
    donor: &[u8],
    random: &mut Random,
) {
    let other = Stream { wire: donor.to_vec(), ..stream.clone() };
    let bytes = donor.get(some(&other.units(), random)).unwrap_or_default();
    add(&mut stream.wire, border(units, random), bytes);
}

fn add(wire: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let bytes = bytes.get(..MOST_ADDED).unwrap_or(bytes);
    let at = at.min(wire.len());
    wire.splice(at..at, bytes.iter().copied());
}

/// A field gets a value at a border of its range, a neighbour of its value, or any.
fn change_field<P: JudgedProtocol>(stream: &mut Stream<P>, random: &mut Random) {
    let mut fields: Vec<Field> = P::dissect(&stream.wire, &stream.parameters, &stream.program)
        .into_iter()
        .flat_map(|unit| unit.fields)
        .collect();
    fields.retain(|field| (1..=64).contains(&field.received));
    let Some(field) = fields.get(random.below(fields.len())) else { return };
    let top = field.received - 1;
    let value = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << top,
        3 => (1 << top) - 1,
        4 => field.value.wrapping_add(1),
        5 => field.value.wrapping_sub(1),
        6 => field.value ^ 1 << random.below(field.received as usize),
        _ => random.next(),
    };
    write(&mut stream.wire, field, value);
}

/// Writes the bits of a field that travelled, least significant bit first.
fn write(wire: &mut [u8], field: &Field, value: u64) {
    for index in 0..field.received {
        let bit = field.bit + u64::from(index);
        let byte = usize::try_from(bit / 8).ok().and_then(|byte| wire.get_mut(byte));
        if let Some(byte) = byte {
            let mask = 1 << (bit % 8);
            *byte = if value >> index & 1 == 1 { *byte | mask } else { *byte & !mask };
        }
    }
}

/// A unit gets one more byte, anything, before its last one or after it, and one more in its field `length`, if it has
/// one.
fn grow<P: JudgedProtocol>(stream: &mut Stream<P>, random: &mut Random) {
    let units = P::dissect(&stream.wire, &stream.parameters, &stream.program);
    let Some(unit) = units.get(random.below(units.len())) else { return };
    if let Some(length) = unit.fields.iter().find(|field| field.name == "length") {
        write(&mut stream.wire, length, length.value.wrapping_add(1));
    }
    let Ok(end) = usize::try_from(unit.bytes.end) else { return };
    let byte = random.next() as u8;
    add(&mut stream.wire, end.saturating_sub(random.below(2)), &[byte]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use traceproof_vectors::Program;
    use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};

    use super::*;

    fn stream(wire: &[u8]) -> Stream<RiscvEtrace> {
        Stream {
            name: String::new(),
            parameters: Parameters::default(),
            program: Program::new(),
            readings: Vec::new(),
            wire: wire.to_vec(),
        }
    }

    #[test]
    fn a_seed_gives_one_stream_and_seeds_give_many() {
        let first = stream(&[3, 0x73, 0, 0, 2, 0x02, 0x10]);
        let of = |seed| {
            let mut stream = first.clone();
            mutate(&mut stream, &[1, 0x07], &mut Random::new(seed));
            stream.wire
        };
        let all: BTreeSet<Vec<u8>> = (0..500).map(of).collect();
        assert!(all.len() > 200, "{}", all.len());
        assert!((0..500).all(|seed| of(seed) == of(seed)));
        assert!(all.iter().any(|wire| wire.len() > first.wire.len()));
        assert!(all.iter().any(|wire| wire.len() < first.wire.len()));
    }

    #[test]
    fn any_bytes_can_be_mutated() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let bytes = |random: &mut Random| (0..random.below(9)).map(|_| random.next() as u8).collect();
            let (wire, donor): (Vec<u8>, Vec<u8>) = (bytes(&mut random), bytes(&mut random));
            let mut stream = stream(&wire);
            mutate(&mut stream, &donor, &mut random);
            assert!(stream.wire.len() <= wire.len() + 3 * MOST_ADDED);
        }
    }

    #[test]
    fn a_field_is_written_where_it_travelled() {
        let mut wire = [0, 0];
        write(&mut wire, &Field { name: "f", bit: 6, width: 9, received: 4, value: 0 }, 0b1011);
        assert_eq!(wire, [0b1100_0000, 0b10]);
        write(&mut wire, &Field { name: "f", bit: 15, width: 4, received: 4, value: 0 }, 0b1111);
        assert_eq!(wire, [0b1100_0000, 0b1000_0010], "bits after the end are left out");
    }
}
