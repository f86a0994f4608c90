/* A title and labels that are set with an append: in its transaction, or not at all. */
#include "append.h"
#include "open.h"

static const ses_key other = {"app", "user", "other"};
static const char event[] = "{\"id\":\"e\",\"author\":\"a\",\"actions\":{\"stateDelta\":{\"k\":1}}}";

static ses_append_options marking(const char *title, const ses_label *labels, size_t count)
{
    return (ses_append_options){
        .size = sizeof(ses_append_options), .title = title, .labels = labels, .label_count = count};
}

/* As one text: the title, name=value of each label, and the number of the last event. */
static void assert_shows(const ses_session *session, const char *expected)
{
    char text[9000];
    const char *title = ses_session_title(session);
    size_t len = (size_t)snprintf(text, sizeof text, "%s", title ? title : "-");

    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        len += (size_t)snprintf(text + len, sizeof text - len, " %s=%s", label->name, label->value);
    }
    snprintf(text + len, sizeof text - len, " @%d", (int)ses_session_last_seq(session));
    assert_string_equal(text, expected);
}

static void assert_stored(ses_store *store, const char *expected)
{
    ses_session *session = must_get(store, &key);
    assert_shows(session, expected);
    ses_session_close(session);
}

static ses_session *create(struct fixture *fixture)
{
    static const ses_label labels[] = {{"a", "1"}, {"b", "2"}};
    const ses_create_options options = {
        .size = sizeof options, .title = "First", .labels = labels, .label_count = 2};
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    return session;
}

/* ------------------------------------------------------------------------------------------- they are set */

TEST(an_append_sets_and_removes)
{
    static const ses_label labels[] = {
        {"d", "4"}, {"a", NULL}, {"none", NULL}, {"b", "x"}, {"", "is not used"}};
    ses_session *session = create(fixture);
    ses_append_options options = marking("Second", labels, 4);
    ses_appended appended;

    assert_ok(ses_append(session, event, SES_NUL, &options, &appended, &error));
    assert_shows(session, "Second b=x d=4 @1");
    assert_stored(fixture->store, "Second b=x d=4 @1");
    assert_int_equal(appended.version, 1); /* of the event alone */
    options = marking(NULL, (const ses_label[]){{"d", "5"}, {"d", NULL}}, 2);
    assert_ok(ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_shows(session, "Second b=x @2");
    options = marking("Third", NULL, 0);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, &error));
    assert_stored(fixture->store, "Third b=x @3");
    options = marking(NULL, NULL, 0);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, &error));
    assert_stored(fixture->store, "Third b=x @4");
    must_refresh(session);
    assert_shows(session, "Third b=x @4");
    ses_session_close(session);
}

TEST(the_first_of_a_session_that_has_none)
{
    static const ses_label label = {"a", "1"};
    const ses_append_options options = marking("T", &label, 1);
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_shows(session, "T a=1 @1");
    must_refresh(session);
    assert_shows(session, "T a=1 @1");
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
    assert_stored(fixture->store, "T a=1 @1");
}

TEST(a_batch_sets_them_once)
{
    static const ses_text events[] = {
        {"{\"partial\":true}", SES_NUL}, {event, SES_NUL}, {event, SES_NUL}, {"{}", SES_NUL}};
    static const ses_label label = {"c", "3"};
    const ses_append_options options = marking("Batch", &label, 1);
    const ses_append_options again = marking("Again", NULL, 0);
    ses_session *session = create(fixture);

    assert_ok(ses_append_batch(session, events, 4, &options, NULL, &error));
    assert_shows(session, "Batch a=1 b=2 c=3 @2");
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 4, &again, NULL, &error));
    assert_stored(fixture->store, "Again a=1 b=2 c=3 @3"); /* of the last event, which has no id */
    ses_session_close(session);
}

