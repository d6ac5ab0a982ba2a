//! The verbs `vectors pack`, `vectors check` and `check-rtl`.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use traceproof_vectors::bounded;

use crate::generate::Size;
use crate::judge::judge;
use crate::pack::{self, Manifest, Pack};
use crate::streams::{self, StreamManifest};
use crate::{Beat, CaseLog, Device, MonitorLog, OutputForm, Problem, dump, monitor, report};

/// Stimulus packs for trace encoders in hardware.
#[derive(Debug, Subcommand)]
pub enum VectorsVerb {
    /// Generate a pack for a device.
    Pack(PackArguments),
    /// Check that a pack is whole and consistent.
    Check(CheckArguments),
}

/// Arguments of `vectors pack`.
#[derive(Debug, Args)]
pub struct PackArguments {
    /// Description of the device.
    #[arg(long, value_name = "FILE")]
    dut: PathBuf,
    /// Directory for the pack; it must be empty or not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How much stimulus.
    #[arg(long, value_enum, default_value_t)]
    size: Size,
    /// The same seed gives the same pack.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Signals of the ingress port that your own simulation wrote down, as CSV or VCD: the only case of the pack.
    #[arg(long, value_name = "FILE", requires = "image", conflicts_with_all = ["size", "seed"])]
    signals: Option<PathBuf>,
    /// The program that it executed, in the form of `objcopy -O verilog`.
    #[arg(long, value_name = "FILE", requires = "signals")]
    image: Option<PathBuf>,
}

/// Arguments of `vectors check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Directory of the pack.
    #[arg(value_name = "PACK")]
    pack: PathBuf,
}

/// Judge what a trace encoder in hardware answered to a pack.
///
/// The program of `--run` is started once, with the environment variables TRACEPROOF_PACK (directory of the pack) and
/// TRACEPROOF_LOG (file that the monitor must write). Levels: exact (bytes of the policy), fields, legal (what the
/// specification allows), semantic (a decoder reports the execution). Exit code 0 needs legal, semantic, relations and
/// latency; the other two are information.
#[derive(Debug, Args)]
pub struct CheckRtlArguments {
    /// Description of the device; it must be the one that the pack was made for.
    #[arg(long, value_name = "FILE")]
    dut: PathBuf,
    /// Directory of the pack.
    #[arg(long, value_name = "DIR")]
    pack: PathBuf,
    /// Command that simulates, run by the shell.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["log", "bytes"], required_unless_present_any = ["log", "bytes"])]
    run: Option<String>,
    /// What a monitor wrote earlier.
    #[arg(long, value_name = "FILE", conflicts_with = "bytes")]
    log: Option<PathBuf>,
    /// What came out, for a pack of one case: the bytes of the transport if the output is a stream, else a payload in
    /// hexadecimal on each line.
    #[arg(long, value_name = "FILE")]
    bytes: Option<PathBuf>,
    /// Write the verdict as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the verdict as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// What a verb printed, and whether all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Text for standard output.
    pub text: String,
    /// The device passes, the pack is whole.
    pub passed: bool,
}

/// Runs a verb of `vectors`.
///
/// # Errors
///
/// What cannot be read, written or generated, with its place.
pub fn vectors(verb: &VectorsVerb) -> Result<Done, Problem> {
    match verb {
        VectorsVerb::Pack(arguments) => make(arguments),
        VectorsVerb::Check(arguments) => {
            if is_streams(&arguments.pack) {
                let pack = streams::read(&arguments.pack)?;
                let StreamManifest { protocol, cases, bytes, stimulus, .. } = &pack.manifest;
                let (cases, rows) = (cases.len(), bytes.rows);
                let steps = stimulus.as_ref().map_or(0, |sheet| sheet.rows);
                let text = format!(
                    "{protocol}: {cases} cases, {rows} rows of bytes, {steps} rows of stimulus: the pack is whole\n"
                );
                return Ok(Done { text, passed: cases > 0 });
            }
            let pack = pack::read(&arguments.pack)?;
            let (cases, rows) = (pack.cases.len(), pack.manifest.rows);
            let passed = cases > 0;
            Ok(Done { text: format!("{cases} cases, {rows} rows: the pack is whole\n"), passed })
        }
    }
}

