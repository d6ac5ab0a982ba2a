//! Bytes -> packets.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::{Fault, FaultClass, Place, Refusal};

use super::automaton::Automaton;
use super::fast_path;
use super::listener::Listener;
use super::records::Record;

/// Reads the packets of one stream, chunk by chunk.
///
/// Its state is small and of fixed size; nothing is allocated.
#[derive(Clone, Debug)]
pub struct PacketReader {
    automaton: Automaton,
    bare_port: bool,
    /// TRACECTL of a record whose TRACEDATA is still to come.
    control: Option<u8>,
    fast_path: bool,
}

impl PacketReader {
    /// At the start of a stream.
    ///
    /// # Errors
    ///
    /// When no macrocell has these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        let (automaton, bare_port) = (Automaton::new(parameters), parameters.bare_port);
        Ok(Self { automaton, bare_port, control: None, fast_path: true })
    }

    /// The same reader, but it reads every packet byte by byte, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { fast_path: false, ..self }
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.automaton.reset();
        self.control = None;
    }

    /// Consumes the next bytes of the stream.
    pub fn push<L: Listener + ?Sized>(&mut self, chunk: &[u8], listener: &mut L) {
        if self.bare_port {
            for byte in chunk {
                self.pin_byte(*byte, listener);
            }
        } else {
            self.bytes(chunk, listener);
        }
    }

    /// The stream ends here.
    pub fn finish<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let cut_packet = self.automaton.finish(listener);
        let Automaton { index, offset, .. } = self.automaton;
        let cut_record = self.control.take().map(|_| {
            let place = Place { packet: index, byte: offset - 1, bit: 0 };
            Fault::new(FaultClass::Truncated, place)
        });
        listener.end(Place { packet: index, byte: offset, bit: 0 }, cut_record.as_ref(), cut_packet);
    }

    /// A byte of a record of a bare port. Spec: ETM3-MISC-007.
    fn pin_byte<L: Listener + ?Sized>(&mut self, byte: u8, listener: &mut L) {
        let Some(control) = self.control.take() else {
            self.control = Some(byte);
            self.automaton.offset += 1;
            return;
        };
        match Record::new(control, byte) {
            Record::Trace(byte) => {
                self.bytes(&[byte], listener);
                return;
            }
            Record::Trigger => {
                let Automaton { index, offset, .. } = self.automaton;
                listener.trigger(Place { packet: index, byte: offset - 1, bit: 0 });
            }
            Record::Nothing => {}
            Record::Malformed => self.automaton.lose_record(listener),
        }
        self.automaton.offset += 1;
    }

    fn bytes<L: Listener + ?Sized>(&mut self, mut chunk: &[u8], listener: &mut L) {
        // The fast path names no fields.
        let fast_path = self.fast_path && !L::TAKES_FIELDS;
        while !chunk.is_empty() {
            if fast_path && self.automaton.is_between_packets() {
                chunk = fast_path::packets(&mut self.automaton, chunk, listener);
            }
            chunk = self.automaton.next(chunk, listener);
        }
    }
}
