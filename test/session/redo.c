/* Undo and redo, in any number and order, against a model that keeps the whole log. */
#include "../random.h"
#include "history.h"

/* ------------------------------------------------------------------------------------ small sequences */

static void turn(const struct fixture *fixture, const char *invocation, const char *delta)
{
    must_say(fixture->store, &key, invocation, "user", delta);
}

static void undo(const struct fixture *fixture)
{
    must_rewind(fixture->store, &key, LAST_TURN);
}

static void redo(const struct fixture *fixture)
{
    ses_error error;
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
}

static void assert_no_redo(const struct fixture *fixture)
{
    ses_error error;
    ses_appended appended;
    assert_code(SES_UNCHANGED, ses_redo_by_key(fixture->store, &key, NULL, &appended, &error));
    assert_int_equal(appended.seq, 0);
}

static void assert_own(const struct fixture *fixture, const char *expected)
{
    assert_stored_state(fixture->store, &key, expected);
    assert_as_of(fixture->store, &key, NULL, expected);
}

static void three_turns(const struct fixture *fixture)
{
    must_create(fixture->store, &key, NULL);
    turn(fixture, "a", Q("{'k':1}"));
    turn(fixture, "b", Q("{'k':2,'b':2}"));
    turn(fixture, "c", Q("{'k':3,'b':'__ADK_SENTINEL_REMOVED__','c':3}"));
}

TEST(undo_undo_redo_redo_ends_where_it_began)
{
    three_turns(fixture);
    assert_no_redo(fixture);
    undo(fixture);
    assert_own(fixture, Q("{'b':2,'k':2}"));
    undo(fixture);
    assert_own(fixture, Q("{'k':1}"));
    redo(fixture);
    assert_own(fixture, Q("{'b':2,'k':2}"));
    redo(fixture);
    assert_own(fixture, Q("{'c':3,'k':3}"));
    assert_no_redo(fixture);
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "4|3\n5|2\n6|5\n7|4\n");
}

TEST(a_redo_can_be_undone_and_redone)
{
    three_turns(fixture);
    for (int i = 0; i < 5; i++) {
        undo(fixture);
        assert_own(fixture, Q("{'b':2,'k':2}"));
        redo(fixture);
        assert_own(fixture, Q("{'c':3,'k':3}"));
        assert_no_redo(fixture);
    }
}

TEST(a_new_turn_ends_what_can_be_redone)
{
    three_turns(fixture);
    undo(fixture);
    turn(fixture, "d", Q("{'d':4}"));
    assert_no_redo(fixture);
    undo(fixture); /* d; then the one before is the next again */
    redo(fixture);
    assert_own(fixture, Q("{'b':2,'d':4,'k':2}"));
    assert_no_redo(fixture);
    undo(fixture);
    undo(fixture);
    assert_own(fixture, Q("{'k':1}"));
}

/* The undo of d stands right behind d, which it takes back, and before it the walk meets the undo of c. */
TEST(events_undone_before_an_undone_turn)
{
    three_turns(fixture);
    undo(fixture);            /* 4, of c */
    turn(fixture, "d", NULL); /* 5 */
    undo(fixture);            /* 6, of d */
    redo(fixture);            /* 7, of 6 */
    undo(fixture);            /* 8, of d */
    redo(fixture);            /* 9, of 8 */
    assert_query(fixture->path, "SELECT seq, target_seq FROM event_marks", "4|3\n6|5\n7|6\n8|5\n9|8\n");
    assert_no_redo(fixture);
}

TEST(through_a_handle)
{
    ses_appended appended;

    three_turns(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_ok(ses_rewind(session, LAST_TURN, NULL, NULL, &error));
    assert_ok(ses_redo(session, NULL, &appended, &error));
    assert_int_equal(appended.seq, 5);
    assert_state(session, Q("{'c':3,'k':3}"));
    assert_handle_is_current(fixture->store, session);
    undo(fixture);
    assert_code(SES_STALE, ses_redo(session, NULL, NULL, &error));
    must_refresh(session);
    assert_ok(ses_redo(session, NULL, NULL, &error));
    assert_handle_is_current(fixture->store, session);
}

/* ---------------------------------------------------------------------------------------------- the model */

enum { MOST = 400, KEYS = 4 };

struct model_event {
    bool rewinds;
    int target; /* the number of the first event that it takes back */
    char invocation[40];
    int values[KEYS]; /* the own state after it; 0: there is no such key */
};

struct model {
    struct model_event events[MOST + 1]; /* from 1 on; the first place is the creation */
    int count;
    uint64_t seed;
};

static void write_state(const int values[KEYS], char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "{");

    for (int i = 0; i < KEYS; i++) {
        if (values[i])
            len += (size_t)snprintf(text + len, size - len, "%s\"k%d\":%d", len > 1 ? "," : "", i, values[i]);
    }
    snprintf(text + len, size - len, "}");
}

/* The ADK's walk: the number of the newest live event up to `last`, or 0. */
static int newest_live(const struct model *model, int last)
{
    while (last > 0 && model->events[last].rewinds)
        last = model->events[last].target - 1;
    return last;
}

static int first_of(const struct model *model, int event)
{
    int first = event;
    for (int i = event; i > 0; i--) {
        if (strcmp(model->events[i].invocation, model->events[event].invocation) == 0)
            first = i;
    }
    return first;
}

