//! How does a run become a recording?

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use traceproof_vectors::riscv_etrace::{Step, Xlen};

use super::{
    ExecutionFileError, ExecutionWriter, FlowCheck, FlowMap, IllegalFlow, Image, QemuLog, QemuLogError,
    ShippedError, ShippedProgram,
};

/// A program that runs longer than this does not end.
const PATIENCE: Duration = Duration::from_secs(120);
/// A program that runs more instructions than this does not end.
const MOST_STEPS: u64 = 20_000_000;

/// What was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Retired instructions.
    pub instructions: u64,
    /// Traps taken.
    pub traps: u64,
}

/// Why a program was not recorded.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The emulator is not installed.
    Missing(&'static str),
    /// Running the emulator failed.
    Io(io::Error),
    /// The program cannot be read.
    Program(ShippedError),
    /// The emulator's log cannot be understood.
    Log(QemuLogError),
    /// The log has an execution that is impossible for the program.
    Flow(IllegalFlow),
    /// The recording cannot be written.
    Execution(ExecutionFileError),
    /// The program did not end; it was stopped.
    Endless,
    /// The log holds no instruction of the program. The message of the emulator, if any.
    Nothing,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(tool) => {
                write!(f, "{tool} is not installed; on Debian: apt-get install qemu-system-misc")
            }
            Self::Io(error) => error.fmt(f),
            Self::Program(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Flow(error) => error.fmt(f),
            Self::Execution(error) => error.fmt(f),
            Self::Endless => f.write_str("the program does not end"),
            Self::Nothing => f.write_str("the emulator ran no instruction of the program"),
        }
    }
}

impl std::error::Error for RecordError {}

/// Runs an ELF file in QEMU and writes its execution.
///
/// Time is counted in instructions (`-icount`) and the host's clock is kept out of it (`sleep=off`), so that
/// every run takes its interrupts at the same place.
///
/// # Errors
///
/// When the emulator is not there or fails, when the program does not end, or when the log makes no sense for
/// the program.
pub fn record(program: &ShippedProgram, elf: &Path, output: impl Write) -> Result<Recording, RecordError> {
    let image = Image::read(elf).map_err(RecordError::Program)?;
    let map = FlowMap::new(&image.program, image.xlen);
    let mut emulator = Emulator::start(program, elf)?;
    let delegation = program.delegation();
    let log = QemuLog::new(BufReader::new(&mut emulator.log), &map, &delegation);
    let mut check = FlowCheck::new(&map);
    let mut writer = ExecutionWriter::new(output, image.xlen).map_err(RecordError::Execution)?;
    let mut recording = Recording::default();
    for step in log {
        let step = step.map_err(RecordError::Log)?;
        check.step(&step).map_err(RecordError::Flow)?;
        writer.step(&step).map_err(RecordError::Execution)?;
        match step {
            Step::Trap(_) => recording.traps += 1,
            _ => recording.instructions += 1,
        }
        if recording.instructions + recording.traps > MOST_STEPS {
            return Err(RecordError::Endless);
        }
    }
    if emulator.stop() {
        return Err(RecordError::Endless);
    }
    if recording == Recording::default() {
        return Err(RecordError::Nothing);
    }
    writer
        .finish()
        .and_then(|mut output| {
            output
                .flush()
                .map_err(|error| ExecutionFileError { offset: 0, defect: super::ExecutionDefect::Io(error) })
        })
        .map_err(RecordError::Execution)?;
    Ok(recording)
}

/// A running QEMU that is stopped when patience ends or when it is dropped.
struct Emulator {
    child: Arc<Mutex<Child>>,
    log: Box<dyn Read>,
    alarm: Option<(Sender<()>, thread::JoinHandle<bool>)>,
}

impl Emulator {
    fn start(program: &ShippedProgram, elf: &Path) -> Result<Self, RecordError> {
        let name = match program.xlen {
            Xlen::Rv32 => "qemu-system-riscv32",
            Xlen::Rv64 => "qemu-system-riscv64",
        };
        let mut child = Command::new(name)
            .args([
                "-M",
                &program.machine,
                "-bios",
                "none",
                "-display",
                "none",
                "-serial",
                "none",
                "-monitor",
                "none",
            ])
            .args(["-icount", "shift=0,sleep=off", "-singlestep", "-d", "exec,nochain,int", "-kernel"])
            .arg(elf)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => RecordError::Missing(name),
                _ => RecordError::Io(error),
            })?;
        let log: Box<dyn Read> = match child.stderr.take() {
            Some(log) => Box::new(log),
            None => Box::new(io::empty()),
        };
        let child = Arc::new(Mutex::new(child));
        let (sender, receiver) = channel();
        let watched = Arc::clone(&child);
        // Reading the log blocks, so the timeout needs a separate thread.
        let alarm = thread::spawn(move || {
            let timed_out =
                receiver.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if timed_out {
                end(&watched);
            }
            timed_out
        });
        Ok(Self { child, log, alarm: Some((sender, alarm)) })
    }

    /// Ends the emulator; whether patience had ended before.
    fn stop(&mut self) -> bool {
        let Some((sender, alarm)) = self.alarm.take() else { return false };
        drop(sender);
        let timed_out = alarm.join().unwrap_or(false);
        end(&self.child);
        timed_out
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Ends a child and collects it. Errors mean that it has ended already.
fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    drop(child.kill());
    drop(child.wait());
}
