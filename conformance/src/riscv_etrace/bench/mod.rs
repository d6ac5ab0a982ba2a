//! How fast the reference models of RISC-V E-Trace are, and how fast a peer is in the same run.
//!
//! Only ratios mean anything across machines; rounds of both sides alternate so that a busy machine slows both. No test
//! asserts a time.
//!
//! | question | place |
//! |---|---|
//! | What is measured, on what? | [`run`], [`Options`] |
//! | What came out? | [`Report`], [`Measurement`] |
//! | Does the memory of a decoder grow with the trace? | [`memory`] |

mod memory;
#[cfg(feature = "peer-riscv-etrace")]
mod peer;
mod workload;

use std::hint::black_box;

use serde::Serialize;
use traceproof_decoder::riscv_etrace::{
    Content, Decoder, Deframer, Instructions, PacketReader, ProgramMap, Receiver,
};
use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{Event, Packet, RiscvEtrace};
use traceproof_vectors::{Decoder as _, Encoder as _, EncoderSink, Fault, Place, Refusal, Sink};

pub use memory::{Memory, memory};
pub use workload::{Keep, Workload, WorkloadError};

use crate::rounds::{Seen, alternate};

/// How to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Rounds per side; the median counts.
    pub rounds: usize,
    /// Programs whose name contains one of these; without any, those of at least 100 000 instructions.
    pub programs: Vec<String>,
    /// Tasks; without any, all of them.
    pub tasks: Vec<Task>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 15, programs: Vec::new(), tasks: Vec::new() }
    }
}

/// Everything that was measured in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Rounds per side.
    pub rounds: usize,
    /// The peer's name and version, if this build has one.
    pub peer: Option<String>,
    /// What was measured.
    pub measurements: Vec<Measurement>,
}

/// One throughput.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Name of the program.
    pub program: String,
    /// What was done.
    pub task: Task,
    /// How many instructions or packets a round had.
    pub units: u64,
    /// Median of the reference, units per second.
    pub reference: f64,
    /// Median of the peer, units per second; `None` also where it did not do the same work.
    pub peer: Option<f64>,
    /// Whether the peer saw the same instructions or packets.
    pub peer_agrees: Option<bool>,
    /// Median over the rounds of the peer's time divided by that of the reference in the same round.
    pub ratio: Option<f64>,
}

/// What is done in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Bytes to execution, every program counter by itself.
    DecodeInstructions,
    /// Bytes to execution in ranges; a peer that has none delivers every program counter.
    DecodeRanges,
    /// Bytes to packets.
    ReadPackets,
    /// Ingress port to bytes.
    Encode,
}

impl Task {
    /// Every task.
    pub const ALL: [Self; 4] =
        [Self::DecodeInstructions, Self::DecodeRanges, Self::ReadPackets, Self::Encode];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DecodeInstructions => "decode, every pc",
            Self::DecodeRanges => "decode, ranges",
            Self::ReadPackets => "read packets",
            Self::Encode => "encode",
        }
    }

    /// What is counted.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::ReadPackets => "packets/s",
            Self::DecodeInstructions | Self::DecodeRanges | Self::Encode => "instructions/s",
        }
    }
}

