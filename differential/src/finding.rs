//! A defect that a stream shows, by a kind that stays the same while the stream shrinks.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use traceproof_vectors::{Decoder, DecoderLimits};

use crate::relations::{Broken, repeats};
use crate::{Decoded, Divergence, JudgedProtocol, Stream, compare};

/// A difference from the reference decoder, a broken relation, or a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong, without values: [`Divergence::kind`], or `crash` with file and message. Two streams with the same
    /// kind most likely show the same defect.
    pub kind: String,
    /// What is wrong on this stream, in lines for people.
    pub text: String,
}

/// What comes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examination {
    /// One of the decoders does not claim what it needs, or refuses it.
    Skipped,
    /// The decoders agree, and the relations hold.
    Same,
    /// Something is wrong.
    Found(Finding),
}

/// Compares the decoder with the reference on the stream, and with itself: in pieces, after a reset, after another
/// begin. Every use gets a new decoder from `make`. A panic of the decoder is a finding.
#[must_use]
pub fn examine<P: JudgedProtocol>(make: &dyn Fn() -> Box<dyn Decoder<P>>, stream: &Stream<P>) -> Examination {
    let limited = |mut decoder: Box<dyn Decoder<P>>| {
        decoder.set_limits(&DecoderLimits::COLLECTED);
        decoder
    };
    let Some(ours) = Decoded::of(limited(P::reference_decoder()).as_mut(), stream) else {
        return Examination::Skipped;
    };
    let theirs = match unpanicked(|| Decoded::of(limited(make()).as_mut(), stream)) {
        Ok(Some(theirs)) => theirs,
        Ok(None) => return Examination::Skipped,
        Err(crash) => return Examination::Found(crash),
    };
    match compare(&ours, &theirs) {
        None => return Examination::Skipped,
        Some(Err(divergence)) => return Examination::Found(Finding::of(&divergence)),
        Some(Ok(())) => {}
    }
    if !theirs.claims.incremental {
        return Examination::Same;
    }
    let make = || Some(limited(make()));
    match unpanicked(|| repeats(&make, &stream.parameters, &stream.program, &stream.wire, None, None)) {
        Ok(Ok(())) => Examination::Same,
        Ok(Err(Broken::Divergence(divergence))) => Examination::Found(Finding::of(&divergence)),
        Ok(Err(refused)) => {
            let (kind, text) = (String::from("refused after it was taken"), refused.to_string());
            Examination::Found(Finding { kind, text })
        }
        Err(crash) => Examination::Found(crash),
    }
}

impl Finding {
    /// The finding that a difference is.
    #[must_use]
    pub fn of(divergence: &Divergence) -> Self {
        let mut text = format!("{divergence}\n");
        for row in &divergence.rows {
            let side = |side: &Option<String>| side.clone().unwrap_or_else(|| String::from("-"));
            let sign = if row.same { ' ' } else { '!' };
            text.push_str(&format!(
                "{sign} expected {}\n{sign} got      {}\n",
                side(&row.expected),
                side(&row.got)
            ));
        }
        Self { kind: divergence.kind(), text }
    }

    /// The finding that a panic is.
    fn panicked(info: &PanicHookInfo<'_>) -> Self {
        let message = info.payload_as_str().unwrap_or("no text");
        let place = info.location().map(|place| (place.file(), place.line()));
        let (file, line) = place.unwrap_or(("an unknown file", 0));
        let stem: String = message.lines().next().unwrap_or_default().chars().take(80).collect();
        Self {
            kind: format!("crash in {file}: {}", without_numbers(&stem)),
            text: format!("panic at {file}:{line}: {message}\n"),
        }
    }
}

/// The text with `N` for every number.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('N') {
            out.push('N');
        }
    }
    out
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<Finding>> = const { RefCell::new(None) };
}

