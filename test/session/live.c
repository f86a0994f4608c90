/* Live events as a range, of a get and of cursors in both directions, held against the ADK's rule in plain
 * words. */
#include "random.h"

static const ses_key key = {"app", "user", "session"};

enum { MOST = 400, INVOCATIONS = 12 };

/* The log as it was appended; event `seq` is at index seq - 1. */
struct log {
    int count;
    int invocation[MOST];
    int rewinds_before[MOST]; /* an invocation; -1: no rewind */
    int64_t time_us[MOST];
    bool live[MOST];
};

/* ------------------------------------------------------------------------------------------- the rule */

static int first_of(const struct log *log, int invocation)
{
    int first = 0;
    while (first < log->count && log->invocation[first] != invocation)
        first++;
    return first;
}

/* From the newest back; at a rewind on before the first event of its target, if that comes before it. */
static void apply_rewinds(struct log *log)
{
    memset(log->live, 0, sizeof log->live);
    for (int i = log->count - 1; i >= 0; i--) {
        int first = log->rewinds_before[i] < 0 ? i : first_of(log, log->rewinds_before[i]);
        log->live[i] = log->rewinds_before[i] < 0;
        if (first < i)
            i = first;
    }
}

static bool in_range(const struct log *log, int i, const ses_range *range)
{
    const int64_t seq = i + 1;
    return log->live[i] && !(range->which & SES_RANGE_NONE) &&
           (!(range->which & SES_RANGE_SINCE) || log->time_us[i] >= range->since_us) &&
           (!(range->which & SES_RANGE_SEQ) || (seq >= range->first_seq && seq <= range->last_seq));
}

/* The numbers that the range is to give, oldest first. */
static size_t select_seqs(const struct log *log, const ses_range *range, int64_t *seqs)
{
    size_t count = 0;
    size_t most = range->which & SES_RANGE_NEWEST ? (size_t)range->newest : MOST;

    for (int i = 0; i < log->count; i++) {
        if (in_range(log, i, range))
            seqs[count++] = i + 1;
    }
    size_t left_out = count > most ? count - most : 0;
    memmove(seqs, seqs + left_out, (count - left_out) * sizeof *seqs);
    return count - left_out;
}

/* ------------------------------------------------------------------------------------------- the store */

static void append(ses_store *store, struct log *log, int invocation, int rewinds_before)
{
    char event[200];
    char rewind[80] = "";
    int i = log->count++;

    assert_true(i < MOST);
    log->invocation[i] = invocation;
    log->rewinds_before[i] = rewinds_before;
    log->time_us[i] = (i % 7 == 3 ? i - 3 : i % 11 == 5 ? i + 20 : i) * INT64_C(1000000);
    if (rewinds_before >= 0)
        snprintf(rewind, sizeof rewind, ",'actions':{'rewindBeforeInvocationId':'i%d'}", rewinds_before);
    snprintf(event, sizeof event, "{'id':'e%d','timestamp':%lld,'invocationId':'i%d'%s}", i + 1,
             (long long)log->time_us[i] / 1000000, invocation, rewind);
    must_append_by_key(store, &key, Q(event));
}

static void check_get(ses_store *store, const ses_range *range, const int64_t *seqs, size_t count)
{
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_get(store, &key, GET_RANGE(range), &session, &error));
    assert_int_equal(ses_session_event_count(session), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ses_session_event(session, i)->seq, seqs[i]);
    ses_session_close(session);
}

static ses_cursor *open_cursor(ses_store *store, const ses_range *range, bool backward)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = range};
    ses_cursor *cursor = NULL;
    ses_error error;

    assert_ok(ses_cursor_open(store, &key, &options, &cursor, &error));
    return cursor;
}

static void walk(ses_cursor *cursor, bool backward, const int64_t *seqs, size_t count)
{
    const ses_event *event = NULL;
    ses_error error;

    for (size_t i = 0; i < count; i++) {
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        assert_int_equal(event->seq, seqs[backward ? count - 1 - i : i]);
    }
    assert_ok(ses_cursor_next(cursor, &event, &error));
    assert_null(event);
    assert_ok(ses_cursor_close(cursor, &error));
}

