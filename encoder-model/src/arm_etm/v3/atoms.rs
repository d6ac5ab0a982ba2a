//! Atoms to P-headers.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::Packet;

use self::Atom::{E, N, W};

/// What a P-header carries (7.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// An instruction whose condition passed.
    E,
    /// An instruction whose condition failed.
    N,
    /// A cycle.
    W,
}

/// The longest string of atoms that one P-header holds: (W E) x 7, W N, or E x 15, N.
const LONGEST: usize = 16;

/// Atoms that no P-header carries yet, oldest first. They always are the beginning of what one P-header can hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingAtoms {
    atoms: [Atom; LONGEST + 1],
    count: usize,
    cycle_accurate: bool,
    pack: bool,
}

/// A P-header for the first `atoms` pending atoms.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    atoms: usize,
    header: u8,
}

impl PendingAtoms {
    pub(super) const fn new(cycle_accurate: bool, pack: bool) -> Self {
        Self { atoms: [E; LONGEST + 1], count: 0, cycle_accurate, pack }
    }

    /// Adds an atom. P-headers that it can no longer be part of are output.
    pub(super) fn push(&mut self, atom: Atom, packets: &mut Vec<Packet>) {
        if let Some(slot) = self.atoms.get_mut(self.count) {
            *slot = atom;
            self.count += 1;
        }
        if !self.pack {
            self.flush(packets);
        }
        while !self.can_wait() {
            self.emit(packets);
        }
    }

