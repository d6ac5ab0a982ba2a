//! What the fields of packets say.

use traceproof_vectors::Field;
use traceproof_vectors::riscv_etrace::{Packet, Parameters, ReportedAddress};

/// The fields of a packet in their order (ET 7), as far as it has them.
struct Said {
    /// Name, width, and value; without value it is any.
    fields: Vec<(&'static str, u32, Option<u64>)>,
}

/// The differentially coded bits and what is after them. Spec: RVET-PKT-025 to 027.
struct Status {
    flags: Vec<(&'static str, bool)>,
    returns: Option<u64>,
}

/// Whether these are the fields of the packet. Of data trace and support packets only that there are any.
pub(super) fn say(packet: &Packet, found: &[Field], parameters: &Parameters) -> bool {
    let Some(said) = Said::of(packet, parameters) else { return found.len() > 1 };
    let mut before = 0;
    let mut fields = said.fields.into_iter().filter(|(_, width, _)| *width > 0);
    let all = found.iter().all(|field| {
        let Some((name, width, value)) = fields.next() else { return false };
        // A flag is a change of the bit before it.
        let is_flag = matches!(name, "notify" | "updiscon" | "irreport");
        let value = value.map(|value| if is_flag { value ^ before } else { value });
        before = field.value >> (field.width - 1) & 1;
        field.name == name && field.width == width && value.is_none_or(|value| value == field.value)
    });
    all && fields.next().is_none()
}

impl Said {
    fn of(packet: &Packet, parameters: &Parameters) -> Option<Self> {
        let mut said = Self { fields: Vec::new() };
        said.push("format", 2, u64::from(packet.format()?));
        match *packet {
            Packet::Start { branch, privilege, time, context, address } => {
                said.push("subformat", 2, 0);
                said.push("branch", 1, branch.into());
                said.situation(privilege, time, context, parameters);
                said.absolute(address.0, parameters);
            }
            Packet::Trap { branch, privilege, time, context, ecause, interrupt, thaddr, address, tval } => {
                said.push("subformat", 2, 1);
                said.push("branch", 1, branch.into());
                said.situation(privilege, time, context, parameters);
                said.push("ecause", parameters.ecause_width_p.into(), ecause);
                said.push("interrupt", 1, interrupt.into());
                said.push("thaddr", 1, thaddr.into());
                address.into_iter().for_each(|address| said.absolute(address.0, parameters));
                tval.into_iter().for_each(|tval| said.push("tval", parameters.iaddress_width_p.into(), tval));
            }
            Packet::Context { privilege, time, context } => {
                said.push("subformat", 2, 2);
                said.situation(privilege, time, context, parameters);
            }
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets } => {
                let status = Status::new(notify, updiscon, irreport, irdepth, irets);
                said.reported(address, &status, parameters);
            }
            Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets } => {
                let status = Status::new(notify, updiscon, irreport, irdepth, irets);
                said.push("branches", 5, branches.into());
                said.push("branch_map", map_width(branches, 31), branch_map.into());
                address.into_iter().for_each(|address| said.reported(address, &status, parameters));
            }
            Packet::BranchCount {
                branch_count,
                branch_fmt,
                address,
                notify,
                updiscon,
                irreport,
                irdepth,
                irets,
            } => {
                let status = Status::new(notify, updiscon, irreport, irdepth, irets);
                said.push("subformat", parameters.f0s_width_p.into(), 0);
                said.push("branch_count", 32, branch_count.into());
                said.push("branch_fmt", 2, branch_fmt.into());
                address.into_iter().for_each(|address| said.reported(address, &status, parameters));
            }
            Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth, irets } => {
                let mut status = Status::new(false, false, irreport, irdepth, irets);
                status.flags.drain(..2);
                said.push("subformat", parameters.f0s_width_p.into(), 1);
                said.push("index", parameters.cache_size_p.into(), index.into());
                said.push("branches", 5, branches.into());
                said.push("branch_map", map_width(branches, 0), branch_map.into());
                said.status(&status, parameters);
            }
            Packet::Support { .. } | Packet::StandardSupport(_) | Packet::Data(_) => return None,
        }
        Some(said)
    }

    fn push(&mut self, name: &'static str, width: u32, value: u64) {
        self.fields.push((name, width, Some(value)));
    }

    fn situation(&mut self, privilege: u8, time: Option<u64>, context: Option<u64>, parameters: &Parameters) {
        self.push("privilege", parameters.privilege_width_p.into(), privilege.into());
        self.push("time", parameters.time_width(), time.unwrap_or_default());
        self.push("context", parameters.context_width(), context.unwrap_or_default());
    }

    fn absolute(&mut self, address: u64, parameters: &Parameters) {
        self.push("address", parameters.address_width(), address >> parameters.iaddress_lsb_p);
    }

    /// Spec: RVET-PKT-024 to 027 (ET 7.6).
    fn reported(&mut self, address: ReportedAddress, status: &Status, parameters: &Parameters) {
        let value = match address {
            ReportedAddress::Full(address) => address,
            ReportedAddress::Delta(delta) => delta.cast_unsigned(),
        };
        let width = parameters.address_width();
        self.push("address", width, value >> parameters.iaddress_lsb_p & (u64::MAX >> (64 - width)));
        self.status(status, parameters);
    }

    fn status(&mut self, status: &Status, parameters: &Parameters) {
        status.flags.iter().for_each(|&(name, flag)| self.push(name, 1, flag.into()));
        let (name, width) =
            if parameters.iret_ext { ("irets", 8) } else { ("irdepth", parameters.irdepth_width()) };
        self.fields.push((name, width, status.returns));
    }
}

impl Status {
    fn new(notify: bool, updiscon: bool, irreport: bool, irdepth: u32, irets: u8) -> Self {
        let flags = vec![("notify", notify), ("updiscon", updiscon), ("irreport", irreport)];
        Self { flags, returns: irreport.then_some(u64::from(irdepth) | u64::from(irets)) }
    }
}

/// Widths of maps of up to 1, 3, 7, 15 and 31 outcomes, and of none. Spec: RVET-PKT-031 (ET 7.7).
fn map_width(branches: u8, of_none: u32) -> u32 {
    [1, 3, 7, 15, 31].into_iter().find(|&most| (1..=most).contains(&u32::from(branches))).unwrap_or(of_none)
}
