/* The protocol tdut/2 over standard input and output, for the functions of tdut.h. Nothing here needs to be changed. */
#include "tdut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading JSON: a cursor that walks over values. The runner sends sound JSON. */

static const char *blank(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
    return p;
}

/* Behind the value at `p`. */
static const char *skip(const char *p) {
    int depth = 0;
    p = blank(p);
    do {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && p[1]) p++;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            depth--;
        }
        if (!*p) return p;
        p++;
    } while (depth > 0 || (p[-1] != '"' && p[-1] != '}' && p[-1] != ']' && *p && !strchr(",]} \t\r\n", *p)));
    return blank(p);
}

const char *tdut_first(const char *p) {
    p = blank(p);
    if (*p != '[' && *p != '{') return NULL;
    p = blank(p + 1);
    return *p == ']' || *p == '}' ? NULL : p;
}

const char *tdut_next(const char *p) {
    p = skip(p);
    return *p == ',' ? blank(p + 1) : NULL;
}

const char *tdut_find(const char *json, const char *path) {
    while (json) {
        size_t length = strcspn(path, ".");
        const char *key = *blank(json) == '{' ? tdut_first(json) : NULL;
        while (key) {
            const char *value = blank(skip(key) + 1);
            if (strncmp(key + 1, path, length) == 0 && key[1 + length] == '"') {
                if (!path[length]) return value;
                break;
            }
            key = tdut_next(value);
        }
        json = key ? blank(skip(key) + 1) : NULL;
        path += length + 1;
    }
    return NULL;
}

uint64_t tdut_number(const char *json, const char *path, uint64_t otherwise) {
    const char *value = tdut_find(json, path);
    if (!value) return otherwise;
    return strtoull(value + (*value == '"'), NULL, 0);
}

int tdut_flag(const char *json, const char *path) {
    const char *value = tdut_find(json, path);
    return value && *value == 't';
}

int tdut_is(const char *value, const char *string) {
    size_t length = strlen(string);
    return value && *value == '"' && strncmp(value + 1, string, length) == 0 && value[1 + length] == '"';
}

int tdut_index(const char *json, const char *path, const char *string) {
    const char *array = tdut_find(json, path);
    int index = 0;
    for (const char *p = array ? tdut_first(array) : NULL; p; p = tdut_next(p), index++)
        if (tdut_is(p, string)) return index;
    return -1;
}

/* ---- Memory that the program cannot go on without. */

