#!/usr/bin/env python3
"""Writes a64.tsv, a32.tsv and t32.tsv: ARM encodings, the text that LLVM prints for them, their class.

Class, condition, distance to the target and data are derived from that text; of A32 the condition is bits 31:28. LLVM
19 does not know FEAT_CMPBR and FEAT_TEV: the assembler of LLVM 22, which is in rustc, makes their rows from texts. Run
it in the directory of this file:

    apt-get install llvm-19
    ./tables.py
"""

import os
import re
import subprocess
import tempfile

MC = "llvm-mc-19"
# Processors, tried in this order: the older one still has SWP, LDC and unconditional coprocessor instructions.
ARM = [("7a", "+virtualization,+trustzone,+mp,+hwdiv,+hwdiv-arm,+neon,+vfp4"),
       ("8.6a", "+fullfp16,+crc,+ras,+sb,+bf16,+i8mm")]
CONDITIONS = "eq ne hs lo mi pl vs vc hi ls ge lt gt le".split()


# ---- encodings ----

def near(words, width=32):
    """Each word, and it with any one bit changed."""
    for word in words:
        yield word
        yield from (word ^ 1 << at for at in range(width))


def walking(width):
    """A field of that width: zero, every bit alone, all ones, both limits."""
    ones = (1 << width) - 1
    return sorted({0, ones, ones >> 1, 1 << width - 1} | {1 << at for at in range(width)})


def product(base, *fields):
    """The base with every combination of fields (first bit, values)."""
    words = [base]
    for first, values in fields:
        words = [word | value << first for word in words for value in values]
    return words


BOTH = (0, 1)

# B, BL, B.cond, BC.cond, CBZ, CBNZ, TBZ, TBNZ, BR to RET with every key, ERET with every key, DRPS, RETAASPPC,
# RETAASPPCR, exception generation, hints, barriers with nXS, SB, TSB, WFET, WFIT, TSTART, TTEST, TCOMMIT, TCANCEL, MSR,
# SYS, UDF, NOP.
A64 = [0x14000000, 0x94000000, 0x54000000, 0x54000010, 0x34000000, 0xb5000000, 0x36000000, 0xb7000000, 0xd61f0000,
       0xd63f0000, 0xd65f03c0, 0xd61f081f, 0xd61f0c1f, 0xd63f081f, 0xd63f0c1f, 0xd71f0801, 0xd71f0c01, 0xd73f0801,
       0xd73f0c01, 0xd65f0bff, 0xd65f0fff, 0xd69f03e0, 0xd69f0bff, 0xd69f0fff, 0xd6bf03e0, 0x5500001f, 0x5520001f,
       0xd65f0be1, 0xd65f0fe1, 0xd4000001, 0xd4000002, 0xd4000003, 0xd4200000, 0xd4400000, 0xd4600000, 0xd4a00001,
       0xd503201f, 0xd503205f, 0xd503207f, 0xd503305f, 0xd503309f, 0xd503323f, 0xd50330bf, 0xd5033fdf, 0xd50330ff,
       0xd503225f, 0xd5031000, 0xd5031020, 0xd5233060, 0xd5233160, 0xd503307f, 0xd51b4200, 0xd50b7520, 0x00000000]


def a64():
    yield from near(A64)
    for base in (0x14000000, 0x94000000):
        yield from (base | value for value in walking(26))
    for base, registers in ((0x34000000, (0, 31)), (0x35000000, (0, 31)), (0xb4000000, (0, 31)), (0xb5000000, (0, 31)),
                            (0x54000000, range(32))):
        yield from product(base, (5, walking(19)), (0, registers if base != 0x54000000 else (0, 13)))
    yield from product(0x54000000, (0, range(32)))
    yield from product(0x36000000, (31, BOTH), (24, BOTH), (19, (0, 1, 31)), (5, walking(14)))
    yield from product(0xd6000000, (21, range(16)), (16, (0, 31)), (10, (0, 2, 3)), (5, (0, 15, 30, 31)),
                       (0, (0, 15, 31)))
    yield from product(0xd4000000, (21, range(8)), (5, (0, 0x8000, 0xffff)), (0, range(8)))
    yield from product(0xd5032000, (8, (0, 1, 2, 3, 4)), (5, range(8)), (0, (31, 30)))
    yield from product(0xd5033000, (8, range(16)), (5, range(8)), (0, (31, 30)))
    yield from product(0xd5031000, (8, (0, 1)), (5, range(8)), (0, (0, 30, 31)))
    yield from product(0xd5233000, (8, (0, 1)), (5, range(8)), (0, (0, 30, 31)))
    yield from product(0x55000000, (21, range(8)), (5, (0, 1, 0xffff)), (0, (0, 15, 31)))
    # Every op0 of A64 with a few other bits: data processing, loads, stores, floating point.
    yield from product(0, (24, range(256)), (16, (0x00, 0x20, 0x5f)), (0, (0, 0x081f)))


