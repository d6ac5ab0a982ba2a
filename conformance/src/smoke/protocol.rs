//! Does a process keep to the protocol, also where the runner would never go?

use serde_json::{Value, json};
use traceproof_vectors::case::{self, SuiteError};
use traceproof_vectors::{Capabilities, Protocol, ProtocolId};

use super::conversation::{Came, Conversation, REMARK, id_of, whole};
use super::{Outcome, Probe, Question, claims, pick, questions};
use crate::adaptor::VERSION;
use crate::adaptor::frame::Framing;
use crate::adaptor::message::{Claims, Image};
use crate::family::{self, FamilyRules, Visitor};
use crate::process::{Command, Ending, Limits, nonce};
use crate::suite::Directories;

/// The probes, and the identity of the subject.
pub(super) struct HeardOut {
    pub(super) probes: Vec<Probe>,
    pub(super) name: String,
    pub(super) version: String,
}

/// The probes of a subject without the protocol.
pub(super) fn not_spoken(reason: &str) -> Vec<Probe> {
    questions::OF_PROTOCOL
        .into_iter()
        // Names can be looked at without a protocol.
        .filter(|question| **question != questions::CLAIMS)
        .map(|question| probe(question, Outcome::not_applicable(reason)))
        .collect()
}

const fn probe(question: &'static Question, outcome: Outcome) -> Probe {
    Probe { question, protocol: None, outcome }
}

/// Asks a program in the words of the protocol.
pub(super) fn hear(
    command: &Command,
    limits: &Limits,
    directories: &Directories,
) -> Result<HeardOut, Vec<SuiteError>> {
    let mut prober =
        Prober { command, limits, running: None, noise: Vec::new(), wrong_ids: Vec::new(), max_inflight: 1 };
    let greeting =
        match prober.hello() {
            Ok(greeting) => greeting,
            Err((sent, came)) => {
                let mut probes = vec![probe(&questions::START, Outcome::fail(sent, came.to_string()))];
                let rest = questions::OF_PROTOCOL.into_iter().skip(1);
                probes.extend(rest.map(|question| {
                    probe(question, Outcome::not_applicable("there is no answer to `hello`"))
                }));
                return Ok(HeardOut { probes, name: String::new(), version: String::new() });
            }
        };
    let mut probes = vec![probe(&questions::START, Outcome::Pass(None))];
    probes.extend(greeting.probes(command));
    let welcome = greeting.welcome;
    prober.max_inflight = welcome.get("max_inflight").and_then(Value::as_u64).unwrap_or(1);
    let stream = stream_for(&welcome, directories)?;
    probes.push(probe(&questions::UNKNOWN_OP, prober.unknown_op()));
    let steady = match &stream {
        Some(stream) => prober.steady(stream).map(|plain| (stream, plain)),
        None => Err(String::from("it claims no decoder that a shipped case is fit for")),
    };
    // What is compared with the answers to a plain stream.
    let compared = |prober: &mut Prober<'_>, ask: Comparison| match &steady {
        Ok((stream, plain)) => or_silence(ask(prober, stream, plain)),
        Err(reason) => Outcome::not_applicable(reason.as_str()),
    };
    probes.push(probe(&questions::UNKNOWN_FIELDS, compared(&mut prober, unknown_fields)));
    probes.push(probe(&questions::IDS, prober.ids()));
    probes.push(probe(&questions::FORGET, compared(&mut prober, forget)));
    probes.push(probe(&questions::MALFORMED, compared(&mut prober, malformed)));
    probes.push(probe(&questions::UNCLAIMED_FAMILY, prober.unclaimed_family(&welcome)));
    probes.push(probe(&questions::BYE, prober.bye()));
    probes.push(probe(&questions::STDOUT, prober.stdout()));
    let text = |field: &str| welcome.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = command.name.clone().unwrap_or_else(|| text("name"));
    Ok(HeardOut { probes, name, version: text("version") })
}

/// Asks about a stream, and compares what comes with the answers to the plain one.
type Comparison = fn(&mut Prober<'_>, &Stream, &[Value]) -> Result<Outcome, Silence>;

impl Greeting {
    /// What must be right in the answer to `hello`.
    fn probes(&self, command: &Command) -> Vec<Probe> {
        let field = |name: &str| self.welcome.get(name).cloned().unwrap_or(Value::Null);
        let equal = |question: &'static Question, name: &str, expected: Value| {
            let got = field(name);
            let came = if got.is_null() { format!("no `{name}`") } else { format!("\"{name}\":{got}") };
            let right = got == expected;
            probe(question, if right { Outcome::Pass(None) } else { Outcome::fail(self.sent.as_str(), came) })
        };
        let offered: Vec<&str> = command.framings.iter().map(|framing| framing.name()).collect();
        let framing = field("framing");
        let chosen = if framing.is_null() { "jsonl" } else { framing.as_str().unwrap_or_default() };
        let framing = if offered.contains(&chosen) {
            Outcome::Pass(Some(format!("`{chosen}`")))
        } else {
            Outcome::fail(format!("an offer of {}", offered.join(", ")), format!("\"framing\":{framing}"))
        };
        vec![
            equal(&questions::HELLO_ID, "id", Value::from(HELLO)),
            equal(&questions::NONCE, "nonce", Value::from(self.nonce.as_str())),
            equal(&questions::VERSION, "tdut", Value::from(VERSION)),
            probe(&questions::FRAMING, framing),
            probe(&questions::CLAIMS, claims::outcome(&self.sent, claims::wrong_in(&self.welcome))),
        ]
    }
}

