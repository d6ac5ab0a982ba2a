//! How fast the reference is on bytes of real and generated trace, and how fast OpenCSD is on the same bytes at the same
//! level, round by round.
//!
//! OpenCSD is timed inside its own process, so that neither pipes nor setting up count; its decoder hands out packets
//! that are counted, or ranges of instructions whose instructions are counted.

pub(crate) mod execution;
mod workload;

use std::fmt;

use traceproof_vectors::Refusal;

use crate::family::{BenchError, BenchReport, BenchRequest, BenchTask, Measurement};
use crate::rounds::{Seen, Times};
pub(crate) use workload::{Sent, Workload, WorkloadError, repeated};

#[cfg(feature = "peer-opencsd")]
pub(crate) use crate::peers::opencsd::Translate as Protocol;
#[cfg(not(feature = "peer-opencsd"))]
pub(crate) use traceproof_vectors::Protocol;

pub(crate) const TASKS: [BenchTask; 2] = [Level::Packets.row(), Level::Instructions.row()];

/// What comes out of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
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

/// One round of the reference: what it saw, and the seconds.
pub(crate) type Round<'a> = Box<dyn FnMut() -> (Seen, f64) + 'a>;

/// The rounds of the reference on a workload.
pub(crate) type Reference<P> = for<'a> fn(&'a Workload<P>, Level) -> Result<Round<'a>, Refusal>;

/// Why nothing was measured.
#[derive(Debug)]
enum MeasureError {
    /// A side refuses the parameters.
    Refused(Refusal),
    /// OpenCSD did not answer.
    #[cfg(feature = "peer-opencsd")]
    Peer(crate::peers::opencsd::HostError),
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            #[cfg(feature = "peer-opencsd")]
            Self::Peer(error) => error.fmt(f),
        }
    }
}

/// Measures both levels on the wanted ones of the workloads.
pub(crate) fn run<P: Protocol>(
    request: &BenchRequest,
    workloads: impl IntoIterator<Item = Workload<P>>,
    skipped: Vec<String>,
    reference: Reference<P>,
) -> Result<BenchReport, BenchError> {
    let mut measurements = Vec::new();
    let wanted = |workload: &Workload<P>| {
        let names = &request.workloads;
        names.is_empty() || names.iter().any(|name| workload.name.contains(name.as_str()))
    };
    for workload in workloads.into_iter().filter(wanted) {
        for level in [Level::Packets, Level::Instructions] {
            if request.takes(&level.row()) {
                let measured = measure(&workload, level, request.rounds(), reference);
                measurements.push(measured.map_err(BenchError::of)?);
            }
        }
    }
    #[cfg(feature = "peer-opencsd")]
    let peer = Some(format!("OpenCSD {}", crate::peers::opencsd::VERSION));
    #[cfg(not(feature = "peer-opencsd"))]
    let peer = None;
    Ok(BenchReport { family: P::FAMILY, rounds: request.rounds(), peer, skipped, measurements })
}

fn measure<P: Protocol>(
    workload: &Workload<P>,
    level: Level,
    rounds: usize,
    reference: Reference<P>,
) -> Result<Measurement, MeasureError> {
    let mut reference = reference(workload, level).map_err(MeasureError::Refused)?;
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

#[cfg(feature = "peer-opencsd")]
mod peer {
    use std::time::Duration;

    use super::{Level, MeasureError, Protocol, Workload};
    use crate::peers::opencsd::{self, Host, HostCommand, Layer, Limits, Source, Stream};

    /// OpenCSD and what it gets.
    pub(super) struct Peer<'a, P: Protocol> {
        host: Host,
        source: Source,
        workload: &'a Workload<P>,
        level: Level,
    }

    impl<'a, P: Protocol> Peer<'a, P> {
        pub(super) fn new(workload: &'a Workload<P>, level: Level) -> Result<Self, MeasureError> {
            let packets_only = level == Level::Packets;
            let source = P::source(&workload.parameters, packets_only).map_err(MeasureError::Refused)?;
            let limits = Limits { deadline: Duration::from_secs(300), ..Limits::default() };
            Ok(Self { host: Host::new(HostCommand::found(), limits), source, workload, level })
        }

        /// What it saw, and the seconds.
        pub(super) fn round(&mut self) -> Result<(u64, f64), MeasureError> {
            let stream = Stream::new(&self.source, &self.workload.wire);
            let layer = match self.level {
                Level::Packets => Layer::Packets,
                Level::Instructions => Layer::Elements,
            };
            let outcome = opencsd::time(&mut self.host, layer, &stream, &self.workload.program, 1)
                .map_err(MeasureError::Peer)?;
            let units = match self.level {
                Level::Packets => outcome.packets,
                Level::Instructions => outcome.instructions,
            };
            Ok((units, outcome.times.iter().map(Duration::as_secs_f64).sum()))
        }
    }
}
