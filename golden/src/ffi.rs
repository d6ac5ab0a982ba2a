//! The C interface. `include/traceproof_golden.h` declares what is here; a test compares them.

#![allow(unsafe_code, reason = "the one module that talks to C")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fs, ptr, slice};

use crate::model::block_of;
use crate::{Golden, GoldenError, Signals};

/// A model and the text of its latest error.
#[allow(non_camel_case_types, reason = "its name in C")]
#[derive(Debug)]
pub struct tp_golden {
    model: Golden,
    error: CString,
}

thread_local! {
    /// Why the latest `open` of this thread failed.
    static OPEN_ERROR: RefCell<CString> = RefCell::default();
}

fn c_text(text: impl ToString) -> CString {
    CString::new(text.to_string().replace('\0', " ")).unwrap_or_default()
}

/// The text of a pointer; null is the empty text.
///
/// # Safety
///
/// The pointer is null or that of a string that ends with a zero.
unsafe fn text_of<'a>(text: *const c_char) -> Result<&'a str, GoldenError> {
    if text.is_null() {
        return Ok("");
    }
    // SAFETY: not null; the caller vouches for the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|error| GoldenError::Unreadable { what: "text", reason: error.to_string() })
}

fn opened(open: impl FnOnce() -> Result<Golden, GoldenError>) -> *mut tp_golden {
    let caught = catch_unwind(AssertUnwindSafe(open));
    let error = match caught {
        Ok(Ok(model)) => return Box::into_raw(Box::new(tp_golden { model, error: CString::default() })),
        Ok(Err(error)) => c_text(error),
        Err(_) => c_text("internal error"),
    };
    OPEN_ERROR.with(|latest| *latest.borrow_mut() = error);
    ptr::null_mut()
}

/// Calls a model; -1 and an error text if that fails.
///
/// # Safety
///
/// The pointer is null or that of an open model that nothing else uses.
unsafe fn call(model: *mut tp_golden, what: impl FnOnce(&mut Golden) -> Result<i64, GoldenError>) -> i64 {
    // SAFETY: the caller vouches for it.
    let Some(tp_golden { model, error }) = (unsafe { model.as_mut() }) else { return -1 };
    match catch_unwind(AssertUnwindSafe(|| what(model))) {
        Ok(Ok(value)) => value,
        Ok(Err(wrong)) => {
            *error = c_text(wrong);
            -1
        }
        Err(_) => {
            *error = c_text("internal error");
            -1
        }
    }
}

/// The buffer of a caller.
///
/// # Safety
///
/// The pointer is null or that of so many bytes that nothing else uses.
unsafe fn buffer<'a>(bytes: *mut u8, size: u64) -> &'a mut [u8] {
    match usize::try_from(size) {
        // SAFETY: not null; the caller vouches for the rest.
        Ok(size) if !bytes.is_null() => unsafe { slice::from_raw_parts_mut(bytes, size) },
        _ => &mut [],
    }
}

/// A model. `parameters` and `policy` are TOML or JSON in the notation of cases; NULL or "" is all defaults. NULL if
/// they are wrong; tp_golden_error(NULL) says why. Close it with tp_golden_close.
///
/// # Safety
///
/// Both pointers are null or those of strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_open(parameters: *const c_char, policy: *const c_char) -> *mut tp_golden {
    // SAFETY: as above.
    opened(|| unsafe { Golden::open(text_of(parameters)?, text_of(policy)?) })
}

/// A model with the tables `parameters` and `policy` of a TOML or JSON file, such as the `dut.toml` of a device. Other
/// keys are ignored.
///
/// # Safety
///
/// The pointer is null or that of a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_open_file(path: *const c_char) -> *mut tp_golden {
    opened(|| {
        // SAFETY: as above.
        let path = unsafe { text_of(path)? };
        let unreadable = |error: std::io::Error| GoldenError::Unreadable {
            what: "file",
            reason: format!("{path}: {error}"),
        };
        Golden::configured(&fs::read_to_string(path).map_err(unreadable)?)
    })
}

