//! The encoder model as a device that answers to packs.

use traceproof_encoder_model::riscv_etrace::{Encoder, write_payload};
use traceproof_rtl::generate::Size;
use traceproof_rtl::judge::{Outcome, Verdict};
use traceproof_rtl::pack::{self, Pack, PackCase};
use traceproof_rtl::{Beat, CaseLog, Control, Device, MonitorLog, Op, OutputForm, Row, report};
use traceproof_vectors::riscv_etrace::{
    Block, Cycle, Itype, Mode, Modes, Packet, Parameters, Policy, RiscvEtrace, Stimulus,
};
use traceproof_vectors::{Address, Encoder as _, EncoderSink};

/// Packets, each with the row that it left in.
pub(crate) type Sent = Vec<(u32, Packet)>;

pub(crate) fn device(text: &str) -> Device {
    Device::parse("dut.toml", text).unwrap_or_else(|problem| panic!("{problem}"))
}

pub(crate) fn made(text: &str, seed: u64) -> (tempfile::TempDir, Pack) {
    let directory = tempfile::tempdir().expect("a directory");
    pack::write(directory.path(), &device(text), text, Size::Smoke, seed)
        .unwrap_or_else(|problem| panic!("{problem}"));
    let pack = pack::read(directory.path()).unwrap_or_else(|problem| panic!("{problem}"));
    (directory, pack)
}

/// Packets of an encoder with the row at which they left.
#[derive(Default)]
struct Output {
    row: u32,
    packets: Vec<(u32, Packet)>,
}

impl EncoderSink<RiscvEtrace> for Output {
    fn packet(&mut self, packet: &Packet) {
        self.packets.push((self.row, *packet));
    }

    fn wire(&mut self, _: &[u8]) {}
}

/// Rows back into stimulus: what a device does with them.
fn stimulus(row: &Row, modes: &mut Modes) -> Option<Stimulus> {
    Some(match row.op {
        Op::Cycle | Op::Idle => Stimulus::Cycle(cycle(row)),
        Op::Field if row.cause == Control::InstTracing as u64 => Stimulus::Enable(row.tval == 1),
        Op::Field => {
            let on = row.tval == 1;
            match row.cause {
                6 => modes.full_address = on,
                7 => modes.implicit_exception = on,
                8 => modes.sijump = on,
                9 => modes.implicit_return = on,
                10 => modes.branch_prediction = on,
                11 => modes.jump_target_cache = on,
                _ => return None,
            }
            Stimulus::Modes(*modes)
        }
        _ => return None,
    })
}

fn cycle(row: &Row) -> Cycle {
    let blocks = row.blocks.iter().filter(|slot| !slot.is_empty()).map(|slot| Block {
        itype: Itype::ALL[usize::from(slot.itype)],
        iaddr: Address(slot.iaddr),
        iretire: slot.iretire.into(),
        ilastsize: slot.ilastsize,
        sijump: slot.flags & 1 != 0,
        notify: slot.flags & 2 != 0,
    });
    let cycle_row = row.op == Op::Cycle;
    Cycle {
        blocks: blocks.collect(),
        cause: if cycle_row { row.cause } else { 0 },
        tval: row.tval,
        privilege: row.privilege,
        context: row.context,
        time: row.time,
        ctype: row.ctype,
        trace_on: row.trigger & 1 != 0,
        trace_off: row.trigger & 2 != 0,
        halted: row.status & 1 != 0,
        reset: row.status & 2 != 0,
    }
}

/// What a device with this policy answers.
pub(crate) fn run(pack: &Pack, policy: &Policy) -> MonitorLog {
    run_with(pack, policy, &mut |_, _| {})
}

/// The same, with its packets changed before they leave.
pub(crate) fn run_with(
    pack: &Pack,
    policy: &Policy,
    change: &mut dyn FnMut(&PackCase, &mut Sent),
) -> MonitorLog {
    let parameters = pack.device.payload_parameters();
    let mut log = MonitorLog::default();
    for case in &pack.cases {
        let mut encoder = Encoder::default();
        // The registers of filters are not read: the device is set up by the notation.
        let policy = Policy { filters: case.entry.filters.clone(), ..policy.clone() };
        encoder.begin(&parameters, &policy).expect("the device");
        let (mut output, mut modes) = (Output::default(), parameters.modes);
        for row in &case.rows {
            output.row = row.number;
            if let Some(stimulus) = stimulus(row, &mut modes) {
                encoder.step(&stimulus, &mut output);
            }
        }
        change(case, &mut output.packets);
        let mut modes = parameters.modes;
        let packets = output.packets.iter().map(|(row, packet)| {
            announced(&parameters, &mut modes, packet);
            let bytes = write_payload(packet, &parameters, modes, policy.compression).expect("a packet");
            Beat { row: *row, clock: 0, bytes }
        });
        let packets: Vec<Beat> = packets.collect();
        let number = case.entry.number;
        log.cases.push(match pack.device.output {
            OutputForm::Payload => CaseLog { number, packets, ..CaseLog::default() },
            OutputForm::Stream => CaseLog { number, beats: beats(&packets), ..CaseLog::default() },
        });
    }
    let checksum = u32::from_str_radix(&pack.manifest.checksum, 16).expect("a checksum");
    log.driven = Some((pack.manifest.rows, checksum));
    log.ended = true;
    log
}

fn announced(parameters: &Parameters, modes: &mut Modes, packet: &Packet) {
    let Packet::Support { ioptions, .. } = packet else { return };
    for (bit, mode) in parameters.support.ioptions.iter().enumerate() {
        let on = ioptions >> bit & 1 != 0;
        match mode {
            Mode::ImplicitReturn => modes.implicit_return = on,
            Mode::ImplicitException => modes.implicit_exception = on,
            Mode::FullAddress => modes.full_address = on,
            Mode::JumpTargetCache => modes.jump_target_cache = on,
            Mode::BranchPrediction => modes.branch_prediction = on,
            Mode::SequentiallyInferredJumps => modes.sijump = on,
            Mode::DeltaAddress => modes.full_address = !on,
        }
    }
}

/// The packets with headers, three bytes at a time.
fn beats(packets: &[Beat]) -> Vec<Beat> {
    let length = |beat: &Beat| u8::try_from(beat.bytes.len()).expect("a short packet");
    let stream: Vec<u8> =
        packets.iter().flat_map(|beat| [&[length(beat)], beat.bytes.as_slice()].concat()).collect();
    stream.chunks(3).map(|bytes| Beat { row: 0, clock: 0, bytes: bytes.to_vec() }).collect()
}

pub(crate) fn assert_all_pass(verdict: &Verdict) {
    assert!(verdict.passes(), "{}", report::text(verdict));
    for case in &verdict.cases {
        for outcome in [&case.exact, &case.fields, &case.legal, &case.semantic] {
            assert_eq!(*outcome, Outcome::Pass, "{}", case.id);
        }
        assert!(!case.relation.failed(), "{}", case.id);
    }
}
