//! What is known between two bytes.

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_etm::v3::VariableField;
use traceproof_vectors::arm_etm::{CompressedAddress, Parameters};

use crate::arm::alignment::Search;
use crate::arm_etm::v3::address_bytes::AddressBytes;
use crate::arm_etm::v3::exception_bytes::ExceptionBytes;
use crate::arm_etm::v3::fields::Fields;
use crate::arm_etm::v3::headers::Headers;
use crate::arm_etm::v3::layout::Layout;
use crate::arm_etm::v3::listener::Listener;
use crate::arm_etm::v3::value_bytes::{LittleEndian, SevenBits};

/// Reads packets byte by byte. Its state is small and of fixed size; nothing is allocated.
///
/// It knows of the execution only whether it is in ARM state, which a branch packet with an exception in its fifth byte
/// needs.
#[derive(Clone, Debug)]
pub(in crate::arm_etm::v3) struct Automaton {
    pub(in crate::arm_etm::v3) layout: Layout,
    pub(in crate::arm_etm::v3) headers: Headers,
    /// Stream offset of the next byte.
    pub(in crate::arm_etm::v3) offset: u64,
    /// Index of the packet that is being read or comes next.
    pub(in crate::arm_etm::v3) index: u64,
    pub(super) state: State,
    pub(super) open: Open,
    /// The processor is in ARM state.
    pub(in crate::arm_etm::v3) arm: bool,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Search(Search),
    Header,
    /// A zero of an A-sync, after so many, or its end.
    Zero(u64),
    Branch(AddressBytes),
    Exception(ExceptionBytes),
    CycleCount(SevenBits),
    /// The cycle count of an I-sync.
    SyncCycles(SevenBits),
    SyncContext(LittleEndian),
    SyncInformation,
    SyncAddress(LittleEndian),
    /// The address under a load or store.
    SyncCurrent(AddressBytes),
    ContextId(LittleEndian),
    Vmid,
    DataAddress(SevenBits),
    Value(LittleEndian),
    Timestamp(SevenBits),
}

/// The parts of the packet that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) start: u64,
    pub(super) header: u8,
    /// Of a branch packet or data packet; in an I-sync of the one under a load or store.
    pub(super) address: Option<CompressedAddress>,
    pub(super) cycle_count: Option<VariableField>,
    pub(super) context_id: Option<u32>,
    pub(super) information: u8,
    pub(super) full_address: Option<u32>,
}

/// The byte makes no packet.
pub(super) struct Broken {
    pub(super) class: FaultClass,
    /// Stream offset of what is at fault.
    pub(super) byte: u64,
}

impl Automaton {
    /// At the start of a stream.
    pub(in crate::arm_etm::v3) fn new(parameters: &Parameters) -> Self {
        Self {
            layout: Layout::new(parameters),
            headers: Headers::new(parameters),
            offset: 0,
            index: 0,
            state: State::Search(Search::from(0)),
            open: Open::default(),
            arm: true,
        }
    }

    /// Resets to the start of a stream.
    pub(in crate::arm_etm::v3) fn reset(&mut self) {
        (self.offset, self.index) = (0, 0);
        self.state = State::Search(Search::from(0));
        self.arm = true;
    }

    /// Whether the next byte is a header.
    #[inline]
    pub(in crate::arm_etm::v3) const fn is_between_packets(&self) -> bool {
        matches!(self.state, State::Header)
    }

    /// The byte at hand is at fault.
    pub(super) fn broken(&self, class: FaultClass) -> Broken {
        Broken { class, byte: self.offset }
    }

    /// The byte at hand is one field.
    pub(super) fn whole_byte<L: Listener + ?Sized>(&self, name: &'static str, byte: u8, listener: &mut L) {
        if L::TAKES_FIELDS {
            Fields { listener, offset: self.offset }.all(name, byte);
        }
    }
}
