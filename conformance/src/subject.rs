//! What is judged: a decoder and an encoder per family, ours or anybody's.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

use traceproof_vectors::{Decoder, DecoderLimits, Encoder, Protocol};

use crate::process::pool::Pool;
use crate::run::SubjectName;
use crate::visible;

/// Something under judgement: a name, a version, and how to make its decoders and encoders.
///
/// ```
/// use traceproof_conformance::Subject;
/// use traceproof_vectors::riscv_etrace::RiscvEtrace;
///
/// let subject = Subject::new("acme", "2.3.1")
///     .with_decoder::<RiscvEtrace>(|| Box::new(traceproof_decoder::riscv_etrace::Decoder::default()));
/// assert!(subject.decoder::<RiscvEtrace>().is_some());
/// assert!(subject.encoder::<RiscvEtrace>().is_none());
/// ```
///
/// Every case gets a new decoder or encoder, on a separate thread.
#[derive(Clone)]
pub struct Subject {
    name: String,
    version: String,
    // The values are `DecoderFactory<P>` and `EncoderFactory<P>` of the `P` that is the key.
    decoders: BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>,
    encoders: BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>,
    reference: bool,
    /// Where its decoders and encoders are, if not here.
    processes: Option<Arc<Pool>>,
    /// Whether the subject enforces its deadlines itself.
    keeps_deadlines: bool,
    /// What names it on the command line, if something does.
    argument: Option<String>,
    /// Those of its decoders.
    limits: DecoderLimits,
}

struct DecoderFactory<P: Protocol>(Box<dyn Fn() -> Box<dyn Decoder<P>> + Send + Sync>);
struct EncoderFactory<P: Protocol>(Box<dyn Fn() -> Box<dyn Encoder<P>> + Send + Sync>);

impl Subject {
    /// A subject that offers nothing yet. [Hidden](visible::is_hidden) characters of its name and version are escaped.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let (name, version): (String, String) = (name.into(), version.into());
        Self {
            name: visible::line(&name).into_owned(),
            version: visible::line(&version).into_owned(),
            decoders: BTreeMap::new(),
            encoders: BTreeMap::new(),
            reference: false,
            processes: None,
            keeps_deadlines: false,
            argument: None,
            limits: DecoderLimits::COLLECTED,
        }
    }

    /// Marks this as [`Subject::reference`].
    #[must_use]
    pub(crate) const fn into_reference(mut self) -> Self {
        self.reference = true;
        self
    }

    /// Adds the decoder of one family.
    #[must_use]
    pub fn with_decoder<P: Protocol>(
        mut self,
        make: impl Fn() -> Box<dyn Decoder<P>> + Send + Sync + 'static,
    ) -> Self {
        self.decoders.insert(TypeId::of::<P>(), Arc::new(DecoderFactory::<P>(Box::new(make))));
        self
    }

    /// Adds the encoder of one family.
    #[must_use]
    pub fn with_encoder<P: Protocol>(
        mut self,
        make: impl Fn() -> Box<dyn Encoder<P>> + Send + Sync + 'static,
    ) -> Self {
        self.encoders.insert(TypeId::of::<P>(), Arc::new(EncoderFactory::<P>(Box::new(make))));
        self
    }

    /// Gives its decoders other limits. Cases are written for [`DecoderLimits::COLLECTED`], the
    /// initial ones.
    #[must_use]
    pub const fn with_limits(mut self, limits: DecoderLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits of its decoders.
    #[must_use]
    pub const fn limits(&self) -> &DecoderLimits {
        &self.limits
    }

    /// Sets its name or file for `--subject`, for commands in reports.
    #[must_use]
    pub fn named_by(mut self, argument: impl Into<String>) -> Self {
        self.argument = Some(argument.into());
        self
    }

    /// Its name and version, for reports.
    pub(crate) fn title(&self) -> SubjectName {
        let Self { name, version, argument, .. } = self.clone();
        SubjectName { name, version, argument }
    }

    /// The name, for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version, for reports.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether this is [`Subject::reference`], whose packet writer is judged too.
    #[must_use]
    pub const fn is_reference(&self) -> bool {
        self.reference
    }

    /// Sets the processes of its decoders and encoders.
    #[must_use]
    pub(crate) fn in_processes(mut self, pool: Arc<Pool>) -> Self {
        self.processes = Some(pool);
        self.keeping_deadlines()
    }

    /// Declares that its decoders and encoders return in time, because late processes are killed.
    #[must_use]
    pub(crate) const fn keeping_deadlines(mut self) -> Self {
        self.keeps_deadlines = true;
        self
    }

    /// Whether its decoders and encoders always return in time.
    pub(crate) const fn keeps_deadlines(&self) -> bool {
        self.keeps_deadlines
    }

    /// The processes in which its decoders and encoders are; `None` if they are here.
    pub(crate) const fn processes(&self) -> Option<&Arc<Pool>> {
        self.processes.as_ref()
    }

    /// Whether the subject has a decoder of the family.
    #[must_use]
    pub fn has_decoder<P: Protocol>(&self) -> bool {
        self.decoders.contains_key(&TypeId::of::<P>())
    }

    /// Whether the subject has an encoder of the family.
    #[must_use]
    pub fn has_encoder<P: Protocol>(&self) -> bool {
        self.encoders.contains_key(&TypeId::of::<P>())
    }

    /// A new decoder of the family, if the subject has one.
    #[must_use]
    pub fn decoder<P: Protocol>(&self) -> Option<Box<dyn Decoder<P>>> {
        let factory = self.decoders.get(&TypeId::of::<P>())?.downcast_ref::<DecoderFactory<P>>()?;
        let mut decoder = factory.0();
        decoder.set_limits(&self.limits);
        Some(decoder)
    }

    /// A new encoder of the family, if the subject has one.
    #[must_use]
    pub fn encoder<P: Protocol>(&self) -> Option<Box<dyn Encoder<P>>> {
        let factory = self.encoders.get(&TypeId::of::<P>())?.downcast_ref::<EncoderFactory<P>>()?;
        Some(factory.0())
    }
}
