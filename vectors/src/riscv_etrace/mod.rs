//! RISC-V Efficient Trace 2.0: the vocabulary of the specification.
//!
//! Source references: `ET n.m` is "Efficient Trace for RISC-V" v2.0 (release 20250616), `EN n.m` is
//! "Unformatted Trace & Diagnostic Data Packet Encapsulation for RISC-V" v1.0. Requirements RVET5 are those that
//! version 2.0.5 adds.

mod data;
#[cfg(feature = "cases")]
pub mod discovery;
mod event;
mod execution;
mod filter;
mod packet;
mod parameters;
mod policy;
mod recovery;
mod standard_support;
mod stimulus;
mod version;

pub use data::{
    Atomic, AtomicAccess, AtomicData, AtomicOperation, AtomicRequest, Csr, CsrAccess, CsrOperation,
    DataAccess, DataCompression, DataEvent, DataLayout, DataLength, DataOption, DataOptions, DataPacket,
    DataParameters, DataPolicy, DataResponse, LoadData, LoadRequest, MemoryAccess, OfferedCompression,
    ReportedData, Transfer,
};
pub use event::{Epc, Event, StopReason};
pub use execution::{Retire, Step, Trap};
pub use filter::{AddressRange, CauseRange, Filter, Timestamps, TrapFilter, Triggers};
pub use packet::{Packet, QualStatus, ReportedAddress};
pub use parameters::{
    Encapsulation, Mode, Modes, NormalEncapsulation, Padding, Parameters, SiemensMessaging, SupportLayout,
    TrapVectors, Xlen,
};
pub use policy::{
    Compression, Idle, InterruptReport, IretsLimit, LastNull, PayloadAlignment, Policy, PredictedReturn,
    SyncMode,
};
pub use standard_support::StandardSupport;
pub use stimulus::{Block, Blocks, Cycle, Itype, Stimulus};
pub use version::Version;

use alloc::vec::Vec;

use crate::{Binds, FaultClass, Feature, Protocol, ProtocolId, Reading, Recovery};

/// The vocabulary of RISC-V E-Trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RiscvEtrace;

impl Protocol for RiscvEtrace {
    const ID: ProtocolId = ProtocolId::RiscvEtrace;
    const FEATURES: &'static [Feature] = &FEATURES;
    const READINGS: &'static [Reading] = &READINGS;
    type Parameters = Parameters;
    type Policy = Policy;
    type Stimulus = Stimulus;
    type Packet = Packet;
    type Event = Event;

    fn recovery(class: FaultClass) -> Recovery {
        recovery::recovery(class)
    }

    fn is_synchronised_by(event: &Event) -> bool {
        recovery::is_synchronised_by(event)
    }

    fn canonical(events: Vec<Event>) -> Vec<Event> {
        event::canonical(events)
    }

    fn accepts(expected: &Event, actual: &Event) -> bool {
        event::accepts(expected, actual)
    }
}

/// The optional features that a subject may claim in its capabilities. Everything else is mandatory.
pub const FEATURES: [Feature; 23] = [
    Feature::new("rv32", "`xlen` is 32"),
    Feature::new("rv64", "`xlen` is 64"),
    Feature::new("compressed", "addresses are multiples of 2: `iaddress_lsb_p` is 1"),
    Feature::new("context", "packets have a context"),
    Feature::new("time", "packets have a time"),
    Feature::new("full_address", "the mode is on"),
    Feature::new("implicit_exception", "the mode is on"),
    Feature::new("implicit_return", "the mode is on, or the encoder has a return stack or call counter"),
    Feature::new("sijump", "the mode is on, or the encoder has it"),
    Feature::new("branch_prediction", "the mode is on, or the encoder has a predictor"),
    Feature::new("jump_target_cache", "the mode is on, or the encoder has the cache"),
    Feature::new("data_trace", "data trace"),
    Feature::new(
        "mma_cas",
        "data trace with the packets of the MMA/CAS extension: multi-memory accesses and compare-and-swap",
    ),
    Feature::new("standard_support", "`version` is 2.0.5: support packets are standard support packets"),
    Feature::new("irets", "the encoder has the implicit return extension: packets carry `irets`"),
    Feature::new("support_layout", "`support` is not the default"),
    Feature::new("source_id", "the encapsulation has `srcID`"),
    Feature::new("timestamp", "the encapsulation has a timestamp"),
    Feature::new("packet_type", "the encapsulation has a type"),
    Feature::new("stream_entry", "the stream is entered anywhere"),
    Feature::new("memory_blocks", "the stream lies in blocks of memory"),
    Feature::new("siemens", "the transport is Siemens Messaging Infrastructure"),
    Feature::new("atb", "the transport is ATB"),
];

