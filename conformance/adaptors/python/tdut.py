"""The protocol tdut/2 for a decoder or an encoder in Python; see docs/adaptors.md. Needs nothing but Python 3."""

import json
import sys


class Unsupported(Exception):
    """A feature, or a choice of the policy, that it does not have, such as Unsupported("rv64")."""


def serve(name, version, decoders, make, spaces=False):
    """Answers requests; `make(family, parameters, sections)` gives an object with push(bytes), finish() and reset().

    `spaces`: it looks at the "space" of sections, the states of the processor in which they exist.
    """
    answer_all({"name": name, "version": version, "decoders": decoders, "spaces": spaces}, make, None)


def serve_encoder(name, version, encoders, make):
    """Answers requests; `make(family, parameters, policy)` gives an object with step(stimulus) and finish()."""
    answer_all({"name": name, "version": version, "encoders": encoders}, None, make)


def wire(data):
    """Bytes that leave an encoder, as a result."""
    return {"wire": bytes(data).hex()}


def answer_all(info, make_decoder, make_encoder):
    known, subject = {"parameters": {}, "image": {}}, None
    for line in sys.stdin:
        request = json.loads(line)
        operation, answer = request["op"], {"id": request.get("id"), "status": "ok"}
        make = {"run": make_decoder, "encode": make_encoder}.get(operation)
        if operation == "bye":
            break
        try:
            if operation == "hello":
                answer.update(tdut=2, nonce=request["nonce"], **info)
            elif operation in known:
                known[operation][request["key"]] = request
            elif make is None:
                answer["status"] = "unsupported"
            else:
                if request["start"] == "begin":
                    sent = known["parameters"][request["parameters"]]
                    image = known["image"][request["image"]]["sections"] if make is make_decoder else request["policy"]
                    subject = make(sent["family"], sent["parameters"], image)
                elif request["start"] == "reset":
                    subject.reset()
                inputs = map(bytes.fromhex, request["chunks"]) if make is make_decoder else request["stimulus"]
                take = subject.push if make is make_decoder else subject.step
                results = [result for piece in inputs for result in take(piece)]
                answer["results"] = results + subject.finish() if request["finish"] else results
        except Unsupported as missing:
            answer.update(status="unsupported", feature=str(missing))
        except Exception as error:  # the subject is broken, the adaptor is not
            answer.update(status="error", message=repr(error))
        print(json.dumps(answer), flush=True)
