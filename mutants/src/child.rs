//! A process that judges one mutant.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Id of the case.
    pub case: String,
    /// Direction of the check.
    pub direction: String,
    /// The verdict: `fail`, `crash`, `timeout` and so on.
    pub kind: String,
    /// The verdict as a sentence.
    pub message: String,
}

/// How the process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It judged; there are no failures if every check passed.
    Judged { failures: Vec<Failure> },
    /// It was ended by a signal.
    Crashed,
    /// It was stopped at the deadline.
    TimedOut,
}

#[derive(Deserialize)]
struct Report {
    failures: Vec<Failure>,
}

/// What the process prints, and whether it ended before the deadline.
struct Output {
    status: Option<ExitStatus>,
    stdout: String,
    stderr: String,
}

/// Runs the driver with these arguments.
pub(crate) fn judge(driver: &Path, arguments: &[String], deadline: Duration) -> Result<Ended, Error> {
    let Output { status, stdout, stderr } = output(driver, arguments, deadline)?;
    let Some(status) = status else { return Ok(Ended::TimedOut) };
    let report = stdout.lines().last().and_then(|line| serde_json::from_str::<Report>(line).ok());
    match (status.code(), report) {
        (Some(0), Some(_)) => Ok(Ended::Judged { failures: Vec::new() }),
        (Some(1), Some(report)) if !report.failures.is_empty() => {
            Ok(Ended::Judged { failures: report.failures })
        }
        (Some(1), Some(_)) => Ok(unjudged("no check applies")),
        (Some(5), _) => Ok(unjudged(stderr.trim())),
        // A panic of the harness because of what the mutant did, or a signal.
        (Some(101) | None, _) => Ok(Ended::Crashed),
        (code, _) => Err(Error::Driver(format!("the driver ended with {code:?}: {stderr}"))),
    }
}

/// A run that fails although no check does.
fn unjudged(message: &str) -> Ended {
    let text = |text: &str| text.to_owned();
    let failure =
        Failure { case: text("-"), direction: text("-"), kind: text("suite"), message: text(message) };
    Ended::Judged { failures: vec![failure] }
}

/// The families that the driver knows.
pub(crate) fn families(driver: &Path) -> Result<Vec<String>, Error> {
    let Output { stdout, .. } = output(driver, &[String::from("families")], Duration::from_secs(60))?;
    Ok(stdout.lines().map(str::to_owned).collect())
}

fn output(driver: &Path, arguments: &[String], deadline: Duration) -> Result<Output, Error> {
    let error = |error| Error::file(driver, error);
    let mut child = Command::new(driver)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(error)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    // Both are read while the process runs, because a full pipe would stop it.
    let (stdout, stderr) = (thread::spawn(|| text(out)), thread::spawn(|| text(err)));
    let status = wait(&mut child, deadline).map_err(error)?;
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(Output { status, stdout, stderr })
}

fn text(pipe: Option<impl std::io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What could be read is enough.
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the process; at the deadline it is ended, and the result is `None`. Time in which this program is suspended
/// does not count.
fn wait(child: &mut Child, deadline: Duration) -> std::io::Result<Option<ExitStatus>> {
    let (mut waited, mut pause) = (Duration::ZERO, Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        let before = Instant::now();
        thread::sleep(pause);
        waited += before.elapsed().min(Duration::from_secs(1));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
