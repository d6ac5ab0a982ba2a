//! One case in one direction: drives the subject and judges what comes.

use traceproof_vectors::case::{CaseFile, Expected, Polarity};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Layer, Log, Place, Program, Reading, Refusal,
};

use crate::encoding::Expected as ExpectedEncoding;
use crate::family::FamilyRules;
use crate::judge::{self, Expectation};
use crate::line::line;
use crate::relations::{self, Attempts, Broken};
use crate::verdict::{Direction, Divergence, Verdict};
use crate::{Agreement, Subject};

/// The directions that this case and this subject allow.
pub(crate) fn directions<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Vec<Direction> {
    Direction::ALL.into_iter().filter(|direction| applies(subject, file, *direction)).collect()
}

/// Whether this case and this subject allow the direction.
pub(crate) fn applies<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>, direction: Direction) -> bool {
    let resolved = &file.resolved;
    match direction {
        Direction::Decode => {
            subject.has_decoder::<P>() && (resolved.packets.is_some() || resolved.events.is_some())
        }
        Direction::Chunks => subject.has_decoder::<P>(),
        Direction::Join | Direction::Garbage => subject.has_decoder::<P>() && says_something(file, direction),
        Direction::Encode => subject.has_encoder::<P>() && resolved.execution.is_some(),
        Direction::Write => {
            let written = file.case.canonical && resolved.packets.is_some();
            subject.is_reference() && P::PACKET_WRITER.is_some() && written
        }
        Direction::RoundTrip => false,
    }
}

/// Checks one direction; an encoder must agree as far as `required`. May panic or never return if the subject does.
pub(crate) fn check<P: FamilyRules>(
    subject: &Subject,
    file: &CaseFile<P>,
    direction: Direction,
    required: Agreement,
) -> Verdict {
    let result = match direction {
        Direction::Decode => decode(subject, file),
        Direction::Chunks => chunks(subject, file),
        Direction::Join | Direction::Garbage => late(subject, file, direction),
        Direction::Encode => encode(subject, file, required),
        Direction::Write => write(file),
        Direction::RoundTrip => {
            Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("a real program")] }))
        }
    };
    match result {
        Ok(()) => Verdict::Pass,
        Err(Failure::Verdict(verdict)) => verdict,
        Err(Failure::Divergence(mut divergence)) => {
            if matches!(direction, Direction::Decode | Direction::Chunks) {
                divergence.packet = divergence.place.and_then(|place| packet_at(file, place));
            }
            Verdict::Fail(*divergence)
        }
    }
}

enum Failure {
    Divergence(Box<Divergence>),
    Verdict(Verdict),
}

impl From<Box<Divergence>> for Failure {
    fn from(divergence: Box<Divergence>) -> Self {
        Self::Divergence(divergence)
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Divergence(divergence) => Self::Divergence(divergence),
            Broken::Refused(refusal) => refusal.into(),
            Broken::NoDecoder => {
                Self::Verdict(Verdict::Unsupported { needs: vec![String::from("a decoder")] })
            }
        }
    }
}

/// The refusal by a subject that claims the case's features.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Verdict(Verdict::Undeclared { refusal: refusal.to_string() })
    }
}

/// The parameters under which the subject is asked, which is only for what it claims. `binds` says which readings
/// matter for the side that is judged.
///
/// They are those of the case. If the subject lacks optional hardware that leaves no trace in the case, they are
/// without it.
fn claimed<P: FamilyRules>(
    file: &CaseFile<P>,
    capabilities: &Capabilities,
    binds: fn(&Reading) -> bool,
) -> Result<P::Parameters, Failure> {
    let question = Question::of(file);
    question.claimed(capabilities, binds).map_err(|needs| Failure::Verdict(Verdict::Unsupported { needs }))
}

/// A stream for a subject's decoder.
#[derive(Debug)]
pub(crate) struct Question<'a, P: FamilyRules> {
    pub(crate) wire: &'a [u8],
    pub(crate) parameters: &'a P::Parameters,
    pub(crate) program: &'a Program,
    /// All packets of the wire; `None` if a part of it may be no packet, or its packets are not stated.
    pub(crate) packets: Option<&'a [P::Packet]>,
    /// The readings on which it depends.
    pub(crate) readings: Vec<String>,
}

impl<'a, P: FamilyRules> Question<'a, P> {
    pub(crate) fn of(file: &'a CaseFile<P>) -> Self {
        Self {
            wire: &file.resolved.wire,
            parameters: &file.case.parameters,
            program: &file.resolved.program,
            packets: sound_packets(file),
            readings: file.case.readings.clone(),
        }
    }

