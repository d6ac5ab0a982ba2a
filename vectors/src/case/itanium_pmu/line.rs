//! Notation of what happens at the performance monitor: one item per line.

use crate::Address;
use crate::itanium_pmu::events::SelectableEvent;
use crate::itanium_pmu::{
    Access, AccessKind, DataTlbLevel, Instruction, InstructionTlbResolution, Miss, Occurrence, Register,
    Stimulus, SyllableType, Tags,
};
use crate::notation::{parse_bytes, parse_u64, show_bytes};

/// A line of `wire` or of `stimulus`; most can appear in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// An input. Never [`Stimulus::Read`] of a wire, which has a value.
    Input(Stimulus),
    /// `execute A/1`: an instruction of the program.
    Execute { place: String, slot: u8, retired: bool, squashed: bool },
    /// `PMC4 = 0x1228`.
    Read { register: Register, value: u64 },
    /// `PMD0 = X`.
    ReadUndefined(Register),
    /// `tags range pmc8`.
    Tags(Tags),
    /// `data-tag 1`.
    DataTag(bool),
    /// `interrupt`.
    Interrupt,
    /// `hex 04 00`.
    Hex(Vec<u8>),
}

/// The value of a register that holds nothing defined.
const UNDEFINED: &str = "X";
/// Widest syllable.
const SYLLABLE_BITS: u32 = 41;

const TYPES: [(&str, SyllableType); 6] = [
    ("M", SyllableType::M),
    ("I", SyllableType::I),
    ("F", SyllableType::F),
    ("B", SyllableType::B),
    ("X", SyllableType::X),
    ("IA32", SyllableType::Ia32),
];

const ACCESSES: [(&str, AccessKind); 6] = [
    ("load", AccessKind::Load),
    ("store", AccessKind::Store),
    ("semaphore", AccessKind::Semaphore),
    ("lfetch", AccessKind::Lfetch),
    ("rse", AccessKind::Rse),
    ("vhpt", AccessKind::Vhpt),
];

const RESOLUTIONS: [(&str, InstructionTlbResolution); 2] =
    [("vhpt", InstructionTlbResolution::Vhpt), ("software", InstructionTlbResolution::Software)];

const LEVELS: [(&str, DataTlbLevel); 3] =
    [("l2", DataTlbLevel::L2), ("vhpt", DataTlbLevel::Vhpt), ("software", DataTlbLevel::Software)];

/// Reads a line and how often it stands there; `None` where it is blank or a comment.
///
/// # Errors
///
/// Says what is wrong.
pub(super) fn read(text: &str) -> Result<Option<(Line, u32)>, String> {
    let text = text.split('#').next().unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (text, times) = match text.rsplit_once(" x ") {
        Some((line, times)) => (line.trim_end(), number(times.trim(), 32)? as u32),
        None => (text, 1),
    };
    let line = match register_line(text) {
        Some(line) => line?,
        None => word_line(text)?,
    };
    Ok(Some((line, times)))
}

/// `PMC4 = 0x1228`, `PMC4=0x1228`, `PMC4 0x1228`, `PMD0 = X`, `PMC4 <- 0x1228`; `None` if it does not begin with a
/// register.
fn register_line(text: &str) -> Option<Result<Line, String>> {
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '<').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let register = name.parse::<Register>().ok()?;
    let rest = rest.trim_start();
    Some(if let Some(value) = rest.strip_prefix("<-") {
        number(value.trim_start(), 64).map(|value| Line::Input(Stimulus::Write { register, value }))
    } else {
        let value = rest.strip_prefix('=').unwrap_or(rest).trim_start();
        if value == UNDEFINED {
            Ok(Line::ReadUndefined(register))
        } else {
            number(value, 64).map(|value| Line::Read { register, value })
        }
    })
}

fn word_line(text: &str) -> Result<Line, String> {
    let mut words = text.split_ascii_whitespace();
    let word = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    if let Some(kind) = find(&ACCESSES, word) {
        let [address] = take(word, "an address", &rest)?;
        return Ok(Line::Input(Stimulus::Access(Access { kind, address: Address(number(address, 64)?) })));
    }
    match word {
        "reset" => take(word, "nothing", &rest).map(|[]| Line::Input(Stimulus::Reset)),
        "cycle" => take(word, "nothing", &rest).map(|[]| Line::Input(Stimulus::Cycle)),
        "interrupt" => take(word, "nothing", &rest).map(|[]| Line::Interrupt),
        "read" => {
            let [name] = take(word, "a register", &rest)?;
            let register = name.parse::<Register>().map_err(|error| format!("`{name}` is {error}"))?;
            Ok(Line::Input(Stimulus::Read(register)))
        }
        "instruction" => instruction(&rest),
        "execute" => execute(&rest),
        "icache-miss" | "itlb-miss" | "dcache-miss" | "dtlb-miss" => {
            miss(word, &rest).map(|miss| Line::Input(Stimulus::Miss(miss)))
        }
        "event" => occurrence(&rest),
        "tags" => tags(&rest),
        "data-tag" => match take(word, "0 or 1", &rest)? {
            ["0"] => Ok(Line::DataTag(false)),
            ["1"] => Ok(Line::DataTag(true)),
            [other] => Err(format!("`data-tag` is followed by 0 or 1, not by `{other}`")),
        },
        "hex" => parse_bytes(&rest.join(" "))
            .filter(|bytes| !bytes.is_empty())
            .map(Line::Hex)
            .ok_or_else(|| "`hex` is followed by pairs of hexadecimal digits".to_owned()),
        _ => Err(format!("`{word}` begins no line; write e.g. `PMC4 <- 0x1228`, `PMD4 = 0x5` or `cycle`")),
    }
}

