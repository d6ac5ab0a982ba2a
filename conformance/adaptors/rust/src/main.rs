//! An example: reads the packets of RISC-V E-Trace, without events. Put your decoder in the place of `Packets`.

use std::io::{stdin, stdout};

use traceproof_conformance::{Subject, adaptor};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::riscv_etrace::{
    Encapsulation, Mode, NormalEncapsulation, Packet, Parameters, QualStatus, ReportedAddress, RiscvEtrace,
};
use traceproof_vectors::{
    Address, Capabilities, Decoder, Fault, FaultClass, FaultDetail, Layer, Place, Program, Refusal, Sink,
};

/// What is claimed; the rest is refused.
const FEATURES: [&str; 11] = [
    "rv32",
    "rv64",
    "compressed",
    "context",
    "time",
    "full_address",
    "implicit_exception",
    "implicit_return",
    "sijump",
    "support_layout",
    "memory_blocks",
];

fn main() -> Result<(), adaptor::ServeError> {
    let subject =
        Subject::new("example-rust", "1.0").with_decoder::<RiscvEtrace>(|| Box::new(Packets::default()));
    adaptor::serve(&subject, &mut stdin().lock(), &mut stdout().lock())
}

/// What travels: a header byte with the length of the payload, and the payload. No packet crosses a border of blocks.
#[derive(Default)]
struct Packets {
    parameters: Parameters,
    transport: NormalEncapsulation,
    full_address: bool,
    implicit_exception: bool,
    /// The packet that is being read, header first.
    waiting: Vec<u8>,
    /// Where it begins.
    place: Place,
}

impl Decoder<RiscvEtrace> for Packets {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets]).with_features(FEATURES).with_faults(FaultDetail::Flag)
    }

    fn begin(&mut self, parameters: &Parameters, _: &Program) -> Result<(), Refusal> {
        let Encapsulation::Normal(transport) = parameters.encapsulation else {
            return Err(Refusal::unsupported("other transports"));
        };
        // What is not claimed is refused: results of a decoder that guesses are worse than none.
        let needs = RiscvEtrace::required_features(parameters, &[]);
        if let Some(missing) = needs.into_iter().find(|feature| !FEATURES.contains(feature)) {
            return Err(Refusal::unsupported(missing));
        }
        *self = Self { parameters: parameters.clone(), transport, ..Self::default() };
        self.reset();
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        let (block, border) = (u64::from(self.transport.block_bytes), u64::from(self.transport.first_block));
        for &byte in chunk {
            self.waiting.push(byte);
            let whole = 1 + usize::from(self.waiting[0] & 31);
            let room = match block {
                0 => whole as u64,
                _ => block - (self.place.byte + block - border % block) % block,
            };
            if self.waiting.len() < whole && (self.waiting.len() as u64) < room {
                continue;
            }
            let waiting = std::mem::take(&mut self.waiting);
            // An extended header is of another transport.
            if whole as u64 > room || whole > 1 && waiting[0] >> 7 == 1 {
                sink.fault(&self.fault(FaultClass::Framing));
            } else if whole > 1 {
                match self.packet(&mut Bits { bytes: &waiting[1..], at: 0 }) {
                    Ok(packet) => sink.packet(self.place, &packet),
                    Err(class) => sink.fault(&self.fault(class)),
                }
            }
            self.place.packet += u64::from(whole > 1);
            self.place.byte += waiting.len() as u64;
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        if !self.waiting.is_empty() {
            sink.fault(&self.fault(FaultClass::Truncated));
        }
    }

    fn reset(&mut self) {
        self.full_address = self.parameters.modes.full_address;
        self.implicit_exception = self.parameters.modes.implicit_exception;
        self.waiting.clear();
        self.place = Place::default();
    }
}

/// Fields of a payload, least significant bit first; after its end the top bit is repeated.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&self, at: usize) -> bool {
        let at = at.min(8 * self.bytes.len() - 1);
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }

    fn flag(&mut self) -> bool {
        self.at += 1;
        self.bit(self.at - 1)
    }

    fn take(&mut self, width: impl Into<u32>) -> u64 {
        (0..width.into()).fold(0, |value, index| value | u64::from(self.flag()) << index)
    }

    /// Nothing but filling may be left: copies of the last bit of the last field.
    fn end(&self) -> Result<(), FaultClass> {
        let all = 8 * self.bytes.len();
        let filled = (self.at - 1..all).all(|at| self.bit(at) == self.bit(all - 1));
        if filled && self.at + 8 > all { Ok(()) } else { Err(FaultClass::Overlong) }
    }
}

/// The status of formats 1 and 2: address, notify, updiscon, irreport, irdepth.
type Reported = (ReportedAddress, bool, bool, bool, u32);