/// Whether the pack is one of streams. What is no manifest is read as one of the other kind, and the error is its.
fn is_streams(directory: &Path) -> bool {
    let text = bounded::read_to_string(&directory.join("manifest.json"), bounded::LISTING);
    let manifest = text.ok().and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    manifest.is_some_and(|manifest| manifest.get("format").is_some_and(|format| format == streams::FORMAT))
}

fn make(arguments: &PackArguments) -> Result<Done, Problem> {
    let text = settings(&arguments.dut)?;
    let device = Device::parse(&arguments.dut.display().to_string(), &text)?;
    let manifest = match (&arguments.signals, &arguments.image) {
        (Some(signals), Some(image)) => record(arguments, &device, &text, signals, image)?,
        _ => pack::write(&arguments.output, &device, &text, arguments.size, arguments.seed)?,
    };
    let bins = manifest.bins;
    let mut done = format!(
        "{} cases, {} rows; bins: {} hit, {} missed, {} unreachable (bins.json)\n",
        manifest.cases.len(),
        manifest.rows,
        bins.hit,
        bins.missed,
        bins.unreachable
    );
    // By reason; the manifest names them all.
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for left_out in &manifest.left_out {
        reasons.entry(&left_out.reason).or_default().push(&left_out.id);
    }
    for (reason, ids) in reasons {
        let which = match ids[..] {
            [only] => only.to_owned(),
            [first, ..] => format!("{} cases, {first} first", ids.len()),
            [] => continue,
        };
        done.push_str(&format!("left out: {which}: {reason}\n"));
    }
    Ok(Done { text: done, passed: true })
}

fn record(
    arguments: &PackArguments,
    device: &Device,
    text: &str,
    signals: &Path,
    image: &Path,
) -> Result<Manifest, Problem> {
    let name = image.display().to_string();
    let program =
        pack::image(&text_of(image)?).map_err(|(line, message)| Problem::at(name, line, 1, message))?;
    let file = fs::File::open(signals)
        .map_err(|error| Problem::whole(signals.display().to_string(), error.to_string()))?;
    let rows = dump::read(signals, device, &mut BufReader::new(file))?;
    pack::write_recorded(&arguments.output, device, text, rows, program)
}

/// Runs `check-rtl`.
///
/// # Errors
///
/// What cannot be read, started or written, with its place.
pub fn check_rtl(arguments: &CheckRtlArguments) -> Result<Done, Problem> {
    check_outputs(arguments)?;
    let name = arguments.dut.display().to_string();
    let device = Device::parse(&name, &settings(&arguments.dut)?)?;
    let mut pack = pack::read(&arguments.pack)?;
    if device.parameters != pack.device.parameters || device.ingress != pack.device.ingress {
        return Err(Problem::whole(
            name,
            "the pack was made for a device with other parameters or another ingress port",
        ));
    }
    // Policy and output form may be stated anew: they concern the judgement, not the stimulus.
    pack.device = device;
    let log = match (&arguments.log, &arguments.bytes, &arguments.run) {
        (Some(log), ..) => MonitorLog::parse(&log.display().to_string(), &text_of(log)?)?,
        (_, Some(bytes), _) => {
            // Nothing says when the bytes came.
            pack.device.latency = None;
            log_of_bytes(&pack, bytes)?
        }
        (.., Some(command)) => simulate(command, &arguments.pack)?,
        _ => return Err(Problem::whole(name, "one of `--run`, `--log` and `--bytes` is needed")),
    };
    let verdict = judge(&pack, &log);
    if let Some(file) = &arguments.json {
        let text = report::json(&verdict)
            .map_err(|error| Problem::whole(file.display().to_string(), error.to_string()))?;
        write(file, &text)?;
    }
    if let Some(file) = &arguments.junit {
        let text = report::junit(&verdict)
            .map_err(|error| Problem::whole(file.display().to_string(), error.to_string()))?;
        write(file, &text)?;
    }
    Ok(Done { text: report::text(&verdict), passed: verdict.passes() })
}