# Texts of what LLVM 19 does not know.
NEWER_A64 = (
    [f"cb{cc} {r}{n}, {r}{m}, #{to}" for cc in ("gt", "ge", "hi", "hs", "eq", "ne") for r in "wx"
     for n, m in ((0, 1), (30, 29)) for to in (-1024, -4, 0, 4, 1020)]
    + [f"cb{size}{cc} w{n}, w{m}, #{to}" for size in "bh" for cc in ("gt", "ge", "hi", "hs", "eq", "ne")
       for n, m in ((0, 1), (30, 29)) for to in (-1024, -4, 0, 4, 1020)]
    + [f"cb{cc} {r}{n}, #{value}, #{to}" for cc in ("gt", "lt", "hi", "lo", "eq", "ne") for r in "wx"
       for n, value in ((0, 0), (30, 63), (5, 33)) for to in (-1024, -4, 0, 4, 512, 1020)]
    + ["texit", "texit nb"])

# B, BL, BLX, BX, BLX, BXJ, ERET, LDM, LDM with ^, LDR, MOV, MOVS, SUBS, ADD, barriers of CP15, RFE, SRS, barriers, MSR,
# CMP, SMC, HVC, HLT, BKPT, SVC, UDF, WFI, WFE, NOP, MUL, SWP, LDRD, LDRH, VLDM, VLD1, MCRR, LDC, VMOV, VMRS, PLD, MOVW.
A32 = [0xea000000, 0xeb000000, 0xfa000000, 0xfb000000, 0xe12fff1e, 0xe12fff33, 0xe12fff23, 0xe160006e, 0xe8bd8010,
       0xe8fd800f, 0xe49df004, 0xe59ff018, 0xe79ff101, 0xe1a0f00e, 0xe1b0f00e, 0xe25ef004, 0xe08ff102, 0xee070f95,
       0xee070f9a, 0xee070fba, 0xf8bd0a00, 0xf9910a00, 0xf96d0510, 0xf57ff06f, 0xf57ff05f, 0xf57ff04f, 0xe129f000,
       0xe328f201, 0xe15f0000, 0xe1600070, 0xe1400070, 0xe1000070, 0xe1200070, 0xef000000, 0xe7f000f0, 0xe320f003,
       0xe320f002, 0xe320f000, 0xe0000190, 0xe1020091, 0xe1c020d0, 0xe1d020b0, 0xecbd0b04, 0xf420070f, 0xec421b10,
       0xed921100, 0xee001a10, 0xeef1fa10, 0xf5d0f000, 0xe300f000, 0xe3a0f001]


