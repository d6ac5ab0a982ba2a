//! The decoder and the encoder of one family in an adaptor.

use std::collections::{BTreeMap, HashMap};

use traceproof_vectors::{Decoder, Encoder, EncoderSink, Family, Fault, Place, Program, Refusal, Sink};

use super::ServeError;
use super::message::{Answer, Claims, Encode, EncodedItem, HexBytes, Item, Nothing, Parameters, Run, Start};
use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};

/// What an adaptor does for one family.
pub(super) trait Session {
    /// What the decoder claims; `None` without one.
    fn decoder(&self) -> Option<Claims>;
    /// What the encoder claims; `None` without one.
    fn encoder(&self) -> Option<Claims>;
    /// Keeps the parameters of a `parameters` request.
    fn parameters(&mut self, body: &[u8]) -> Result<(), ServeError>;
    /// Answers a `run`.
    fn run(&mut self, id: u32, run: &Run<'_>, image: &Program) -> Result<Vec<u8>, ServeError>;
    /// Answers an `encode`.
    fn encode(&mut self, id: u32, body: &[u8]) -> Result<Vec<u8>, ServeError>;
    /// Forgets parameters.
    fn forget(&mut self);
}

/// A session for every family of the subject.
pub(super) fn sessions(subject: &Subject) -> BTreeMap<Family, Box<dyn Session>> {
    struct Make<'a>(&'a Subject);
    impl Visitor for Make<'_> {
        type Output = Option<Box<dyn Session>>;
        fn visit<P: FamilyRules>(self) -> Self::Output {
            let (decoder, encoder) = (self.0.decoder::<P>(), self.0.encoder::<P>());
            let offers = decoder.is_some() || encoder.is_some();
            offers.then(|| -> Box<dyn Session> {
                Box::new(OfFamily { decoder, encoder, parameters: HashMap::new() })
            })
        }
    }
    let session = |family| Some((family, family::visit(family, Make(subject))??));
    family::IMPLEMENTED.into_iter().filter_map(session).collect()
}

struct OfFamily<P: FamilyRules> {
    decoder: Option<Box<dyn Decoder<P>>>,
    encoder: Option<Box<dyn Encoder<P>>>,
    parameters: HashMap<u32, P::Parameters>,
}

impl<P: FamilyRules> Session for OfFamily<P> {
    fn decoder(&self) -> Option<Claims> {
        self.decoder.as_ref().map(|decoder| Claims::from(&decoder.capabilities()))
    }

    fn encoder(&self) -> Option<Claims> {
        self.encoder.as_ref().map(|encoder| Claims::from(&encoder.capabilities()))
    }

    fn parameters(&mut self, body: &[u8]) -> Result<(), ServeError> {
        let told: Parameters<P::Parameters> = serde_json::from_slice(body).map_err(ServeError::Json)?;
        self.parameters.insert(told.key, told.parameters);
        Ok(())
    }

    fn run(&mut self, id: u32, run: &Run<'_>, image: &Program) -> Result<Vec<u8>, ServeError> {
        let parameters = self.parameters.get(&run.parameters);
        let parameters = parameters.ok_or(ServeError::UnknownKey(run.parameters))?;
        let Some(decoder) = &mut self.decoder else { return refused(id, Refusal::unsupported("decoding")) };
        match run.start {
            Start::Begin => {
                if let Err(refusal) = decoder.begin(parameters, image) {
                    return refused(id, refusal);
                }
            }
            Start::Reset => decoder.reset(),
            Start::Continue => {}
        }
        let mut answer = Results::new(id);
        for chunk in &run.chunks {
            Decoder::push(decoder.as_mut(), &chunk.0, &mut answer);
        }
        if run.finish {
            Decoder::finish(decoder.as_mut(), &mut answer);
        }
        answer.done()
    }

    fn encode(&mut self, id: u32, body: &[u8]) -> Result<Vec<u8>, ServeError> {
        let request: Encode<P::Policy, P::Stimulus> =
            serde_json::from_slice(body).map_err(ServeError::Json)?;
        let parameters = self.parameters.get(&request.parameters);
        let parameters = parameters.ok_or(ServeError::UnknownKey(request.parameters))?;
        let Some(encoder) = &mut self.encoder else { return refused(id, Refusal::unsupported("encoding")) };
        if request.start == Start::Begin
            && let Err(refusal) = encoder.begin(parameters, &request.policy.unwrap_or_default())
        {
            return refused(id, refusal);
        }
        let mut answer = Results::new(id);
        for step in &request.stimulus {
            encoder.step(step, &mut answer);
        }
        if request.finish {
            Encoder::finish(encoder.as_mut(), &mut answer);
        }
        answer.done()
    }

    fn forget(&mut self) {
        self.parameters.clear();
    }
}

fn refused(id: u32, refusal: Refusal) -> Result<Vec<u8>, ServeError> {
    serde_json::to_vec(&Answer::<Nothing>::refused(id, refusal)).map_err(ServeError::Json)
}

/// An answer that grows with its results.
struct Results {
    text: Vec<u8>,
    empty: bool,
    failed: Option<serde_json::Error>,
}

impl Results {
    fn new(id: u32) -> Self {
        let text = format!("{{\"id\":{id},\"status\":\"ok\",\"results\":[").into_bytes();
        Self { text, empty: true, failed: None }
    }

    fn add(&mut self, item: &impl serde::Serialize) {
        if !self.empty {
            self.text.push(b',');
        }
        self.empty = false;
        if let Err(error) = serde_json::to_writer(&mut self.text, item) {
            self.failed.get_or_insert(error);
        }
    }

    fn done(mut self) -> Result<Vec<u8>, ServeError> {
        self.text.extend_from_slice(b"]}");
        self.failed.map_or(Ok(self.text), |error| Err(ServeError::Json(error)))
    }
}

impl<P: FamilyRules> Sink<P> for Results {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.add(&Item::<P>::packet(place, packet.clone()));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.add(&Item::<P>::event(place, event.clone()));
    }

    fn fault(&mut self, fault: &Fault) {
        self.add(&Item::<P>::fault(fault));
    }
}

impl<P: FamilyRules> EncoderSink<P> for Results {
    fn packet(&mut self, packet: &P::Packet) {
        self.add(&EncodedItem::<P>::Packet(packet.clone()));
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.add(&EncodedItem::<P>::Wire(HexBytes(bytes.to_vec().into())));
    }
}
