//! P-header -> atoms.

/// The atoms of a P-header: `leading` W, then `count` atoms E or N, each but the first after `between` W.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Atoms {
    pub(super) leading: u8,
    pub(super) between: u8,
    pub(super) count: u8,
    /// Bit i: the i-th one is E.
    pub(super) executed: u16,
}

impl Atoms {
    const fn new(leading: u8, between: u8, count: u8, executed: u16) -> Self {
        Self { leading, between, count, executed }
    }

    /// Of a P-header that is not reserved. Spec: ETM3-PH-001 to 009 (7.3.1).
    const fn of(header: u8, cycle_accurate: bool) -> Self {
        let (first, second) = (header >> 3 & 1 ^ 1, header >> 2 & 1 ^ 1);
        let pair = first as u16 | (second as u16) << 1;
        let not_executed = header >> 6 & 1;
        match (header & 3, cycle_accurate) {
            // Format 2; format 4 of cycle-accurate mode.
            (2, false) => Self::new(0, 0, 2, pair),
            (2, true) if header & 0x10 == 0 => Self::new(1, 0, 2, pair),
            (2, true) => Self::new(0, 0, 1, second as u16),
            // Format 1.
            (_, false) => {
                let executed = header >> 2 & 0xf;
                Self::new(0, 0, executed + not_executed, (1 << executed) - 1)
            }
            // Formats 0, 1 and 3.
            (_, true) if header == 0x80 => Self::new(1, 0, 0, 0),
            (_, true) if header & 0x20 == 0 => {
                let executed = header >> 2 & 7;
                Self::new(1, 1, executed + not_executed, (1 << executed) - 1)
            }
            (_, true) => Self::new((header >> 2 & 7) + 1, 0, header >> 6 & 1, 1),
        }
    }
}

/// The atoms of every P-header in one mode.
#[derive(Clone, Debug)]
pub(super) struct AtomTable([Atoms; Self::CODES]);

impl AtomTable {
    /// Even bytes from 0x80 on.
    const CODES: usize = 64;

    pub(super) fn new(cycle_accurate: bool) -> Self {
        let mut table = [Atoms::default(); Self::CODES];
        for (header, atoms) in (0x80..=u8::MAX).step_by(2).zip(&mut table) {
            *atoms = Atoms::of(header, cycle_accurate);
        }
        Self(table)
    }

    #[inline]
    pub(super) fn of(&self, header: u8) -> Atoms {
        let Self(table) = self;
        table[usize::from(header >> 1) & (Self::CODES - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn expanded(header: u8, cycle_accurate: bool) -> String {
        let Atoms { leading, between, count, executed } = AtomTable::new(cycle_accurate).of(header);
        let mut text: String = "W".repeat(leading.into());
        for atom in 0..count {
            if atom > 0 {
                text.extend(core::iter::repeat_n('W', between.into()));
            }
            text.push(if executed >> atom & 1 == 1 { 'E' } else { 'N' });
        }
        text
    }

    #[test]
    fn e3_05_p_headers() {
        for (header, atoms) in [
            (0xc8, "EEN"),
            (0x8a, "NE"),
            (0x82, "EE"),
            (0x86, "EN"),
            (0x8e, "NN"),
            (0xfc, "EEEEEEEEEEEEEEEN"),
            (0xc0, "N"),
            (0x80, ""),
        ] {
            assert_eq!(expanded(header, false), atoms, "{header:#04x}");
        }
        for (header, atoms) in [
            (0x84, "WE"),
            (0xc0, "WN"),
            (0xdc, "WEWEWEWEWEWEWEWN"),
            (0x86, "WEN"),
            (0xbc, "WWWWWWWW"),
            (0xa0, "W"),
            (0xe0, "WE"),
            (0xe8, "WWWE"),
            (0x92, "E"),
            (0x96, "N"),
            (0x80, "W"),
        ] {
            assert_eq!(expanded(header, true), atoms, "{header:#04x}");
        }
    }
}