/// `0x4000000000003010/1 M 0x080c0f00380 wrong-path squashed`; slot and encoding are 0 where they are left out.
fn instruction(words: &[&str]) -> Result<Line, String> {
    let (words, retired, squashed) = flags(words)?;
    let (place, itype, enco) = match words {
        [place, itype] => (place, itype, 0),
        [place, itype, enco] => (place, itype, number(enco, SYLLABLE_BITS)?),
        _ => return Err("an instruction is written `instruction 0x3010/1 M 0x080c0f00380`".to_owned()),
    };
    let (ip, slot) = with_slot(place)?;
    let itype = find(&TYPES, itype)
        .ok_or_else(|| format!("`{itype}` is no type of syllables; write {}", names(&TYPES)))?;
    let ip = number(ip, 64)?;
    Ok(Line::Input(Stimulus::Instruction(Instruction {
        ip: Address(ip),
        slot,
        itype,
        enco,
        retired,
        squashed,
    })))
}

/// `A/1 squashed`.
fn execute(words: &[&str]) -> Result<Line, String> {
    let (words, retired, squashed) = flags(words)?;
    let [place] = take("execute", "a place and a slot such as `A/1`", words)?;
    let (place, slot) = with_slot(place)?;
    Ok(Line::Execute { place: place.to_owned(), slot, retired, squashed })
}

/// The words before the flags of an instruction, whether it retires, and whether it is squashed.
fn flags<'a>(words: &'a [&'a str]) -> Result<(&'a [&'a str], bool, bool), String> {
    let (mut words, mut retired, mut squashed) = (words, true, false);
    while let [before @ .., flag] = words {
        let state = match *flag {
            "wrong-path" => std::mem::replace(&mut retired, false) != retired,
            "squashed" => std::mem::replace(&mut squashed, true) != squashed,
            _ => break,
        };
        if !state {
            return Err(format!("`{flag}` stands there twice"));
        }
        words = before;
    }
    Ok((words, retired, squashed))
}

fn with_slot(place: &str) -> Result<(&str, u8), String> {
    let Some((place, slot)) = place.split_once('/') else { return Ok((place, 0)) };
    match slot {
        "0" => Ok((place, 0)),
        "1" => Ok((place, 1)),
        "2" => Ok((place, 2)),
        _ => Err(format!("`{slot}` is no slot; a bundle has 0, 1 and 2")),
    }
}

fn miss(word: &str, rest: &[&str]) -> Result<Miss, String> {
    Ok(match word {
        "icache-miss" => {
            let [ip, latency] = take(word, "an address and a latency", rest)?;
            Miss::InstructionCache { ip: Address(number(ip, 64)?), latency: number(latency, 32)? as u32 }
        }
        "itlb-miss" => {
            let [ip, resolution] = take(word, "an address and vhpt or software", rest)?;
            let resolution = find(&RESOLUTIONS, resolution)
                .ok_or_else(|| format!("`{resolution}` resolves no miss; write {}", names(&RESOLUTIONS)))?;
            Miss::InstructionTlb { ip: Address(number(ip, 64)?), resolution }
        }
        "dcache-miss" => {
            let [latency] = take(word, "a latency", rest)?;
            Miss::DataCache { latency: number(latency, 32)? as u32 }
        }
        _ => {
            let [level] = take(word, "l2, vhpt or software", rest)?;
            let level = find(&LEVELS, level)
                .ok_or_else(|| format!("`{level}` resolves no miss; write {}", names(&LEVELS)))?;
            Miss::DataTlb { level }
        }
    })
}

/// `NOPS_RETIRED 6` or `0x30/0 6`; once where the number is left out.
fn occurrence(words: &[&str]) -> Result<Line, String> {
    let (event, count) = match words {
        [event] => (event, 1),
        [event, count] => (event, number(count, 8)? as u8),
        _ => return Err("an event is written `event NOPS_RETIRED 6` or `event 0x30/0 6`".to_owned()),
    };
    let (es, umask) = if let Some(row) = SelectableEvent::by_name(event) {
        (row.es, row.umask)
    } else if event.starts_with(|c: char| c.is_ascii_digit()) {
        let (es, umask) = event.split_once('/').unwrap_or((event, "0"));
        (number(es, 7)? as u8, number(umask, 4)? as u8)
    } else {
        return Err(format!("there is no event `{event}`"));
    };
    Ok(Line::Input(Stimulus::Occurrence(Occurrence { es, umask, count })))
}

fn tags(words: &[&str]) -> Result<Line, String> {
    let mut tags = Tags::default();
    if words != ["none"] {
        if words.is_empty() {
            return Err("`tags` is followed by range, pmc8, pmc9 or none".to_owned());
        }
        for word in words {
            let tag = match *word {
                "range" => &mut tags.range,
                "pmc8" => &mut tags.pmc8,
                "pmc9" => &mut tags.pmc9,
                _ => return Err(format!("`{word}` is no tag; write range, pmc8, pmc9 or none")),
            };
            if std::mem::replace(tag, true) {
                return Err(format!("`{word}` stands there twice"));
            }
        }
    }
    Ok(Line::Tags(tags))
}

/// As many words as are wanted.
fn take<'a, const N: usize>(word: &str, what: &str, rest: &[&'a str]) -> Result<[&'a str; N], String> {
    rest.try_into().map_err(|_| format!("`{word}` is followed by {what}"))
}

