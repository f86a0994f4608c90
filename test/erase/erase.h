/* Shared by the tests of redaction. */
#ifndef SESLITE_TEST_ERASE_H
#define SESLITE_TEST_ERASE_H

#include "check.h"
#include "seslite_artifact.h"
#include "seslite_erase.h"
#include "session/history.h"
#include "session/lines_text.h"

#define SECRET "xyzzy-4711"

static const int64_t *const all = NULL;
#define SEQS(...) (const int64_t[]){__VA_ARGS__}, (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Finds a fixed text. */
static inline int find_text(void *context, const char *text, size_t len, size_t from, size_t *begin,
                            size_t *end, ses_error *error)
{
    const char *wanted = context;
    const size_t wanted_len = strlen(wanted);
    (void)error;

    for (size_t at = from; at + wanted_len <= len; at++) {
        if (memcmp(text + at, wanted, wanted_len) == 0) {
            *begin = at;
            *end = at + wanted_len;
            return 1;
        }
    }
    return 0;
}

/* The text of the stored event; until the next call. */
static inline const char *event_text(ses_store *store, const ses_key *of, int64_t seq)
{
    static char kept[20000];
    ses_session *session = must_get(store, of);

    kept[0] = '\0';
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        if (event->seq == seq)
            snprintf(kept, sizeof kept, "%s", event->json);
    }
    ses_session_close(session);
    return kept;
}

static inline void must_redact(ses_store *store, const ses_key *of, const int64_t *seqs, size_t count,
                               const ses_redact_options *options, ses_erased *erased)
{
    ses_error error;
    *erased = (ses_erased){.size = sizeof *erased};
    assert_ok(ses_redact_by_key(store, of, seqs, count, options, erased, &error));
}

#define assert_event(store, of, seq, expected) assert_string_equal(event_text(store, of, seq), expected)

/* `forks_left` of the receipt of a call that erases. */
static inline int64_t left_by_delete(ses_store *store, const ses_key *of)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};
    ses_error error;

    assert_ok(ses_delete(store, of, &options, NULL, &error));
    assert_int_equal(erased.sessions, 1);
    return erased.forks_left;
}

static inline int64_t left_by_cut(ses_store *store, const ses_key *of, int64_t seq)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_cut_options options = {.size = sizeof options, .erased = &erased};
    ses_error error;

    assert_ok(ses_cut_by_key(store, of, AFTER_SEQ(seq), &options, NULL, &error));
    return erased.forks_left;
}

#endif
