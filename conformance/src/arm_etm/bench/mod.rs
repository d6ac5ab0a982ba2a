//! ETMv3: how fast the reference is on bytes of real and generated trace, and how fast OpenCSD is on the same bytes at
//! the same level, round by round.
//!
//! OpenCSD is timed inside its own process, so that neither pipes nor setting up count; its decoder hands out packets
//! that are counted, or ranges of instructions whose instructions are counted. The reference hands out packets that are
//! counted, or every single instruction with its address.

mod workload;

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use traceproof_decoder::arm_etm::v3::{Decoder, Listener, PacketReader};
use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet};
use traceproof_vectors::{Decoder as _, Fault, Place, Protocol, Refusal, Sink};

use crate::family::{Bench, BenchError, BenchReport, BenchRequest, BenchTask, Measurement};
use crate::rounds::{Seen, Times};
use workload::Etmv3Workload;

/// The part of the family.
pub(super) const BENCH: Bench = Bench { tasks: &TASKS, run, memory: None };

const TASKS: [BenchTask; 2] = [Level::Packets.row(), Level::Instructions.row()];

/// What comes out of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Packets.
    Packets,
    /// Executed instructions, with all that belongs to them.
    Instructions,
}

impl Level {
    const fn row(self) -> BenchTask {
        match self {
            Self::Packets => BenchTask { name: "packets", title: "read packets", unit: "bytes" },
            Self::Instructions => BenchTask { name: "instructions", title: "decode", unit: "bytes" },
        }
    }
}

/// Why nothing was measured.
#[derive(Debug)]
enum Etmv3Error {
    /// A side refuses the parameters.
    Refused(Refusal),
    /// OpenCSD did not answer.
    #[cfg(feature = "peer-opencsd")]
    Peer(crate::peers::opencsd::HostError),
}

impl fmt::Display for Etmv3Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            #[cfg(feature = "peer-opencsd")]
            Self::Peer(error) => error.fmt(f),
        }
    }
}

/// Measures both levels on the capture of a Cortex-A7, repeated, if it is there, and on a generated trace of as many
/// bytes.
fn run(request: &BenchRequest) -> Result<BenchReport, BenchError> {
    let (mut skipped, mut measurements) = (Vec::new(), Vec::new());
    let capture = Etmv3Workload::cortex_a7(&request.captures, request.bytes).map_err(BenchError::of)?;
    if capture.is_none() {
        skipped.push(format!("the capture of a Cortex-A7 is not in {}", request.captures.display()));
    }
    let generated = Etmv3Workload::generated(request.bytes).map_err(BenchError::of)?;
    let wanted = |workload: &Etmv3Workload| {
        let names = &request.workloads;
        names.is_empty() || names.iter().any(|name| workload.name.contains(name.as_str()))
    };
    for workload in capture.into_iter().chain([generated]).filter(wanted) {
        for level in [Level::Packets, Level::Instructions] {
            if request.takes(&level.row()) {
                measurements.push(measure(&workload, level, request.rounds()).map_err(BenchError::of)?);
            }
        }
    }
    #[cfg(feature = "peer-opencsd")]
    let peer = Some(format!("OpenCSD {}", crate::peers::opencsd::VERSION));
    #[cfg(not(feature = "peer-opencsd"))]
    let peer = None;
    Ok(BenchReport { family: ArmEtm::FAMILY, rounds: request.rounds(), peer, skipped, measurements })
}

/// One round of the reference: what it saw, and the seconds.
type Round<'a> = Box<dyn FnMut() -> (Seen, f64) + 'a>;

fn measure(workload: &Etmv3Workload, level: Level, rounds: usize) -> Result<Measurement, Etmv3Error> {
    let mut reference = reference(workload, level).map_err(Etmv3Error::Refused)?;
    #[cfg(feature = "peer-opencsd")]
    let mut peer = peer::Peer::new(workload, level)?;
    // The first round of each side is for the caches.
    let (seen, _) = reference();
    #[cfg(feature = "peer-opencsd")]
    let peer_units = Some(peer.round()?.0);
    #[cfg(not(feature = "peer-opencsd"))]
    let peer_units = None;
    let mut times = Times::default();
    for _ in 0..rounds {
        times.reference.push(reference().1);
        #[cfg(feature = "peer-opencsd")]
        times.peer.push(peer.round()?.1);
    }
    let bytes = workload.wire.len() as u64;
    Ok(Measurement {
        workload: workload.name.to_owned(),
        task: level.row(),
        bytes,
        units: seen.units,
        reference: times.throughput(bytes),
        peer: times.peer_throughput(bytes),
        peer_units,
        // Both counts are shown; they are not compared, because a peer chooses what it delivers.
        peer_agrees: None,
        ratio: times.ratio(),
    })
}

fn reference(workload: &Etmv3Workload, level: Level) -> Result<Round<'_>, Refusal> {
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
    fn packet(&mut self, _: Place, packet: &Packet) {
        black_box(packet);
        self.0 += 1;
    }

    fn lost(&mut self, _: &Fault) {}

    fn trigger(&mut self, _: Place) {}

    fn end(&mut self, _: Place, _: Option<&Fault>, _: bool) {}
}

/// Counts instructions and adds up their addresses.
#[derive(Default)]
struct Instructions(Seen);

impl Sink<ArmEtm> for Instructions {
    #[inline]
    fn packet(&mut self, _: Place, _: &Packet) {}

    #[inline]
    fn event(&mut self, _: Place, event: &Event) {
        if let Event::Atom { address, .. } = event {
            self.0.units += 1;
            self.0.sum = self.0.sum.wrapping_add(address.unwrap_or_default().0.into());
        }
    }

    fn fault(&mut self, _: &Fault) {}
}

#[cfg(feature = "peer-opencsd")]
mod peer {
    use std::time::Duration;

    use traceproof_vectors::arm_etm::Parameters;

    use super::{Etmv3Error, Etmv3Workload, Level};
    use crate::peers::opencsd::{self, Host, HostCommand, Layer, Limits, Source, Stream};

    /// OpenCSD and what it gets.
    pub(super) struct Peer<'a> {
        host: Host,
        source: Source,
        workload: &'a Etmv3Workload,
        level: Level,
    }

    impl<'a> Peer<'a> {
        pub(super) fn new(workload: &'a Etmv3Workload, level: Level) -> Result<Self, Etmv3Error> {
            let parameters: &Parameters = &workload.parameters;
            let source =
                Source::Etmv3(opencsd::arm_etm::configuration(parameters).map_err(Etmv3Error::Refused)?);
            let limits = Limits { deadline: Duration::from_secs(300), ..Limits::default() };
            Ok(Self { host: Host::new(HostCommand::found(), limits), source, workload, level })
        }

        /// What it saw, and the seconds.
        pub(super) fn round(&mut self) -> Result<(u64, f64), Etmv3Error> {
            let stream = Stream::new(&self.source, &self.workload.wire);
            let layer = match self.level {
                Level::Packets => Layer::Packets,
                Level::Instructions => Layer::Elements,
            };
            let outcome = opencsd::time(&mut self.host, layer, &stream, &self.workload.program, 1)
                .map_err(Etmv3Error::Peer)?;
            let units = match self.level {
                Level::Packets => outcome.packets,
                Level::Instructions => outcome.instructions,
            };
            Ok((units, outcome.times.iter().map(Duration::as_secs_f64).sum()))
        }
    }
}