fn number(text: &str, bits: u32) -> Result<u64, String> {
    parse_u64(text)
        .filter(|value| bits == u64::BITS || value >> bits == 0)
        .ok_or_else(|| format!("`{text}` is no number of {bits} bits; write e.g. 0x1228"))
}

fn find<T: Copy>(names: &[(&str, T)], word: &str) -> Option<T> {
    names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn names<T>(names: &[(&str, T)]) -> String {
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

fn name_of<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, other)| *other == value).map_or("?", |(name, _)| name)
}

/// The inverse of [`read`].
pub(super) fn show(line: &Line) -> String {
    match line {
        Line::Input(stimulus) => show_input(*stimulus),
        Line::Execute { place, slot, retired, squashed } => {
            format!("execute {place}/{slot}{}", show_flags(*retired, *squashed))
        }
        Line::Read { register, value } => format!("{register} = {value:#x}"),
        Line::ReadUndefined(register) => format!("{register} = {UNDEFINED}"),
        Line::Tags(tags) => {
            let names = [("range", tags.range), ("pmc8", tags.pmc8), ("pmc9", tags.pmc9)];
            let set: Vec<&str> = names.into_iter().filter_map(|(name, set)| set.then_some(name)).collect();
            if set.is_empty() { "tags none".to_owned() } else { format!("tags {}", set.join(" ")) }
        }
        Line::DataTag(tag) => format!("data-tag {}", u8::from(*tag)),
        Line::Interrupt => "interrupt".to_owned(),
        Line::Hex(bytes) => format!("hex {}", show_bytes(bytes)),
    }
}

fn show_input(stimulus: Stimulus) -> String {
    match stimulus {
        Stimulus::Reset => "reset".to_owned(),
        Stimulus::Cycle => "cycle".to_owned(),
        Stimulus::Write { register, value } => format!("{register} <- {value:#x}"),
        Stimulus::Read(register) => format!("read {register}"),
        Stimulus::Instruction(Instruction { ip, slot, itype, enco, retired, squashed }) => {
            let flags = show_flags(retired, squashed);
            let itype = name_of(&TYPES, itype);
            format!("instruction {ip:#x}/{slot} {itype} {enco:#013x}{flags}")
        }
        Stimulus::Access(Access { kind, address }) => format!("{} {address:#x}", name_of(&ACCESSES, kind)),
        Stimulus::Miss(Miss::InstructionCache { ip, latency }) => format!("icache-miss {ip:#x} {latency}"),
        Stimulus::Miss(Miss::InstructionTlb { ip, resolution }) => {
            format!("itlb-miss {ip:#x} {}", name_of(&RESOLUTIONS, resolution))
        }
        Stimulus::Miss(Miss::DataCache { latency }) => format!("dcache-miss {latency}"),
        Stimulus::Miss(Miss::DataTlb { level }) => format!("dtlb-miss {}", name_of(&LEVELS, level)),
        Stimulus::Occurrence(Occurrence { es, umask, count }) => match SelectableEvent::find(es, umask) {
            Some(row) => format!("event {} {count}", row.name),
            None => format!("event {es:#04x}/{umask:#x} {count}"),
        },
    }
}

