/* Shared by the fuzz targets. */
#ifndef SESLITE_FUZZ_H
#define SESLITE_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seslite_agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                     \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

/* A code that fails comes with itself and a message. */
#define must_tell(code, error) must((code) >= 0 || ((error)->code == (code) && (error)->message[0] != '\0'))

static inline ses_store *fuzz_store(void)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_store *store = NULL;
    must(ses_open(":memory:", &options, &store, NULL) == SES_OK);
    return store;
}

/* It keeps no events, so that a long run needs no more memory than a short one. */
static inline ses_session *fuzz_session(ses_store *store)
{
    const ses_key key = {"app", "user", "session"};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    ses_session *session = NULL;
    must(ses_create(store, &key, NULL, 0, NULL, NULL, NULL) == SES_OK);
    must(ses_get(store, &key, &options, &session, NULL) == SES_OK);
    return session;
}

/* -------------------------------------------------------------------- inputs that are read piece by piece */

struct fuzz_input {
    const uint8_t *data;
    size_t size;
    size_t at;
};

/* A number of so many bytes. After the end of the input all bytes are 0. */
static inline uint64_t fuzz_take(struct fuzz_input *input, int width)
{
    uint64_t number = 0;
    for (int i = 0; i < width; i++, input->at++)
        number = number << 8 | (input->at < input->size ? input->data[input->at] : 0);
    return number;
}

/* A byte that says how long it is, and the text, shorter than `capacity`. */
static inline size_t fuzz_take_text(struct fuzz_input *input, char *text, size_t capacity)
{
    const size_t len = (size_t)fuzz_take(input, 1) % capacity;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)fuzz_take(input, 1);
    return len;
}

/* The text up to the next line feed, or the rest; ends in a NUL. Free it. */
static inline char *fuzz_take_line(struct fuzz_input *input)
{
    const uint8_t *from = input->data + (input->at < input->size ? input->at : input->size);
    const size_t rest = input->size - (size_t)(from - input->data);
    const uint8_t *end = rest > 0 ? memchr(from, '\n', rest) : NULL;
    const size_t len = end ? (size_t)(end - from) : rest;
    char *line = malloc(len + 1);

    must(line != NULL);
    if (len > 0)
        memcpy(line, from, len);
    line[len] = '\0';
    input->at += len + 1;
    return line;
}

/* -------------------------------------------------------------------------------------------------- files */

struct fuzz_file {
    unsigned char *data;
    size_t len;
};

/* A name in a folder of this process, in memory where the system has one. It is lent until the next call. */
static inline const char *fuzz_path(const char *name)
{
    static char folder[64];
    static char path[128];

    if (!folder[0]) {
        const char *shm = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/seslite-fuzz-XXXXXX", shm);
        must(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void fuzz_file_write(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "wb");
    must(file && (len == 0 || fwrite(data, 1, len, file) == len) && fclose(file) == 0);
}

static inline struct fuzz_file fuzz_file_read(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    must(file && fstat(fileno(file), &info) == 0 && info.st_size > 0);
    struct fuzz_file read = {malloc((size_t)info.st_size), (size_t)info.st_size};
    must(read.data && fread(read.data, 1, read.len, file) == read.len && fclose(file) == 0);
    return read;
}

static inline unsigned char *fuzz_copy(const unsigned char *data, size_t len)
{
    unsigned char *copy = malloc(len);
    must(copy != NULL);
    memcpy(copy, data, len);
    return copy;
}

/* The database and what SQLite keeps beside it. */
static inline void fuzz_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[160];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
}

/* -------------------------------------------------------------------------------------------------- texts */

/* A strict reader of its own, by the table of RFC 3629. */
static inline int fuzz_is_utf8(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t i = 0;
    int valid = 1;

    while (i < len && valid) {
        unsigned lead = p[i++];
        size_t more = lead < 0x80   ? 0
                      : lead < 0xC2 ? 9
                      : lead < 0xE0 ? 1
                      : lead < 0xF0 ? 2
                      : lead < 0xF5 ? 3
                                    : 9;
        uint32_t character = more == 0   ? lead
                             : more == 1 ? lead & 0x1F
                             : more == 2 ? lead & 0x0F
                                         : lead & 0x07;
        valid = more < 4 && len - i >= more;
        for (size_t k = 0; valid && k < more; k++, i++) {
            valid = (p[i] & 0xC0) == 0x80;
            character = character << 6 | (p[i] & 0x3F);
        }
        valid = valid && (more != 2 || (character >= 0x800 && (character < 0xD800 || character > 0xDFFF))) &&
                (more != 3 || (character >= 0x10000 && character <= 0x10FFFF));
    }
    return valid;
}

#endif
