#!/usr/bin/env python3
"""An example: a CoreSight formatter, which packs the bytes of trace sources into frames. Put your encoder in the place
of `Formatter`."""

import tdut

FULL_SYNC, HALF_SYNC = bytes.fromhex("ffffff7f"), bytes.fromhex("ff7f")
NULL, SOURCES, TRIGGER = 0, range(1, 0x70), 0x7D


class Formatter:
    def __init__(self, parameters, policy):
        # What it cannot do is refused: bytes of an encoder that guesses are worse than none.
        for key in ("half_sync_pairs", "id_repeat_pairs", "repeat_delayed"):
            if policy[key]:
                raise tdut.Unsupported(key)
        self.framing, self.policy = parameters["framing"], policy
        self.pairs, self.auxiliary, self.named = 0, 0, False  # of the frame that has begun
        self.waiting = None  # the byte for the even place of the next pair
        self.id = None  # the one that was sent last
        self.unnamed = 0  # whole frames since the latest one with an ID
        self.frames = None  # whole frames since the latest full synchronisation packet

    def step(self, stimulus):
        self.wire = bytearray()
        kind, value = next(iter(stimulus.items())) if isinstance(stimulus, dict) else (stimulus, None)
        if kind == "data" and value["id"] in SOURCES:
            for byte in bytes.fromhex(value["bytes"]):
                self.take(value["id"], byte)
        elif kind == "trigger":
            self.take(TRIGGER, 0)
        elif kind == "flush":
            self.flush()
        elif kind == "idle" and self.framing == "continuous":
            self.wire += HALF_SYNC * value
        return [tdut.wire(self.wire)] if self.wire else []

    def finish(self):
        return []  # a formatter without a flush keeps what waits

    def take(self, id, byte):
        frames = self.policy["id_repeat_frames"]
        repeat = frames and self.unnamed >= frames and not self.named
        if self.id != id or repeat:
            last, self.waiting = self.waiting, None
            if last is not None:  # it needs the odd place; a repeated ID may as well take effect at once
                self.id_pair(id, self.id != id, last)
            elif self.pairs == 7:
                self.id_pair(id, False, 0)
            else:
                return self.id_pair(id, False, byte)
        if self.waiting is not None:
            even, self.waiting = self.waiting, None
            self.pair(even & 0xFE, even & 1, byte)
        elif self.pairs == 7:
            self.pair(byte & 0xFE, byte & 1, 0)
        else:
            self.waiting = byte

    def flush(self):
        """Fills the frame with the null ID and zeros."""
        if self.pairs == 0 and self.waiting is None:
            return
        last, self.waiting = self.waiting, None
        self.id_pair(NULL, last is not None, last or 0)
        while self.pairs:
            self.pair(0, 0, 0)

    def id_pair(self, id, delayed, odd):
        """An ID in the even place; `delayed`: it takes effect after the odd byte."""
        self.id, self.named = id, True
        self.pair(id << 1 | 1, delayed, odd)

    def pair(self, even, auxiliary, odd):
        """Two bytes of a frame; the last pair of a frame has the auxiliary byte in its odd place."""
        period = self.policy["full_sync_frames"]
        if self.pairs == 0 and self.framing != "memory":
            if self.frames is None or period and self.frames >= period:
                self.wire += FULL_SYNC
                self.frames = 0
        self.auxiliary |= int(auxiliary) << self.pairs
        self.wire += bytes([even, self.auxiliary if self.pairs == 7 else odd])
        self.pairs += 1
        if self.pairs == 8:
            self.unnamed = 0 if self.named else self.unnamed + 1
            self.frames = None if self.frames is None else self.frames + 1
            self.pairs, self.auxiliary, self.named = 0, 0, False


def make(family, parameters, policy):
    if family != "arm_etm_formatter":
        raise tdut.Unsupported(family)
    return Formatter(parameters, policy)


if __name__ == "__main__":
    tdut.serve_encoder("example-python", "1.0", {"arm_etm_formatter": {"layers": ["events"]}}, make)
