//! Throughput of the reference models of RISC-V E-Trace on the shipped programs, compared with the crate
//! `riscv-etrace`.
//!
//! | question | place |
//! |---|---|
//! | What is measured, on what? | `run`, `workload` |
//! | Does the memory of a decoder grow with the trace? | `memory` |

mod memory;
#[cfg(feature = "peer-riscv-etrace")]
mod peer;
mod workload;

use std::hint::black_box;

use traceproof_decoder::riscv_etrace::{
    Content, Decoder, Deframer, Instructions, PacketReader, ProgramMap, Receiver,
};
use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{Event, Packet, RiscvEtrace};
use traceproof_vectors::{Decoder as _, Encoder as _, EncoderSink, Fault, Place, Protocol, Refusal, Sink};

use crate::family::{Bench, BenchError, BenchReport, BenchRequest, BenchTask, Measurement};
use crate::rounds::{Seen, alternate};
use workload::{Keep, Workload};

/// The part of the family.
pub(super) const BENCH: Bench = Bench { tasks: &TASKS, run, memory: Some(memory::memory) };

const TASKS: [BenchTask; 4] =
    [Task::DecodeInstructions.row(), Task::DecodeRanges.row(), Task::ReadPackets.row(), Task::Encode.row()];

/// What is done in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
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
    const ALL: [Self; 4] = [Self::DecodeInstructions, Self::DecodeRanges, Self::ReadPackets, Self::Encode];

    const fn row(self) -> BenchTask {
        let (name, title, unit) = match self {
            Self::DecodeInstructions => ("instructions", "decode, every pc", "instructions"),
            Self::DecodeRanges => ("ranges", "decode, ranges", "instructions"),
            Self::ReadPackets => ("packets", "read packets", "packets"),
            Self::Encode => ("encode", "encode", "instructions"),
        };
        BenchTask { name, title, unit }
    }
}

/// Measures every task on the shipped programs.
fn run(request: &BenchRequest) -> Result<BenchReport, BenchError> {
    let mut measurements = Vec::new();
    for workload in Workload::shipped(&request.workloads, Keep::Stimuli).map_err(BenchError::of)? {
        for task in Task::ALL.into_iter().filter(|task| request.takes(&task.row())) {
            measurements.push(measure(&workload, task, request.rounds()).map_err(BenchError::of)?);
        }
    }
    Ok(BenchReport {
        family: RiscvEtrace::FAMILY,
        rounds: request.rounds(),
        peer: cfg!(feature = "peer-riscv-etrace").then(|| String::from("riscv-etrace 0.10.0")),
        skipped: Vec::new(),
        measurements,
    })
}

fn measure(workload: &Workload, task: Task, rounds: usize) -> Result<Measurement, Refusal> {
    let mut reference = reference(workload, task)?;
    #[cfg(feature = "peer-riscv-etrace")]
    let mut peer = Some(peer::peer(workload, task)?);
    #[cfg(not(feature = "peer-riscv-etrace"))]
    let mut peer: Option<Round<'_>> = None;
    let first = reference();
    let theirs = peer.as_mut().map(|peer| peer());
    let peer_agrees = theirs
        .map(|seen| seen.units == first.units && (task != Task::DecodeInstructions || seen.sum == first.sum));
    // The speed of a wrong result is none.
    let mut peer = peer.filter(|_| peer_agrees == Some(true));
    let times = alternate(rounds, &mut *reference, peer.as_deref_mut());
    Ok(Measurement {
        workload: workload.name.clone(),
        task: task.row(),
        units: first.units,
        bytes: workload.wire.len() as u64,
        reference: times.throughput(first.units),
        peer: times.peer_throughput(first.units),
        peer_units: theirs.map(|seen| seen.units),
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
