"""The golden model of RISC-V E-Trace for Python, over its C interface. Needs nothing but Python 3; see
docs/golden-model.md."""

import ctypes


class GoldenError(Exception):
    """What the model says is wrong."""


_U8, _U32, _U64, _TEXT = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p
_FUNCTIONS = {
    "reset": [],
    "step": [_TEXT],
    "block": [_U8, _U64, _U32, _U8, _U8, _U8],
    "cycle": [_U64, _U64, _U8, _U64, _U64, _U8, _U8],
    "field": [_U8, _U64],
    "ready": [_U8],
    "take": [_TEXT, _U64],
    "payload": [_TEXT, _U64],
}


class Golden:
    """A model. `library` is the path of libtraceproof_golden; parameters and policy are TOML or JSON."""

    def __init__(self, library, parameters="", policy="", file=None):
        self._library, self._model = ctypes.CDLL(str(library)), None
        for name in ("open", "open_file"):
            self._function(name).restype = ctypes.c_void_p
        self._function("open").argtypes = [_TEXT, _TEXT]
        self._function("open_file").argtypes = [_TEXT]
        self._function("error").argtypes, self._function("error").restype = [ctypes.c_void_p], _TEXT
        self._function("close").argtypes, self._function("close").restype = [ctypes.c_void_p], None
        for name, types in _FUNCTIONS.items():
            self._function(name).argtypes = [ctypes.c_void_p, *types]
            self._function(name).restype = ctypes.c_int64
        if file is None:
            self._model = self._function("open")(parameters.encode(), policy.encode())
        else:
            self._model = self._function("open_file")(str(file).encode())
        if not self._model:
            raise GoldenError(self._function("error")(None).decode())

    def _function(self, name):
        return getattr(self._library, "tp_golden_" + name)

    def _call(self, name, *arguments):
        value = self._function(name)(self._model, *arguments)
        if value < 0:
            raise GoldenError(self._function("error")(self._model).decode())
        return value

    def close(self):
        if self._model:
            self._function("close")(self._model)
            self._model = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def reset(self):
        self._call("reset")

    def step(self, stimulus):
        """Any step of stimulus, as JSON in the notation of cases."""
        self._call("step", stimulus.encode())

    def cycle(self, blocks=(), *, cause=0, tval=0, privilege=0, context=0, time=0, ctype=0, trace_on=False,
              trace_off=False, halted=False, reset=False):
        """A cycle; a block is a dictionary with itype, iaddr, iretire and, if not 0, ilastsize, sijump, notify."""
        for block in blocks:
            flags = [int(block.get(name, 0)) for name in ("ilastsize", "sijump", "notify")]
            self._call("block", block["itype"], block["iaddr"], block["iretire"], *flags)
        flags = trace_on << 0 | trace_off << 1 | halted << 2 | reset << 3
        self._call("cycle", cause, tval, privilege, context, time, ctype, flags)

    def field(self, number, value):
        self._call("field", number, value)

    def ready(self, takes):
        self._call("ready", takes)

    def take(self):
        """All bytes that wait, headers included."""
        taken, room = b"", ctypes.create_string_buffer(4096)
        while count := self._call("take", room, len(room)):
            taken += room.raw[:count]
        return taken

    def payload(self):
        """The payload of the next packet; empty if none waits."""
        room = ctypes.create_string_buffer(4096)
        count = self._call("payload", room, len(room))
        return room.raw[:count]
