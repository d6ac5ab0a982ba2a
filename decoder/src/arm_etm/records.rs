//! Byte stream -> records, one for each captured cycle.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v2::Cycle;

/// Bytes of the longest record.
const LONGEST: usize = 3;

/// The bytes of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Stream offset of its first byte.
    pub(super) offset: u64,
    bytes: [u8; LONGEST],
    size: usize,
}

impl Record {
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.size).unwrap_or_default()
    }
}

/// Cuts a byte stream into records, whatever its chunks.
#[derive(Clone, Debug)]
pub(super) struct Records {
    size: usize,
    /// Stream offset after the latest byte.
    offset: u64,
    /// The received part of an incomplete record.
    held: [u8; LONGEST],
    held_length: usize,
}

impl Records {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self { size: Cycle::size(parameters), offset: 0, held: [0; LONGEST], held_length: 0 }
    }

    /// The next whole record, taken off the front of `rest`. `None`: more bytes are needed.
    #[inline]
    pub(super) fn next(&mut self, rest: &mut &[u8]) -> Option<Record> {
        if self.held_length == 0
            && let Some((bytes, tail)) = rest.split_at_checked(self.size)
        {
            *rest = tail;
            let bytes = match *bytes {
                [pipestat, low, high] => [pipestat, low, high],
                [pipestat, low] => [pipestat, low, 0],
                _ => [0; LONGEST],
            };
            let record = Record { offset: self.offset, bytes, size: self.size };
            self.offset += self.size as u64;
            return Some(record);
        }
        self.resume(rest)
    }

    /// Goes on with a record that an earlier chunk began, or begins one that this chunk does not end.
    #[cold]
    fn resume(&mut self, rest: &mut &[u8]) -> Option<Record> {
        let (now, later) = rest.split_at(rest.len().min(self.size.saturating_sub(self.held_length)));
        *rest = later;
        self.hold(now);
        if self.held_length < self.size {
            return None;
        }
        self.held_length = 0;
        Some(Record { offset: self.offset - self.size as u64, bytes: self.held, size: self.size })
    }

    fn hold(&mut self, bytes: &[u8]) {
        for (to, from) in self.held.iter_mut().skip(self.held_length).zip(bytes) {
            *to = *from;
        }
        self.held_length += bytes.len();
        self.offset += bytes.len() as u64;
    }

    /// The stream ends here: its length, and where a record that is cut off begins.
    pub(super) fn finish(&mut self) -> (u64, Option<u64>) {
        let cut = (self.held_length > 0).then(|| self.offset - self.held_length as u64);
        self.held_length = 0;
        (self.offset, cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn chunk_borders_do_not_matter() {
        for port_width in [4, 8, 16] {
            let parameters = Parameters { port_width, ..Parameters::default() };
            let size = Cycle::size(&parameters);
            let wire: Vec<u8> = (0..11).collect();
            for chunk in 1..=wire.len() {
                let mut records = Records::new(&parameters);
                let mut found = Vec::new();
                for mut rest in wire.chunks(chunk) {
                    while let Some(record) = records.next(&mut rest) {
                        found.push((record.offset as usize, record.bytes().to_vec()));
                    }
                    assert!(rest.is_empty());
                }
                let expected: Vec<_> = wire
                    .chunks_exact(size)
                    .enumerate()
                    .map(|(i, bytes)| (i * size, bytes.to_vec()))
                    .collect();
                assert_eq!(found, expected, "{port_width} {chunk}");
                assert_eq!(records.finish(), (11, Some((11 - 11 % size) as u64)));
                assert_eq!(records.finish(), (11, None));
            }
        }
    }
}
