//! The decoder under test: the functions of `tdut.h`, which `build.rs` compiles. Nothing here needs a change.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use traceproof_differential::{Claims, Item};
use traceproof_vectors::case::CaseProtocol;
pub use traceproof_vectors::example_family::ExampleProtocol as Protocol;
use traceproof_vectors::{Capabilities, Decoder, Entry, Place, Program, Protocol as Vocabulary, Refusal, Sink};

/// `struct tdut_section`.
#[repr(C)]
struct Section {
    address: u64,
    bytes: *const u8,
    length: usize,
}

/// `struct tdut_out`.
#[repr(C)]
struct Out {
    context: *mut c_void,
    result: extern "C" fn(*mut c_void, *const c_char),
}

unsafe extern "C" {
    fn tdut_info() -> *const c_char;
    fn tdut_open(
        family: *const c_char,
        parameters: *const c_char,
        sections: *const Section,
        count: usize,
        unsupported: *mut *const c_char,
    ) -> *mut c_void;
    fn tdut_push(decoder: *mut c_void, bytes: *const u8, length: usize, out: *const Out);
    fn tdut_finish(decoder: *mut c_void, out: *const Out);
    fn tdut_reset(decoder: *mut c_void);
    fn tdut_close(decoder: *mut c_void);
}

/// A new decoder.
#[must_use]
pub fn decoder() -> Box<dyn Decoder<Protocol>> {
    Box::new(Subject { handle: ptr::null_mut(), program: Program::new(), latest: Place::default() })
}

/// A decoder in C.
struct Subject {
    /// That of `tdut_open`; NULL before `begin`.
    handle: *mut c_void,
    /// Code that the decoder may look at.
    program: Program,
    latest: Place,
}

impl Subject {
    fn close(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is that of `tdut_open`, and it is not used after this.
            unsafe { tdut_close(self.handle) };
            self.handle = ptr::null_mut();
        }
    }

    /// Lets the decoder report, and delivers its results.
    fn deliver(&mut self, sink: &mut dyn Sink<Protocol>, work: impl FnOnce(*mut c_void, *const Out)) {
        if self.handle.is_null() {
            return;
        }
        let mut results: Vec<String> = Vec::new();
        let out = Out { context: ptr::from_mut(&mut results).cast(), result: add };
        work(self.handle, &raw const out);
        for result in results {
            let item: Result<Item<Protocol>, _> = serde_json::from_str(&result);
            let entry = item.ok().and_then(|item| item.entry(self.latest));
            let (place, entry) = entry.unwrap_or_else(|| panic!("no result: {result}"));
            self.latest = place;
            match entry {
                Entry::Packet(packet) => sink.packet(place, &packet),
                Entry::Event(event) => sink.event(place, &event),
                Entry::Fault(fault) => sink.fault(&fault.at(place)),
            }
        }
    }
}

impl Decoder<Protocol> for Subject {
    fn capabilities(&self) -> Capabilities {
        #[derive(serde::Deserialize)]
        struct Info {
            decoders: std::collections::BTreeMap<String, Claims>,
        }
        // SAFETY: it takes nothing and returns a string.
        let info: Info = serde_json::from_str(&text(unsafe { tdut_info() })).expect("tdut_info returns claims");
        let claims = info.decoders.get(Protocol::ID.name());
        claims.map_or_else(|| Capabilities::new([]), Capabilities::from)
    }

    fn begin(
        &mut self,
        parameters: &<Protocol as Vocabulary>::Parameters,
        program: &Program,
    ) -> Result<(), Refusal> {
        self.close();
        self.latest = Place::default();
        self.program = program.clone();
        let needs = Protocol::required_features(parameters, &[]);
        let claims = self.capabilities();
        if let Some(missing) = needs.into_iter().find(|feature| !claims.features.contains(*feature)) {
            return Err(Refusal::unsupported(missing));
        }
        let string = |text: &str| CString::new(text).expect("no zero byte");
        let json = serde_json::to_string(parameters).expect("parameters can be written");
        let (family, json) = (string(Protocol::ID.name()), string(&json));
        let section = |section: &traceproof_vectors::Section| Section {
            address: section.address.0,
            bytes: section.bytes.as_ptr(),
            length: section.bytes.len(),
        };
        let sections: Vec<Section> = self.program.sections().iter().map(section).collect();
        let mut unsupported = ptr::null();
        // SAFETY: all pointers are valid for the call, those to code until the handle is closed.
        self.handle = unsafe {
            tdut_open(family.as_ptr(), json.as_ptr(), sections.as_ptr(), sections.len(), &raw mut unsupported)
        };
        if !self.handle.is_null() {
            return Ok(());
        }
        assert!(!unsupported.is_null(), "tdut_open returned no decoder");
        Err(Refusal::unsupported(text(unsupported)))
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<Protocol>) {
        // SAFETY: the handle is open, and the other pointers are valid for the call.
        self.deliver(sink, |handle, out| unsafe { tdut_push(handle, chunk.as_ptr(), chunk.len(), out) });
    }

    fn finish(&mut self, sink: &mut dyn Sink<Protocol>) {
        // SAFETY: as in `push`.
        self.deliver(sink, |handle, out| unsafe { tdut_finish(handle, out) });
    }

    fn reset(&mut self) {
        self.latest = Place::default();
        if !self.handle.is_null() {
            // SAFETY: the handle is open.
            unsafe { tdut_reset(self.handle) }
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes a result.
extern "C" fn add(context: *mut c_void, json: *const c_char) {
    // SAFETY: the context is the list of `deliver`, which is not used elsewhere during the call.
    if let Some(results) = unsafe { context.cast::<Vec<String>>().as_mut() } {
        results.push(text(json));
    }
}

/// A copy of a string; empty for NULL.
fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: it is a string, which ends with a zero byte.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}
