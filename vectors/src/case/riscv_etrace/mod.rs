//! How RISC-V E-Trace cases are written.

mod framing;
mod instructions;
mod resolve;
mod wire;

use serde::{Deserialize, Serialize};

use super::{Assembly, CaseProtocol, Expected, ExpectedFault, Location, Path, Problem};
use crate::riscv_etrace::{
    Cycle, DataAccess, DataEvent, DataOptions, DataResponse, Modes, Packet, Parameters, RiscvEtrace, Step,
    StopReason,
};

/// One line of `stimulus`.
///
/// `privilege` (3 at first), `context` and `time` (0 at first) stay in force until a later line changes them, `context`
/// also by `retire_context`; the other fields are for this line only. The encoder is off at first: `{ enable = true }`
/// comes before anything else. What is traced follows from `policy.filters`, `enable` and the signals of cycles; the
/// end of tracing is a line too, in most cases `{ enable = false }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StimulusEntry {
    /// Instructions retire: a [`Path`] such as `"A B C J"`.
    Retire(Path),
    /// The last instruction of the path is subject to a notify request.
    RetireNotify(Path),
    /// The last instruction of the path is a branch whose outcome does not follow from what comes next.
    RetireTaken(Path),
    /// The last instruction of the path is a multi-memory access instruction with further accesses to come.
    RetirePartial(Path),
    /// The first instruction of the path comes with a context change that is to be reported: see `ctype`.
    RetireContext {
        /// The instructions.
        path: Path,
        /// The new context.
        #[serde(with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        context: u64,
        /// Ingress `ctype` at the first instruction.
        ctype: u8,
    },
    /// An exception is taken.
    Exception {
        /// The cause.
        cause: u64,
        /// The trap value.
        #[serde(default, with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        tval: u64,
        /// The exception program counter.
        epc: Location,
    },
    /// An interrupt is taken.
    Interrupt {
        /// The cause.
        cause: u64,
    },
    /// The privilege level of what follows.
    Privilege(u8),
    /// The time of what follows.
    Time(
        #[serde(with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u64,
    ),
    /// The context of what follows, not reported as a change (ctype 0).
    Context(
        #[serde(with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u64,
    ),
    /// Tracing is switched on or off.
    Enable(bool),
    /// The run-time modes change.
    Modes(Modes),
    /// The transport takes packets (`true`) or loses them (`false`).
    Transport(bool),
    /// An ingress cycle by its signals.
    Cycle(Cycle),
    /// A data access of the instruction that retired last.
    Data(DataAccess),
    /// The data of a split load or atomic arrive.
    Response(DataResponse),
    /// Data tracing is switched on or off. It is off at first.
    DataEnable(bool),
    /// The run-time options of data trace change.
    DataOptions(DataOptions),
    /// The encoder may send data packets (`true`) or has to drop them (`false`).
    DataTransport(bool),
}

/// One line of `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventEntry {
    /// Instructions retired: a [`Path`] such as `"A B C J"`.
    Retire(Path),
    /// An exception.
    Exception {
        /// The cause.
        cause: u64,
        /// The trap value.
        #[serde(default, with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        tval: u64,
        /// A location, or `"unknown"`; absent = not judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epc: Option<Location>,
        /// A decoder may also report that the EPC is unknown; with a location only.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        epc_may_be_unknown: bool,
    },
    /// An interrupt.
    Interrupt {
        /// The cause.
        cause: u64,
    },
    /// Privilege and context of what follows, reported by a synchronisation packet.
    Context {
        /// The privilege level.
        privilege: u8,
        /// The context, where packets carry it.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
    },
    /// The same, reported by a context packet: no position in the flow.
    ImpreciseContext {
        /// The privilege level.
        privilege: u8,
        /// The context, where packets carry it.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
    },
    /// A time stamp.
    Time(
        #[serde(with = "crate::notation::hex")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u64,
    ),
    /// Tracing stopped.
    Stop(StopReason),
    /// A data access, or `"lost"`.
    Data(DataEvent),
    /// A fault.
    Fault(ExpectedFault),
}

impl CaseProtocol for RiscvEtrace {
    type StimulusEntry = StimulusEntry;
    type EventEntry = EventEntry;
    type Execution = Vec<Step>;

    fn assemble(text: &str, parameters: &Parameters) -> Result<Assembly, Problem> {
        parameters
            .check()
            .map_err(|(parameter, reason)| Problem::new(format!("parameters.{parameter}"), reason))?;
        super::assemble(text, &instructions::Riscv::new(parameters))
    }

    fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Step>, Problem> {
        resolve::execution(entries, assembly)
    }

    fn expected(entries: &[EventEntry], assembly: &Assembly) -> Result<Vec<Expected<Self>>, Problem> {
        resolve::expected(entries, assembly)
    }

    fn wire(lines: &[String], parameters: &Parameters) -> Result<Vec<u8>, Problem> {
        wire::parse(lines, parameters.encapsulation)
    }

    fn show_wire(bytes: &[u8], parameters: &Parameters) -> Vec<String> {
        wire::show(bytes, parameters.encapsulation)
    }

    fn required_features(parameters: &Parameters, _: &[u8]) -> Vec<&'static str> {
        resolve::required_features(parameters)
    }

    fn without_unused(parameters: &Parameters, packets: &[Packet]) -> Parameters {
        resolve::without_unused(parameters, packets)
    }
}
