//! Transfers, their addresses, load misses, and faults that go on.

use alloc::string::String;

use traceproof_vectors::Program;
use traceproof_vectors::arm_etm::Parameters;

use super::{data, summary};

/// What is reported after a non-periodic I-sync: packet 2 and byte 12 on.
fn after_sync(parameters: &Parameters, text: &str) -> String {
    let reported = summary(parameters, &Program::new(), &alloc::format!("08 21 00 80 00 00 {text}"));
    reported.strip_prefix("enabled:Arm:8000").expect("the I-sync").trim_start().into()
}

#[test]
fn e3_08_out_of_order_pair() {
    assert_eq!(
        after_sync(&data(), "74 80 82 80 80 02 | 54 | 2c 44 33 22 11 | 2c 88 77 66 55"),
        "#0@0[0x20000100]=miss1 #1@0[0x20000104]=high1 #0<-11223344@0 #1<-55667788@0"
    );
    // Ignore parts nothing.
    assert_eq!(
        after_sync(&data(), "74 80 82 80 80 02 66 54 2c 44 33 22 11 66 20"),
        "#0@0[0x20000100]=miss1 #1@0[0x20000104]=high1 #0<-11223344@0 #1<-0@0"
    );
    // An A-sync, and everything else, does.
    assert_eq!(
        after_sync(&data(), "54 00 00 00 00 00 80 54 24 01"),
        "#0@0=miss1 suspicious@4:19.0 #0!superseded #1@0=miss1 #1<-1@0"
    );
    assert_eq!(
        after_sync(&data(), "54 54 24 01 84 24 02"),
        "#0@0=miss1 #1@0=high1 #0<-1@0 suspicious@5:16.0 #1!incomplete E8000 ignored1@1"
    );
    // A third one is a new item.
    assert_eq!(
        after_sync(&data(), "58 58 58 44 07"),
        "#0@0=miss2 #1@0=high2 suspicious@4:14.0 #0!superseded #1!superseded #2@0=miss2 #2<-7@0"
    );
}

#[test]
fn misses_wait_are_superseded_or_stay_without_value() {
    assert_eq!(
        after_sync(&data(), "74 80 a0 80 80 00 | 78 c0 40 | 44 55 | 84 | 2c 01 00 fe ca | 24 09"),
        "#0@0[0x1000]=miss1 #1@0[0x2040]=miss2 #1<-55@0 E8000 #0<-cafe0001@1 ignored1@1"
    );
    // Excused by an I-sync that is not periodic.
    assert_eq!(
        after_sync(&data(), "54 08 41 00 80 00 00 54 24 99 24 98"),
        "#0@0=miss1 overflow:Arm:8000 #0!superseded #1@0=miss1 #1<-99@0 ignored1@0"
    );
    assert_eq!(
        after_sync(&data(), "54 08 01 00 80 00 00 54"),
        "#0@0=miss1 periodic:Arm:8000 suspicious@4:19.0 #0!superseded #1@0=miss1 #1!end"
    );
    assert_eq!(after_sync(&data(), "5c 10"), "#0@0=miss3 reserved-encoding@3:13.0 #0!lost");
    assert_eq!(after_sync(&data(), "5c 54 58"), "#0@0=miss3 #1@0=miss1 #2@0=miss2 #0!end #1!end #2!end");
}

#[test]
fn e3_09_data() {
    assert_eq!(
        after_sync(&data(), "22 80 80 80 80 04 | 22 04 50"),
        "#0@0[0x40000000]=0 #1@0[0x40000004]=0 #1:failed"
    );
    // The flag stays until the next full address.
    assert_eq!(
        after_sync(&data(), "26 f8 ac d1 91 11 ab | 06 01 | 22 f8 ac d1 91 01"),
        "#0@0[0x12345678]=ab:BE #1@0[0x1234567c]=1:BE #2@0[0x12345678]=0"
    );
    assert_eq!(
        after_sync(&data(), "22 80 80 80 80 04 | 7a 80 02 | 6a | 06 01"),
        "#0@0[0x40000000]=0 #1@0[0x40000100]=vnt #2@0[0x40000104]=vnt #3@0[0x40000108]=1"
    );
}

