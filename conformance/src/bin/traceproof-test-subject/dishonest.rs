//! A subject that answers like the reference for RISC-V E-Trace, but misbehaves in one selected way.
//!
//! `traceproof-test-subject dishonest MODE`; any other mode than those below is honest.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe, stdin, stdout};
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use traceproof_conformance::family::{FamilyRules, JudgedProtocol};
use traceproof_conformance::{Subject, adaptor};
use traceproof_vectors::riscv_etrace::RiscvEtrace;

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(1000);

pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mode = arguments.next().unwrap_or_default();
    if mode == "prints-a-banner" {
        say("acme trace decoder 2.3.1, licensed to nobody")?;
    }
    let mut liar = Liar {
        mode,
        reference: Reference::start()?,
        runs: 0,
        held: None,
        forgotten: false,
        foreign_family: false,
    };
    for line in stdin().lock().lines() {
        let line = line?;
        let Ok(request) = serde_json::from_str::<Value>(&line) else {
            liar.nonsense(&line)?;
            continue;
        };
        if request["op"] == "bye" {
            return liar.leave();
        }
        if let Some(answer) = liar.answer(request)? {
            say(&answer.to_string())?;
            if liar.mode == "answers-twice" && answer["tdut"].is_null() {
                say(&answer.to_string())?;
            }
        }
        if let Some(held) = liar.due() {
            say(&held.to_string())?;
        }
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The reference, on a separate thread.
struct Reference {
    requests: PipeWriter,
    answers: BufReader<PipeReader>,
}

impl Reference {
    fn start() -> io::Result<Self> {
        let (incoming, requests) = pipe()?;
        let (answers, mut outgoing) = pipe()?;
        thread::spawn(move || {
            let subject = Subject::new("dishonest", "1.0")
                .with_decoder::<RiscvEtrace>(RiscvEtrace::reference_decoder)
                .with_encoder::<RiscvEtrace>(RiscvEtrace::reference_encoder);
            if let Err(error) = adaptor::serve(&subject, &mut BufReader::new(incoming), &mut outgoing) {
                eprintln!("{error}");
            }
        });
        Ok(Self { requests, answers: BufReader::new(answers) })
    }

    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        writeln!(self.requests, "{request}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

struct Liar {
    mode: String,
    reference: Reference,
    /// Streams that have ended.
    runs: usize,
    /// An answer that waits for the next one.
    held: Option<Value>,
    forgotten: bool,
    foreign_family: bool,
}

impl Liar {
    /// What it makes of a line that is no request.
    fn nonsense(&mut self, line: &str) -> io::Result<()> {
        match self.mode.as_str() {
            "makes-up-answers" => {
                // Reads as far as there are bytes.
                let id = line.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or("0");
                say(&format!("{{\"id\":{id},\"status\":\"ok\",\"results\":[]}}"))
            }
            "hangs-on-nonsense" => {
                thread::sleep(FOREVER);
                Ok(())
            }
            "passes-over-nonsense" => Ok(()),
            "says-what-is-wrong" => say("{\"id\":0,\"status\":\"error\",\"message\":\"no JSON\"}"),
            _ => {
                eprintln!("dishonest: a line is no JSON");
                process::exit(1);
            }
        }
    }

    fn leave(&self) -> io::Result<()> {
        match self.mode.as_str() {
            "stays" => thread::sleep(FOREVER),
            "leaves-a-child" => {
                Command::new("sleep")
                    .arg("1000")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()?;
            }
            "aborts-at-the-end" => process::abort(),
            _ => {}
        }
        Ok(())
    }

    /// The held answer once another one has overtaken it.
    fn due(&mut self) -> Option<Value> {
        let overtaken =
            self.mode == "overtakes" && self.held.as_ref().is_some_and(|held| held["overtaken"] == true);
        if !overtaken {
            if let Some(held) = &mut self.held {
                held["overtaken"] = Value::from(true);
            }
            return None;
        }
        self.held.take()
    }

    fn answer(&mut self, request: Value) -> io::Result<Option<Value>> {
        let id = request["id"].clone();
        let said = |status: &str| Ok(Some(json!({ "id": id, "status": status })));
        let op = request["op"].as_str().unwrap_or_default();
        match (self.mode.as_str(), op) {
            ("dies", _) => process::exit(3),
            ("is-silent", _) => return Ok(None),
            ("knows-every-op", "brew") => return said("ok"),
            ("minds-fields", _) if request.get("remark").is_some() => return said("error"),
            ("keeps-old-keys", "parameters") if self.forgotten => return said("invalid"),
            ("keeps-old-keys", "forget") => self.forgotten = true,
            ("talks-in-between", "image") => say("image loaded")?,
            ("takes-every-family", "parameters") => {
                self.foreign_family = request["family"] != "riscv_etrace";
                if self.foreign_family {
                    return said("ok");
                }
            }
            ("takes-every-family", "run") if self.foreign_family => return said("ok"),
            ("refuses-what-it-claims", "parameters") if request["parameters"]["xlen"] == "rv64" => {
                return Ok(Some(json!({ "id": id, "status": "unsupported", "feature": "rv64" })));
            }
            ("encodes-nothing", "encode") => return said("ok"),
            ("overtakes", "brew") if self.held.is_none() && request["id"].as_u64() > Some(70_000) => {
                self.held = Some(json!({ "id": id, "status": "unsupported", "overtaken": false }));
                return Ok(None);
            }
            _ => {}
        }
        let answer = self.reference.ask(&self.bent(request.clone()))?;
        Ok(Some(self.twisted(&request, answer)))
    }

    /// The request as it is understood.
    fn bent(&self, mut request: Value) -> Value {
        // What is twisted must be there in full.
        if request["op"] == "hello" {
            request["again"] = Value::from(false);
        }
        match self.mode.as_str() {
            "forgets-nothing" if request["start"] == "reset" => request["start"] = Value::from("continue"),
            "ignores-what-it-does-not-claim" if request["op"] == "parameters" => {
                // Ignores the times in packets.
                request["parameters"]["notime_p"] = Value::from(true);
            }
            _ => {}
        }
        request
    }

    /// The answer as it is given.
    fn twisted(&mut self, request: &Value, mut answer: Value) -> Value {
        if request["op"] == "hello" {
            self.lie_in_hello(&mut answer);
            return answer;
        }
        if self.mode == "shortens-ids" && answer["id"].as_u64() > Some(u64::from(u32::MAX / 2)) {
            answer["id"] = Value::from(u32::MAX / 2);
        }
        let chunks = request["chunks"].as_array().into_iter().flatten().filter(|chunk| **chunk != "").count();
        let ended = request["op"] == "run" && request["finish"] == true;
        self.runs += usize::from(ended);
        let drops = match self.mode.as_str() {
            "is-wrong" => true,
            "is-right-every-second-time" => self.runs.is_multiple_of(2),
            "counts-pieces" => chunks > 1,
            _ => false,
        };
        if let Some(results) = answer.get_mut("results").and_then(Value::as_array_mut) {
            if self.mode == "invents"
                && ended
                && chunks == 0
                && request["start"] != "reset"
                && results.is_empty()
            {
                let retire = json!({ "first": "0x80000000", "end": "0x80000008", "count": 2 });
                results.push(json!({ "at": [0, 0, 0], "event": { "retire": retire } }));
            }
            if ended && drops {
                results.pop();
            }
        }
        answer
    }

    fn lie_in_hello(&self, answer: &mut Value) {
        match self.mode.as_str() {
            "wrong-hello-id" => answer["id"] = Value::from(0),
            "wrong-nonce" => answer["nonce"] = Value::from("5d41402abc4b2a76"),
            "next-version" => answer["tdut"] = Value::from(3),
            "other-framing" => answer["framing"] = Value::from("xml"),
            "misspells" => answer["decoders"]["riscv_etrace"]["features"][0] = Value::from("rv23"),
            "ignores-what-it-does-not-claim" => {
                if let Some(features) = answer["decoders"]["riscv_etrace"]["features"].as_array_mut() {
                    features.retain(|feature| feature != "time");
                }
            }
            _ => {}
        }
    }
}
