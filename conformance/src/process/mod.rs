//! Subjects in separate processes: start, requests, deadlines, limits, and the end of the whole process group.
//!
//! A subject here is an ordinary [`Subject`]: its decoders and encoders are proxies for a process, so everything else,
//! from the comparison to the report, is that of a subject in this process. A proxy whose process fails unwinds with a
//! [`SubjectError`], as a decoder in this process unwinds when it panics; the runner makes the verdict of both.
//!
//! A process serves one decoder or encoder at a time, so a failure always belongs to a known request.
//!
//! | question | place |
//! |---|---|
//! | How is it started? | [`Command`], [`SubjectFile`] |
//! | What may it use? | [`Limits`] |
//! | How can it fail? | [`SubjectError`] |
//! | How is it killed? | `child` |
//! | Where is its standard error copied to? | [`StderrCopy`] |
//! | How are messages exchanged? | `connection` |
//! | Which process is free, and which keys does it have? | `pool` |
//! | What does a decoder, an encoder send to it? | `decoder`, `encoder` |
//! | What if it is a tool without the protocol? | [`exec`] |
//!
//! The protocol is [`crate::adaptor`].

pub(crate) mod child;
mod command;
mod connection;
mod decoder;
mod encoder;
pub mod exec;
mod guard;
mod limits;
pub(crate) mod pool;
mod stderr;
mod subject_error;

use std::sync::Arc;

pub use command::{Command, SubjectFile, SubjectFileError};
pub(crate) use connection::nonce;
pub use limits::Limits;
pub use stderr::StderrCopy;
pub use subject_error::{Ending, SubjectError};
use traceproof_vectors::Capabilities;

use pool::Pool;

use crate::Subject;
use crate::family::{self, FamilyRules, Visitor};

/// Starts a program that implements `tdut/2` and creates a subject from its claims; or creates one from a tool as it
/// is, if the command has [rules](exec) for it.
///
/// # Errors
///
/// When it cannot be started or its `hello` is none.
pub fn subject(command: &Command, limits: &Limits) -> Result<Subject, SubjectError> {
    if let Some(exec) = &command.exec {
        return exec::subject(exec, command, limits);
    }
    Ok(of_pool(&Arc::new(Pool::start(command, limits)?)))
}

/// The subject whose decoders and encoders ask the processes of `pool`.
pub(crate) fn of_pool(pool: &Arc<Pool>) -> Subject {
    let named = Subject::new(pool.name(), pool.version()).in_processes(Arc::clone(pool));
    family::IMPLEMENTED.into_iter().fold(named, |subject, protocol| {
        family::visit(protocol, Add { subject: subject.clone(), pool }).unwrap_or(subject)
    })
}

struct Add<'a> {
    subject: Subject,
    pool: &'a Arc<Pool>,
}

impl Visitor for Add<'_> {
    type Output = Subject;

    fn visit<P: FamilyRules>(self) -> Subject {
        let Self { mut subject, pool } = self;
        if let Some(claims) = pool.claims().decoders.get(P::ID.name()) {
            let (pool, capabilities) = (Arc::clone(pool), Capabilities::from(claims));
            subject = subject.with_decoder::<P>(move || {
                Box::new(decoder::Proxy::new(Arc::clone(&pool), capabilities.clone()))
            });
        }
        if let Some(claims) = pool.claims().encoders.get(P::ID.name()) {
            let (pool, capabilities) = (Arc::clone(pool), Capabilities::from(claims));
            subject = subject.with_encoder::<P>(move || {
                Box::new(encoder::Proxy::new(Arc::clone(&pool), capabilities.clone()))
            });
        }
        subject
    }
}
