//! Cycle counts: 9.4, D-12.

use super::scene::{LOOP, NOP, Scene};

fn accurate(scene: Scene) -> Scene {
    scene.with(|parameters| parameters.cycle_accurate = true)
}

/// 9.4 without the I-sync that contradicts it. Spec: PFT-ENC-045.
#[test]
fn counts_in_every_packet_that_has_one() {
    let scene = accurate(super::flow::stream_a())
        .arm(0xc000, &[NOP, 0xf57f_f06f, 0xe59f_f000])
        .with(|parameters| {
            parameters.timestamps = true;
            parameters.virtualization = true;
            parameters.vmid = true;
        })
        .choosing(|policy| {
            policy.cycles_in_timestamps = true;
            policy.vmid_after_sync = false;
        });
    let text = "+5 on:8000 +4 8000 +4 8004 +4 8008! +3 800c 8020 +40 =1000 8024>8010 +2 stamp \
        full x14@8010>c000 free vmid:7 +20 c000 +1 c004 +6 c008>8010n off";
    let expected = "08 00 80 00 00 21 94 b2 8c 09 60 02 42 e8 87 80 80 80 80 80 80 00 08 \
        08 00 c0 00 00 41 80 d4 01 3c 07 89 80 41 01 18";
    assert_eq!(scene.after_sync(text), expected);
}

/// D-12. Spec: PFT-ENC-002, 020.
#[test]
fn the_count_of_an_i_sync_covers_the_gap() {
    let scene = accurate(Scene::new().arm(0x8000, &[LOOP]));
    let text = "+10 on:8000 +3 8000 full +4 free +2 8000 +5 debug +10 run:8000 +1 8000 off";
    // Entry to Debug state has a count, too.
    let expected =
        "08 00 80 00 00 21 a8 8c 08 00 80 00 00 41 90 88 81 80 80 80 48 02 14 08 00 80 00 00 61 a8 84";
    assert_eq!(scene.after_sync(text), expected);
}

/// Spec: PFT-ENC-046, 058.
#[test]
fn what_has_no_count_leaves_the_cycles() {
    let scene =
        accurate(Scene::new().arm(0x8000, &[NOP, LOOP])).with(|parameters| parameters.timestamps = true);
    let text = "=9 on:8000 +3 sync +4 stamp 8000 +1 8004 +6 x14@8004>18 off";
    let sync = "00 00 00 00 00 80 08 00 80 00 00 01 42 89 80 80 80 80 80 80 80 00 00";
    let zero = format!("08 00 80 00 00 21 80 {sync} 42 09 00 a0 8d 80 40 1c 18");
    assert_eq!(scene.after_sync(text), zero);
    let counted = scene.choosing(|policy| policy.cycles_in_timestamps = true);
    let counts = zero.replace("80 00 00 42", "80 00 0c 42").replace("42 09 00 a0", "42 09 10 84");
    assert_eq!(counted.after_sync(text), counts);
}

/// D-10, D-11: as few bytes as they need, up to the most that a count holds. Spec: PFT-PKT-069.
#[test]
fn large_counts() {
    let scene =
        accurate(Scene::new().arm(0x8000, &[LOOP])).with(|parameters| parameters.context_id_bytes = 4);
    let text = "on:8000 8000 +1 8000 +16 8000 +2048 8000 +33554432 8000 +4294967295 8000 off";
    let expected = "08 00 80 00 00 21 80 00 00 00 00 80 84 c0 01 c0 80 01 c0 80 80 80 01 fc ff ff ff 7f";
    assert_eq!(scene.after_sync(text), expected);
    let text = "on:8000 +4294967295 idle +2 8000 8000 off";
    let expected = "08 00 80 00 00 21 80 00 00 00 00 fc ff ff ff 7f 88";
    assert_eq!(scene.after_sync(text), expected, "what a count cannot hold is left for the next");
}

/// Before it is enabled a PTM counts nothing.
#[test]
fn counting_begins_when_the_ptm_is_enabled() {
    let scene = accurate(Scene::new().arm(0x8000, &[LOOP]));
    assert_eq!(scene.after_sync("+9 idle +1 on:8000 +2 8000 off"), "08 00 80 00 00 21 84 88");
    let again = scene.wire("+9 idle +1 on:8000 +2 8000 +3 off +4 idle +5 on:8000 off");
    assert!(again.ends_with("88 00 00 00 00 00 80 08 00 80 00 00 21 94"), "{again}");
}
