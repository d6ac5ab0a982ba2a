//! Where the packets of instruction and data trace go (EN 3.3).

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{Encapsulation, Idle, Packet, Parameters, Policy};

use super::bits::Payload;
use super::encapsulation::{Trace, TraceKind};
use super::transport::Transport;
use super::unencodable::Defect;

/// The transport, with a second source in it for data trace that has a `srcID` of its own.
///
/// Spec: RVET-DATA-001 (ET 8).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes {
    transport: Transport,
    data: Option<Transport>,
}

impl Lanes {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Result<Self, Refusal> {
        let source = parameters.data.and_then(|data| data.source);
        let data = source.map(|source| {
            let encapsulation = match parameters.encapsulation {
                Encapsulation::Normal(mut normal) => {
                    normal.src_id = source;
                    Encapsulation::Normal(normal)
                }
                Encapsulation::Siemens(mut siemens) => {
                    siemens.source = source;
                    Encapsulation::Siemens(siemens)
                }
                other => other,
            };
            // Null packets belong to the stream, which the instruction trace continues.
            Transport::new(&encapsulation, &Policy { idle: Idle::default(), ..policy.clone() })
        });
        Ok(Self { transport: Transport::new(&parameters.encapsulation, policy)?, data: data.transpose()? })
    }

    /// Most payload bits of a packet.
    pub(super) const fn most_payload_bits(&self) -> u32 {
        self.transport.framing().most_payload_bits()
    }

    /// Sends the payload of `packet`.
    ///
    /// # Errors
    ///
    /// Those of [`Transport::send`]; then nothing is sent.
    pub(super) fn send(
        &mut self,
        packet: &Packet,
        payload: &Payload,
        timestamp: Option<u64>,
        wire: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Defect> {
        let is_data = matches!(packet, Packet::Data(_));
        let (transport, own) = match &mut self.data {
            Some(own) if is_data => {
                own.share_blocks(&self.transport);
                (own, true)
            }
            _ => (&mut self.transport, false),
        };
        // A source of its own needs no type.
        let kind =
            if is_data && transport.framing().has_types() { TraceKind::Data } else { TraceKind::Instruction };
        if is_data && kind == TraceKind::Instruction && !own {
            return Err(Defect::Unexpected);
        }
        let trace = Trace { payload: payload.bytes(), bits: payload.bits(), kind, timestamp };
        transport.send(&trace, wire)?;
        if let Some(data) = self.data.filter(|_| own) {
            self.transport.share_blocks(&data);
        }
        Ok(())
    }
}
