//! How the wire of a RISC-V E-Trace case is written: one string per packet.
//!
//! | text | bytes |
//! |---|---|
//! | `"73 00 04"` | a packet with this payload, framed by the encapsulation of the parameters |
//! | `"@src=5 @time=0x1234 @flow=1 22 12"` | the same with other fields of the transport than usual |
//! | `"idle"`, `"idle*32"`, `"align"` | null packets with `flow` = 0 |
//! | `"raw 00 a0"` | these bytes as they are: null packets with `flow`, malformed framing |
//!
//! | field | value | absent |
//! |---|---|---|
//! | `@src=` | `srcID` | that of the parameters |
//! | `@time=` | the timestamp; `extend` is 1 | no timestamp, `extend` is 0 |
//! | `@flow=` | `flow` | 0 |
//! | `@type=` | `type` | that of instruction trace |
//! | `@packed` | the sign bits on top of the payload are dropped before the last byte is filled | the payload's bytes travel whole |
//!
//! A `#` starts a comment.

use super::framing::{Framing, Unit};
use crate::case::{Problem, check_wire};
use crate::notation::{parse_bytes, parse_u64, show_bytes};
use crate::riscv_etrace::Encapsulation;

/// Null packets without `flow` (RVET-ENCAP-011).
const IDLE: u8 = 0x00;
const ALIGNMENT: u8 = 0x80;

/// Most null packets that one string stands for.
const MOST_NULLS: usize = 1 << 16;

pub(super) fn parse(lines: &[String], encapsulation: Encapsulation) -> Result<Vec<u8>, Problem> {
    let framing = Framing::new(encapsulation);
    let mut bytes = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        parse_line(line, &framing, &mut bytes)
            .map_err(|message| Problem::new(format!("wire[{index}]"), message))?;
        check_wire(index, &bytes)?;
    }
    Ok(bytes)
}

fn parse_line(line: &str, framing: &Framing, bytes: &mut Vec<u8>) -> Result<(), String> {
    let text = line.split('#').next().unwrap_or_default().trim();
    if let Some(raw) = text.strip_prefix("raw").filter(|raw| raw.is_empty() || raw.starts_with([' ', '\t'])) {
        let raw = hex(raw.trim())?;
        if raw.is_empty() {
            return Err("`raw` needs bytes".to_owned());
        }
        bytes.extend(raw);
        return Ok(());
    }
    let (name, count) = text.split_once('*').map_or((text, Some(1)), |(name, count)| {
        (name, count.parse().ok().filter(|count| (1..=MOST_NULLS).contains(count)))
    });
    if let Some(null) = [("idle", IDLE), ("align", ALIGNMENT)].into_iter().find(|(null, _)| *null == name) {
        let count = count.ok_or_else(|| format!("`{text}` is not 1 to {MOST_NULLS} null packets"))?;
        bytes.resize(bytes.len() + count, null.1);
        return Ok(());
    }
    let unit = parse_unit(text, framing)?;
    bytes.extend(framing.frame(&unit)?);
    Ok(())
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    parse_bytes(text).ok_or_else(|| format!("`{text}` is no string of bytes such as `73 00 04`"))
}

fn parse_unit(text: &str, framing: &Framing) -> Result<Unit, String> {
    let mut unit = framing.plain(Vec::new());
    let mut rest = text;
    while let Some(field) = rest.strip_prefix('@') {
        let (field, tail) = field.split_once([' ', '\t']).unwrap_or((field, ""));
        rest = tail.trim_start();
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let number = || parse_u64(value).ok_or_else(|| format!("`@{field}` has no number"));
        match name {
            "src" => unit.source = number()?,
            "time" => unit.time = Some(number()?),
            "flow" => unit.flow = number()?,
            "type" => unit.kind = number()?,
            "packed" if value.is_empty() => unit.packed = true,
            _ => {
                return Err(format!(
                    "`@{field}` is none of `@src=`, `@time=`, `@flow=`, `@type=`, `@packed`"
                ));
            }
        }
    }
    unit.payload = hex(rest)?;
    Ok(unit)
}

pub(super) fn show(bytes: &[u8], encapsulation: Encapsulation) -> Vec<String> {
    let framing = Framing::new(encapsulation);
    let mut lines = Vec::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let nulls = match first {
            IDLE => rest.iter().take(MOST_NULLS).take_while(|&&byte| byte == IDLE).count(),
            ALIGNMENT => 1,
            _ => 0,
        };
        // A packet that is cut off ends with the stream.
        let length = if nulls > 0 { nulls } else { framing.length(first) };
        let (unit, tail) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        lines.push(match (first, nulls) {
            (IDLE, 1) => "idle".to_owned(),
            (IDLE, _) => format!("idle*{nulls}"),
            (ALIGNMENT, _) => "align".to_owned(),
            _ => show_unit(unit, &framing).unwrap_or_else(|| format!("raw {}", show_bytes(unit))),
        });
        rest = tail;
    }
    lines
}

