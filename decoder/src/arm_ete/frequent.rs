//! Code that only saves time: packets that lie whole in a chunk and are frequent, read from eight bytes at once.
//!
//! Without it a reader reports the same: see
//! [`PacketReader::without_fast_path`](super::PacketReader::without_fast_path).

use alloc::boxed::Box;
use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::{AddressField, ContextField, Packet, SubIsa, VariableField};
use traceproof_vectors::{Address32, Place};

use super::headers::{AddressForm, Carrier, Header};
use super::layout::Layout;
use super::listener::Listener;
use super::parse::{self, Start};

/// A header and the seven bytes after it, the header in the low byte.
type Window = u64;

/// What is known of the headers beforehand. Nothing is allocated after that.
#[derive(Clone, Debug)]
pub(super) struct Frequent {
    shapes: Box<[Shape; 256]>,
    /// Those of [`Shape::Whole`].
    packets: Box<[Packet; 256]>,
    commopt: bool,
}

/// What follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Nothing.
    Whole,
    /// Address bytes, fewer than eight.
    Address(Form),
    /// Four address bytes, context bytes.
    AddressAndContext(Form),
    Context,
    /// An information byte, a target address.
    Exception,
    CycleCount1,
    Commit,
    /// Another packet, or none.
    Other,
}

/// The form of an address that is no exact match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    sub_isa: SubIsa,
    /// 32 bits.
    is_long: bool,
}

impl Shape {
    fn of(header: u8, layout: &Layout) -> Self {
        match layout.header(header) {
            Header::TargetAddress => match AddressForm::of(header) {
                Some((Carrier::Target, AddressForm::Short(sub_isa))) => {
                    Self::Address(Form { sub_isa, is_long: false })
                }
                Some((Carrier::Target, AddressForm::Bits32(sub_isa))) => {
                    Self::Address(Form { sub_isa, is_long: true })
                }
                Some((Carrier::TargetWithContext, AddressForm::Bits32(sub_isa))) => {
                    Self::AddressAndContext(Form { sub_isa, is_long: true })
                }
                _ => Self::Other,
            },
            Header::Context => Self::Context,
            Header::Exception if layout.is_ete => Self::Exception,
            Header::CycleCount1 => Self::CycleCount1,
            Header::Commit => Self::Commit,
            _ => Self::Other,
        }
    }
}

impl Frequent {
    pub(super) fn new(layout: &Layout) -> Self {
        let mut shapes = Box::new([Shape::Other; 256]);
        let mut packets = Box::new([Packet::Ignore; 256]);
        for (header, (shape, packet)) in (0..=u8::MAX).zip(shapes.iter_mut().zip(packets.iter_mut())) {
            match parse::start(layout, &[header], &mut ()) {
                Start::Packet(whole, _) => (*shape, *packet) = (Shape::Whole, whole),
                _ => *shape = Shape::of(header, layout),
            }
        }
        Self { shapes, packets, commopt: layout.commopt }
    }

