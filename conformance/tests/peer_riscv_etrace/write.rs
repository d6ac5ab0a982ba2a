//! The crate's encoder of packets: of every packet of the cases that it reads as the case has it, it writes the bytes of
//! the case. Its generator makes only some of the packets.

use traceproof_conformance::peers::riscv_etrace as peer;
use traceproof_conformance::suite::{Directories, Suite};
use traceproof_vectors::riscv_etrace::{Compression, Packet, Parameters, RiscvEtrace};

/// The row of `docs/findings/riscv-etrace.md` that says why a packet is written otherwise.
const fn row(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    match packet {
        Packet::BranchCount { .. } | Packet::JumpTargetIndex { .. } if parameters.f0s_width_p > 0 => {
            Some("RE-59")
        }
        Packet::Support { denable: false, dloss, doptions, .. } if *dloss || *doptions != 0 => Some("RE-60"),
        _ => None,
    }
}

/// Whether the bytes are equal, or one has more copies of the sign: both lengths are valid.
fn same(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let (Some((short_header, short)), Some((header, long))) = (short.split_first(), long.split_first())
    else {
        return false;
    };
    let sign = short.last().map_or(0, |last| if last & 0x80 == 0 { 0 } else { 0xff });
    let filled = long.iter().skip(short.len()).all(|&byte| byte == sign);
    one == other || (short_header ^ header) & !0x1f == 0 && long.starts_with(short) && filled
}

#[test]
fn what_is_read_is_written() {
    let suite = Suite::<RiscvEtrace>::load(&Directories::default()).expect("the shipped suite is sound");
    let (mut equal, mut rows) = (0, [0; 2]);
    for file in suite.files.iter().filter(|file| file.case.canonical) {
        let case = &file.case;
        let Some(packets) = &file.resolved.packets else { continue };
        let compressed = case.policy.compression == Compression::Minimal;
        let Ok(rewritten) = peer::rewritten(&case.parameters, compressed, &file.resolved.wire) else {
            continue;
        };
        for unit in rewritten.iter().filter(|unit| packets.contains(&unit.packet)) {
            let written = unit.written.as_ref();
            let is_same = written.is_some_and(|written| same(written, &unit.read));
            // Where every bit is 0, a packet without its subformat is that with it.
            let row = row(&unit.packet, &case.parameters).filter(|_| !is_same);
            assert!(is_same || row.is_some(), "{}: {unit:02x?}", case.id);
            equal += usize::from(is_same);
            rows[0] += usize::from(row == Some("RE-59"));
            rows[1] += usize::from(row == Some("RE-60"));
        }
    }
    println!("{equal} packets are equal, RE-59 and RE-60 explain {rows:?}");
    assert!(equal > 2000 && rows.iter().all(|&packets| packets > 5), "{equal} {rows:?}");
}
