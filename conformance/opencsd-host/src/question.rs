//! What is asked and answered.

use serde::{Deserialize, Serialize};

use crate::{Element, etmv3, etmv4, ptm};

/// The version of OpenCSD that the host links.
pub const VERSION: &str = "1.8.0";

/// One stream to decode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is wanted of the stream.
    pub layer: Layer,
    /// The trace units that wrote it, one decoder each.
    pub sources: Vec<Source>,
    /// How the bytes of the sources lie in the stream.
    pub framing: Framing,
    /// Memory; the bytes follow in this order.
    pub memory: Vec<Memory>,
    /// Length of the trace, in bytes, which follows the memory. OpenCSD counts in 32 bits.
    pub trace: u32,
    /// How many bytes OpenCSD gets at once; all of them without a number.
    pub chunk: Option<u32>,
    /// Ask OpenCSD for its own line of text on each record, too.
    pub text: bool,
    /// At most so many records are answered; the rest is only counted.
    pub records: u64,
    /// Only count, and decode the stream so often: [`Answer::Done`] has the time of each round.
    pub rounds: Option<u32>,
}

/// What is wanted of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Packets, from a packet processor alone.
    Packets,
    /// Generic elements, from packet processor and decoder; needs memory.
    Elements,
    /// The bytes of each source, from the frame deformatter alone; needs frames, and no sources.
    Frames,
}

/// A trace unit: the registers that OpenCSD must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// ETMv3.
    Etmv3(etmv3::Configuration),
    /// PTM.
    Ptm(ptm::Configuration),
    /// ETMv4 or ETE.
    Etmv4(etmv4::Configuration),
}

/// How the bytes of sources lie in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// The bytes of one source.
    Source,
    /// 16-byte formatter frames without synchronisation packets.
    Frames,
    /// Formatter frames with full-word synchronisation packets between them, and half-word ones inside if `half_syncs`.
    Tpiu {
        /// Half-word synchronisation packets occur.
        half_syncs: bool,
    },
    /// Frames inside blocks of 512 bytes, whose last 8 bytes are a footer.
    Dstream,
}

/// Bytes of target memory, visible in every security state and at every exception level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Byte address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub length: u32,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A packet.
    Packet(Packet),
    /// A generic element.
    Element(Element),
    /// Bytes of a source.
    Data(Data),
    /// The library complained or stopped.
    Fault {
        /// Offset of the packet that it blames, in bytes from the start of the trace.
        byte: u32,
        /// The source, by trace stream id; `None` where it names none.
        source: Option<u8>,
        /// Its error number (`ocsd_err_t`).
        error: u32,
        /// What it answered (`ocsd_datapath_resp_t`); 6 and above are fatal and end decoding.
        response: u32,
        /// Its own words.
        text: String,
    },
    /// The end of an answer.
    Done {
        /// How many bytes of the trace the library took.
        consumed: u64,
        /// How many packets it made, in the last round.
        packets: u64,
        /// How many generic elements it made, in the last round.
        elements: u64,
        /// How many instructions were in ranges, in the last round.
        instructions: u64,
        /// How long the library was busy with the stream in each round, in nanoseconds.
        nanoseconds: Vec<u64>,
    },
    /// The library refuses the question.
    Refused {
        /// Its error number (`ocsd_err_t`).
        error: u32,
        /// What was asked of it.
        step: String,
    },
}

/// Bytes of one source that stand together in a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Offset of the byte pair in which they begin, in bytes from the start of the trace.
    pub byte: u32,
    /// The source, by trace stream id; `None` before the first ID.
    pub source: Option<u8>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Offset of the first byte, in bytes from the start of the trace; in frames, of the frame data that it came with.
    pub byte: u32,
    /// The source, by trace stream id.
    pub source: u8,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its contents.
    pub body: PacketBody,
    /// The library's own words, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The contents of a packet, in the terms of its protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketBody {
    /// ETMv3.
    Etmv3(etmv3::Body),
    /// PTM.
    Ptm(ptm::Body),
    /// ETMv4 or ETE.
    Etmv4(etmv4::Body),
}

impl Source {
    /// The trace stream id.
    #[must_use]
    pub const fn id(&self) -> u8 {
        match self {
            Self::Etmv3(configuration) | Self::Ptm(configuration) => (configuration.etmtraceidr & 0x7f) as u8,
            Self::Etmv4(configuration) => (configuration.trctraceidr & 0x7f) as u8,
        }
    }
}
