//! Decoders that keep the state wrongly which packets are relative to: packets are spelled out in full, as the wrong
//! state has them.

use traceproof_decoder::arm_ete::Analyzer;
use traceproof_vectors::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Packet};

use super::history::{Deviation, History, NONE};
use super::layers::{self, Bug, Followed};

/// The reference decoder with a wrong state after packets.
pub(super) fn after(after: fn(&mut History, &History, &Packet)) -> Box<dyn Decoder<ArmEte>> {
    deviating(Deviation { after, ..NONE })
}

/// The reference decoder with packets that are completed wrongly.
pub(super) fn spelling(spell: fn(&History, &Packet, &mut Packet)) -> Box<dyn Decoder<ArmEte>> {
    deviating(Deviation { spell, ..NONE })
}

pub(super) fn deviating(deviation: Deviation) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |parameters, _| {
        let history = History::new(parameters);
        Box::new(Spelled { deviation, right: history.clone(), wrong: history, differ: false })
    })
}

/// Packets are spelled out from the first difference on.
struct Spelled {
    deviation: Deviation,
    right: History,
    wrong: History,
    differ: bool,
}

impl Bug for Spelled {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let right = self.right.take(packet, NONE);
        let spelled = self.wrong.take(packet, self.deviation);
        let differ = right != spelled || self.right != self.wrong;
        self.differ = differ || self.differ && !matches!(packet, Packet::TraceInfo { .. });
        followed.packet(if self.differ { &spelled } else { packet });
    }

    fn lose(&mut self, analyzer: &mut Analyzer) -> bool {
        analyzer.lose_synchronisation();
        self.right.lose();
        self.wrong.lose();
        self.differ = false;
        false
    }
}