#[test]
fn a_store_fails_directly_after_its_data() {
    assert_eq!(after_sync(&data(), "02 66 50"), "#0@0=0 #0:failed");
    assert_eq!(after_sync(&data(), "02 50 50"), "#0@0=0 #0:failed contradiction@4:14.0");
    assert_eq!(after_sync(&data(), "54 20 50"), "#0@0=miss1 #0<-0@0 #0:failed");
    // Data that were ignored belong to no instruction.
    assert_eq!(after_sync(&data(), "20 50"), "ignored1@0");
    for other in ["54", "6a", "62", "84", "13", "0c"] {
        let reported = after_sync(&data(), &alloc::format!("02 {other} 50"));
        assert!(reported.contains("contradiction") && !reported.contains("failed"), "{other}: {reported}");
    }
    assert_eq!(after_sync(&data(), "50"), "contradiction@2:12.0");
}

#[test]
fn data_addresses_are_known_bit_by_bit() {
    assert_eq!(
        after_sync(&data(), "22 7c | 02 | 22 84 7f | 22 80 80 80 80 04 | 22 04"),
        "#0@0[0x7c/0x7f]=0 #1@0[0x0/0x7f]=0 #2@0[0x3f84/0x3fff]=0 #3@0[0x40000000]=0 #4@0[0x40000004]=0"
    );
    // Known across a periodic I-sync only.
    assert_eq!(
        after_sync(&data(), "22 80 80 80 80 04 | 08 01 00 80 00 00 | 22 04 | 08 41 00 80 00 00 | 22 04 | 02"),
        "#0@0[0x40000000]=0 periodic:Arm:8000 #1@0[0x40000004]=0 overflow:Arm:8000 #2@0[0x4/0x7f]=0 #3@0[0x8/0x7f]=0"
    );
    // Coprocessor transfers look like later transfers.
    let cprt = Parameters { monitor_cprt: true, ..data() };
    assert_eq!(
        after_sync(&cprt, "22 80 80 80 80 04 | 02 | 22 04"),
        "#0@0[0x40000000]=0 #1@0=0 #2@0[0x40000004]=0"
    );
}

#[test]
fn suppressed_data_cost_the_base_up_to_version_3_2() {
    for (minor, last) in [(2, "[0x4/0x7f]"), (3, "[0x40000004]")] {
        let parameters = Parameters { minor, ..data() };
        assert_eq!(
            after_sync(&parameters, "22 80 80 80 80 04 | 84 62 | 22 04"),
            alloc::format!("#0@0[0x40000000]=0 E8000 suppressed@1 #1@1{last}=0")
        );
    }
}

#[test]
fn modes_without_values_or_addresses() {
    let values = Parameters { data_address: false, ..data() };
    assert_eq!(after_sync(&values, "7c 6c 78 56 34 12 26 05"), "#0@0=miss3 #0<-12345678@0 #1@0=5");
    let addresses = Parameters { data_value: false, ..data() };
    assert_eq!(
        after_sync(&addresses, "7c 80 80 81 80 00 | 22 04 | 06"),
        "#0@0[0x4000]=off #1@0[0x4004]=off #2@0[0x4008]=off"
    );
    let stacking = Parameters { m_profile: true, minor: 4, ..data() };
    assert_eq!(after_sync(&stacking, "84 7e 02"), "E8000 entry@1 #0@1=0");
}

#[test]
fn nothing_is_reported_of_data_before_the_first_i_sync() {
    assert_eq!(
        summary(&data(), &Program::new(), "54 02 50 50 24 01 62 08 21 00 80 00 00 24 01 02"),
        "enabled:Arm:8000 ignored1@0 #0@0=0"
    );
}
