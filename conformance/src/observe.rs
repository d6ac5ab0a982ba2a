//! The output of a subject for one stream or one execution. If the subject panics, hangs or refuses, its output up to
//! that point is kept.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{
    Capabilities, EncoderSink, Entry, Fault, Log, Place, Program, Protocol, Reading, Sink,
};

use crate::check::{Question, check, directions, encode_case};
use crate::family::{EncodeError, FamilyRules, RecordedProgram};
use crate::isolation::{attempt, guarded};
use crate::run::Check;
use crate::verdict::Verdict;
use crate::{Agreement, Subject};

/// The output of one side of a subject.
#[derive(Clone, Debug)]
pub struct Observed<P: Protocol> {
    /// Its claims; `None` if it has no such side, or failed before it returned them.
    pub claims: Option<Capabilities>,
    /// What the decoder reported for the requested packets; the wire and packets of the encoder.
    pub log: Log<P>,
    /// Why it did not finish; `None` if it did.
    pub ended: Option<Verdict>,
}

/// A stream to decode.
#[derive(Clone, Debug)]
pub(crate) struct StreamToDecode<P: Protocol> {
    pub(crate) wire: Vec<u8>,
    pub(crate) parameters: P::Parameters,
    pub(crate) program: Program,
    /// Its packets, if each of them is valid.
    pub(crate) packets: Option<Vec<P::Packet>>,
    /// The readings on which it depends.
    pub(crate) readings: Vec<String>,
    /// Whether this is a whole stream, not the beginning of a longer one.
    pub(crate) whole: bool,
}

impl<P: FamilyRules> StreamToDecode<P> {
    /// The stream of a case.
    pub(crate) fn of_case(file: &CaseFile<P>) -> Self {
        let Question { wire, parameters, program, packets, readings } = Question::of(file);
        Self {
            wire: wire.to_vec(),
            parameters: parameters.clone(),
            program: program.clone(),
            packets: packets.map(<[P::Packet]>::to_vec),
            readings,
            whole: true,
        }
    }

    /// Decodes on this thread.
    fn decode(&self, subject: &Subject, sink: &mut Shared<P>) -> Result<(), Verdict> {
        let Some(mut decoder) = subject.decoder::<P>() else {
            return Err(Verdict::Unsupported { needs: vec![String::from("a decoder")] });
        };
        let claims = decoder.capabilities();
        sink.with(|collected| collected.claims = Some(claims.clone()));
        let Self { wire, parameters, program, packets, readings, .. } = self;
        let question = Question::<P> {
            wire,
            parameters,
            program,
            packets: packets.as_deref(),
            readings: readings.clone(),
        };
        let parameters = question
            .claimed(&claims, Reading::binds_decoders)
            .map_err(|needs| Verdict::Unsupported { needs })?;
        decoder
            .begin(&parameters, program)
            .map_err(|refusal| Verdict::Undeclared { refusal: refusal.to_string() })?;
        decoder.push(wire, sink);
        if self.whole {
            decoder.finish(sink);
        }
        Ok(())
    }
}

/// What the subject's decoder reports for these packets of a stream.
pub(crate) fn decoding<P: FamilyRules>(
    subject: &Subject,
    deadline: Duration,
    stream: StreamToDecode<P>,
    packets: &Range<u64>,
) -> Observed<P> {
    let of = subject.clone();
    observed(subject, deadline, packets, move |sink| stream.decode(&of, sink))
}

/// What the subject's decoder reports for the stream of a case.
#[must_use]
pub fn decoding_of_case<P: FamilyRules>(
    subject: &Subject,
    deadline: Duration,
    file: &CaseFile<P>,
) -> Observed<P> {
    decoding(subject, deadline, StreamToDecode::of_case(file), &EVERY_PACKET)
}

