"""Reads the packs of `traceproof vectors pack` (docs/pack.md). Needs Python 3.8 and nothing else."""

import json
from dataclasses import dataclass, field
from pathlib import Path

END, CASE, CYCLE, IDLE, FIELD, READY, DRAIN = range(7)

# Name and hexadecimal digits of the columns, and of those that every block has.
HEAD = [("row", 8), ("op", 2), ("priv", 1), ("ctype", 1), ("trigger", 2), ("status", 2), ("cause", 16), ("tval", 16),
        ("context", 16), ("time", 16), ("epc", 16), ("handler", 16)]
BLOCK = [("iaddr", 16), ("itype", 1), ("ilastsize", 1), ("flags", 2), ("iretire", 4)]


class PackError(Exception):
    """A file of a pack is not what docs/pack.md describes; the message has file and line."""


@dataclass
class Block:
    """One block of a clock; `flags`: bit 0 sijump, bit 1 notify."""
    iaddr: int = 0
    itype: int = 0
    ilastsize: int = 0
    flags: int = 0
    iretire: int = 0


@dataclass
class Row:
    """A row. Control rows have their arguments in `cause` (A) and `tval` (B)."""
    row: int = 0
    op: int = CYCLE
    priv: int = 0
    ctype: int = 0
    trigger: int = 0
    status: int = 0
    cause: int = 0
    tval: int = 0
    context: int = 0
    time: int = 0
    epc: int = 0
    handler: int = 0
    blocks: list = field(default_factory=list)

    @classmethod
    def parse(cls, text):
        """Reads a line of pack.memh; raises ValueError."""
        columns = text.strip().split("_")
        rest = len(columns) - len(HEAD)
        if rest <= 0 or rest % len(BLOCK):
            raise ValueError(f"{len(columns)} columns")
        widths = HEAD + BLOCK * (rest // len(BLOCK))
        for (name, digits), column in zip(widths, columns):
            if len(column) != digits:
                raise ValueError(f"`{name}` must have {digits} hexadecimal digits")
        values = [int(column, 16) for column in columns]
        if values[1] > DRAIN:
            raise ValueError(f"the opcode {values[1]} is unknown")
        blocks = [Block(*values[at:at + len(BLOCK)]) for at in range(len(HEAD), len(values), len(BLOCK))]
        return cls(*values[:len(HEAD)], blocks=blocks)

    def words(self):
        """The row as words of 32 bits, most significant first."""
        values = [getattr(self, name) for name, _ in HEAD]
        for block in self.blocks:
            values += [getattr(block, name) for name, _ in BLOCK]
        widths = HEAD + BLOCK * len(self.blocks)
        digits = "".join(f"{value:0{width}x}" for (_, width), value in zip(widths, values))
        return [int(digits[at:at + 8], 16) for at in range(0, len(digits), 8)]


class Checksum:
    """The checksum of the rows that were driven."""

    def __init__(self):
        self.value = 0x811C9DC5

    def add(self, row):
        """Adds a row."""
        for word in row.words():
            x = self.value ^ word
            x = (x << 5 | x >> 27) & 0xFFFFFFFF
            self.value = x * 0x01000193 & 0xFFFFFFFF


class Pack:
    """A directory that `traceproof vectors pack` wrote."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.manifest = json.loads((self.directory / "manifest.json").read_text("ascii"))
        if self.manifest.get("format") != "traceproof-pack" or self.manifest.get("version") != 1:
            raise PackError(f"{self.directory / 'manifest.json'}: is no pack of version 1")
        self.blocks = self.manifest["blocks"]

    def rows(self):
        """The rows of all cases in order, one by one."""
        file = self.directory / "pack.memh"
        with open(file, encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield Row.parse(line)
                except ValueError as error:
                    raise PackError(f"{file}:{number}: {error}") from error

    def expected(self, case):
        """The expected packets of a case (an entry of `manifest["cases"]`): dictionaries as in docs/pack.md."""
        with open(self.directory / f"{case['id']}.expect", encoding="ascii") as lines:
            return [json.loads(line) for line in lines]
