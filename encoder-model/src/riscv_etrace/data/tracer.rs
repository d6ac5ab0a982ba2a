//! When data packets go out: the data interface, its options, and what is lost (ET 8, 7.5).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{
    AtomicAccess, AtomicOperation, DataAccess, DataLayout, DataOptions, DataPacket, DataPolicy, DataResponse,
    MemoryAccess,
};

use super::DataFields;
use super::choice::{Chooser, Whole};

/// Data trace of one hart.
#[derive(Clone, Debug)]
pub(crate) struct DataTracer {
    chooser: Chooser,
    enabled: bool,
    /// A decoder has a synchronisation packet that data packets can follow. Spec: RVET-DATA-022.
    started: bool,
    /// Packets may be sent.
    takes: bool,
    /// Some were dropped since the latest report of that.
    lost: bool,
    /// Accesses that wait for the packets of their instruction, and responses to them.
    waiting: Vec<Signal>,
    /// Split loads and atomics without response, by `lrid`. Spec: RVET-DATA-015, RVET-DATA-026 (ET 4.4).
    requests: BTreeMap<u16, Request>,
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Access(DataAccess),
    Response(DataResponse),
}

/// A split access without response.
#[derive(Clone, Copy, Debug)]
struct Request {
    access: DataAccess,
    /// A request packet reported it.
    reported: bool,
}

impl DataTracer {
    /// `compressed`: payloads lose the bytes that their sign restores.
    pub(crate) fn new(fields: DataFields, policy: DataPolicy, compressed: bool) -> Self {
        Self {
            chooser: Chooser::new(fields, policy, compressed),
            enabled: false,
            started: false,
            takes: true,
            lost: false,
            waiting: Vec::new(),
            requests: BTreeMap::new(),
        }
    }

    pub(crate) const fn enabled(&self) -> bool {
        self.enabled
    }

    /// Whether this changes anything.
    pub(crate) const fn enable(&mut self, enable: bool) -> bool {
        let changes = self.enabled != enable;
        self.enabled = enable;
        changes
    }

    /// Whether this changes anything. Options that leave nothing to send have no effect.
    pub(crate) fn set_options(&mut self, options: DataOptions) -> bool {
        if options == self.chooser.fields.options || options.no_address && options.no_data {
            return false;
        }
        self.chooser.fields.options = options;
        true
    }

    pub(crate) const fn drop_packets(&mut self) {
        self.takes = false;
    }

    /// Packets may be sent again; whether some were lost that no packet has reported, which must be done now.
    pub(crate) const fn take_packets(&mut self) -> bool {
        self.takes = true;
        self.lost
    }

    /// The options in force.
    pub(crate) const fn options(&self) -> DataOptions {
        self.chooser.fields.options
    }

    /// Packets were dropped and no packet has reported it yet: `dloss` is due in the next support packet, whether data
    /// packets may be sent again or not. Spec: RVET-DATA-024 (ET 7.5).
    pub(crate) const fn has_loss(&self) -> bool {
        self.lost
    }

    /// A packet went out after which a decoder starts over.
    ///
    /// Spec: RVET-DATA-007, RVET-DATA-022 (ET 8.1.3); readings data-restarts-at-start-and-trap-packets,
    /// data-alone-starts-at-its-support-packet.
    pub(crate) fn start(&mut self) {
        self.started = true;
        self.chooser.restart();
    }

    /// A support packet with `dloss` went out. Spec: RVET-DATA-024 (ET 7.5); reading dloss-restarts-data.
    pub(crate) fn report_loss(&mut self) {
        self.lost = false;
        // The request of a response is no longer known.
        self.requests.retain(|_, request| !request.reported);
        self.chooser.restart();
    }

    /// An access of the latest instruction, whose packets may not be out yet.
    pub(crate) fn access(&mut self, access: DataAccess) {
        self.waiting.push(Signal::Access(access));
    }

    /// A response; at once, but never before its request.
    pub(crate) fn response(&mut self, response: DataResponse, send: &mut dyn FnMut(&DataPacket) -> bool) {
        let waits = self.waiting.iter().any(|signal| match signal {
            Signal::Access(access) => split_lrid(access) == Some(response.lrid),
            Signal::Response(earlier) => earlier.lrid == response.lrid,
        });
        if waits {
            self.waiting.push(Signal::Response(response));
        } else {
            self.respond(&response, send);
        }
    }

    /// The packets of the latest instruction are out. Spec: RVET-DATA-023 (ET 8).
    pub(crate) fn flush(&mut self, send: &mut dyn FnMut(&DataPacket) -> bool) {
        let mut waiting = core::mem::take(&mut self.waiting);
        for signal in waiting.drain(..) {
            match signal {
                Signal::Access(access) => self.trace(&access, send),
                Signal::Response(response) => self.respond(&response, send),
            }
        }
        self.waiting = waiting;
    }

    fn trace(&mut self, access: &DataAccess, send: &mut dyn FnMut(&DataPacket) -> bool) {
        if !self.enabled || !self.started || !self.is_traced(access) {
            return;
        }
        match access {
            DataAccess::Load(load) => self.load(load, send),
            DataAccess::Store(store) => {
                let packet = self.whole(store, true, Some(store.data));
                self.send(&packet, send);
            }
            DataAccess::Atomic(atomic) => self.atomic(atomic, send),
            DataAccess::Csr(csr) => {
                let packet = self.chooser.csr(csr);
                self.send(&packet, send);
            }
        }
    }