def a32():
    yield from near(A32)
    for word in A32:
        if word >> 28 == 0xe:
            yield from (word & 0x0fffffff | cond << 28 for cond in range(16))
    for base in (0xea000000, 0xeb000000, 0x0a000000, 0xdb000000, 0xfa000000, 0xfb000000):
        yield from (base | value for value in walking(24))
    # Data processing: immediate, shifted by immediate, shifted by register; all operations.
    for low, immediate in ((0x001, 1), (0x001, 0), (0x061, 0), (0x211, 0)):
        yield from product(0xe0000000 | low | immediate << 25, (20, range(32)), (16, (0, 14, 15)), (12, (0, 14, 15)))
    yield from product(0xe0000090, (20, range(32)), (16, (0, 3)), (12, (0, 15)), (8, (0, 2, 15)), (5, range(4)),
                       (0, (1,)))
    # Words and bytes: every addressing.
    for low, register in ((0x004, 0), (0x001, 1), (0x101, 1)):
        yield from product(0xe4000000 | low | register << 25, (20, range(32)), (16, (0, 13, 15)), (12, (0, 14, 15)))
    # Multiple words, RFE and SRS.
    yield from product(0xe8000000, (20, range(32)), (16, (0, 13)),
                       (0, (0x0001, 0x8000, 0x8001, 0x8010, 0x7fff, 0xc000, 0xffff, 0x4010)))
    yield from product(0xf8000000, (20, range(32)), (16, (0, 13)), (0, (0x0a00, 0x0510)))
    # Miscellaneous, hints, media, coprocessors.
    yield from product(0xe1000000, (21, range(4)), (4, range(16)), (8, (0xfff, 0)), (0, (0, 14, 15)))
    yield from product(0xe3200000, (22, BOTH), (16, (0, 8)), (12, (0, 15)), (0, (0, 1, 2, 3, 4, 5, 0x10, 0x14, 0xf0)))
    yield from product(0xe6000010, (20, range(32)), (5, range(8)), (12, (0, 15)), (8, (0, 15)))
    yield from coprocessor((0xe, 0xf))
    yield from simd(0xf4000000)


def coprocessor(tops):
    """Loads, stores and register transfers of coprocessors, floating point and Advanced SIMD among them."""
    for top in tops:
        base = top << 28
        yield from product(base | 0x0c000000, (20, range(32)), (16, (0, 13)), (12, (0,)), (8, (1,)), (0, (4,)))
        yield from product(base | 0x0e000110, (20, range(16)), (16, (0, 7)), (12, (0, 15)))
        yield from product(base | 0x0e070f10, (20, BOTH), (5, range(8)), (0, (0, 4, 5, 10, 14)))
    yield from product(tops[0] << 28 | 0x0c000000, (20, range(32)), (16, (0, 13)), (12, (0, 15)), (8, (10, 11)),
                       (0, (1, 2, 4, 33)))
    yield from product(tops[0] << 28 | 0x0e000010, (20, range(16)), (16, (0, 7)), (12, (0, 15)), (8, (10, 11)),
                       (5, BOTH))
    yield from product(tops[0] << 28 | 0x0d000900, (20, range(32)), (16, (0, 13)), (12, (0, 15)), (0, (0, 1)))


def simd(base):
    """Elements and structures of Advanced SIMD."""
    yield from product(base, (21, BOTH), (8, range(16)), (6, range(4)), (0, (15,)), (12, (2,)))
    yield from product(base | 0x00800000, (21, BOTH), (8, range(16)), (4, (0, 1, 4, 8, 12)), (0, (13,)), (12, (2,)))


# The 32-bit ones: as of A32, and B.W, TBB, TBH, CLREX, LDRD, LDREX, LDREXD, PUSH.W, POP.W, STRD, SUBS PC, CPS, hints.
T32 = [0xf0008000, 0xf43fafff, 0xf0009000, 0xf7ffbfff, 0xf000d000, 0xf7ffffff, 0xf000c000, 0xf7ffeffe, 0xf3c58f00,
       0xf3de8f04, 0xf3de8f00, 0xf3bf8f6f, 0xf3bf8f5f, 0xf3bf8f4f, 0xf3bf8f2f, 0xee070f95, 0xee070f9a, 0xee070fba,
       0xe8dff001, 0xe8dff011, 0xe81dc000, 0xe83dc000, 0xe99dc000, 0xe9bdc000, 0xe80dc013, 0xe98dc013, 0xe8bd81f0,
       0xe91d8010, 0xe8bd8000, 0xf8d0f010, 0xf85ff010, 0xf85dfb04, 0xf850f021, 0xf890f010, 0xf990f010, 0xf8b0f010,
       0xf8c01010, 0xf3878100, 0xf7f08000, 0xf7e08000, 0xf7f0a000, 0xf3af8002, 0xf3af8003, 0xf3af8000, 0xe9d01200,
       0xe8501f00, 0xe8d0127f, 0xe92d41f0, 0xecbd0b04, 0xf920070f, 0xec421b10, 0xed921100, 0xeef1fa10, 0xea4f0f00]


