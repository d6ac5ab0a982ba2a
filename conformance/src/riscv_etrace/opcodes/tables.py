#!/usr/bin/env python3
"""Writes rv32.tsv and rv64.tsv: RISC-V encodings, the text that GNU objdump prints for them, their class. And zcm.tsv:
every encoding of Zcmp and Zcmt, which objdump 2.40 does not know, with the text of LLVM.

The class is that of ET 4.1.1, derived from nothing but that text. Run it in the directory of this file:

    apt-get install binutils-riscv64-linux-gnu llvm-19
    ./tables.py
"""

import re
import subprocess
import tempfile

OBJDUMP = "riscv64-linux-gnu-objdump"
LLVM = "llvm-mc-19"
BASE = 0x4000_0000
LINKS = ("x1", "x5")
# Mnemonics of which objdump prints the address of the target.
FLOWS = ("b", "jal ", "c.j ", "c.jal ", "c.b")

# Returns that GNU objdump 2.40 does not know; Smrnmi and its encoding: privileged architecture, chapter 8.
ABSENT = {0x7020_0073: "mnret"}

# `hret`: GNU objdump names it, but the privileged architecture reserves it since version 1.10, so it is not one of the
# trap returns of `classify`.
HRET = 0x2020_0073


def bits(value, *ranges):
    """Scatters an immediate: each range is (bit of the value, width, bit of the encoding)."""
    return sum((value >> low & (1 << width) - 1) << to for low, width, to in ranges)


def walking(width):
    """Multiples of 2 in `width` signed bits: zero, every bit alone, all ones, both limits."""
    ones = (1 << width) - 2
    return sorted({0, ones, ones >> 1, 1 << width - 1} | {1 << at for at in range(1, width)})


def compressed():
    """Encodings of 16 bits."""
    for quadrant in range(3):
        for funct3 in range(8):
            for bit12 in range(2):
                for high in (0, 1, 2, 5, 6, 8, 10, 16, 31):
                    for low in (0, 1, 2, 5, 16, 31):
                        yield funct3 << 13 | bit12 << 12 | high << 7 | low << 2 | quadrant
    for register in range(32):
        for bit12 in range(2):
            yield 0x8002 | bit12 << 12 | register << 7
    for base in (0x2001, 0xa001):
        for value in walking(12):
            yield base | bits(value, (11, 1, 12), (4, 1, 11), (8, 2, 9), (10, 1, 8), (6, 1, 7), (7, 1, 6),
                              (1, 3, 3), (5, 1, 2))
    for base in (0xc001, 0xe001):
        for register in (0, 7):
            for value in walking(9):
                yield base | register << 7 | bits(value, (8, 1, 12), (3, 2, 10), (6, 2, 5), (1, 2, 3), (5, 1, 2))


def words():
    """Encodings of 32 bits."""
    for opcode in range(0x03, 0x80, 4):
        if opcode & 0x1c == 0x1c:
            continue
        for funct3 in range(8):
            for rd in (0, 1, 5):
                for rs1 in (0, 1, 10):
                    yield opcode | rd << 7 | funct3 << 12 | rs1 << 15
    for funct3 in range(8):
        for value in walking(13):
            yield 0x63 | funct3 << 12 | 0x0020_8000 | bits(value, (12, 1, 31), (5, 6, 25), (1, 4, 8), (11, 1, 7))
    for rd in (0, 1, 2, 4, 5, 6, 31):
        for value in walking(21):
            yield 0x6f | rd << 7 | bits(value, (20, 1, 31), (1, 10, 21), (11, 1, 20), (12, 8, 12))
        for rs1 in (0, 1, 2, 4, 5, 6, 31):
            for value in (0, 1, 2, 4, 0x7ff, 0x800, 0xffc, 0xfff):
                yield 0x67 | rd << 7 | rs1 << 15 | value << 20
        for value in (0, 1, 0x7_ffff, 0x8_0000, 0xf_ffff):
            yield 0x37 | rd << 7 | value << 12
            yield 0x17 | rd << 7 | value << 12
    # System instructions, and everything one bit off that still has 32 bits.
    for code in (0x73, 0x0010_0073, 0x0020_0073, 0x1020_0073, 0x3020_0073, 0x7020_0073, 0x7b20_0073, 0x1050_0073):
        yield code
        for at in range(5, 32):
            if (code ^ 1 << at) & 0x1c != 0x1c:
                yield code ^ 1 << at


