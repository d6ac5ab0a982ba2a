#!/usr/bin/env python3
"""An example: reads the packets of RISC-V E-Trace, without events. Put your decoder in the place of `Packets`."""

import tdut

CLAIMS = {
    "layers": ["packets"],
    "features": ["rv32", "rv64", "compressed", "context", "time", "full_address", "implicit_exception",
                 "implicit_return", "sijump", "support_layout", "memory_blocks"],
    "faults": "flag",
}
QUAL_STATUS = ["no_change", "ended_rep", "trace_lost", "ended_ntr"]


class Damaged(Exception):
    """A packet that cannot be read; its argument is the class of the fault."""


class Bits:
    """Fields of a payload, least significant bit first; behind its end the top bit repeats itself."""

    def __init__(self, payload):
        self.rest, self.left, self.last = int.from_bytes(payload, "little", signed=True), 8 * len(payload), 0

    def take(self, width):
        value = self.rest & ((1 << width) - 1)
        self.last = value >> (width - 1) & 1 if width else self.last
        self.rest >>= width
        self.left -= width
        return value

    def flag(self):
        return self.take(1) == 1

    def end(self):
        """Nothing but filling may be left: copies of the last bit of the last field."""
        if self.left >= 8 or self.rest != -self.last:
            raise Damaged("overlong")


class Packets:
    """What travels: a header byte with the length of the payload, and the payload. No packet crosses a border of blocks."""

    def __init__(self, parameters):
        self.parameters = parameters
        memory = parameters["encapsulation"]["normal"]
        self.block, self.border = memory["block_bytes"], memory["first_block"]
        self.reset()

    def reset(self):
        self.waiting, self.byte, self.index = b"", 0, 0
        self.modes = dict(self.parameters["modes"])

    def push(self, chunk):
        self.waiting += chunk
        results = []
        while self.waiting:
            length = 1 + (self.waiting[0] & 31)
            room = self.block - (self.byte - self.border) % self.block if self.block else length
            if len(self.waiting) < min(length, room):
                break
            if length > room:
                results.append({"at": [self.index, self.byte, 0], "fault": "framing"})
                length = room
            elif length > 1 and self.waiting[0] >> 7:  # an extended header is of another transport
                results.append({"at": [self.index, self.byte, 0], "fault": "framing"})
            elif length > 1:
                results.append(self.result(self.waiting[1:length]))
            self.index += length > 1
            self.waiting, self.byte = self.waiting[length:], self.byte + length
        return results

    def finish(self):
        return [{"at": [self.index, self.byte, 0], "fault": "truncated"}] if self.waiting else []

    def result(self, payload):
        try:
            return {"at": [self.index, self.byte, 0], "packet": self.packet(Bits(payload))}
        except Damaged as damage:
            return {"at": [self.index, self.byte, 0], "fault": str(damage)}

    def packet(self, bits):
        read = [self.extension, self.branch, self.address, self.synchronisation][bits.take(2)]
        packet = read(bits)
        bits.end()
        if "support" in packet:
            self.announce(packet["support"]["ioptions"])
        return packet

    def extension(self, bits):
        raise Damaged("reserved-encoding")

    def branch(self, bits):
        branches = bits.take(5)
        width = next(width for width in (1, 3, 7, 15, 31) if branches <= width) if branches else 31
        fields = {"branches": branches, "branch_map": bits.take(width)}
        return {"branch": {**fields, **self.reported(bits)} if branches else fields}

    def address(self, bits):
        return {"address": self.reported(bits)}

    def synchronisation(self, bits):
        subformat = bits.take(2)
        if subformat == 3:
            return {"support": self.support(bits)}
        parameters, fields = self.parameters, {}
        if subformat < 2:
            fields["branch"] = bits.flag()
        fields["privilege"] = bits.take(parameters["privilege_width_p"])
        if not parameters["notime_p"]:
            fields["time"] = hex(bits.take(parameters["time_width_p"]))
        if not parameters["nocontext_p"]:
            fields["context"] = hex(bits.take(parameters["context_width_p"]))
        if subformat == 0:
            fields["address"] = hex(self.full_address(bits))
        elif subformat == 1:
            fields["ecause"] = bits.take(parameters["ecause_width_p"])
            fields["interrupt"], fields["thaddr"] = bits.flag(), bits.flag()
            if not (self.modes["implicit_exception"] and fields["thaddr"]):
                fields["address"] = hex(self.full_address(bits))
            if not fields["interrupt"]:
                fields["tval"] = hex(bits.take(parameters["iaddress_width_p"]))
        return {("start", "trap", "context")[subformat]: fields}

    def support(self, bits):
        layout = self.parameters["support"]
        fields = {
            "ienable": bits.flag(),
            "encoder_mode": bits.take(layout["encoder_mode_width"]),
            "qual_status": QUAL_STATUS[bits.take(2)],
            "ioptions": bits.take(len(layout["ioptions"])),
        }
        if layout["data_fields"]:
            fields.update(denable=bits.flag(), dloss=bits.flag(), doptions=bits.take(layout["doptions_width"]))
        return fields

    def announce(self, ioptions):
        for bit, mode in enumerate(self.parameters["support"]["ioptions"]):
            if mode in self.modes:
                self.modes[mode] = ioptions >> bit & 1 == 1

    def full_address(self, bits):
        lsb = self.parameters["iaddress_lsb_p"]
        return bits.take(self.parameters["iaddress_width_p"] - lsb) << lsb

    def reported(self, bits):
        """Address and status bits of formats 1 and 2; each bit says whether it differs from the one before."""
        parameters, width = self.parameters, self.parameters["iaddress_width_p"]
        address = self.full_address(bits)
        top = address >> (width - 1)
        notify, updiscon, irreport = bits.take(1), bits.take(1), bits.take(1)
        stack = parameters["return_stack_size_p"]
        irdepth = bits.take(stack + (stack > 0) + parameters["call_counter_size_p"])
        if self.modes["full_address"]:
            text = hex(address)
        else:
            text = f"{address - (top << width):+#x}"
        fields = {"address": text, "notify": notify != top, "updiscon": updiscon != notify,
                  "irreport": irreport != updiscon}
        fields["irdepth"] = irdepth if fields["irreport"] else 0
        return fields


def unclaimed(parameters):
    """The features that these parameters need and `CLAIMS` does not name."""
    modes, transport = parameters["modes"], parameters["encapsulation"]
    normal = transport.get("normal") if isinstance(transport, dict) else None
    needs = {
        "standard_support": parameters["version"] != "2.0",
        "irets": parameters["iret_ext"],
        "branch_prediction": modes["branch_prediction"] or parameters["bpred_size_p"],
        "jump_target_cache": modes["jump_target_cache"] or parameters["cache_size_p"],
        "data_trace": "data" in parameters,
        "other transports": not normal,
        "source_id": normal and normal["src_id_bits"],
        "timestamp": normal and normal["timestamp_bytes"],
        "packet_type": normal and normal["type_bits"],
        "stream_entry": normal and not normal["synchronised"],
    }
    return [feature for feature, needed in needs.items() if needed]


def make(family, parameters, sections):
    if family != "riscv_etrace":
        raise tdut.Unsupported(family)
    # What is not claimed is refused: results of a decoder that guesses are worse than none.
    for feature in unclaimed(parameters):
        raise tdut.Unsupported(feature)
    return Packets(parameters)


if __name__ == "__main__":
    tdut.serve("example-python", "1.0", {"riscv_etrace": CLAIMS}, make)