static void *grown(void *p, size_t size) {
    p = realloc(p, size ? size : 1);
    if (!p) {
        fputs("tdut: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static int digit(char c) {
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

uint8_t *tdut_bytes(const char *value, size_t *length) {
    size_t end = strcspn(value + 1, "\"") + 1, digits = 0;
    uint8_t *bytes = grown(NULL, end / 2);
    for (size_t i = 1; i < end; i++) {
        if (value[i] == ' ') continue;
        uint8_t high = digits % 2 ? bytes[digits / 2] : 0;
        bytes[digits / 2] = (uint8_t)(high << 4 | digit(value[i]));
        digits++;
    }
    *length = digits / 2;
    return bytes;
}

void tdut_wire(const struct tdut_out *out, const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    if (length == 0) return;
    char *json = grown(NULL, 2 * length + sizeof "{\"wire\":\"\"}"), *end = json + sprintf(json, "{\"wire\":\"");
    for (size_t i = 0; i < length; i++) {
        *end++ = digits[bytes[i] >> 4];
        *end++ = digits[bytes[i] & 15];
    }
    strcpy(end, "\"}");
    out->result(out->context, json);
    free(json);
}

#ifndef TDUT_SHARED

#ifndef TDUT_ENCODER
#define TDUT_DECODER
#endif

static char *copied(const char *from, const char *to) {
    size_t length = (size_t)(to - from);
    char *copy = grown(NULL, length + 1);
    memcpy(copy, from, length);
    copy[length] = 0;
    return copy;
}

/* ---- What was sent under keys. */

struct image {
    struct tdut_section *sections;
    size_t count;
};

static char **parameters; /* the messages */
static struct image *images;
static size_t parameters_known, images_known;

static void forget(void) {
    for (size_t i = 0; i < parameters_known; i++) free(parameters[i]);
    for (size_t i = 0; i < images_known; i++) {
        for (size_t j = 0; j < images[i].count; j++) free((void *)images[i].sections[j].bytes);
        free(images[i].sections);
    }
    parameters_known = images_known = 0;
}

static void keep_parameters(size_t key, const char *line) {
    for (; parameters_known <= key; parameters_known++) {
        parameters = grown(parameters, (parameters_known + 1) * sizeof *parameters);
        parameters[parameters_known] = NULL;
    }
    free(parameters[key]);
    parameters[key] = copied(line, line + strlen(line));
}

static void keep_image(size_t key, const char *line) {
    struct image image = {NULL, 0};
    const char *sections = tdut_find(line, "sections");
    for (const char *p = sections ? tdut_first(sections) : NULL; p; p = tdut_next(p)) {
        image.sections = grown(image.sections, (image.count + 1) * sizeof *image.sections);
        struct tdut_section *section = &image.sections[image.count++];
        section->address = tdut_number(p, "address", 0);
        section->bytes = tdut_bytes(tdut_find(p, "bytes"), &section->length);
    }
    for (; images_known <= key; images_known++) {
        images = grown(images, (images_known + 1) * sizeof *images);
        memset(&images[images_known], 0, sizeof *images);
    }
    images[key] = image;
}

/* ---- Answers. */

static int results;

static void print_result(void *context, const char *json) {
    (void)context;
    printf("%s%s", results++ ? "," : "", json);
}

static void refused(unsigned long id, const char *unsupported) {
    if (unsupported) printf("{\"id\":%lu,\"status\":\"unsupported\",\"feature\":\"%s\"}\n", id, unsupported);
    else printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"it could not be opened\"}\n", id);
}

static void begun_nothing(unsigned long id) {
    printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"nothing was begun\"}\n", id);
}

/* Copies of family and parameters that a request names; 0 if they were not sent. */
static int known(const char *line, char **family, char **text) {
    size_t key = (size_t)tdut_number(line, "parameters", 0);
    const char *kept = key < parameters_known ? parameters[key] : NULL;
    const char *name = kept ? tdut_find(kept, "family") : NULL, *value = kept ? tdut_find(kept, "parameters") : NULL;
    if (!name || !value) return 0;
    *family = copied(name + 1, name + 1 + strcspn(name + 1, "\""));
    *text = copied(value, skip(value));
    return 1;
}

#ifdef TDUT_DECODER

/* ---- The decoder at hand. */

static void *decoder;

/* Opens a decoder; prints an answer and returns 0 if there is none. */
static int begin(unsigned long id, const char *line) {
    size_t image = (size_t)tdut_number(line, "image", 0);
    const char *unsupported = NULL;
    char *family, *text;
    if (decoder) tdut_close(decoder);
    decoder = NULL;
    if (image < images_known && known(line, &family, &text)) {
        decoder = tdut_open(family, text, images[image].sections, images[image].count, &unsupported);
        free(family);
        free(text);
    }
    if (!decoder) refused(id, unsupported);
    return decoder != NULL;
}

static void run(unsigned long id, const char *line) {
    const struct tdut_out out = {NULL, print_result};
    const char *chunks = tdut_find(line, "chunks"), *start = tdut_find(line, "start");
    if (tdut_is(start, "begin") && !begin(id, line)) return;
    if (!decoder) {
        begun_nothing(id);
        return;
    }
    if (tdut_is(start, "reset")) tdut_reset(decoder);
    results = 0;
    printf("{\"id\":%lu,\"status\":\"ok\",\"results\":[", id);
    for (const char *p = chunks ? tdut_first(chunks) : NULL; p; p = tdut_next(p)) {
        size_t length;
        uint8_t *bytes = tdut_bytes(p, &length);
        tdut_push(decoder, bytes, length, &out);
        free(bytes);
    }
    if (tdut_flag(line, "finish")) tdut_finish(decoder, &out);
    puts("]}");
}

#endif

#ifdef TDUT_ENCODER

/* ---- The encoder at hand. */

static void *encoder;

/* Opens an encoder; prints an answer and returns 0 if there is none. */
static int begin_encoder(unsigned long id, const char *line) {
    const char *unsupported = NULL, *value = tdut_find(line, "policy");
    char *family, *text;
    if (encoder) tdut_encoder_close(encoder);
    encoder = NULL;
    if (value && known(line, &family, &text)) {
        char *policy = copied(value, skip(value));
        encoder = tdut_encoder_open(family, text, policy, &unsupported);
        free(family);
        free(text);
        free(policy);
    }
    if (!encoder) refused(id, unsupported);
    return encoder != NULL;
}

static void encode(unsigned long id, const char *line) {
    const struct tdut_out out = {NULL, print_result};
    const char *stimulus = tdut_find(line, "stimulus");
    if (tdut_is(tdut_find(line, "start"), "begin") && !begin_encoder(id, line)) return;
    if (!encoder) {
        begun_nothing(id);
        return;
    }
    results = 0;
    printf("{\"id\":%lu,\"status\":\"ok\",\"results\":[", id);
    for (const char *p = stimulus ? tdut_first(stimulus) : NULL; p; p = tdut_next(p)) {
        char *step = copied(p, skip(p));
        tdut_encoder_step(encoder, step, &out);
        free(step);
    }
    if (tdut_flag(line, "finish")) tdut_encoder_finish(encoder, &out);
    puts("]}");
}

#endif

static void hello(unsigned long id, const char *line) {
    const char *nonce = tdut_find(line, "nonce");
    const char *info = tdut_info();
    int length = nonce ? (int)strcspn(nonce + 1, "\"") : 0;
    printf("{\"id\":%lu,\"tdut\":2,\"nonce\":\"%.*s\",%s\n", id, length, nonce ? nonce + 1 : "", strchr(info, '{') + 1);
}

/* Whether a line is one object from its beginning to its end. One that was cut off must not be answered. */
static int is_whole(const char *line) {
    int depth = 0, text = 0;
    const char *p = blank(line);
    if (*p != '{') return 0;
    do {
        if (text && *p == '\\' && p[1]) p++;
        else if (*p == '"') text = !text;
        else if (!text) depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    } while (depth > 0 && *p);
    return depth == 0 && !*blank(p);
}

/* The next line without its end; NULL behind the last. */
static char *next_line(void) {
    static char *line;
    static size_t room;
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (length + 1 >= room) line = grown(line, room = room ? room * 2 : 4096);
        line[length++] = (char)c;
    }
    if (c == EOF && length == 0) return NULL;
    if (room == 0) line = grown(line, room = 4096);
    line[length] = 0;
    return line;
}

