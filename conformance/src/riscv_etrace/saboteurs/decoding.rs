//! How decoders of RISC-V E-Trace are made wrong.

use traceproof_decoder::riscv_etrace::Flow;
use traceproof_vectors::riscv_etrace::{
    DataEvent, Encapsulation, Event, NormalEncapsulation, Packet, Parameters, QualStatus, ReportedAddress,
    RiscvEtrace, StandardSupport, StopReason,
};
use traceproof_vectors::{Address, Entry, Program, Section};

use super::layers::{Following, PacketHook};
use crate::saboteurs::decoders::{Bytes, Results};

/// Changes packets where they are read.
fn packets(mut change: impl FnMut(&mut Packet) + 'static) -> PacketHook {
    Box::new(move |mut packet| {
        change(&mut packet);
        packet
    })
}

/// Changes packets where they are followed.
fn followed(mut change: impl FnMut(&mut Packet, &mut Flow) + 'static) -> Following {
    Box::new(move |mut packet, flow| {
        change(&mut packet, flow);
        Some(packet)
    })
}

/// Changes what is reported.
fn events(mut change: impl FnMut(&mut Event) + 'static) -> Results<RiscvEtrace> {
    Box::new(move |mut entry| {
        if let Entry::Event(event) = &mut entry {
            change(event);
        }
        Some(entry)
    })
}

/// The address of formats 0 to 2.
const fn reported(packet: &mut Packet) -> Option<&mut ReportedAddress> {
    match packet {
        Packet::Address { address, .. } => Some(address),
        Packet::Branch { address, .. } | Packet::BranchCount { address, .. } => address.as_mut(),
        _ => None,
    }
}

pub(super) fn thirty_first_branch_taken(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::Branch { branches: 0, branch_map, .. } = packet {
            *branch_map &= !(1 << 30);
        }
    })
}

pub(super) fn difference_without_sign(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Some(ReportedAddress::Delta(delta)) = reported(packet)
            && *delta < 0
        {
            let significant = 65 - delta.leading_ones();
            *delta &= i64::MAX >> (64 - significant.min(64)).saturating_sub(1);
        }
    })
}

pub(super) fn shift_of_one(parameters: &Parameters) -> PacketHook {
    let lsb = parameters.iaddress_lsb_p;
    packets(move |packet| match packet {
        Packet::Start { address, .. } | Packet::Trap { address: Some(address), .. } => {
            *address = Address(address.0 >> lsb << 1);
        }
        packet => match reported(packet) {
            Some(ReportedAddress::Delta(delta)) => *delta = *delta >> lsb << 1,
            Some(ReportedAddress::Full(address)) => *address = *address >> lsb << 1,
            None => {}
        },
    })
}

pub(super) fn time_of_32_bits(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::Start { time: Some(time), .. }
        | Packet::Trap { time: Some(time), .. }
        | Packet::Context { time: Some(time), .. } = packet
        {
            *time &= u64::from(u32::MAX);
        }
    })
}

pub(super) fn ecause_of_four_bits(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::Trap { ecause, .. } = packet {
            *ecause &= 0xf;
        }
    })
}

pub(super) fn cache_index_one_bit_short(parameters: &Parameters) -> PacketHook {
    let top = 1_u32.checked_shl(u32::from(parameters.cache_size_p)).unwrap_or(0) >> 1;
    packets(move |packet| {
        if let Packet::JumpTargetIndex { index, .. } = packet {
            *index &= !top;
        }
    })
}

pub(super) fn updiscon_ignored(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Address { updiscon, .. }
        | Packet::Branch { updiscon, .. }
        | Packet::BranchCount { updiscon, .. } = packet
        {
            *updiscon = false;
        }
    })
}

pub(super) fn notify_ignored(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Address { notify, .. }
        | Packet::Branch { notify, .. }
        | Packet::BranchCount { notify, .. } = packet
        {
            *notify = false;
        }
    })
}

pub(super) fn irreport_ignored(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Address { irreport, irdepth, irets, .. }
        | Packet::Branch { irreport, irdepth, irets, .. }
        | Packet::BranchCount { irreport, irdepth, irets, .. }
        | Packet::JumpTargetIndex { irreport, irdepth, irets, .. } = packet
        {
            (*irreport, *irdepth, *irets) = (false, 0, 0);
        }
    })
}