def disassemble(codes, xlen):
    """The texts of encodings, each in four bytes of its own."""
    parcels = [code if code & 3 == 3 else code | 0x0001_0000 for code in codes]
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(parcel.to_bytes(4, "little") for parcel in parcels))
        file.flush()
        command = [OBJDUMP, "-D", "-z", "-b", "binary", "-m", f"riscv:rv{xlen}", "-M", "no-aliases,numeric",
                   f"--adjust-vma={BASE:#x}", file.name]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    texts = {}
    for line in output.splitlines():
        if found := re.match(r"\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)", line):
            text = re.sub(r"\s*[#<].*", "", found[2]).replace("\t", " ").strip()
            texts[int(found[1], 16)] = text
    return [(code, BASE + 4 * at, ABSENT.get(code, texts[BASE + 4 * at])) for at, code in enumerate(codes)]


def zcmp_zcmt(xlen):
    """Encoding and text of everything in the place of `c.fsdsp` that LLVM knows as Zcmp or Zcmt."""
    codes = range(0xa002, 0xc000, 4)
    lines = "".join(f"{code & 0xff:#x} {code >> 8:#x}\n" for code in codes)
    command = [LLVM, "--disassemble", f"--triple=riscv{xlen}", "-mattr=+zcmp,+zcmt", "--show-encoding"]
    output = subprocess.run(command, check=True, capture_output=True, text=True, input=lines).stdout
    for text, low, high in re.findall(r"^\s*(cm\..*?)\s*# encoding: \[0x(..),0x(..)\]", output, re.MULTILINE):
        yield int(high + low, 16), " ".join(text.split())


def linked(rd, target):
    """The class of a jump whose target is a constant."""
    return ("inferable-jump" if rd == "x0" else "inferable-call" if rd in LINKS else "other-inferable-jump", target)


def jump(rd, rs1):
    """The class of a jump through a register: the table of ET 4.1.1."""
    if rd in LINKS:
        return "coroutine-swap" if rs1 in LINKS and rs1 != rd else "uninferable-call"
    if rs1 in LINKS:
        return "return"
    return "uninferable-jump" if rd == "x0" else "other-uninferable-jump"


def classify(text, address):
    """Class and distance to the target (its address where `absolute` follows) of a text."""
    mnemonic, _, rest = text.partition(" ")
    operands = rest.split(",")
    if mnemonic in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "c.beqz", "c.bnez"):
        return "branch", int(operands[-1], 16) - address
    if mnemonic in ("jal", "c.jal", "c.j"):
        rd = {"c.jal": "x1", "c.j": "x0"}.get(mnemonic, operands[0])
        return linked(rd, int(operands[-1], 16) - address)
    if mnemonic in ("c.jr", "c.jalr"):
        return jump("x1" if mnemonic == "c.jalr" else "x0", operands[0]), 0
    if mnemonic == "jalr":
        rs1 = re.search(r"x\d+", operands[1])[0]
        offset = int(operands[1].partition("(")[0]) if "(" in operands[1] else 0
        return linked(operands[0], f"{offset & ~1} absolute") if rs1 == "x0" else (jump(operands[0], rs1), offset)
    if mnemonic in ("mret", "sret", "uret", "dret", "mnret"):
        return "trap-return", 0
    if mnemonic.startswith("cm."):
        names = {"cm.jt": "uninferable-jump", "cm.jalt": "uninferable-call",
                 "cm.popret": "return", "cm.popretz": "return"}
        return names.get(mnemonic, "straight"), 0
    if mnemonic in ("ecall", "ebreak", "c.ebreak"):
        return "environment-call", 0
    if mnemonic in ("lui", "auipc", "c.lui"):
        return "load-upper-pc" if mnemonic == "auipc" else "load-upper", 0
    return "straight", 0


def main():
    version = subprocess.run([OBJDUMP, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    for xlen in (32, 64):
        codes = sorted(set(compressed()), key=int) + sorted(set(words()) | {HRET})
        with open(f"rv{xlen}.tsv", "w", encoding="ascii") as file:
            file.write(f"# Written by tables.py with {version}: encoding, text, class, distance to the target or offset.\n")
            for code, address, text in disassemble(codes, xlen):
                name, distance = classify(text, address)
                # Rows do not change with their place in the file.
                text = re.sub(r"\b0x[0-9a-f]+$", f".{distance:+}", text) if text.startswith(FLOWS) else text
                file.write(f"{code:0{8 if code & 3 == 3 else 4}x}\t{text}\t{name}\t{distance}\n")
    version = subprocess.run([LLVM, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    # Texts differ in the size of a stack frame only.
    tables = [[(code, classify(text, 0)[0]) for code, text in zcmp_zcmt(xlen)] for xlen in (32, 64)]
    assert tables[0] == tables[1]
    with open("zcm.tsv", "w", encoding="ascii") as file:
        file.write(f"# Written by tables.py with {version}, RV32: encoding, text, class, offset.\n")
        for code, text in zcmp_zcmt(32):
            file.write(f"{code:04x}\t{text}\t{classify(text, 0)[0]}\t0\n")


main()
