//! Packets as a picture: a timeline over the executed instructions, then each packet bit by bit in the order in which
//! its bits travel. One SVG file without scripts, fonts or links.

use std::fmt::Write as _;

use super::units::{DrawnField, Unit};

/// Packets that a picture has room for.
const MOST_UNITS: usize = 256;

/// Lines of results of one packet.
const MOST_LINES: usize = 24;

/// Bits in a row.
const ROW: usize = 32;

const CELL: usize = 26;
const LEFT: usize = 16;
const WIDTH: usize = LEFT * 2 + CELL * 32;
const LINE: usize = 18;

/// Colours of fields, one after the other. Names and numbers distinguish fields without them.
const FILLS: [&str; 6] = ["#cfe8ff", "#ffe2b8", "#d4f2d0", "#f6d2e4", "#e3dcff", "#f4f0b0"];

/// The picture of some packets.
pub(super) fn picture(title: &str, units: &[Unit]) -> String {
    let mut drawing = Drawing { out: String::new(), y: 30 };
    drawing.text(LEFT, "title", title);
    drawing.y += LINE;
    let shown = units.get(..MOST_UNITS).unwrap_or(units);
    drawing.timeline(shown);
    for unit in shown {
        drawing.unit(unit);
    }
    if shown.len() < units.len() {
        drawing.text(
            LEFT,
            "dim",
            &format!("{} more packets: choose with --packets", units.len() - shown.len()),
        );
        drawing.y += LINE;
    }
    let Drawing { out, y } = drawing;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\">\n\
         <style>text{{font:12px monospace;white-space:pre;fill:#1a1a1a}}.title{{font-size:15px;font-weight:bold}}\
         .heading{{font-weight:bold}}.dim{{fill:#666}}.event{{fill:#0a5c2b}}.fault{{fill:#b00020}}\
         .state{{fill:#6a3d9a}}\
         .bit,.name{{text-anchor:middle}}.place{{font-size:9px;fill:#666}}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{y}\" fill=\"#fff\"/>\n{out}</svg>\n"
    )
}

struct Drawing {
    out: String,
    /// The baseline of the next line.
    y: usize,
}

impl Drawing {
    /// A line of text; does not advance.
    fn text(&mut self, x: usize, class: &str, text: &str) {
        // A character is at most 7.3 wide.
        let most = (WIDTH - x.min(WIDTH)) * 10 / 73;
        let cut: String = if text.chars().count() > most {
            text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
        } else {
            text.to_owned()
        };
        let y = self.y;
        let _ = writeln!(self.out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(&cut));
    }

