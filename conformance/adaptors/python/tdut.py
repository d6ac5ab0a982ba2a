"""The protocol tdut/2 for a decoder in Python; see docs/adaptors.md. Needs nothing but Python 3."""

import json
import sys


class Unsupported(Exception):
    """The parameters need a feature that the decoder does not have, such as Unsupported("rv64")."""


def serve(name, version, decoders, make):
    """Answers requests; `make(family, parameters, sections)` gives an object with push(bytes), finish() and reset()."""
    known, decoder = {"parameters": {}, "image": {}}, None
    for line in sys.stdin:
        request = json.loads(line)
        operation, answer = request["op"], {"id": request.get("id"), "status": "ok"}
        if operation == "bye":
            break
        try:
            if operation == "hello":
                answer.update(tdut=2, nonce=request["nonce"], name=name, version=version, decoders=decoders)
            elif operation in known:
                known[operation][request["key"]] = request
            elif operation == "run":
                if request["start"] == "begin":
                    told = known["parameters"][request["parameters"]]
                    sections = known["image"][request["image"]]["sections"]
                    decoder = make(told["family"], told["parameters"], sections)
                elif request["start"] == "reset":
                    decoder.reset()
                results = [result for chunk in request["chunks"] for result in decoder.push(bytes.fromhex(chunk))]
                answer["results"] = results + decoder.finish() if request["finish"] else results
            else:
                answer["status"] = "unsupported"
        except Unsupported as missing:
            answer.update(status="unsupported", feature=str(missing))
        except Exception as error:  # the decoder is broken, the adaptor is not
            answer.update(status="error", message=repr(error))
        print(json.dumps(answer), flush=True)