int main(void) {
    for (char *line; (line = next_line()) != NULL; fflush(stdout)) {
        const char *operation = tdut_find(line, "op");
        unsigned long id = (unsigned long)tdut_number(line, "id", 0);
        size_t key = (size_t)tdut_number(line, "key", 0);
        if (tdut_is(operation, "bye")) break;
        if (!is_whole(line)) {
            printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"the request is not whole\"}\n", id);
        } else if (tdut_is(operation, "hello")) {
            hello(id, line);
#ifdef TDUT_DECODER
        } else if (tdut_is(operation, "run")) {
            run(id, line);
#endif
#ifdef TDUT_ENCODER
        } else if (tdut_is(operation, "encode")) {
            encode(id, line);
#endif
        } else {
            const char *status = "ok";
            if (tdut_is(operation, "parameters")) keep_parameters(key, line);
            else if (tdut_is(operation, "image")) keep_image(key, line);
            else if (tdut_is(operation, "forget")) forget();
            else status = "unsupported";
            printf("{\"id\":%lu,\"status\":\"%s\"}\n", id, status);
        }
    }
#ifdef TDUT_DECODER
    if (decoder) tdut_close(decoder);
#endif
#ifdef TDUT_ENCODER
    if (encoder) tdut_encoder_close(encoder);
#endif
    forget();
    free(parameters);
    free(images);
    return 0;
}

#endif
