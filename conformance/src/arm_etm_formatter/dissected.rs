//! What `explain` shows of a formatted stream: every byte once, and frames that are those that the formatter made.

use traceproof_decoder::arm_etm_formatter::{Decoder, dissect};
use traceproof_encoder_model::arm_etm_formatter::Encoder;
use traceproof_vectors::arm::{FRAME_BYTES, FULL_SYNC, FormatterPolicy, Framing, HALF_SYNC};
use traceproof_vectors::arm_etm_formatter::{
    ArmEtmFormatter, Event, Packet, Parameters, SourceBytes, Stimulus,
};
use traceproof_vectors::{
    Decoder as _, Dissection, Encoder as _, Fault, FaultClass, Field, Log, Place, Program,
};

use crate::generate::{Entropy, tiles};

/// Sends these bytes as those of one source among others through a formatter, and takes the frames apart.
///
/// # Errors
///
/// A source whose bytes do not come back, or a unit that says something else than the stream.
pub(crate) fn judge(bytes: &[u8], entropy: &[u8]) -> Result<(), String> {
    let entropy = &mut Entropy::new(entropy);
    for framing in [Framing::Memory, Framing::Normal, Framing::Continuous] {
        let parameters = Parameters { framing };
        let sent = send(bytes, framing, entropy)?;
        let wire = &sent.wire;
        units(wire, &parameters)?;
        received(wire, bytes, &parameters)?;
        // Cut off, entered in the middle, and without any synchronisation.
        let cut = entropy.below(wire.len());
        units(&wire[..cut], &parameters)?;
        units(&wire[cut..], &parameters)?;
        units(&bytes[..cut.min(bytes.len())], &parameters)?;
    }
    Ok(())
}

const SOURCE: u8 = 0x10;

fn send(bytes: &[u8], framing: Framing, entropy: &mut Entropy<'_>) -> Result<Log<ArmEtmFormatter>, String> {
    let policy = FormatterPolicy {
        framing,
        full_sync_frames: entropy.pick(&[128, 1, 3]),
        half_sync_pairs: entropy.pick(&[0, 1, 3, 8]),
        id_repeat_frames: entropy.pick(&[7, 0, 1]),
        id_repeat_pairs: entropy.pick(&[0, 2, 5]),
        repeat_delayed: entropy.chance(128),
    };
    let (mut encoder, mut sent) = (Encoder::default(), Log::default());
    encoder.begin(&Parameters { framing }, &policy).map_err(|refusal| refusal.to_string())?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(1 + entropy.below(40)));
        rest = later;
        encoder.step(&Stimulus::Data { id: SOURCE, bytes: SourceBytes(now.to_vec()) }, &mut sent);
        match entropy.below(5) {
            0 => encoder.step(&Stimulus::Flush, &mut sent),
            1 => encoder.step(&Stimulus::Data { id: 0x21, bytes: SourceBytes(vec![0xff; 3]) }, &mut sent),
            2 => encoder.step(&Stimulus::Idle(3), &mut sent),
            _ => {}
        }
    }
    encoder.step(&Stimulus::Flush, &mut sent);
    encoder.finish(&mut sent);
    Ok(sent)
}

/// The reference deformatter gives the source its bytes.
fn received(wire: &[u8], bytes: &[u8], parameters: &Parameters) -> Result<(), String> {
    let (mut decoder, mut log) = (Decoder::default(), Log::<ArmEtmFormatter>::default());
    decoder.begin(parameters, &Program::new()).map_err(|refusal| refusal.to_string())?;
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    let of_source = |event: &Event| match event {
        Event::Data { id: SOURCE, bytes } => bytes.0.clone(),
        _ => Vec::new(),
    };
    let got: Vec<u8> = log.events().flat_map(of_source).collect();
    if got == bytes { Ok(()) } else { Err(format!("{got:02x?} instead of {bytes:02x?} come of {wire:02x?}")) }
}