/// The packet in the notation, unless only `raw` can express it.
fn show_unit(bytes: &[u8], framing: &Framing) -> Option<String> {
    let plain = framing.plain(Vec::new());
    let unit = framing.read(bytes)?;
    let mut text = String::new();
    let mut field = |name: &str, value: u64, usual: u64| {
        if value != usual {
            text.push_str(&format!("@{name}={value:#x} "));
        }
    };
    field("src", unit.source, plain.source);
    if let Some(time) = unit.time {
        field("time", time, !time);
    }
    field("flow", unit.flow, plain.flow);
    field("type", unit.kind, plain.kind);
    if unit.packed {
        text.push_str("@packed ");
    }
    Some(text + &show_bytes(&unit.payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::riscv_etrace::{NormalEncapsulation, SiemensMessaging};

    fn read(lines: &[&str], encapsulation: Encapsulation) -> Result<Vec<u8>, String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        parse(&lines, encapsulation).map_err(|problem| problem.to_string())
    }

    fn bytes(lines: &[&str]) -> Result<Vec<u8>, String> {
        read(lines, Encapsulation::default())
    }

    fn normal(src_id_bits: u8, src_id: u16, timestamp_bytes: u8, type_bits: u8) -> Encapsulation {
        let plain = NormalEncapsulation::default();
        Encapsulation::Normal(NormalEncapsulation {
            src_id_bits,
            src_id,
            timestamp_bytes,
            type_bits,
            ..plain
        })
    }

    fn siemens(source: u16) -> Encapsulation {
        Encapsulation::Siemens(SiemensMessaging { source, ..SiemensMessaging::default() })
    }

    /// Expected bytes: header byte = length (EN 2.1.1), as in the example `02 22 12`.
    #[test]
    fn payloads_are_framed_and_raw_bytes_are_not() {
        assert_eq!(bytes(&["22 12"]), Ok(vec![0x02, 0x22, 0x12]));
        assert_eq!(bytes(&["1f # support", "730004"]), Ok(vec![1, 0x1f, 3, 0x73, 0, 4]));
        assert_eq!(bytes(&["raw 00 80", "0a"]), Ok(vec![0, 0x80, 1, 0x0a]));
        assert_eq!(bytes(&["idle", "align", "idle*3"]), Ok(vec![0, 0x80, 0, 0, 0]));
        assert_eq!(bytes(&["raw 05 73 # cut off"]), Ok(vec![5, 0x73]));
        assert_eq!(bytes(&["00 ".repeat(31).as_str()]).map(|bytes| bytes.len()), Ok(32));
        assert_eq!(bytes(&[]), Ok(vec![]));
    }

    #[test]
    fn all_lines_together_are_bounded() {
        assert_eq!(bytes(&["idle*65536"; 256]).map(|bytes| bytes.len()), Ok(16 << 20));
        assert!(bytes(&["idle*65536"; 257]).expect_err("too many").starts_with("wire[256]"));
    }

    /// Expected bytes: worked by hand from EN 2.1 and the messages of ET 13.
    #[test]
    fn fields_of_the_transport_are_bit_exact_and_shown_again() {
        let cases: [(Encapsulation, &str, &[u8]); 17] = [
            (normal(8, 0x0a, 0, 0), "22 12", &[0x02, 0x0a, 0x22, 0x12]),
            (normal(8, 0x0b, 0, 0), "@src=0xa 22 12", &[0x02, 0x0a, 0x22, 0x12]),
            (normal(8, 0x0a, 0, 1), "22 12", &[0x03, 0x0a, 0x44, 0x24, 0x00]),
            (normal(8, 0x0a, 0, 1), "@packed 22 12", &[0x02, 0x0a, 0x44, 0x24]),
            (normal(6, 5, 0, 2), "@type=0x2 22 12", &[0x03, 0x85, 0x22, 0x12]),
            (normal(8, 0x0a, 2, 0), "@time=0x1234 @flow=0x1 22 12", &[0xa2, 0x0a, 0x34, 0x12, 0x22, 0x12]),
            (normal(12, 0xabc, 0, 0), "22 12", &[0x03, 0xbc, 0x2a, 0x22, 0x01]),
            (normal(12, 0xabc, 0, 1), "@type=0x1 fa fb", &[0x03, 0xbc, 0x5a, 0x7f, 0xff]),
            (normal(4, 9, 0, 0), "02", &[0x02, 0x29, 0x00]),
            (normal(4, 9, 0, 0), "@packed 02", &[0x01, 0x29]),
            (normal(0, 0, 4, 0), "@time=0x1020304 1f", &[0x81, 4, 3, 2, 1, 0x1f]),
            // 4 bits of source, 8 of time, 8 of payload, 4 of padding: only the time is not in `length`.
            (normal(4, 9, 1, 0), "@time=0x12 80", &[0x82, 0x29, 0x01, 0xf8]),
            (siemens(1), "32 04 00 00 02", &[0x06, 0x81, 0x32, 0x04, 0x00, 0x00, 0x02]),
            (siemens(0xa), "bd aa aa 68 00 00 20", &[0x08, 0x8a, 0xbd, 0xaa, 0xaa, 0x68, 0x00, 0x00, 0x20]),
            (siemens(5), "@type=0x3 73", &[0x02, 0xc5, 0x73]),
            (Encapsulation::Atb, "32 04 00 00 02", &[0x05, 0x32, 0x04, 0x00, 0x00, 0x02]),
            (normal(0, 0, 0, 3), "@packed 00", &[0x01, 0x00]),
        ];
        for (encapsulation, text, expected) in cases {
            assert_eq!(read(&[text], encapsulation).as_deref(), Ok(expected), "{text}");
            assert_eq!(show(expected, encapsulation), [text]);
        }
    }

    #[test]
    fn bad_lines_are_refused() {
        for (line, message) in [
            ("", "a payload has at least one byte"),
            ("# nothing", "a payload has at least one byte"),
            ("7", "`7` is no string of bytes such as `73 00 04`"),
            ("0x73", "`0x73` is no string of bytes such as `73 00 04`"),
            ("raw", "`raw` needs bytes"),
            ("raw 0", "`0` is no string of bytes such as `73 00 04`"),
            ("raw00", "`raw00` is no string of bytes such as `73 00 04`"),
            ("idle*0", "`idle*0` is not 1 to 65536 null packets"),
            ("align*65537", "`align*65537` is not 1 to 65536 null packets"),
            ("@src=1 73", "`@src` = 0x1 does not fit 0 bits"),
            ("@time=1 73", "`@time` needs `timestamp_bytes`"),
            ("@flow=4 73", "`@flow` = 0x4 does not fit 2 bits"),
            ("@type=1 73", "`@type` = 0x1 does not fit 0 bits"),
            ("@flow=x 73", "`@flow=x` has no number"),
            ("@flow", "`@flow` has no number"),
            ("@colour=1 73", "`@colour=1` is none of `@src=`, `@time=`, `@flow=`, `@type=`, `@packed`"),
        ] {
            assert_eq!(bytes(&["1f", line]), Err(format!("wire[1]: {message}")));
        }
        let long = "00".repeat(32);
        let message =
            |bits| Err(format!("wire[0]: {bits} bits do not fit the 31 bytes that `length` can count"));
        assert_eq!(bytes(&[&long]), message(256));
        // 248 bits, but one of them is the type.
        assert_eq!(read(&[&"00".repeat(31)], normal(0, 0, 0, 1)), message(249));
        assert!(read(&[&format!("@packed {}", "00".repeat(31))], normal(0, 0, 0, 1)).is_ok());
    }

    #[test]
    fn bytes_are_shown_as_they_would_be_written() {
        let shown = |bytes: &[u8]| show(bytes, Encapsulation::default());
        assert_eq!(shown(&[3, 0x73, 0, 4, 1, 0x0a]), ["73 00 04", "0a"]);
        assert_eq!(shown(&[0, 0, 0x80, 0x80, 1, 0x0a]), ["idle*2", "align", "align", "0a"]);
        assert_eq!(shown(&[0x21, 0x0a, 0x81, 0x0b, 1, 2]), ["@flow=0x1 0a", "raw 81 0b", "02"]);
        assert_eq!(shown(&[0xa0, 1, 2]), ["raw a0", "02"]);
        assert_eq!(shown(&[3, 0x73, 0]), ["raw 03 73 00"]);
        assert_eq!(shown(&[3]), ["raw 03"]);
        assert!(shown(&[]).is_empty());
    }

    #[test]
    fn shown_bytes_read_back() {
        let encapsulations = [
            Encapsulation::default(),
            Encapsulation::Atb,
            siemens(3),
            normal(8, 1, 2, 0),
            normal(12, 1, 3, 1),
            normal(5, 1, 1, 4),
            normal(16, 0, 8, 8),
        ];
        // Every header byte, before too few and of enough bytes.
        for encapsulation in encapsulations {
            for header in 0..=u8::MAX {
                for length in [0, 1, 31, 40, 50] {
                    for factor in [0, 37, 255] {
                        let mut bytes = vec![header];
                        bytes.extend((0..length).map(|index: u8| index.wrapping_mul(factor)));
                        let lines = show(&bytes, encapsulation);
                        assert_eq!(parse(&lines, encapsulation), Ok(bytes), "{lines:?}");
                    }
                }
            }
        }
    }
}