/// Why nothing was measured.
#[derive(Debug)]
#[non_exhaustive]
pub enum BenchError {
    /// A program cannot be prepared.
    Workload(WorkloadError),
    /// The reference refuses the workload.
    Refused(Refusal),
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Workload(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for BenchError {}

impl From<WorkloadError> for BenchError {
    fn from(error: WorkloadError) -> Self {
        Self::Workload(error)
    }
}

impl From<Refusal> for BenchError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Measures every task on the shipped programs.
///
/// # Errors
///
/// When a program cannot be prepared.
pub fn run(options: &Options) -> Result<Report, BenchError> {
    let mut measurements = Vec::new();
    for workload in Workload::shipped(&options.programs, Keep::Stimuli)? {
        let wanted = |task: &Task| options.tasks.is_empty() || options.tasks.contains(task);
        for task in Task::ALL.into_iter().filter(wanted) {
            measurements.push(measure(&workload, task, options.rounds.max(1))?);
        }
    }
    let peer = cfg!(feature = "peer-riscv-etrace").then(|| String::from("riscv-etrace 0.10.0"));
    Ok(Report { rounds: options.rounds.max(1), peer, measurements })
}

fn measure(workload: &Workload, task: Task, rounds: usize) -> Result<Measurement, BenchError> {
    let mut reference = reference(workload, task)?;
    #[cfg(feature = "peer-riscv-etrace")]
    let mut peer = Some(peer::peer(workload, task)?);
    #[cfg(not(feature = "peer-riscv-etrace"))]
    let mut peer: Option<Round<'_>> = None;
    let first = reference();
    let peer_agrees = peer.as_mut().map(|peer| {
        let seen = peer();
        seen.units == first.units && (task != Task::DecodeInstructions || seen.sum == first.sum)
    });
    // The speed of a wrong result is none.
    let mut peer = peer.filter(|_| peer_agrees == Some(true));
    let times = alternate(rounds, &mut *reference, peer.as_deref_mut());
    Ok(Measurement {
        program: workload.name.clone(),
        task,
        units: first.units,
        reference: times.throughput(first.units),
        peer: times.peer_throughput(first.units),
        peer_agrees,
        ratio: times.ratio(),
    })
}

/// One round of one side.
type Round<'a> = Box<dyn FnMut() -> Seen + 'a>;

fn reference(workload: &Workload, task: Task) -> Result<Round<'_>, Refusal> {
    let mut decoder = Decoder::default();
    decoder.begin(&workload.parameters, &workload.program)?;
    let map = ProgramMap::new(&workload.program, &workload.parameters);
    Ok(match task {
        Task::DecodeInstructions => Box::new(move || {
            let mut seen = Retired::default();
            let mut instructions = Instructions::new(&map, &mut seen);
            decoder.reset();
            decoder.push_into(&workload.wire, &mut instructions);
            decoder.finish_into(&mut instructions);
            seen.0
        }),
        Task::DecodeRanges => Box::new(move || {
            let mut seen = Retired::default();
            decoder.reset();
            decoder.push_into(&workload.wire, &mut seen);
            decoder.finish_into(&mut seen);
            seen.0
        }),
        Task::ReadPackets => {
            let mut reader = PacketReader::new(&workload.parameters)?;
            let parameters = workload.parameters.clone();
            let mut deframer = Deframer::new(&parameters)?;
            Box::new(move || {
                let mut packets = Packets { reader: &mut reader, seen: Seen::default() };
                packets.reader.reset();
                deframer.push_contents(&workload.wire, &mut packets);
                packets.seen
            })
        }
        Task::Encode => Box::new(move || {
            let mut encoder = Encoder::default();
            let mut sent = Sent::default();
            // Accepted when the workload was made.
            if encoder.begin(&workload.parameters, &workload.policy).is_ok() {
                for stimulus in &workload.stimuli {
                    encoder.step(stimulus, &mut sent);
                }
                encoder.finish(&mut sent);
            }
            black_box(sent.bytes);
            Seen { units: workload.instructions, sum: 0 }
        }),
    })
}

/// Reads and counts packets.
struct Packets<'a> {
    reader: &'a mut PacketReader,
    seen: Seen,
}

impl Receiver for Packets<'_> {
    #[inline(always)]
    fn content(&mut self, place: Place, content: Result<Content<'_>, Fault>) {
        if let Ok(Content::Instruction(payload)) = content {
            self.seen.units += u64::from(black_box(&self.reader.read(place, payload)).is_ok());
        }
    }
}

/// Counts instructions and adds up the first address of every event.
#[derive(Default)]
struct Retired(Seen);

impl Sink<RiscvEtrace> for Retired {
    #[inline]
    fn packet(&mut self, _: Place, _: &Packet) {}

    #[inline]
    fn event(&mut self, _: Place, event: &Event) {
        if let Event::Retire { first, count, .. } = event {
            self.0.units += count;
            self.0.sum = self.0.sum.wrapping_add(first.0);
        }
    }

    fn fault(&mut self, _: &Fault) {}
}

/// Counts bytes.
#[derive(Default)]
struct Sent {
    bytes: u64,
}

impl EncoderSink<RiscvEtrace> for Sent {
    fn packet(&mut self, _: &Packet) {}

    fn wire(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
    }
}