/// The output of the subject's encoder for the execution of a case.
#[must_use]
pub fn encoding_of_case<P: FamilyRules>(
    subject: &Subject,
    deadline: Duration,
    file: &CaseFile<P>,
) -> Observed<P> {
    let (of, file) = (subject.clone(), file.clone());
    observed(subject, deadline, &EVERY_PACKET, move |sink| encode_case(&of, &file, sink))
}

/// Checks the metamorphic relations on the stream of a case that the case and the subject allow.
#[must_use]
pub fn relations_of_case<P: FamilyRules>(
    subject: &Subject,
    deadline: Duration,
    file: &CaseFile<P>,
) -> Vec<Check> {
    let file = Arc::new(file.clone());
    let relations = directions(subject, &file).into_iter().filter(|direction| direction.is_relation());
    relations
        .map(|direction| {
            let (of, file) = (subject.clone(), Arc::clone(&file));
            let verdict =
                guarded(subject, deadline, move || check(&of, &file, direction, Agreement::default()));
            Check { direction, verdict }
        })
        .collect()
}

/// Time limit of a subject in this process for a whole program.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The output for a real program.
pub(crate) struct ProgramSides<P: Protocol> {
    /// The wire of the reference encoder.
    pub(crate) expected: Vec<u8>,
    /// What the subject's decoder reports for that wire, if it has a decoder.
    pub(crate) decoder: Option<Observed<P>>,
    /// The output of its encoder, if it has one.
    pub(crate) encoder: Option<Observed<P>>,
}

/// The output of the subject for a real program; the decoder's output for `packets` only.
pub(crate) fn program<P: FamilyRules>(
    subject: &Subject,
    recorded: RecordedProgram<P>,
    packets: Range<u64>,
) -> ProgramSides<P> {
    let recorded = Arc::new(recorded);
    let expected = reference_wire(&recorded, u64::MAX).unwrap_or_default();
    let decoder = subject.has_decoder::<P>().then(|| {
        let stream = StreamToDecode {
            wire: expected.clone(),
            parameters: recorded.parameters.clone(),
            program: recorded.code.clone(),
            packets: None,
            readings: readings_of(&recorded),
            whole: true,
        };
        decoding(subject, PATIENCE, stream, &packets)
    });
    let encoder = subject.has_encoder::<P>().then(|| encoding_of_program(subject, &recorded));
    ProgramSides { expected, decoder, encoder }
}

/// The packet at which a failure was found.
pub(crate) fn first_packet(verdict: &Verdict) -> Option<u64> {
    match verdict {
        Verdict::Fail(divergence) => divergence.place.map(|place| place.packet),
        _ => None,
    }
}

/// The readings on which a recording depends.
pub(crate) fn readings_of<P: FamilyRules>(recorded: &RecordedProgram<P>) -> Vec<String> {
    P::readings_of_executions(&recorded.parameters).into_iter().map(str::to_owned).collect()
}

/// The output of the subject's encoder for a recording.
pub(crate) fn encoding_of_program<P: FamilyRules>(
    subject: &Subject,
    recorded: &Arc<RecordedProgram<P>>,
) -> Observed<P> {
    let (of, recorded) = (subject.clone(), Arc::clone(recorded));
    observed(subject, PATIENCE, &EVERY_PACKET, move |sink| {
        let Some(mut encoder) = of.encoder::<P>() else {
            return Err(Verdict::Unsupported { needs: vec![String::from("an encoder")] });
        };
        sink.with(|collected| collected.claims = Some(encoder.capabilities()));
        let done = recorded.encode(encoder.as_mut(), &mut WireOnly(sink), u64::MAX);
        done.map(|_| ()).map_err(|error| match error {
            EncodeError::Refused(refusal) => Verdict::Undeclared { refusal: refusal.to_string() },
            EncodeError::Execution(message) => Verdict::Crash { message, stderr: None },
        })
    })
}