/* The undo that a redo takes back: the newest rewind that is none of a rewind; 0: a live event comes
 * first. */
static int newest_undone(const struct model *model)
{
    int at = model->count;

    while (at > 0 && model->events[at].rewinds && model->events[model->events[at].target].rewinds)
        at = model->events[at].target - 1;
    return at > 0 && model->events[at].rewinds ? at : 0;
}

static void model_rewind(struct model *model, const struct fixture *fixture, int first)
{
    struct model_event *event = &model->events[++model->count];
    ses_session *session = must_get(fixture->store, &key);
    const ses_event *last = ses_session_event(session, ses_session_event_count(session) - 1);

    *event = model->events[first - 1];
    event->rewinds = true;
    event->target = first;
    assert_int_equal(last->seq, model->count);
    snprintf(event->invocation, sizeof event->invocation, "%s", last->invocation_id);
    ses_session_close(session);
}

static void say_something(struct model *model, const struct fixture *fixture)
{
    struct model_event *before = &model->events[model->count];
    struct model_event *event = &model->events[++model->count];
    bool goes_on = random_below(&model->seed, 2) == 0 && model->count > 1 && !before->rewinds;
    int which = (int)random_below(&model->seed, KEYS);
    char delta[80];

    *event = *before;
    event->rewinds = false;
    if (!goes_on)
        snprintf(event->invocation, sizeof event->invocation, "i%d", model->count);
    event->values[which] = random_below(&model->seed, 3) == 0 ? 0 : model->count;
    if (event->values[which])
        snprintf(delta, sizeof delta, "{\"k%d\":%d}", which, event->values[which]);
    else
        snprintf(delta, sizeof delta, "{\"k%d\":" REMOVED "}", which);
    must_say(fixture->store, &key, event->invocation, "user", delta);
}

static void step(struct model *model, const struct fixture *fixture)
{
    const size_t what = random_below(&model->seed, 10);
    int live = newest_live(model, model->count);
    ses_error error;

    if (what < 3) {
        say_something(model, fixture);
    } else if (what < 6) {
        int code = ses_rewind_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error);
        assert_int_equal(code, live ? SES_OK : SES_UNCHANGED);
        if (live)
            model_rewind(model, fixture, first_of(model, live));
    } else if (what < 9) {
        int undone = newest_undone(model);
        int code = ses_redo_by_key(fixture->store, &key, NULL, NULL, &error);
        assert_int_equal(code, undone ? SES_OK : SES_UNCHANGED);
        if (undone)
            model_rewind(model, fixture, undone);
    } else if (model->count > 0) {
        int to = (int)random_below(&model->seed, (size_t)model->count) + 1;
        int code = ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(to - 1), NULL, NULL, &error);
        assert_true(code == SES_UNCHANGED || code == (first_of(model, to) == to ? SES_OK : SES_INVALID));
        if (code == SES_OK)
            model_rewind(model, fixture, to);
    }
}

PLAIN_TEST(any_number_in_any_order)
{
    enum { SEEDS = 6 };
    struct model *model = calloc(1, sizeof *model);
    char expected[128];

    assert_non_null(model);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture *fixture = NULL;
        fixture_setup_memory((void **)&fixture);
        *model = (struct model){.seed = seed};
        must_create(fixture->store, &key, NULL);
        while (model->count < MOST / 2) {
            step(model, fixture);
            write_state(model->events[model->count].values, expected, sizeof expected);
            assert_stored_state(fixture->store, &key, expected);
        }
        for (int i = 0; i <= model->count; i++) {
            write_state(model->events[i].values, expected, sizeof expected);
            assert_as_of(fixture->store, &key, AFTER_SEQ(i), expected);
        }
        fixture_teardown((void **)&fixture);
    }
    free(model);
}

/* The marks that a session of many rewinds has are those that lead where the log says. */
TEST(the_walk_ends_in_a_log_of_rewinds_only)
{
    must_create(fixture->store, &key, NULL);
    turn(fixture, "a", Q("{'k':1}"));
    for (int i = 0; i < 100; i++) {
        undo(fixture);
        redo(fixture);
    }
    undo(fixture);
    assert_own(fixture, "{}");
    redo(fixture);
    assert_own(fixture, Q("{'k':1}"));
}

TEST(a_rewind_that_leads_nowhere)
{
    must_create(fixture->store, &key, NULL);
    turn(fixture, "a", Q("{'k':1}"));
    must_append_by_key(
        fixture->store, &key,
        Q("{'invocationId':'r','actions':{'rewindBeforeInvocationId':'no','stateDelta':{'k':2}}}"));
    redo(fixture);
    assert_own(fixture, Q("{'k':1}"));
    assert_no_redo(fixture);
    assert_code(SES_UNCHANGED, ses_rewind_by_key(fixture->store, &key, AFTER_SEQ(1), NULL, NULL, &error));
}

/* Its invocation would take back more than the rewind does. */
TEST(a_rewind_in_an_older_invocation_is_refused)
{
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'a','invocationId':'x'}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'b','invocationId':'y'}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'r','invocationId':'x','actions':{'rewindBeforeInvocationId':'y'}}"));
    assert_code(SES_INVALID, ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2 3");
}
