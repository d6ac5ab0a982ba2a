//! What the reference decoder reports, in words that can be compared with OpenCSD's listing.

use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ContextField, Event, Outcome, Packet, Parameters, SubIsa, VariableField,
    exception_name,
};
use traceproof_vectors::{Fault, FaultClass};

/// What the lister knows from earlier packets: the address history and so on, restored here once more.
pub(super) struct Lister {
    ete: bool,
    commopt: bool,
    maxspec: u64,
    history: [(u64, SubIsa); 3],
    threshold: u64,
    timestamp: u64,
}

impl Lister {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let none = (0, SubIsa::Is0);
        Self {
            ete: parameters.version.is_ete(),
            commopt: parameters.commopt,
            maxspec: parameters.maxspec.into(),
            history: [none; 3],
            threshold: 0,
            timestamp: 0,
        }
    }

    /// Names and fields of a packet that begins with this byte. An exception of ETE and its address are two packets.
    pub(super) fn packet(&mut self, packet: &Packet, header: u8) -> Vec<String> {
        let one = match *packet {
            Packet::AlignmentSync { .. } => "I_ASYNC : Alignment Synchronisation.".into(),
            Packet::TraceInfo { .. } => self.trace_info(packet),
            Packet::TraceOn => "I_TRACE_ON : Trace On.".into(),
            Packet::Atoms(atoms) => {
                let format = atom_format(header);
                format!("I_ATOM_F{format} : Atom format {format}.; {}", letters(atoms))
            }
            Packet::TargetAddress { address, context } => self.address("ADDR", "Address", address, context),
            Packet::SourceAddress(address) => self.address("SRC_ADDR", "Source Address", address, None),
            Packet::Context(context) => format!("I_CTXT : Context Packet.; {}", context_words(&context)),
            Packet::Exception { number: 0x18, .. } => {
                self.push((0, SubIsa::Is0));
                "I_TRANS_FAIL : Transaction Fail.".into()
            }
            Packet::Exception { number, with_target, address: Some(address), context, .. } => {
                let exception = exception_words(number.into(), with_target);
                return vec![exception, self.address("ADDR", "Address", address, context)];
            }
            Packet::ExceptionV4 { number, with_target, .. } => exception_words(number, with_target),
            Packet::ExceptionReturn => "I_EXCEPT_RTN : Exception Return.".into(),
            Packet::CycleCount1 { .. } | Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. } => {
                self.cycle_count(packet)
            }
            Packet::Timestamp { value: VariableField { bits, bytes }, count: None } => {
                let known = if bytes < 9 { (1_u64 << (7 * bytes)) - 1 } else { u64::MAX };
                self.timestamp = self.timestamp & !known | bits;
                format!("I_TIMESTAMP : Timestamp.; Updated val = {:#x}", self.timestamp)
            }
            Packet::TimestampMarker => "I_TS_MARKER : Timestamp Marker".into(),
            Packet::Overflow => "I_OVERFLOW : Overflow.".into(),
            Packet::Discard => "I_DISCARD : Discard.".into(),
            Packet::Commit(count) => format!("I_COMMIT : Commit; Commit({})", count.bits),
            Packet::Cancel1 { count, mispredict: false } => {
                format!("I_CANCEL_F1 : Cancel Format 1.; Cancel({})", count.bits)
            }
            Packet::Cancel2 { atoms: None } => "I_CANCEL_F2 : Cancel Format 2.; Cancel(1), Mispredict".into(),
            Packet::Mispredict { atoms: None } => "I_MISPREDICT : Mispredict.; Mispredict".into(),
            Packet::TransactionStart => "I_TRANS_ST : Transaction Start.".into(),
            Packet::TransactionCommit => "I_TRANS_COMMIT : Transaction Commit.".into(),
            Packet::Event(_) => "I_EVENT : Trace Event.".into(),
            Packet::Ignore => "I_IGNORE : Ignore.".into(),
            ref other => panic!("in none of the captures: {other:?}"),
        };
        vec![one]
    }

    fn trace_info(&mut self, packet: &Packet) -> String {
        let Packet::TraceInfo { info, cycle_threshold, speculation: None, key: None, .. } = *packet else {
            panic!("in none of the captures: {packet:?}");
        };
        let info = info.map_or(0, |info| info.bits);
        self.history = [(0, SubIsa::Is0); 3];
        self.timestamp = 0;
        self.threshold = cycle_threshold.map_or(0, |threshold| threshold.bits);
        let state = if self.ete { format!(", TSTATE.{}", info >> 6 & 1) } else { String::new() };
        let threshold = cycle_threshold.map(|threshold| format!("; CC_THRESHOLD={:#x}", threshold.bits));
        let threshold = threshold.unwrap_or_default();
        format!("I_TRACE_INFO : Trace Info.; INFO={info:#x} {{ CC.{}{state} }}{threshold}", info & 1)
    }

    fn cycle_count(&self, packet: &Packet) -> String {
        let (format, count) = match *packet {
            Packet::CycleCount1 { count, .. } => (1, count.map(|count| count.bits)),
            Packet::CycleCount2 { count, .. } => (2, Some(count.into())),
            Packet::CycleCount3 { count, .. } => (3, Some(count.into())),
            _ => panic!("no cycle count: {packet:?}"),
        };
        assert!(self.commopt || self.maxspec > 0, "what a commit is");
        // It prints 0 for UNKNOWN.
        let count = count.map_or(0, |count| self.threshold + count);
        format!("I_CCNT_F{format} : Cycle Count format {format}.; Count={count:#x}")
    }

    fn push(&mut self, entry: (u64, SubIsa)) {
        self.history = [entry, self.history[0], self.history[1]];
    }

    /// The address, restored from the history, which it joins, with its context.
    fn address(
        &mut self,
        tag: &str,
        name: &str,
        field: AddressField,
        context: Option<ContextField>,
    ) -> String {
        let before = self.history[0].0;
        let replaced = |low: u64, mask: u64| before & !mask | low & mask;
        let digit = |sub_isa: SubIsa| if sub_isa == SubIsa::Is1 { 1 } else { 0 };
        let (entry, words, tail) = match field {
            AddressField::ExactMatch(index) => {
                let entry = self.history[usize::from(index)];
                (entry, format!("I_ADDR_MATCH : Exact Address Match., [{index}]"), String::new())
            }
            AddressField::Short { sub_isa, bits, bytes } => {
                let width = [0, 9, 17][usize::from(bytes)] - digit(sub_isa);
                let mask = (1 << width) - 1;
                let sent = u64::from(bits.0) & mask;
                let isa = digit(sub_isa);
                let words = format!("I_{tag}_S_IS{isa} : {name}, Short, IS{isa}.");
                ((replaced(sent, mask), sub_isa), words, format!(" ~[{sent:#X}]").replace("0X", "0x"))
            }
            AddressField::Bits32 { sub_isa, bits, .. } => {
                let words = long_words(tag, name, 32, digit(sub_isa), context.is_some());
                ((replaced(bits.0.into(), u32::MAX.into()), sub_isa), words, String::new())
            }
            AddressField::Bits64 { sub_isa, bits, .. } => {
                let words = long_words(tag, name, 64, digit(sub_isa), context.is_some());
                ((bits.0, sub_isa), words, String::new())
            }
        };
        self.push(entry);
        let context = context.map(|context| format!("; {}", context_words(&context))).unwrap_or_default();
        format!("{words}; Addr=0x{:016X}{tail}{context}", entry.0)
    }

    /// The words for an event; none for what OpenCSD has no element for.
    pub(super) fn event(&self, event: &Event) -> Option<String> {
        Some(match *event {
            Event::Instructions { first, end, count, isa, last } => {
                // It calls what an exception follows executed (E).
                let last = if last == Outcome::NotTaken { 'N' } else { 'E' };
                format!("range {:#x}..{:#x} {count} {} {last}", first.0, end.0, isa_words(isa))
            }
            Event::Exception { number, returns_to: Some(address), .. } => {
                format!("exception {number:#x} {:#x}", address.0)
            }
            Event::Context(context) => element_context(&context),
            Event::Timestamp { value, cycles: None, .. } => format!("timestamp {:#x}", value.unwrap_or(0)),
            Event::Cycles { count, .. } => format!("cycles {}", count.unwrap_or(0)),
            Event::TransactionStart => "transaction start".into(),
            Event::TransactionCommit => "transaction commit".into(),
            Event::TransactionFailure => "transaction fail".into(),
            // It prints the mask of the packet (O9).
            Event::Event { number } => format!("event {}", 1 << number),
            Event::Overflow => "lost overflow".into(),
            Event::Discard => "lost discard".into(),
            Event::TraceOn => "trace on".into(),
            Event::TimestampMarker => "marker".into(),
            Event::ExceptionReturn => "exception return".into(),
            Event::TraceInfo { .. } => return None,
            ref other => panic!("in none of the captures: {other:?}"),
        })
    }
}

