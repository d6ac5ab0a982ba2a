//! The reference decoders and encoder models as a subject.

use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};

impl Subject {
    /// The reference decoders and encoder models of every family.
    #[must_use]
    pub fn reference() -> Self {
        family::IMPLEMENTED.into_iter().fold(empty().into_reference(), |subject, protocol| {
            family::visit(protocol, Add(subject.clone())).unwrap_or(subject)
        })
    }

    /// The reference decoder of one family alone.
    pub(crate) fn reference_decoder_of<P: FamilyRules>() -> Self {
        empty().with_decoder::<P>(P::reference_decoder)
    }
}

fn empty() -> Subject {
    Subject::new("reference", env!("CARGO_PKG_VERSION"))
}

struct Add(Subject);

impl Visitor for Add {
    type Output = Subject;

    fn visit<P: FamilyRules>(self) -> Subject {
        self.0.with_decoder::<P>(P::reference_decoder).with_encoder::<P>(P::reference_encoder)
    }
}