TEST(lists_and_followers_see_both_at_once)
{
    static const ses_label label = {"done", "yes"};
    const ses_append_options options = marking("T", &label, 1);
    const ses_filter filter = {.size = sizeof filter, .label = "done", .label_value = "yes"};
    const ses_list_options list = {.size = sizeof list, .filter = &filter};
    ses_follower *follower = NULL;
    const ses_event *followed = NULL;
    ses_page *page = NULL;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    assert_ok(ses_follower_open(fixture->store, &key, NULL, &follower, &error));
    assert_ok(ses_append_by_key(fixture->store, &key, event, SES_NUL, &options, NULL, &error));
    assert_int_equal(ses_follower_next(follower, 10000, &followed, &error), SES_ROW);
    assert_string_equal(followed->id, "e");
    ses_follower_close(follower);
    assert_ok(ses_list(fixture->store, "app", "user", &list, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    assert_shows(ses_page_session(page, 0), "T done=yes @1");
    ses_page_close(page);
}

TEST(they_go_with_the_other_options)
{
    static const ses_label label = {"c", "3"};
    ses_append_options options = marking("T", &label, 1);
    ses_session *session = create(fixture);
    ses_lease lease = {.token = 0};

    assert_ok(ses_lease_take(fixture->store, &key, "owner", NULL, &lease, &error));
    options.lease = lease.token;
    options.expected = "{\"user:n\":\"__ADK_SENTINEL_REMOVED__\"}";
    options.expected_len = SES_NUL;
    options.delta = "{\"user:n\":1}";
    options.delta_len = SES_NUL;
    options.flags = SES_AT_VERSION;
    assert_ok(ses_append_by_key(fixture->store, &key, event, SES_NUL, &options, NULL, &error));
    assert_stored(fixture->store, "T a=1 b=2 c=3 @1");
    options.flags = SES_ANYWAY;
    options.title = "U";
    assert_ok(ses_append(session, "{}", SES_NUL, &options, NULL, &error)); /* it was outdated */
    assert_shows(session, "U a=1 b=2 c=3 @2");
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

/* -------------------------------------------------------------------------------------- nothing is stored */

TEST(a_retry_and_a_partial_event_change_nothing)
{
    static const ses_text events[] = {{event, SES_NUL}, {"{\"partial\":true}", SES_NUL}};
    static const ses_label label = {"c", "3"};
    const ses_append_options options = marking("Second", &label, 1);
    const ses_append_options retry = marking("Third", NULL, 0);
    ses_session *session = create(fixture);
    ses_session *outdated = must_get(fixture->store, &key);

    assert_int_equal(ses_append(session, "{\"partial\":true}", SES_NUL, &options, NULL, &error), SES_PARTIAL);
    assert_shows(session, "First a=1 b=2 @0");
    assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_int_equal(ses_append(session, event, SES_NUL, &retry, NULL, &error), SES_DUPLICATE);
    assert_int_equal(ses_append_by_key(fixture->store, &key, event, SES_NUL, &retry, NULL, &error),
                     SES_DUPLICATE);
    assert_ok(ses_append_batch(session, events, 2, &retry, NULL, &error));
    assert_ok(ses_append_batch(session, NULL, 0, &retry, NULL, &error));
    assert_shows(session, "Second a=1 b=2 c=3 @1");
    assert_stored(fixture->store, "Second a=1 b=2 c=3 @1");
    assert_int_equal(ses_append(outdated, event, SES_NUL, &retry, NULL, &error), SES_DUPLICATE);
    assert_shows(outdated, "First a=1 b=2 @1"); /* it reads events, and no labels */
    must_refresh(outdated);
    assert_shows(outdated, "Second a=1 b=2 c=3 @1");
    ses_session_close(session);
}

/* An append that fails leaves everything as it was. */
static void assert_refused(struct fixture *fixture, ses_session *session, int code,
                           const ses_append_options *options)
{
    const ses_text batch[] = {{"{\"id\":\"before\"}", SES_NUL}, {event, SES_NUL}};
    ses_error error;

    assert_code(code, ses_append(session, event, SES_NUL, options, NULL, &error));
    assert_code(code, ses_append_batch(session, batch, 2, options, NULL, &error));
    assert_code(code, ses_append_by_key(fixture->store, &key, event, SES_NUL, options, NULL, &error));
    assert_code(code, ses_append_batch_by_key(fixture->store, &key, batch, 2, options, NULL, &error));
    assert_shows(session, "First a=1 b=2 @0");
    assert_stored(fixture->store, "First a=1 b=2 @0");
}

TEST(texts_that_break_the_rules)
{
    static const ses_label wrong[] = {{"fine", "1"}, {"", "2"}};
    static const ses_label nameless = {NULL, "v"};
    ses_append_options options = marking("", NULL, 0);
    ses_session *session = create(fixture);

    assert_refused(fixture, session, SES_INVALID, &options);
    options = marking("T", wrong, 2);
    assert_refused(fixture, session, SES_INVALID, &options);
    assert_code(SES_INVALID, ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_message("append options: label 1");
    options = marking("T", &nameless, 1);
    assert_refused(fixture, session, SES_MISUSE, &options);
    options = marking("T", NULL, 1);
    assert_refused(fixture, session, SES_MISUSE, &options);
    ses_session_close(session);
}

TEST(labels_are_counted_with_those_that_are_there)
{
    ses_session *session = create(fixture);
    char names[SES_LABELS_MAX][8];
    ses_label labels[SES_LABELS_MAX];
    ses_append_options options = marking("T", labels, SES_LABELS_MAX - 1);

    for (size_t i = 0; i < SES_LABELS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        labels[i] = (ses_label){names[i], "v"};
    }
    assert_refused(fixture, session, SES_LIMIT, &options);
    assert_code(SES_LIMIT, ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_message("labels");
    assert_int_equal(error.index, -1);
    labels[SES_LABELS_MAX - 2] = (ses_label){"a", NULL};
    assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_int_equal(ses_session_label_count(session), SES_LABELS_MAX - 1);
    labels[SES_LABELS_MAX - 2] = (ses_label){"more", "1"}; /* a retry is one whatever the labels */
    labels[SES_LABELS_MAX - 1] = (ses_label){"yet more", "1"};
    options.label_count = SES_LABELS_MAX;
    assert_int_equal(ses_append(session, event, SES_NUL, &options, NULL, &error), SES_DUPLICATE);
    assert_code(SES_LIMIT, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    ses_session_close(session);
}

TEST(an_append_that_is_refused_sets_nothing)
{
    static const ses_label label = {"c", "3"};
    ses_append_options options = marking("Second", &label, 1);
    ses_session *session = create(fixture);

    options.expected = "{\"user:n\":1}";
    options.expected_len = SES_NUL;
    assert_refused(fixture, session, SES_STALE, &options);
    options.expected = NULL;
    options.lease = 77;
    assert_refused(fixture, session, SES_LEASED, &options);
    options.lease = 0;
    must_append_by_key(fixture->store, &key, event);
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_code(SES_EXISTS, ses_append(session, Q("{'id':'e'}"), SES_NUL, &options, NULL, &error));
    assert_shows(session, "First a=1 b=2 @0");
    assert_stored(fixture->store, "First a=1 b=2 @1");
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_shows(session, "First a=1 b=2 @0");
    ses_session_close(session);
}

TEST(options_of_an_older_header_set_nothing)
{
    ses_append_options options = marking("Second", NULL, 1);
    ses_session *session = create(fixture);

    options.size = offsetof(ses_append_options, title);
    assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_shows(session, "First a=1 b=2 @1");
    ses_session_close(session);
}

/* ---------------------------------------------------------------------------------------------- in groups */

enum { WRITERS = 8, STEPS = 25 };

struct writer {
    ses_store *store;
    int number;
    int failed;
    pthread_t thread;
};

static void *run_writer(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < STEPS; i++) {
        char name[16];
        char value[16];
        const ses_label labels[] = {{name, value}, {"last", value}};
        const ses_append_options options = marking(value, labels, 2);
        snprintf(name, sizeof name, "w%d", writer->number);
        snprintf(value, sizeof value, "%d", i);
        writer->failed += ses_append_by_key(writer->store, &key, "{}", SES_NUL, &options, NULL, NULL) < 0;
    }
    return NULL;
}

TEST(appends_of_many_threads)
{
    struct writer writers[WRITERS];

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = fixture->store, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, run_writer, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_int_equal(writers[i].failed, 0);
    }
    assert_stored(fixture->store, "24 last=24 w0=24 w1=24 w2=24 w3=24 w4=24 w5=24 w6=24 w7=24 @200");
}
