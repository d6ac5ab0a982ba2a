//! Records in threes: the APO of BE and BD is in the two records after.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v1::{Cycle, Pipestat};

use crate::arm_etm::records::Record;

/// Bits of a status that are its code.
const CODE: u16 = 0b111;

/// A record as it was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Stream offset of its first byte.
    pub(super) offset: u64,
    /// Its pins, or the index of its byte with bits that are always 0.
    pub(super) pins: Result<Cycle, usize>,
}

impl Sample {
    pub(super) fn new(record: &Record, parameters: &Parameters) -> Self {
        let pins = Cycle::from_bytes(record.bytes(), parameters).map_err(|malformed| malformed.byte);
        Self { offset: record.offset, pins }
    }

    /// What the record says as part of an APO.
    fn part(self) -> Part {
        let Ok(pins) = self.pins else { return Part::Unreadable };
        match true_status(pins) {
            Some(status) if status.has_address() => Part::Branch,
            Some(status @ (Pipestat::Ie | Pipestat::Id | Pipestat::In | Pipestat::Wt)) => {
                Part::Bits(status.code())
            }
            _ => Part::Unreadable,
        }
    }
}

/// The status of a record, from TRACEPKT if TR replaces it; `None` if that is TR again.
///
/// Spec: ETM1-PS-010 (5.3, 5.4), ETM1-APO-007 (5.6.1).
pub(super) fn true_status(pins: Cycle) -> Option<Pipestat> {
    match pins.pipestat {
        Pipestat::Tr => {
            let replaced = Pipestat::from_code((pins.tracepkt & CODE) as u8)?;
            (replaced != Pipestat::Tr).then_some(replaced)
        }
        status => Some(status),
    }
}

/// One of the two records after BE and BD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Bits(u8),
    /// BE or BD.
    Branch,
    Unreadable,
}

/// The contents of the records after BE or BD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apo {
    /// So many address sequences are to be skipped.
    Skip(u8),
    /// 15.
    TooLarge,
    /// Another BE or BD is there.
    Abandoned,
    /// It cannot be read, or is beyond the end of the stream.
    Unknown,
}

/// APO\[3:0\] that says that it does not fit (ETM1-APO-003).
const TOO_LARGE: u8 = 15;

/// The latest records, of which the oldest is to be looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Oldest first.
    samples: [Option<Sample>; 3],
}

impl Window {
    /// Adds a record; the oldest one if there are three now, and the value of the two after it as an APO.
    #[inline]
    pub(super) fn push(&mut self, sample: Sample) -> Option<(Sample, Apo)> {
        let [_, first, second] = self.samples;
        self.samples = [first, second, Some(sample)];
        let oldest = first?;
        Some((oldest, apo(oldest, [second, Some(sample)])))
    }

    /// The oldest record that was not looked at, at the end of the stream.
    pub(super) fn drain(&mut self) -> Option<(Sample, Apo)> {
        for _ in 0..2 {
            let [_, first, second] = self.samples;
            self.samples = [first, second, None];
            if let Some(oldest) = first {
                return Some((oldest, apo(oldest, [second, None])));
            }
        }
        None
    }
}

/// Spec: ETM1-APO-001, ETM1-APO-005 (5.6.1).
#[inline]
fn apo(sample: Sample, following: [Option<Sample>; 2]) -> Apo {
    match sample.pins.ok().and_then(true_status) {
        Some(status) if status.has_address() => {}
        _ => return Apo::Unknown,
    }
    let part = |sample: Option<Sample>| sample.map_or(Part::Unreadable, Sample::part);
    let [low, high] = following.map(part);
    match (low, high) {
        (Part::Branch, _) | (_, Part::Branch) => Apo::Abandoned,
        (Part::Bits(low), Part::Bits(high)) => match high << 2 | low {
            TOO_LARGE => Apo::TooLarge,
            skip => Apo::Skip(skip),
        },
        _ => Apo::Unknown,
    }
}