/// The id of `hello`: not 0, which an adaptor might answer without having looked.
const HELLO: u32 = 3;

/// A stream to ask about, as it stands in messages.
struct Stream {
    protocol: ProtocolId,
    parameters: Value,
    sections: Value,
    wire: Vec<u8>,
}

/// A stream that a decoder with the claims of an answer to `hello` can be asked about.
fn stream_for(welcome: &Value, directories: &Directories) -> Result<Option<Stream>, Vec<SuiteError>> {
    for protocol in family::IMPLEMENTED {
        let claims = welcome.get("decoders").and_then(|decoders| decoders.get(protocol.name())).cloned();
        let Some(Ok(claims)) = claims.map(serde_json::from_value::<Claims>) else { continue };
        let capabilities = Capabilities::from(&claims);
        if let Some(found) = family::visit(protocol, StreamOf { capabilities, directories })
            && let Some(stream) = found?
        {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

struct StreamOf<'a> {
    capabilities: Capabilities,
    directories: &'a Directories,
}

impl Visitor for StreamOf<'_> {
    type Output = Result<Option<Stream>, Vec<SuiteError>>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let files = case::load::<P>(&self.directories.suites)?;
        Ok(pick::small(&files, &self.capabilities).first().map(|file| Stream {
            protocol: P::ID,
            parameters: serde_json::to_value(&file.case.parameters).unwrap_or_default(),
            sections: serde_json::to_value(Image::of(0, &file.resolved.program))
                .map(|mut image| image["sections"].take())
                .unwrap_or_default(),
            wire: file.resolved.wire.clone(),
        }))
    }
}

/// Parameters of a protocol for a subject that does not claim it.
struct UsualParameters;

impl Visitor for UsualParameters {
    type Output = Value;

    fn visit<P: FamilyRules>(self) -> Value {
        serde_json::to_value(<P as Protocol>::Parameters::default()).unwrap_or_default()
    }
}

/// What was sent last, and what came instead of an answer.
type Silence = (String, Came);

/// The first messages of both sides.
struct Greeting {
    sent: String,
    nonce: String,
    welcome: Value,
}

/// The processes that are probed, one after the other, each until it ends.
struct Prober<'a> {
    command: &'a Command,
    limits: &'a Limits,
    running: Option<Conversation>,
    noise: Vec<String>,
    wrong_ids: Vec<(String, String)>,
    max_inflight: u64,
}