def t32():
    for top in range(0xe8):
        yield from (top << 8 | low for low in (0x00, 0x01, 0x10, 0x47, 0x70, 0x80, 0xbf, 0xff))
    yield from (0xbf00 | low for low in range(256))
    yield from (0xd000 | value | cond << 8 for value in walking(8) for cond in (0, 7, 13))
    yield from (0xe000 | value for value in walking(11))
    yield from product(0xb100, (11, BOTH), (9, BOTH), (3, walking(5)), (0, (0, 7)))
    yield from (base | register << 3 for base in (0x4700, 0x4780, 0x4487, 0x4687) for register in range(16))
    yield from near((0x4770, 0x4798, 0x46f7, 0x448f, 0xbd00, 0xb500, 0xbe00, 0xba80, 0xbf30, 0xdf00, 0xde00), 16)
    yield from (word for word in wide() if word >> 27 >= 0b11101)


def wide():
    yield from near(T32)
    # Offsets of B<c>.W (S, imm6, J1, J2, imm11) and of B.W, BL, BLX (S, imm10, J1, J2, imm11).
    for cond in (0, 13):
        yield from product(0xf0008000 | cond << 22, (26, BOTH), (13, BOTH), (11, BOTH), (0, (0, 1, 0x400, 0x7ff)))
        yield from product(0xf0008000 | cond << 22, (26, BOTH), (16, walking(6)))
        yield from product(0xf0008000 | cond << 22, (0, walking(11)))
    for base in (0xf0009000, 0xf000d000, 0xf000c000):
        yield from product(base, (26, BOTH), (13, BOTH), (11, BOTH), (0, (0, 2, 0x400, 0x7fe)))
        yield from product(base, (26, BOTH), (16, walking(10)))
        yield from product(base, (0, walking(11)))
    yield from product(0xf0008000, (22, range(16)))
    # Multiple words, RFE and SRS.
    yield from product(0xe8000000, (23, range(4)), (21, BOTH), (20, BOTH), (16, (0, 13)),
                       (0, (0x0003, 0x8001, 0x8010, 0x5ffe, 0x9ffe, 0xc000, 0x4010)))
    # Double, exclusive, TBB.
    yield from product(0xe8400000, (23, range(4)), (21, BOTH), (20, BOTH), (16, (0, 15)), (12, (1, 15)),
                       (8, (0, 15)), (4, (0, 1, 4, 5, 7, 8, 15)), (0, (1, 15)))
    # Loads and stores of one register: long offset, short offset, register.
    yield from product(0xf8000000, (24, BOTH), (21, range(4)), (20, BOTH), (16, (0, 13, 15)), (12, (1, 15)),
                       (23, BOTH), (0, (0x001, 0x021, 0x904, 0xb04, 0xc04, 0xe04)))
    # Branches and miscellaneous control.
    yield from product(0xf3808000, (20, range(8)), (16, (14, 15)), (8, (0, 0xf)), (4, range(16)), (0, (0, 2, 3, 15)))
    yield from product(0xf7808000, (20, range(8)), (16, (0, 15)), (12, range(8)), (0, (0, 1, 0xfff)))
    # Data processing to the PC and others.
    yield from product(0xea000f00, (20, range(32)), (16, (0, 15)), (0, (1,)))
    yield from product(0xea000000, (20, range(32)), (16, (0, 15)), (8, (1,)), (0, (1,)))
    yield from product(0xf0000f00, (20, range(32)), (16, (0, 15)), (0, (1,)))
    yield from coprocessor((0xe, 0xf))
    yield from simd(0xf9000000)


# ---- the oracle ----

