//! What the reference decoder reports, in the words of OpenCSD's packet lister, with its systematic
//! differences.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    CompressedAddress, CycleCount, Event, Outcome, Packet, Parameters, Reason, VariableField, exception_name,
};
use traceproof_vectors::{Fault, FaultClass};

/// What the lister knows from earlier packets.
pub(super) struct Lister {
    /// An I-sync was seen.
    pub synchronised: bool,
    gray: bool,
    address: u32,
    isa: Option<InstructionSet>,
    /// The latest packet gave another instruction set than the ones before.
    isa_changed: bool,
    /// A `TRACE_ON` was listed.
    on: bool,
    /// The bits of the timestamp as they travelled.
    timestamp: u64,
}

impl Lister {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            synchronised: false,
            gray: !parameters.timestamp_binary,
            address: 0,
            isa: None,
            isa_changed: false,
            on: false,
            timestamp: 0,
        }
    }

    /// Name and fields of a packet. Before the first I-sync addresses have no base; there the lister takes
    /// them for Thumb, whatever follows, and only the name is comparable.
    pub(super) fn packet(&mut self, packet: &Packet) -> String {
        self.isa_changed = false;
        match *packet {
            Packet::AlignmentSync { .. } => String::from("ASYNC : Alignment Synchronisation Packet; "),
            Packet::InstructionSync {
                address, reason, non_secure, cycle_count, context_id: None, ..
            } => {
                let isa = if address.0 & 1 == 1 { InstructionSet::T32 } else { InstructionSet::A32 };
                self.synchronised = true;
                self.address = address.0 & !1;
                self.set_isa(isa);
                let (reason, _) = reason_words(reason);
                format!(
                    "ISYNC : Instruction Synchronisation packet; ({reason}); Addr={:#010x}; {};  ISA={}; {}",
                    self.address,
                    security(non_secure),
                    isa_words(isa),
                    cycles(cycle_count)
                )
            }
            Packet::Atoms { atoms, cycle_count } => {
                format!("ATOM : Atom packet; {atoms}; {}", cycles(cycle_count))
            }
            Packet::BranchAddress { address, exception, cycle_count } => {
                let address = self.compressed(address);
                let exception = exception.map_or_else(String::new, |exception| {
                    let name = match exception_name(exception.number) {
                        Some("Debug state entry") => "Debug Halt",
                        Some("IRQ") => "IRQ",
                        other => panic!("{other:?}"),
                    };
                    format!("{}; Excep={name} [{:02x}]; ", security(exception.non_secure), exception.number)
                });
                let isa = self.isa.filter(|_| self.isa_changed);
                let isa = isa.map_or_else(String::new, |isa| format!("ISA={}; ", isa_words(isa)));
                format!(
                    "BRANCH_ADDRESS : Branch address packet; {address}{isa}{exception}{}",
                    cycles(cycle_count)
                )
            }
            Packet::WaypointUpdate { address, information: None, even: false } => {
                format!("WP_UPDATE : Waypoint update packet; {}", self.compressed(address))
            }
            Packet::Timestamp { clock_change: false, value: VariableField { bits, bytes }, cycle_count } => {
                let known = if bytes < 7 { (1u64 << (7 * bytes)) - 1 } else { (1 << 48) - 1 };
                self.timestamp = self.timestamp & !known | bits;
                let all = self.timestamp;
                format!(
                    "TIMESTAMP : Timestamp packet; TS=0x{all:016X} ~[0x{bits:X}]({all}); {}",
                    cycles(cycle_count)
                )
            }
            ref other => panic!("in none of the captures: {other:?}"),
        }
    }

    /// The address, and the bits of it that travelled.
    fn compressed(&mut self, CompressedAddress { bits, bytes }: CompressedAddress) -> String {
        if bytes == 5 {
            match bits >> 30 & 7 {
                0b001 => self.set_isa(InstructionSet::A32),
                0b010 | 0b011 => self.set_isa(InstructionSet::T32),
                other => panic!("neither ARM nor Thumb: {other}"),
            }
        }
        let shift = if self.isa == Some(InstructionSet::T32) { 1 } else { 2 };
        let length = [0, 6, 12, 19, 26, 32][usize::from(bytes)] + if bytes == 5 { 0 } else { shift };
        let mask = u32::try_from((1u64 << length) - 1).expect("32 bits");
        let sent = (bits << shift & u64::from(mask)) as u32;
        self.address = self.address & !mask | sent;
        format!("Addr=0x{:08X} ~[0x{sent:X}]; ", self.address)
    }

    fn set_isa(&mut self, isa: InstructionSet) {
        self.isa_changed = self.isa.replace(isa) != Some(isa);
    }

    /// The elements of an event of the latest packet.
    pub(super) fn event(&mut self, event: &Event) -> Vec<String> {
        match *event {
            // It lists no periodic I-sync but the first, and a context only where it differs from the one
            // before.
            Event::TraceOn { reason, address, non_secure, .. } => {
                assert_eq!(address.0, self.address);
                let is_listed = reason != Reason::Periodic || !self.on;
                self.on = true;
                let (_, reason) = reason_words(reason);
                let security = if non_secure { 'N' } else { 'S' };
                let context = format!("PE_CONTEXT((ISA=A32) {security}; 32-bit; )");
                let on = is_listed.then(|| format!("TRACE_ON( [{reason}])"));
                on.into_iter().chain(self.isa_changed.then_some(context)).collect()
            }
            Event::Instructions { first, end, count, isa: InstructionSet::A32, last, .. } => {
                assert_eq!(u64::from(end.0 - first.0), 4 * count, "so each address is compared");
                // It calls the last instruction of a waypoint update executed (`E ---`), of which nothing is
                // known.
                let last = match last {
                    Outcome::Executed => "E",
                    Outcome::NotExecuted => "N",
                    Outcome::Unknown => "E ---",
                };
                let range = format!("exec range={:#010x}:[{:#010x}] num_i({count})", first.0, end.0);
                vec![format!("INSTR_RANGE({range} last_sz(4) (ISA=A32) {last}")]
            }
            Event::Exception { number, returns_to, address, .. } => {
                assert_eq!(address.0, self.address);
                let returns_to = returns_to.expect("the flow is known").0;
                vec![format!("EXCEPTION(pref ret addr:{returns_to:#010x}; excep num ({number:#04x}) )")]
            }
            // It leaves Gray code as it travels.
            Event::Timestamp { value, clock_change: false } => {
                let value = value.expect("a full one came first");
                let value = if self.gray { value ^ value >> 1 } else { value };
                vec![format!("TIMESTAMP( [ TS={value:#014x}]; )")]
            }
            // Only its packet says where a branch leads to after the flow was lost.
            Event::BranchTo { address, .. } => {
                assert_eq!(address.0, self.address);
                Vec::new()
            }
            // Counts are compared apart.
            Event::Cycles { .. } => Vec::new(),
            ref other => panic!("in none of the captures: {other:?}"),
        }
    }
}

/// The element of a fault.
pub(super) fn fault(fault: &Fault) -> String {
    assert_eq!(fault.class, FaultClass::NoCode, "{fault}");
    let address = fault.address.expect("an address").0;
    format!("ADDR_NACC( {address:#010x}; Memspace [0x6:Any NS] )")
}

/// Of a packet and of an element.
fn reason_words(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Periodic => ("Periodic", "begin or filter"),
        Reason::TraceEnabled => ("Trace Enable", "begin or filter"),
        Reason::Overflow => ("Restart Overflow", "overflow"),
        Reason::DebugExit => ("Debug Exit", "debug restart"),
    }
}

fn isa_words(isa: InstructionSet) -> &'static str {
    match isa {
        InstructionSet::A32 => "ARM(32)",
        InstructionSet::T32 => "Thumb2",
        other => panic!("in none of the captures: {other:?}"),
    }
}

fn security(non_secure: bool) -> &'static str {
    if non_secure { "NS" } else { "S" }
}

fn cycles(count: Option<CycleCount>) -> String {
    count.map_or_else(String::new, |count| format!("Cycles={}; ", count.value))
}
