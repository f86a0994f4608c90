/* A clock that is given, and the times an event gets from it. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

#define LATEST INT64_C(253402300799999999)   /* the end of the year 9999 */
#define EARLIEST INT64_C(-62167219200000000) /* the beginning of the year 0 */

struct clocked {
    int64_t now;
    ses_store *store;
};

static void open_clocked(struct clocked *clocked, const char *path)
{
    const ses_open_options options = {
        .size = sizeof options, .clock = support_clock, .clock_context = &clocked->now};
    ses_error error;

    clocked->now = 0;
    assert_ok(ses_open(path, &options, &clocked->store, &error));
    must_create(clocked->store, &key, NULL);
}

FOLDER_TEST(clock_out_of_range)
{
    static const struct {
        int64_t now, seen;
    } cases[] = {{INT64_MAX, LATEST},      {LATEST + 1, LATEST},  {LATEST, LATEST}, {EARLIEST, EARLIEST},
                 {EARLIEST - 1, EARLIEST}, {INT64_MIN, EARLIEST}, {-1, -1}};
    struct clocked clocked;

    open_clocked(&clocked, folder->path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_key fresh = {"app", "clock", NULL};
        ses_session *session = NULL;
        ses_appended appended;
        clocked.now = cases[i].now;
        session = must_open_new(clocked.store, &fresh, NULL);
        assert_true(ses_session_created_us(session) == cases[i].seen);
        assert_ok(ses_append(session, "{}", 2, NULL, &appended, &error));
        assert_true(appended.time_us == cases[i].seen);
        assert_true(ses_session_updated_us(session) == cases[i].seen);
        ses_session_close(session);
    }
    ses_close(clocked.store);
}

/* The timestamp that is put into an event is read as that very time again: by a retry, by an export. */
FOLDER_TEST(made_time_is_read_as_the_same)
{
    static const int64_t times[] = {
        0, -1, 1, 999999, -999999, EARLIEST, INT64_C(99999999999999999), INT64_C(100000000000000000), LATEST};
    struct clocked clocked;

    open_clocked(&clocked, folder->path);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const ses_key copy = {"app", "copy", NULL};
        ses_session *session = NULL;
        ses_appended appended;
        clocked.now = times[i];
        assert_ok(ses_append_by_key(clocked.store, &key, "{}", 2, NULL, &appended, &error));
        session = must_get(clocked.store, &key);
        const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
        ses_session *target = must_open_new(clocked.store, &copy, NULL);

        assert_ok(ses_append(target, event->json, event->json_len, NULL, &appended, &error));
        if (appended.time_us != times[i])
            print_error("%lld became %s and then %lld\n", (long long)times[i], event->json,
                        (long long)appended.time_us);
        assert_true(appended.time_us == times[i]);
        ses_session_close(target);
        ses_session_close(session);
    }
    ses_close(clocked.store);
}