    /// Whether filters, types and widths let an access be reported.
    fn is_traced(&self, access: &DataAccess) -> bool {
        let DataFields { parameters, options, .. } = &self.chooser.fields;
        let fits = |size: u8| size <= parameters.max_size();
        let mma_cas = parameters.layout == DataLayout::MmaCas;
        match access {
            DataAccess::Load(access) | DataAccess::Store(access) => !access.filtered && fits(access.size),
            DataAccess::Atomic(access) => {
                let reported = match access.op {
                    // Reading conditional-store-failure-without-data-only.
                    AtomicOperation::ConditionalStoreFailure => options.no_data,
                    AtomicOperation::CompareAndSwapFailure => mma_cas && !options.no_address,
                    _ => true,
                };
                reported && !access.filtered && fits(access.size) && parameters.atomics()
            }
            DataAccess::Csr(access) => !access.filtered && parameters.csrs(),
        }
    }

    fn load(&mut self, load: &MemoryAccess, send: &mut dyn FnMut(&DataPacket) -> bool) {
        let options = self.chooser.fields.options;
        match load.lrid {
            Some(lrid) if self.chooser.fields.parameters.split => {
                let reported = !options.no_data && !options.no_address;
                if reported {
                    let packet = self.chooser.load_request(load.address.0, load.size, load.multi, lrid);
                    if !self.send(&packet, send) {
                        return;
                    }
                } else if options.no_data {
                    let packet = self.whole(load, false, None);
                    self.send(&packet, send);
                    return;
                }
                self.requests.insert(lrid, Request { access: DataAccess::Load(*load), reported });
            }
            _ => {
                let packet = self.whole(load, false, Some(load.data));
                self.send(&packet, send);
            }
        }
    }

    fn atomic(&mut self, atomic: &AtomicAccess, send: &mut dyn FnMut(&DataPacket) -> bool) {
        let DataFields { parameters, options, requests_without_address, .. } = self.chooser.fields;
        match atomic.lrid {
            Some(lrid)
                if parameters.split
                    && !options.no_data
                    && atomic.op != AtomicOperation::CompareAndSwapFailure =>
            {
                let reported = !options.no_address || requests_without_address;
                if reported {
                    let address = (!options.no_address).then_some(atomic.address);
                    let packet = self.chooser.atomic_request(atomic, address.map(u64::from), lrid);
                    if !self.send(&packet, send) {
                        return;
                    }
                }
                self.requests.insert(lrid, Request { access: DataAccess::Atomic(*atomic), reported });
            }
            _ => {
                let packet = self.whole_atomic(atomic, atomic.data);
                self.send(&packet, send);
            }
        }
    }

    fn respond(&mut self, response: &DataResponse, send: &mut dyn FnMut(&DataPacket) -> bool) {
        let &DataResponse { lrid, data } = response;
        let Some(Request { access, reported }) = self.requests.remove(&lrid) else { return };
        let DataFields { parameters, options, requests_without_address, .. } = self.chooser.fields;
        let mma_cas = parameters.layout == DataLayout::MmaCas;
        let reduced = options.no_data || options.no_address;
        let requested = !options.no_data && (!options.no_address || requests_without_address);
        let packet = match access {
            DataAccess::Load(load) if reported && !reduced => self.chooser.load_data(load.size, lrid, data),
            DataAccess::Atomic(atomic) if reported && requested && mma_cas => {
                self.chooser.load_data(atomic.size, lrid, data)
            }
            DataAccess::Atomic(atomic) if reported && requested => {
                self.chooser.atomic_data(atomic.size, lrid, data)
            }
            // Reading reduced-split-packets-are-unified: the packet waited for its data. An error has none.
            DataAccess::Load(load) if !reported && options.no_address && data.is_some() => {
                self.whole(&load, false, data)
            }
            DataAccess::Atomic(atomic) if !reported && options.no_address => match data {
                Some(data) => self.whole_atomic(&atomic, data),
                None => return,
            },
            // The options changed in between, and no packet reports this any more.
            _ => return,
        };
        self.send(&packet, send);
    }

    fn whole(&mut self, access: &MemoryAccess, store: bool, data: Option<u128>) -> DataPacket {
        let options = self.chooser.fields.options;
        self.chooser.transfer(&Whole {
            store,
            size: access.size,
            multi: access.multi,
            address: (!options.no_address).then_some(access.address.0),
            data: data.filter(|_| !options.no_data),
        })
    }

    fn whole_atomic(&mut self, atomic: &AtomicAccess, data: u128) -> DataPacket {
        let options = self.chooser.fields.options;
        let address = (!options.no_address).then_some(atomic.address);
        let data = (atomic.op != AtomicOperation::CompareAndSwapFailure).then_some(data);
        self.chooser.atomic(
            atomic,
            address.map(u64::from),
            (!options.no_data).then_some((atomic.operand, data)),
        )
    }

    /// Whether the packet went out.
    fn send(&mut self, packet: &DataPacket, send: &mut dyn FnMut(&DataPacket) -> bool) -> bool {
        let sent = self.takes && send(packet);
        self.lost |= !sent;
        sent
    }
}

fn split_lrid(access: &DataAccess) -> Option<u16> {
    match access {
        DataAccess::Load(load) => load.lrid,
        DataAccess::Atomic(atomic) => atomic.lrid,
        DataAccess::Store(_) | DataAccess::Csr(_) => None,
    }
}
