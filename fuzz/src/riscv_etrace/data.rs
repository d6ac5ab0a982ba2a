//! Data trace: any payload is a packet that the writer turns back into an equal packet, or a typed fault; any sequence
//! of them gives the same bounded results however it is cut.
//!
//! Input: the constants of data trace in 5 bytes; then payloads, each a length (modulo 31) and its bytes.

use traceproof_decoder::riscv_etrace::{Decoder, dissect};
use traceproof_encoder_model::riscv_etrace::{Defect, Trace, TraceKind, Transport, write_packets};
use traceproof_vectors::riscv_etrace::{
    DataLayout, DataOptions, DataParameters, Encapsulation, NormalEncapsulation, OfferedCompression, Packet,
    Parameters, Policy, RiscvEtrace, Xlen,
};
use traceproof_vectors::{Address, Decoder as _, DecoderLimits, Log, Program};

/// Widths (data, `dtype` and `lrid`, address), options, and what is not discoverable.
const CONSTANTS: usize = 5;

/// Bytes of the longest payload that fits a packet with a type.
const LONGEST: usize = 30;

const DATA_WIDTHS: [u8; 5] = [8, 16, 32, 64, 128];

/// A fuzz input for this target from the payloads of one stream; `None` when the parameters do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, payloads: &[&[u8]]) -> Option<Vec<u8>> {
    let data = parameters.data?;
    let width = DATA_WIDTHS.iter().position(|&width| width == data.data_width_p)?;
    let kind = u8::try_from(width).ok()? | data.dtype_width_p << 3;
    let options = [
        data.options.no_address,
        data.options.no_data,
        data.options.full_address,
        data.options.full_data,
        data.split,
        data.layout == DataLayout::MmaCas,
        data.compressed_operands,
        parameters.xlen == Xlen::Rv64,
    ];
    let options = options.into_iter().enumerate().map(|(bit, on)| u8::from(on) << bit).sum();
    let offered = match data.offered {
        OfferedCompression::Both => 0,
        OfferedCompression::Xor => 1,
        OfferedCompression::Differential => 2,
    };
    let mut input = vec![kind, data.lrid_width_p, data.daddress_width_p, options, offered];
    for payload in payloads {
        input.push(u8::try_from(payload.len()).ok().filter(|&length| usize::from(length) <= LONGEST)?);
        input.extend_from_slice(payload);
    }
    Some(input)
}

fn parameters([kind, lrid, address, options, offered]: [u8; CONSTANTS]) -> Parameters {
    let on = |bit: u8| options >> bit & 1 == 1;
    let base = Parameters::default();
    let data = DataParameters {
        data_width_p: DATA_WIDTHS.into_iter().cycle().nth(usize::from(kind & 7)).unwrap_or(32),
        dtype_width_p: kind >> 3 & 7,
        lrid_width_p: lrid,
        daddress_width_p: address,
        split: on(4),
        layout: if on(5) { DataLayout::MmaCas } else { DataLayout::Ratified },
        compressed_operands: on(6),
        offered: match offered % 3 {
            0 => OfferedCompression::Both,
            1 => OfferedCompression::Xor,
            _ => OfferedCompression::Differential,
        },
        options: DataOptions { no_address: on(0), no_data: on(1), full_address: on(2), full_data: on(3) },
        ..DataParameters::default()
    };
    Parameters {
        xlen: if on(7) { Xlen::Rv64 } else { Xlen::Rv32 },
        data: Some(data),
        encapsulation: Encapsulation::Normal(NormalEncapsulation {
            type_bits: 1,
            ..NormalEncapsulation::default()
        }),
        ..base
    }
}

/// Reads payloads, writes what was read, and reads that; then decodes them after a start packet.
///
/// # Panics
///
/// When the writer cannot write what the reader read, or writes something that reads as another packet; when results
/// depend on how the stream is cut.
pub fn run(data: &[u8]) {
    let Some((constants, mut rest)) = data.split_first_chunk::<CONSTANTS>() else { return };
    let parameters = parameters(*constants);
    if parameters.check().is_err() {
        return;
    }
    let Ok(mut transport) = Transport::new(&parameters.encapsulation, &Policy::default()) else { return };
    let start =
        Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(0x1000) };
    let mut stream = write_packets(&[start], &parameters, &Policy::default()).expect("start packets travel");
    while let Some((&length, after)) = rest.split_first() {
        let (payload, after) = after.split_at((usize::from(length) % (LONGEST + 1)).min(after.len()));
        rest = after;
        if payload.is_empty() {
            continue;
        }
        let bits = 8 * u32::try_from(payload.len()).expect("short");
        let mut framed = Vec::new();
        let trace = Trace { payload, bits, kind: TraceKind::Data, timestamp: None };
        transport.send(&trace, &mut |bytes| framed.extend_from_slice(bytes)).expect("fits");
        comes_back(&framed, &parameters);
        stream.extend(framed);
    }
    is_the_same_in_pieces(&stream, &parameters);
}

fn comes_back(framed: &[u8], parameters: &Parameters) {
    let Some(Ok(packet)) = dissect(framed, parameters).first().and_then(|unit| unit.packet) else { return };
    let written = match write_packets(&[packet], parameters, &Policy::default()) {
        Ok(written) => written,
        // Reading an aligned address drops what its shift leaves no room for, so the same packet may be longer.
        Err(error) if error.defect == Defect::TooLong => return,
        Err(error) => panic!("{packet:?} was read but cannot be written: {error}"),
    };
    let again = dissect(&written, parameters).first().and_then(|unit| unit.packet);
    assert_eq!(again, Some(Ok(packet)), "{framed:02x?} -> {written:02x?}");
}

fn is_the_same_in_pieces(stream: &[u8], parameters: &Parameters) {
    let mut decoder = Decoder::default();
    decoder.set_limits(&DecoderLimits::COLLECTED);
    if decoder.begin(parameters, &Program::new()).is_err() {
        return;
    }
    let whole = decode(&mut decoder, std::iter::once(stream));
    decoder.reset();
    assert_eq!(
        whole.entries,
        decode(&mut decoder, std::iter::once(stream)).entries,
        "reset and replay differ"
    );
    decoder.reset();
    let cut = decode(&mut decoder, stream.chunks(1));
    assert_eq!(whole.entries, cut.entries, "cutting the stream changes the results");
}

fn decode<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<RiscvEtrace> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}
