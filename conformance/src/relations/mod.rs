//! Metamorphic relations: properties that need no expected value. They hold for every stream, sound or damaged.
//!
//! | relation | place |
//! |---|---|
//! | Any split gives the same results; so does a second run | [`Stream::repeats`] |
//! | After another stream and a reset or `begin`, the results are those of the stream alone | [`Stream::repeats`] |
//! | Decoding from any sync point yields the suffix of the whole decode | [`Stream::joins`] |
//! | Garbage affects at most what is before the next sync point | [`Stream::recovers`] |
//!
//! The first two hold for every family. The others need to know what a sync point is: [`SyncPoints`], one file for each
//! family that has them.

use traceproof_vectors::{Decoder, FaultClass, Log, Program, Protocol};

pub use traceproof_differential::relations::{Broken, Earlier, push_all, repeats};

use crate::Subject;
use crate::family::{FamilyRules, PriorState, SyncPoints};
use crate::judge;
use crate::judge::difference::{divergence, first_difference};
use crate::line::line;
use crate::verdict::Row;

/// The number of attempts of a relation on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Sync points that were tried.
    pub points: usize,
    /// Those at which something was compared: there is a suffix, and it is not that of the same bytes.
    pub compared: usize,
}

/// A stream, and the subject that is judged by it.
#[derive(Clone, Copy)]
pub struct Stream<'a, P: FamilyRules> {
    /// Makes the decoders that are judged.
    pub subject: &'a Subject,
    /// Their parameters.
    pub parameters: &'a P::Parameters,
    /// The code.
    pub program: &'a Program,
    /// The bytes.
    pub wire: &'a [u8],
}

impl<P: FamilyRules> Stream<'_, P> {
    fn begun(&self) -> Result<Box<dyn Decoder<P>>, Broken> {
        let mut decoder = self.subject.decoder::<P>().ok_or(Broken::NoDecoder)?;
        decoder.begin(self.parameters, self.program)?;
        Ok(decoder)
    }

    /// The results of a new decoder of the subject for `wire`, which need not be that of the stream.
    ///
    /// # Errors
    ///
    /// When there is no decoder, or it refuses.
    pub fn log(&self, wire: &[u8]) -> Result<Log<P>, Broken> {
        Ok(push_all(self.begun()?.as_mut(), [wire]))
    }

    /// Any split into chunks gives the same results, and so does another run after finish, reset or begin, whatever was
    /// decoded before: the same stream, its first half, or the `earlier` one.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn repeats(&self, earlier: Option<&Earlier<'_, P>>) -> Result<(), Broken> {
        // Sync points are for cases; to find those of a long stream takes as long as to decode it.
        let rules = P::SYNC_POINTS.filter(|_| earlier.is_some());
        let points = rules.map(|rules| (rules.points)(self.wire, self.parameters, self.program));
        let last = points.unwrap_or_default().pop().filter(|&point| point > 0);
        repeats(&|| self.subject.decoder::<P>(), self.parameters, self.program, self.wire, last, earlier)
    }
}