/// The words for a fault, if it is an element.
pub(super) fn fault(fault: &Fault) -> String {
    match (fault.class, fault.address) {
        (FaultClass::NoCode, Some(address)) => format!("no code {:#x}", address.0),
        _ => format!("fault {fault}"),
    }
}

fn long_words(tag: &str, name: &str, width: u8, isa: u8, with_context: bool) -> String {
    // The lister's own spelling.
    let tag = if tag == "SRC_ADDR" { "SCR_ADDR" } else { tag };
    let (tag, name) = if with_context {
        (format!("{tag}_CTXT"), format!("{name} & Context"))
    } else {
        (tag.to_owned(), name.to_owned())
    };
    format!("I_{tag}_L_{width}IS{isa} : {name}, Long, {width} bit, IS{isa}.")
}

const fn atom_format(header: u8) -> u8 {
    match header {
        0xf6 | 0xf7 => 1,
        0xd8..=0xdb => 2,
        0xf8..=0xff => 3,
        0xdc..=0xdf => 4,
        0xf5 | 0xd5..=0xd7 => 5,
        _ => 6,
    }
}

fn letters(atoms: Atoms) -> String {
    (0..atoms.len()).map(|index| if atoms.bits() >> index & 1 == 1 { 'E' } else { 'N' }).collect()
}

