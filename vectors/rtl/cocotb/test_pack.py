"""Drives a pack into a wrapper (module dut_wrap) with cocotb, and writes the log that `traceproof check-rtl` reads.

TRACEPROOF_PACK names the pack, TRACEPROOF_LOG the log; `check-rtl --run` sets both. Inputs change at the falling edge
and the device samples them at the rising one, so that simulators cannot differ.
"""

import os

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from cocotb.clock import Clock

import tp_pack
from tp_pack import CASE, CYCLE, DRAIN, END, FIELD, IDLE, READY

RESET_CLOCKS = 4
PATIENCE = 65536  # clocks after which a field counts as refused
COMMON = ["priv", "ctype", "cause", "tval", "epc", "handler"]
BLOCK_WIDTHS = {"iaddr": 64, "itype": 4, "ilastsize": 4, "iretire": 16}


class Bench:
    """The port of a wrapper, and the log of what it answered."""

    def __init__(self, dut, blocks, log):
        self.dut, self.blocks, self.log = dut, blocks, log
        self.clock, self.row, self.silent, self.ready = 0, 0, 0, 1

    def put(self, row):
        """Puts the signals of a row on the port."""
        dut, cycle = self.dut, row.op == CYCLE
        shown = row if row.op in (CYCLE, IDLE) else tp_pack.Row()
        for name in COMMON:
            hidden = name not in ("priv", "ctype") and not cycle
            getattr(dut, name).value = 0 if hidden else getattr(shown, name)
        dut.ctx.value, dut.tstamp.value = shown.context, shown.time
        dut.trace_on.value, dut.trace_off.value = shown.trigger & 1, shown.trigger >> 1 & 1
        dut.halted.value, dut.hart_reset.value = shown.status & 1, shown.status >> 1 & 1
        blocks = shown.blocks or [tp_pack.Block()] * self.blocks
        for name, width in BLOCK_WIDTHS.items():
            values = (getattr(block, name) << width * at for at, block in enumerate(blocks))
            getattr(dut, name).value = sum(values)
        dut.sijump.value = sum((block.flags & 1) << at for at, block in enumerate(blocks))
        dut.notify.value = sum((block.flags >> 1 & 1) << at for at, block in enumerate(blocks))
        dut.rst.value = int(row.op == CASE)
        dut.field_valid.value = int(row.op == FIELD)
        dut.field.value = row.cause & 0xFF if row.op == FIELD else 0
        dut.field_value.value = row.tval if row.op == FIELD else 0
        dut.out_ready.value = self.ready

    async def tick(self):
        """One clock; whether the wrapper accepts a field."""
        dut = self.dut
        await ReadOnly()
        accepted = dut.field_ready.value == 1
        out = dut.rst.value == 0 and dut.out_valid.value == 1 and self.ready == 1
        if out:
            length = dut.out_length.value.integer
            payload = dut.out_bytes.value.integer.to_bytes(64, "little")[:length].hex()
            kind = "B" if dut.out_stream.value == 1 else "P"
            self.log.write(f"{kind} {self.row:08x} {self.clock} {payload}\n")
        if dut.rst.value == 0 and dut.report_valid.value == 1:
            self.log.write(f"X {self.row:08x} {self.clock} code {dut.report_code.value.integer}\n")
        self.silent = 0 if out else self.silent + 1
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
        self.clock += 1
        return accepted

    def seen(self, row):
        """The row as the device sees it: what the port has, the rest from the pack."""
        if row.op != CYCLE:
            return row
        dut = self.dut
        number = {name: getattr(dut, name).value.integer for name in COMMON + ["ctx", "tstamp"]}
        blocks = []
        for at in range(self.blocks):
            part = {name: getattr(dut, name).value.integer >> width * at & (1 << width) - 1
                    for name, width in BLOCK_WIDTHS.items()}
            flags = dut.sijump.value.integer >> at & 1 | (dut.notify.value.integer >> at & 1) << 1
            blocks.append(tp_pack.Block(flags=flags, **part))
        trigger = dut.trace_on.value.integer | dut.trace_off.value.integer << 1
        status = dut.halted.value.integer | dut.hart_reset.value.integer << 1
        return tp_pack.Row(row=row.row, op=row.op, trigger=trigger, status=status, context=number.pop("ctx"),
                           time=number.pop("tstamp"), blocks=blocks, **number)

    async def drive(self, row):
        """A row, as many clocks as it takes."""
        self.row, self.silent = row.row, 0
        if row.op == CASE:
            self.ready = 1
            self.log.write(f"C {row.cause}\n")
        if row.op == READY:
            self.ready = row.cause & 1
        self.put(row)
        clocks = 0
        while True:
            accepted = await self.tick()
            clocks += 1
            if row.op == FIELD and not accepted and clocks >= PATIENCE:
                self.log.write(f"X {self.row:08x} {self.clock} a field was not accepted\n")
                accepted = True
            done = {CASE: clocks >= RESET_CLOCKS, IDLE: clocks >= row.cause, FIELD: accepted,
                    DRAIN: self.silent >= row.tval or clocks >= row.cause}
            if done.get(row.op, True):
                break
        if row.op == DRAIN:
            self.log.write(f"D {self.row:08x} {clocks} {int(self.silent >= row.tval)}\n")


@cocotb.test()
async def drive_pack(dut):
    """All rows of the pack; the verdict is that of `traceproof check-rtl`."""
    pack = tp_pack.Pack(os.environ["TRACEPROOF_PACK"])
    checksum, rows = tp_pack.Checksum(), 0
    cocotb.start_soon(Clock(dut.clk, 10, units="step").start())
    with open(os.environ["TRACEPROOF_LOG"], "w", encoding="ascii") as log:
        log.write("traceproof-log 1\n")
        bench = Bench(dut, pack.blocks, log)
        bench.put(tp_pack.Row(op=CASE))
        await FallingEdge(dut.clk)
        for row in pack.rows():
            if row.op != END:
                await bench.drive(row)
                row = bench.seen(row)
            checksum.add(row)
            rows += 1
        log.write(f"R {rows} {checksum.value:08x}\nE\n")
    assert rows == pack.manifest["rows"], f"{rows} rows were driven, the pack has {pack.manifest['rows']}"