impl<P: FamilyRules> Stream<'_, P> {
    /// Decoding from any sync point yields the suffix of the whole decode. Tries at most `most` points, spread over the
    /// stream; none, where the family has no [sync points](FamilyRules::SYNC_POINTS).
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn joins(&self, most: usize) -> Result<Attempts, Broken> {
        let mut tried = Attempts::default();
        let Some(rules) = P::SYNC_POINTS else { return Ok(tried) };
        let whole = self.log(self.wire)?;
        if reached_a_limit(&whole) {
            return Ok(tried);
        }
        for byte in spread((rules.points)(self.wire, self.parameters, self.program), most) {
            let late = self.log(self.wire.get(byte..).unwrap_or_default())?;
            if reached_a_limit(&late) {
                continue;
            }
            let what = format!("joined at byte {byte}");
            let has_results = self.compare(&rules, &what, (&whole, byte), (&late, 0), PriorState::Less)?;
            tried.points += 1;
            // At the beginning of the stream there is no late decoder.
            tried.compared += usize::from(has_results && byte > 0);
        }
        Ok(tried)
    }

    /// Garbage costs at most what is before a sync point: before the whole stream, nothing after the point; in the
    /// middle, what is before the next point or, where the garbage may take that for its own, before the one after it.
    /// Tries at most `most` points, spread over the stream; none, where the family has no
    /// [garbage](crate::family::SyncPoints::garbage).
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn recovers(&self, most: usize) -> Result<Attempts, Broken> {
        let mut tried = Attempts::default();
        let Some(rules) = P::SYNC_POINTS else { return Ok(tried) };
        let Some(kinds) = &rules.garbage else { return Ok(tried) };
        let whole = self.log(self.wire)?;
        if reached_a_limit(&whole) {
            return Ok(tried);
        }
        let points = (rules.points)(self.wire, self.parameters, self.program);
        for (index, byte) in spread(points.clone(), most).into_iter().enumerate() {
            let garbage = (kinds.bytes)(self.parameters, index);
            if garbage.is_empty() {
                continue;
            }
            let (before, suffix) = self.wire.split_at_checked(byte).unwrap_or_default();
            let late = self.log(&[&garbage, suffix].concat())?;
            if reached_a_limit(&late) {
                continue;
            }
            let what = format!("behind garbage in front of byte {byte}");
            let has_results =
                self.compare(&rules, &what, (&whole, byte), (&late, garbage.len()), PriorState::Less)?;
            tried.points += 1;
            tried.compared += usize::from(has_results);

            let mixed = self.log(&[before, &garbage, suffix].concat())?;
            if reached_a_limit(&mixed) {
                continue;
            }
            let consumed = (kinds.takes_a_point)(self.parameters);
            let from =
                points.iter().copied().find(|&point| if consumed { point > byte } else { point == byte });
            if let Some(from) = from {
                let what = format!("behind garbage at byte {byte}");
                let here = (&mixed, from + garbage.len());
                self.compare(&rules, &what, (&whole, from), here, PriorState::Garbled)?;
            }
        }
        Ok(tried)
    }

    /// Compares suffixes, each a log and the byte from which on it is compared. Returns whether there was anything to
    /// compare.
    fn compare(
        &self,
        rules: &SyncPoints<P>,
        what: &str,
        (whole, there): (&Log<P>, usize),
        (late, here): (&Log<P>, usize),
        prior: PriorState,
    ) -> Result<bool, Broken> {
        let tail = |log, from| (rules.tail)(log, from, self.parameters);
        let (mut expected, mut got) = (tail(whole, there), tail(late, here));
        if expected.contradicted || got.contradicted {
            return Ok(false);
        }
        // The split of a straight-line run into events is the decoder's choice, also after another beginning; so is
        // whether what is in force is reported again.
        for events in [&mut expected.events, &mut got.events] {
            *events = judge::events::canonical::<P>(&expected.in_force, std::mem::take(events));
        }
        let same = |index: usize| expected.packets.get(index) == got.packets.get(index);
        let rows = |index: usize| (expected.packets.get(index).map(line), got.packets.get(index).map(line));
        let length = expected.packets.len().max(got.packets.len());
        if let Some((index, rows)) = first_difference(length, same, rows) {
            return Err(Box::new(divergence(&format!("packets {what}"), index, None, rows)).into());
        }
        if let Some(wrong) = (rules.first_wrong)(&expected.events, &got.events, prior) {
            let rows = |index: usize| (expected.events.get(index).map(line), got.events.get(index).map(line));
            let length = expected.events.len().max(got.events.len());
            if let Some((index, rows)) = first_difference(length, |index| index != wrong, rows) {
                return Err(Box::new(divergence(&format!("events {what}"), index, None, rows)).into());
            }
        }
        if expected.errors != got.errors {
            let errors = |count| Some(format!("{count} errors"));
            let row = Row { same: false, expected: errors(expected.errors), got: errors(got.errors) };
            return Err(Box::new(divergence(&format!("faults {what}"), 0, None, vec![row])).into());
        }
        Ok(!expected.is_empty())
    }
}

/// Limits hold for a whole stream: a part of it, or more of it, reaches them elsewhere.
fn reached_a_limit<P: Protocol>(log: &Log<P>) -> bool {
    log.faults().any(|fault| fault.class == FaultClass::Limit)
}

/// At most `most` of them, evenly.
fn spread(points: Vec<usize>, most: usize) -> Vec<usize> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.into_iter().step_by(step).collect()
}
