//! What BD reports only with its address, which shows whether it is an exception.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::Event;
use traceproof_vectors::{Address, Fault, FaultClass, Place};

use super::flow::Here;
use super::listener::{Consequence, Listener};

/// Results of the BD that waits first, until its address is read. Their number is that of the transfers of an
/// instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Its instruction; `None` if nothing is held.
    here: Option<Here>,
    /// Why its data cannot be assigned.
    unreadable: Option<(FaultClass, Option<Address>)>,
    transfers: Vec<(Place, Event)>,
    /// Its data are given up.
    incomplete: bool,
}

impl Held {
    /// A BD is examined.
    pub(super) fn begin(&mut self, here: Here) {
        self.clear();
        self.here = Some(here);
    }

    pub(super) fn clear(&mut self) {
        self.here = None;
        self.unreadable = None;
        self.transfers.clear();
        self.incomplete = false;
    }

    pub(super) const fn is_open(&self) -> bool {
        self.here.is_some()
    }

    /// The instruction of the BD.
    pub(super) const fn here(&self) -> Option<Here> {
        self.here
    }

    pub(super) fn unreadable(&mut self, class: FaultClass, address: Option<Address>) {
        self.unreadable = Some((class, address));
    }

    pub(super) fn transfer(&mut self, place: Place, event: Event) {
        self.transfers.push((place, event));
    }

    pub(super) fn incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Reports what follows the instruction of the status at `place`, and holds nothing any more. With `ignored`, the
    /// place of the packet that shows it, transfers are only counted.
    ///
    /// Spec: ETM1-EXC-005 (4.5.3, 5.7.1).
    pub(super) fn report<L: Listener>(
        &mut self,
        place: Place,
        cycle: u64,
        ignored: Option<Place>,
        listener: &mut L,
    ) {
        if let Some((class, address)) = self.unreadable {
            listener.fault(&Fault::new(class, place).with_address(address), Consequence::GoesOn);
        }
        match ignored {
            Some(place) => {
                if let Some(event) = self.ignored() {
                    listener.event(place, &event);
                }
            }
            None => self.transfers.iter().for_each(|(place, event)| listener.event(*place, event)),
        }
        if self.incomplete {
            listener.event(place, &Event::Incomplete { when: cycle });
        }
        self.clear();
    }

    /// The event that stands for all transfers.
    fn ignored(&self) -> Option<Event> {
        let number = |(_, event): &(Place, Event)| match *event {
            Event::Transfer { transfer, .. } => Some(transfer),
            _ => None,
        };
        let first = self.transfers.first().and_then(number)?;
        let last = self.transfers.last().and_then(number)?;
        Some(Event::IgnoredTransfers { first, last })
    }
}
