//! Data trace: the vocabulary of ET 8 and of the data interface of ET 4.4.

mod access;
mod event;
mod packet;
mod parameters;
mod policy;
mod value;

pub use access::{AtomicAccess, CsrAccess, DataAccess, DataResponse, MemoryAccess};
pub use event::DataEvent;
pub use packet::{
    Atomic, AtomicData, AtomicOperation, AtomicRequest, Csr, CsrOperation, DataPacket, LoadData, LoadRequest,
    Transfer,
};
pub use parameters::{DataLayout, DataOption, DataOptions, DataParameters, OfferedCompression};
pub use policy::{DataCompression, DataLength, DataPolicy};
pub use value::ReportedData;

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(value: &u8) -> bool {
    *value == 0
}
