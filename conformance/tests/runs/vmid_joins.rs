//! Whether a decoder of ARM PFT repeats a VMID that is in force is its own choice, also for relations.

use traceproof_conformance::Subject;
use traceproof_conformance::relations::Stream;
use traceproof_decoder::arm_pft::Decoder as Reference;
use traceproof_vectors::arm_pft::{ArmPft, Event, Parameters};
use traceproof_vectors::{Capabilities, Decoder, Entry, Log, Program, Refusal, Section, Sink};

/// The reference without some of its VMID events: `(number, value, value before)` says which are dropped.
struct WithoutVmids {
    inner: Reference,
    drops: fn(usize, u8, Option<u8>) -> bool,
    number: usize,
    vmid: Option<u8>,
}

impl WithoutVmids {
    fn pass(&mut self, log: Log<ArmPft>, sink: &mut dyn Sink<ArmPft>) {
        for (place, entry) in log.entries {
            match entry {
                Entry::Packet(packet) => sink.packet(place, &packet),
                Entry::Event(Event::Vmid(vmid)) => {
                    if !(self.drops)(self.number, vmid, self.vmid.replace(vmid)) {
                        sink.event(place, &Event::Vmid(vmid));
                    }
                    self.number += 1;
                }
                Entry::Event(event) => sink.event(place, &event),
                Entry::Fault(fault) => sink.fault(&fault),
            }
        }
    }
}

impl Decoder<ArmPft> for WithoutVmids {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        (self.number, self.vmid) = (0, None);
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmPft>) {
        let mut log = Log::default();
        self.inner.push(chunk, &mut log);
        self.pass(log, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmPft>) {
        let mut log = Log::default();
        self.inner.finish(&mut log);
        self.pass(log, sink);
    }

    fn reset(&mut self) {
        (self.number, self.vmid) = (0, None);
        self.inner.reset();
    }
}

/// Whether joins of two synchronisations, the first with VMID 7, hold for such a decoder.
fn joins(second: u8, drops: fn(usize, u8, Option<u8>) -> bool) -> bool {
    let subject = Subject::new("without", "1").with_decoder::<ArmPft>(move || {
        Box::new(WithoutVmids { inner: Reference::default(), drops, number: 0, vmid: None })
    });
    let wire = [
        &[0, 0, 0, 0, 0, 0x80, 0x08, 0x04, 0x80, 0, 0, 0x29, 0x3c, 7][..], // enabled at 8004
        &[0, 0, 0, 0, 0, 0x80, 0x08, 0x04, 0x80, 0, 0, 0x09, 0x3c, second, 0x84], // periodic
    ]
    .concat();
    let parameters = Parameters { virtualization: true, vmid: true, ..Parameters::default() };
    let mut program = Program::new();
    let code = Section::new(0x8004_u64, 0xeaff_fffe_u32.to_le_bytes().to_vec(), "loop");
    program.insert(code).expect("free");
    let stream =
        Stream::<ArmPft> { subject: &subject, parameters: &parameters, program: &program, wire: &wire };
    stream.joins(8).is_ok_and(|tried| tried.compared == 1)
}

#[test]
fn whether_an_unchanged_vmid_is_repeated_does_not_matter() {
    assert!(joins(7, |_, _, _| false));
    assert!(joins(7, |_, vmid, before| before == Some(vmid)));
    assert!(joins(8, |_, vmid, before| before == Some(vmid)));
    // A changed one that is missing does.
    assert!(!joins(8, |number, _, _| number == 0));
}
