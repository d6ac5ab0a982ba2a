//! Where a deformatter may join a trace port, and what it reports from there on.

use traceproof_decoder::arm_etm_formatter::dissect;
use traceproof_vectors::arm::Framing;
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Event, Packet, Parameters};
use traceproof_vectors::{Entry, Log, Program};

use crate::family::{PriorState, SyncPoints, Tail};

/// Full synchronisation packets. Any bytes may be a frame, so there is no garbage.
pub(super) const SYNC_POINTS: SyncPoints<ArmEtmFormatter> =
    SyncPoints { points, tail, first_wrong, garbage: None };

fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    if parameters.framing == Framing::Memory {
        return Vec::new();
    }
    let units = dissect(wire, parameters, program).into_iter();
    let syncs = units.filter(|unit| matches!(unit.packet, Some(Ok(Packet::FullSync))));
    syncs.filter_map(|unit| usize::try_from(unit.bytes.start).ok()).collect()
}

/// Data and errors; that a late decoder joins is no result.
fn tail(log: &Log<ArmEtmFormatter>, from: usize, _: &Parameters) -> Tail<ArmEtmFormatter> {
    let mut tail = Tail::default();
    for (_, entry) in log.entries.iter().filter(|(place, _)| place.byte >= from as u64) {
        match entry {
            Entry::Event(event @ Event::Data { .. }) => tail.events.push(event.clone()),
            Entry::Fault(fault) => tail.errors += usize::from(!fault.class.is_warning()),
            Entry::Event(Event::Gap) | Entry::Packet(_) => {}
        }
    }
    tail
}

/// A late decoder does not know the ID in force, so one source may lack its first bytes, or all of them. Both sides have
/// one event for each ID.
fn first_wrong(expected: &[Event], got: &[Event], _: PriorState) -> Option<usize> {
    let mut lacking = 0;
    for (index, event) in expected.iter().enumerate() {
        let Event::Data { id, bytes } = event else { return Some(index) };
        let same = got.iter().find_map(|event| match event {
            Event::Data { id: of, bytes } if of == id => Some(bytes.0.as_slice()),
            _ => None,
        });
        match same {
            Some(same) if same == bytes.0 => {}
            late if lacking == 0 && bytes.0.ends_with(late.unwrap_or_default()) => lacking += 1,
            _ => return Some(index),
        }
    }
    let known = |event: &Event| {
        let id = |event: &Event| if let Event::Data { id, .. } = event { Some(*id) } else { None };
        expected.iter().any(|other| id(other).is_some() && id(other) == id(event))
    };
    got.iter().position(|event| !known(event))
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::arm_etm_formatter::SourceBytes;

    use super::*;

    #[test]
    fn one_source_may_lack_its_first_bytes() {
        let data = |id: u8, bytes: &[u8]| Event::Data { id, bytes: SourceBytes(bytes.to_vec()) };
        let whole = [data(0x10, &[1, 2, 3]), data(0x11, &[4, 5])];
        let wrong = |got: &[Event]| first_wrong(&whole, got, PriorState::Less);
        assert_eq!(wrong(&whole), None);
        assert_eq!(wrong(&[data(0x10, &[3]), data(0x11, &[4, 5])]), None);
        assert_eq!(wrong(&[data(0x11, &[4, 5])]), None);
        assert_eq!(wrong(&[data(0x10, &[1, 2, 3]), data(0x11, &[5])]), None);
        assert_eq!(wrong(&[data(0x10, &[2, 3]), data(0x11, &[5])]), Some(1));
        assert_eq!(wrong(&[data(0x10, &[1, 2]), data(0x11, &[4, 5])]), Some(0));
        assert_eq!(wrong(&[whole[0].clone(), whole[1].clone(), data(0x12, &[6])]), Some(2));
    }
}
