#!/bin/bash -eu
exec "$SRC/traceproof/fuzz/oss-fuzz/build.sh"
