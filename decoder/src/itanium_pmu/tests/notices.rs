//! Notices about a configuration at the end of a dump (ITA-DEC-010, ITA-DEC-011).

use traceproof_vectors::itanium_pmu::DataEarThresholds;

use super::*;

#[test]
fn monitors_that_cannot_count() {
    for (name, value, expected) in [
        ("PMC4", 0x1220, "PMC4:Disabled"),
        ("PMC4", 0x0300_1228, "PMC4:Disabled"),
        ("PMC4", 0x0200_1228, ""),
        ("PMC8", 0x0fff_fffe_3fff_fff8, "PMC8:Disabled"),
        ("PMC9", 0x1000_0000_0000_0000, ""),
        ("PMC10", 0, "PMC10:Disabled"),
        ("PMC12", 0, ""),
        // IA64_INST_RETIRED, umask 1.
        ("PMC5", 0x0001_0828, "PMC5:UnknownEvent"),
        // NOPS_RETIRED, at most 6 in a cycle: thresholds 5, 6, 7.
        ("PMC4", 0x0050_3028, ""),
        ("PMC4", 0x0060_3028, "PMC4:NeverCounts"),
        ("PMC4", 0x0070_3020, "PMC4:Disabled PMC4:NeverCounts"),
        ("PMC10", 0x000a_0008, ""),
        ("PMC10", 0x000b_0008, "PMC10:NoCapture"),
        ("PMC10", 0x000f_0008, "PMC10:NoCapture"),
        ("PMC10", 0x000f_0088, ""),
        ("PMC11", 0x1006_0008, ""),
        ("PMC11", 0x1007_0008, "PMC11:Disputed"),
        ("PMC11", 0x100a_0008, "PMC11:Disputed"),
        ("PMC11", 0x100b_0008, "PMC11:NoCapture"),
        ("PMC11", 0x100b_0088, ""),
    ] {
        assert_eq!(strict(&[read(name, value)]), expected, "{name} {value:x}");
        assert_eq!(strict(&[write(name, value)]), expected, "{name} {value:x}");
        assert_eq!(strict(&[write(name, value), reset()]), "");
    }
    let shifted = Parameters { data_ear_thresholds: DataEarThresholds::Shifted, ..Parameters::default() };
    assert_eq!(
        summary(&shifted, &[read("PMC11", 0x1007_0000)]),
        "PMC11:Disabled PMC11:NoCapture PMC11:Disputed"
    );
    assert_eq!(summary(&shifted, &[read("PMC11", 0x1008_0008)]), "PMC11:Disputed");
}

#[test]
fn range_checks_that_are_off() {
    assert_eq!(strict(&[read("PMC13", 0)]), "");
    assert_eq!(strict(&[read("PSR", DB), read("PMC13", 0)]), "PMC13:RangeCheckOff");
    assert_eq!(strict(&[read("PSR", DB), read("PMC13", 1)]), "");
    assert_eq!(strict(&[read("PMC13", 0), read("IBR5", 1 << 63)]), "PMC13:RangeCheckOff");
    assert_eq!(strict(&[read("PMC11", 8), read("PSR", DB)]), "PMC11:RangeCheckOff");
    assert_eq!(strict(&[read("PMC11", 8), read("IBR5", 1 << 63)]), "");
}

#[test]
fn pairs_that_match_too_much_or_nothing() {
    assert_eq!(strict(&[read("DBR0", 0), read("DBR1", 0)]), "");
    let pair = |addr, control| strict(&[read("PMC11", 8), read("DBR2", addr), read("DBR3", control)]);
    assert_eq!(pair(0, 0), "DBR2:MatchesRegionZero");
    assert_eq!(pair(0, 1), "");
    assert_eq!(pair(0x0100_0000_0000_0000, 0), "DBR2:NeverMatches");
    let pair = |addr, control| strict(&[read("IBR6", addr), read("IBR7", control)]);
    assert_eq!(pair(0, 0), "");
    assert_eq!(pair(0xbffc_0000_0000_1000, 0x0fff_ffff_ffff_f000), "");
    assert_eq!(pair(0xa004_0000_0000_1000, 0x0fff_ffff_ffff_f000), "IBR6:NeverMatches");
    assert_eq!(pair(0xbf04_0000_0000_1000, 0x0f07_ffff_ffff_f000), "");
    assert_eq!(pair(0xbf00_0000_0000_1000, 0x0f07_ffff_ffff_f000), "IBR6:NeverMatches");
    assert_eq!(pair(0x1000_0000_0000_0000, 0), "IBR6:NeverMatches");
    // Half of a pair says nothing.
    assert_eq!(strict(&[read("IBR6", 0x1000_0000_0000_0000)]), "");
}

#[test]
fn notices_come_in_the_order_of_registers() {
    let records = [
        read("IBR0", 0x1000_0000_0000_0000),
        read("IBR1", 1 << 63),
        read("PMC13", 0),
        read("PMC4", 0x1220),
        read("PMC4", 0x1300),
    ];
    assert_eq!(strict(&records), "PMC4:Disabled PMC4:UnknownEvent PMC13:RangeCheckOff IBR0:NeverMatches");
}