    /// Reports the packets at the start of `bytes` up to the first one that is of another kind or in the last eight
    /// bytes. `place` is that of the first packet, and then that of the next one. `Break`: the listener does not take
    /// the packet there.
    #[inline]
    pub(super) fn packets<L: Listener + ?Sized>(
        &self,
        bytes: &[u8],
        place: &mut Place,
        listener: &mut L,
    ) -> ControlFlow<()> {
        let (base, mut at, mut index) = (place.byte, 0, place.packet);
        let mut flow = ControlFlow::Continue(());
        while let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let here = Place { packet: index, byte: base + at as u64, bit: 0 };
            let window = Window::from_le_bytes(*window);
            let header = usize::from(window as u8);
            let length = match self.shapes[header] {
                Shape::Whole => {
                    flow = listener.packet(here, &self.packets[header]);
                    1
                }
                Shape::Address(form) => {
                    let (address, length) = address(form, window);
                    flow = listener.packet(here, &Packet::TargetAddress { address, context: None });
                    length
                }
                shape => {
                    let Some(length) =
                        self.longer(shape, window, |packet| flow = listener.packet(here, packet))
                    else {
                        break;
                    };
                    length
                }
            };
            if flow.is_break() {
                break;
            }
            at += length;
            index += 1;
        }
        (place.byte, place.packet) = (base + at as u64, index);
        flow
    }

    /// Reports a packet that is not too long, and gives its length.
    ///
    /// It goes by reference: a copy takes as long as reading one.
    #[inline]
    fn longer(&self, shape: Shape, window: Window, mut report: impl FnMut(&Packet)) -> Option<usize> {
        match shape {
            Shape::CycleCount1 => self.cycle_count(window, report),
            Shape::Commit => {
                let (count, length) = field(window >> 8).filter(|(count, _)| count.bits != 0)?;
                report(&Packet::Commit(count));
                Some(1 + length)
            }
            Shape::Context => {
                report(&Packet::Context(context(window >> 8)?));
                Some(2)
            }
            Shape::AddressAndContext(form) => {
                let (address, length) = address(form, window);
                let context = Some(context(window >> (8 * length))?);
                report(&Packet::TargetAddress { address, context });
                Some(length + 1)
            }
            Shape::Exception => self.exception(window, report),
            Shape::Whole | Shape::Address(_) | Shape::Other => None,
        }
    }

    /// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-004.
    #[inline]
    fn exception(&self, window: Window, mut report: impl FnMut(&Packet)) -> Option<usize> {
        let information = (window >> 8) as u8;
        let with_target = match information & 0x41 {
            0x01 => false,
            0x40 => true,
            _ => return None,
        };
        let Shape::Address(form) = self.shapes[usize::from((window >> 16) as u8)] else { return None };
        let number = information >> 1 & 0x1f;
        // The failure of a transaction has no address.
        if number == 0x18 {
            return None;
        }
        let (address, length) = address(form, window >> 16);
        let (address, reserved) = (Some(address), information & 0x80 != 0);
        report(&Packet::Exception { number, with_target, reserved, address, context: None });
        Some(2 + length)
    }

    /// Spec: ETE-PKT-CC1-001.
    #[inline]
    fn cycle_count(&self, window: Window, mut report: impl FnMut(&Packet)) -> Option<usize> {
        let mut length = 1;
        let mut next = |present: bool| {
            if !present {
                return Some(None);
            }
            let (field, bytes) = field(window >> (8 * length))?;
            length += bytes;
            Some(Some(field))
        };
        let (commit, count) = (next(!self.commopt)?, next(window & 1 == 0)?);
        report(&Packet::CycleCount1 { commit, count });
        Some(length)
    }
}

/// An address of one, two or four bytes after a header, and the length with the header. Whether there are one or two
/// cannot be predicted, so nothing branches on it.
///
/// Spec: ETE-PKT-ADR-001, ETE-PKT-ADR-002, ETE-PKT-ADR-006.
#[inline]
fn address(Form { sub_isa, is_long }: Form, window: Window) -> (AddressField, usize) {
    let bytes = (window >> 8) as u32;
    // Only the bits that travel: 7 of the first byte, with IS0 also 7 of the second one if there are four.
    let unaligned = match sub_isa {
        SubIsa::Is0 => 2,
        SubIsa::Is1 => 1,
    };
    let first = (bytes & 0x7f) << unaligned;
    if is_long {
        let (second, reserved) = match sub_isa {
            SubIsa::Is0 => ((bytes >> 8 & 0x7f) << 9, bytes >> 7 & 1 | bytes >> 14 & 2),
            SubIsa::Is1 => (bytes & 0xff00, bytes >> 7 & 1),
        };
        let bits = Address32(first | second | bytes & 0xffff_0000);
        (AddressField::Bits32 { sub_isa, bits, reserved: reserved as u8 }, 5)
    } else {
        let more = bytes >> 7 & 1;
        let second = (bytes & 0xff00 & 0_u32.wrapping_sub(more)) >> 1 << unaligned;
        (
            AddressField::Short { sub_isa, bits: Address32(first | second), bytes: 1 + more as u8 },
            2 + more as usize,
        )
    }
}