/// Judges the units of a stream, whatever it is.
fn units(wire: &[u8], parameters: &Parameters) -> Result<(), String> {
    let units = dissect(wire, parameters, &Program::new());
    let mut expected = Expected { wire, is_port: parameters.framing != Framing::Memory, at: 0, frames: 0 };
    for unit in &units {
        let right = expected.next().is_some_and(|unit_there| *unit == unit_there);
        if !right {
            return Err(format!("{unit:x?} of {wire:02x?}"));
        }
        if !unit.fields.is_empty() {
            tiles(unit, wire)?;
        }
    }
    if expected.next().is_none() { Ok(()) } else { Err(format!("{} units of {wire:02x?}", units.len())) }
}

/// The units of a stream, one after the other. Spec: ARM-FMT-002, ARM-FMT-003, ARM-FMT-008.
struct Expected<'a> {
    wire: &'a [u8],
    is_port: bool,
    at: usize,
    frames: u64,
}

impl Iterator for Expected<'_> {
    type Item = Dissection<ArmEtmFormatter>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = Place { packet: self.frames, byte: self.at as u64, bit: 0 };
        let rest = self.wire.get(self.at..).filter(|rest| !rest.is_empty())?;
        let mut fields = Vec::new();
        let (length, packet) = if self.is_port && rest.starts_with(&FULL_SYNC) {
            fields.extend((place.byte..).zip(FULL_SYNC).map(|(at, byte)| whole("synchronisation", at, byte)));
            (4, Some(Ok(Packet::FullSync)))
        } else if self.is_port && self.at == 0 {
            // What comes before the first synchronisation cannot be read.
            let first = (0..rest.len()).find(|&at| rest[at..].starts_with(&FULL_SYNC));
            (first.unwrap_or(rest.len()), None)
        } else {
            let (length, frame) = self.frame(rest, &mut fields);
            let packet = match frame.len() {
                0 => None,
                FRAME_BYTES => Some(Ok(Packet::Frame(SourceBytes(frame)))),
                _ => Some(Err(Fault::new(FaultClass::Truncated, place))),
            };
            self.frames += u64::from(packet.is_some());
            (length, packet)
        };
        self.at += length;
        Some(Dissection { place, bytes: place.byte..self.at as u64, fields, packet })
    }
}

impl Expected<'_> {
    /// Bytes up to the end of a frame, and those of them that are its own.
    fn frame(&self, rest: &[u8], fields: &mut Vec<Field>) -> (usize, Vec<u8>) {
        let (mut frame, mut length) = (Vec::new(), 0);
        while length < rest.len() && frame.len() < FRAME_BYTES {
            let (at, here) = ((self.at + length) as u64, &rest[length..]);
            let between_pairs = self.is_port && frame.len() % 2 == 0;
            if between_pairs && here.starts_with(&FULL_SYNC) {
                break;
            }
            if between_pairs && here.starts_with(&HALF_SYNC) {
                fields.extend((at..).zip(HALF_SYNC).map(|(at, byte)| whole("synchronisation", at, byte)));
                length += 2;
                continue;
            }
            match frame.len() {
                15 => fields.push(whole("auxiliary", at, here[0])),
                odd if odd % 2 == 1 => fields.push(whole("data", at, here[0])),
                _ => {
                    let flag = u64::from(here[0] & 1);
                    let name = ["data[7:1]", "ID"][usize::from(here[0] & 1)];
                    fields.push(Field { name: "F", bit: 8 * at, width: 1, received: 1, value: flag });
                    let value = u64::from(here[0] >> 1);
                    fields.push(Field { name, bit: 8 * at + 1, width: 7, received: 7, value });
                }
            }
            frame.push(here[0]);
            length += 1;
        }
        (length, frame)
    }
}

fn whole(name: &'static str, at: u64, value: u8) -> Field {
    Field { name, bit: 8 * at, width: 8, received: 8, value: value.into() }
}