def block(code, name):
    """The bytes of an encoding; IT is followed by what it makes conditional."""
    if name == "t32":
        halves = [code >> 16, code & 0xffff] if code >> 16 else [code]
        padding = 4 if 0xbf00 <= code <= 0xbfff else 0
        text = b"".join(half.to_bytes(2, "little") for half in halves)
        return "[" + ",".join(f"{byte:#x}" for byte in text) + "]" + "[0x00,0xbf]" * padding, padding
    return "[" + ",".join(f"{byte:#x}" for byte in code.to_bytes(4, "little")) + "]", 0


def disassemble(codes, name, triple, features):
    """The text of each encoding; None of what LLVM rejects, or calls potentially undefined."""
    blocks = [block(code, name) for code in codes]
    done = subprocess.run([MC, "--disassemble", f"-triple={triple}", f"-mattr={features}"], capture_output=True,
                          input="\n".join(text for text, _ in blocks), text=True, check=False)
    rejected, doubtful = set(), set()
    for number, message in re.findall(r"^<stdin>:(\d+):\d+: warning: (.*)", done.stderr, re.M):
        (rejected if message.startswith("invalid") else doubtful).add(int(number) - 1)
    lines = [line.strip() for line in done.stdout.splitlines()]
    lines = iter([line for line in lines if line and not line.startswith(".")])
    texts = []
    for index, (_, padding) in enumerate(blocks):
        text = None if index in rejected else re.sub(r"\s*(@|//).*", "", next(lines))
        texts.append(None if index in doubtful else text)
        for _ in range(padding):
            assert next(lines).startswith("nop"), hex(codes[index])
    assert next(lines, None) is None
    return texts


def assemble(texts):
    """The encodings of A64 texts, by the assembler of LLVM 22."""
    lines = "\\n".join(texts)
    source = ("#![feature(no_core, rustc_attrs)]\n#![no_core]\n#![crate_type = \"lib\"]\n#[rustc_builtin_macro]\n"
              f"macro_rules! global_asm {{ () => {{}} }}\nglobal_asm!(\".arch_extension cmpbr\\n{lines}\\n\");\n")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("texts.rs", "texts.o", "texts.bin")]
        with open(paths[0], "w", encoding="ascii") as file:
            file.write(source)
        command = ["rustc", "--target=aarch64-unknown-none", "-Ctarget-feature=+tev", "--emit=obj", "-o", paths[1],
                   paths[0]]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
        subprocess.run(["llvm-objcopy-19", "-O", "binary", "-j", ".text", *paths[1:]], check=True)
        with open(paths[2], "rb") as file:
            code = file.read()
    assert len(code) == 4 * len(texts)
    return [int.from_bytes(code[at:at + 4], "little") for at in range(0, len(code), 4)]


# ---- classes ----

A64_CLASSES = {
    "bl": "direct-link", "b": "direct", "br": "register", "blr": "register-link", "ret": "return", "isb": "isb",
    "dsb": "dsb", "ssbb": "dsb", "pssbb": "dsb", "dfb": "dsb", "dmb": "dmb", "wfe": "wait-event", "wfet": "wait-event",
    "wfi": "wait-interrupt", "wfit": "wait-interrupt", "tstart": "transaction-start", "svc": "supervisor-call",
    "hvc": "hypervisor-call", "smc": "monitor-call", "brk": "breakpoint", "hlt": "halt", "udf": "undefined",
    "eret": "exception-return", "eretaa": "exception-return", "eretab": "exception-return", "texit": "tier-exit",
    **{f"br{key}": "register" for key in ("aa", "ab", "aaz", "abz")},
    **{f"blr{key}": "register-link" for key in ("aa", "ab", "aaz", "abz")},
    **{f"ret{key}": "return" for key in ("aa", "ab", "aasppc", "absppc", "aasppcr", "absppcr")},
}


def classify_a64(_, text):
    """Class, whether conditional, distance, data (never traced)."""
    mnemonic, _, operands = text.replace("\t", " ").partition(" ")
    target = lambda: int(re.search(r"#(-?\d+)$", operands)[1])
    if re.match(r"bc?\.\w\w$", mnemonic):
        return "direct", mnemonic[-2:] not in ("al", "nv"), target(), ""
    if mnemonic in ("cbz", "cbnz", "tbz", "tbnz") or re.match(r"cb[bh]?(gt|ge|hi|hs|eq|ne|lt|lo)$", mnemonic):
        return "direct", True, target(), ""
    found = A64_CLASSES.get(mnemonic, "other")
    return found, False, target() if found.startswith("direct") else None, ""


