//! ETE and ETMv4: how fast the reference and OpenCSD are. Both hand out packets that are counted, or runs of
//! instructions.

mod workload;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use traceproof_decoder::arm_ete::{Decoder, Listener, PacketReader};
use traceproof_vectors::arm_ete::{ArmEte, Event, Packet};
use traceproof_vectors::{Decoder as _, Fault, Place, Refusal, Sink};

use crate::arm::bench::{self, Level, Round, TASKS, Workload};
use crate::family::{Bench, BenchError, BenchReport, BenchRequest};
use crate::rounds::Seen;

/// The part of the family.
pub(super) const BENCH: Bench = Bench { tasks: &TASKS, run, memory: None };

/// Measures both levels on the largest captures of an ETMv4 and of an ETE, repeated, where they are, and on two
/// generated traces of as many bytes.
fn run(request: &BenchRequest) -> Result<BenchReport, BenchError> {
    let (mut skipped, mut workloads) = (Vec::new(), Vec::new());
    for capture in workload::CAPTURES {
        match workload::captured(&request.captures, capture, request.bytes).map_err(BenchError::of)? {
            Some(workload) => workloads.push(workload),
            None => skipped.push(format!("{} is not in {}", capture.directory, request.captures.display())),
        }
    }
    workloads.extend(workload::generated(request.bytes).map_err(BenchError::of)?);
    bench::run(request, workloads, skipped, reference)
}

fn reference(workload: &Workload<ArmEte>, level: Level) -> Result<Round<'_>, Refusal> {
    Ok(match level {
        Level::Packets => {
            let mut reader = PacketReader::new(&workload.parameters)?;
            Box::new(move || {
                let mut packets = Packets::default();
                reader.reset();
                let start = Instant::now();
                reader.push(&workload.wire, &mut packets);
                reader.finish(&mut packets);
                (Seen { units: packets.0, sum: 0 }, start.elapsed().as_secs_f64())
            })
        }
        Level::Instructions => {
            let mut decoder = Decoder::default();
            decoder.begin(&workload.parameters, &workload.program)?;
            Box::new(move || {
                let mut instructions = Instructions::default();
                decoder.reset();
                let start = Instant::now();
                decoder.push_into(&workload.wire, &mut instructions);
                decoder.finish_into(&mut instructions);
                (black_box(instructions.0), start.elapsed().as_secs_f64())
            })
        }
    })
}

/// Counts packets.
#[derive(Default)]
struct Packets(u64);

impl Listener for Packets {
    #[inline]
    fn packet(&mut self, _: Place, packet: &Packet) -> ControlFlow<()> {
        black_box(packet);
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn lost(&mut self, _: &Fault) {}

    fn cut(&mut self, _: &Fault) {}
}

/// Counts instructions and adds up where runs begin.
#[derive(Default)]
struct Instructions(Seen);

impl Sink<ArmEte> for Instructions {
    #[inline]
    fn packet(&mut self, _: Place, _: &Packet) {}

    #[inline]
    fn event(&mut self, _: Place, event: &Event) {
        if let Event::Instructions { first, count, .. } = event {
            self.0.units += count;
            self.0.sum = self.0.sum.wrapping_add(first.0);
        }
    }

    fn fault(&mut self, _: &Fault) {}
}
