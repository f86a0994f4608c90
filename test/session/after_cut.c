/* Handles and cursors after another writer has cut the session's events, or pruned them. */
#include "open.h"
#include "random.h"

static const ses_key key = {"app", "user", "session"};

enum { MOST = 600, KEYS = 5 };

/* ------------------------------------------------------------------------------- cutting and pruning */

/* The log as it is to be. Own state is that of `value` after the last event that is there; 0: no such key. */
struct log {
    struct fixture *fixture;
    int last;
    int base;
    bool stored[MOST + 1];
    int value[MOST + 1][KEYS];
    int cuts;
};

static void log_begin(struct log *log, struct fixture *fixture)
{
    memset(log, 0, sizeof *log);
    log->fixture = fixture;
    must_create(fixture->store, &key, Q("{'k0':1000000,'k1':1000001}"));
    log->value[0][0] = 1000000;
    log->value[0][1] = 1000001;
}

static int top(const struct log *log)
{
    int seq = log->last;
    while (seq > log->base && !log->stored[seq])
        seq--;
    return seq;
}

/* An event that sets one key, and removes one. */
static const char *log_event(struct log *log)
{
    static char event[300];
    int seq = log->last + 1;
    int before = top(log);

    assert_true(seq <= MOST);
    memcpy(log->value[seq], log->value[before], sizeof log->value[seq]);
    log->value[seq][seq % KEYS] = seq;
    log->value[seq][(seq + 2) % KEYS] = 0;
    log->stored[seq] = true;
    log->last = seq;
    snprintf(
        event, sizeof event,
        "{'id':'e%d','invocationId':'i','actions':{'stateDelta':{'k%d':%d,'k%d':'__ADK_SENTINEL_REMOVED__',"
        "'user:u':%d,'temp:t':%d}}}",
        seq, seq % KEYS, seq, (seq + 2) % KEYS, seq, seq);
    return Q(event);
}

static void others_append(struct log *log, int count)
{
    for (int i = 0; i < count; i++)
        must_append_by_key(log->fixture->store, &key, log_event(log));
}

static void run_sql(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void run_sql(const struct log *log, const char *format, ...)
{
    char sql[2000];
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    assert_in_range(len, 1, sizeof sql - 1);
    raw_exec(log->fixture->path, sql);
}

static void cut(struct log *log, int after)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = after};
    ses_error error;
    int code = ses_cut_by_key(log->fixture->store, &key, &point, NULL, NULL, &error);

    if (code != SES_UNCHANGED) {
        assert_ok(code);
        log->cuts++;
    }
    for (int seq = after + 1; seq <= log->last; seq++)
        log->stored[seq] = false;
}

/* At just this place, which a call might not choose. */
static void prune(struct log *log, int up_to)
{
    while (up_to > log->base && !log->stored[up_to])
        up_to--;
    for (int seq = 1; seq <= up_to; seq++)
        log->stored[seq] = false;
    log->base = up_to;
    run_sql(log,
            "DELETE FROM events WHERE position <= (1 << 32) + %d;"
            "UPDATE sessions SET base_seq = %d,"
            " event_count = (SELECT count(*) FROM events WHERE session_id = 1) WHERE id = 1;"
            "DELETE FROM base_state",
            up_to, up_to);
    for (int i = 0; i < KEYS; i++) {
        if (log->value[up_to][i])
            run_sql(log, "INSERT INTO base_state VALUES (1, 'k%d', '%d', 0)", i, log->value[up_to][i]);
    }
}

/* ---------------------------------------------------------------------------------------- a handle */

/* A handle, and the events that it is to hold. */
struct held {
    ses_session *session;
    bool keeps; /* events at all */
    int known;  /* the last number that it has heard of */
    int cuts;   /* as of then */
    bool has[MOST + 1];
};

static void hold(struct held *held, const struct log *log, const ses_range *range)
{
    ses_error error;

    *held = (struct held){
        .known = log->last, .cuts = log->cuts, .keeps = !range || range->which != SES_RANGE_NONE};
    assert_ok(ses_get(log->fixture->store, &key, GET_RANGE(range), &held->session, &error));
    for (size_t i = 0; i < ses_session_event_count(held->session); i++)
        held->has[ses_session_event(held->session, i)->seq] = true;
}

/* Its content once it is up to date. Events that were cut are gone; events that were pruned stay if the
 * handle can tell the two apart. */