static void check_range(ses_store *store, const struct log *log, const ses_range *range)
{
    int64_t seqs[MOST];
    size_t count = select_seqs(log, range, seqs);

    check_get(store, range, seqs, count);
    walk(open_cursor(store, range, false), false, seqs, count);
    walk(open_cursor(store, range, true), true, seqs, count);
}

/* Looks at the events that a handle holds, which may be only the newest. */
static void check_handle(ses_store *store, const struct log *log, int64_t newest)
{
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = newest};
    unsigned char is_live[MOST];
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_get(store, &key, GET_RANGE(&range), &session, &error));
    assert_ok(ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        assert_int_equal(is_live[i], log->live[ses_session_event(session, i)->seq - 1]);
    ses_session_close(session);
}

static void check_all_ranges(ses_store *store, struct log *log)
{
    const int64_t newest[] = {0, 1, 64, 65, MOST};
    const int64_t since[] = {INT64_MIN, 9000000, 150000000, INT64_MAX};
    const int64_t seqs[][2] = {{1, INT64_MAX}, {1, 20}, {30, 110}, {200, MOST}};

    apply_rewinds(log);
    check_handle(store, log, MOST);
    check_handle(store, log, 20);
    for (unsigned which = SES_RANGE_LIVE; which < SES_RANGE_LIVE * 2; which++) {
        int newest_count = which & SES_RANGE_NEWEST ? 5 : 1;
        int since_count = which & SES_RANGE_SINCE ? 4 : 1;
        int seq_count = which & SES_RANGE_SEQ ? 4 : 1;
        for (int i = 0; i < newest_count * since_count * seq_count; i += (int)support_stride()) {
            const int64_t *seq = seqs[i / since_count / newest_count];
            const ses_range range = {
                sizeof range, which, newest[i % newest_count], since[i / newest_count % since_count],
                seq[0],       seq[1]};
            check_range(store, log, &range);
        }
    }
}

static const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};

static void create(ses_store *store)
{
    const int64_t early = 0;
    const ses_create_options options = {.size = sizeof options, .created_us = &early};
    ses_error error;
    assert_ok(ses_create(store, &key, NULL, 0, &options, NULL, &error));
}

/* ------------------------------------------------------------------------------------------- the tests */

/* Seldom a rewind, and often: then what they take back nests, and hardly anything is left. */
MEMORY_TEST(random_logs)
{
    static struct log log;
    uint64_t seed = 4;

    for (int rarely = 3; rarely <= 81; rarely *= 3) {
        log.count = 0;
        create(fixture->store);
        check_all_ranges(fixture->store, &log);
        for (int i = 0; i < 220; i++) {
            int invocation = i / 8 % INVOCATIONS + (int)random_below(&seed, 2);
            bool rewinds = random_below(&seed, (size_t)rarely) == 0;
            append(fixture->store, &log, rewinds ? 100 + i : invocation,
                   rewinds ? (int)random_below(&seed, INVOCATIONS + 3) : -1);
            if (i == 70)
                check_all_ranges(fixture->store, &log);
        }
        check_all_ranges(fixture->store, &log);
        must_delete(fixture->store, &key);
    }
}

/* Undo, undo, redo, redo: rewinds of rewinds. */
MEMORY_TEST(rewinds_of_rewinds)
{
    static struct log log;

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 6; i++)
        append(fixture->store, &log, i, -1);
    const int targets[] = {5, 3, 101, 100, 0, 104, 105, 3, 3};
    for (int i = 0; i < 9; i++) {
        append(fixture->store, &log, 100 + i, targets[i]);
        check_all_ranges(fixture->store, &log);
    }
}

MEMORY_TEST(a_session_without_rewinds_is_all_live)
{
    static struct log log;

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 130; i++)
        append(fixture->store, &log, i / 5, -1);
    check_all_ranges(fixture->store, &log);
}

MEMORY_TEST(nothing_is_live)
{
    static struct log log;

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 70; i++)
        append(fixture->store, &log, 0, -1);
    append(fixture->store, &log, 1, 0);
    check_all_ranges(fixture->store, &log);
}