/// Answers to questions that the specification leaves open.
pub const READINGS: [Reading; 58] = [
    Reading {
        name: "resync-counts-up-to-the-current-instruction",
        binds: Binds::Encoders,
        text: "The resynchronisation timer counts what came after the latest synchronisation packet, the current \
               instruction included; when the limit is reached the current instruction is in state 2 (ET 9.2).",
    },
    Reading {
        name: "resync-state-advances-with-instructions",
        binds: Binds::Encoders,
        text: "Cycles without retirement do not advance the state machine of the resynchronisation timer (ET 9.2).",
    },
    Reading {
        name: "halt-keeps-ienable",
        binds: Binds::Encoders,
        text: "While the hart is halted or in reset the support packet still reports that tracing is enabled (ET 7.5).",
    },
    Reading {
        name: "triggers-keep-ienable",
        binds: Binds::Encoders,
        text: "Trace-off and trace-on pulses do not change `ienable` and send no further support packet (ET 4.2.4).",
    },
    Reading {
        name: "notify-flag-even-if-due-anyway",
        binds: Binds::Encoders,
        text: "An instruction that is reported for another reason as well still has the notify flag, unless it is an \
               updiscon target (ET 7.6).",
    },
    Reading {
        name: "trace-lost-keeps-first-arrival",
        binds: Binds::Decoders,
        text: "A provisional stop that is followed by `trace_lost` stays at the first arrival (ET 7.6.2).",
    },
    Reading {
        name: "undefined-trap-address-is-next-epc",
        binds: Binds::Both,
        text: "The formally undefined address of a `thaddr` = 0 packet is the EPC of the exception that follows (ET 7.3).",
    },
    Reading {
        name: "undefined-trap-address-is-next-epc-or-zero",
        binds: Binds::Encoders,
        text: "An encoder fills the formally undefined address of a `thaddr` = 0 packet with the EPC of the exception \
               that follows, or with 0 if none does (ET 7.3).",
    },
    Reading {
        name: "ended-rep-after-a-sync-packet",
        binds: Binds::Encoders,
        text: "Where a start or trap packet reported the final instruction, tracing ends with `ended_rep`, although \
               that packet was not sent because of the end (ET 7.5.1; issue 155 of the specification allows `ended_ntr`).",
    },
    Reading {
        name: "filling-is-checked",
        binds: Binds::Decoders,
        text: "Bits after the last field of a packet that are no copies of its top bit are the fault `overlong`; the \
               specification only says what encoders put there (ET 7).",
    },
    Reading {
        name: "context-and-support-keep-a-stop-pending",
        binds: Binds::Decoders,
        text: "A context packet, or a support packet with `no_change`, leaves a provisional stop undecided, as in the \
               pseudo-code; literally, any format 3 packet means the first arrival (ET 11 against 7.6.2).",
    },
    Reading {
        name: "omitted-handler-address-is-the-base",
        binds: Binds::Both,
        text: "In implicit exception mode the handler address that is not sent is the base of the next difference (ET 3.2.1, 3.2.3).",
    },
    Reading {
        name: "sijump-leaves-returns-alone",
        binds: Binds::Both,
        text: "A return after the `lui` or `auipc` of its register is not sequentially inferable where `itype` has 4 bits, for \
               decoders neither (ET 4.2 against 11).",
    },
    Reading {
        name: "no-inference-at-a-sync-packet",
        binds: Binds::Both,
        text: "A jump that a synchronisation packet reports is not sequentially inferable, even if its `lui` or `auipc` was \
               traced (ET 3.2.4, 11).",
    },
    Reading {
        name: "x1-and-x5-link",
        binds: Binds::Both,
        text: "Calls link x1 or x5 and returns use x1 or x5; a co-routine swap neither pushes nor pops and is always reported \
               (ET 4.1.1 against 11).",
    },
    Reading {
        name: "jalr-through-x0-is-inferable",
        binds: Binds::Both,
        text: "`jalr rd, imm(x0)` is inferable, and its target is the sign-extended immediate (ET 4.1.1; issue 188 \
               of the specification).",
    },
    Reading {
        name: "call-counter-is-a-power-of-two",
        binds: Binds::Both,
        text: "A call counter of size p counts to 2^p, as the pseudo-code has it (ET 11 against 10).",
    },
    Reading {
        name: "call-counter-fits-irdepth",
        binds: Binds::Both,
        text: "With the parameter `call_counter_fits_irdepth`: a call counter of p bits saturates at 2^p - 1 (ET 10 \
               against 11).",
    },
    Reading {
        name: "failed-return-does-not-pop",
        binds: Binds::Both,
        text: "A return that is reported because its prediction failed leaves the return stack as it is (ET 7.6.3, 11).",
    },
    Reading {
        name: "irdepth-is-the-current-depth",
        binds: Binds::Both,
        text: "`irreport` and `irdepth` before a trap, a privilege change or a resynchronisation as ET 7.6.3 puts it, \
               although two returns at one depth cannot be distinguished.",
    },
    Reading {
        name: "start-behind-a-trap-chain-is-no-walk",
        binds: Binds::Decoders,
        text: "A start packet after a `thaddr` = 0 packet repositions; nothing is walked (ET 7.3.1 against 11).",
    },
    Reading {
        name: "own-address-behind-a-return",
        binds: Binds::Decoders,
        text: "A `thaddr` = 0 packet directly after a return carries its own EPC, also in implicit return mode (ET 7.3.1).",
    },
    Reading {
        name: "predictor-reset-before-own-branch",
        binds: Binds::Both,
        text: "The branch that a synchronisation packet reports trains the predictor after its reset (ET 3.2.6 against 9).",
    },
    Reading {
        name: "failed-return-target-is-cached",
        binds: Binds::Both,
        text: "The target of a failed return is stored in the jump target cache like any other (ET 3.2.7).",
    },
    Reading {
        name: "trap-return-target-is-cached",
        binds: Binds::Both,
        text: "The target of a trap return is stored in the jump target cache like that of a jump (ET 3.2.7).",
    },
    Reading {
        name: "second-arrival-before-cache-lookup",
        binds: Binds::Decoders,
        text: "A pending second arrival is walked, and its target stored, before the index of the next packet is looked up \
               (ET 3.2.7, 7.6.2).",
    },
    Reading {
        name: "payload-is-everything-behind-the-type",
        binds: Binds::Both,
        text: "Unless padding is arbitrary, padding repeats the top bit of the payload and is read as a part of it, so a \
               payload need not be whole bytes (EN 2.1.5, ET 7).",
    },
    Reading {
        name: "data-restarts-at-start-and-trap-packets",
        binds: Binds::Both,
        text: "The synchronisation packets after which data trace starts over with full addresses and data are those of \
               format 3 subformats 0 and 1 (ET 8.1.3).",
    },
    Reading {
        name: "data-alone-starts-at-its-support-packet",
        binds: Binds::Both,
        text: "Without instruction trace, a support packet with `denable` = 1 and `ienable` = 0 takes the place of the \
               synchronisation packet of data trace (ET 8).",
    },
    Reading {
        name: "dloss-restarts-data",
        binds: Binds::Both,
        text: "After a support packet with `dloss` every size of access starts over with full address and data (ET 7.5).",
    },
    Reading {
        name: "size-width-is-the-formula",
        binds: Binds::Both,
        text: "On buses of 8 and 16 bits `size` has one bit, as the formula has it; the sentence after it speaks of two \
               bits up to 64 (ET 8.1).",
    },
    Reading {
        name: "data-bases-are-per-size",
        binds: Binds::Both,
        text: "The previous access is the latest one of the same size whatever its type, CSR accesses having the size of a \
               register and no address in common with memory; an access whose address or data did not travel leaves none \
               to compare with, an error response leaves the data as they were (ET 8.1.3).",
    },
    Reading {
        name: "data-differences-are-of-byte-addresses",
        binds: Binds::Both,
        text: "A differential address is the difference of byte addresses, divided by the size in aligned formats (ET 8.1.3).",
    },
    Reading {
        name: "operands-are-not-compressed",
        binds: Binds::Both,
        text: "`diff` does not apply to operands: only redundant upper bytes are left out (ET 8.2.3 against the tables of \
               the draft).",
    },
    Reading {
        name: "split-atomic-diff-has-two-bits",
        binds: Binds::Both,
        text: "The `diff` field of a split atomic request has 2 bits (ET 8.2: 1 or 2).",
    },
    Reading {
        name: "reduced-split-packets-are-unified",
        binds: Binds::Both,
        text: "With the options no-address or no-data, packets of a split interface have the form of unified ones (ET 8).",
    },
    Reading {
        name: "conditional-store-failure-without-data-only",
        binds: Binds::Both,
        text: "A failed conditional store is reported only where packets carry no data; otherwise subtype 7 is reserved (ET \
               8.2).",
    },
    Reading {
        name: "csr-packets-keep-their-address",
        binds: Binds::Both,
        text: "The option no-address does not change CSR packets (ET 8.3 has no such form).",
    },
    Reading {
        name: "csr-address-only-fields",
        binds: Binds::Both,
        text: "An address-only CSR packet has a subtype of 2 bits and a diff of 1; a differential address is the difference \
               to the latest CSR address, modulo 2^12 (ET 8.3: 3 bits, and 0 or 1).",
    },
    Reading {
        name: "data-only-values-are-sign-extended",
        binds: Binds::Both,
        text: "Above an access that is narrower than the bus, a data-only packet repeats the top bit of the value; decoders \
               ignore what is there (ET 8.1).",
    },
    Reading {
        name: "standard-support-needs-a-setting",
        binds: Binds::Decoders,
        text: "Whether support packets are standard support packets follows from the parameter `version`, never from the \
               packets; protocol versions 0.1 and 2.1 both mean it (version 2.0.5; issue 267 of the specification).",
    },
    Reading {
        name: "vendor-bits-are-ignored",
        binds: Binds::Decoders,
        text: "Any number of bits may follow `full_data` and the declared vendor bits of a standard support packet, and \
               they have no effect (version 2.0.5).",
    },
    Reading {
        name: "parameters-win-over-the-standard-support-packet",
        binds: Binds::Decoders,
        text: "Where a standard support packet contradicts a parameter, the decoder reports that and goes on with the \
               parameter (version 2.0.5).",
    },
    Reading {
        name: "irets-counts-the-predicted-return",
        binds: Binds::Encoders,
        text: "`irets` counts a correctly predicted return whose target is reported for another reason (version 2.0.5). \
               Decoders take both counts.",
    },
    Reading {
        name: "irets-leaves-out-the-last-return",
        binds: Binds::Encoders,
        text: "A return that is itself the reported instruction is not counted in `irets` (version 2.0.5 against its \
               pseudo-code).",
    },
    Reading {
        name: "irets-limit-is-255",
        binds: Binds::Encoders,
        text: "255 implicit returns go unreported; the target of the 256th is reported with `irets` 255 (version 2.0.5). \
               Decoders take 254 as well.",
    },
    Reading {
        name: "irets-counts-across-context-packets",
        binds: Binds::Both,
        text: "Context and support packets do not restart the count of implicit returns, for they have no position (version \
               2.0.5).",
    },
    Reading {
        name: "failed-return-pops",
        binds: Binds::Both,
        text: "With `irets`, a return that is reported because its prediction failed consumes its entry of the return stack \
               (version 2.0.5, pseudo-code).",
    },
    Reading {
        name: "repeated-links-share-an-entry",
        binds: Binds::Both,
        text: "With `irets`, and both return stack and call counter, consecutive calls with one link share an entry, up to \
               2^p - 1 repeats (version 2.0.5, pseudo-code).",
    },
    Reading {
        name: "predicted-return-target-is-not-cached",
        binds: Binds::Both,
        text: "With `irets`, the target of a return that went where it was predicted is not stored in the jump target \
               cache, even where it is reported (version 2.0.5, pseudo-code; ET 3.2.7).",
    },
    Reading {
        name: "resync-disabled-resets-state",
        binds: Binds::Both,
        text: "Return stack, predictor and jump target cache restart at every synchronisation packet, also while \
               `resync_disabled` is 1 (ET 3.2.5 to 3.2.7 against the pseudo-code of version 2.0.5).",
    },
    Reading {
        name: "resync-disabled-keeps-state",
        binds: Binds::Both,
        text: "With the parameter `resync_disabled_keeps_state`: while `resync_disabled` is 1, synchronisation packets in \
               the running trace keep return stack, predictor and jump target cache (issue 201 of the specification).",
    },
    Reading {
        name: "mode-change-renews-what-it-switches",
        binds: Binds::Both,
        text: "Where state is kept, the return stack, the predictor or the cache of a mode that was switched on or off starts \
               anew with the next synchronisation packet.",
    },
    Reading {
        name: "interrupted-return-is-a-predicted-one",
        binds: Binds::Both,
        text: "With `irdepth`, a return stack and kept state: a return directly before an interrupt counts as one that went \
               where it was predicted, since no packet reports its target, and consumes its entry.",
    },
    Reading {
        name: "resync-waits-for-counted-returns",
        binds: Binds::Encoders,
        text: "With `irets`, no start packet comes while implicit returns are counted, since it cannot report their number: \
               the encoder waits for a branch or a report.",
    },
    Reading {
        name: "context-packets-have-time",
        binds: Binds::Both,
        text: "Context packets have a `time` field as in version 2.0, although the standard support packet names start and \
               trap packets only (version 2.0.5).",
    },
    Reading {
        name: "multi-access-instruction-retires-once",
        binds: Binds::Encoders,
        text: "A multi-memory access instruction retires once (hart to trace interface against ET 4.3; issues 337 and 338 \
               of the specification).",
    },
    Reading {
        name: "operands-are-compressed",
        binds: Binds::Both,
        text: "With the parameter `compressed_operands`: `diff` applies to operands too, as the tables have it (ET 8.2.3; \
               issue 319 of the specification).",
    },
];