    fn rect(&mut self, x: usize, y: usize, width: usize, height: usize, fill: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"#555\" \
             stroke-width=\"0.5\"/>"
        );
    }

    /// For each packet a box as wide as the instructions that it reports; a packet that reports none is a line.
    fn timeline(&mut self, units: &[Unit]) {
        let total: u64 = units.iter().map(|unit| unit.instructions).sum();
        if total == 0 {
            return;
        }
        let room = (WIDTH - 2 * LEFT) as u64;
        let place = |before: u64| LEFT + usize::try_from(before * room / total).unwrap_or(0);
        self.text(LEFT, "dim", &format!("packets over {total} instructions, in the order of execution"));
        let top = self.y + 6;
        let mut before: u64 = 0;
        for (index, unit) in units.iter().filter(|unit| unit.packet.is_some()).enumerate() {
            let x = place(before);
            before += unit.instructions;
            let width = (place(before) - x).max(1);
            let (fill, height) =
                if unit.instructions == 0 { ("#555", 28) } else { (FILLS[index % FILLS.len()], 22) };
            self.rect(x, top, width, height, fill);
            if let Some(number) = unit.packet.filter(|_| width >= 20) {
                self.y = top + 15;
                self.text(x + 4, "place", &number.to_string());
            }
        }
        self.y = top + 28 + 2 * LINE;
    }

    fn unit(&mut self, unit: &Unit) {
        if !unit.heading.is_empty() {
            self.text(LEFT, "heading", &unit.heading);
            self.y += LINE / 2;
        }
        self.bits(&unit.drawn);
        let theirs = unit.subject.iter().flatten().map(|line| format!("subject: {line}"));
        let lines: Vec<String> = unit.reference.iter().cloned().chain(theirs).collect();
        let state = unit.state.iter().map(|line| format!("~ {line}")).take(MOST_LINES);
        let reasons = unit.reasons.iter().map(|reason| format!(": {reason}")).take(MOST_LINES);
        for line in lines.iter().take(MOST_LINES).cloned().chain(state).chain(reasons) {
            let class = match line.get(..1) {
                Some("!") => "fault",
                Some(">") => "event",
                Some("~") => "state",
                Some(":") => "dim",
                _ => "packet",
            };
            self.text(LEFT + 8, class, &line);
            self.y += LINE;
        }
        if lines.len() > MOST_LINES {
            self.text(LEFT + 8, "dim", &format!("{} more lines", lines.len() - MOST_LINES));
            self.y += LINE;
        }
        self.y += LINE;
    }

    /// The bits in rows, then a line for each field.
    fn bits(&mut self, fields: &[DrawnField]) {
        if fields.is_empty() {
            return;
        }
        let (mut at, mut rows) = (0, 0);
        let top = self.y + 4;
        for (index, field) in fields.iter().enumerate() {
            for (number, bit) in field.bits.chars().enumerate() {
                let (row, column) = (at / ROW, at % ROW);
                (at, rows) = (at + 1, row + 1);
                let (x, y) = (LEFT + CELL * column, top + 44 * row);
                self.rect(x, y, CELL, 20, FILLS[index % FILLS.len()]);
                self.y = y + 15;
                self.text(x + CELL / 2, "bit", &bit.to_string());
                if number == 0 || column == 0 {
                    self.y = y + 32;
                    self.text(x + CELL / 2, "name", &(index + 1).to_string());
                }
            }
        }
        self.y = top + 44 * rows + 8;
        for (index, field) in fields.iter().enumerate() {
            self.rect(LEFT, self.y - 10, 12, 12, FILLS[index % FILLS.len()]);
            let DrawnField { name, bit, width, value, meaning, clauses, .. } = field;
            let place =
                if field.bits.is_empty() { String::from("-") } else { format!("{}.{}", bit / 8, bit % 8) };
            let unit = if *width == 1 { "bit " } else { "bits" };
            let line = format!(
                "{:>3} {place:>8} {width:>3} {unit}  {name:<18} {value:#x}  {meaning}  {clauses}",
                index + 1
            );
            self.text(LEFT + 18, "field", line.trim_end());
            self.y += LINE;
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No other control character may be in XML.
            character if character.is_control() => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(packet: u64, instructions: u64) -> Unit {
        let field = DrawnField {
            name: "format",
            bit: 8 * packet,
            width: 2,
            bits: String::from("01"),
            value: 2,
            meaning: String::new(),
            clauses: String::from("X-1"),
        };
        Unit {
            heading: format!("packet {packet}"),
            packet: Some(packet),
            instructions,
            drawn: vec![field],
            reference: vec![String::from("> retire <first>")],
            ..Unit::default()
        }
    }

    #[test]
    fn bits_stand_in_the_order_in_which_they_travel() {
        let shown = picture("a & b", &[unit(3, 1)]);
        assert!(shown.contains("a &amp; b") && shown.contains("&gt; retire &lt;first&gt;"), "{shown}");
        let bits: Vec<&str> = shown
            .lines()
            .filter(|line| line.contains("class=\"bit\""))
            .filter_map(|line| line.split('>').nth(1)?.strip_suffix("</text"))
            .collect();
        assert_eq!(bits, ["0", "1"]);
        assert!(shown.contains("  1      3.0   2 bits  format             0x2    X-1"), "{shown}");
    }

    /// 1 and 3 of 4 instructions; the packet between them reports none.
    #[test]
    fn the_timeline_shows_which_instructions_a_packet_reports() {
        let shown = picture("", &[unit(0, 1), unit(1, 0), unit(2, 3)]);
        let boxes: Vec<&str> = shown.lines().filter(|line| line.starts_with("<rect x=")).take(3).collect();
        let (quarter, room) = (CELL * 8, CELL * 32);
        assert!(
            boxes[0].contains(&format!("x=\"{LEFT}\" "))
                && boxes[0].contains(&format!("width=\"{quarter}\""))
        );
        assert!(boxes[1].contains(&format!("x=\"{}\" ", LEFT + quarter)) && boxes[1].contains("width=\"1\""));
        assert!(boxes[2].contains(&format!("width=\"{}\"", room - quarter)), "{boxes:?}");
    }

    #[test]
    fn a_picture_has_room_for_some_packets() {
        let many: Vec<Unit> = (0..300).map(|packet| unit(packet, 1)).collect();
        assert!(picture("", &many).contains("44 more packets: choose with --packets"));
    }
}