fn exception_words(number: u16, with_target: bool) -> String {
    let name = match exception_name(number) {
        Some("Data fault") => "Data Fault",
        Some("Inst fault") => "Inst Fault",
        Some("Inst debug") => "Inst Debug",
        Some("Debug halt") => "Debug Halt",
        other => other.expect("a name"),
    };
    let target = if with_target { ", Match Prev" } else { "" };
    format!("I_EXCEPT : Exception.;  {name}; Ret Addr Follows{target}")
}

fn level(level: ExceptionLevel) -> u8 {
    level.number()
}

fn context_words(context: &ContextField) -> String {
    let state = if context.is_64_bit { "AArch64," } else { "AArch32, " };
    let security = match context.security {
        SecurityState::NonSecure => "NS",
        SecurityState::Secure => "S",
        other => panic!("in none of the captures: {other:?}"),
    };
    let context_id = context.context_id.map(|id| format!("; CID=0x{id:08x}")).unwrap_or_default();
    let vmid = context.vmid.map(|id| format!("; VMID=0x{id:04x}")).unwrap_or_default();
    format!("Ctxt: {state}EL{}, {security}{context_id}{vmid}", level(context.exception_level))
}

fn element_context(context: &Context) -> String {
    let security = if context.security == SecurityState::Secure { 'S' } else { 'N' };
    let (number, width) =
        (level(context.exception_level.unwrap_or_default()), if context.is_64_bit { 64 } else { 32 });
    let id = |id: Option<u32>| id.unwrap_or_default();
    format!(
        "context EL{number}{security} {width} vmid={:#x} context={:#x}",
        id(context.vmid),
        id(context.context_id)
    )
}

fn isa_words(isa: InstructionSet) -> &'static str {
    match isa {
        InstructionSet::A64 => "A64",
        InstructionSet::A32 => "A32",
        InstructionSet::T32 => "T32",
        other => panic!("in none of the captures: {other:?}"),
    }
}
