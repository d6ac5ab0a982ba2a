//! The subject's side: any [`Subject`] answers requests.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, BufRead, Write};

use serde::Deserialize;
use traceproof_vectors::{Program, ProtocolId};

use super::VERSION;
use super::frame::{self, Frame, FrameError, Framing};
use super::message::{Answer, Claims, Head, Hello, Image, Nothing, Run, Status, Welcome};
use super::session::{Session, sessions};
use crate::Subject;

/// The longest request taken, in bytes.
const MOST: u64 = 1 << 30;

/// How many requests may wait here at once.
const MOST_INFLIGHT: u32 = 8;

/// Why nothing more can be answered.
#[derive(Debug)]
pub enum ServeError {
    /// A request cannot be read.
    Request(FrameError),
    /// It is no JSON, or a field is missing or wrong.
    Json(serde_json::Error),
    /// The answer cannot be written.
    Answer(io::Error),
    /// The first request is not `hello`, or offers no framing.
    NoHello,
    /// A request uses an unknown key.
    UnknownKey(u32),
    /// A back-reference to stimulus that was never sent.
    UnknownItem,
}

/// Answers requests for the decoders and encoders of `subject` until `bye` or the end of the input.
///
/// A program of a few lines makes an adaptor of any Rust decoder:
///
/// ```no_run
/// # use traceproof_decoder::riscv_etrace::Decoder as AcmeDecoder;
/// use std::io::{stdin, stdout};
/// use traceproof_conformance::{Subject, adaptor};
/// use traceproof_vectors::riscv_etrace::RiscvEtrace;
///
/// let acme = Subject::new("acme", "2.3.1").with_decoder::<RiscvEtrace>(|| Box::new(AcmeDecoder::default()));
/// adaptor::serve(&acme, &mut stdin().lock(), &mut stdout().lock())?;
/// # Ok::<(), adaptor::ServeError>(())
/// ```
///
/// # Errors
///
/// When a request cannot be understood or an answer not be written. The runner takes the end of the process for what it
/// is.
pub fn serve(subject: &Subject, input: &mut impl BufRead, output: &mut impl Write) -> Result<(), ServeError> {
    let mut server = Server {
        subject,
        framing: Framing::JsonLines,
        sessions: sessions(subject),
        owners: HashMap::new(),
        images: HashMap::new(),
    };
    let mut greeted = false;
    while let Some(request) = frame::read(input, server.framing, MOST).map_err(ServeError::Request)? {
        let (id, answer) = match request {
            Frame::Run(id, body) if greeted => {
                (id, server.run(id, &frame::read_run(&body).map_err(ServeError::Request)?)?)
            }
            Frame::Run(..) => return Err(ServeError::NoHello),
            Frame::Json(_, body) => {
                let head: Head = parsed(&body)?;
                match head.op.as_str() {
                    "hello" => {
                        // Its answer is still a line.
                        let (framing, answer) = server.hello(head.id, &parsed(&body)?)?;
                        write(output, Framing::JsonLines, head.id, answer)?;
                        server.framing = framing;
                        greeted = true;
                        continue;
                    }
                    _ if !greeted => return Err(ServeError::NoHello),
                    "bye" => return Ok(()),
                    _ => (head.id, server.answer(&head, &body)?),
                }
            }
        };
        write(output, server.framing, id, answer)?;
    }
    Ok(())
}

fn write(output: &mut impl Write, framing: Framing, id: u32, answer: Vec<u8>) -> Result<(), ServeError> {
    frame::write(output, &frame::json(framing, id, answer)).map_err(ServeError::Answer)
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ServeError> {
    serde_json::from_slice(body).map_err(ServeError::Json)
}

struct Server<'a> {
    subject: &'a Subject,
    framing: Framing,
    /// A decoder and an encoder of every protocol, for the whole life of the process.
    sessions: BTreeMap<ProtocolId, Box<dyn Session>>,
    /// Which protocol parameters belong to.
    owners: HashMap<u32, ProtocolId>,
    images: HashMap<u32, Program>,
}

/// The head of requests that belong to the protocol of their parameters.
#[derive(Deserialize)]
struct Keyed {
    parameters: u32,
}

