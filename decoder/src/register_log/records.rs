//! Boundaries of records: byte stream -> records of 16 bytes.

use super::RECORD;

/// Cuts a byte stream into records, whatever its chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    /// Stream offset after the latest byte.
    offset: u64,
    /// The received part of an incomplete record.
    held: [u8; RECORD],
    held_length: usize,
}

impl Records {
    /// The next whole record with its stream offset, taken off the front of `rest`. `None`: more bytes are needed, and
    /// `rest` is empty.
    pub(crate) fn next(&mut self, rest: &mut &[u8]) -> Option<(u64, [u8; RECORD])> {
        if self.held_length == 0
            && let Some((record, tail)) = rest.split_first_chunk::<RECORD>()
        {
            *rest = tail;
            let offset = self.offset;
            self.offset += RECORD as u64;
            return Some((offset, *record));
        }
        let (now, later) = rest.split_at(rest.len().min(RECORD - self.held_length));
        *rest = later;
        for (to, from) in self.held.iter_mut().skip(self.held_length).zip(now) {
            *to = *from;
        }
        self.held_length += now.len();
        self.offset += now.len() as u64;
        if self.held_length < RECORD {
            return None;
        }
        self.held_length = 0;
        Some((self.offset - RECORD as u64, self.held))
    }

    /// Stream offset after the latest byte.
    pub(crate) const fn end(&self) -> u64 {
        self.offset
    }

    /// Where a record begins that has no end yet.
    pub(crate) fn cut(&self) -> Option<u64> {
        (self.held_length > 0).then(|| self.offset - self.held_length as u64)
    }
}