fn show_flags(retired: bool, squashed: bool) -> String {
    format!("{}{}", if retired { "" } else { " wrong-path" }, if squashed { " squashed" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Line {
        read(text).expect("reads").expect("a line").0
    }

    #[test]
    fn registers_are_written_as_in_a_dump() {
        let read = Line::Read { register: Register::pmc(4), value: 0x1228 };
        for text in ["PMC4 = 0x1228", "PMC4=0x1228", "pmc[4] 0x1228", "PMC4   4648 # CPU_CYCLES"] {
            assert_eq!(one(text), read, "{text}");
        }
        assert_eq!(one("PMD0 = X"), Line::ReadUndefined(Register::pmd(0)));
        let write = Stimulus::Write { register: Register::PSR, value: 4 };
        for text in ["PSR <- 4", "PSR<-4"] {
            assert_eq!(one(text), Line::Input(write), "{text}");
        }
        assert_eq!(one("read PMD17"), Line::Input(Stimulus::Read(Register::pmd(17))));
    }

    #[test]
    fn lines_are_shown_as_they_are_read() {
        for text in [
            "reset",
            "cycle",
            "interrupt",
            "PMC4 = 0x1228",
            "PMD200 = X",
            "PSR <- 0x4",
            "read PMD4",
            "instruction 0x4000000000003010/1 M 0x080c0f00380",
            "instruction 0x10/2 X 0x00000000000 wrong-path squashed",
            "execute A+16/0 squashed",
            "load 0x10",
            "store 0x10",
            "semaphore 0x10",
            "lfetch 0x10",
            "rse 0x10",
            "vhpt 0x10",
            "icache-miss 0x2000000000174710 45",
            "itlb-miss 0x10 software",
            "dcache-miss 20",
            "dtlb-miss l2",
            "event NOPS_RETIRED 6",
            "event 0x13/0xf 255",
            "tags none",
            "tags range pmc8 pmc9",
            "data-tag 1",
            "hex 04 00 ff",
        ] {
            assert_eq!(show(&one(text)), text);
        }
    }

    #[test]
    fn what_is_left_out_has_a_meaning() {
        assert_eq!(read(" # nothing"), Ok(None));
        assert_eq!(read("cycle x 3"), Ok(Some((Line::Input(Stimulus::Cycle), 3))));
        assert_eq!(one("instruction 0x10 IA32"), one("instruction 0x10/0 IA32 0x0"));
        assert_eq!(one("event loads_retired"), one("event 0x6c/0 1"));
        assert_eq!(one("execute A"), one("execute A/0"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, message) in [
            ("PMC4", "`` is no number of 64 bits; write e.g. 0x1228"),
            ("PMC4 = x", "`x` is no number of 64 bits; write e.g. 0x1228"),
            ("PMC4 <- X", "`X` is no number of 64 bits; write e.g. 0x1228"),
            ("read PMX4", "`PMX4` is no register; write PMC4, PMD17, IBR0, DBR7, PSR or PMV"),
            ("reset now", "`reset` is followed by nothing"),
            ("load", "`load` is followed by an address"),
            ("instruction 0x10/3 M 0", "`3` is no slot; a bundle has 0, 1 and 2"),
            ("instruction 0x10/0 A 0", "`A` is no type of syllables; write M, I, F, B, X, IA32"),
            (
                "instruction 0x10/0 M 0x20000000000",
                "`0x20000000000` is no number of 41 bits; write e.g. 0x1228",
            ),
            ("instruction 0x10/0 M 0 squashed squashed", "`squashed` stands there twice"),
            ("instruction M", "an instruction is written `instruction 0x3010/1 M 0x080c0f00380`"),
            ("event NOPS 1", "there is no event `NOPS`"),
            ("event 0x80 1", "`0x80` is no number of 7 bits; write e.g. 0x1228"),
            ("event NOPS_RETIRED 256", "`256` is no number of 8 bits; write e.g. 0x1228"),
            ("tags", "`tags` is followed by range, pmc8, pmc9 or none"),
            ("tags none range", "`none` is no tag; write range, pmc8, pmc9 or none"),
            ("tags pmc8 pmc8", "`pmc8` stands there twice"),
            ("data-tag 2", "`data-tag` is followed by 0 or 1, not by `2`"),
            ("itlb-miss 0x10 l2", "`l2` resolves no miss; write vhpt, software"),
            ("dtlb-miss none", "`none` resolves no miss; write l2, vhpt, software"),
            ("hex 4", "`hex` is followed by pairs of hexadecimal digits"),
            ("hex", "`hex` is followed by pairs of hexadecimal digits"),
            ("cycle x many", "`many` is no number of 32 bits; write e.g. 0x1228"),
            ("cycles", "`cycles` begins no line; write e.g. `PMC4 <- 0x1228`, `PMD4 = 0x5` or `cycle`"),
        ] {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
    }
}
