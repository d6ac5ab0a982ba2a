/* The encoder model of RISC-V E-Trace as golden model for simulators: docs/golden-model.md.
 *
 * A test compares the declarations with golden/src/ffi.rs. */
#ifndef TRACEPROOF_GOLDEN_H
#define TRACEPROOF_GOLDEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model. No two threads may use one at once. */
typedef struct tp_golden tp_golden;

/* A model. `parameters` and `policy` are TOML or JSON in the notation of cases; NULL or "" is all defaults. NULL if
 * they are wrong; tp_golden_error(NULL) says why. Close it with tp_golden_close. */
tp_golden *tp_golden_open(const char *parameters, const char *policy);

/* A model with the tables `parameters` and `policy` of a TOML or JSON file, such as the `dut.toml` of a device. Other
 * keys are ignored. */
tp_golden *tp_golden_open_file(const char *path);

/* Frees a model. */
void tp_golden_close(tp_golden *model);

/* What was wrong with the latest call that failed; of a NULL model, with the latest open of this thread. Valid until
 * the next call. */
const char *tp_golden_error(const tp_golden *model);

/* As after open: control fields have their first values, and nothing waits to be taken. 0, or -1 for an error. */
int64_t tp_golden_reset(tp_golden *model);

/* Any step of stimulus, as JSON in the notation of cases. 0, or -1 for an error. */
int64_t tp_golden_step(tp_golden *model, const char *stimulus);

/* A block of the next cycle, the oldest first, by the names of the ingress port. 0, or -1 for an error. */
int64_t tp_golden_block(tp_golden *model, uint8_t itype, uint64_t iaddr, uint32_t iretire, uint8_t ilastsize,
                        uint8_t sijump, uint8_t notify);

/* A cycle of the ingress port, with the blocks since the last one. `flags`: bit 0 trace-on pulse, bit 1 trace-off
 * pulse, bit 2 the hart is halted, bit 3 it is in reset. 0, or -1 for an error. */
int64_t tp_golden_cycle(tp_golden *model, uint64_t cause, uint64_t tval, uint8_t privilege, uint64_t context,
                        uint64_t time, uint8_t ctype, uint8_t flags);

/* Writes a control field, by its number in packs: 2 and 3 trTeEnable and trTeInstTracing, 4 and 5 trTeInstSyncMode and
 * trTeInstSyncMax, 6 trTeInstNoAddrDiff, 12 trTeInstTrigEnable. Tracing is on while trTeInstTracing is 1. 0, or -1 for
 * an error. */
int64_t tp_golden_field(tp_golden *model, uint8_t field, uint64_t value);

/* The transport after the encoder takes packets (1, as at first), or loses them (0). 0, or -1 for an error. */
int64_t tp_golden_ready(tp_golden *model, uint8_t takes);

/* Takes the next bytes of the stream, headers included: how many, at most `size`; 0 if none wait. -1 for an error. */
int64_t tp_golden_take(tp_golden *model, uint8_t *bytes, uint64_t size);

/* Takes the payload of the next packet, without its header: its length, 0 if none waits, -1 for an error. It needs the
 * default encapsulation. */
int64_t tp_golden_payload(tp_golden *model, uint8_t *bytes, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
