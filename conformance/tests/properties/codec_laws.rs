//! Laws of the packet codec, for any packet and any damage: identity, canonical compression, typed faults.

use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};
use traceproof_decoder::riscv_etrace::dissect;
use traceproof_encoder_model::riscv_etrace::write_packets;
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{
    Compression, Modes, Packet, Parameters, Policy, QualStatus, ReportedAddress, Xlen,
};

/// A packet that the parameters can carry.
#[derive(Clone, Debug)]
struct Fitting {
    parameters: Parameters,
    packet: Packet,
}

impl Arbitrary for Fitting {
    fn arbitrary(g: &mut Gen) -> Self {
        let parameters = parameters(g);
        let packet = packet(g, &parameters);
        Self { parameters, packet }
    }
}

fn parameters(g: &mut Gen) -> Parameters {
    let wide = bool::arbitrary(g);
    let base = Parameters::default();
    Parameters {
        xlen: if wide { Xlen::Rv64 } else { Xlen::Rv32 },
        iaddress_width_p: *g.choose(if wide { &[64, 48, 39] } else { &[32, 32, 20] }).expect("not empty"),
        iaddress_lsb_p: *g.choose(&[1, 2]).expect("not empty"),
        ecause_width_p: *g.choose(&[4, 6, 33]).expect("not empty"),
        nocontext_p: bool::arbitrary(g),
        context_width_p: *g.choose(&[1, 8, 32]).expect("not empty"),
        notime_p: bool::arbitrary(g),
        time_width_p: *g.choose(&[1, 16, 40]).expect("not empty"),
        privilege_width_p: *g.choose(&[2, 3]).expect("not empty"),
        return_stack_size_p: *g.choose(&[0, 0, 3]).expect("not empty"),
        call_counter_size_p: *g.choose(&[0, 0, 2]).expect("not empty"),
        modes: Modes { full_address: bool::arbitrary(g), ..Modes::default() },
        ..base
    }
}