PROCESSING = "adc add adr and asr bic eor lsl lsr mov mvn orr ror rrx rsb rsc sbc sub".split()
CALLS = {"svc": "supervisor-call", "hvc": "hypervisor-call", "smc": "monitor-call", "bkpt": "breakpoint", "hlt": "halt",
         "udf": "undefined", "trap": "undefined", "__brkdiv0": "undefined"}
PLAIN = {"bx": "register", "bxj": "jazelle", "tbb": "table", "tbh": "table", "eret": "exception-return", "isb": "isb",
         "dsb": "dsb", "ssbb": "dsb", "pssbb": "dsb", "dfb": "dsb", "dmb": "dmb", "wfe": "wait-event",
         "wfi": "wait-interrupt", **CALLS, **{f"rfe{mode}": "return-rfe" for mode in ("ia", "ib", "da", "db")}}
CP15 = {("c5", "#4"): "isb", ("c10", "#4"): "dsb", ("c10", "#5"): "dmb"}


def parts(code, text, name):
    """Mnemonic without condition and width, what follows its dot, operands."""
    mnemonic, _, operands = text.partition("\t")
    mnemonic, _, kind = mnemonic.partition(".")
    cond = code >> 28 if name == "a32" else 15
    if cond < 14 and mnemonic.endswith(CONDITIONS[cond]):
        mnemonic = mnemonic[:-2]
    return mnemonic, kind, operands


def classify_arm(code, text, name):
    """Class, whether conditional, distance, data."""
    mnemonic, kind, operands = parts(code, text, name)
    conditional = name == "a32" and code >> 28 < 14
    ahead = 8 if name == "a32" else 4
    moved = data(mnemonic, kind, operands)
    if mnemonic in ("b", "cbz", "cbnz") or (name == "t32" and mnemonic[:1] == "b" and mnemonic[1:] in CONDITIONS):
        distance = int(operands.rpartition("#")[2]) + ahead
        return "direct", conditional or (name == "t32" and mnemonic != "b"), distance, moved
    if mnemonic == "bl" or (mnemonic == "blx" and operands.startswith("#")):
        exchange = "-exchange" if mnemonic == "blx" else ""
        return f"direct-link{exchange}", conditional, int(operands.lstrip("#")) + ahead, moved
    return class_arm(mnemonic, operands, name), conditional, None, moved


def class_arm(mnemonic, operands, name):
    if mnemonic == "blx":
        return "register-link"
    if mnemonic in PLAIN:
        return PLAIN[mnemonic]
    if name == "t32" and re.match(r"it[te]{0,3}$", mnemonic):
        return "if-then"
    fields = operands.split(", ")
    if mnemonic == "mcr" and fields[:2] == ["p15", "#0"] and fields[3] == "c7":
        return CP15.get((fields[4], fields[5]), "other")
    if re.match(r"(ldm(ia|ib|da|db)?|pop)$", mnemonic) and re.search(r"pc\}", operands):
        return "return-load-multiple" if operands.endswith("^") else "load"
    if fields[0] == "pc":
        if mnemonic == "ldr" or mnemonic in PROCESSING:
            return "load" if mnemonic == "ldr" else "data-processing"
        if mnemonic[:-1] in PROCESSING and mnemonic.endswith("s"):
            return "return-data-processing"
    return "other"


CORE = re.compile(r"(r\d+|sp|lr|pc|apsr(_nzcv)?)$", re.I)


