//! The latest bytes of a stream, to show those of a packet.

use std::collections::VecDeque;

use traceproof_vectors::Place;
use traceproof_vectors::notation::show_bytes;

/// How many are kept. Only an alignment packet of unusual length has more.
const KEPT: usize = 4096;

/// The latest bytes of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    kept: VecDeque<u8>,
    /// Bytes of the stream so far.
    pub(super) end: u64,
}

impl Recent {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        self.kept.drain(..self.kept.len().saturating_sub(KEPT));
        self.end += bytes.len() as u64;
    }

    /// The bytes from a place on; `...` stands for those that are not kept any more.
    pub(super) fn from(&mut self, place: Place) -> String {
        let wanted = usize::try_from(self.end.saturating_sub(place.byte)).unwrap_or(usize::MAX);
        let first = self.kept.len().saturating_sub(wanted);
        let cut = if wanted > self.kept.len() { "... " } else { "" };
        format!("{cut}{}", show_bytes(self.kept.make_contiguous().get(first..).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_bytes_are_kept() {
        let mut recent = Recent::default();
        recent.push(&[1, 2, 3]);
        let from = |recent: &mut Recent, byte| recent.from(Place { byte, ..Place::default() });
        assert_eq!(from(&mut recent, 1), "02 03");
        assert_eq!(from(&mut recent, 3), "");
        recent.push(&[0; KEPT]);
        recent.push(&[9]);
        let shown = from(&mut recent, 2);
        assert!(shown.starts_with("... 00 00") && shown.ends_with(" 00 09"));
        assert_eq!(shown.split(' ').count(), 1 + KEPT);
        assert_eq!(from(&mut recent, 3 + KEPT as u64), "09");
    }
}
