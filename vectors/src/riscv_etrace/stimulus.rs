//! The inputs of an encoder: the ingress port (ET 4), and external controls.

use alloc::boxed::Box;

use smallvec::SmallVec;

use super::{DataAccess, DataOptions, DataResponse};
use crate::Address;

/// One step of stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stimulus {
    /// One cycle of the ingress port.
    Cycle(Cycle),
    /// Instruction tracing is switched on or off (`trTeEnable` and `trTeInstTracing`). It is off at `begin`.
    Enable(bool),
    /// The run-time modes change (control register write).
    Modes(super::Modes),
    /// The transport after the encoder takes packets (`true`, as at `begin`) or loses them (`false`).
    Transport(bool),
    /// A data access of the latest cycle. In a box, so that cycles, of which there are many more, stay small.
    Data(Box<DataAccess>),
    /// The data of a split load or atomic arrive, in the latest cycle or after it.
    Response(DataResponse),
    /// Data tracing is switched on or off (`trTeDataTracing`). It is off at `begin`.
    DataEnable(bool),
    /// The run-time options of data trace change (control register write).
    DataOptions(DataOptions),
    /// The encoder may send data packets (`true`, as at `begin`) or has to drop them (`false`, `trTeDataDrop`).
    DataTransport(bool),
}

/// The ingress port in one cycle (ET 4.2). Unused signals are 0.
///
/// No signal carries whether a cycle is traced. That follows from [`Stimulus::Enable`], from the trigger pulses,
/// `halted` and `reset` here, and from the filters of the [`Policy`](super::Policy), which use these signals (ET 5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cycle {
    /// The replicated signal groups, oldest first; groups that are not there are empty.
    pub blocks: Blocks,
    /// Valid if a block has itype 1 or 2.
    pub cause: u64,
    /// Valid if a block has itype 1.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub tval: u64,
    /// `priv`: level of all instructions retired in this cycle; of a trap, the level before it.
    pub privilege: u8,
    /// Context of the instructions retired in this cycle.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub context: u64,
    /// Time of the retirement.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub time: u64,
    /// How to report a context change: 0 not, 1 imprecise, 2 precise, 3 asynchronous discontinuity.
    pub ctype: u8,
    /// `trigger[0]`: trace-on pulse.
    pub trace_on: bool,
    /// `trigger[1]`: trace-off pulse.
    pub trace_off: bool,
    /// The hart is halted.
    pub halted: bool,
    /// The hart is in reset.
    pub reset: bool,
}

/// The signal groups of one cycle. One, which is what most cycles have, needs no heap memory.
pub type Blocks = SmallVec<[Block; 1]>;

/// One signal group: contiguous instructions retired in one cycle (ET 4.2, 4.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// How the block ends.
    pub itype: Itype,
    /// Address of the first instruction; of an exception without retirement, the EPC.
    pub iaddr: Address,
    /// `retires_p` = 1: instructions retired (0 or 1); otherwise half-words retired.
    pub iretire: u32,
    /// The last instruction is 2^ilastsize half-words long.
    pub ilastsize: u8,
    /// The jump that ends the block is sequentially inferable.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sijump: bool,
    /// `trigger[2+]`: report the last instruction of this block.
    #[cfg_attr(feature = "serde", serde(default))]
    pub notify: bool,
}

/// How a block ends (ET 4.2, RVET-ING-001). The discriminant is the signal's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Itype {
    /// Nothing special; with a 3-bit itype also inferable jumps and calls.
    #[default]
    Nothing = 0,
    /// An exception trapped after the last retired instruction.
    Exception = 1,
    /// An interrupt trapped after the last retired instruction.
    Interrupt = 2,
    /// Return from a trap.
    TrapReturn = 3,
    /// Branch not taken.
    BranchNotTaken = 4,
    /// Branch taken.
    BranchTaken = 5,
    /// Any uninferable jump, 3-bit itype only.
    UninferableJumpAny = 6,
    /// Reserved.
    Reserved = 7,
    /// Uninferable call.
    UninferableCall = 8,
    /// Inferable call.
    InferableCall = 9,
    /// Uninferable jump without linkage.
    UninferableJump = 10,
    /// Inferable jump without linkage.
    InferableJump = 11,
    /// Co-routine swap.
    CoroutineSwap = 12,
    /// Return.
    Return = 13,
    /// Other uninferable jump with linkage.
    OtherUninferableJump = 14,
    /// Other inferable jump with linkage.
    OtherInferableJump = 15,
}

impl Itype {
    /// Every value, at the index that is the signal's value.
    pub const ALL: [Self; 16] = [
        Self::Nothing,
        Self::Exception,
        Self::Interrupt,
        Self::TrapReturn,
        Self::BranchNotTaken,
        Self::BranchTaken,
        Self::UninferableJumpAny,
        Self::Reserved,
        Self::UninferableCall,
        Self::InferableCall,
        Self::UninferableJump,
        Self::InferableJump,
        Self::CoroutineSwap,
        Self::Return,
        Self::OtherUninferableJump,
        Self::OtherInferableJump,
    ];
}

const _: () = {
    let mut value = 0;
    while value < Itype::ALL.len() {
        assert!(Itype::ALL[value] as usize == value, "at the index of its value");
        value += 1;
    }
};