/* The live events are those that were live when the cursor was opened. */
MEMORY_TEST(a_rewind_meanwhile_takes_nothing_back)
{
    static struct log log;
    int64_t seqs[MOST];

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 150; i++)
        append(fixture->store, &log, i / 10, -1);
    append(fixture->store, &log, 100, 9);
    apply_rewinds(&log);
    for (int backward = 0; backward <= 1; backward++) {
        const ses_event *event = NULL;
        size_t count = select_seqs(&log, &live, seqs);
        assert_int_equal(count, 90);
        ses_cursor *cursor = open_cursor(fixture->store, &live, backward);
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        assert_int_equal(event->seq, backward ? 90 : 1);
        struct log before = log;
        append(fixture->store, &log, 101 + backward, 0);
        walk(cursor, backward, seqs + !backward, count - 1);
        append(fixture->store, &log, 201 + backward, 101 + backward); /* and back again */
        apply_rewinds(&log);
        assert_memory_equal(log.live, before.live, 150);
    }
}

/* Refreshing and appending add events at the end, whatever they are. */
MEMORY_TEST(a_handle_keeps_what_it_was_read_with)
{
    static struct log log;
    ses_session *session = NULL;

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 10; i++)
        append(fixture->store, &log, i, -1);
    append(fixture->store, &log, 100, 5);
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&live), &session, &error));
    assert_int_equal(ses_session_event_count(session), 5);
    assert_int_equal(ses_session_stored(session), 11);
    append(fixture->store, &log, 101, 2);
    must_refresh(session);
    assert_int_equal(ses_session_event_count(session), 6);
    assert_int_equal(ses_session_event(session, 5)->seq, 12);
    ses_session_close(session);
}

MEMORY_TEST(get_or_create_reads_live_events)
{
    const ses_create_options options = {.size = sizeof options, .range = &live};
    static struct log log;
    ses_session *session = NULL;

    log.count = 0;
    create(fixture->store);
    for (int i = 0; i < 4; i++)
        append(fixture->store, &log, i, -1);
    append(fixture->store, &log, 100, 2);
    append(fixture->store, &log, 4, -1);
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_int_equal(ses_session_event_count(session), 3);
    assert_int_equal(ses_session_event(session, 2)->seq, 6);
    ses_session_close(session);
}

MEMORY_TEST(events_of_a_handle_are_live_as_of_the_handle)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    unsigned char is_live[3] = {7, 7, 7};

    create(fixture->store);
    must_append_by_key(fixture->store, &key, Q("{'invocationId':'i1'}"));
    must_append_by_key(fixture->store, &key, Q("{'invocationId':'i2'}"));
    ses_session *session = must_get(fixture->store, &key);
    assert_ok(ses_rewind_by_key(fixture->store, &key, &first, NULL, NULL, &error));
    assert_ok(ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    assert_int_equal(is_live[0] + 2 * is_live[1], 3); /* it does not know the rewind */
    must_refresh(session);
    assert_ok(ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    assert_int_equal(is_live[0] + 2 * is_live[1] + 4 * is_live[2], 1);
    const ses_prune_options one = {.size = sizeof one, .which = SES_PRUNE_SEQ, .last_seq = 1};
    assert_ok(ses_prune_by_key(fixture->store, &key, &one, NULL, &error));
    assert_ok(ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    assert_int_equal(is_live[0] + 2 * is_live[1] + 4 * is_live[2], 0);
}

MEMORY_TEST(wrong_handles_are_refused)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_call_options flags = {.size = sizeof flags, .flags = 1};
    unsigned char is_live[3] = {7, 7, 7};

    create(fixture->store);
    must_append_by_key(fixture->store, &key, Q("{'invocationId':'i1'}"));
    must_append_by_key(fixture->store, &key, Q("{'invocationId':'i2'}"));
    ses_session *session = must_get(fixture->store, &key);
    assert_code(SES_MISUSE, ses_session_live(NULL, NULL, is_live, sizeof is_live, &error));
    assert_code(SES_MISUSE, ses_session_live(session, NULL, NULL, 3, &error));
    assert_code(SES_MISUSE, ses_session_live(session, NULL, is_live, 1, &error));
    assert_message("room for 1");
    assert_code(SES_MISUSE, ses_session_live(session, &flags, is_live, sizeof is_live, &error));
    assert_ok(ses_cut_by_key(fixture->store, &key, &first, NULL, NULL, &error));
    assert_code(SES_STALE, ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    assert_true(error.version > ses_session_version(session));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_session_live(session, NULL, is_live, sizeof is_live, &error));
    assert_int_equal(is_live[0], 7);
}