def data(mnemonic, kind, operands):
    """The data that an instruction transfers: way, how many, how many bytes each."""
    registers = re.search(r"\{([^}]*)\}", operands)
    registers = registers[1].split(", ") if registers else []
    words = sum(2 if register.startswith("d") else 1 for register in registers)
    way = "load" if "ld" in mnemonic[:3] or mnemonic in ("pop", "vpop") else "store"
    if re.match(r"((ld|st)m(ia|ib|da|db)?|v?push|v?pop|v(ld|st)m(ia|db)|f(ld|st)m(ia|db)x)$", mnemonic):
        return f"{way} {words}x4"
    if found := re.match(r"(?:ldr|str|lda|stl)(?:ex)?([bhd]|s[bh])?t?$", mnemonic):
        size = {None: "1x4", "d": "2x4"}.get(found[1]) or ("1x1" if found[1].endswith("b") else "1x2")
        return f"{way} {size}"
    if found := re.match(r"v(?:ld|st)([1-4])$", mnemonic):
        if "[" in registers[0]:
            return f"{way} {found[1]}x{int(re.sub(r'^[a-z]', '', kind)) // 8}"
        return f"{way} {words}x4"
    if mnemonic in ("vldr", "vstr"):
        return f"{way} " + ("1x2" if kind == "16" else "2x4" if operands.startswith("d") else "1x4")
    if re.match(r"rfe", mnemonic) or re.match(r"srs(ia|ib|da|db)$", mnemonic):
        return "load 2x4" if mnemonic.startswith("rfe") else "store 2x4"
    if mnemonic in ("swp", "swpb"):
        return "swap 2x1" if mnemonic == "swpb" else "swap 2x4"
    if mnemonic in ("tbb", "tbh"):
        return "load 1x1" if mnemonic == "tbb" else "load 1x2"
    if re.match(r"(ldc|stc)2?l?$", mnemonic):
        return ("load" if mnemonic.startswith("ldc") else "store") + " 0x4"
    if found := re.match(r"m(cr|rc|crr|rrc)2?$", mnemonic):
        return ("to" if found[1].startswith("c") else "from") + (" 2x4" if len(found[1]) == 3 else " 1x4")
    if mnemonic in ("vmov", "vdup", "vmrs", "vmsr"):
        core = [bool(CORE.match(operand)) for operand in operands.split(", ")]
        if any(core):
            return ("from" if core[0] else "to") + f" {sum(core)}x4"
    return ""


# ---- tables ----

def texts(name, codes):
    """Encodings with their texts; of A64 what LLVM rejects is unallocated."""
    if name == "a64":
        found = disassemble(codes, name, "aarch64", "+all")
        newer = dict(zip(assemble(NEWER_A64), NEWER_A64))
        # FEAT_CMPBR and FEAT_TEV: only what LLVM 22 knows.
        later = lambda code: code >> 24 & 0x7e == 0x74 or code & 0xffe00000 == 0xd6e00000
        rows = {code: text or "unallocated" for code, text in zip(codes, found) if text or not later(code)}
        return sorted({**rows, **newer}.items())
    rows = {}
    for version, features in ARM:
        rest = [code for code in codes if code not in rows]
        prefix = "arm" if name == "a32" else "thumb"
        found = disassemble(rest, name, f"{prefix}v{version}", features)
        # Coprocessor 9 is floating point of half precision since ARMv8.2.
        later = lambda text: version == "7a" and "\tp9, " in text
        # RFE whose base LLVM prints as a number: bits are not what they should be.
        wrong = lambda text: text.startswith("rfe") and "\t#" in text
        found = zip(rest, found)
        rows.update((code, text) for code, text in found if text and not later(text) and not wrong(text))
    return sorted(rows.items())


def main():
    version = subprocess.run([MC, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"LLVM version [\d.]+", version)[0]
    for name, encodings in (("a64", a64), ("a32", a32), ("t32", t32)):
        codes = sorted(set(encodings()))
        with open(f"{name}.tsv", "w", encoding="ascii") as file:
            file.write(f"# Written by tables.py with Debian {version}: encoding, text, class, condition, distance, "
                       "data.\n")
            for code, text in texts(name, codes):
                classify = classify_a64 if name == "a64" else lambda code, text: classify_arm(code, text, name)
                found, conditional, distance, moved = classify(code, text)
                digits = 4 if name == "t32" and code >> 16 == 0 else 8
                fields = (f"{code:0{digits}x}", text.replace("\t", " "), found, "conditional" if conditional else "",
                          "" if distance is None else str(distance), moved)
                file.write("\t".join(fields).rstrip("\t") + "\n")


main()
