//! One case in one direction: drives the subject and judges what comes.

use traceproof_vectors::case::CaseFile;
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Capabilities, Decoder, Layer, Log, Place, Reading, Refusal};

use crate::Subject;
use crate::family::FamilyRules;
use crate::judge::{self, Expectation};
use crate::line::line;
use crate::verdict::{Direction, Divergence, Verdict};

/// The directions that this case and this subject allow.
pub(crate) fn directions<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Vec<Direction> {
    let resolved = &file.resolved;
    let judged = resolved.packets.is_some() || resolved.events.is_some();
    Direction::ALL
        .into_iter()
        .filter(|direction| match direction {
            Direction::Decode => subject.has_decoder::<P>() && judged,
            Direction::Chunks => subject.has_decoder::<P>(),
            Direction::Encode => subject.has_encoder::<P>() && resolved.execution.is_some(),
            Direction::Write => {
                let written = file.case.canonical && resolved.packets.is_some();
                subject.is_reference() && P::WRITE_PACKETS.is_some() && written
            }
        })
        .collect()
}

/// Checks one direction. May panic or never return if the subject does.
pub(crate) fn check<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>, direction: Direction) -> Verdict {
    let result = match direction {
        Direction::Decode => decode(subject, file),
        Direction::Chunks => chunks(subject, file),
        Direction::Encode => encode(subject, file),
        Direction::Write => write(file),
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

/// What a subject that claims the case's features says when it refuses its parameters.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Verdict(Verdict::Undeclared { refusal: refusal.to_string() })
    }
}

/// A subject is only asked for what it claims. `binds` says which readings matter for the side that is judged.
fn claimed<P: FamilyRules>(
    file: &CaseFile<P>,
    capabilities: &Capabilities,
    binds: fn(&Reading) -> bool,
) -> Result<(), Failure> {
    let features = P::required_features(&file.case.parameters)
        .into_iter()
        .filter(|&feature| !capabilities.features.contains(feature))
        .map(str::to_owned);
    let readings = file
        .case
        .readings
        .iter()
        .filter(|name| P::READINGS.iter().any(|reading| reading.name == **name && binds(reading)))
        .filter(|reading| !capabilities.readings.contains(*reading))
        .map(|reading| format!("reading {reading}"));
    let needs: Vec<String> = features.chain(readings).collect();
    if needs.is_empty() { Ok(()) } else { Err(Failure::Verdict(Verdict::Unsupported { needs })) }
}

fn begun<P: FamilyRules>(
    subject: &Subject,
    file: &CaseFile<P>,
) -> Result<(Box<dyn Decoder<P>>, Capabilities), Failure> {
    let Some(mut decoder) = subject.decoder::<P>() else {
        return Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("a decoder")] }));
    };
    let capabilities = decoder.capabilities();
    claimed(file, &capabilities, Reading::binds_decoders)?;
    decoder.begin(&file.case.parameters, &file.resolved.program)?;
    Ok((decoder, capabilities))
}

fn push_all<'a, P: FamilyRules>(
    decoder: &mut dyn Decoder<P>,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Log<P> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}

fn decode<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<(), Failure> {
    let (mut decoder, capabilities) = begun(subject, file)?;
    let log = push_all(decoder.as_mut(), [file.resolved.wire.as_slice()]);
    let expected =
        Expectation { packets: file.resolved.packets.as_deref(), events: file.resolved.events.as_deref() };
    let layers: Vec<Layer> = capabilities.layers.into_iter().collect();
    Ok(judge::decoding(expected, &log, &layers, capabilities.faults)?)
}

/// Odd and empty pieces; cut nowhere in particular.
const PIECES: [usize; 7] = [3, 1, 0, 7, 2, 5, 4];

fn pieces(mut wire: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for length in PIECES.into_iter().cycle() {
        if wire.is_empty() {
            break;
        }
        let (piece, rest) = wire.split_at(length.min(wire.len()));
        pieces.push(piece);
        wire = rest;
    }
    pieces
}

fn chunks<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<(), Failure> {
    let wire = file.resolved.wire.as_slice();
    let (mut decoder, _) = begun(subject, file)?;
    let whole = push_all(decoder.as_mut(), [wire]);

    let (mut bytewise, _) = begun(subject, file)?;
    let log = push_all(bytewise.as_mut(), wire.chunks(1));
    judge::repetition("byte by byte", &whole, &log)?;
    let (mut piecewise, _) = begun(subject, file)?;
    let log = push_all(piecewise.as_mut(), pieces(wire));
    judge::repetition("in odd pieces", &whole, &log)?;

    decoder.reset();
    let log = push_all(decoder.as_mut(), [wire]);
    judge::repetition("after finish and reset", &whole, &log)?;
    decoder.reset();
    decoder.push(wire.get(..wire.len() / 2).unwrap_or_default(), &mut ());
    decoder.reset();
    let log = push_all(decoder.as_mut(), [wire]);
    judge::repetition("after a reset in mid-stream", &whole, &log)?;
    decoder.begin(&file.case.parameters, &file.resolved.program)?;
    let log = push_all(decoder.as_mut(), [wire]);
    Ok(judge::repetition("after another begin", &whole, &log)?)
}

fn encode<P: FamilyRules>(subject: &Subject, file: &CaseFile<P>) -> Result<(), Failure> {
    let (Some(mut encoder), Some(execution)) = (subject.encoder::<P>(), &file.resolved.execution) else {
        return Err(Failure::Verdict(Verdict::Unsupported { needs: vec![String::from("an encoder")] }));
    };
    let capabilities = encoder.capabilities();
    claimed(file, &capabilities, Reading::binds_encoders)?;
    let parameters = &file.case.parameters;
    encoder.begin(parameters, &file.case.policy)?;
    let mut log = Log::default();
    let driven = P::drive(execution, &file.resolved.program, parameters, &mut |stimulus| {
        encoder.step(stimulus, &mut log);
    });
    if let Err(message) = driven {
        // Not the subject's fault, but nothing can be said about it with such a case.
        return Err(Failure::Divergence(Box::new(Divergence::sentence("the stimulus of the case", message))));
    }
    encoder.finish(&mut log);
    let packets = file.resolved.packets.as_deref().filter(|_| capabilities.layers.contains(&Layer::Packets));
    Ok(judge::encoding(packets, &file.resolved.wire, parameters, &log)?)
}

fn write<P: FamilyRules>(file: &CaseFile<P>) -> Result<(), Failure> {
    let Some(write_packets) = P::WRITE_PACKETS else { return Ok(()) };
    let packets = file.resolved.packets.as_deref().unwrap_or_default();
    let parameters = &file.case.parameters;
    let wire = write_packets(packets, parameters, &file.case.policy)
        .map_err(|message| Box::new(Divergence::sentence("the packets of the case", message)))?;
    Ok(judge::bytes::<P>("wire", &file.resolved.wire, &wire, parameters)?)
}

/// The packet at a place, read by the reference: its bytes and its line.
fn packet_at<P: FamilyRules>(file: &CaseFile<P>, place: Place) -> Option<String> {
    let wire = &file.resolved.wire;
    let unit = P::dissect(wire, &file.case.parameters)
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
