//! Accesses as packets report them.

use super::*;

/// D01, D02, D03, then differences that lead to an unaligned address of an aligned format.
#[test]
fn differences_are_of_the_previous_access_of_the_size() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let d02 = "d1a 01 01";
    assert_eq!(
        summary(&unified(), &[ON, START, d01, d02, "d2b ff", d02, d02, d01, d02]),
        [
            "L2 20000010 12345678",
            "S2 20000014 12345679",
            "S2 20000013 ffffffff",
            // The address is after 16 bits; the fault is reported once.
            "contradiction@5:16",
            "L2 20000010 12345678",
            "S2 20000014 12345679",
        ]
    );
    // D04; then diff 3: +2 and +1, -1 and 0. Words have bases of their own.
    assert_eq!(
        summary(&unified(), &[ON, START, "d00 e0 04 00 00 08", "db0 40", "df0 3f", d02]),
        ["L0 20000013 80", "L0 20000014 82", "L0 20000014 81", "not-synchronised@5:4"]
    );
}

#[test]
fn a_synchronisation_packet_starts_over() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let d02 = "d1a 01 01";
    // Not before the first one.
    assert_eq!(summary(&unified(), &[ON, d01, START, d01]), ["not-synchronised@1:0", "L2 20000010 12345678"]);
    // Start, and trap (thaddr = 0 at 0x1008).
    for packet in [START, "i77 11 00 03"] {
        assert_eq!(
            summary(&unified(), &[ON, START, d01, packet, d02, d02, d01, d02]),
            ["L2 20000010 12345678", "not-synchronised@4:4", "L2 20000010 12345678", "S2 20000014 12345679"]
        );
    }
    // `denable` without `ienable` (bit 4) is one.
    assert_eq!(summary(&unified(), &["i0f 20", d01]), ["L2 20000010 12345678"]);
    assert_eq!(summary(&unified(), &["i0f 00", d01]), ["not-synchronised@1:0"]);
}

#[test]
fn lost_packets_are_reported_and_start_over() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    assert_eq!(
        summary(&unified(), &[ON, START, d01, "i1f 60", "d1a 01 01", d01]),
        ["L2 20000010 12345678", "lost", "not-synchronised@4:4", "L2 20000010 12345678"]
    );
}

/// The support packets are 1f 20 with `no_data` in bit 16, and with `no_address` in bit 15.
#[test]
fn options_change_the_packets() {
    let d01 = "dc8 78 56 34 12 04 00 00 08";
    let (d06, d07, d08) = ("d0a 01 00 00 01", "dd8", "d08 e0");
    assert_eq!(
        summary(&unified(), &[ON, START, "i1f 20 01", d06, d07, ON, "d1a 01 01", d01]),
        // Addresses went on, data did not.
        ["S2 20000020 -", "L2 20000018 -", "not-synchronised@6:4", "L2 20000010 12345678"]
    );
    assert_eq!(
        // With diff 2, an address alone is missing: format 2, size 2, diff 2, data_len 0, data 1, address 1.
        summary(&unified(), &[ON, START, d01, "i1f a0 00", d08, ON, "d2a 01 01", "d1a 01 01", d01]),
        ["L2 20000010 12345678", "L2 - ffffff80", "not-synchronised@6:4", "L2 20000010 12345678"]
    );
    assert_eq!(
        summary(&unified(), &[ON, START, "i1f a0 01", d01, ON, d01]),
        ["unsupported-mode@2:0", "L2 20000010 12345678"]
    );
}

/// Responses find their requests, and take part in compression in the order in which they come.
#[test]
fn responses_belong_to_requests() {
    let (d10, d11, d12) = ("db0 10 00 00 20", "db4 c4 b3 a2 91 00", "db4 00");
    let split = with(split());
    assert_eq!(
        summary(&split, &[ON, START, d10, d11, d12, d10, d10, d12]),
        [
            "L2#5 20000010",
            "l2#5 20000010 12345678",
            "contradiction@4:5",
            "L2#5 20000010",
            "contradiction@6:5",
            "L2#5 20000010",
            "l2#5 20000010 -",
        ]
    );
    // Size 0: format 4, size 0, lrid 5, resp 2, data 1.
    assert_eq!(summary(&split, &[ON, START, d10, "da4 0c"]), ["L2#5 20000010", "contradiction@3:3"]);
    // Resp 1 (XOR 1): format 4, size 2, lrid 5, resp 1, data 1. The error in between changes nothing.
    let exclusive = "db4 0a";
    assert_eq!(
        summary(&split, &[ON, START, d10, d11, d10, d12, d10, exclusive])[4..],
        ["L2#5 20000010", "l2#5 20000010 12345679"]
    );
    assert_eq!(summary(&split, &[ON, START, d10, exclusive]), ["L2#5 20000010", "not-synchronised@3:9"]);
    // Lost packets may have been requests.
    assert_eq!(
        summary(&split, &[ON, START, d10, "i1f 60", d11]),
        ["L2#5 20000010", "lost", "contradiction@4:5"]
    );
    let request = "d8e 05 05 00 04";
    assert_eq!(
        summary(&split, &[ON, START, request, "d2f 13 08", request, "d2f", request, d11]),
        [
            "A2#5 Add 1000 5",
            "a2#5 Add 1000 102",
            "A2#5 Add 1000 5",
            "a2#5 Add 1000 -",
            "A2#5 Add 1000 5",
            // The ratified packets have another one for atomics.
            "contradiction@7:5",
        ]
    );
}