static void catch_up(struct held *held, const struct log *log)
{
    int last = 0;
    for (int seq = 1; seq <= held->known; seq++) {
        if (log->stored[seq] || (seq <= log->base && log->base <= held->known))
            last = seq;
    }
    if (held->cuts != log->cuts) {
        for (int seq = last + 1; seq <= held->known; seq++)
            held->has[seq] = false;
    }
    for (int seq = held->known + 1; seq <= log->last; seq++)
        held->has[seq] = held->keeps && log->stored[seq];
    held->known = log->last;
    held->cuts = log->cuts;
}

static void assert_same_as_the_file(const struct held *held, const struct log *log)
{
    ses_session *fresh = must_get(log->fixture->store, &key);
    const char *json = support_state(held->session, NULL);
    const char *temp = strstr(json, ",\"temp:t\"");
    size_t count = 0;

    assert_int_equal(ses_session_version(held->session), ses_session_version(fresh));
    assert_int_equal(ses_session_last_seq(held->session), log->last);
    assert_int_equal(ses_session_stored(held->session), ses_session_stored(fresh));
    assert_int_equal(ses_session_base_seq(held->session), log->base);
    /* Own and shared keys, and behind them those of the invocation. */
    const char *expected = support_state(fresh, NULL);
    size_t len = temp ? (size_t)(temp - json) : strlen(json) - 1;
    assert_int_equal(len, strlen(expected) - 1);
    assert_memory_equal(json, expected, len);
    for (int seq = 1; seq <= log->last; seq++) {
        if (held->has[seq]) {
            const ses_event *event = ses_session_event(held->session, count++);
            assert_non_null(event);
            assert_int_equal(event->seq, seq);
        }
    }
    assert_int_equal(ses_session_event_count(held->session), count);
    ses_session_close(fresh);
}

static void refresh(struct held *held, const struct log *log)
{
    must_refresh(held->session);
    catch_up(held, log);
    assert_same_as_the_file(held, log);
}

static void append_anyway(struct held *held, struct log *log)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    ses_appended appended;
    ses_error error;

    catch_up(held, log);
    assert_ok(ses_append(held->session, log_event(log), SES_NUL, &anyway, &appended, &error));
    assert_int_equal(appended.seq, log->last);
    catch_up(held, log);
    assert_same_as_the_file(held, log);
}

/* Nothing of it is stored, and the handle is as before. */
static void assert_stale(const struct held *held, const char *event)
{
    const char *before = support_state(held->session, NULL);
    int64_t version = ses_session_version(held->session);
    size_t count = ses_session_event_count(held->session);
    ses_error error;

    assert_code(SES_STALE, ses_append(held->session, event, SES_NUL, NULL, NULL, &error));
    assert_message("refresh");
    assert_true(error.version > version);
    assert_int_equal(ses_session_version(held->session), version);
    assert_int_equal(ses_session_event_count(held->session), count);
    assert_ptr_equal(support_state(held->session, NULL), before);
}

/* ------------------------------------------------------------------------------------------ handles */

TEST(cut_then_refresh)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 10);
    hold(&held, &log, NULL);
    cut(&log, 6);
    assert_stale(&held, Q("{'id':'late'}"));
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 6);
    assert_int_equal(ses_session_last_seq(held.session), 10);
    must_append(held.session, log_event(&log)); /* it is current */
    catch_up(&held, &log);
    assert_same_as_the_file(&held, &log);
    ses_session_close(held.session);
}

TEST(new_events_stand_where_others_were_cut)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 10);
    hold(&held, &log, NULL);
    cut(&log, 4);
    others_append(&log, 3);
    assert_stale(&held, Q("{'id':'late'}"));
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 7);
    assert_int_equal(ses_session_event(held.session, 4)->seq, 11);
    cut(&log, 12);
    append_anyway(&held, &log);
    cut(&log, 2);
    cut(&log, 1);
    others_append(&log, 2);
    cut(&log, log.last - 1);
    append_anyway(&held, &log);
    ses_session_close(held.session);
}

TEST(cut_to_nothing)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 3);
    for (int anyway = 0; anyway <= 1; anyway++) {
        hold(&held, &log, NULL);
        cut(&log, 0);
        if (anyway)
            append_anyway(&held, &log);
        else
            refresh(&held, &log);
        assert_int_equal(ses_session_event_count(held.session), anyway);
        others_append(&log, 2);
        refresh(&held, &log);
        ses_session_close(held.session);
    }
}

/* Only what the handle has not seen is cut: it loses nothing. */
TEST(cut_of_what_the_handle_does_not_know)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 3);
    hold(&held, &log, NULL);
    others_append(&log, 3);
    cut(&log, 3);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 3);
    others_append(&log, 3);
    cut(&log, 8);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 5);
    ses_session_close(held.session);
}