pub(super) fn ended_ntr_is_ended_rep(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Support { qual_status: status @ QualStatus::EndedNtr, .. }
        | Packet::StandardSupport(StandardSupport {
            qual_status: status @ QualStatus::EndedNtr, ..
        }) = packet
        {
            *status = QualStatus::EndedRep;
        }
    })
}

pub(super) fn base_stale_after_a_start(_: &Parameters) -> Following {
    // What the wrong decoder takes for the base, and what the flow does; where only the flow knows, nothing is wrong.
    let (mut stale, mut base) = (None, None);
    followed(move |packet, _| match packet {
        Packet::Start { address, .. } => {
            base = Some(address.0);
            stale = stale.or(base);
        }
        Packet::Trap { address, thaddr, .. } => {
            base = address.filter(|_| *thaddr).map(u64::from);
            stale = base;
        }
        Packet::JumpTargetIndex { .. } => (stale, base) = (None, None),
        packet => match (reported(packet), stale, base) {
            (Some(ReportedAddress::Delta(delta)), Some(wrong), Some(right)) => {
                let arrived = u64::wrapping_add(wrong, delta.cast_unsigned());
                *delta = arrived.wrapping_sub(right).cast_signed();
                (stale, base) = (Some(arrived), Some(arrived));
            }
            (Some(ReportedAddress::Full(address)), ..) => (stale, base) = (Some(*address), Some(*address)),
            _ => {}
        },
    })
}

pub(super) fn resynchronisation_starts_anew(_: &Parameters) -> Following {
    followed(|packet, flow| {
        if matches!(packet, Packet::Start { .. }) {
            flow.lose_synchronisation();
        }
    })
}

pub(super) fn branch_at_a_start_ignored(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Start { branch, .. } = packet {
            *branch = true;
        }
    })
}

pub(super) fn handler_is_a_start(_: &Parameters) -> Following {
    followed(|packet, _| {
        if let Packet::Trap {
            branch, privilege, time, context, thaddr: true, address: Some(address), ..
        } = *packet
        {
            *packet = Packet::Start { branch, privilege, time, context, address };
        }
    })
}

/// Where there are at least two of something, half of them; the field is an exponent.
const fn halve(exponent: &mut u8) {
    if *exponent > 1 {
        *exponent -= 1;
    }
}

pub(super) fn return_stack_of_half_the_depth(parameters: &mut Parameters) {
    halve(&mut parameters.return_stack_size_p);
    halve(&mut parameters.call_counter_size_p);
}

pub(super) fn predictor_of_half_the_size(parameters: &mut Parameters) {
    halve(&mut parameters.bpred_size_p);
}

pub(super) fn vectors_without_offset(parameters: &mut Parameters) {
    if let Some(vectors) = &mut parameters.trap_vectors {
        vectors.vectored = false;
    }
}

pub(super) fn first_options_swapped(parameters: &mut Parameters) {
    if let [first, second, ..] = parameters.support.ioptions.as_mut_slice() {
        std::mem::swap(first, second);
    }
}

pub(super) fn alternate_link_register_is_none(_: &Parameters, program: &Program) -> Program {
    let mut result = Program::new();
    for section in program.sections() {
        let mut bytes = section.bytes.clone();
        let mut rest = bytes.as_mut_slice();
        while let [low, high, tail @ ..] = rest {
            // The opcodes of JAL and JALR; rd is in [11:7], and x6 is no link register.
            let rd = u16::from_le_bytes([*low, *high]) >> 7 & 0x1f;
            if matches!(*low & 0x7f, 0x6f | 0x67) && rd == 5 {
                *low &= 0x7f;
                *high = *high & 0xf0 | 3;
            }
            let skipped = if *low & 3 == 3 { tail.len().min(2) } else { 0 };
            rest = tail.split_at_mut(skipped).1;
        }
        // The sections are those of a program, so none is in the way of another.
        let _ =
            result.insert(Section::new(section.address, bytes, section.name.clone()).in_space(section.space));
    }
    result
}