/// Frees a model.
///
/// # Safety
///
/// The pointer is null or that of an open model, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_close(model: *mut tp_golden) {
    if !model.is_null() {
        // SAFETY: it comes from `opened`, and the caller gives it up.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// What was wrong with the latest call that failed; of a NULL model, with the latest open of this thread. Valid until
/// the next call.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_error(model: *const tp_golden) -> *const c_char {
    // SAFETY: as above.
    match unsafe { model.as_ref() } {
        Some(model) => model.error.as_ptr(),
        None => OPEN_ERROR.with(|latest| latest.borrow().as_ptr()),
    }
}

/// As after open: control fields have their first values, and nothing waits to be taken. 0, or -1 for an error.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_reset(model: *mut tp_golden) -> i64 {
    // SAFETY: as above.
    unsafe { call(model, |model| model.reset().map(|()| 0)) }
}

/// Any step of stimulus, as JSON in the notation of cases. 0, or -1 for an error.
///
/// # Safety
///
/// The pointers are null or those of an open model and of a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_step(model: *mut tp_golden, stimulus: *const c_char) -> i64 {
    // SAFETY: as above.
    unsafe { call(model, |model| model.step(text_of(stimulus)?).map(|()| 0)) }
}

/// A block of the next cycle, the oldest first, by the names of the ingress port. 0, or -1 for an error.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_block(
    model: *mut tp_golden,
    itype: u8,
    iaddr: u64,
    iretire: u32,
    ilastsize: u8,
    sijump: u8,
    notify: u8,
) -> i64 {
    let block = block_of(iaddr, iretire, ilastsize, sijump != 0, notify != 0);
    // SAFETY: as above.
    unsafe { call(model, |model| model.block(block, itype).map(|()| 0)) }
}

/// A cycle of the ingress port, with the blocks since the last one. `flags`: bit 0 trace-on pulse, bit 1 trace-off
/// pulse, bit 2 the hart is halted, bit 3 it is in reset. 0, or -1 for an error.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_cycle(
    model: *mut tp_golden,
    cause: u64,
    tval: u64,
    privilege: u8,
    context: u64,
    time: u64,
    ctype: u8,
    flags: u8,
) -> i64 {
    let flag = |bit: u8| flags >> bit & 1 != 0;
    let signals = Signals {
        cause,
        tval,
        context,
        time,
        privilege,
        ctype,
        trace_on: flag(0),
        trace_off: flag(1),
        halted: flag(2),
        reset: flag(3),
    };
    // SAFETY: as above.
    unsafe {
        call(model, |model| {
            model.cycle(&signals);
            Ok(0)
        })
    }
}

/// Writes a control field, by its number in packs: 2 and 3 trTeEnable and trTeInstTracing, 4 and 5 trTeInstSyncMode and
/// trTeInstSyncMax, 6 trTeInstNoAddrDiff, 12 trTeInstTrigEnable. Tracing is on while trTeInstTracing is 1. 0, or -1 for
/// an error.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_field(model: *mut tp_golden, field: u8, value: u64) -> i64 {
    // SAFETY: as above.
    unsafe { call(model, |model| model.field(field, value).map(|()| 0)) }
}

/// The transport after the encoder takes packets (1, as at first), or loses them (0). 0, or -1 for an error.
///
/// # Safety
///
/// The pointer is null or that of an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_ready(model: *mut tp_golden, takes: u8) -> i64 {
    // SAFETY: as above.
    unsafe {
        call(model, |model| {
            model.ready(takes != 0);
            Ok(0)
        })
    }
}

/// Takes the next bytes of the stream, headers included: how many, at most `size`; 0 if none wait. -1 for an error.
///
/// # Safety
///
/// The pointers are null or those of an open model and of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_take(model: *mut tp_golden, bytes: *mut u8, size: u64) -> i64 {
    // SAFETY: as above.
    unsafe {
        let bytes = buffer(bytes, size);
        call(model, |model| Ok(i64::try_from(model.take_bytes(bytes)).unwrap_or(i64::MAX)))
    }
}

/// Takes the payload of the next packet, without its header: its length, 0 if none waits, -1 for an error. It needs the
/// default encapsulation.
///
/// # Safety
///
/// The pointers are null or those of an open model and of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tp_golden_payload(model: *mut tp_golden, bytes: *mut u8, size: u64) -> i64 {
    // SAFETY: as above.
    unsafe {
        let bytes = buffer(bytes, size);
        call(model, |model| Ok(i64::try_from(model.take_payload(bytes)?).unwrap_or(i64::MAX)))
    }
}
