//! The bits of ETMv2 that no public source confirms, in one file, to be settled here by the specification.
//!
//! Everything here is provisional. Each constant names its convention `PC-n`; cases that depend on one list the reading
//! `etm-pc-n`. The numbers of the PIPESTAT codes (PC-1) are the discriminants of [`Pipestat`](super::Pipestat). What is
//! no number (order of packets, latency, what follows a reserved header) is in the texts of the readings.

/// The readings that rest on no public source. A verdict that depends on one is provisional.
///
/// Confirmed parts, for orientation: four pins of PIPESTAT, two formats of TFO packets with two bits RR, the TFO value
/// with TD and TRACEPKT\[0\] = 1 on \[3:1\], replacement of the low bits of branch addresses and their five bytes, the
/// nibbles of a 4-bit port, "branch address last".
pub const PROVISIONAL: [&str; 17] = [
    "etm-pc-1",
    "etm-pc-2",
    "etm-pc-2b",
    "etm-pc-3",
    "etm-pc-4",
    "etm-pc-5",
    "etm-pc-6",
    "etm-pc-7",
    "etm-pc-8",
    "etm-pc-9",
    "etm-pc-10",
    "etm-pc-11",
    "etm-pc-12",
    "etm-pc-13",
    "etm-pc-14",
    "etm-pc-15",
    "etm-pc-16",
];

/// TFO packet header: an LSM is in progress (PC-2).
pub const TFO_LSM_IN_PROGRESS: u8 = 0x80;

/// TFO packet header: the lowest bit of the field RR of two bits (PC-2).
pub const TFO_REASON_SHIFT: u32 = 5;

/// TFO packet header: Java state (PC-2b), with [`tfo_jazelle`](super::super::Parameters::tfo_jazelle) only.
pub const TFO_JAZELLE: u8 = 0x10;

/// Byte 5 of a branch address: the exception bit (PC-15). The state patterns are in the other bits below bit 7.
pub const BRANCH_EXCEPTION: u8 = 0x40;

/// Byte 5 of a branch address: mask and pattern of ARM state, A\[31:29\] (PC-5).
pub const BRANCH_ARM: (u8, u8) = (0x38, 0x08);

/// Byte 5 of a branch address: mask and pattern of Thumb state, A\[31:28\] (PC-5).
pub const BRANCH_THUMB: (u8, u8) = (0x30, 0x10);

/// Byte 5 of a branch address: mask and pattern of Java state, A\[31:27\] (PC-5).
pub const BRANCH_JAZELLE: (u8, u8) = (0x20, 0x20);

/// Numbers of the exceptions that set the exception bit: reset, undefined instruction, prefetch abort, IRQ, FIQ (PC-16),
/// and imprecise data abort (confirmed). SVC (PC-16) and precise data abort (confirmed) do not. The numbers are those
/// of [`Exception`](super::super::Exception).
pub const SET_EXCEPTION_BIT: [u16; 6] = [4, 8, 9, 11, 14, 15];

/// Offsets of the vectors at which the instruction is taken back although the exception bit is 0 (PC-16): reset,
/// undefined instruction, prefetch abort, IRQ, FIQ.
pub const TAKEN_BACK_WITHOUT_BIT: [u32; 5] = [0x00, 0x04, 0x0c, 0x18, 0x1c];
