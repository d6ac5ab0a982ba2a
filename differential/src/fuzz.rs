//! What a fuzz target of another repository does.
//!
//! An input is the file of a [`Stream`]. Its first lines are never mutated, so every input is a stream that a decoder
//! can take. A finding is shrunk to the smallest stream that was found to show the same kind, and written to
//! `findings/`; then the process ends, so that the fuzzer reports it, unless the baseline has the kind. With
//! `TRACEPROOF_FUZZ=all` in the environment it goes on instead, and reports every kind once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs, io, process};

use serde::Deserialize;
use traceproof_vectors::Decoder;

use crate::mutation::{Random, mutate};
use crate::stream::split;
use crate::{Examination, Finding, JudgedProtocol, Stream, examine, shrink};

/// The most first lines of files that are remembered.
const MOST_HEADS: usize = 4096;

/// A fuzz target for one decoder.
#[derive(Debug)]
pub struct Target<P: JudgedProtocol> {
    make: fn() -> Box<dyn Decoder<P>>,
    directory: PathBuf,
    goes_on: bool,
    state: Mutex<State<P>>,
}

#[derive(Debug)]
struct State<P: JudgedProtocol> {
    /// Kinds that are not reported.
    known: BTreeSet<String>,
    /// Streams without bytes, by the lines that state them, and the bytes of the first one, for splicing.
    heads: BTreeMap<Vec<u8>, Stream<P>>,
    donors: Vec<Vec<u8>>,
}

/// What a fuzz target reads of a baseline; the rest of it is for `traceproof conformance`.
#[derive(Debug, Default, Deserialize)]
struct Baseline {
    #[serde(default)]
    known: Vec<Known>,
}

#[derive(Debug, Deserialize)]
struct Known {
    #[serde(default)]
    kinds: Vec<String>,
}

/// The kinds that a baseline lists.
///
/// # Errors
///
/// When the text is no TOML, or lists something else.
pub fn known_kinds(baseline: &str) -> Result<BTreeSet<String>, toml::de::Error> {
    let baseline: Baseline = toml::from_str(baseline)?;
    Ok(baseline.known.into_iter().flat_map(|known| known.kinds).collect())
}

impl<P: JudgedProtocol> Target<P> {
    /// A target in the directory of its project, which holds `baseline.toml` and gets `findings/`.
    ///
    /// # Panics
    ///
    /// When the baseline cannot be read.
    #[must_use]
    pub fn new(make: fn() -> Box<dyn Decoder<P>>, directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        let path = directory.join("baseline.toml");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        };
        let known = known_kinds(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let goes_on = env::var_os("TRACEPROOF_FUZZ").is_some_and(|value| value == "all");
        let state = State { known, heads: BTreeMap::new(), donors: Vec::new() };
        Self { make, directory, goes_on, state: Mutex::new(state) }
    }

    /// Examines the stream of an input; other inputs are ignored.
    pub fn run(&self, input: &[u8]) {
        let Some(stream) = self.stream(input) else { return };
        if let Examination::Found(finding) = examine(&self.make, &stream)
            && !self.state().known.contains(&finding.kind)
        {
            self.report(stream, finding);
        }
    }

    /// Changes an input of `size` bytes in place, to at most `most` bytes, and returns its new size: the bytes of the
    /// stream, packet by packet or, by `raw`, without regard to packets.
    pub fn mutate(
        &self,
        input: &mut [u8],
        size: usize,
        most: usize,
        seed: u32,
        raw: impl Fn(&mut [u8], usize, usize) -> usize,
    ) -> usize {
        let mut random = Random::new(seed.into());
        let read = self.stream(input.get(..size).unwrap_or_default());
        let head = size - read.as_ref().map_or(size, |stream| stream.wire.len());
        let Some(mut stream) = read else { return raw(input, size, most) };
        let Some(wire) = input.get_mut(head..) else { return size };
        let most = most.saturating_sub(head).min(wire.len());
        if random.below(2) == 0 {
            return head + raw(wire, stream.wire.len(), most);
        }
        let donor = {
            let state = self.state();
            state.donors.get(random.below(state.donors.len())).cloned().unwrap_or_default()
        };
        mutate(&mut stream, &donor, &mut random);
        stream.wire.truncate(most);
        if let Some(place) = wire.get_mut(..stream.wire.len()) {
            place.copy_from_slice(&stream.wire);
        }
        head + stream.wire.len()
    }

