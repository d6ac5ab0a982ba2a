//! ETMv2: exceptions, from the worked examples D-08 to D-10, and the synchronisation counter.

use traceproof_vectors::Address32;
use traceproof_vectors::arm_etm::v2::Pipestat;
use traceproof_vectors::arm_etm::v2::conventions::SET_EXCEPTION_BIT;
use traceproof_vectors::arm_etm::{
    BranchTarget, CompressedAddress, Instruction, Isa, Packet, Parameters, Phantom, Policy, Stimulus,
};

use crate::arm_etm::tests::{
    And, cycles, encode, encode_plainly, execute, groups, hit, interrupt, miss, off, records, skip, store,
    wait,
};
use crate::arm_etm::v2::{UnencodablePacket, write_packet};

/// The groups of these cycles after a first TFO.
fn traced(cycles: impl IntoIterator<Item = Stimulus>) -> Vec<String> {
    let all: Vec<_> = core::iter::once(off()).chain(cycles).collect();
    groups(&encode_plainly(&all), &Parameters::default())
}

fn statuses(cycles_in: &[Stimulus], count: usize) -> Vec<Pipestat> {
    let log = encode_plainly(cycles_in);
    cycles(&log, &Parameters::default()).iter().take(count).map(|cycle| cycle.pipestat).collect()
}

/// D-08. ETM2-EXC-005, 007: five bytes, bit 6 of the last one, status DE.
#[test]
fn d_08_irq() {
    let all = [off(), execute(0x8000), interrupt(execute(0x8004), 14, 0x18)];
    assert_eq!(groups(&encode_plainly(&all), &Parameters::default()), ["8D 80 80 80 48"]);
    assert_eq!(statuses(&all, 3), [Pipestat::Td, Pipestat::Ie, Pipestat::De]);
    // As long as the address is, without exception.
    assert_eq!(traced([execute(0x8000).branch(0x18)]), ["8D 80 00"]);
    // The vector is the base of the return: 0x18 -> 0x8004.
    let returns = [interrupt(execute(0x8004), 14, 0x18), execute(0x18).branch(0x8004)];
    assert_eq!(traced(returns), ["8D 80 80 80 48", "83 80 01"]);
}

/// D-09. ETM2-EXC-003, 008: no bit; the data of the access, then the vector, in one group.
#[test]
fn d_09_precise_data_abort() {
    let aborted = interrupt(execute(0x8004).and(hit(0x3000, 0x99)), 12, 0x10);
    assert_eq!(traced([execute(0x8000), aborted]), ["A6 80 E0 80 80 00 99 89 80 00"]);
    let missed = interrupt(execute(0x8004).and(miss(0x3000, 7)), 12, 0x10);
    assert_eq!(
        traced([execute(0x8000), missed, wait().answer(7, 0x99)]),
        ["F4 80 E0 80 80 00 89 80 00", "24 99"]
    );
}

/// D-10. ETM2-EXC-004; PC-16 for the others.
#[test]
fn d_10_exception_bit() {
    for (number, vector, expected) in [
        (4, 0x10, "89 80 80 80 48"),
        (8, 0x00, "81 80 80 80 48"),
        (9, 0x04, "83 80 80 80 48"),
        (11, 0x0c, "87 80 80 80 48"),
        (15, 0x1c, "8F 80 80 80 48"),
        (14, 0xffff_0018, "8D 80 FE FF 4F"),
        (10, 0x08, "85 80 00"),
        (12, 0x10, "89 80 00"),
    ] {
        assert_eq!(traced([interrupt(execute(0x8000), number, vector)]), [expected], "{number}");
        assert_eq!(SET_EXCEPTION_BIT.contains(&number), expected.len() > 8, "{number}");
    }
}

/// An exception is indirect whatever the stimulus calls it; its status is that of an executed instruction with data,
/// and a folded branch keeps its outcome.
#[test]
fn an_exception_always_has_an_address() {
    let mut direct = interrupt(execute(0x8000), 14, 0x18);
    if let Some(target) = direct.instruction.as_mut().and_then(|instruction| instruction.branch.as_mut()) {
        target.direct = true;
    }
    assert_eq!(traced([direct]), ["8D 80 80 80 48"]);
    let skipped = [off(), interrupt(skip(0x8000), 14, 0x18)];
    assert_eq!(statuses(&skipped, 2), [Pipestat::Td, Pipestat::De]);
    for (taken, expected) in [(true, Pipestat::PtDe), (false, Pipestat::PnDe)] {
        let mut folded = interrupt(execute(0x8004), 14, 0x18);
        if let Some(instruction) = &mut folded.instruction {
            instruction.phantom = Some(Phantom { address: Address32(0x8000), taken });
        }
        assert_eq!(statuses(&[off(), folded], 2), [Pipestat::Td, expected]);
    }
}