    /// Everything goes out. Spec: ETM3-ENC-001 (7.3).
    pub(super) fn flush(&mut self, packets: &mut Vec<Packet>) {
        while self.count > 0 {
            self.emit(packets);
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn pending(&self) -> &[Atom] {
        self.atoms.get(..self.count).unwrap_or_default()
    }

    fn can_wait(&self) -> bool {
        match (self.pending(), self.cycle_accurate) {
            ([], _) => true,
            (atoms, false) => plain_begins(atoms),
            (atoms, true) => accurate_begins(atoms),
        }
    }

    /// The P-header for as many atoms as possible; of several the one that stands first in 7.3.1.
    fn emit(&mut self, packets: &mut Vec<Packet>) {
        let atoms = self.pending();
        let Fit { atoms: packed, header } = match (self.pack, self.cycle_accurate) {
            (true, false) => plain_fit(atoms),
            (true, true) => accurate_fit(atoms),
            (false, cycle_accurate) => single(atoms, cycle_accurate),
        };
        packets.push(Packet::PHeader(header));
        // Every atom has a P-header of its own: `packed` is at least 1.
        self.atoms.copy_within(packed..self.count, 0);
        self.count -= packed;
    }
}

/// A header of its own. Spec: ETM3-PH-001, 007, 008 (7.3.1).
fn single(atoms: &[Atom], cycle_accurate: bool) -> Fit {
    let header = match (atoms.first(), cycle_accurate) {
        (Some(E), false) => 0x84,
        (Some(N), false) => 0xc0,
        (Some(E), true) => 0x92,
        (Some(N), true) => 0x96,
        // A single W. Without cycle-accuracy there is none.
        _ => 0xa0,
    };
    Fit { atoms: 1, header }
}

fn leading(atoms: &[Atom], atom: Atom, most: usize) -> usize {
    atoms.iter().take(most).take_while(|&&other| other == atom).count()
}

/// Format 1, `1 N EEEE 00`: E x EEEE, then N. Spec: ETM3-PH-001 (7.3.1).
fn plain_run(atoms: &[Atom]) -> Fit {
    let executed = leading(atoms, E, 15);
    let skipped = usize::from(atoms.get(executed) == Some(&N));
    Fit { atoms: executed + skipped, header: 0x80 | (skipped as u8) << 6 | (executed as u8) << 2 }
}

/// Format 2, `1000 FF 10`: any two. Spec: ETM3-PH-002 (7.3.1).
fn plain_fit(atoms: &[Atom]) -> Fit {
    let run = plain_run(atoms);
    match atoms {
        [first, second, ..] if run.atoms < 2 => Fit { atoms: 2, header: pair(*first, *second) },
        _ => run,
    }
}

/// Whether all atoms may go into one P-header.
fn plain_begins(atoms: &[Atom]) -> bool {
    atoms.len() <= 2 || plain_run(atoms).atoms == atoms.len()
}

const fn pair(first: Atom, second: Atom) -> u8 {
    0x82 | (matches!(first, N) as u8) << 3 | (matches!(second, N) as u8) << 2
}

/// Format 1, `1 N 0 EEE 00`: (W E) x EEE, then W N. Spec: ETM3-PH-005 (7.3.1).
fn accurate_run(atoms: &[Atom]) -> Fit {
    let executed = atoms.chunks(2).take(7).take_while(|&pair| pair == [W, E]).count();
    let skipped = usize::from(atoms.get(2 * executed..2 * executed + 2) == Some(&[W, N][..]));
    Fit { atoms: 2 * (executed + skipped), header: 0x80 | (skipped as u8) << 6 | (executed as u8) << 2 }
}

/// Format 3, `1 E 1 WWW 00`: W x (WWW + 1), then E. Spec: ETM3-PH-007 (7.3.1).
fn accurate_wait(atoms: &[Atom]) -> Fit {
    let cycles = leading(atoms, W, 8);
    if cycles == 0 {
        return Fit::default();
    }
    let executed = usize::from(atoms.get(cycles) == Some(&E));
    Fit { atoms: cycles + executed, header: 0xa0 | (executed as u8) << 6 | (cycles as u8 - 1) << 2 }
}

/// Format 2, `1000 FF 10`: W and any two (ETM3-PH-006); format 4, `10010 F 10`: one without W (ETM3-PH-008).
fn accurate_fit(atoms: &[Atom]) -> Fit {
    let two = match atoms {
        [W, first @ (E | N), second @ (E | N), ..] => Fit { atoms: 3, header: pair(*first, *second) },
        _ => Fit::default(),
    };
    [accurate_wait(atoms), two]
        .into_iter()
        .fold(accurate_run(atoms), |best, fit| if fit.atoms > best.atoms { fit } else { best })
        .or_single(atoms)
}

impl Fit {
    fn or_single(self, atoms: &[Atom]) -> Self {
        if self.atoms > 0 { self } else { single(atoms, true) }
    }
}

/// Whether all atoms may go into one P-header.
fn accurate_begins(atoms: &[Atom]) -> bool {
    let run = accurate_run(atoms);
    let half = run.header & 1 << 6 == 0 && atoms.get(run.atoms..) == Some(&[W][..]);
    half || accurate_fit(atoms).atoms == atoms.len() || matches!(atoms, [E | N])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(atoms: &[Atom], cycle_accurate: bool, pack: bool) -> Vec<u8> {
        let mut pending = PendingAtoms::new(cycle_accurate, pack);
        let mut packets = Vec::new();
        atoms.iter().for_each(|&atom| pending.push(atom, &mut packets));
        pending.flush(&mut packets);
        packets.iter().map(|packet| if let Packet::PHeader(header) = packet { *header } else { 0 }).collect()
    }

    /// E3-05.
    #[test]
    fn plain_headers() {
        assert_eq!(headers(&[E, E, N], false, true), [0xc8]);
        assert_eq!(headers(&[N, E], false, true), [0x8a]);
        assert_eq!(headers(&[E, E], false, true), [0x88]);
        assert_eq!(headers(&[N, N], false, true), [0x8e]);
        assert_eq!(headers(&[E; 16], false, true), [0xbc, 0x84]);
        let mut most = [E; 16];
        most[15] = N;
        assert_eq!(headers(&most, false, true), [0xfc]);
        assert_eq!(headers(&[N, E, E, N], false, true), [0x8a, 0xc4]);
        assert_eq!(headers(&[E, N], false, false), [0x84, 0xc0]);
    }

    /// E3-02, E3-05; 23 cycles as `BC BC B4 84` would also be `BC BC F8`, which is shorter.
    #[test]
    fn cycle_accurate_headers() {
        assert_eq!(headers(&[W, E], true, true), [0x84]);
        assert_eq!(headers(&[W, N], true, true), [0xc0]);
        assert_eq!(headers(&[W, E, N], true, true), [0x86]);
        assert_eq!(headers(&[W; 8], true, true), [0xbc]);
        assert_eq!(headers(&[E], true, true), [0x92]);
        assert_eq!(headers(&[N], true, true), [0x96]);
        let mut long = [W; 24];
        long[23] = E;
        assert_eq!(headers(&long, true, true), [0xbc, 0xbc, 0xf8]);
        let runs = [[W, E]; 7].concat();
        assert_eq!(headers(&[&runs[..], &[W, N]].concat(), true, true), [0xdc]);
        assert_eq!(headers(&[&runs[..], &[W, E]].concat(), true, true), [0x9c, 0x84]);
        assert_eq!(headers(&[W, E, W], true, true), [0x84, 0xa0]);
        assert_eq!(headers(&[W, W, E, W, E], true, true), [0xe4, 0x84]);
        assert_eq!(headers(&[W, E, E], true, false), [0xa0, 0x92, 0x92]);
    }
}