TEST(pruned_events_stay)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 10);
    hold(&held, &log, NULL);
    prune(&log, 4);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 10);
    must_append(held.session, log_event(&log)); /* no handle is stale by a prune */
    catch_up(&held, &log);
    cut(&log, 7);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 7);
    cut(&log, 4); /* all that is left */
    others_append(&log, 1);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 5);
    ses_session_close(held.session);
}

/* The deltas of events that nobody can read any more still count. */
TEST(events_are_pruned_that_the_handle_lacks)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 4);
    for (int anyway = 0; anyway <= 1; anyway++) {
        hold(&held, &log, NULL);
        others_append(&log, 7);
        prune(&log, log.last - 2);
        if (anyway)
            append_anyway(&held, &log);
        else
            refresh(&held, &log);
        assert_int_equal(ses_session_event(held.session, 0)->seq, anyway ? 10 : 1);
        ses_session_close(held.session);
    }
}

/* Where everything that the handle knows has gone, nothing tells what of it was pruned and what was cut. */
TEST(cut_and_pruned_beyond_what_is_known)
{
    static struct log log;
    struct held held;

    log_begin(&log, fixture);
    others_append(&log, 6);
    hold(&held, &log, NULL);
    cut(&log, 3);
    others_append(&log, 5);
    prune(&log, 9);
    refresh(&held, &log);
    assert_int_equal(ses_session_event_count(held.session), 2);
    ses_session_close(held.session);
}

TEST(handles_that_hold_less)
{
    static const ses_range ranges[] = {
        {.size = sizeof(ses_range), .which = SES_RANGE_NONE},
        {.size = sizeof(ses_range), .which = SES_RANGE_NEWEST, .newest = 3},
        {.size = sizeof(ses_range), .which = SES_RANGE_NEWEST, .newest = 0},
        {.size = sizeof(ses_range), .which = SES_RANGE_SEQ, .first_seq = 2, .last_seq = 4},
    };
    static struct log log;

    log_begin(&log, fixture);
    others_append(&log, 10);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct held held;
        hold(&held, &log, &ranges[i]);
        cut(&log, log.last - 2);
        others_append(&log, 2);
        refresh(&held, &log);
        cut(&log, 3);
        append_anyway(&held, &log);
        others_append(&log, 5);
        refresh(&held, &log);
        ses_session_close(held.session);
    }
}

TEST(temporary_values_stay)
{
    static struct log log;
    struct held held;
    const char *value = NULL;

    log_begin(&log, fixture);
    hold(&held, &log, NULL);
    must_append(held.session, log_event(&log)); /* sets temp:t */
    catch_up(&held, &log);
    others_append(&log, 2);
    cut(&log, 0);
    refresh(&held, &log);
    assert_ok(ses_state_get(held.session, "temp:t", &value, NULL, &error));
    assert_string_equal(value, "1");
    others_append(&log, 1);
    cut(&log, 0);
    append_anyway(&held, &log); /* of the same invocation */
    assert_ok(ses_state_get(held.session, "temp:t", &value, NULL, &error));
    assert_string_equal(value, "5");
    ses_session_close(held.session);
}