/// ETM2-EXC-007, PC-15: bit 6 of byte 5 travels in a branch address, not under an LSM; bit 7 never.
#[test]
fn bytes_of_the_exception_bit() {
    let branch = |bits| Packet::BranchAddress(CompressedAddress { bits, bytes: 5 });
    let parameters = Parameters::default();
    let irq = 0x6 | 0x48 << 27;
    assert_eq!(write_packet(&branch(irq), &parameters), Ok(vec![0x8d, 0x80, 0x80, 0x80, 0x48]));
    let wrong = Err(UnencodablePacket { field: "branch_address" });
    for bits in [0x6 | 0x40 << 27, 0x6 | 0x88 << 27, 0x6 | 0x60 << 27] {
        assert_eq!(write_packet(&branch(bits), &parameters), wrong, "{bits:#x}");
    }
    let under = |bits| Packet::TraceFifoOffset {
        reason: traceproof_vectors::arm_etm::Reason::TraceEnabled,
        jazelle: false,
        context_id: None,
        address: Address32(0x8000),
        under_lsm: Some(CompressedAddress { bits, bytes: 5 }),
    };
    assert!(write_packet(&under(0x6 | 0x08 << 27), &parameters).is_ok());
    let wrong = Err(UnencodablePacket { field: "under_lsm" });
    assert_eq!(write_packet(&under(irq), &parameters), wrong);
}

/// PC-2b: without J bit a restart in Java state looks like one in ARM or Thumb state, and every branch says its state.
#[test]
fn java_state_without_j_bit() {
    let plain = Parameters { minor: 1, ..Parameters::default() };
    let with_bit = Parameters { minor: 1, tfo_jazelle: true, ..Parameters::default() };
    let java = |address, target| {
        let branch =
            BranchTarget { address: Address32(target), isa: Isa::Jazelle, ..BranchTarget::default() };
        let instruction = Instruction {
            address: Address32(address),
            isa: Isa::Jazelle,
            executed: true,
            branch: Some(branch),
            ..Instruction::default()
        };
        Stimulus { instruction: Some(instruction), ..wait() }
    };
    let packets = |parameters: &Parameters, cycle| {
        let log = encode(parameters, &Policy::default(), &[off(), cycle]);
        log.packets()
            .copied()
            .map(|packet| write_packet(&packet, parameters).expect("encodable"))
            .collect::<Vec<_>>()
    };
    let short = vec![vec![0x30, 0x00, 0x81, 0x00, 0x00], vec![0x47]];
    let whole = vec![vec![0x20, 0x00, 0x81, 0x00, 0x00], vec![0xc7, 0x84, 0x84, 0x80, 0x20]];
    assert_eq!(packets(&with_bit, java(0x8100, 0x8123)), short);
    assert_eq!(packets(&plain, java(0x8100, 0x8123)), whole);
    // At an odd address it looks like Thumb state: a branch to Thumb state there may be short, one to Java state not.
    let odd = packets(&plain, java(0x8101, 0x8123));
    assert_eq!(odd, [vec![0x20, 0x01, 0x81, 0x00, 0x00], vec![0xc7, 0x84, 0x84, 0x80, 0x20]]);
}

/// ETM2-SYN-001, ETM2-TFO-025: a period of 10 cycles, counted from the TFO that came, not from when it was due.
#[test]
fn any_tfo_reloads_the_counter() {
    let run: Vec<_> = (0..40)
        .map(|n: u32| match n {
            0 => off(),
            // No plain IE, so that the TFO of record 10 comes in record 13.
            10..=12 => execute(0x8000 + 4 * n).and(store(0x4000, 0)),
            _ => execute(0x8000 + 4 * n),
        })
        .collect();
    let log = encode(&Parameters::default(), &Policy { sync_period: 10, ..Policy::default() }, &run);
    let tfos: Vec<_> = cycles(&log, &Parameters::default())
        .iter()
        .enumerate()
        .filter(|(_, cycle)| cycle.pipestat == Pipestat::Td)
        .map(|(index, _)| index)
        .take(4)
        .collect();
    assert_eq!(tfos, [0, 13, 23, 33]);
}

/// ETM2-FIFO-009: WT while the FIFO drains, TD when it is empty.
#[test]
fn trace_off_drains_the_fifo() {
    let mut all = vec![off(), execute(0x8000)];
    all.extend(vec![off(); 6]);
    let expected = "TD 01, IE 20, WT 00, WT 80, WT 00, WT 00, TD 00, TD 00";
    assert_eq!(records(&encode_plainly(&all), &Parameters::default()).join(", "), expected);
}

/// ETM-DBG-001: what happens in debug state is not traced; the FIFO drains; the restart has the debug reason.
#[test]
fn debug_state() {
    let debug = |cycle| Stimulus { debug: true, ..cycle };
    let mut all = vec![off(), execute(0x8000), debug(execute(0x8004).and(store(0x4000, 1)))];
    all.extend(vec![debug(wait()); 4]);
    all.push(execute(0x9000));
    let expected = "TD 01, IE 20, WT 00, WT 80, WT 00, WT 00, TD 01, IE 60, WT 00, WT 90, WT 00, WT 00";
    assert_eq!(records(&encode_plainly(&all), &Parameters::default()).join(", "), expected);
}
