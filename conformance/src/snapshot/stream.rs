//! The streams of a snapshot: the source and the buffer of each, and its bytes.

use std::collections::BTreeMap;
use std::fmt;

use traceproof_decoder::arm::{Deformatter, Discontinuity, FrameListener, Run};
use traceproof_vectors::arm::{FRAME_BYTES, Framing, TraceId, TraceIdKind};
use traceproof_vectors::{Fault, Place};

use super::{Buffer, BufferFormat, Class, Device, Snapshot, SnapshotError};

/// Bytes of a block of [`BufferFormat::DstreamCoreSight`].
pub const DSTREAM_BLOCK: usize = 512;

/// Bytes at the end of such a block that the probe wrote.
pub const DSTREAM_FOOTER: usize = 8;

/// What one source sent into one buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// Its source.
    pub source: &'a Device,
    /// Its protocol.
    pub protocol: TraceProtocol,
    /// The core that it traces, if a line names it.
    pub core: Option<&'a Device>,
    /// The buffer of its bytes; `None` if no line names it.
    pub buffer: Option<&'a Buffer>,
}

/// The protocol of a trace source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceProtocol {
    /// ETM, architectures 1 to 3.
    Etm,
    /// Program Flow Trace: a PTM.
    Pft,
    /// ETM, architecture 4.
    Etmv4,
    /// Embedded Trace Extension.
    Ete,
    /// System Trace Macrocell.
    Stm,
    /// Instrumentation Trace Macrocell.
    Itm,
    /// Something else.
    Unknown,
}

impl TraceProtocol {
    /// The protocol of a device of this type: `ETM3.5`, `PTM1.1`, `ETM4.2`, …, in either case.
    #[must_use]
    pub fn of(model: &str) -> Self {
        const STARTS: [(&str, TraceProtocol); 8] = [
            ("ETMV4", TraceProtocol::Etmv4),
            ("ETM4", TraceProtocol::Etmv4),
            ("ETM", TraceProtocol::Etm),
            ("ETE", TraceProtocol::Ete),
            ("PTM", TraceProtocol::Pft),
            ("PFT", TraceProtocol::Pft),
            ("STM", TraceProtocol::Stm),
            ("ITM", TraceProtocol::Itm),
        ];
        let model = model.to_ascii_uppercase();
        STARTS.into_iter().find(|(start, _)| model.starts_with(start)).map_or(Self::Unknown, |(_, it)| it)
    }

    /// Register and lowest bit of the seven bits that are the trace ID.
    const fn trace_id(self) -> Option<(&'static str, u32)> {
        match self {
            Self::Etm | Self::Pft => Some(("ETMTRACEIDR", 0)),
            Self::Etmv4 | Self::Ete => Some(("TRCTRACEIDR", 0)),
            Self::Stm => Some(("STMTCSR", 16)),
            Self::Itm => Some(("ITMTCR", 16)),
            Self::Unknown => None,
        }
    }
}

/// The bytes of one source in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceBytes {
    /// Contiguous pieces; between two of them trace is missing. Never empty ones.
    pub pieces: Vec<Vec<u8>>,
    /// What was wrong with the frames of the buffer. Places are those of the buffer, [`DSTREAM_FOOTER`]s left out.
    pub faults: Vec<Fault>,
    /// Bytes of other trace sources in the frames.
    pub others: BTreeMap<TraceId, u64>,
}

