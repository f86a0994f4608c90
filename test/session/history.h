/* Shared by the tests of history: points of a log, and the state there. */
#ifndef SESLITE_TEST_HISTORY_H
#define SESLITE_TEST_HISTORY_H

#include "../open.h"
#include "append.h"

#define AFTER_SEQ(seq_) (&(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = (seq_)})
#define AFTER_EVENT(id_) (&(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_EVENT, .id = (id_)})
#define BEFORE_INVOCATION(id_) \
    (&(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_INVOCATION, .id = (id_)})
#define LAST_TURN (&(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_LAST_TURN})

/* Until the next call. */
static inline const char *as_of(ses_store *store, const ses_key *of, const ses_point *point)
{
    static char kept[8192];
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_as_of_by_key(store, of, point, NULL, &json, NULL, &error));
    snprintf(kept, sizeof kept, "%s", json);
    ses_free(json);
    return kept;
}

#define assert_as_of(store, of, point, expected) assert_string_equal(as_of(store, of, point), expected)

/* An event of an invocation by an author, with a state delta (or NULL). */
static inline void must_say(ses_store *store, const ses_key *of, const char *invocation, const char *author,
                            const char *delta)
{
    char event[1024];
    int len =
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"%s\",\"author\":\"%s\",\"content\":{\"parts\":[{\"text\":\"said\"}]},"
                 "\"actions\":{\"stateDelta\":%s}}",
                 invocation, author, delta ? delta : "{}");

    assert_true(len > 0 && (size_t)len < sizeof event);
    must_append_by_key(store, of, event);
}

static inline void must_rewind(ses_store *store, const ses_key *of, const ses_point *point)
{
    ses_error error;
    assert_ok(ses_rewind_by_key(store, of, point, NULL, NULL, &error));
}

/* The numbers of the events that the store has of the session; until the next call. */
static inline const char *stored_seqs(ses_store *store, const ses_key *of)
{
    static char seqs[1024];
    ses_session *session = must_get(store, of);
    size_t len = 0;

    seqs[0] = '\0';
    for (size_t i = 0; i < ses_session_event_count(session) && len < sizeof seqs - 24; i++)
        len += (size_t)snprintf(seqs + len, sizeof seqs - len, "%s%lld", i ? " " : "",
                                (long long)ses_session_event(session, i)->seq);
    ses_session_close(session);
    return seqs;
}

#endif
