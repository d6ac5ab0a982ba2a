//! What the frame deformatter takes out of frames.
//!
//! The C interface has no callback for it. The library's printer of frames writes a line for each run of bytes of one
//! source, of which at most 15 are in a frame:
//! `Frame Data; Index     16;   ID_DATA[0x10]; 84 a5 42`, with `????` as source before the first ID.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};

use opencsd_sys as c;

use super::{Collector, Refusal, check};
use crate::question::{Answer, Data};

/// Lets the printer write to the collector.
pub(super) fn listen(
    handle: c::dcd_tree_handle_t,
    collector: &RefCell<Collector<'_>>,
) -> Result<(), Refusal> {
    let context = std::ptr::from_ref(collector).cast::<c_void>().cast_mut();
    // SAFETY: plain numbers, and no name of a file.
    let error = unsafe {
        c::ocsd_def_errlog_init(c::_ocsd_err_severity_t_OCSD_ERR_SEV_ERROR, 1);
        c::ocsd_def_errlog_config_output(c::C_API_MSGLOGOUT_FLG_NONE as c_int, std::ptr::null())
    };
    check(error, "create a log")?;
    // SAFETY: the collector outlives the tree, which stops the log when it is dropped; the callback casts it back to
    // what it is.
    let error = unsafe { c::ocsd_def_errlog_set_strprint_cb(handle, context, Some(on_line)) };
    check(error, "set the callback for the log")?;
    // SAFETY: plain numbers.
    let error = unsafe { c::ocsd_dt_set_raw_frame_printer(handle, c::OCSD_DFRMTR_UNPACKED_RAW_OUT as c_int) };
    check(error, "print frames")
}

/// Stops the log of [`listen`], if there is one.
pub(super) fn stop_listening() {
    // SAFETY: plain numbers, and no name of a file.
    unsafe { c::ocsd_def_errlog_config_output(c::C_API_MSGLOGOUT_FLG_NONE as c_int, std::ptr::null()) };
}

/// Hands over a line of the printer; errors are in the same log and are no lines of it.
unsafe extern "C" fn on_line(context: *const c_void, text: *const c_char, length: c_int) {
    let Ok(length) = usize::try_from(length) else { return };
    if text.is_null() {
        return;
    }
    // SAFETY: the library reports this number of bytes.
    let line = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    if let Some(data) = std::str::from_utf8(line).ok().and_then(data) {
        // SAFETY: this is the collector that `listen` set.
        let collector = unsafe { &*context.cast::<RefCell<Collector<'_>>>() };
        collector.borrow_mut().put(|_| Answer::Data(data));
    }
}

fn data(line: &str) -> Option<Data> {
    let (byte, rest) = line.strip_prefix("Frame Data; Index")?.split_once(';')?;
    let (source, bytes) = rest.split_once("ID_DATA[")?.1.split_once("];")?;
    let digits = bytes.split_ascii_whitespace().map(|digits| u8::from_str_radix(digits, 16).ok());
    Some(Data {
        byte: byte.trim().parse().ok()?,
        source: source.strip_prefix("0x").and_then(|digits| u8::from_str_radix(digits, 16).ok()),
        bytes: digits.collect::<Option<_>>()?,
    })
}
