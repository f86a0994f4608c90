/* What the fuzz targets share. */
#ifndef SESLITE_FUZZ_H
#define SESLITE_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
