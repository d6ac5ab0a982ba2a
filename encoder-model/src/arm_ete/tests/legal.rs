//! Rules of the order of packets that need no code: an independent check of what the model sends.

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{Packet, Parameters, VariableField};

/// What the packets so far have said.
pub(super) struct Legality {
    parameters: Parameters,
    /// A-sync came since the start or the latest Overflow.
    aligned: bool,
    /// Trace Info came since then.
    informed: bool,
    context: bool,
    address: bool,
    depth: u64,
    /// All P0 elements that were not cancelled.
    total: u64,
    /// A Transaction Start is open: the P0 elements up to it, itself included.
    started: Option<u64>,
    /// The latest packet is an exception of ETMv4, whose address comes next: its number, and E.
    awaits_address: Option<(u16, bool)>,
    marked: bool,
    /// P0, Event or Instrumentation elements since Trace Info.
    elements: u64,
    /// A cycle count came since the start or the latest Overflow.
    counted: bool,
}

impl Legality {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            parameters: parameters.clone(),
            aligned: false,
            informed: false,
            context: false,
            address: false,
            depth: 0,
            total: 0,
            started: None,
            awaits_address: None,
            marked: false,
            elements: 0,
            counted: false,
        }
    }

    pub(super) fn check(&mut self, packet: &Packet) -> Result<(), String> {
        let addressed = self.awaits_address.take();
        if addressed.is_some() && !matches!(packet, Packet::TargetAddress { .. }) {
            return Err("ETE-V4-EXC-002: an address must follow".into());
        }
        self.order(packet)?;
        match *packet {
            Packet::AlignmentSync { zeros } if zeros >= 11 => self.aligned = true,
            Packet::TraceInfo { speculation, info, .. } => self.trace_info(speculation, info)?,
            Packet::TraceOn => self.address = false,
            Packet::Overflow => self.discard(false),
            Packet::Discard => self.discard(true),
            Packet::TargetAddress { context, .. } => {
                self.context |= context.is_some();
                match addressed {
                    None => self.address = true,
                    Some(exception) => self.exception_v4(exception)?,
                }
            }
            Packet::Context(_) | Packet::ContextSame => self.context = true,
            Packet::Atoms(atoms) => self.p0(atoms.len() as u64)?,
            Packet::SourceAddress(_) => self.p0(1)?,
            Packet::Q { address, .. } => {
                self.p0(1)?;
                self.address = address.is_some();
            }
            Packet::Exception { .. } => self.exception(packet)?,
            Packet::ExceptionV4 { with_target, number, .. } => {
                self.awaits_address = Some((number, with_target));
            }
            Packet::TransactionStart => {
                if !self.parameters.commtrans {
                    self.p0(1)?;
                }
                self.started = Some(self.total);
            }
            Packet::TransactionCommit => self.end_transaction()?,
            Packet::ExceptionReturn | Packet::FunctionReturn | Packet::UnnumberedDataSyncMarker(_) => {
                self.v4_elements(packet);
            }
            _ => self.resolution(packet)?,
        }
        Ok(())
    }

    fn is_m_profile(&self) -> bool {
        self.parameters.profile == Profile::Microcontroller
    }

    /// What may come before A-sync and Trace Info, and what precedes a timestamp.
    fn order(&mut self, packet: &Packet) -> Result<(), String> {
        let early = match packet {
            Packet::AlignmentSync { .. } => true,
            Packet::Event(_) | Packet::Ignore | Packet::Instrumentation { .. } => {
                self.aligned || self.counted_early()
            }
            Packet::Overflow | Packet::Discard => true,
            Packet::TraceInfo { .. } => self.aligned,
            _ => self.informed,
        };
        if !early {
            return Err("ETE-TTLJC-001, ETE-HMDGL-001: A-sync and Trace Info come first".into());
        }
        let marked = core::mem::replace(&mut self.marked, matches!(packet, Packet::TimestampMarker));
        match packet {
            Packet::Timestamp { count, .. } => {
                if self.parameters.timestamp_markers != marked {
                    return Err("ETE-LWZXK-001: a marker precedes each timestamp".into());
                }
                if self.elements == 0 {
                    return Err("ETE-CWHHW-001: no element before the timestamp".into());
                }
                if count.is_some() && !self.counted {
                    return Err("ETE-JNSWW-001: the count is UNKNOWN before the first cycle count".into());
                }
            }
            Packet::Event(_) | Packet::Instrumentation { .. } => self.elements += 1,
            _ => {}
        }
        Ok(())
    }

    /// After an Overflow events may come before A-sync (I_VQYYH).
    const fn counted_early(&self) -> bool {
        self.depth == 0
    }

    fn trace_info(
        &mut self,
        speculation: Option<VariableField>,
        info: Option<VariableField>,
    ) -> Result<(), String> {
        self.informed = true;
        self.elements = 0;
        let said = speculation.map_or(0, |field| field.bits);
        if said != self.depth {
            return Err(format!("SPEC is {said}, the depth {}", self.depth));
        }
        let transactional = info.is_some_and(|field| field.bits & 1 << 6 != 0);
        if transactional != self.started.is_some() {
            return Err("ETE-WJJNK-001: T".into());
        }
        Ok(())
    }

    fn discard(&mut self, goes_on: bool) {
        self.depth = 0;
        self.started = None;
        self.context = false;
        self.address = false;
        self.aligned &= goes_on;
        self.informed &= goes_on;
        self.counted &= goes_on;
    }

    fn p0(&mut self, count: u64) -> Result<(), String> {
        if count > 0 && (!self.context || !self.address) {
            return Err(format!(
                "ETE-KKQGK-001: context known: {}, address known: {}",
                self.context, self.address
            ));
        }
        self.count(count);
        Ok(())
    }

    fn count(&mut self, count: u64) {
        self.elements += count;
        self.total += count;
        self.depth = (self.depth + count).min(self.parameters.maxspec.into());
    }

    fn exception(&mut self, packet: &Packet) -> Result<(), String> {
        let &Packet::Exception { number, with_target, context, .. } = packet else { return Ok(()) };
        if number == 0x18 {
            self.address = false;
            return self.end_transaction();
        }
        self.context |= context.is_some();
        self.address |= with_target;
        if number == 0 {
            if self.started.is_some() {
                return Err("ETE-XQSPC-001: the transaction is open".into());
            }
            self.count(1);
        } else {
            self.p0(1)?;
        }
        self.address = is_implementation_defined(number.into());
        Ok(())
    }

    /// An exception of ETMv4 with its address. No state need be known at PE Reset.
    fn exception_v4(&mut self, (number, with_target): (u16, bool)) -> Result<(), String> {
        let m_profile = self.is_m_profile();
        self.address |= with_target;
        if number == u16::from(m_profile) {
            self.count(1);
        } else {
            self.p0(1)?;
        }
        self.address = !m_profile && is_implementation_defined(number);
        Ok(())
    }

    fn end_transaction(&mut self) -> Result<(), String> {
        self.started.take().map(|_| ()).ok_or_else(|| "no transaction is open".into())
    }

    fn v4_elements(&mut self, packet: &Packet) {
        let m_profile = self.is_m_profile();
        match packet {
            Packet::UnnumberedDataSyncMarker(atoms) => self.count((*atoms).into()),
            Packet::FunctionReturn => self.count(1),
            Packet::ExceptionReturn if m_profile => self.count(1),
            _ => {}
        }
    }

    /// Commit, Cancel, Mispredict, with atoms and cycle counts.
    fn resolution(&mut self, packet: &Packet) -> Result<(), String> {
        match *packet {
            Packet::Commit(count) => self.take(count.bits),
            Packet::Cancel1 { count, .. } => self.cancel(count.bits),
            Packet::Cancel2 { atoms } => {
                self.p0(atoms.map_or(0, |atoms| atoms.len() as u64))?;
                self.cancel(1)
            }
            Packet::Cancel3 { atom, count } => {
                self.p0(atom.into())?;
                self.cancel(count.into())
            }
            Packet::Mispredict { atoms } => self.p0(atoms.map_or(0, |atoms| atoms.len() as u64)),
            Packet::CycleCount1 { commit, count } => {
                self.first_count(count.is_none())?;
                self.take(commit.map_or(0, |commit| commit.bits))
            }
            Packet::CycleCount2 { large, commit, .. } => {
                self.first_count(false)?;
                match (self.parameters.commopt, large) {
                    (true, _) => Ok(()),
                    (false, false) => self.take(u64::from(commit) + 1),
                    (false, true) => self.take(u64::from(self.parameters.maxspec) + u64::from(commit) - 15),
                }
            }
            Packet::CycleCount3 { commit, .. } => {
                self.first_count(false)?;
                if self.parameters.commopt { Ok(()) } else { self.take(u64::from(commit) + 1) }
            }
            _ => Ok(()),
        }
    }

    fn first_count(&mut self, unknown: bool) -> Result<(), String> {
        if core::mem::replace(&mut self.counted, true) || unknown {
            Ok(())
        } else {
            Err("ETE-YFMWB-001, ETE-HQKWH-001: the first count is UNKNOWN".into())
        }
    }

    fn take(&mut self, count: u64) -> Result<(), String> {
        self.depth = self.depth.checked_sub(count).ok_or("more than there is")?;
        Ok(())
    }

    /// What is known of the state after a Cancel, the packets alone do not say.
    fn cancel(&mut self, count: u64) -> Result<(), String> {
        self.context = true;
        self.address = true;
        self.total -= count.min(self.total);
        self.started = self.started.filter(|at| *at <= self.total);
        self.take(count)
    }
}

/// Then execution may go on at the return address (reading `ete-implementation-defined-exceptions`).
fn is_implementation_defined(number: u16) -> bool {
    (0x10..=0x17).contains(&number)
}
