//! The encoder models with other choices than the cases: `traceproof-test-subject choosing PROTOCOL POLICY`, a policy as
//! JSON. A key of it is used where a case leaves the default.

use std::error::Error;
use std::io::{stdin, stdout};

use serde_json::{Map, Value};
use traceproof_conformance::family::{FamilyRules, Visitor, visit};
use traceproof_conformance::{Subject, adaptor};
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, ProtocolId, Refusal};

pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let protocol: ProtocolId = arguments.next().unwrap_or_default().parse()?;
    let choices: Map<String, Value> = serde_json::from_str(&arguments.next().unwrap_or_default())?;
    visit(protocol, Serve(choices)).ok_or("no such protocol")?
}

struct Serve(Map<String, Value>);

impl Visitor for Serve {
    type Output = Result<(), Box<dyn Error>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let subject = Subject::new("choosing", "1").with_encoder::<P>(move || {
            Box::new(Choosing::<P> { model: P::reference_encoder(), choices: self.0.clone() })
        });
        Ok(adaptor::serve(&subject, &mut stdin().lock(), &mut stdout().lock())?)
    }
}

struct Choosing<P: FamilyRules> {
    model: Box<dyn Encoder<P>>,
    choices: Map<String, Value>,
}

impl<P: FamilyRules> Encoder<P> for Choosing<P> {
    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        let refused = |error: serde_json::Error| Refusal::unsupported(error.to_string());
        let default = serde_json::to_value(P::Policy::default()).map_err(refused)?;
        let mut chosen = serde_json::to_value(policy).map_err(refused)?;
        for (key, value) in &self.choices {
            if chosen[key] == default[key] {
                chosen[key] = value.clone();
            }
        }
        self.model.begin(parameters, &serde_json::from_value(chosen).map_err(refused)?)
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        self.model.step(stimulus, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.model.finish(sink);
    }
}