/// The wire that the reference encoder makes of a recording, up to about this many packets. The error is a sentence.
pub(crate) fn reference_wire<P: FamilyRules>(
    recorded: &RecordedProgram<P>,
    packets: u64,
) -> Result<Vec<u8>, String> {
    let mut log = Log::default();
    let mut encoder = P::reference_encoder();
    recorded.encode(encoder.as_mut(), &mut WireOnly(&mut log), packets).map_err(|error| error.to_string())?;
    Ok(log.wire)
}

/// Forwards bytes but no packets: a long execution has many.
struct WireOnly<'a, P: Protocol>(&'a mut dyn EncoderSink<P>);

impl<P: Protocol> EncoderSink<P> for WireOnly<'_, P> {
    fn packet(&mut self, _: &P::Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.0.wire(bytes);
    }
}

/// All of a stream.
pub(crate) const EVERY_PACKET: Range<u64> = 0..u64::MAX;

fn observed<P: FamilyRules>(
    subject: &Subject,
    deadline: Duration,
    packets: &Range<u64>,
    work: impl FnOnce(&mut Shared<P>) -> Result<(), Verdict> + Send + 'static,
) -> Observed<P> {
    let shared = Shared::new(packets.clone());
    let mut sink = shared.clone();
    let ended = attempt(subject, deadline, move || work(&mut sink).err()).unwrap_or_else(Some);
    // A subject that hangs still holds its clone.
    shared.with(|Collected { claims, log, .. }| Observed {
        claims: claims.take(),
        log: std::mem::take(log),
        ended,
    })
}

/// A log that survives the thread that writes it.
struct Shared<P: Protocol>(Arc<Mutex<Collected<P>>>);

impl<P: Protocol> Clone for Shared<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Collected<P: Protocol> {
    /// Only entries of these packets are kept.
    packets: Range<u64>,
    claims: Option<Capabilities>,
    log: Log<P>,
}

impl<P: Protocol> Shared<P> {
    fn new(packets: Range<u64>) -> Self {
        Self(Arc::new(Mutex::new(Collected { packets, claims: None, log: Log::default() })))
    }

    fn with<T>(&self, what: impl FnOnce(&mut Collected<P>) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, place: Place, entry: impl FnOnce() -> Entry<P>) {
        self.with(|collected| {
            if collected.packets.contains(&place.packet) {
                collected.log.entries.push((place, entry()));
            }
        });
    }
}

impl<P: Protocol> Sink<P> for Shared<P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.keep(place, || Entry::Packet(packet.clone()));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.keep(place, || Entry::Event(event.clone()));
    }

    fn fault(&mut self, fault: &Fault) {
        self.keep(fault.place, || Entry::Fault(*fault));
    }
}

impl<P: Protocol> EncoderSink<P> for Shared<P> {
    fn packet(&mut self, packet: &P::Packet) {
        self.with(|collected| EncoderSink::packet(&mut collected.log, packet));
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.with(|collected| EncoderSink::<P>::wire(&mut collected.log, bytes));
    }
}

/// A sink that keeps the entries of some packets, on this thread.
pub(crate) struct WindowLog<P: Protocol> {
    packets: Range<u64>,
    pub(crate) log: Log<P>,
    /// The latest packet with an entry.
    pub(crate) latest: u64,
}

impl<P: Protocol> WindowLog<P> {
    pub(crate) fn new(packets: Range<u64>) -> Self {
        Self { packets, log: Log::default(), latest: 0 }
    }

    fn keep(&mut self, place: Place, entry: impl FnOnce() -> Entry<P>) {
        self.latest = self.latest.max(place.packet);
        if self.packets.contains(&place.packet) {
            self.log.entries.push((place, entry()));
        }
    }
}

impl<P: Protocol> Sink<P> for WindowLog<P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.keep(place, || Entry::Packet(packet.clone()));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.keep(place, || Entry::Event(event.clone()));
    }

    fn fault(&mut self, fault: &Fault) {
        self.keep(fault.place, || Entry::Fault(*fault));
    }
}
