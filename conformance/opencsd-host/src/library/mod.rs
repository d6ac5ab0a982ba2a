//! OpenCSD's C interface: the only place with `unsafe` code.
//!
//! The library keeps its register of decoders and its error log in globals; so one question at a time.
#![expect(unsafe_code, reason = "calls a C library")]

mod element;
mod etmv3;
mod etmv4;
mod frames;
mod ptm;

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use opencsd_sys as c;

use crate::question::{Answer, Framing, Layer, Packet, PacketBody, Question, Source};

static BUSY: Mutex<()> = Mutex::new(());

/// The longest line of OpenCSD's own text taken, in bytes.
const TEXT: usize = 1024;

/// Where no program is. A decoder without any memory does not report the address of a missing read; so there is
/// always some.
const NOWHERE: u64 = 0xffff_ffff_ffff_fff0;

/// In blocks of this framing the last 8 of 512 bytes are no trace.
const DSTREAM_BLOCK: usize = 512;
const DSTREAM_TRACE: usize = 504;

/// Answers a question: records go to `sink`, the last answer is returned.
pub(crate) fn answer(
    question: &Question,
    memory: &[(u64, Vec<u8>)],
    trace: &[u8],
    sink: &mut dyn FnMut(&Answer),
) -> Answer {
    let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: no arguments to get wrong; no other thread uses the library.
    unsafe { c::ocsd_def_errlog_init(c::_ocsd_err_severity_t_OCSD_ERR_SEV_ERROR, 0) };
    let left = if question.rounds.is_some() { 0 } else { question.records };
    let collector = RefCell::new(Collector { sink, left, text: question.text, counts: Counts::default() });
    let mut consumed = 0;
    let mut nanoseconds = Vec::new();
    for _ in 0..question.rounds.unwrap_or(1).max(1) {
        collector.borrow_mut().counts = Counts::default();
        let channels = question.sources.iter().map(|source| Channel { source, collector: &collector });
        let channels: Vec<_> = channels.collect();
        let tree = match Tree::new(question, memory, &channels, &collector) {
            Ok(tree) => tree,
            Err((error, step)) => return Answer::Refused { error, step: step.to_owned() },
        };
        let start = Instant::now();
        consumed = tree.decode(question, trace);
        nanoseconds.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    let Counts { packets, elements, instructions } = collector.into_inner().counts;
    Answer::Done { consumed: consumed as u64, packets, elements, instructions, nanoseconds }
}

/// What the callbacks add to.
struct Collector<'a> {
    sink: &'a mut dyn FnMut(&Answer),
    /// How many records are still handed over.
    left: u64,
    text: bool,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    packets: u64,
    elements: u64,
    instructions: u64,
}

impl Collector<'_> {
    fn put(&mut self, answer: impl FnOnce(bool) -> Answer) {
        if self.left > 0 {
            self.left -= 1;
            let answer = answer(self.text);
            (self.sink)(&answer);
        }
    }
}

/// What the callback of a packet processor needs to know.
struct Channel<'a, 'b> {
    source: &'a Source,
    collector: &'a RefCell<Collector<'b>>,
}

/// A decode tree. It points to the channels and into the memory.
struct Tree<'a, 'b> {
    handle: c::dcd_tree_handle_t,
    collector: &'a RefCell<Collector<'b>>,
}

