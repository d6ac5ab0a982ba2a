//! A subject that answers like the reference until it is asked about one stream, and then misbehaves in one way.
//!
//! `traceproof-test-subject misbehaving MODE HEX` where `HEX` is that stream. It appends the number of its process to
//! the file that `PROCESSES` names.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe, stderr, stdin, stdout};
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use traceproof_conformance::{Subject, adaptor};

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(1000);

pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let (mode, trigger) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    if let Some(path) = env::var_os("PROCESSES") {
        writeln!(OpenOptions::new().append(true).create(true).open(path)?, "{}", process::id())?;
    }
    let (requests, mut to_reference) = pipe()?;
    let (from_reference, mut answers) = pipe()?;
    thread::spawn(move || {
        let served = adaptor::serve(&Subject::reference(), &mut BufReader::new(requests), &mut answers);
        if let Err(error) = served {
            eprintln!("{error}");
        }
    });
    let mut from_reference = BufReader::new(from_reference);
    let (mut images, mut streams) = (0, 0);
    for request in stdin().lock().lines() {
        let request = request?;
        let message: Value = serde_json::from_str(&request)?;
        images += usize::from(message["op"] == "image");
        if message["op"] == "bye" {
            return Ok(());
        }
        if mode == "dies-in-hello" {
            eprintln!("acme: no licence");
            process::exit(3);
        }
        if mode == "hangs-in-hello" {
            thread::sleep(FOREVER);
        }
        let answer = ask(&mut to_reference, &mut from_reference, &request)?;
        let about = is_about(&message, &trigger);
        streams += usize::from(about);
        let answer = if about { misbehave(&mode, answer, images, streams)? } else { answer };
        let answer = match mode.as_str() {
            "wrong-nonce" => answer.replace("\"nonce\":\"", "\"nonce\":\"0"),
            "long-name" => answer.replace("\"name\":\"", &format!("\"name\":\"{}", "x".repeat(2000))),
            _ => answer,
        };
        stdout().write_all(answer.as_bytes())?;
        stdout().flush()?;
    }
    Ok(())
}

fn ask(requests: &mut PipeWriter, answers: &mut BufReader<PipeReader>, request: &str) -> io::Result<String> {
    requests.write_all(request.as_bytes())?;
    requests.write_all(b"\n")?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(answer)
}

/// Whether a message is a `run` of the whole stream, in whatever pieces.
fn is_about(message: &Value, trigger: &str) -> bool {
    let chunks = message["chunks"].as_array().into_iter().flatten().filter_map(Value::as_str);
    message["op"] == "run" && chunks.collect::<String>() == trigger
}

/// What is answered instead, if anything is.
fn misbehave(mode: &str, answer: String, images: usize, streams: usize) -> io::Result<String> {
    match mode {
        "kills-itself" => signal("-KILL")?,
        "aborts" => {
            eprintln!("acme: assertion `sp != NULL` failed");
            process::abort();
        }
        "exits" => process::exit(0),
        "hangs" => thread::sleep(FOREVER),
        "floods" => (0..1024).try_for_each(|_| stdout().write_all(&[b'x'; 1 << 20]))?,
        "floods-slowly" => loop {
            stdout().write_all(&[b'x'; 1 << 14])?;
            stdout().flush()?;
            thread::sleep(Duration::from_millis(60));
        },
        "floods-with-nothing" => loop {
            stdout().write_all(&[b'\n'; 1 << 16])?;
        },
        "no-json" => return Ok(String::from("Segmentation fault\n")),
        "wrong-id" => return Ok(answer.replacen("{\"id\":", "{\"id\":9", 1)),
        "no-result" => {
            return Ok(answer.replace("\"packet\":", "\"paket\":").replace("\"event\":", "\"evnt\":"));
        }
        "answers-twice" => return Ok(answer.repeat(2)),
        "half-an-answer" => {
            write!(stdout(), "{}", answer.get(..answer.len() / 2).unwrap_or_default())?;
            stdout().flush()?;
            process::exit(1);
        }
        "drips" => {
            for byte in answer.bytes() {
                stdout().write_all(&[byte])?;
                stdout().flush()?;
                thread::sleep(Duration::from_millis(500));
            }
        }
        "closes-output" => become_other(Command::new("sleep").arg("1000").stdout(Stdio::null()))?,
        // The answer goes out when the input is closed, so that no request slips in between.
        "closes-input" => {
            let script = "printf %s \"$0\"; exec sleep 1000";
            become_other(Command::new("sh").args(["-c", script, &answer]).stdin(Stdio::null()))?;
        }
        "leaves-children" => {
            for _ in 0..2 {
                Command::new("sleep").arg("1000").spawn()?;
            }
            process::exit(0);
        }
        "keeps-children" => {
            Command::new("sleep").arg("1000").spawn()?;
        }
        "talks-to-stderr" => (0..64).try_for_each(|_| stderr().write_all(&[b'x'; 1 << 20]))?,
        "reports-an-error" => {
            let id = answer.trim_start_matches("{\"id\":").split(',').next().unwrap_or_default();
            return Ok(format!("{{\"id\":{id},\"status\":\"error\",\"message\":\"index 4 of 4\"}}\n"));
        }
        "repeats-nothing" => return Ok(with_results(&answer, "65535")),
        "repeats-endlessly" => {
            let faults = "{\"fault\":\"limit\"},".repeat(1 << 14);
            return Ok(with_results(&answer, &format!("{faults}{}0", "[0,16384],".repeat(64))));
        }
        // As if something of the case before were still there.
        "leaks" if images > 1 => return Ok(with_results(&answer, "")),
        "is-right-every-second-time" if streams.is_multiple_of(2) => return Ok(with_results(&answer, "")),
        _ => {}
    }
    Ok(answer)
}

/// The answer, but with other results.
fn with_results(answer: &str, results: &str) -> String {
    let before = answer.find("\"results\"").unwrap_or(answer.len());
    format!("{}\"results\":[{results}]}}\n", answer.get(..before).unwrap_or_default())
}

/// Sends itself a signal.
fn signal(name: &str) -> io::Result<()> {
    Command::new("kill").args([name, &process::id().to_string()]).status()?;
    thread::sleep(FOREVER);
    Ok(())
}

/// Goes on as another program, with other pipes.
#[cfg(unix)]
fn become_other(command: &mut Command) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_other(_: &mut Command) -> io::Result<()> {
    process::exit(0)
}
