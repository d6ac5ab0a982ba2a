//! The C interface (`conformance/adaptors/c/tdut.h`): the only place with `unsafe`.
#![allow(unsafe_code, reason = "it calls into C")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::io;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use libloading::Library;

/// `struct tdut_section`.
#[repr(C)]
struct RawSection {
    address: u64,
    bytes: *const u8,
    length: usize,
}

/// `struct tdut_out`.
#[repr(C)]
struct RawOut {
    context: *mut c_void,
    result: extern "C" fn(*mut c_void, *const c_char),
}

type Info = unsafe extern "C" fn() -> *const c_char;
type Open = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const RawSection,
    usize,
    *mut *const c_char,
) -> *mut c_void;
type Push = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const RawOut);
type Finish = unsafe extern "C" fn(*mut c_void, *const RawOut);
type Reset = unsafe extern "C" fn(*mut c_void);

/// Why the host cannot go on.
#[derive(Debug)]
pub(crate) enum HostError {
    /// The object cannot be loaded, or lacks a function.
    Load(libloading::Error),
    /// What `tdut_info` gives is no JSON object.
    Info,
    /// A request cannot be read, or an answer not be written.
    Io(io::Error),
    /// A request is no request.
    Request(String),
}

/// The six functions of a shared object.
#[derive(Debug)]
pub(crate) struct Object {
    info: Info,
    open: Open,
    push: Push,
    finish: Finish,
    reset: Reset,
    close: Reset,
    /// As long as it is here the functions are.
    _library: Library,
}

/// Code by address, kept as long as a decoder may look at it.
#[derive(Debug, Default)]
pub(crate) struct Image(pub(crate) Vec<(u64, Vec<u8>)>);

/// Why there is no decoder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoDecoder {
    /// A feature is not supported.
    Unsupported(String),
    /// It broke.
    Broke,
}

/// A decoder of the object.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    object: &'a Object,
    handle: *mut c_void,
    _image: Arc<Image>,
}

impl Object {
    /// Loads an object; what it does when it is loaded it does here.
    pub(crate) fn load(path: &Path) -> Result<Self, HostError> {
        // A name without a slash would be looked for among the libraries of the system.
        let path = path.canonicalize().map_err(HostError::Io)?;
        // SAFETY: the user named the object in order to run its code, in a process that holds nothing else.
        let library = unsafe { Library::new(&path) }.map_err(HostError::Load)?;
        // SAFETY: the types are those that `tdut.h` gives to these names.
        unsafe {
            Ok(Self {
                info: *library.get::<Info>("tdut_info").map_err(HostError::Load)?,
                open: *library.get::<Open>("tdut_open").map_err(HostError::Load)?,
                push: *library.get::<Push>("tdut_push").map_err(HostError::Load)?,
                finish: *library.get::<Finish>("tdut_finish").map_err(HostError::Load)?,
                reset: *library.get::<Reset>("tdut_reset").map_err(HostError::Load)?,
                close: *library.get::<Reset>("tdut_close").map_err(HostError::Load)?,
                _library: library,
            })
        }
    }

    /// Its own description.
    pub(crate) fn info(&self) -> String {
        // SAFETY: the function takes nothing and gives a string or NULL.
        text(unsafe { (self.info)() })
    }

    /// Opens a decoder.
    pub(crate) fn open<'a>(
        &'a self,
        family: &str,
        parameters: &str,
        image: &Arc<Image>,
    ) -> Result<Decoder<'a>, NoDecoder> {
        let string = |text: &str| CString::new(text).map_err(|_| NoDecoder::Broke);
        let (family, parameters) = (string(family)?, string(parameters)?);
        let section = |(address, bytes): &(u64, Vec<u8>)| RawSection {
            address: *address,
            bytes: bytes.as_ptr(),
            length: bytes.len(),
        };
        let sections: Vec<RawSection> = image.0.iter().map(section).collect();
        let mut unsupported = ptr::null();
        // SAFETY: all pointers are valid for the call, those to code for the life of the decoder, which keeps the
        // image.
        let handle = unsafe {
            (self.open)(
                family.as_ptr(),
                parameters.as_ptr(),
                sections.as_ptr(),
                sections.len(),
                &raw mut unsupported,
            )
        };
        if !handle.is_null() {
            return Ok(Decoder { object: self, handle, _image: Arc::clone(image) });
        }
        Err(if unsupported.is_null() { NoDecoder::Broke } else { NoDecoder::Unsupported(text(unsupported)) })
    }
}

impl Decoder<'_> {
    /// Pushes bytes; results are added to `results`, JSON objects with commas between them.
    pub(crate) fn push(&mut self, bytes: &[u8], results: &mut String) {
        let out = RawOut { context: ptr::from_mut(results).cast(), result: add };
        // SAFETY: the handle is that of `tdut_open` and not closed; the bytes and `out` are valid for the call.
        unsafe { (self.object.push)(self.handle, bytes.as_ptr(), bytes.len(), &raw const out) }
    }

    /// Ends the stream.
    pub(crate) fn finish(&mut self, results: &mut String) {
        let out = RawOut { context: ptr::from_mut(results).cast(), result: add };
        // SAFETY: as in `push`.
        unsafe { (self.object.finish)(self.handle, &raw const out) }
    }

    /// Forgets the stream.
    pub(crate) fn reset(&mut self) {
        // SAFETY: the handle is that of `tdut_open` and not closed.
        unsafe { (self.object.reset)(self.handle) }
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is that of `tdut_open`, and it is not used after this.
        unsafe { (self.object.close)(self.handle) }
    }
}

/// Takes a result. An answer is one line, so line breaks in it become blanks.
extern "C" fn add(context: *mut c_void, json: *const c_char) {
    // SAFETY: the context is the `String` of `push` or `finish`, which is not used elsewhere during the call.
    let Some(results) = (unsafe { context.cast::<String>().as_mut() }) else { return };
    if !results.is_empty() {
        results.push(',');
    }
    results.extend(text(json).chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
}

/// A copy of a string; empty for NULL.
fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: by the interface it is a string, which ends with a zero byte.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => write!(f, "the object cannot be loaded: {error}"),
            Self::Info => f.write_str("what tdut_info gives is no JSON object"),
            Self::Io(error) => error.fmt(f),
            Self::Request(error) => write!(f, "a request cannot be read: {error}"),
        }
    }
}

impl std::error::Error for HostError {}