    /// See [`claimed`]. The error is what the subject does not claim.
    pub(crate) fn claimed(
        &self,
        capabilities: &Capabilities,
        binds: fn(&Reading) -> bool,
    ) -> Result<P::Parameters, Vec<String>> {
        let missing = |parameters: &P::Parameters| {
            let mut features = P::required_features(parameters, self.wire);
            features.retain(|&feature| !capabilities.features.contains(feature));
            features
        };
        let mut parameters = self.parameters.clone();
        let mut features = missing(&parameters);
        if !features.is_empty()
            && let Some(packets) = self.packets
        {
            let without = P::without_unused(&parameters, packets);
            if missing(&without).is_empty() {
                (parameters, features) = (without, Vec::new());
            }
        }
        let readings = self
            .readings
            .iter()
            .filter(|name| P::READINGS.iter().any(|reading| reading.name == **name && binds(reading)))
            .filter(|reading| !capabilities.readings.contains(*reading))
            .map(|reading| format!("reading {reading}"));
        let needs: Vec<String> = features.into_iter().map(str::to_owned).chain(readings).collect();
        if needs.is_empty() { Ok(parameters) } else { Err(needs) }
    }
}

/// Every packet of the wire; `None` where some of it may be no packet, or its packets are not stated.
fn sound_packets<P: FamilyRules>(file: &CaseFile<P>) -> Option<&[P::Packet]> {
    let mut expected = file.resolved.events.iter().flatten();
    let sound = file.case.polarity == Polarity::Positive
        && !expected.any(|expected| matches!(expected, Expected::Fault(_)));
    file.resolved.packets.as_deref().filter(|_| sound)
}

/// A decoder that has begun the case, and what it claims.
struct Begun<P: FamilyRules> {
    decoder: Box<dyn Decoder<P>>,
    capabilities: Capabilities,
    parameters: P::Parameters,
}

fn begun<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<Begun<P>, Failure> {
    let Some(mut decoder) = subject.decoder::<P>() else {
        return Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("a decoder")] }));
    };
    let capabilities = decoder.capabilities();
    let parameters = claimed(file, &capabilities, Reading::binds_decoders)?;
    decoder.begin(&parameters, &file.resolved.program)?;
    Ok(Begun { decoder, capabilities, parameters })
}

fn decode<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<(), Failure> {
    let Begun { mut decoder, capabilities, .. } = begun(subject, file)?;
    let log = relations::push_all(decoder.as_mut(), [file.resolved.wire.as_slice()]);
    let expected =
        Expectation { packets: file.resolved.packets.as_deref(), events: file.resolved.events.as_deref() };
    Ok(judge::decoding(expected, &log, &capabilities)?)
}

fn chunks<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<(), Failure> {
    // Only what the subject claims.
    let Begun { capabilities, parameters, .. } = begun(subject, file)?;
    if !capabilities.incremental {
        let needs = vec![String::from("streams in pieces")];
        return Err(Failure::Verdict(Verdict::Unsupported { needs }));
    }
    let (program, wire) = (&file.resolved.program, &file.resolved.wire);
    let stream = relations::Stream::<P> { subject, parameters: &parameters, program, wire };
    let earlier = file.earlier.as_deref();
    // Its results are not judged, so no reading matters.
    let claimed = earlier.and_then(|file| Some((file, claimed(file, &capabilities, |_| false).ok()?)));
    let earlier = claimed.as_ref().map(|(file, parameters)| relations::Earlier::<P> {
        name: &file.case.id,
        parameters,
        program: &file.resolved.program,
        wire: &file.resolved.wire,
    });
    Ok(stream.repeats(earlier.as_ref())?)
}

/// Maximum number of sync points of a case tried.
const MOST_POINTS: usize = 4;

/// Whether the reference finds a sync point in the case with results to compare after it. A relation that fails for the
/// reference counts as well.
fn says_something<P: FamilyRules>(file: &CaseFile<P>, direction: Direction) -> bool {
    match tried(&Subject::reference_decoder_of::<P>(), file, &file.case.parameters, direction) {
        Ok(tried) => tried.compared > 0,
        Err(Broken::Divergence(_)) => true,
        Err(Broken::Refused(_) | Broken::NoDecoder) => false,
    }
}

fn late<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>, direction: Direction) -> Result<(), Failure> {
    // Only what the subject claims.
    let Begun { parameters, .. } = begun(subject, file)?;
    if tried(subject, file, &parameters, direction)?.compared == 0 {
        let needs = vec![String::from("results after a sync point")];
        return Err(Failure::Verdict(Verdict::Unsupported { needs }));
    }
    Ok(())
}

fn tried<P: FamilyRules>(
    subject: &Subject,
    file: &CaseFile<P>,
    parameters: &P::Parameters,
    direction: Direction,
) -> Result<Attempts, Broken> {
    let program = &file.resolved.program;
    let stream = relations::Stream::<P> { subject, parameters, program, wire: &file.resolved.wire };
    match direction {
        Direction::Join => stream.joins(MOST_POINTS),
        _ => stream.recovers(MOST_POINTS),
    }
}

fn encode<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>, required: Agreement) -> Result<(), Failure> {
    let Some(mut encoder) = subject.encoder::<P>() else {
        return Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("an encoder")] }));
    };
    let mut log = Log::default();
    let EncoderSide { capabilities, parameters } = encoded(encoder.as_mut(), file, &mut log)?;
    let packets = capabilities.layers.contains(&Layer::Packets);
    let weaker = ExpectedEncoding { file, parameters: &parameters, packets }.judge(&log, required)?;
    encoded_again(subject, file, &parameters, &log)?;
    weaker.map_or(Ok(()), |(agreement, difference)| Err(Failure::Verdict(agreement.verdict(*difference))))
}

