//! Instructions that matter to the flow of a program, in classes from which every ARM family derives its own.
//!
//! ETM calls an instruction direct or indirect, PFT a waypoint or not, ETE a P0 element or not; all of them decide by
//! opcode alone, and they differ about barriers, waits and returns. So a class here is what the instruction *is*; its
//! consequences are rules of the family.
//!
//! | class | ETMv1 to v3 | PFT | ETE, ETMv4 |
//! |---|---|---|---|
//! | [`DirectBranch`](InstructionClass::DirectBranch) | direct | waypoint | P0 |
//! | [`IndirectBranch`](InstructionClass::IndirectBranch), [`ExceptionReturn`](InstructionClass::ExceptionReturn) | branch packet if taken | waypoint | P0 |
//! | [`StateChange`](InstructionClass::StateChange) | direct | waypoint, target known | none in these architectures |
//! | [`Barrier`](InstructionClass::Barrier): ISB | no | waypoint | P0 |
//! | [`Barrier`](InstructionClass::Barrier): DSB, DMB | no | waypoint, if so configured | no |
//! | [`Wait`](InstructionClass::Wait) | no | no | P0, if so configured |
//! | [`TransactionStart`](InstructionClass::TransactionStart) | no | no | P0 |
//! | [`LowOverheadLoop`](InstructionClass::LowOverheadLoop) | no | no | P0 (M profile) |
//! | [`ExceptionCall`](InstructionClass::ExceptionCall), [`IfThen`](InstructionClass::IfThen), [`Other`](InstructionClass::Other) | no | no | no |

use super::CodeAddress;

/// Where an indirect branch has its target from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum TargetSource {
    /// A register, as it is: `BX`, `BLX`, `BR`, `BLR`, with or without authentication.
    Register,
    /// A register that is a return address by the instruction's own statement: `RET`.
    Return,
    /// A register; to Jazelle state, if that is possible: `BXJ`.
    JazelleRegister,
    /// Memory: a load with the PC among its registers.
    Load,
    /// A result of data processing: `MOV pc`, `ADD pc`.
    DataProcessing,
    /// A table of offsets in memory: `TBB`, `TBH`.
    Table,
    /// The handlers of T32EE: `HB`, `HBL`, `HBP`, `HBLP`.
    Handler,
}

/// How an instruction returns from an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ReturnSource {
    /// `ERET`, with or without authentication.
    Eret,
    /// Data processing with S and the PC as destination: `SUBS pc, lr, #4`, `MOVS pc, lr`.
    DataProcessing,
    /// `LDM` with the PC and `^`.
    LoadMultiple,
    /// `RFE`.
    Rfe,
    /// `TEXIT`: whether it is an exception return is open.
    TierExit,
}

/// A barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Barrier {
    /// Instruction synchronisation.
    Isb,
    /// Data synchronisation.
    Dsb,
    /// Data memory.
    Dmb,
}

/// What a waiting instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WaitFor {
    /// An event: `WFE`, `WFET`.
    Event,
    /// An interrupt: `WFI`, `WFIT`.
    Interrupt,
}

/// An instruction that causes an exception whenever it executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ExceptionCall {
    /// `SVC`.
    Supervisor,
    /// `HVC`.
    Hypervisor,
    /// `SMC`.
    SecureMonitor,
    /// `BKPT`, `BRK`.
    Breakpoint,
    /// `HLT`.
    Halt,
    /// `UDF`.
    Undefined,
}

/// What an instruction is to the flow of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum InstructionClass {
    /// It goes on to the next instruction, and no family names it.
    #[default]
    Other,
    /// A branch whose target and instruction set are in the opcode.
    DirectBranch {
        /// It leaves a return address.
        link: bool,
    },
    /// A branch whose target is not in the opcode.
    IndirectBranch {
        /// It leaves a return address.
        link: bool,
        /// Where the target comes from.
        source: TargetSource,
    },
    /// A return from an exception; the target is not in the opcode.
    ExceptionReturn(ReturnSource),
    /// `ENTERX`, `LEAVEX`: the next instruction is executed, in T32EE or T32 state.
    StateChange,
    /// A barrier, also as coprocessor instruction.
    Barrier(Barrier),
    /// The processor waits.
    Wait(WaitFor),
    /// `TSTART`.
    TransactionStart,
    /// The branches of low-overhead loops (`ARMv8.1-M`): `WLS`, `WLSTP`, `LE`, `LETP`; the target is in the opcode.
    LowOverheadLoop,
    /// It causes an exception.
    ExceptionCall(ExceptionCall),
    /// `IT`: makes one to four instructions after it conditional.
    IfThen,
}

impl InstructionClass {
    /// Whether the next instruction executed may be another than the next one in memory, exceptions apart.
    #[must_use]
    pub const fn is_branch(self) -> bool {
        matches!(
            self,
            Self::DirectBranch { .. }
                | Self::IndirectBranch { .. }
                | Self::ExceptionReturn(_)
                | Self::LowOverheadLoop
        )
    }

    /// Whether it is a branch whose target is not in the opcode.
    #[must_use]
    pub const fn is_indirect(self) -> bool {
        matches!(self, Self::IndirectBranch { .. } | Self::ExceptionReturn(_))
    }

    /// Whether it is a branch that leaves a return address.
    #[must_use]
    pub const fn has_link(self) -> bool {
        matches!(self, Self::DirectBranch { link: true } | Self::IndirectBranch { link: true, .. })
    }
}

/// The effect of one instruction on the flow of the program, from its opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FlowInstruction {
    /// What it is.
    pub class: InstructionClass,
    /// Its size in bytes.
    pub size: u8,
    /// It has a condition of its own that may fail: a condition field other than AL, or a comparison. `IT` blocks make
    /// others conditional, which is in no opcode.
    pub conditional: bool,
    /// The target, of [`DirectBranch`](InstructionClass::DirectBranch),
    /// [`StateChange`](InstructionClass::StateChange) and
    /// [`LowOverheadLoop`](InstructionClass::LowOverheadLoop).
    pub target: Option<CodeAddress>,
}

impl FlowInstruction {
    /// An instruction without target that is not conditional.
    #[must_use]
    pub const fn new(class: InstructionClass, size: u8) -> Self {
        Self { class, size, conditional: false, target: None }
    }

    /// With that condition.
    #[must_use]
    pub const fn with_condition(mut self, conditional: bool) -> Self {
        self.conditional = conditional;
        self
    }

    /// With that target.
    #[must_use]
    pub const fn with_target(mut self, target: CodeAddress) -> Self {
        self.target = Some(target);
        self
    }
}
