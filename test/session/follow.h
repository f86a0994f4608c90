/* Shared by the tests of followers: short words for the next result of a follower. */
#ifndef SESLITE_TEST_FOLLOW_H
#define SESLITE_TEST_FOLLOW_H

#include "support.h"

static const ses_key key = {"app", "user", "one"};
static const ses_key user_key = {"app", "user", NULL};

#define FOLLOW_AFTER(seq_) (&(ses_follow_options){.size = sizeof(ses_follow_options), .after_seq = (seq_)})
#define FOLLOW_FROM(place_) (&(ses_follow_options){.size = sizeof(ses_follow_options), .place = (place_)})
#define FOLLOW_ONLY_NEW (&(ses_follow_options){.size = sizeof(ses_follow_options), .flags = SES_FOLLOW_NEW})

#define must_follow(store, key_, options) follow_must_open((store), (key_), (options), __FILE__, __LINE__)
#define assert_next(follower, session, seq) \
    follow_assert_next((follower), (session), (seq), __FILE__, __LINE__)
#define assert_nothing(follower) follow_assert_code((follower), SES_OK, NULL, __FILE__, __LINE__)
#define assert_reset(follower, session) \
    follow_assert_code((follower), SES_RESET, (session), __FILE__, __LINE__)
#define assert_gone(follower) follow_assert_code((follower), SES_NOTFOUND, "one", __FILE__, __LINE__)

static inline ses_follower *follow_must_open(ses_store *store, const ses_key *of,
                                             const ses_follow_options *options, const char *file, int line)
{
    ses_follower *follower = NULL;
    ses_error error;

    support_assert_code(SES_OK, ses_follower_open(store, of, options, &follower, &error), &error,
                        "ses_follower_open", file, line);
    return support_keep_follower(follower);
}

static inline void follow_assert_session(ses_follower *follower, const char *session, const char *file,
                                         int line)
{
    const char *is = ses_follower_session(follower);

    if (session ? !is || strcmp(is, session) != 0 : is != NULL) {
        print_error("%s:%d: of session %s, not %s\n", file, line, is ? is : "NULL",
                    session ? session : "NULL");
        _fail(file, line);
    }
}

/* Waits for a while: in tests with one thread it is there, or never comes. */
static inline void follow_assert_next(ses_follower *follower, const char *session, int64_t seq,
                                      const char *file, int line)
{
    const ses_event *event = NULL;
    ses_error error;

    support_assert_code(SES_ROW, ses_follower_next(follower, 20000, &event, &error), &error,
                        "ses_follower_next", file, line);
    if (event->seq != seq) {
        print_error("%s:%d: event %lld, not %lld\n", file, line, (long long)event->seq, (long long)seq);
        _fail(file, line);
    }
    follow_assert_session(follower, session, file, line);
}

/* Without waiting. `session` is not looked at if there is nothing. */
static inline void follow_assert_code(ses_follower *follower, int code, const char *session, const char *file,
                                      int line)
{
    const ses_event *event = (const ses_event *)"";
    ses_error error;

    support_assert_code(code, ses_follower_next(follower, 0, &event, &error), &error, "ses_follower_next",
                        file, line);
    if (event)
        _fail(file, line);
    if (code != SES_OK)
        follow_assert_session(follower, session, file, line);
}

static inline void append_to(ses_store *store, const char *session, int count)
{
    const ses_key of = {"app", "user", session};
    for (int i = 0; i < count; i++)
        must_append_by_key(store, &of, "{}");
}

static inline void create_session(ses_store *store, const char *session, int events)
{
    const ses_key of = {"app", "user", session};
    must_create(store, &of, NULL);
    append_to(store, session, events);
}

static inline void cut_after(ses_store *store, const char *session, int64_t seq)
{
    const ses_key of = {"app", "user", session};
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    ses_error error;

    assert_ok(ses_cut_by_key(store, &of, &point, NULL, NULL, &error));
}

static inline void prune_to(ses_store *store, const char *session, int64_t seq)
{
    const ses_key of = {"app", "user", session};
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = seq};
    ses_error error;

    assert_ok(ses_prune_by_key(store, &of, &options, NULL, &error));
}

static inline void delete_named(ses_store *store, const char *session)
{
    const ses_key of = {"app", "user", session};
    must_delete(store, &of);
}

#endif
