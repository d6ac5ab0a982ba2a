/* The protocol tdut/2 over standard input and output, for the six functions of tdut.h. Nothing here needs to be changed. */
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

/* The first element of an array or key of an object; NULL if it is empty or neither. */
static const char *first(const char *p) {
    p = blank(p);
    if (*p != '[' && *p != '{') return NULL;
    p = blank(p + 1);
    return *p == ']' || *p == '}' ? NULL : p;
}

/* The element or key behind the value at `p`; NULL behind the last. */
static const char *next(const char *p) {
    p = skip(p);
    return *p == ',' ? blank(p + 1) : NULL;
}

const char *tdut_find(const char *json, const char *path) {
    while (json) {
        size_t length = strcspn(path, ".");
        const char *key = *blank(json) == '{' ? first(json) : NULL;
        while (key) {
            const char *value = blank(skip(key) + 1);
            if (strncmp(key + 1, path, length) == 0 && key[1 + length] == '"') {
                if (!path[length]) return value;
                break;
            }
            key = next(value);
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

static int is(const char *value, const char *string) {
    size_t length = strlen(string);
    return value && *value == '"' && strncmp(value + 1, string, length) == 0 && value[1 + length] == '"';
}

int tdut_index(const char *json, const char *path, const char *string) {
    const char *array = tdut_find(json, path);
    int index = 0;
    for (const char *p = array ? first(array) : NULL; p; p = next(p), index++)
        if (is(p, string)) return index;
    return -1;
}

#ifndef TDUT_SHARED

/* ---- Memory that the program cannot go on without. */

static void *grown(void *p, size_t size) {
    p = realloc(p, size ? size : 1);
    if (!p) {
        fputs("tdut: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static char *copied(const char *from, const char *to) {
    size_t length = (size_t)(to - from);
    char *copy = grown(NULL, length + 1);
    memcpy(copy, from, length);
    copy[length] = 0;
    return copy;
}

static int digit(char c) {
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* The bytes of a string of hexadecimal digits. */
static uint8_t *bytes_of(const char *value, size_t *length) {
    size_t digits = strcspn(value + 1, "\"");
    uint8_t *bytes = grown(NULL, digits / 2);
    *length = digits / 2;
    for (size_t i = 0; i < *length; i++)
        bytes[i] = (uint8_t)(digit(value[1 + 2 * i]) << 4 | digit(value[2 + 2 * i]));
    return bytes;
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
    for (const char *p = sections ? first(sections) : NULL; p; p = next(p)) {
        image.sections = grown(image.sections, (image.count + 1) * sizeof *image.sections);
        struct tdut_section *section = &image.sections[image.count++];
        section->address = tdut_number(p, "address", 0);
        section->bytes = bytes_of(tdut_find(p, "bytes"), &section->length);
    }
    for (; images_known <= key; images_known++) {
        images = grown(images, (images_known + 1) * sizeof *images);
        memset(&images[images_known], 0, sizeof *images);
    }
    images[key] = image;
}

/* ---- The decoder at hand. */

static void *decoder;
static int results;

static void print_result(void *context, const char *json) {
    (void)context;
    printf("%s%s", results++ ? "," : "", json);
}

/* Opens a decoder; prints an answer and returns 0 if there is none. */
static int begin(unsigned long id, const char *line) {
    size_t key = (size_t)tdut_number(line, "parameters", 0), image = (size_t)tdut_number(line, "image", 0);
    const char *unsupported = NULL;
    if (decoder) tdut_close(decoder);
    decoder = NULL;
    if (key < parameters_known && parameters[key] && image < images_known) {
        const char *name = tdut_find(parameters[key], "family"), *value = tdut_find(parameters[key], "parameters");
        if (name && value) {
            char *family = copied(name + 1, name + 1 + strcspn(name + 1, "\"")), *text = copied(value, skip(value));
            decoder = tdut_open(family, text, images[image].sections, images[image].count, &unsupported);
            free(family);
            free(text);
        }
    }
    if (!decoder && unsupported)
        printf("{\"id\":%lu,\"status\":\"unsupported\",\"feature\":\"%s\"}\n", id, unsupported);
    else if (!decoder)
        printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"no decoder could be opened\"}\n", id);
    return decoder != NULL;
}

static void run(unsigned long id, const char *line) {
    const struct tdut_out out = {NULL, print_result};
    const char *chunks = tdut_find(line, "chunks"), *start = tdut_find(line, "start");
    if (is(start, "begin") && !begin(id, line)) return;
    if (!decoder) {
        printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"no decoder was begun\"}\n", id);
        return;
    }
    if (is(start, "reset")) tdut_reset(decoder);
    results = 0;
    printf("{\"id\":%lu,\"status\":\"ok\",\"results\":[", id);
    for (const char *p = chunks ? first(chunks) : NULL; p; p = next(p)) {
        size_t length;
        uint8_t *bytes = bytes_of(p, &length);
        tdut_push(decoder, bytes, length, &out);
        free(bytes);
    }
    if (tdut_flag(line, "finish")) tdut_finish(decoder, &out);
    puts("]}");
}

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
        if (is(operation, "bye")) break;
        if (!is_whole(line)) {
            printf("{\"id\":%lu,\"status\":\"error\",\"message\":\"the request is not whole\"}\n", id);
        } else if (is(operation, "hello")) {
            hello(id, line);
        } else if (is(operation, "run")) {
            run(id, line);
        } else {
            const char *status = "ok";
            if (is(operation, "parameters")) keep_parameters(key, line);
            else if (is(operation, "image")) keep_image(key, line);
            else if (is(operation, "forget")) forget();
            else status = "unsupported";
            printf("{\"id\":%lu,\"status\":\"%s\"}\n", id, status);
        }
    }
    if (decoder) tdut_close(decoder);
    forget();
    free(parameters);
    free(images);
    return 0;
}

#endif
