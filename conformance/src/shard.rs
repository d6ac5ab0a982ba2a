//! Parts of a suite for several machines, which stay the same when cases are added.

use std::fmt;
use std::str::FromStr;

/// One of several parts; every case belongs to exactly one, by its id alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    index: u32,
    /// How many there are.
    count: u32,
}

impl Shard {
    /// Whether the case with this id belongs to the part.
    #[must_use]
    pub fn takes(self, id: &str) -> bool {
        // FNV-1a: never changes, unlike the hashers of the standard library. Folded, because its low bits depend on the
        // last characters most.
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash ^ hash >> 32) % u64::from(self.count) == u64::from(self.index) - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = UnknownShard;

    fn from_str(text: &str) -> Result<Self, UnknownShard> {
        let (index, count) = text.split_once('/').ok_or(UnknownShard)?;
        let number = |text: &str| -> Result<u32, UnknownShard> {
            if text.bytes().all(|byte| byte.is_ascii_digit()) {
                text.parse().map_err(|_| UnknownShard)
            } else {
                Err(UnknownShard)
            }
        };
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || index > count { Err(UnknownShard) } else { Ok(Self { index, count }) }
    }
}

/// The text is no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownShard;

impl fmt::Display for UnknownShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a part of a whole, such as 2/5")
    }
}

impl std::error::Error for UnknownShard {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_part() {
        let parts: Vec<Shard> = (1..=5).map(|index| format!("{index}/5").parse().expect("a part")).collect();
        let mut sizes = [0; 5];
        for number in 0..1000 {
            let id = format!("etr-{number:04}");
            let takers: Vec<usize> = (0..5).filter(|&part| parts[part].takes(&id)).collect();
            assert_eq!(takers.len(), 1, "{id}");
            sizes[takers[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (150..=250).contains(size)), "{sizes:?}");
        let first = |id| parts.iter().position(|part| part.takes(id));
        // These must never change.
        assert_eq!([first("etr-0001"), first("etm-0044"), first("ita-0001")], [Some(2), Some(0), Some(0)]);
    }

    #[test]
    fn parts_are_read_strictly() {
        assert_eq!("2/5".parse::<Shard>().map(|shard| shard.to_string()), Ok(String::from("2/5")));
        for wrong in ["", "1", "0/5", "6/5", "1/0", "+1/5", "1/5/", "a/b"] {
            assert_eq!(wrong.parse::<Shard>(), Err(UnknownShard), "{wrong}");
        }
    }
}
