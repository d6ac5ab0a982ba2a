//! From values back to requests.

use proptest::prelude::*;

use super::*;

#[test]
fn values_that_are_no_plain_request() {
    let unit = Parameters { pe_comparators: 1, ..Parameters::default() };
    let unread = Unread { thumb: false, output: Output::Interfaces };
    let all = TraceRequest { timestamps: true, branch_broadcast: true, ..request() };
    let good = values(&all, &unit);
    assert_eq!(TraceRequest::from_values(&unit, &good, unread), Ok(all));
    for (name, value, bits) in [
        ("TRCCONFIGR", 0x1_0001, 0x1_0000),
        ("TRCCONFIGR", 0x6001, 0x6000),
        ("TRCEVENTCTL0R", 0x80, 0x80),
        ("TRCEVENTCTL1R", 0x2001, 1),
        ("TRCEVENTCTL1R", 0, 0x2000),
        ("TRCSTALLCTLR", 0x200, 0x200),
        ("TRCTSCTLR", 1, 1),
        ("TRCBBCTLR", 0x101, 0x101),
        ("TRCVICTLR", 0x6E_0200, 1),
        ("TRCVICTLR", 0x6E_0001, 0x200),
        ("TRCVICTLR", 0x6E_0202, 2),
        ("TRCVICTLR", 0x16E_0201, 0x100_0000),
        ("TRCVIIECTLR", 0x1_0001, 0x1_0000),
        ("TRCVISSCTLR", 1, 1),
        ("TRCVIPCSSCTLR", 1, 1),
        ("TRCACATR1", 4, 4),
        ("TRCACVR1", 0x3F_FFF8, 0x3F_FFF8),
        ("TRCACVR1", 0x40_0FFE, 0x40_0FFE),
        ("TRCACVR1", u64::MAX - 3, u64::MAX - 3),
    ] {
        let register: Register = name.parse().unwrap();
        let mut changed = good.clone();
        changed.push((register, value));
        let expected = Err(Inexpressible::Bits { register, bits });
        assert_eq!(TraceRequest::from_values(&unit, &changed, unread), expected, "{name}");
    }
    for name in ["TRCCONFIGR", "TRCVICTLR", "TRCVIIECTLR", "TRCACVR0", "TRCACATR1", "TRCCCCTLR", "TRCSYNCPR"]
    {
        let register: Register = name.parse().unwrap();
        let fewer: Vec<_> = good.iter().copied().filter(|(other, _)| *other != register).collect();
        let expected = Err(Inexpressible::Missing(register));
        assert_eq!(TraceRequest::from_values(&unit, &fewer, unread), expected, "{name}");
    }
    // What nothing selects does not matter.
    let mut more = good;
    more.extend([(Register::rsctlr(2), 0x1234), (Register(0x410), 7), (Register(0x600), 7)]);
    assert!(TraceRequest::from_values(&unit, &more, unread).is_ok());
}

/// Everything that is wrong is named at once, in the order of the writes, and the rest is read.
#[test]
fn every_problem_is_named() {
    let unit = Parameters::default();
    let unread = Unread { thumb: false, output: Output::Interfaces };
    let mut changed = values(&request(), &unit);
    changed.retain(|(register, _)| *register != Register::SYNCPR);
    let bits = |name: &str, bits| Inexpressible::Bits { register: name.parse().unwrap(), bits };
    changed.extend([(Register::CONFIGR, 0x1_0041), (Register::EVENTCTL1R, 0), (Register::VICTLR, 0x6E_0002)]);
    changed.extend([(Register::VIIECTLR, 0x1_0001), (Register(0x408), 0x3F_FFFC - 4)]);
    let (found, problems) = TraceRequest::read_back(&unit, &changed, unread);
    let expected = [
        bits("TRCCONFIGR", 0x1_0000),
        bits("TRCEVENTCTL1R", 0x2000),
        Inexpressible::Missing(Register::SYNCPR),
        bits("TRCVICTLR", 2),
        bits("TRCVICTLR", 0x201),
        bits("TRCVIIECTLR", 0x1_0000),
        bits("TRCACVR1", 0x3F_FFF8),
    ];
    assert_eq!(problems, expected);
    let rest = TraceRequest {
        context_id: true,
        return_stack: false,
        sync_period: 0,
        levels: Levels::at(1),
        ..TraceRequest::default()
    };
    assert_eq!(found, rest);
}

proptest! {
    #[test]
    fn requests_are_read_back(
        starts in prop::collection::vec((0_u64..1 << 40, 1_u64..1 << 20), 0..4),
        flags in any::<[bool; 12]>(),
        levels in (0_u8..16, 0_u8..8, 0_u8..8),
        threshold in prop::option::of(4_u16..=0xFFF),
        sync_period in prop_oneof![Just(0_u8), 8_u8..=20],
        trace_id in 1_u8..=0x6F,
        level in 0_u8..16,
    ) {
        let [thumb, realms, context_id, virtual_context_id, timestamps, return_stack, branch_broadcast, rest @ ..] =
            flags;
        let [system_errors, resets, stalled, no_overflow, to_buffer] = rest;
        let unit = Parameters { realms, ..Parameters::default() };
        let granule = if thumb { 2 } else { 4 };
        let (secure, non_secure, realm) = levels;
        prop_assume!(secure | non_secure != 0);
        let request = TraceRequest {
            ranges: starts
                .into_iter()
                .map(|(start, size)| AddressRange { start: start * granule, end: (start + size) * granule })
                .collect(),
            thumb,
            levels: Levels { secure, non_secure, realm: if realms { realm } else { non_secure } },
            cycle_counts: threshold,
            least_threshold: 4,
            context_id,
            virtual_context_id,
            timestamps,
            return_stack,
            branch_broadcast,
            system_errors,
            resets,
            sync_period,
            trace_id,
            stall: stalled.then_some(Stall { level, no_overflow }),
            output: if to_buffer { Output::TraceBuffer } else { Output::Interfaces },
        };
        let unread = Unread { thumb, output: request.output };
        prop_assert_eq!(TraceRequest::from_values(&unit, &values(&request, &unit), unread), Ok(request));
    }
}