#[test]
fn csrs_and_atomics_are_reported() {
    let all = DataParameters { dtype_width_p: 4, ..DataParameters::default() };
    // D13, D14, D16; then diff 1 of a CSR, data XOR 1, compared with the word of D16: format 5, subtype 1, diff 1,
    // data_len 0, data 1, addr_msbs 0x3c, addr_lsbs 0x14.
    assert_eq!(
        summary(
            &with(all),
            &[ON, START, "d85 00 30 18 10", "d0d 04 78 0a", "d8e 50 c0 00 00 01", "d2d 02 78 0a"]
        ),
        ["C ReadWrite 300 8 1800", "C ReadSet f14 - 2", "A2 Add 1000 5 3", "C ReadSet f14 - 2"]
    );
    // D15, then diff 1 and +1: format 5, subtype 1, diff 1, addr_msbs 0, addr_lsbs 1; and D17.
    assert_eq!(
        summary(&no_data(all), &["i1f 20 01", START, "d4d 23", "d2d 10", "dbe 00 08"]),
        ["C ReadSet 342 - -", "C ReadSet 343 - -", "A2 ConditionalStoreFailure 1000 - -",]
    );
}

/// With `compressed_operands`, the operand comes before the data: D16 has operand 5 and data 3; then diff 1: operand
/// XOR 1 of 3, data XOR 1 of that.
#[test]
fn operands_may_be_compressed() {
    let all = DataParameters { dtype_width_p: 4, compressed_operands: true, ..DataParameters::default() };
    // Format 6, subtype 1, size 2, diff 1, op_len 0, operand 1, data_len 0, data 1, address 1.
    let next = "d8e 11 40 40";
    let d16 = "d8e 50 c0 00 00 01";
    assert_eq!(summary(&with(all), &[ON, START, d16, next]), ["A2 Add 1000 5 3", "A2 Add 1004 2 3"]);
    let plain = DataParameters { compressed_operands: false, ..all };
    assert_eq!(summary(&with(plain), &[ON, START, d16, next]), ["A2 Add 1000 5 3", "A2 Add 1004 1 2"]);
}

/// Source 5 is instruction trace, source 6 data trace, whatever the type; there is none here.
#[test]
fn data_trace_may_have_a_source_of_its_own() {
    let normal = NormalEncapsulation { src_id_bits: 8, src_id: 5, ..NormalEncapsulation::default() };
    let data = DataParameters { source: Some(6), ..DataParameters::default() };
    let encapsulation = Encapsulation::Normal(normal);
    let parameters = Parameters { encapsulation, data: Some(data), ..Parameters::default() };
    let wire = [3, 5, 0x73, 0, 4, 1, 6, 0x08, 2, 7, 0x1a, 0x01, 2, 6, 0x0c, 0];
    let packets: Vec<_> =
        dissect(&wire, &parameters).into_iter().map(|dissection| dissection.packet).collect();
    assert!(matches!(packets[0], Some(Ok(Packet::Start { .. }))));
    let zero = Transfer { data: Some(ReportedData::Full(0)), address: Some(Full(0)), ..PLAIN };
    assert_eq!(packets[1], Some(Ok(Packet::Data(DataPacket::Load(zero)))));
    assert_eq!(packets[2], None);
    assert!(matches!(packets[3], Some(Err(_))));
}

/// Any input in any pieces: the same entries, and no panic.
#[test]
fn arbitrary_payloads_are_harmless() {
    let plain = DataParameters::default();
    let mma_cas = DataLayout::MmaCas;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 24) as u8
    };
    for data in [
        plain,
        split(),
        DataParameters { dtype_width_p: 4, data_width_p: 128, daddress_width_p: 64, ..plain },
        DataParameters { layout: mma_cas, data_width_p: 64, compressed_operands: true, ..split() },
        DataParameters { layout: mma_cas, dtype_width_p: 2, data_width_p: 8, daddress_width_p: 1, ..plain },
        DataParameters { offered: OfferedCompression::Xor, data_width_p: 128, lrid_width_p: 12, ..split() },
    ] {
        let parameters = Parameters { xlen: Xlen::Rv64, ..with(data) };
        let mut stream = wire(&[ON, START]);
        for _ in 0..3000 {
            let length = 1 + random() % 30;
            stream.push(length + 1);
            let support = random() % 16 == 0;
            stream.push(if support { 0x80 } else { 0xc0 });
            for index in 0..length {
                // Support packets of every kind, or anything.
                stream.push(if support && index == 0 { 0x1f } else { random() });
            }
        }
        let decode = |chunk: usize| {
            let mut decoder = Decoder::default();
            decoder.begin(&parameters, &Program::new()).expect("supported");
            let mut log: Log<RiscvEtrace> = Log::default();
            stream.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
            decoder.finish(&mut log);
            log.entries
        };
        let whole = decode(stream.len());
        assert_eq!(whole, decode(7));
        assert!(whole.iter().any(|(_, entry)| matches!(entry, Entry::Packet(Packet::Data(_)))));
        assert_eq!(dissect(&stream, &parameters).len(), 3002);
    }
}
