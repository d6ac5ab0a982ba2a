//! ARM FEAT_ETE and ETMv4, the instruction trace packets: the words of the specification.

mod event;
mod field;
mod packet;
mod parameters;

pub use crate::arm_etm::v3::VariableField;
pub use event::{Event, Outcome, TimestampOf, exception_name, exception_name_m_profile};
pub use field::{AddressField, Atoms, ConditionalResult, ContextField, ParseAtomsError, SubIsa};
pub use packet::Packet;
pub use parameters::{ConditionalTrace, Parameters, QElements, Version};
