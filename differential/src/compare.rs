//! What two decoders report for one stream, compared in what both claim.

use traceproof_vectors::{Capabilities, Decoder, Entry, FaultClass, Layer, Log, Reading};

use crate::judge::{self, Expectation};
use crate::relations::push_all;
use crate::{Divergence, JudgedProtocol, Stream};

/// What a decoder reported for a stream, and what it claims.
#[derive(Debug)]
pub struct Decoded<P: JudgedProtocol> {
    /// The results.
    pub log: Log<P>,
    /// The claims.
    pub claims: Capabilities,
}

impl<P: JudgedProtocol> Decoded<P> {
    /// The results of a decoder for a stream; `None` if it does not claim what the stream needs, or refuses it.
    pub fn of(decoder: &mut dyn Decoder<P>, stream: &Stream<P>) -> Option<Self> {
        let claims = decoder.capabilities();
        let Stream { parameters, program, readings, wire, .. } = stream;
        let features = P::required_features(parameters, wire);
        let binds = |name: &String| {
            P::READINGS.iter().any(|reading| reading.name == *name && Reading::binds_decoders(reading))
        };
        let claimed = features.into_iter().all(|feature| claims.features.contains(feature))
            && readings.iter().filter(|name| binds(name)).all(|name| claims.readings.contains(name));
        if !claimed {
            return None;
        }
        decoder.begin(parameters, program).ok()?;
        Some(Self { log: push_all(decoder, [wire.as_slice()]), claims })
    }
}

/// Compares packets, events and faults of the layers that both deliver, in the detail that both give. Expected is what
/// `one` reported.
///
/// `None` if there is no such layer, or if only packets can be compared and one of the two cannot honour a mode that the
/// stream announces: what it reports after that is its own choice.
#[must_use]
pub fn compare<P: JudgedProtocol>(
    one: &Decoded<P>,
    other: &Decoded<P>,
) -> Option<Result<(), Box<Divergence>>> {
    let claims = common(&one.claims, &other.claims);
    let refuses =
        |decoded: &Decoded<P>| decoded.log.faults().any(|fault| fault.class == FaultClass::UnsupportedMode);
    let has_events = claims.layers.contains(&Layer::Events);
    if claims.layers.is_empty() || !has_events && (refuses(one) || refuses(other)) {
        return None;
    }
    let packets: Vec<P::Packet> = one.log.packets().cloned().collect();
    let events = judge::expected(&one.log);
    let expectation = Expectation { packets: Some(&packets), events: Some(&events) };
    Some(
        judge::decoding(expectation, &other.log, &claims)
            .map_err(|divergence| aligned(one, other, divergence)),
    )
}

/// A difference of packets of which only one side has one there, by what the other side reported instead: a fault, or
/// nothing. Otherwise a packet that is left out would be a difference from the next one, whatever that is.
fn aligned<P: JudgedProtocol>(
    one: &Decoded<P>,
    other: &Decoded<P>,
    mut divergence: Box<Divergence>,
) -> Box<Divergence> {
    let packet = |decoded: &Decoded<P>| {
        let entries = decoded.log.entries.iter();
        let mut packets = entries.filter(|(_, entry)| matches!(entry, Entry::Packet(_)));
        packets.nth(divergence.index).map(|(place, _)| place.packet)
    };
    let (ours, theirs) = match (packet(one), packet(other)) {
        (ours, theirs) if divergence.what != "packets" || ours == theirs => return divergence,
        places => places,
    };
    let is_ours = theirs.is_none_or(|theirs| ours.is_some_and(|ours| ours < theirs));
    let Some(packet) = (if is_ours { ours } else { theirs }) else { return divergence };
    let without = if is_ours { other } else { one };
    let fault = without.log.faults().find(|fault| fault.place.packet == packet);
    let instead = fault.map(|fault| format!("fault {} at {}", fault.class, fault.place));
    divergence.rows.retain(|row| !row.same);
    divergence.rows.truncate(1);
    if let Some(row) = divergence.rows.first_mut() {
        *(if is_ours { &mut row.got } else { &mut row.expected }) = instead;
    }
    divergence
}

/// What both claim of results.
fn common(one: &Capabilities, other: &Capabilities) -> Capabilities {
    Capabilities::new(one.layers.intersection(&other.layers).copied())
        .with_faults(one.faults.min(other.faults))
        .with_warnings(one.warnings && other.warnings)
}
