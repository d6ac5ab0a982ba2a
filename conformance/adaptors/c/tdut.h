/* A trace decoder in C for Traceproof: write the first six functions below. An encoder: see the end.
 *
 * With tdut.c they are an adaptor program:      cc -o acme acme.c tdut.c
 * and a shared object for traceproof-host:      cc -shared -fPIC -DTDUT_SHARED -o acme.so acme.c tdut.c
 *
 * Plain C99 without dependencies. The protocol and the spelling of results are in docs/adaptors.md. */
#ifndef TDUT_H
#define TDUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of bytes in target memory. Sections ascend and do not overlap. */
struct tdut_section {
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
};

/* Where results go, in stream order: call `result` with one JSON object for each, such as
 * {"at":[0,0,0],"packet":{...}}, {"at":[0,0,0],"event":{...}} or {"at":[2,12,3],"fault":"overlong"}. */
struct tdut_out {
    void *context;
    void (*result)(void *context, const char *json);
};

/* Who it is and what it claims: a JSON object with "name", "version" and "decoders" as in the answer to hello. */
const char *tdut_info(void);

/* A new decoder. `parameters` is the JSON object of the family's parameters. The code is valid until tdut_close.
 * To refuse, set *unsupported to the name of the feature and return NULL. NULL alone says that it broke. */
void *tdut_open(const char *family, const char *parameters, const struct tdut_section *sections, size_t count,
                const char **unsupported);

/* The next bytes; any cut of a stream must give the same results. */
void tdut_push(void *decoder, const uint8_t *bytes, size_t length, const struct tdut_out *out);

/* The stream ends. */
void tdut_finish(void *decoder, const struct tdut_out *out);

/* Back to where tdut_open left off. */
void tdut_reset(void *decoder);

/* The decoder is needed no longer. */
void tdut_close(void *decoder);

/* ---- An encoder: compile with -DTDUT_ENCODER and write tdut_info, with "encoders" instead of "decoders", and these
 * four functions. With -DTDUT_ENCODER -DTDUT_DECODER a program is both. Shared objects are decoders only. */

/* A new encoder. `parameters` and `policy` are JSON objects; every key has a value. To refuse, set *unsupported to the
 * name of the feature, or of the key of the policy, and return NULL. NULL alone says that it broke. */
void *tdut_encoder_open(const char *family, const char *parameters, const char *policy, const char **unsupported);

/* One step of stimulus, as JSON. Results are {"packet":{...}} and {"wire":"a1b2"}, as soon as they are there. */
void tdut_encoder_step(void *encoder, const char *stimulus, const struct tdut_out *out);

/* The stimulus ends: what is buffered leaves. The end of tracing is a step of the stimulus. */
void tdut_encoder_finish(void *encoder, const struct tdut_out *out);

/* The encoder is needed no longer. */
void tdut_encoder_close(void *encoder);

/* Gives the result {"wire":"..."} for bytes that leave; nothing for no bytes. */
void tdut_wire(const struct tdut_out *out, const uint8_t *bytes, size_t length);

/* ---- Help for reading JSON, in tdut.c. A path such as "modes.full_address" names a value inside of objects. */

/* Where the value begins; NULL if it is not there. */
const char *tdut_find(const char *json, const char *path);
/* A number, also one in a string such as "0x80000000"; `otherwise` if it is not there. */
uint64_t tdut_number(const char *json, const char *path, uint64_t otherwise);
/* Whether the value is true. */
int tdut_flag(const char *json, const char *path);
/* The index of a string in an array of strings; -1 if it is not there. */
int tdut_index(const char *json, const char *path, const char *string);
/* The first element of an array or key of an object, and the element after another one; NULL if there is none. */
const char *tdut_first(const char *json);
const char *tdut_next(const char *element);
/* Whether the value is this string. */
int tdut_is(const char *value, const char *string);
/* The bytes of a string of hexadecimal digits, in which blanks are allowed; free them. */
uint8_t *tdut_bytes(const char *value, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