/// Does something; a panic is a finding. Replaces the panic hook once; other panics go to the one that was there, which
/// under libFuzzer ends the process.
fn unpanicked<T>(what: impl FnOnce() -> T) -> Result<T, Finding> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_CAUGHT.get() {
                CAUGHT.set(Some(Finding::panicked(info)));
            } else {
                earlier(info);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(what));
    IS_CAUGHT.set(false);
    done.map_err(|_| {
        let unknown =
            || Finding { kind: String::from("crash"), text: String::from("a panic without message\n") };
        CAUGHT.take().unwrap_or_else(unknown)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use traceproof_vectors::riscv_etrace::{Packet, Parameters, RiscvEtrace};
    use traceproof_vectors::{Capabilities, Fault, Place, Program, Refusal, Sink};

    use super::*;

    /// Support packet, start, support packet that switches full addresses on (`ioptions`, bit 2).
    pub(crate) const WIRE: [u8; 10] = [0x01, 0x1f, 0x03, 0x73, 0x00, 0x04, 0x02, 0x1f, 0x04, 0x00];

    pub(crate) fn stream(wire: &[u8]) -> Stream<RiscvEtrace> {
        Stream {
            name: String::new(),
            parameters: Parameters::default(),
            program: Program::new(),
            readings: Vec::new(),
            wire: wire.to_vec(),
        }
    }

    /// What a wrong decoder does with a start packet.
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) enum Wrong {
        Panics,
        LosesIt,
        /// After a reset, if there was one before it.
        LosesItLater,
    }

    struct Decodes {
        inner: Box<dyn Decoder<RiscvEtrace>>,
        wrong: Wrong,
        seen: bool,
        later: bool,
    }

    impl Decoder<RiscvEtrace> for Decodes {
        fn capabilities(&self) -> Capabilities {
            self.inner.capabilities()
        }
        fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
            self.inner.begin(parameters, program)
        }
        fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
            let Self { inner, wrong, seen, later } = self;
            inner.push(chunk, &mut Without { sink, wrong: *wrong, seen, later: *later });
        }
        fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
            self.inner.finish(sink);
        }
        fn reset(&mut self) {
            self.later = self.seen;
            self.inner.reset();
        }
    }

    struct Without<'a> {
        sink: &'a mut dyn Sink<RiscvEtrace>,
        wrong: Wrong,
        seen: &'a mut bool,
        later: bool,
    }

    impl Sink<RiscvEtrace> for Without<'_> {
        fn packet(&mut self, place: Place, packet: &Packet) {
            if matches!(packet, Packet::Start { .. }) {
                *self.seen = true;
                match self.wrong {
                    Wrong::Panics => panic!("entry {} is not there", place.byte),
                    Wrong::LosesIt => return,
                    Wrong::LosesItLater if self.later => return,
                    Wrong::LosesItLater => {}
                }
            }
            self.sink.packet(place, packet);
        }
        fn event(&mut self, place: Place, event: &<RiscvEtrace as traceproof_vectors::Protocol>::Event) {
            self.sink.event(place, event);
        }
        fn fault(&mut self, fault: &Fault) {
            self.sink.fault(fault);
        }
    }

    pub(crate) fn wrong(wrong: Wrong) -> Box<dyn Decoder<RiscvEtrace>> {
        Box::new(Decodes { inner: RiscvEtrace::reference_decoder(), wrong, seen: false, later: false })
    }

    fn kind(how: Wrong, wire: &[u8]) -> String {
        match examine(&|| wrong(how), &stream(wire)) {
            Examination::Found(finding) => finding.kind,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_reference_agrees_with_itself() {
        assert_eq!(examine(&RiscvEtrace::reference_decoder, &stream(&WIRE)), Examination::Same);
        let refused = Stream { readings: vec![String::from("rvet-r1")], ..stream(&WIRE) };
        assert!(matches!(examine(&RiscvEtrace::reference_decoder, &refused), Examination::Same));
    }

    #[test]
    fn kinds_name_the_defect_and_no_values() {
        // The wrong decoder still follows the flow, which has no code.
        assert_eq!(kind(Wrong::LosesIt, &WIRE), "packets: start / fault no-code");
        assert_eq!(kind(Wrong::LosesIt, &WIRE[..6]), "packets: start / fault no-code");
        assert_eq!(kind(Wrong::LosesItLater, &WIRE), "packets after finish and reset: start / support");
        let file = file!();
        assert_eq!(kind(Wrong::Panics, &WIRE), format!("crash in {file}: entry N is not there"));
        assert_eq!(kind(Wrong::Panics, &[1, 0x1f]), "Same");
    }

    #[test]
    fn a_finding_keeps_its_kind_while_it_shrinks() {
        let shows =
            |stream: &Stream<RiscvEtrace>| kind(Wrong::LosesIt, &stream.wire) == kind(Wrong::LosesIt, &WIRE);
        let shrunk = crate::shrink(stream(&WIRE), shows);
        assert_eq!(shrunk.wire, [0x03, 0x73, 0x00, 0x04]);
    }
}