fn bits(g: &mut Gen, width: u32) -> u64 {
    // Both extremes and short values matter more than uniform noise.
    let value = match u8::arbitrary(g) % 4 {
        0 => u64::from(u8::arbitrary(g) % 4),
        1 => !u64::from(u8::arbitrary(g) % 4),
        _ => u64::arbitrary(g),
    };
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

fn packet(g: &mut Gen, parameters: &Parameters) -> Packet {
    let lsb = parameters.iaddress_lsb_p;
    let width = u32::from(parameters.iaddress_width_p);
    let address = bits(g, parameters.address_width()) << lsb;
    let reported = if parameters.modes.full_address {
        ReportedAddress::Full(address)
    } else {
        ReportedAddress::Delta((address << (64 - width)).cast_signed() >> (64 - width))
    };
    let (notify, updiscon, irreport) = (bool::arbitrary(g), bool::arbitrary(g), bool::arbitrary(g));
    #[allow(clippy::cast_possible_truncation, reason = "at most 30 bits")]
    let irdepth = if irreport { bits(g, parameters.irdepth_width()) as u32 } else { 0 };
    let time = (!parameters.notime_p).then(|| bits(g, parameters.time_width()));
    let context = (!parameters.nocontext_p).then(|| bits(g, parameters.context_width()));
    let privilege = *g.choose(&[0, 1, 3]).expect("not empty");
    let branch = bool::arbitrary(g);
    match u8::arbitrary(g) % 6 {
        0 => Packet::Start { branch, privilege, time, context, address: Address(address) },
        1 => {
            let interrupt = bool::arbitrary(g);
            Packet::Trap {
                branch,
                privilege,
                time,
                context,
                ecause: bits(g, u32::from(parameters.ecause_width_p)),
                interrupt,
                thaddr: bool::arbitrary(g),
                address: Some(Address(address)),
                tval: (!interrupt).then(|| bits(g, width)),
            }
        }
        2 => Packet::Context { privilege, time, context },
        3 => Packet::Support {
            ienable: bool::arbitrary(g),
            encoder_mode: 0,
            qual_status: *g
                .choose(&[
                    QualStatus::NoChange,
                    QualStatus::EndedRep,
                    QualStatus::TraceLost,
                    QualStatus::EndedNtr,
                ])
                .expect("not empty"),
            ioptions: 0,
            denable: bool::arbitrary(g),
            dloss: bool::arbitrary(g),
            doptions: u32::from(u8::arbitrary(g) % 16),
        },
        4 => Packet::Address { address: reported, notify, updiscon, irreport, irdepth, irets: 0 },
        _ => {
            let branches = u8::arbitrary(g) % 32;
            #[allow(clippy::cast_possible_truncation, reason = "at most 31 bits")]
            let branch_map = bits(g, if branches == 0 { 31 } else { u32::from(branches) }) as u32;
            if branches == 0 {
                let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
                Packet::Branch {
                    branches,
                    branch_map,
                    address: None,
                    notify,
                    updiscon,
                    irreport,
                    irdepth,
                    irets: 0,
                }
            } else {
                Packet::Branch {
                    branches,
                    branch_map,
                    address: Some(reported),
                    notify,
                    updiscon,
                    irreport,
                    irdepth,
                    irets: 0,
                }
            }
        }
    }
}

fn write(fitting: &Fitting, compression: Compression) -> Result<Vec<u8>, String> {
    let policy = Policy { compression, ..Policy::default() };
    write_packets(&[fitting.packet], &fitting.parameters, &policy).map_err(|error| error.to_string())
}

/// What one framed payload reads as.
fn read(wire: &[u8], parameters: &Parameters) -> Option<Packet> {
    match dissect(wire, parameters).as_slice() {
        [unit] => unit.packet.and_then(Result::ok),
        _ => None,
    }
}

/// Header byte and payload.
fn framed(payload: &[u8]) -> Vec<u8> {
    [&[u8::try_from(payload.len()).expect("short")][..], payload].concat()
}

quickcheck! {
    fn reading_what_was_written_is_the_identity(fitting: Fitting) -> TestResult {
        let Ok(wire) = write(&fitting, Compression::Minimal) else { return TestResult::discard() };
        TestResult::from_bool(read(&wire, &fitting.parameters) == Some(fitting.packet))
    }

    fn compression_is_canonical(fitting: Fitting) -> TestResult {
        let Ok(wire) = write(&fitting, Compression::Minimal) else { return TestResult::discard() };
        let payload = &wire[1..];
        // One byte less is another packet, or the last byte carried nothing but sign.
        let Some((last, shorter)) = payload.split_last() else { return TestResult::failed() };
        let redundant = match shorter.last() {
            Some(byte) if byte & 0x80 == 0 => *last == 0x00,
            Some(_) => *last == 0xff,
            None => false,
        };
        TestResult::from_bool(!redundant)
    }

    fn uncompressed_forms_read_the_same(fitting: Fitting) -> TestResult {
        let Ok(wire) = write(&fitting, Compression::Mandatory) else { return TestResult::discard() };
        TestResult::from_bool(read(&wire, &fitting.parameters) == Some(fitting.packet))
    }

    fn every_truncation_is_a_packet_or_a_fault(fitting: Fitting) -> TestResult {
        let Ok(wire) = write(&fitting, Compression::Minimal) else { return TestResult::discard() };
        for length in 0..wire.len() {
            // The stream ends too early: one unit, and it is a fault.
            let units = dissect(&wire[..length], &fitting.parameters);
            if length > 0 && !matches!(units.last().and_then(|unit| unit.packet), Some(Err(_))) {
                return TestResult::failed();
            }
            // The payload is shorter than it should be: whatever it reads as, it does so with bounded fields.
            if length > 1 && dissect(&framed(&wire[1..length]), &fitting.parameters).len() != 1 {
                return TestResult::failed();
            }
        }
        TestResult::passed()
    }

    fn every_bit_flip_is_a_packet_or_a_fault(fitting: Fitting, others: Vec<u8>) -> TestResult {
        let Ok(wire) = write(&fitting, Compression::Minimal) else { return TestResult::discard() };
        for bit in 8..wire.len() * 8 {
            let mut damaged = wire.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let units = dissect(&damaged, &fitting.parameters);
            if units.len() != 1 || units[0].packet.is_none() {
                return TestResult::failed();
            }
            // A payload bit that travels means something: the damaged packet is not the same one. Only an
            // unflagged `irdepth` carries no value of its own (RVET-PKT-029).
            let depthless = fitting.parameters.irdepth_width() == 0 || matches!(fitting.packet.format(), Some(3));
            if depthless && read(&damaged, &fitting.parameters) == Some(fitting.packet) {
                return TestResult::failed();
            }
        }
        // Arbitrary neighbours do not disturb.
        let mut longer = wire;
        longer.extend_from_slice(&others);
        TestResult::from_bool(
            dissect(&longer, &fitting.parameters).first().and_then(|unit| unit.packet)
                == Some(Ok(fitting.packet)),
        )
    }
}