/// An error number and what was asked when it came.
type Refusal = (u32, &'static str);

impl<'a, 'b> Tree<'a, 'b> {
    fn new(
        question: &Question,
        memory: &'a [(u64, Vec<u8>)],
        channels: &'a [Channel<'a, 'b>],
        collector: &'a RefCell<Collector<'b>>,
    ) -> Result<Self, Refusal> {
        let (kind, flags) = framing(question.framing);
        // SAFETY: plain numbers.
        let handle = unsafe { c::ocsd_create_dcd_tree(kind, flags) };
        if handle.is_null() {
            return Err((c::_ocsd_err_t_OCSD_ERR_NOT_INIT, "create a decode tree"));
        }
        let tree = Self { handle, collector };
        if question.layer == Layer::Frames {
            frames::listen(handle, collector)?;
        }
        if question.layer == Layer::Elements {
            let context = ptr::from_ref(collector).cast();
            // SAFETY: the collector outlives the tree, and the callback casts it back to what it is.
            let error = unsafe { c::ocsd_dt_set_gen_elem_outfn(handle, Some(on_element), context) };
            check(error, "set the callback for elements")?;
        }
        for channel in channels {
            tree.add(question, channel)?;
        }
        if question.layer == Layer::Elements {
            let nowhere = (NOWHERE, [0; 4].as_slice());
            let memory = memory.iter().map(|(address, bytes)| (*address, bytes.as_slice()));
            let nowhere = memory.len().eq(&0).then_some(nowhere);
            for (address, bytes) in memory.chain(nowhere) {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let space = c::_ocsd_mem_space_acc_t_OCSD_MEM_SPACE_ANY;
                // SAFETY: the bytes outlive the tree (those of `nowhere` are a constant), and they are never written.
                let error =
                    unsafe { c::ocsd_dt_add_buffer_mem_acc(handle, address, space, bytes.as_ptr(), length) };
                check(error, "add memory")?;
            }
        }
        Ok(tree)
    }

    /// Creates the decoder of a source.
    fn add(&self, question: &Question, channel: &'a Channel<'a, 'b>) -> Result<(), Refusal> {
        let flags = match question.layer {
            Layer::Packets | Layer::Frames => c::OCSD_CREATE_FLG_PACKET_PROC,
            Layer::Elements => c::OCSD_CREATE_FLG_FULL_DECODER,
        };
        let flags = flags.cast_signed();
        let mut id = 0;
        // A protocol more is an arm more here, in `packet_body` and in `text_protocol`.
        match channel.source {
            Source::Etmv3(configuration) => {
                let configuration = etmv3::configuration(configuration);
                let configuration = ptr::from_ref(&configuration).cast();
                self.create(c::OCSD_BUILTIN_DCD_ETMV3, flags, configuration, &mut id)?;
            }
            Source::Ptm(configuration) => {
                let configuration = ptm::configuration(configuration);
                let configuration = ptr::from_ref(&configuration).cast();
                self.create(c::OCSD_BUILTIN_DCD_PTM, flags, configuration, &mut id)?;
            }
            Source::Etmv4(configuration) if configuration.trcdevarch == 0 => {
                let configuration = etmv4::etmv4_configuration(configuration);
                let configuration = ptr::from_ref(&configuration).cast();
                self.create(c::OCSD_BUILTIN_DCD_ETMV4I, flags, configuration, &mut id)?;
            }
            Source::Etmv4(configuration) => {
                let configuration = etmv4::ete_configuration(configuration);
                let configuration = ptr::from_ref(&configuration).cast();
                self.create(c::OCSD_BUILTIN_DCD_ETE, flags, configuration, &mut id)?;
            }
        }
        if question.layer == Layer::Elements {
            return Ok(());
        }
        let (kind, function) = if question.rounds.is_some() {
            (c::_ocsd_c_api_cb_types_OCSD_C_API_CB_PKT_SINK, count_packet as PacketSink as *mut c_void)
        } else {
            (c::_ocsd_c_api_cb_types_OCSD_C_API_CB_PKT_MON, on_packet as PacketMonitor as *mut c_void)
        };
        let context = ptr::from_ref(channel).cast();
        // SAFETY: the channel outlives the tree, the callback casts it back to what it is, and the function has the
        // type that belongs to the kind of callback.
        let error = unsafe { c::ocsd_dt_attach_packet_callback(self.handle, id, kind, function, context) };
        check(error, "attach the callback for packets")
    }

    fn create(
        &self,
        name: &[u8],
        flags: c_int,
        configuration: *const c_void,
        id: &mut u8,
    ) -> Result<(), Refusal> {
        // SAFETY: the name ends with a zero; the configuration is the structure that belongs to it and is copied.
        let error =
            unsafe { c::ocsd_dt_create_decoder(self.handle, name.as_ptr().cast(), flags, configuration, id) };
        check(error, "create a decoder")
    }

    /// Sends the trace through; how many bytes of it were taken.
    fn decode(&self, question: &Question, trace: &[u8]) -> usize {
        let chunk = question.chunk.map_or(usize::MAX, |chunk| chunk.max(1) as usize);
        let mut at = 0;
        while at < trace.len() {
            let rest = &trace[at..];
            let mut piece = &rest[..rest.len().min(chunk)];
            if question.framing == Framing::Dstream {
                let inside = at % DSTREAM_BLOCK;
                if inside >= DSTREAM_TRACE {
                    at += DSTREAM_BLOCK - inside;
                    continue;
                }
                piece = &piece[..piece.len().min(DSTREAM_TRACE - inside)];
            }
            let (response, taken) = self.process(c::_ocsd_datapath_op_t_OCSD_OP_DATA, at, piece);
            at += taken;
            if response >= c::_ocsd_datapath_resp_t_OCSD_RESP_FATAL_NOT_INIT || taken == 0 {
                self.fault(response);
                return at;
            }
            match response {
                c::_ocsd_datapath_resp_t_OCSD_RESP_CONT => {}
                c::_ocsd_datapath_resp_t_OCSD_RESP_WAIT => {
                    self.process(c::_ocsd_datapath_op_t_OCSD_OP_FLUSH, 0, &[]);
                }
                _ => self.fault(response),
            }
        }
        let (response, _) = self.process(c::_ocsd_datapath_op_t_OCSD_OP_EOT, 0, &[]);
        if response != c::_ocsd_datapath_resp_t_OCSD_RESP_CONT {
            self.fault(response);
        }
        at.min(trace.len())
    }

    fn process(&self, operation: u32, at: usize, piece: &[u8]) -> (u32, usize) {
        let mut taken = 0;
        let index = u32::try_from(at).unwrap_or(u32::MAX);
        let length = u32::try_from(piece.len()).unwrap_or(u32::MAX);
        let bytes = if piece.is_empty() { ptr::null() } else { piece.as_ptr() };
        // SAFETY: the piece has the given length; the library does not keep the pointer.
        let response =
            unsafe { c::ocsd_dt_process_data(self.handle, operation, index, length, bytes, &mut taken) };
        (response, taken as usize)
    }

    /// Passes on the library's message about its latest error.
    fn fault(&self, response: u32) {
        let (mut byte, mut source) = (0, 0);
        let mut text: [c_char; TEXT] = [0; TEXT];
        // SAFETY: the buffer has the given length.
        let error = unsafe { c::ocsd_get_last_err(&mut byte, &mut source, text.as_mut_ptr(), TEXT as c_int) };
        let source = (source < 0x80).then_some(source);
        let text = string(&text);
        self.collector.borrow_mut().put(|_| Answer::Fault { byte, source, error, response, text });
    }
}

impl Drop for Tree<'_, '_> {
    fn drop(&mut self) {
        frames::stop_listening();
        // SAFETY: the handle is this tree's and not used any more.
        unsafe { c::ocsd_destroy_dcd_tree(self.handle) };
    }
}

fn check(error: u32, step: &'static str) -> Result<(), Refusal> {
    if error == c::_ocsd_err_t_OCSD_OK { Ok(()) } else { Err((error, step)) }
}

const fn framing(framing: Framing) -> (c::ocsd_dcd_tree_src_t, u32) {
    let frames = c::_ocsd_dcd_tree_src_t_OCSD_TRC_SRC_FRAME_FORMATTED;
    match framing {
        Framing::Source => (c::_ocsd_dcd_tree_src_t_OCSD_TRC_SRC_SINGLE, 0),
        Framing::Frames | Framing::Dstream => (frames, c::OCSD_DFRMTR_FRAME_MEM_ALIGN),
        Framing::Tpiu { half_syncs: false } => (frames, c::OCSD_DFRMTR_HAS_FSYNCS),
        Framing::Tpiu { half_syncs: true } => (frames, c::OCSD_DFRMTR_HAS_FSYNCS | c::OCSD_DFRMTR_HAS_HSYNCS),
    }
}

type PacketSink = unsafe extern "C" fn(*const c_void, u32, u32, *const c_void) -> u32;
type PacketMonitor = unsafe extern "C" fn(*const c_void, u32, u32, *const c_void, u32, *const u8);

/// Counts a packet.
unsafe extern "C" fn count_packet(context: *const c_void, operation: u32, _: u32, _: *const c_void) -> u32 {
    // SAFETY: this is the channel that `Tree::add` attached.
    let channel = unsafe { &*context.cast::<Channel<'_, '_>>() };
    if operation == c::_ocsd_datapath_op_t_OCSD_OP_DATA {
        channel.collector.borrow_mut().counts.packets += 1;
    }
    c::_ocsd_datapath_resp_t_OCSD_RESP_CONT
}

/// Hands over a packet.
unsafe extern "C" fn on_packet(
    context: *const c_void,
    operation: u32,
    index: u32,
    packet: *const c_void,
    size: u32,
    data: *const u8,
) {
    if operation != c::_ocsd_datapath_op_t_OCSD_OP_DATA || packet.is_null() {
        return;
    }
    // SAFETY: this is the channel that `Tree::add` attached.
    let channel = unsafe { &*context.cast::<Channel<'_, '_>>() };
    let mut collector = channel.collector.borrow_mut();
    collector.counts.packets += 1;
    collector.put(|text| {
        let bytes = if data.is_null() || size == 0 {
            Vec::new()
        } else {
            // SAFETY: the library reports this number of bytes.
            unsafe { std::slice::from_raw_parts(data, size as usize) }.to_vec()
        };
        Answer::Packet(Packet {
            byte: index,
            source: channel.source.id(),
            bytes,
            body: packet_body(channel.source, packet),
            text: text.then(|| packet_text(channel.source, packet)),
        })
    });
}

/// Hands over a generic element.
unsafe extern "C" fn on_element(
    context: *const c_void,
    index: u32,
    source: u8,
    element: *const c::ocsd_generic_trace_elem,
) -> u32 {
    // SAFETY: this is the collector that `Tree::new` set.
    let collector = unsafe { &*context.cast::<RefCell<Collector<'_>>>() };
    // SAFETY: the library gives a whole element or none.
    if let Some(element) = unsafe { element.as_ref() } {
        let mut collector = collector.borrow_mut();
        collector.counts.elements += 1;
        collector.counts.instructions += u64::from(element::instructions(element));
        collector.put(|text| {
            let text = text.then(|| {
                written(|buffer, size| {
                    // SAFETY: the buffer has the given length.
                    unsafe { c::ocsd_gen_elem_str(element, buffer, size) };
                })
            });
            Answer::Element(element::element(index, source, element, text))
        });
    }
    c::_ocsd_datapath_resp_t_OCSD_RESP_CONT
}

fn packet_body(source: &Source, packet: *const c_void) -> PacketBody {
    match source {
        Source::Etmv3(_) => {
            // SAFETY: the packet processor of this protocol makes packets of this type.
            PacketBody::Etmv3(etmv3::body(unsafe { &*packet.cast::<c::ocsd_etmv3_pkt>() }))
        }
        Source::Ptm(_) => {
            // SAFETY: as above.
            PacketBody::Ptm(ptm::body(unsafe { &*packet.cast::<c::ocsd_ptm_pkt>() }))
        }
        Source::Etmv4(_) => {
            // SAFETY: as above; ETE has the packets of ETMv4.
            PacketBody::Etmv4(etmv4::body(unsafe { &*packet.cast::<c::ocsd_etmv4_i_pkt>() }))
        }
    }
}

/// The library's own words on a packet.
fn packet_text(source: &Source, packet: *const c_void) -> String {
    let protocol = match source {
        Source::Etmv3(_) => c::_ocsd_trace_protocol_t_OCSD_PROTOCOL_ETMV3,
        Source::Ptm(_) => c::_ocsd_trace_protocol_t_OCSD_PROTOCOL_PTM,
        Source::Etmv4(configuration) if configuration.trcdevarch == 0 => {
            c::_ocsd_trace_protocol_t_OCSD_PROTOCOL_ETMV4I
        }
        Source::Etmv4(_) => c::_ocsd_trace_protocol_t_OCSD_PROTOCOL_ETE,
    };
    written(|buffer, size| {
        // SAFETY: the packet is of this protocol, the buffer has the given length.
        unsafe { c::ocsd_pkt_str(protocol, packet, buffer, size) };
    })
}

fn written(write: impl FnOnce(*mut c_char, c_int)) -> String {
    let mut text: [c_char; TEXT] = [0; TEXT];
    write(text.as_mut_ptr(), TEXT as c_int);
    string(&text)
}

fn string(text: &[c_char; TEXT]) -> String {
    // SAFETY: a char is a byte, and the array has the given length.
    let bytes = unsafe { std::slice::from_raw_parts(text.as_ptr().cast::<u8>(), TEXT) };
    CStr::from_bytes_until_nul(bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