/// One that has encoded another execution, with other parameters, must send the same.
fn encoded_again<P: FamilyRules>(
    subject: &Subject,
    file: &CaseFile<P>,
    parameters: &P::Parameters,
    log: &Log<P>,
) -> Result<(), Failure> {
    let (Some(earlier), Some(mut encoder)) = (file.earlier.as_deref(), subject.encoder::<P>()) else {
        return Ok(());
    };
    if encoded(encoder.as_mut(), earlier, &mut ()).is_err() {
        return Ok(());
    }
    let mut again = Log::default();
    let EncoderSide { capabilities, .. } = encoded(encoder.as_mut(), file, &mut again)?;
    let packets: Vec<P::Packet> = log.packets().cloned().collect();
    let packets = capabilities.layers.contains(&Layer::Packets).then_some(packets.as_slice());
    judge::encoding(packets, &log.wire, parameters, &file.case.policy, &again).map_err(|mut divergence| {
        divergence.what = format!("{} after {} and another begin", divergence.what, earlier.case.id);
        divergence.into()
    })
}

/// Claims and parameters of an encoder that has run.
struct EncoderSide<P: FamilyRules> {
    capabilities: Capabilities,
    parameters: P::Parameters,
}

fn encoded<P: FamilyRules>(
    encoder: &mut dyn Encoder<P>,
    file: &CaseFile<P>,
    sink: &mut dyn EncoderSink<P>,
) -> Result<EncoderSide<P>, Failure> {
    let Some(execution) = &file.resolved.execution else {
        return Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("an execution")] }));
    };
    let capabilities = encoder.capabilities();
    let parameters = claimed(file, &capabilities, Reading::binds_encoders)?;
    if let Err(refusal) = encoder.begin(&parameters, &file.case.policy) {
        return Err(match refusal {
            // It takes these parameters, but has not this choice; there are no claims about choices.
            Refusal::Unsupported { feature } if encoder.begin(&parameters, &P::Policy::default()).is_ok() => {
                Failure::Verdict(Verdict::Unsupported { needs: vec![feature] })
            }
            refusal => refusal.into(),
        });
    }
    let policy = &file.case.policy;
    let driven = P::drive(execution, &file.resolved.program, &parameters, policy, &mut |stimulus| {
        encoder.step(stimulus, sink);
    });
    if let Err(message) = driven {
        // Not the subject's error, but such a case cannot judge it.
        return Err(Failure::Divergence(Box::new(Divergence::sentence("the stimulus of the case", message))));
    }
    encoder.finish(sink);
    Ok(EncoderSide { capabilities, parameters })
}

/// Sends the output of the subject's encoder for a case to the sink. May panic or never return if the subject does.
///
/// # Errors
///
/// The verdict, when the encoder does not run.
pub(crate) fn encode_case<P: FamilyRules>(
    subject: &Subject,
    file: &CaseFile<P>,
    sink: &mut dyn EncoderSink<P>,
) -> Result<(), Verdict> {
    let Some(mut encoder) = subject.encoder::<P>() else {
        return Err(Verdict::Unsupported { needs: vec![String::from("an encoder")] });
    };
    match encoded(encoder.as_mut(), file, sink) {
        Ok(_) => Ok(()),
        Err(Failure::Verdict(verdict)) => Err(verdict),
        Err(Failure::Divergence(divergence)) => Err(Verdict::Fail(*divergence)),
    }
}

fn write<P: FamilyRules>(file: &CaseFile<P>) -> Result<(), Failure> {
    let Some(write_packets) = P::PACKET_WRITER else { return Ok(()) };
    let packets = file.resolved.packets.as_deref().unwrap_or_default();
    let parameters = &file.case.parameters;
    let wire = write_packets(packets, parameters, &file.case.policy)
        .map_err(|message| Box::new(Divergence::sentence("the packets of the case", message)))?;
    Ok(judge::bytes::<P>("wire", &file.resolved.wire, &wire, parameters)?)
}

/// The packet at a place, read by the reference: its bytes and its line.
fn packet_at<P: FamilyRules>(file: &CaseFile<P>, place: Place) -> Option<String> {
    let wire = &file.resolved.wire;
    let unit = P::dissect(wire, &file.case.parameters, &file.resolved.program)
        .into_iter()
        .find(|unit| unit.packet.is_some() && unit.place.packet == place.packet)?;
    let start = usize::try_from(unit.bytes.start).ok()?;
    let end = usize::try_from(unit.bytes.end).ok()?;
    let meaning = match unit.packet? {
        Ok(packet) => line(&packet),
        Err(fault) => format!("{} at byte {}.{}", fault.class, fault.place.byte, fault.place.bit),
    };
    Some(format!("{}   {meaning}", show_bytes(wire.get(start..end)?)))
}
