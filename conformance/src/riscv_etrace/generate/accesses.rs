//! Random data accesses of a random execution.

use traceproof_vectors::riscv_etrace::{
    AtomicAccess, AtomicOperation, CsrAccess, CsrOperation, DataAccess, DataLayout, DataOptions,
    DataParameters, DataResponse, MemoryAccess, Step, Stimulus,
};

use crate::generate::Entropy;
use traceproof_vectors::Address;

/// What may happen at the data interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataHappenings {
    /// The constants of data trace.
    pub(super) parameters: DataParameters,
    /// log2 of the bytes of a CSR.
    pub(super) register: u8,
    /// Out of 256 retirements, how many have an access.
    pub(super) accesses: u8,
    /// Out of 256 retirements, how many have a response to an earlier split access, if there is one.
    pub(super) responses: u8,
    /// Out of 256 steps, how many change the options, or switch data trace on or off.
    pub(super) changes: u8,
    /// Out of 256 steps, how many begin or end the loss of data packets.
    pub(super) losses: u8,
    /// Out of 256 accesses, how many do not pass the filters.
    pub(super) filtered: u8,
}

/// The data interface over an execution.
#[derive(Clone, Debug)]
pub(super) struct Accesses {
    happenings: DataHappenings,
    /// Split accesses without response.
    in_flight: Vec<u16>,
    /// Neighbourhood of the accesses, so that differences are worth it.
    address: u64,
    /// Something like the latest value.
    value: u128,
    enabled: bool,
    options: DataOptions,
    transport: bool,
}

impl Accesses {
    pub(super) fn new(happenings: DataHappenings, entropy: &mut Entropy<'_>) -> Self {
        Self {
            happenings,
            in_flight: Vec::new(),
            address: entropy.word(),
            value: u128::from(entropy.word()),
            enabled: false,
            options: happenings.parameters.options,
            transport: true,
        }
    }

    /// What the registers of data trace are set to before the first instruction.
    pub(super) fn begin(&mut self, entropy: &mut Entropy<'_>, steps: &mut Vec<Step>) {
        if entropy.chance(128) {
            self.change_options(entropy, steps);
        }
        self.switch(true, steps);
    }

    /// Whether it is time for a [`change`](Self::change).
    pub(super) fn wants_change(&self, entropy: &mut Entropy<'_>) -> bool {
        self.happenings.changes > 0 && entropy.chance(self.happenings.changes)
    }

    /// Other options, or data trace off or on. Everything in flight is answered before: an access is never reported by
    /// two packet variants.
    pub(super) fn change(&mut self, entropy: &mut Entropy<'_>, steps: &mut Vec<Step>) {
        while !self.in_flight.is_empty() {
            self.respond(entropy, steps);
        }
        if entropy.chance(160) {
            self.change_options(entropy, steps);
        } else {
            self.switch(!self.enabled, steps);
        }
    }

    fn change_options(&mut self, entropy: &mut Entropy<'_>, steps: &mut Vec<Step>) {
        let variant = entropy.below(3);
        self.options = DataOptions {
            no_address: variant == 1,
            no_data: variant == 2,
            full_address: entropy.chance(64),
            full_data: entropy.chance(64),
        };
        steps.push(Step::Stimulus(Stimulus::DataOptions(self.options)));
    }

    fn switch(&mut self, enabled: bool, steps: &mut Vec<Step>) {
        self.enabled = enabled;
        steps.push(Step::Stimulus(Stimulus::DataEnable(enabled)));
    }

    /// The data interface at the retirement of an instruction.
    pub(super) fn append(&mut self, entropy: &mut Entropy<'_>, steps: &mut Vec<Step>) {
        if self.happenings.losses > 0 && entropy.chance(self.happenings.losses) {
            self.transport = !self.transport;
            steps.push(Step::Stimulus(Stimulus::DataTransport(self.transport)));
        }
        if entropy.chance(self.happenings.accesses) {
            let access = self.access(entropy);
            steps.push(Step::Stimulus(Stimulus::Data(Box::new(access))));
        }
        while !self.in_flight.is_empty() && entropy.chance(self.happenings.responses) {
            self.respond(entropy, steps);
        }
    }

    fn access(&mut self, entropy: &mut Entropy<'_>) -> DataAccess {
        let DataParameters { dtype_width_p, .. } = self.happenings.parameters;
        match (entropy.below(8), dtype_width_p) {
            (5, 3 | 4) => DataAccess::Csr(self.csr(entropy)),
            (6 | 7, 4) => self.atomic(entropy),
            (3 | 4 | 7, _) => DataAccess::Store(self.memory(entropy, None)),
            _ => {
                let lrid = self.number(entropy);
                if self.happenings.parameters.split && lrid.is_none() {
                    // Every number is in flight (RVET-DATA-026).
                    return DataAccess::Store(self.memory(entropy, None));
                }
                DataAccess::Load(self.memory(entropy, lrid))
            }
        }
    }

