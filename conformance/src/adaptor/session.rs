//! The decoder and the encoder of one family in an adaptor.

use std::collections::{BTreeMap, HashMap};

use traceproof_vectors::{
    Decoder, DecoderLimits, Encoder, EncoderSink, Fault, Place, Program, ProtocolId, Refusal, Sink,
};

use super::ServeError;
use super::backref::{Element, Reader};
use super::message::{Answer, Claims, Encode, EncodedItem, HexBytes, Item, Nothing, Parameters, Run, Start};
use super::repeats::Writer;
use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};

/// What an adaptor does for one family.
pub(super) trait Session {
    /// What the decoder claims; `None` without one.
    fn decoder(&self) -> Option<Claims>;
    /// What the encoder claims; `None` without one.
    fn encoder(&self) -> Option<Claims>;
    /// Whether results may have back-references.
    fn repeats(&mut self, again: bool);
    /// Keeps the parameters of a `parameters` request.
    fn parameters(&mut self, body: &[u8]) -> Result<(), ServeError>;
    /// Answers a `run`.
    fn run(&mut self, id: u32, run: &Run<'_>, image: &Program) -> Result<Vec<u8>, ServeError>;
    /// Answers an `encode`.
    fn encode(&mut self, id: u32, body: &[u8]) -> Result<Vec<u8>, ServeError>;
    /// Forgets parameters.
    fn forget(&mut self);
}

/// A session for every protocol of the subject.
pub(super) fn sessions(subject: &Subject) -> BTreeMap<ProtocolId, Box<dyn Session>> {
    struct Make<'a>(&'a Subject);
    impl Visitor for Make<'_> {
        type Output = Option<Box<dyn Session>>;
        fn visit<P: FamilyRules>(self) -> Self::Output {
            let (decoder, encoder) = (self.0.decoder::<P>(), self.0.encoder::<P>());
            let offers = decoder.is_some() || encoder.is_some();
            offers.then(|| -> Box<dyn Session> {
                Box::new(OfFamily {
                    decoder,
                    encoder,
                    parameters: HashMap::new(),
                    stimulus: Reader::default(),
                    decoded: Writer::new(false),
                    encoded: Writer::new(false),
                })
            })
        }
    }
    let session = |protocol| Some((protocol, family::visit(protocol, Make(subject))??));
    family::IMPLEMENTED.into_iter().filter_map(session).collect()
}

struct OfFamily<P: FamilyRules> {
    decoder: Option<Box<dyn Decoder<P>>>,
    encoder: Option<Box<dyn Encoder<P>>>,
    parameters: HashMap<u32, (P::Parameters, DecoderLimits)>,
    stimulus: Reader<P::Stimulus>,
    decoded: Writer<Item<P>>,
    encoded: Writer<EncodedItem<P>>,
}

impl<P: FamilyRules> Session for OfFamily<P> {
    fn decoder(&self) -> Option<Claims> {
        self.decoder.as_ref().map(|decoder| Claims::from(&decoder.capabilities()))
    }

    fn encoder(&self) -> Option<Claims> {
        self.encoder.as_ref().map(|encoder| Claims::from(&encoder.capabilities()))
    }

    fn repeats(&mut self, again: bool) {
        (self.decoded, self.encoded) = (Writer::new(again), Writer::new(again));
    }

    fn parameters(&mut self, body: &[u8]) -> Result<(), ServeError> {
        let sent: Parameters<P::Parameters> = serde_json::from_slice(body).map_err(ServeError::Json)?;
        self.parameters.insert(sent.key, (sent.parameters, sent.limits.unwrap_or(DecoderLimits::COLLECTED)));
        Ok(())
    }

    fn run(&mut self, id: u32, run: &Run<'_>, image: &Program) -> Result<Vec<u8>, ServeError> {
        let parameters = self.parameters.get(&run.parameters);
        let (parameters, limits) = parameters.ok_or(ServeError::UnknownKey(run.parameters))?;
        let Some(decoder) = &mut self.decoder else { return refused(id, Refusal::unsupported("decoding")) };
        if run.start != Start::Continue {
            self.decoded.clear();
        }
        match run.start {
            Start::Begin => {
                decoder.set_limits(limits);
                if let Err(refusal) = decoder.begin(parameters, image) {
                    return refused(id, refusal);
                }
            }
            Start::Reset => decoder.reset(),
            Start::Continue => {}
        }
        let mut results = Decoded(&mut self.decoded);
        for chunk in &run.chunks {
            Decoder::push(decoder.as_mut(), &chunk.0, &mut results);
        }
        if run.finish {
            Decoder::finish(decoder.as_mut(), &mut results);
        }
        answered(id, self.decoded.take())
    }