impl Packets {
    const fn fault(&self, class: FaultClass) -> Fault {
        Fault::new(class, self.place)
    }

    fn packet(&mut self, bits: &mut Bits<'_>) -> Result<Packet, FaultClass> {
        let packet = match bits.take(2_u32) {
            0 => return Err(FaultClass::ReservedEncoding),
            1 => self.branch(bits),
            2 => {
                let (address, notify, updiscon, irreport, irdepth) = self.reported(bits);
                Packet::Address { address, notify, updiscon, irreport, irdepth, irets: 0 }
            }
            _ => self.synchronisation(bits),
        };
        bits.end()?;
        if let Packet::Support { ioptions, .. } = packet {
            for (bit, mode) in self.parameters.support.ioptions.iter().enumerate() {
                let on = ioptions >> bit & 1 == 1;
                match mode {
                    Mode::FullAddress => self.full_address = on,
                    Mode::ImplicitException => self.implicit_exception = on,
                    _ => {}
                }
            }
        }
        Ok(packet)
    }

    fn branch(&self, bits: &mut Bits<'_>) -> Packet {
        let branches = bits.take(5_u32) as u8;
        let width = match branches {
            0 | 16.. => 31,
            1 => 1,
            2..=3 => 3,
            4..=7 => 7,
            8..=15 => 15_u32,
        };
        let branch_map = bits.take(width) as u32;
        let reported = (branches > 0).then(|| self.reported(bits));
        let (notify, updiscon, irreport, irdepth) = reported
            .map_or((false, false, false, 0), |(_, notify, updiscon, irreport, irdepth)| {
                (notify, updiscon, irreport, irdepth)
            });
        let address = reported.map(|(address, ..)| address);
        Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets: 0 }
    }

    fn synchronisation(&self, bits: &mut Bits<'_>) -> Packet {
        let parameters = &self.parameters;
        let subformat = bits.take(2_u32);
        if subformat == 3 {
            return self.support(bits);
        }
        let branch = subformat < 2 && bits.flag();
        let privilege = bits.take(parameters.privilege_width_p) as u8;
        let time = (!parameters.notime_p).then(|| bits.take(parameters.time_width_p));
        let context = (!parameters.nocontext_p).then(|| bits.take(parameters.context_width_p));
        match subformat {
            0 => Packet::Start { branch, privilege, time, context, address: Address(self.address(bits)) },
            1 => {
                let ecause = bits.take(parameters.ecause_width_p);
                let (interrupt, thaddr) = (bits.flag(), bits.flag());
                let address = (!(self.implicit_exception && thaddr)).then(|| self.address(bits));
                let tval = (!interrupt).then(|| bits.take(parameters.iaddress_width_p));
                Packet::Trap {
                    branch,
                    privilege,
                    time,
                    context,
                    ecause,
                    interrupt,
                    thaddr,
                    address: address.map(Address),
                    tval,
                }
            }
            _ => Packet::Context { privilege, time, context },
        }
    }

    fn support(&self, bits: &mut Bits<'_>) -> Packet {
        let layout = &self.parameters.support;
        let ienable = bits.flag();
        let encoder_mode = bits.take(layout.encoder_mode_width) as u8;
        let qual_status = match bits.take(2_u32) {
            0 => QualStatus::NoChange,
            1 => QualStatus::EndedRep,
            2 => QualStatus::TraceLost,
            _ => QualStatus::EndedNtr,
        };
        let ioptions = bits.take(layout.ioptions.len() as u32) as u32;
        let mut data = (false, false, 0);
        if layout.data_fields {
            data = (bits.flag(), bits.flag(), bits.take(layout.doptions_width) as u32);
        }
        let (denable, dloss, doptions) = data;
        Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions }
    }

    fn address(&self, bits: &mut Bits<'_>) -> u64 {
        bits.take(self.parameters.address_width()) << self.parameters.iaddress_lsb_p
    }

    /// Each status bit says whether it differs from the one before.
    fn reported(&self, bits: &mut Bits<'_>) -> Reported {
        let address = self.address(bits);
        let unused = 64 - u32::from(self.parameters.iaddress_width_p);
        let signed = (address << unused).cast_signed() >> unused;
        let (notify, updiscon, irreport) = (bits.flag(), bits.flag(), bits.flag());
        let irdepth = bits.take(self.parameters.irdepth_width()) as u32;
        let address =
            if self.full_address { ReportedAddress::Full(address) } else { ReportedAddress::Delta(signed) };
        let reports = irreport != updiscon;
        (address, notify != (signed < 0), updiscon != notify, reports, if reports { irdepth } else { 0 })
    }
}
