//! Whole streams: 10.2 to 10.4 of the sheet, D of its additions.

use super::scene::{AS, Scene};

/// 10.2 up to the exception return, after which the model sends address and context in one packet.
#[test]
fn stream_a() {
    let scene = Scene::new().with(|parameters| parameters.return_stack = true);
    let expected = "04 82 00 08 40 00 30 e2 06 05 95 05 85 00 02 08 08 00 00 ff ff 31 db \
                    85 05 08 40 00 00 00 00 00 30 f7";
    let text = "on:401000u El401004>401020u Ei401024>401008u E40100c>401004u El401004>401020u \
                Ei401024>401008u N40100c>401010u x02@401014u>ffff000008080400 \
                Es8080404>ffff000008080408 Er8080408>401014u E401018>401018u off";
    assert_eq!(scene.after_sync(text), expected);
    let separate = scene.choosing(|policy| policy.combined_contexts = false);
    let wire = separate.after_sync(text);
    assert!(wire.ends_with("db 81 30 91 f7"), "{wire}");
}

/// 10.3, with a cancelled path of two instructions, up to where it leaves out a P0 instruction.
#[test]
fn stream_b() {
    let scene =
        Scene::speculative(4).with(|parameters| parameters.cycle_counting = true).choosing(|policy| {
            policy.cycle_threshold = 0x10;
            policy.combined_targets = false;
        });
    let text = "on:1000 E1000>2000 N200c>2010 cancel:1>2000 x0e@2000>4000 Er4004>2000 +16 commit:2 \
                N200c>2010 mis>3000 E3004>3000 +26 commit:3 ev0 off";
    let expected = format!(
        "{AS} 01 09 01 10 04 82 00 08 00 00 31 d9 2e 01 06 1d 95 80 10 95 80 20 f7 0f 02 91 33 f7 0c 2a 71"
    );
    assert_eq!(scene.wire(text), expected);
}

/// The end of 10.3: b.ne is left out, a return to 0x1000, and the implied Commit of the exception return.
#[test]
fn source_address_and_implied_commit() {
    let scene = Scene::speculative(4)
        .with(|parameters| {
            parameters.cycle_counting = true;
            parameters.timestamps = true;
        })
        .choosing(|policy| {
            policy.cycle_threshold = 0x10;
            policy.source_addresses = true;
        });
    // The exception return, b.eq and b.ne as in 10.3.
    let text = "on:3000 Er3000>3000 +16 E3000>3000 commit:1 E3000>3000 N3004 Ei3008>1000 =12345 +5 E1000>2000 \
                +0 stamp E2000>2000 +21 commit:4 off";
    let wire = scene.wire(text);
    let expected = format!(
        "{AS} 01 09 01 10 04 82 00 18 00 00 31 f7 02 00 90 f7 0f 01 f7 b4 02 95 80 08 f7 03 c5 c6 04 05 f7 0c 3a"
    );
    assert_eq!(wire, expected);
}

/// D-01: 21 of 24 are committed without a packet; what is left is discarded at the end.
#[test]
fn implied_commits() {
    assert_eq!(Scene::speculative(3).after_start("E1000>1000*24 off"), "d4 00 03");
    assert_eq!(Scene::speculative(3).after_start("E1000>1000*24 commit:3 off"), "d4 2d 03");
}

/// D-03: two elements before Trace Info.
#[test]
fn depth_of_trace_info() {
    let scene = Scene::speculative(8);
    assert_eq!(
        scene.after_start("E1000>1000*2 sync E1000>1000*2 commit:3 off"),
        format!("db {AS} 01 04 02 82 00 08 00 00 31 db 2d 03 00 03")
    );
}

/// D-05: what was sent since Trace Info is void, so context and address are repeated.
#[test]
fn cancel_across_trace_info() {
    let text = "E1000>1000*2 sync E1000>1000 cancel:2>1000 E1000>1000 commit:2 off";
    let expected = format!("db {AS} 01 04 02 82 00 08 00 00 31 f7 2e 02 82 00 08 00 00 31 f7 2d 02");
    assert_eq!(Scene::speculative(8).after_start(text), expected);
}

/// D-24: nothing is taken from the return stack after Trace Info.
#[test]
fn return_stack_over_trace_info() {
    let scene = Scene::new().with(|parameters| parameters.return_stack = true);
    let text = "El1000>1020 Ei1024>1004 sync E100c>1040 E1044>1044 off";
    assert_eq!(scene.after_start(text), format!("db {AS} 01 00 82 01 08 00 00 31 db"));
    let spaced = scene.choosing(|policy| policy.sync_spacing = 1);
    assert_eq!(spaced.after_start(text), format!("db {AS} 01 00 f7 82 10 08 00 00 31 f7"));
}

/// 10.4: a transaction that tracing starts in, and its failure.
#[test]
fn transaction_of_a_capture() {
    let scene = Scene::new().with(|parameters| {
        parameters.transactions = true;
        parameters.commtrans = true;
    });
    let text = "on:c36c0 view0 E0c36c8>0c36cc start view1 E0c36cc>0c36d0 fail>0c36c4 E0c36c4>0c36c8 off";
    assert_eq!(scene.after_sync(text), "04 0a 82 33 1b 0c 00 31 f7 06 31 70 9a 31 1b 0c 00 f7");
}

/// 10.4: overflow.
#[test]
fn overflow_of_the_sheet() {
    let expected = format!("f7 00 05 {AS} 01 00 04 82 00 08 00 00 31 f7");
    assert_eq!(
        Scene::new().after_start("E1000>1000 full E1000>2000 free view0 go:1000 view1 E1000>1000 off"),
        expected
    );
}