    fn state(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream of an input.
    fn stream(&self, input: &[u8]) -> Option<Stream<P>> {
        let (head, wire) = split(input)?;
        let mut state = self.state();
        if let Some(known) = state.heads.get(head) {
            return Some(Stream { wire: wire.to_vec(), ..known.clone() });
        }
        let stream = Stream::read_without_wire(head).ok()?;
        if state.heads.len() < MOST_HEADS {
            state.heads.insert(head.to_vec(), stream.clone());
            state.donors.push(wire.to_vec());
        }
        Some(Stream { wire: wire.to_vec(), ..stream })
    }

    /// Shrinks, writes and prints a finding.
    fn report(&self, stream: Stream<P>, finding: Finding) {
        let kind = finding.kind;
        let shows = |stream: &Stream<P>| match examine(&self.make, stream) {
            Examination::Found(found) if found.kind == kind => Some(found.text),
            _ => None,
        };
        let stream = shrink(stream, |smaller| shows(smaller).is_some());
        let text = shows(&stream).unwrap_or(finding.text);
        let path = self.directory.join("findings").join(file_name(&kind));
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, stream.file()));
        eprintln!("\nfinding: {kind}\n{text}bytes: {:02x?}", stream.wire);
        match written {
            Ok(()) => eprintln!("written to {0}\ntraceproof fuzz promote {0}", path.display()),
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
        if !self.goes_on {
            process::abort();
        }
        self.state().known.insert(kind);
    }
}

/// The name of the file of a kind: its words, and a number that distinguishes kinds with the same ones.
#[must_use]
pub fn file_name(kind: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let words: Vec<&str> = kind.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let words: String = words.join("-").to_lowercase().chars().take(60).collect();
    // FNV-1a.
    let hash =
        kind.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{words}-{hash:08x}.stream")
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::riscv_etrace::RiscvEtrace;

    use super::*;
    use crate::finding::tests::{WIRE, Wrong, stream, wrong};

    /// A target that goes on, in a new directory.
    fn target(name: &str, baseline: &str) -> Target<RiscvEtrace> {
        let directory = env::temp_dir().join(format!("traceproof-{}-{name}", process::id()));
        fs::create_dir_all(&directory).expect("made");
        fs::write(directory.join("baseline.toml"), baseline).expect("written");
        Target { goes_on: true, ..Target::new(|| wrong(Wrong::LosesIt), directory) }
    }

    fn findings(target: &Target<RiscvEtrace>) -> Vec<Vec<u8>> {
        let directory = fs::read_dir(target.directory.join("findings"));
        let read = |entry: io::Result<fs::DirEntry>| fs::read(entry.expect("readable").path()).expect("read");
        directory.map(|directory| directory.map(read).collect()).unwrap_or_default()
    }

    #[test]
    fn a_finding_is_shrunk_and_written_once() {
        let target = target("finding", "");
        target.run(b"no stream");
        target.run(&stream(&WIRE[..2]).file());
        assert!(findings(&target).is_empty());
        target.run(&stream(&WIRE).file());
        target.run(&stream(&WIRE[..6]).file());
        assert_eq!(findings(&target), [stream(&[0x03, 0x73, 0x00, 0x04]).file()]);
        fs::remove_dir_all(&target.directory).expect("removed");
    }

    #[test]
    fn a_known_kind_is_not_reported() {
        let known = "schema = 1\nsubject = 'acme'\n[[known]]\nreason = 'r'\nfinding = 'f'\nchecks = []\n\
                     kinds = ['packets: start / fault no-code']\n";
        let target = target("known", known);
        target.run(&stream(&WIRE).file());
        assert!(findings(&target).is_empty());
        fs::remove_dir_all(&target.directory).expect("removed");
    }

    #[test]
    fn mutation_keeps_the_first_lines_and_the_size() {
        let target = target("mutation", "");
        let file = stream(&WIRE).file();
        let (head, _) = split(&file).expect("a stream");
        let mut changed = 0;
        for seed in 0..300 {
            let most = head.len() + seed as usize % 40;
            let mut input = file.clone();
            input.resize(most.max(file.len()), 0);
            let raw = |wire: &mut [u8], size: usize, most: usize| {
                wire.first_mut().into_iter().for_each(|byte| *byte ^= 1);
                size.min(most)
            };
            let size = target.mutate(&mut input, file.len(), most, seed, raw);
            assert!(size <= most.max(head.len()), "{size} of {most}");
            assert_eq!(&input[..head.len()], head);
            changed += usize::from(input.get(..size) != Some(&file[..]));
        }
        assert!(changed > 250, "{changed}");
        fs::remove_dir_all(&target.directory).expect("removed");
    }
}
