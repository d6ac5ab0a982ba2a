//! Bugs that a decoder of any family can have: in how it takes chunks, resets, ends, and reports faults.

use traceproof_vectors::{
    Capabilities, Decoder, Entry, Fault, FaultClass, Log, Place, Program, Refusal, Sink,
};

use super::decoders::results;
use super::forgetful;
use crate::family::{FamilyRules, Saboteur, Side};

/// The table.
pub(super) fn saboteurs<P: FamilyRules>() -> &'static [Saboteur<P>] {
    const {
        &[
            Saboteur {
                name: "empty-chunk-ends-the-stream",
                side: Side::Decoder(|| Box::new(EmptyChunkEnds(P::reference_decoder()))),
                bug: "An empty chunk is taken for the end of the stream.",
                source: "contract of `Decoder`: chunk borders never matter; a read of 0 bytes is the usual sign of an end",
            },
            Saboteur {
                name: "reset-keeps-half-a-packet",
                side: Side::Decoder(|| Box::new(KeepsBytes::<P>::default())),
                bug: "A reset in the middle of a packet keeps the bytes that were read of it.",
                source: "contract of `Decoder::reset`; a carry buffer beside the state that is reset",
            },
            Saboteur {
                name: "end-reported-twice",
                side: Side::Decoder(|| Box::new(EndsTwice(P::reference_decoder()))),
                bug: "What becomes known only at the end of the stream is reported twice.",
                source: "contract of `Decoder::finish`; flushing in `finish` and again in a destructor",
            },
            Saboteur {
                name: "panics-at-a-cut-stream",
                side: Side::Decoder(|| results(|_| Box::new(panic_at_cut))),
                bug: "A stream that ends inside a packet makes it panic.",
                source: "contract of `Decoder`: no input makes it panic; slices taken without a look at the length",
            },
            Saboteur {
                name: "fault-place-one-byte-late",
                side: Side::Decoder(|| {
                    results(|_| Box::new(|entry| Some(fault(entry, |fault| fault.place.byte += 1))))
                }),
                bug: "Faults are placed after the byte at fault.",
                source: "contract of `Fault`; reporting the position of the reader, which is after what it read",
            },
            Saboteur {
                name: "reset-keeps-the-first-event",
                side: Side::Decoder(|| Box::new(forgetful::KeepsFirstEvent::<P>::default())),
                bug: "The event with which the first stream began is kept over reset, and begins every later stream.",
                source: "contract of `Decoder::reset`; an initial state that is set once and not cleared",
            },
            Saboteur {
                name: "reset-keeps-what-was-seen",
                side: Side::Decoder(|| Box::new(forgetful::KeepsSeen::<P>::default())),
                bug: "An event that an earlier stream reported is not reported by a stream that does not begin like it.",
                source: "contract of `Decoder::reset`; a cache of what was reported, keyed by the head of the stream",
            },
            Saboteur {
                name: "begin-keeps-the-first-parameters",
                side: Side::Decoder(|| Box::new(forgetful::KeepsParameters::<P>::default())),
                bug: "A decoder that begins again with other parameters uses the first ones.",
                source: "contract of `Decoder::begin`; tables and widths that are derived once",
            },
            Saboteur {
                name: "begin-keeps-the-first-configuration",
                side: Side::Encoder(|| Box::new(forgetful::KeepsConfiguration::<P>::default())),
                bug: "An encoder that begins again with other parameters and another policy uses the first ones.",
                source: "contract of `Encoder::begin`; tables and widths that are derived once",
            },
            Saboteur {
                name: "reserved-is-overlong",
                side: Side::Decoder(|| results(|_| Box::new(|entry| Some(fault(entry, overlong))))),
                bug: "Reserved encodings are reported as packets that are too long.",
                source: "tables of faults; one error for whatever a header table has no row for",
            },
        ]
    }
}

/// Of decoders that report warnings.
pub(super) fn of_warnings<P: FamilyRules>() -> &'static [Saboteur<P>] {
    const {
        &[Saboteur {
            name: "warnings-are-silent",
            side: Side::Decoder(|| results(|_| Box::new(drop_warnings))),
            bug: "What is legal but suspicious is not reported.",
            source: "tables of faults, class `suspicious`; decoders that check nothing they can do without",
        }]
    }
}

fn fault<P: FamilyRules>(mut entry: Entry<P>, change: impl Fn(&mut Fault)) -> Entry<P> {
    if let Entry::Fault(fault) = &mut entry {
        change(fault);
    }
    entry
}

fn overlong(fault: &mut Fault) {
    if fault.class == FaultClass::ReservedEncoding {
        fault.class = FaultClass::Overlong;
    }
}

fn drop_warnings<P: FamilyRules>(entry: Entry<P>) -> Option<Entry<P>> {
    match entry {
        Entry::Fault(fault) if fault.class.is_warning() => None,
        entry => Some(entry),
    }
}

fn panic_at_cut<P: FamilyRules>(entry: Entry<P>) -> Option<Entry<P>> {
    match entry {
        Entry::Fault(Fault { class: FaultClass::Truncated, place, .. }) => {
            panic!("range end index {} out of range", place.byte)
        }
        entry => Some(entry),
    }
}

struct EmptyChunkEnds<P: FamilyRules>(Box<dyn Decoder<P>>);

impl<P: FamilyRules> Decoder<P> for EmptyChunkEnds<P> {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.0.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        if chunk.is_empty() {
            self.0.finish(sink);
        } else {
            self.0.push(chunk, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.0.finish(sink);
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

struct EndsTwice<P: FamilyRules>(Box<dyn Decoder<P>>);

impl<P: FamilyRules> Decoder<P> for EndsTwice<P> {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.0.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        self.0.push(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        let mut end = Log::<P>::default();
        self.0.finish(&mut end);
        for (place, entry) in end.entries.iter().chain(&end.entries) {
            match entry {
                Entry::Packet(packet) => sink.packet(*place, packet),
                Entry::Event(event) => sink.event(*place, event),
                Entry::Fault(fault) => sink.fault(fault),
            }
        }
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// Knows which bytes belong to no packet yet: those since the latest packet or fault.
struct KeepsBytes<P: FamilyRules> {
    reference: Box<dyn Decoder<P>>,
    pending: Vec<u8>,
}

impl<P: FamilyRules> Default for KeepsBytes<P> {
    fn default() -> Self {
        Self { reference: P::reference_decoder(), pending: Vec::new() }
    }
}

impl<P: FamilyRules> Decoder<P> for KeepsBytes<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.pending.clear();
        self.reference.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        for &byte in chunk {
            self.pending.push(byte);
            let mut border = Border { sink, passed: false };
            self.reference.push(&[byte], &mut border);
            if border.passed {
                self.pending.clear();
            }
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.pending.clear();
        self.reference.finish(sink);
    }

    fn reset(&mut self) {
        self.reference.reset();
        self.reference.push(&self.pending, &mut ());
        self.pending.clear();
    }
}

/// Notices that a packet or its fault was delivered.
struct Border<'a, P: FamilyRules> {
    sink: &'a mut dyn Sink<P>,
    passed: bool,
}

impl<P: FamilyRules> Sink<P> for Border<'_, P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.passed = true;
        self.sink.packet(place, packet);
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.sink.event(place, event);
    }

    fn fault(&mut self, fault: &Fault) {
        self.passed = true;
        self.sink.fault(fault);
    }
}