impl Prober<'_> {
    /// A new process that has got `hello`.
    fn hello(&mut self) -> Result<Greeting, Silence> {
        self.dismiss();
        let start = format!("{} {:?}", self.command.program.display(), self.command.arguments);
        let started = Conversation::start(self.command, self.limits);
        let mut conversation = started.map_err(|error| (start, Came::Ended(error.to_string())))?;
        conversation.count_from(HELLO);
        let nonce = nonce();
        let body = json!({
            "tdut": VERSION,
            "nonce": nonce,
            "framings": self.command.framings,
            "max_message": self.limits.message,
        });
        conversation.wait_for(self.limits.hello_deadline());
        let (sent, came) = conversation.ask("hello", body);
        conversation.wait_for(self.limits.answer_deadline());
        // A wrong id there has a probe of its own.
        conversation.wrong_ids.clear();
        let answered = match came {
            Came::Answer(welcome) => {
                let chosen = welcome.get("framing").cloned().map(serde_json::from_value::<Framing>);
                conversation.travel(chosen.and_then(Result::ok).unwrap_or_default());
                Ok(Greeting { sent, nonce, welcome })
            }
            other => Err((sent, other)),
        };
        self.running = Some(conversation);
        answered
    }

    /// The current process; a new one if it has ended.
    fn process(&mut self) -> Result<&mut Conversation, Silence> {
        if !self.running.as_ref().is_some_and(Conversation::is_alive) {
            self.hello()?;
        }
        self.running.as_mut().ok_or_else(|| (String::new(), Came::Ended(String::from("there is no process"))))
    }

    /// Keeps the output of the current process, and releases it.
    fn dismiss(&mut self) {
        if let Some(gone) = self.running.take() {
            self.noise.extend(gone.noise.iter().cloned());
            self.wrong_ids.extend(gone.wrong_ids.iter().cloned());
        }
    }

    /// Sends parameters and code under a key and has the stream decoded: the answers without their ids.
    fn story(&mut self, stream: &Stream, key: u32, remark: bool) -> Result<(String, Vec<Value>), Silence> {
        let process = self.process()?;
        let mut answers = Vec::new();
        let mut last = String::new();
        for (op, mut body) in [
            (
                "parameters",
                json!({"key": key, "family": stream.protocol.name(), "parameters": stream.parameters}),
            ),
            ("image", json!({"key": key, "sections": stream.sections})),
        ] {
            if remark {
                body[REMARK] = json!({"of": ["no", "meaning"]});
            }
            match process.ask(op, body) {
                (sent, Came::Answer(answer)) => {
                    last = sent;
                    answers.push(without_id(answer));
                }
                (sent, other) => return Err((sent, other)),
            }
        }
        if answers.iter().all(|answer| answer["status"] == "ok") {
            let (id, sent) = process.say_run(&whole(key, &stream.wire), remark);
            match process.answer(id, &sent) {
                Came::Answer(answer) => answers.push(without_id(answer)),
                other => return Err((sent, other)),
            }
            last = sent;
        }
        Ok((last, answers))
    }

    fn unknown_op(&mut self) -> Outcome {
        or_silence(self.process().map(|process| {
            let (sent, came) = process.ask("brew", json!({"what": "tea"}));
            match &came {
                Came::Answer(answer) if answer["status"] == "unsupported" => Outcome::Pass(None),
                _ => Outcome::fail(sent, came.to_string()),
            }
        }))
    }

    /// The answers to a plain stream, if they are the same twice. If not, they are no basis for other probes.
    fn steady(&mut self, stream: &Stream) -> Result<Vec<Value>, String> {
        let silent = |(_, came): Silence| format!("it does not answer plain requests: {came}");
        let (_, first) = self.story(stream, 0, false).map_err(silent)?;
        let (_, second) = self.story(stream, 1, false).map_err(silent)?;
        if first == second { Ok(first) } else { Err(String::from("it does not give the same twice")) }
    }

    fn ids(&mut self) -> Outcome {
        // Not those that come next, and more than 31 bits.
        const IDS: [u32; 3] = [70_007, 4_000_000_003, 70_001];
        let at_once = usize::try_from(self.max_inflight).unwrap_or(usize::MAX).clamp(1, IDS.len());
        let asked = self.process().and_then(|process| {
            for ids in IDS.chunks(at_once) {
                let mut sent = Vec::new();
                for &id in ids {
                    process.count_from(id);
                    sent.push(process.say("brew", json!({})));
                }
                for (id, request) in sent {
                    if let silence @ (Came::Nothing(_) | Came::Ended(_)) = process.answer(id, &request) {
                        return Err((format!("{at_once} requests at once, among them {request}"), silence));
                    }
                }
            }
            process.count_from(100_000);
            Ok(())
        });
        // Earlier output counts as well.
        if let Some(process) = &mut self.running {
            self.wrong_ids.append(&mut process.wrong_ids);
        }
        match (asked, self.wrong_ids.first()) {
            (_, Some((sent, came))) => Outcome::fail(sent, came),
            (Err((sent, came)), None) => Outcome::fail(sent, came.to_string()),
            (Ok(()), None) if at_once > 1 => Outcome::Pass(Some(format!("tried with {at_once} at once"))),
            (Ok(()), None) => Outcome::Pass(None),
        }
    }

    fn unclaimed_family(&mut self, welcome: &Value) -> Outcome {
        let claims = |field: &str, protocol: ProtocolId| {
            welcome.get(field).and_then(|claims| claims.get(protocol.name())).is_some()
        };
        let unclaimed =
            |protocol: &ProtocolId| !claims("decoders", *protocol) && !claims("encoders", *protocol);
        let Some(protocol) = ProtocolId::ALL.into_iter().find(unclaimed) else {
            return Outcome::not_applicable("it claims every protocol");
        };
        let parameters = family::visit(protocol, UsualParameters).unwrap_or_else(|| json!({}));
        let key = 1;
        or_silence(self.process().map(|process| {
            let body = json!({"key": key, "family": protocol.name(), "parameters": parameters});
            let (mut sent, mut came) = process.ask("parameters", body);
            if matches!(&came, Came::Answer(answer) if answer["status"] == "ok") {
                (sent, came) = process.ask("image", json!({"key": key, "sections": []}));
            }
            if matches!(&came, Came::Answer(answer) if answer["status"] == "ok") {
                let mut begin = whole(key, &[]);
                (begin.chunks, begin.finish) = (Vec::new(), false);
                let (id, request) = process.say_run(&begin, false);
                came = process.answer(id, &request);
                sent = format!("a stream of {protocol} that begins: {request}");
            }
            match &came {
                Came::Answer(answer) if answer["status"] == "ok" => Outcome::fail(sent, came.to_string()),
                Came::Answer(_) => Outcome::Pass(Some(format!("tried with {protocol}"))),
                _ => Outcome::fail(sent, came.to_string()),
            }
        }))
    }

    fn bye(&mut self) -> Outcome {
        let parted = self.process().map(Conversation::part);
        self.dismiss();
        match parted {
            Err((sent, came)) => Outcome::fail(sent, came.to_string()),
            Ok((sent, None)) => {
                let deadline = self.limits.answer_deadline();
                Outcome::fail(sent, format!("it is still there after {deadline:?}"))
            }
            Ok((sent, Some(parting))) if parting.left > 0 => {
                Outcome::fail(sent, format!("it ended, but left {} of its processes running", parting.left))
            }
            Ok((sent, Some(parting))) => match parting.ending {
                Ending::Status(0) | Ending::Unknown => Outcome::Pass(None),
                Ending::Status(status) => Outcome::Pass(Some(format!("with status {status}"))),
                Ending::Signal(signal) => Outcome::fail(sent, format!("signal {signal} ended it")),
            },
        }
    }

    fn stdout(&mut self) -> Outcome {
        self.dismiss();
        match self.noise.first() {
            None => Outcome::Pass(None),
            Some(first) => Outcome::fail(
                "the requests of all the questions above",
                format!("among the answers: {first}"),
            ),
        }
    }
}

