/* A trace decoder in C for Traceproof: write the six functions below.
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

/* Help for reading parameters, in tdut.c. A path such as "modes.full_address" names a value inside of objects. */

/* Where the value begins; NULL if it is not there. */
const char *tdut_find(const char *json, const char *path);
/* A number, also one in a string such as "0x80000000"; `otherwise` if it is not there. */
uint64_t tdut_number(const char *json, const char *path, uint64_t otherwise);
/* Whether the value is true. */
int tdut_flag(const char *json, const char *path);
/* The index of a string in an array of strings; -1 if it is not there. */
int tdut_index(const char *json, const char *path, const char *string);

#ifdef __cplusplus
}
#endif

#endif