    fn encode(&mut self, id: u32, body: &[u8]) -> Result<Vec<u8>, ServeError> {
        let request: Encode<P::Policy, Vec<Element<P::Stimulus>>> =
            serde_json::from_slice(body).map_err(ServeError::Json)?;
        let parameters = self.parameters.get(&request.parameters);
        let (parameters, _) = parameters.ok_or(ServeError::UnknownKey(request.parameters))?;
        let Some(encoder) = &mut self.encoder else { return refused(id, Refusal::unsupported("encoding")) };
        if request.start != Start::Continue {
            self.stimulus.clear();
            self.encoded.clear();
        }
        if request.start == Start::Begin
            && let Err(refusal) = encoder.begin(parameters, &request.policy.unwrap_or_default())
        {
            return refused(id, refusal);
        }
        let mut results = Encoded(&mut self.encoded);
        for element in request.stimulus {
            let steps = match element {
                Element::New(step) => self.stimulus.learn(step),
                Element::Again { first, count } => {
                    self.stimulus.again(first, count).ok_or(ServeError::UnknownItem)?
                }
                Element::Changed(number, changes) => {
                    let known = self.stimulus.again(number, 1).and_then(<[_]>::first);
                    let mut step = known.ok_or(ServeError::UnknownItem)?.clone();
                    let rules = P::TIMING.ok_or(ServeError::UnknownItem)?;
                    let timing = (rules.get)(&step).ok_or(ServeError::UnknownItem)?;
                    (rules.set)(&mut step, changes.applied(timing));
                    encoder.step(&step, &mut results);
                    continue;
                }
                Element::At(_) => return Err(ServeError::UnknownItem),
            };
            steps.iter().for_each(|step| encoder.step(step, &mut results));
        }
        if request.finish {
            Encoder::finish(encoder.as_mut(), &mut results);
        }
        answered(id, self.encoded.take())
    }

    fn forget(&mut self) {
        self.parameters.clear();
    }
}

fn refused(id: u32, refusal: Refusal) -> Result<Vec<u8>, ServeError> {
    serde_json::to_vec(&Answer::<Nothing>::refused(id, refusal)).map_err(ServeError::Json)
}

/// An answer with results.
fn answered(id: u32, results: Result<Vec<u8>, serde_json::Error>) -> Result<Vec<u8>, ServeError> {
    let results = results.map_err(ServeError::Json)?;
    let head = format!("{{\"id\":{id},\"status\":\"ok\",\"results\":[");
    Ok([head.as_bytes(), &results, b"]}"].concat())
}

/// Results of a decoder on their way into an answer.
struct Decoded<'a, P: FamilyRules>(&'a mut Writer<Item<P>>);

impl<P: FamilyRules> Decoded<'_, P> {
    fn add(&mut self, place: Place, item: Item<P>) {
        if self.0.is_short() {
            self.0.at(place);
            self.0.item(&item.anywhere());
        } else {
            self.0.item(&item);
        }
    }
}

impl<P: FamilyRules> Sink<P> for Decoded<'_, P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.add(place, Item::packet(place, packet.clone()));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.add(place, Item::event(place, event.clone()));
    }

    fn fault(&mut self, fault: &Fault) {
        self.add(fault.place, Item::fault(fault));
    }
}

/// Results of an encoder on their way into an answer.
struct Encoded<'a, P: FamilyRules>(&'a mut Writer<EncodedItem<P>>);

impl<P: FamilyRules> EncoderSink<P> for Encoded<'_, P> {
    fn packet(&mut self, packet: &P::Packet) {
        self.0.item(&EncodedItem::Packet(packet.clone()));
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.0.item(&EncodedItem::Wire(HexBytes(bytes.to_vec().into())));
    }
}