fn unknown_fields(prober: &mut Prober<'_>, stream: &Stream, plain: &[Value]) -> Result<Outcome, Silence> {
    let (sent, remarked) = prober.story(stream, 2, true)?;
    Ok(differs(plain, &remarked).map_or(Outcome::Pass(None), |came| Outcome::fail(sent, came)))
}

fn forget(prober: &mut Prober<'_>, stream: &Stream, plain: &[Value]) -> Result<Outcome, Silence> {
    let (sent, came) = prober.process()?.ask("forget", json!({}));
    match &came {
        Came::Answer(answer) if answer["status"] == "ok" || answer["status"] == "unsupported" => {}
        _ => return Ok(Outcome::fail(sent, came.to_string())),
    }
    let (sent, later) = prober.story(stream, 0, false)?;
    let fails = |came| Outcome::fail(format!("after `forget`: {sent}"), came);
    Ok(differs(plain, &later).map_or(Outcome::Pass(None), fails))
}

fn malformed(prober: &mut Prober<'_>, stream: &Stream, plain: &[Value]) -> Result<Outcome, Silence> {
    prober.story(stream, 1, false)?;
    let process = prober.process()?;
    let sent = process.say_half(&whole(1, &stream.wire));
    // A subject that ignores it answers this one.
    let later = process.next_id();
    process.say("brew", json!({}));
    let came = process.next();
    // In any case the next probe gets another process.
    prober.dismiss();
    let how = match came {
        Came::Answer(answer) if id_of(&answer) == Some(later) => "it ignores it",
        Came::Answer(answer) if answer["status"] == "ok" => {
            let came = format!("an answer that is made up: {}", Came::Answer(answer));
            return Ok(Outcome::fail(sent, came));
        }
        Came::Answer(_) => "it answers that it cannot",
        Came::Ended(_) => "it ends",
        silence @ Came::Nothing(_) => return Ok(Outcome::fail(sent, silence.to_string())),
    };
    let (sent, after) = prober.story(stream, 0, false)?;
    let fails = |came| Outcome::fail(format!("to a new process: {sent}"), came);
    Ok(differs(plain, &after).map_or_else(|| Outcome::Pass(Some(String::from(how))), fails))
}

/// How the answers to the same differ.
fn differs(before: &[Value], later: &[Value]) -> Option<String> {
    let index = (0..before.len().max(later.len())).find(|&index| before.get(index) != later.get(index))?;
    let text = |answers: &[Value]| {
        answers
            .get(index)
            .map_or_else(|| String::from("nothing"), |answer| Came::Answer(answer.clone()).to_string())
    };
    Some(format!("{} instead of {}", text(later), text(before)))
}

fn without_id(mut answer: Value) -> Value {
    if let Value::Object(fields) = &mut answer {
        fields.remove("id");
    }
    answer
}

/// No answer is never right.
fn or_silence(outcome: Result<Outcome, Silence>) -> Outcome {
    outcome.unwrap_or_else(|(sent, came)| Outcome::fail(sent, came.to_string()))
}
