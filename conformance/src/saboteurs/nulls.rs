//! Subjects that know nothing. No case that shows a rule kept may pass with one of them: it would judge nothing.

use std::sync::Arc;

use traceproof_vectors::case::{CaseFile, Expected};
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Fault, FaultClass, Place, Program, Refusal, Sink,
};

use crate::Subject;
use crate::family::FamilyRules;
use crate::generate::seeded;

/// Seed of the null subject `random`.
const SEED: u64 = 0x7ace_0f00;

/// Every null subject of the family. Their results are drawn from the expectations of the cases.
#[must_use]
pub fn of<P: FamilyRules>(files: &[Arc<CaseFile<P>>]) -> Vec<Subject> {
    let words = Arc::new(Words::of(files));
    [Manner::Error, Manner::Empty, Manner::Echo, Manner::Random]
        .into_iter()
        .map(|manner| {
            let (decoder_words, encoder_words) = (Arc::clone(&words), Arc::clone(&words));
            Subject::new(manner.name(), env!("CARGO_PKG_VERSION"))
                .with_decoder::<P>(move || Box::new(Null::new(manner, Arc::clone(&decoder_words))))
                .with_encoder::<P>(move || Box::new(Null::new(manner, Arc::clone(&encoder_words))))
        })
        .collect()
}

/// How a null subject answers.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// A fault for every chunk; an encoder refuses.
    Error,
    /// Nothing.
    Empty,
    /// For every byte the same packet and the same event, those that the cases expect most.
    Echo,
    /// For every byte up to two packets or events that some case expects.
    Random,
}

impl Manner {
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Empty => "empty",
            Self::Echo => "echo",
            Self::Random => "random",
        }
    }
}

/// The possible results in a family.
struct Words<P: FamilyRules> {
    packets: Vec<P::Packet>,
    events: Vec<P::Event>,
}

impl<P: FamilyRules> Words<P> {
    /// Everything that the cases expect, in each list the most frequent first.
    fn of(files: &[Arc<CaseFile<P>>]) -> Self {
        let resolved = || files.iter().map(|file| &file.resolved);
        let packets = resolved().flat_map(|case| case.packets.iter().flatten());
        let events =
            resolved().flat_map(|case| case.events.iter().flatten()).filter_map(|entry| match entry {
                Expected::Event(event) => Some(event),
                Expected::Fault(_) => None,
            });
        Self { packets: by_frequency(packets), events: by_frequency(events) }
    }
}

/// Each once, the most frequent first.
fn by_frequency<'a, T: Clone + PartialEq + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut counted: Vec<(usize, T)> = Vec::new();
    for item in all {
        match counted.iter_mut().find(|(_, known)| known == item) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, item.clone())),
        }
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(_, item)| item).collect()
}

/// Numbers that depend only on the seed and on how many were drawn before.
struct Draws(u64);

impl Draws {
    /// A number below `bound`; 0 when `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        let raw = seeded(self.0, 4).into_iter().fold(0, |word, byte| word << 8 | usize::from(byte));
        raw.checked_rem(bound).unwrap_or(0)
    }
}

struct Null<P: FamilyRules> {
    manner: Manner,
    words: Arc<Words<P>>,
    random: Draws,
    place: Place,
}

impl<P: FamilyRules> Null<P> {
    fn new(manner: Manner, words: Arc<Words<P>>) -> Self {
        Self { manner, words, random: Draws(SEED), place: Place::default() }
    }

    fn restart(&mut self) {
        self.random = Draws(SEED);
        self.place = Place::default();
    }

    /// One of them.
    fn any<'a, T>(random: &mut Draws, all: &'a [T]) -> Option<&'a T> {
        all.get(random.below(all.len()))
    }

    fn answer(&mut self, sink: &mut dyn Sink<P>) {
        let words = &self.words;
        match self.manner {
            Manner::Error | Manner::Empty => {}
            Manner::Echo => {
                words.packets.first().into_iter().for_each(|packet| sink.packet(self.place, packet));
                words.events.first().into_iter().for_each(|event| sink.event(self.place, event));
            }
            Manner::Random => {
                for _ in 0..self.random.below(3) {
                    if self.random.below(2) == 0 {
                        let packet = Self::any(&mut self.random, &words.packets);
                        packet.into_iter().for_each(|packet| sink.packet(self.place, packet));
                    } else {
                        let event = Self::any(&mut self.random, &words.events);
                        event.into_iter().for_each(|event| sink.event(self.place, event));
                    }
                }
            }
        }
        self.place.packet += 1;
        self.place.byte += 1;
    }
}

impl<P: FamilyRules> Decoder<P> for Null<P> {
    fn capabilities(&self) -> Capabilities {
        P::reference_decoder().capabilities()
    }

    fn begin(&mut self, _: &P::Parameters, _: &Program) -> Result<(), Refusal> {
        self.restart();
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        if matches!(self.manner, Manner::Error) {
            sink.fault(&Fault::new(FaultClass::ReservedEncoding, self.place));
        }
        for _ in chunk {
            self.answer(sink);
        }
    }

    fn finish(&mut self, _: &mut dyn Sink<P>) {}

    fn reset(&mut self) {
        self.restart();
    }
}

impl<P: FamilyRules> Encoder<P> for Null<P> {
    fn capabilities(&self) -> Capabilities {
        P::reference_encoder().capabilities()
    }

    fn begin(&mut self, _: &P::Parameters, _: &P::Policy) -> Result<(), Refusal> {
        self.restart();
        match self.manner {
            Manner::Error => Err(Refusal::unsupported("anything")),
            _ => Ok(()),
        }
    }

    fn step(&mut self, _: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        let words = &self.words;
        let (packet, byte) = match self.manner {
            Manner::Error | Manner::Empty => return,
            Manner::Echo => (words.packets.first(), 0),
            Manner::Random => {
                let packet = Self::any(&mut self.random, &words.packets);
                (packet, self.random.below(256) as u8)
            }
        };
        packet.into_iter().for_each(|packet| sink.packet(packet));
        sink.wire(&[byte]);
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<P>) {}
}