/// The head of `parameters`.
#[derive(Deserialize)]
struct Owned {
    key: u32,
    family: String,
}

impl Server<'_> {
    fn hello(&mut self, id: u32, hello: &Hello) -> Result<(Framing, Vec<u8>), ServeError> {
        let framing = *hello.framings.first().ok_or(ServeError::NoHello)?;
        self.sessions.values_mut().for_each(|session| session.repeats(hello.again));
        let claims = |of: fn(&dyn Session) -> Option<Claims>| {
            let claimed = self
                .sessions
                .iter()
                .filter_map(|(protocol, session)| Some((protocol.name().to_owned(), of(session.as_ref())?)));
            claimed.collect()
        };
        let welcome = Welcome {
            tdut: VERSION,
            nonce: hello.nonce.clone(),
            framing,
            max_inflight: MOST_INFLIGHT,
            name: self.subject.name().to_owned(),
            version: self.subject.version().to_owned(),
            again: hello.again,
            spaces: true,
            issues: String::new(),
            decoders: claims(|session| session.decoder()),
            encoders: claims(|session| session.encoder()),
        };
        Ok((framing, serde_json::to_vec(&Identified { id, body: welcome }).map_err(ServeError::Json)?))
    }

    fn answer(&mut self, head: &Head, body: &[u8]) -> Result<Vec<u8>, ServeError> {
        match head.op.as_str() {
            "parameters" => {
                let owned: Owned = parsed(body)?;
                let protocol = owned.family.parse().ok();
                let Some((protocol, session)) =
                    protocol.and_then(|protocol| Some((protocol, self.sessions.get_mut(&protocol)?)))
                else {
                    return plain(head.id, Status::Unsupported);
                };
                session.parameters(body)?;
                self.owners.insert(owned.key, protocol);
                plain(head.id, Status::Ok)
            }
            "image" => {
                let image: Image<'_> = parsed(body)?;
                let key = image.key;
                let status = match image.program() {
                    Ok(program) => {
                        self.images.insert(key, program);
                        Status::Ok
                    }
                    Err(_) => Status::Invalid,
                };
                plain(head.id, status)
            }
            "run" => self.run(head.id, &parsed(body)?),
            "encode" => {
                let keyed: Keyed = parsed(body)?;
                self.session(keyed.parameters)?.encode(head.id, body)
            }
            "forget" => {
                self.owners.clear();
                self.images.clear();
                self.sessions.values_mut().for_each(|session| session.forget());
                plain(head.id, Status::Ok)
            }
            _ => plain(head.id, Status::Unsupported),
        }
    }

    fn run(&mut self, id: u32, run: &Run<'_>) -> Result<Vec<u8>, ServeError> {
        let protocol = self.owners.get(&run.parameters).ok_or(ServeError::UnknownKey(run.parameters))?;
        let session = self.sessions.get_mut(protocol).ok_or(ServeError::UnknownKey(run.parameters))?;
        let image = self.images.get(&run.image).ok_or(ServeError::UnknownKey(run.image))?;
        session.run(id, run, image)
    }

    fn session(&mut self, parameters: u32) -> Result<&mut Box<dyn Session>, ServeError> {
        let unknown = ServeError::UnknownKey(parameters);
        let Some(protocol) = self.owners.get(&parameters) else { return Err(unknown) };
        self.sessions.get_mut(protocol).ok_or(unknown)
    }
}

/// An answer with its id.
#[derive(serde::Serialize)]
struct Identified<B> {
    id: u32,
    #[serde(flatten)]
    body: B,
}

fn plain(id: u32, status: Status) -> Result<Vec<u8>, ServeError> {
    serde_json::to_vec(&Answer::<Nothing>::new(id, status)).map_err(ServeError::Json)
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => write!(f, "a request cannot be read: {error}"),
            Self::Json(error) => write!(f, "a message is wrong: {error}"),
            Self::Answer(error) => write!(f, "the answer cannot be written: {error}"),
            Self::NoHello => f.write_str("the first request must be `hello` and offer a framing"),
            Self::UnknownKey(key) => write!(f, "nothing was sent under the key {key}"),
            Self::UnknownItem => f.write_str("a back-reference to an unknown item"),
        }
    }
}

impl std::error::Error for ServeError {}