/// The log of a pack of one case, from what came out of the user's own simulation.
fn log_of_bytes(pack: &Pack, file: &Path) -> Result<MonitorLog, Problem> {
    let name = file.display().to_string();
    let [_] = &pack.cases[..] else {
        return Err(Problem::whole(name, "bytes can be judged for a pack of one case, see `--signals`"));
    };
    let beat = |bytes: Vec<u8>| Beat { row: 0, clock: 0, bytes };
    let mut case = CaseLog::default();
    match pack.device.output {
        OutputForm::Stream => {
            let bytes = bounded::read(file, bounded::LISTING)
                .map_err(|error| Problem::whole(&name, error.to_string()))?;
            case.beats.push(beat(bytes));
        }
        OutputForm::Payload => {
            for (number, line) in (1..).zip(text_of(file)?.lines()).filter(|(_, line)| !line.is_empty()) {
                let payload = monitor::hex(line.trim());
                let message = "expected a payload in hexadecimal, two digits for each byte";
                case.packets.push(beat(payload.ok_or_else(|| Problem::at(&name, number, 1, message))?));
            }
        }
    }
    let checksum = u32::from_str_radix(&pack.manifest.checksum, 16).unwrap_or(0);
    Ok(MonitorLog { cases: vec![case], driven: Some((pack.manifest.rows, checksum)), ended: true })
}

/// Outputs are none of the inputs, and not one file.
fn check_outputs(arguments: &CheckRtlArguments) -> Result<(), Problem> {
    let CheckRtlArguments { dut, log, bytes, json, junit, .. } = arguments;
    let place = |file: &Path| fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut known: Vec<PathBuf> = vec![place(dut)];
    known.extend([log, bytes].into_iter().flatten().map(|file| place(file)));
    for output in [json, junit].into_iter().flatten() {
        if known.contains(&place(output)) || place(output).starts_with(place(&arguments.pack)) {
            let message = "is an input or another output; nothing was written";
            return Err(Problem::whole(output.display().to_string(), message));
        }
        known.push(place(output));
    }
    Ok(())
}

/// Starts the simulator once for the whole pack.
fn simulate(command: &str, directory: &Path) -> Result<MonitorLog, Problem> {
    MonitorLog::parse("monitor.log", &log_of_run(command, directory)?)
}

/// Runs a command once for a pack, with TRACEPROOF_PACK and TRACEPROOF_LOG in its environment; returns the log that it
/// wrote.
///
/// # Errors
///
/// When it cannot be started, fails, or writes no log.
pub fn log_of_run(command: &str, directory: &Path) -> Result<String, Problem> {
    let problem = |message: String| Problem::whole(command, message);
    let temporary = tempfile::tempdir().map_err(|error| problem(error.to_string()))?;
    let file = temporary.path().join("monitor.log");
    let directory = fs::canonicalize(directory).map_err(|error| problem(error.to_string()))?;
    let status = Command::new("sh")
        .args(["-c", command])
        .env("TRACEPROOF_PACK", directory)
        .env("TRACEPROOF_LOG", &file)
        .status()
        .map_err(|error| problem(format!("cannot be started: {error}")))?;
    if !file.exists() {
        return Err(problem(format!("{status}; it wrote no file $TRACEPROOF_LOG")));
    }
    let log = text_of(&file)?;
    if status.success() { Ok(log) } else { Err(problem(format!("{status}"))) }
}

fn text_of(file: &Path) -> Result<String, Problem> {
    text_up_to(file, bounded::LISTING)
}

/// The text of the description of a device.
fn settings(file: &Path) -> Result<String, Problem> {
    text_up_to(file, bounded::TEXT)
}

fn text_up_to(file: &Path, limit: u64) -> Result<String, Problem> {
    bounded::read_to_string(file, limit)
        .map_err(|error| Problem::whole(file.display().to_string(), error.to_string()))
}

/// Writes an output. A plain file is written beside its place and renamed, so what was there stays until all is written,
/// and an input of another name (a hard link) keeps its bytes; a pipe or a device gets the text as it is.
fn write(file: &Path, text: &str) -> Result<(), Problem> {
    let written = match fs::metadata(file) {
        Ok(found) if !found.is_file() => fs::write(file, text),
        found => replace(file, text, found.ok().map(|found| found.permissions())),
    };
    written.map_err(|error| Problem::whole(file.display().to_string(), error.to_string()))
}

fn replace(file: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    // Of a link, the file that it leads to is replaced, not the link.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.suffix(".partial");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut beside = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
    beside.write_all(text.as_bytes())?;
    beside.persist(&file).map(drop).map_err(|error| error.error)
}
