//! Encoder models with hooks for bugs.

use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Protocol, Refusal};

use crate::family::FamilyRules;

/// What happens in place of a step; `None` = nothing.
pub type Steps<P> = Box<dyn FnMut(<P as Protocol>::Stimulus) -> Option<<P as Protocol>::Stimulus>>;
/// Makes such a hook for a run with these parameters.
type MakeSteps<P> = fn(&<P as Protocol>::Parameters) -> Steps<P>;
/// Changes the parameters and the policy of an encoder.
type Reconfigure<P> = fn(&mut <P as Protocol>::Parameters, &mut <P as Protocol>::Policy);

/// Is built with other parameters, or with another policy, which must be legal.
#[must_use]
pub fn configuration<P: FamilyRules>(bug: fn(&mut P::Parameters, &mut P::Policy)) -> Box<dyn Encoder<P>> {
    Box::new(Twisted { configuration: Some(bug), ..Twisted::default() })
}

/// Sees something else happen.
#[must_use]
pub fn steps<P: FamilyRules>(bug: fn(&P::Parameters) -> Steps<P>) -> Box<dyn Encoder<P>> {
    Box::new(Twisted { steps: Some(bug), ..Twisted::default() })
}

/// The reference, and what is wrong with it.
struct Twisted<P: FamilyRules> {
    reference: Box<dyn Encoder<P>>,
    configuration: Option<Reconfigure<P>>,
    steps: Option<MakeSteps<P>>,
    step_hook: Steps<P>,
}

impl<P: FamilyRules> Default for Twisted<P> {
    fn default() -> Self {
        Self {
            reference: P::reference_encoder(),
            configuration: None,
            steps: None,
            step_hook: Box::new(Some),
        }
    }
}

impl<P: FamilyRules> Encoder<P> for Twisted<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        let (mut parameters, mut policy) = (parameters.clone(), policy.clone());
        if let Some(bug) = self.configuration {
            bug(&mut parameters, &mut policy);
        }
        if let Some(bug) = self.steps {
            self.step_hook = bug(&parameters);
        }
        self.reference.begin(&parameters, &policy)
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        if let Some(stimulus) = (self.step_hook)(stimulus.clone()) {
            self.reference.step(&stimulus, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.reference.finish(sink);
    }
}