pub(super) fn interrupt_flag_inverted(_: &Parameters) -> Results<RiscvEtrace> {
    events(|event| {
        if let Event::Trap { interrupt, .. } = event {
            *interrupt = !*interrupt;
        }
    })
}

pub(super) fn every_context_is_precise(_: &Parameters) -> Results<RiscvEtrace> {
    events(|event| {
        if let Event::Context { precise, .. } = event {
            *precise = true;
        }
    })
}

pub(super) fn trace_lost_is_an_end(_: &Parameters) -> Results<RiscvEtrace> {
    events(|event| {
        if let Event::Stop { reason } = event {
            *reason = StopReason::Ended;
        }
    })
}

pub(super) fn response_to_the_latest_request(_: &Parameters) -> Results<RiscvEtrace> {
    let mut latest = None;
    events(move |event| match event {
        Event::Data(DataEvent::LoadRequest { address, .. }) => latest = Some(*address),
        Event::Data(DataEvent::LoadResponse { address: Some(address), .. }) => {
            *address = latest.unwrap_or(*address);
        }
        _ => {}
    })
}

pub(super) fn data_of_32_bits(_: &Parameters) -> Results<RiscvEtrace> {
    events(|event| {
        if let Event::Data(
            DataEvent::Load { data: Some(data), .. } | DataEvent::Store { data: Some(data), .. },
        ) = event
        {
            *data &= u128::from(u32::MAX);
        }
    })
}

pub(super) fn bus_error_loads_zero(_: &Parameters) -> Results<RiscvEtrace> {
    events(|event| {
        if let Event::Data(DataEvent::LoadResponse { data, .. }) = event {
            *data = data.or(Some(0));
        }
    })
}

/// Finds the headers of a stream of packets.
#[derive(Default)]
struct Headers {
    /// Bytes of the packet that are still to come.
    left: usize,
    /// Those that came.
    passed: usize,
}

impl Headers {
    /// Index of the next byte in its packet; 0 is the header.
    const fn position(&self) -> usize {
        if self.left == 0 { 0 } else { self.passed }
    }

    /// Passes over the byte. Spec: RVET-ENCAP-003.
    fn pass(&mut self, byte: u8, normal: NormalEncapsulation) {
        if self.left > 0 {
            self.left -= 1;
            self.passed += 1;
            return;
        }
        let length = usize::from(byte & 0x1f);
        if length > 0 {
            let timestamp = if byte & 0x80 != 0 { usize::from(normal.timestamp_bytes) } else { 0 };
            self.left = usize::from(normal.src_id_bits / 8) + timestamp + length;
            self.passed = 1;
        }
    }
}

/// The encapsulation, where every byte of the stream belongs to a packet.
fn seamless(parameters: &Parameters) -> Option<NormalEncapsulation> {
    match parameters.encapsulation {
        Encapsulation::Normal(normal) if normal.synchronised && normal.block_bytes == 0 => Some(normal),
        _ => None,
    }
}

pub(super) fn every_source_is_followed(parameters: &Parameters) -> Bytes {
    let Some(normal) = seamless(parameters).filter(|_| parameters.data.is_none()) else {
        return Box::new(|byte| byte);
    };
    let mask = 1_u32.checked_shl(u32::from(normal.src_id_bits)).map_or(u32::MAX, |end| end - 1);
    let [low_mask, high_mask, ..] = mask.to_le_bytes();
    let [low, high] = normal.src_id.to_le_bytes();
    let mut headers = Headers::default();
    Box::new(move |byte| {
        let read = match headers.position() {
            1 => byte & !low_mask | low,
            2 => byte & !high_mask | high,
            _ => byte,
        };
        headers.pass(byte, normal);
        read
    })
}

pub(super) fn length_of_four_bits(parameters: &Parameters) -> Bytes {
    let Some(normal) = seamless(parameters) else { return Box::new(|byte| byte) };
    let mut headers = Headers::default();
    Box::new(move |byte| {
        let read = if headers.position() == 0 { byte & !0x10 } else { byte };
        headers.pass(read, normal);
        read
    })
}