    fn memory(&mut self, entropy: &mut Entropy<'_>, lrid: Option<u16>) -> MemoryAccess {
        let size = self.size(entropy);
        let aligned = !entropy.chance(64);
        let DataParameters { layout, dtype_width_p, .. } = self.happenings.parameters;
        let tells_multi = layout == DataLayout::MmaCas && dtype_width_p >= 2;
        MemoryAccess {
            address: Address(self.address(entropy, size, aligned)),
            size,
            data: if lrid.is_some() { 0 } else { self.value(entropy, size) },
            lrid,
            multi: tells_multi && entropy.chance(64),
            filtered: self.filtered(entropy),
        }
    }

    fn atomic(&mut self, entropy: &mut Entropy<'_>) -> DataAccess {
        let size = self.size(entropy);
        let DataParameters { layout, split, .. } = self.happenings.parameters;
        // A failed compare-and-swap has no packet of version 2.0, and none of a split interface.
        let compares = layout == DataLayout::MmaCas && !split;
        let op = if compares && entropy.chance(96) {
            AtomicOperation::CompareAndSwapFailure
        } else {
            entropy.pick(&AtomicOperation::ALL[1..])
        };
        let fails = op == AtomicOperation::ConditionalStoreFailure;
        let lrid = if fails { None } else { self.number(entropy) };
        if split && lrid.is_none() && !fails {
            return DataAccess::Store(self.memory(entropy, None));
        }
        DataAccess::Atomic(AtomicAccess {
            op,
            address: Address(self.address(entropy, size, true)),
            size,
            operand: self.value(entropy, size),
            data: if lrid.is_some() { 0 } else { self.value(entropy, size) },
            lrid,
            filtered: self.filtered(entropy),
        })
    }

    fn csr(&mut self, entropy: &mut Entropy<'_>) -> CsrAccess {
        let register = self.happenings.register;
        let near = entropy.pick(&[0x300, 0x340, 0xf14, 0xfff, 0x001]);
        CsrAccess {
            op: entropy.pick(&CsrOperation::ALL),
            address: (near + entropy.below(4) as u64) & 0xfff,
            operand: self.value(entropy, register),
            data: self.value(entropy, register),
            filtered: self.filtered(entropy),
        }
    }

    /// A number that is not in flight, on a split interface.
    fn number(&mut self, entropy: &mut Entropy<'_>) -> Option<u16> {
        let DataParameters { split, lrid_width_p, .. } = self.happenings.parameters;
        if !split {
            return None;
        }
        let first = entropy.below(1 << lrid_width_p.min(6)) as u16;
        let numbers = 1_u16 << lrid_width_p;
        let free = (0..numbers)
            .map(|offset| (first + offset) % numbers)
            .find(|number| !self.in_flight.contains(number))?;
        self.in_flight.push(free);
        Some(free)
    }

    fn respond(&mut self, entropy: &mut Entropy<'_>, steps: &mut Vec<Step>) {
        let index = entropy.below(self.in_flight.len());
        let lrid = self.in_flight.swap_remove(index);
        // As wide as the bus: the access takes the low bytes.
        let value = self.value(entropy, self.happenings.parameters.max_size());
        let data = (!entropy.chance(32)).then_some(value);
        steps.push(Step::Stimulus(Stimulus::Response(DataResponse { lrid, data })));
    }

    fn size(&self, entropy: &mut Entropy<'_>) -> u8 {
        let largest = self.happenings.parameters.max_size();
        if entropy.chance(128) { entropy.below(usize::from(largest) + 1) as u8 } else { largest.min(2) }
    }

    fn address(&mut self, entropy: &mut Entropy<'_>, size: u8, aligned: bool) -> u64 {
        let offset = entropy.pick(&[4, 1, -4, 8, 2, -1, -16, 256]);
        self.address =
            if entropy.chance(24) { entropy.word() } else { self.address.wrapping_add_signed(offset) };
        self.address &= self.happenings.parameters.address_mask();
        if aligned { self.address & !((1 << size) - 1) } else { self.address }
    }

    fn value(&mut self, entropy: &mut Entropy<'_>, size: u8) -> u128 {
        let bits = 8_u32 << size;
        let mask = u128::MAX >> (128 - bits);
        self.value = match entropy.below(8) {
            0 => u128::from(entropy.byte()),
            1 => !u128::from(entropy.byte()),
            2 => self.value ^ (1 << entropy.below(128)),
            3 => self.value.wrapping_add(u128::from(entropy.byte())),
            4 => self.value.wrapping_sub(u128::from(entropy.byte())),
            5 => u128::from(entropy.word()) << 64 | u128::from(entropy.word()),
            6 => 1 << entropy.below(128),
            _ => self.value,
        };
        self.value & mask
    }

    fn filtered(&self, entropy: &mut Entropy<'_>) -> bool {
        self.happenings.filtered > 0 && entropy.chance(self.happenings.filtered)
    }
}