TEST(a_view_over_the_handle)
{
    static struct log log;
    struct held held;
    ses_tracked *view = NULL;
    const char *value = NULL;

    log_begin(&log, fixture);
    others_append(&log, 6); /* k1 is 6, k0 is 5 */
    hold(&held, &log, NULL);
    assert_ok(ses_tracked_open(held.session, NULL, &view, &error));
    assert_ok(ses_tracked_set(view, "k1", "\"mine\"", SES_NUL, &error));
    assert_ok(ses_tracked_get(view, "k0", &value, NULL, &error));
    assert_string_equal(value, "5");
    cut(&log, 4);
    assert_code(SES_STALE, ses_tracked_append(view, "{}", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_tracked_get(view, "k0", &value, NULL, &error));
    assert_string_equal(value, "5");
    must_refresh(held.session);
    assert_code(SES_ABSENT, ses_tracked_get(view, "k0", &value, NULL, &error));
    assert_ok(ses_tracked_get(view, "k1", &value, NULL, &error));
    assert_string_equal(value, "\"mine\"");
    assert_ok(ses_tracked_append(view, "{}", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_state_get(held.session, "k1", &value, NULL, &error));
    assert_string_equal(value, "\"mine\"");
    ses_tracked_close(view);
    ses_session_close(held.session);
}

/* A shared counter is safe, too: a cut leaves shared keys alone. */
TEST(a_view_that_read_a_shared_key)
{
    static struct log log;
    struct held held;
    ses_tracked *view = NULL;
    const char *value = NULL;

    log_begin(&log, fixture);
    others_append(&log, 2);
    hold(&held, &log, NULL);
    assert_ok(ses_tracked_open(held.session, NULL, &view, &error));
    assert_ok(ses_tracked_get(view, "user:u", &value, NULL, &error));
    assert_string_equal(value, "2");
    assert_ok(ses_tracked_set(view, "user:u", "3", SES_NUL, &error));
    others_append(&log, 1);
    cut(&log, 1);
    must_refresh(held.session);
    assert_code(SES_STALE, ses_tracked_append(view, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("user:u");
    assert_ok(ses_state_get(held.session, "user:u", &value, NULL, &error));
    assert_string_equal(value, "3");
    ses_tracked_close(view);
    ses_session_close(held.session);
}

/* Its id was forgotten with it. */
TEST(an_event_that_was_cut_can_be_appended_again)
{
    static struct log log;
    struct held held;
    ses_appended appended;
    const char *const event = Q("{'id':'again','timestamp':1}");
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

    log_begin(&log, fixture);
    others_append(&log, 2);
    hold(&held, &log, NULL);
    must_append(held.session, event);
    assert_code(SES_DUPLICATE, ses_append(held.session, event, SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 3);
    log.last = 3;
    cut(&log, 2);
    assert_stale(&held, event);
    assert_ok(ses_append(held.session, event, SES_NUL, &anyway, &appended, &error));
    assert_int_equal(appended.seq, 4);
    assert_int_equal(ses_session_event_count(held.session), 3);
    assert_int_equal(ses_session_event(held.session, 2)->seq, 4);
    ses_session_close(held.session);
}

TEST(any_order_of_everything)
{
    enum { HANDLES = 5 };
    static struct log log;
    static struct held held[HANDLES];
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 4};
    const ses_range *const ranges[HANDLES] = {NULL, NULL, NULL, &none, &newest};
    uint64_t seed = 11;

    log_begin(&log, fixture);
    for (int i = 0; i < HANDLES; i++)
        hold(&held[i], &log, ranges[i]);
    while (log.last < MOST - 5) {
        struct held *one = &held[random_below(&seed, HANDLES)];
        int room = log.last - log.base;
        switch (random_below(&seed, 8)) {
        case 0:
            cut(&log, log.base + (int)random_below(&seed, (size_t)room + 1));
            break;
        case 1:
            cut(&log, log.last - (room > 2 ? 2 : 0));
            break;
        case 2:
            prune(&log, log.base + (int)random_below(&seed, (size_t)room / 2 + 1));
            break;
        case 3:
            append_anyway(one, &log);
            break;
        case 4:
            refresh(one, &log);
            break;
        default:
            others_append(&log, 1 + (int)random_below(&seed, 4));
            break;
        }
    }
    for (int i = 0; i < HANDLES; i++) {
        refresh(&held[i], &log);
        ses_session_close(held[i].session);
    }
}

/* ------------------------------------------------------------------------------------------ cursors */

static ses_cursor *open_cursor(const struct log *log, bool backward, ses_range range)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = &range};
    ses_cursor *cursor = NULL;
    ses_error error;

    range.size = sizeof range;
    assert_ok(ses_cursor_open(log->fixture->store, &key, &options, &cursor, &error));
    return cursor;
}

/* Walks over so many events. */
static void step(ses_cursor *cursor, int count)
{
    const ses_event *event = NULL;
    ses_error error;
    for (int i = 0; i < count; i++)
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
}

/* Walks on to the end, and closes it; `*last` is the last event, or 0. Returns what ended it. */
static int end_walk(ses_cursor *cursor, int64_t *last)
{
    const ses_event *event = NULL;
    ses_error error;
    int code;

    *last = 0;
    while ((code = ses_cursor_next(cursor, &event, &error)) == SES_ROW)
        *last = event->seq;
    if (code == SES_STALE) {
        assert_message("begin another cursor");
        assert_code(SES_STALE, ses_cursor_next(cursor, &event, &error)); /* it stays so */
        assert_null(event);
    }
    assert_code(code, ses_cursor_close(cursor, &error));
    return code;
}

static const ses_range everything = {.which = 0};

TEST(a_cut_ends_every_walk)
{
    static const ses_range ranges[] = {{.which = 0},
                                       {.which = SES_RANGE_LIVE},
                                       {.which = SES_RANGE_NEWEST, .newest = 200},
                                       {.which = SES_RANGE_SINCE, .since_us = 0},
                                       {.which = SES_RANGE_SEQ, .first_seq = 1, .last_seq = 150}};
    static struct log log;
    int64_t last = 0;

    log_begin(&log, fixture);
    others_append(&log, 200);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (int backward = 0; backward <= 1; backward++) {
            ses_cursor *cursor = open_cursor(&log, backward, ranges[i]);
            step(cursor, 20);
            cut(&log, log.last - 1);
            others_append(&log, 1);
            assert_int_equal(end_walk(cursor, &last), SES_STALE);
        }
    }
    ses_cursor *cursor = open_cursor(&log, false, everything); /* the other one */
    assert_int_equal(end_walk(cursor, &last), SES_OK);
    assert_int_equal(last, log.last);
}

/* Events that were read already are there, and nothing asks the file again. */
TEST(a_cut_after_the_last_page)
{
    static struct log log;
    int64_t last = 0;

    log_begin(&log, fixture);
    others_append(&log, 10);
    ses_cursor *cursor = open_cursor(&log, false, everything);
    cut(&log, 3);
    assert_int_equal(end_walk(cursor, &last), SES_OK);
    assert_int_equal(last, 10);
}

TEST(a_prune_behind_a_walk_does_no_harm)
{
    static struct log log;
    int64_t last = 0;

    log_begin(&log, fixture);
    others_append(&log, 200);
    ses_cursor *on = open_cursor(&log, false, everything); /* has read up to 64 */
    ses_cursor *back = open_cursor(&log, true, (ses_range){.which = SES_RANGE_NEWEST, .newest = 100});
    ses_cursor *part =
        open_cursor(&log, true, (ses_range){.which = SES_RANGE_SEQ, .first_seq = 65, .last_seq = INT64_MAX});
    prune(&log, 64);
    assert_int_equal(end_walk(on, &last), SES_OK);
    assert_int_equal(last, 200);
    assert_int_equal(end_walk(back, &last), SES_OK);
    assert_int_equal(last, 101);
    assert_int_equal(end_walk(part, &last), SES_OK);
    assert_int_equal(last, 65);
}

TEST(a_prune_of_what_a_walk_still_needs)
{
    static struct log log;
    int64_t last = 0;

    log_begin(&log, fixture);
    others_append(&log, 200);
    ses_cursor *on = open_cursor(&log, false, everything);
    ses_cursor *back = open_cursor(&log, true, everything);
    ses_cursor *newest = open_cursor(&log, true, (ses_range){.which = SES_RANGE_NEWEST, .newest = 136});
    ses_cursor *since = open_cursor(&log, true, (ses_range){.which = SES_RANGE_SINCE, .since_us = 0});
    prune(&log, 65);
    assert_int_equal(end_walk(on, &last), SES_STALE);
    assert_int_equal(last, 64);
    assert_int_equal(end_walk(back, &last), SES_STALE);
    assert_in_range(last, 66, 136);
    assert_int_equal(end_walk(newest, &last), SES_STALE);
    assert_int_equal(end_walk(since, &last), SES_STALE);
}

/* Pruned in two steps, the first of which did no harm; and before the walk began. */
TEST(a_prune_is_held_against_the_beginning)
{
    static struct log log;
    int64_t last = 0;

    log_begin(&log, fixture);
    others_append(&log, 300);
    prune(&log, 20);
    for (int prunes = 0; prunes <= 1; prunes++) {
        ses_cursor *back = open_cursor(&log, true, everything);
        ses_cursor *on = open_cursor(&log, false, everything);
        if (prunes)
            prune(&log, 40);
        step(back, 70);
        step(on, 1);
        assert_int_equal(end_walk(back, &last), prunes ? SES_STALE : SES_OK);
        if (!prunes)
            assert_int_equal(last, 21);
        assert_int_equal(end_walk(on, &last), SES_OK);
    }
}

/* A walk over live events does not need those that rewinds have taken back. */
TEST(a_prune_of_what_is_not_live)
{
    const ses_range live = {.which = SES_RANGE_LIVE};
    static struct log log;
    int64_t last = 0;

    for (int needed = 0; needed <= 1; needed++) {
        log_begin(&log, fixture);
        others_append(&log, 250);
        run_sql(&log, "INSERT INTO event_marks VALUES (1, 100, 1, %d)", 1 + needed);
        ses_cursor *back = open_cursor(&log, true, live);
        prune(&log, 100);
        assert_int_equal(end_walk(back, &last), needed ? SES_STALE : SES_OK);
        if (!needed)
            assert_int_equal(last, 101);
        raw_exec(log.fixture->path, "DELETE FROM sessions; DELETE FROM sqlite_sequence;"
                                    "DELETE FROM users; DELETE FROM apps");
    }
}