/// A context without VMID and Context ID.
#[inline]
fn context(window: Window) -> Option<ContextField> {
    let information = window as u8;
    (information & 0xc0 == 0).then(|| parse::without_values(information))
}

/// A field of one or two bytes that could have more, and how many it has.
///
/// Spec: ETE-PKT-ENC-001.
#[inline]
fn field(window: Window) -> Option<(VariableField, usize)> {
    let more = window >> 7 & 1;
    if window & 0x8080 == 0x8080 {
        return None;
    }
    let second = (window >> 1 & 0x3f80) * more;
    let bits = window & 0x7f | second;
    Some((VariableField { bits, bytes: 1 + more as u8 }, 1 + more as usize))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use traceproof_vectors::Fault;
    use traceproof_vectors::arm_ete::{Parameters, QElements, Version};

    use super::*;

    #[derive(Default)]
    struct Packets(Vec<Packet>);

    impl Listener for Packets {
        fn packet(&mut self, _: Place, packet: &Packet) -> ControlFlow<()> {
            self.0.push(*packet);
            ControlFlow::Continue(())
        }

        fn lost(&mut self, _: &Fault) {}

        fn cut(&mut self, _: &Fault) {}
    }

    /// Every header before every byte: what is read is what the byte reader reads.
    ///
    /// Counted in the header map: packets of one byte are 04; 0A, 0B; 10 to 1F (up to 13 with COMMOPT = 1); 30 to 3F;
    /// 70 to 80; 90 to 92; AF; B0 to B2; C0 to FF. ETMv4 has 05, 07, 08, 20 to 2C, 40 to 46, 48 to 4A, 4C to 4E, but
    /// not 0A, 0B, B0 to B2, and no Q here. Longer ones that are read are 0E, 0F; 2D; 81; 82, 83; 95, 96; 9A, 9B; of
    /// ETE 06.
    #[test]
    fn packets_are_those_of_the_byte_reader() {
        let ete = Parameters { maxspec: 8, q_elements: QElements::Any, ..Parameters::default() };
        let v4 = Parameters::etmv4(Version::Etmv4_3);
        for (parameters, headers) in [
            (Parameters { commopt: false, ..ete.clone() }, 123 + 11),
            (Parameters { commopt: true, ..ete }, 111 + 11),
            (Parameters { commopt: false, ..v4.clone() }, 146 + 10),
            (Parameters { commopt: true, ..v4 }, 134 + 10),
        ] {
            let layout = Layout::new(&parameters);
            let frequent = Frequent::new(&layout);
            let mut read = 0;
            for header in 0..=u8::MAX {
                let mut is_read = false;
                for second in 0..=u8::MAX {
                    for rest in [
                        [0x00, 0x00, 0x00, 0x00, 0x00, 0x00],
                        [0x95, 0x81, 0x7f, 0x20, 0x31, 0x5a],
                        [0x96, 0x7f, 0x95, 0xc0, 0x08, 0x80],
                        [0x9a, 0xff, 0xff, 0xff, 0xff, 0xc4],
                        [0x9b, 0x83, 0x85, 0xa7, 0x39, 0x04],
                        [0x82, 0x01, 0x02, 0x03, 0x04, 0x3b],
                        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
                        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                    ] {
                        let [c, d, e, f, g, h] = rest;
                        let bytes = [header, second, c, d, e, f, g, h];
                        let (mut place, mut found) = (Place::default(), Packets::default());
                        let _ = frequent.packets(&bytes, &mut place, &mut found);
                        let Some(packet) = found.0.pop() else { continue };
                        is_read = true;
                        let expected = parse::start(&layout, &bytes, &mut ());
                        assert_eq!(Start::Packet(packet, place.byte as usize), expected, "{bytes:02x?}");
                        assert_eq!((place.packet, found.0.len()), (1, 0));
                    }
                }
                read += u32::from(is_read);
            }
            assert_eq!(read, headers, "{parameters:?}");
        }
    }
}