/// Why a stream is not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The protocol is not supported yet: the type of the device.
    Unsupported(String),
    /// The snapshot does not have a register that is needed.
    MissingRegister(&'static str),
    /// The value of a register cannot be: its name, and why.
    Register(&'static str, &'static str),
    /// No line names the buffer of the bytes.
    NoBuffer,
    /// The snapshot is damaged.
    Snapshot(SnapshotError),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(model) => write!(f, "`{model}` is not supported yet"),
            Self::MissingRegister(name) => write!(f, "register {name} is missing"),
            Self::Register(name, reason) => write!(f, "register {name}: {reason}"),
            Self::NoBuffer => f.write_str("no buffer has its trace"),
            Self::Snapshot(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<SnapshotError> for StreamError {
    fn from(error: SnapshotError) -> Self {
        Self::Snapshot(error)
    }
}

impl Snapshot {
    /// All streams: sources in the order of the devices, and for each its buffers.
    pub fn streams(&self) -> impl Iterator<Item = Stream<'_>> {
        let sources = self.devices.iter().filter(|device| device.class == Class::TraceSource);
        sources.flat_map(move |source| {
            let wrote = move |buffer: &&Buffer| buffer.sources.contains(&source.name);
            let protocol = TraceProtocol::of(&source.model);
            let core = self.core_of(&source.name);
            let stream = move |buffer| Stream { source, protocol, core, buffer };
            let nowhere = (!self.buffers.iter().any(|buffer| wrote(&buffer))).then(|| stream(None));
            self.buffers.iter().filter(wrote).map(move |buffer| stream(Some(buffer))).chain(nowhere)
        })
    }

    /// The bytes of a stream, taken out of the frames of its buffer.
    ///
    /// # Errors
    ///
    /// When no buffer has them, the buffer cannot be read, or the source has no trace ID.
    pub fn source_bytes(&self, stream: &Stream<'_>) -> Result<SourceBytes, StreamError> {
        let buffer = stream.buffer.ok_or(StreamError::NoBuffer)?;
        let bytes = self.trace(buffer)?;
        let (framing, bytes) = match buffer.format {
            BufferFormat::SourceData => {
                let pieces = if bytes.is_empty() { Vec::new() } else { vec![bytes] };
                return Ok(SourceBytes { pieces, ..SourceBytes::default() });
            }
            BufferFormat::CoreSight => (Framing::Memory, bytes),
            BufferFormat::DstreamCoreSight => (Framing::Continuous, without_footers(&bytes)),
        };
        Ok(SourceBytes::of_frames(&bytes, framing, stream.trace_id()?))
    }
}

impl SourceBytes {
    /// The bytes of one source in formatter frames. Captures in memory begin with a frame.
    #[must_use]
    pub fn of_frames(bytes: &[u8], framing: Framing, id: TraceId) -> Self {
        let mut collector = Collector { id, bytes: Self::default(), new: true };
        let mut deformatter = Deformatter::new(framing);
        deformatter.push(bytes, &mut collector);
        deformatter.finish(&mut collector);
        collector.bytes
    }
}

/// Frames that decide where frames begin.
const TRIED_FRAMES: usize = 8192;

/// Where frames begin in bytes that have no synchronisation packets, such as those of a trace port in asynchronous
/// serial form, where idle gaps separate frames: the first of the places from which on frames have the fewest faults.
#[must_use]
pub fn first_frame(bytes: &[u8]) -> usize {
    let faults = |first: &usize| {
        let tried = bytes.get(*first..).unwrap_or_default();
        let whole = tried.len().min(TRIED_FRAMES * FRAME_BYTES) / FRAME_BYTES * FRAME_BYTES;
        SourceBytes::of_frames(tried.get(..whole).unwrap_or_default(), Framing::Memory, TraceId::NULL)
            .faults
            .len()
    };
    (0..FRAME_BYTES).min_by_key(faults).unwrap_or_default()
}

/// The trace port's bytes; of a last block that is cut, as many as there are before the place of its footer.
fn without_footers(bytes: &[u8]) -> Vec<u8> {
    const PAYLOAD: usize = DSTREAM_BLOCK - DSTREAM_FOOTER;
    bytes.chunks(DSTREAM_BLOCK).flat_map(|block| block.iter().take(PAYLOAD)).copied().collect()
}

impl Stream<'_> {
    /// The number that identifies its bytes in formatter frames.
    ///
    /// # Errors
    ///
    /// When no register has it, or the snapshot is damaged.
    pub fn trace_id(&self) -> Result<TraceId, StreamError> {
        let (name, bit) =
            self.protocol.trace_id().ok_or_else(|| StreamError::Unsupported(self.source.model.clone()))?;
        let id = (self.register(name)?.ok_or(StreamError::MissingRegister(name))? >> bit & 0x7f) as u8;
        TraceId::new(id).ok_or(StreamError::Register(name, "no trace ID"))
    }

    /// The value of a register of the source, which has 32 bits; `None` if the snapshot does not have it.
    ///
    /// # Errors
    ///
    /// When the value is none of 32 bits.
    pub fn register(&self, name: &'static str) -> Result<Option<u32>, StreamError> {
        let value = self.source.register(name)?;
        let wide = |_| StreamError::Register(name, "more than 32 bits");
        value.map(u32::try_from).transpose().map_err(wide)
    }
}

struct Collector {
    id: TraceId,
    bytes: SourceBytes,
    /// The next byte starts a piece.
    new: bool,
}

impl FrameListener for Collector {
    fn data(&mut self, run: Run<'_>) {
        if run.id != self.id || run.bytes.is_empty() {
            if run.id.kind() == TraceIdKind::Source && run.id != self.id {
                *self.bytes.others.entry(run.id).or_default() += run.bytes.len() as u64;
            }
            return;
        }
        match self.bytes.pieces.last_mut() {
            Some(piece) if !self.new => piece.extend_from_slice(run.bytes),
            _ => self.bytes.pieces.push(run.bytes.to_vec()),
        }
        self.new = false;
    }

    fn discontinuity(&mut self, _: Place, _: Discontinuity) {
        self.new = true;
    }

    fn fault(&mut self, fault: &Fault) {
        self.bytes.faults.push(*fault);
        // After a fault of the frames, bytes may be missing.
        self.new |= !fault.class.is_warning();
    }
}

/// How a buffer's format is called in `trace.ini`.
impl fmt::Display for BufferFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.into_iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}
