/* Random calls, the same on a store in memory and on a server: the same codes, results, handles, lists and
 * lines. */
#include "database.h"
#include "../session/lines.h"
#include "random.h"
#include "seslite_postgres.h"

enum { ENGINES = 2, SESSIONS = 12, IDS = 24, MOST_EVENTS = 40, MOST_BATCH = 12 };

struct engine {
    ses_store *store;
    int made;
    int64_t *now_us;
    ses_session *handles[SESSIONS];
    int64_t leases[SESSIONS];
};

struct calls {
    const struct database *database;
    struct engine engines[ENGINES];
    uint64_t seed;
    int64_t now_us;
    int step;
    const char *what;
    char names[SESSIONS][20];
};

static int make_id(void *context, char *id, size_t capacity)
{
    struct engine *engine = context;
    snprintf(id, capacity, "made-%d", engine->made++);
    return 0;
}

static int64_t now(void *context)
{
    return *((struct engine *)context)->now_us;
}

static size_t below(struct calls *calls, size_t limit)
{
    return random_below(&calls->seed, limit);
}

static bool once_in(struct calls *calls, size_t times)
{
    return below(calls, times) == 0;
}

/* ---------------------------------------------------------------------------------------- what is given */

static ses_key key_of(size_t session)
{
    static const char *const names[] = {"a", "B", "\xC3\xA4", "z'\"\\{,}"};
    return (ses_key){.app = session % 4 == 3 ? "other" : "app",
                     .user = session % 2 ? "u" : "\xF0\x9F\x98\x80",
                     .session = names[session / 4 % 4]};
}

static void add_delta(struct calls *calls, struct text *text)
{
    static const char *const keys[] = {
        "a",      "b",     "B",     "\xC3\xA4", "",      "{}\\\"\\\\,",      "user:a",
        "user:z", "app:a", "app:b", "temp:x",   "user:", "app:\xEF\xBF\xBF", "NULL"};
    static const char *const values[] = {
        "1", "null", "{\"a\":[1,{}]}", "\"\\u0000\"", "1.10", "\"x\\ud83d\\ude00\"", "[]", "true"};
    const size_t count = below(calls, 6);

    text_printf(text, "{");
    for (size_t i = 0; i < count; i++) {
        const char *name = keys[below(calls, sizeof keys / sizeof keys[0])];
        text_printf(text, "%s\"%s\":%s", i > 0 ? "," : "", *name ? name : "c",
                    once_in(calls, 4) ? SES_TOMBSTONE : values[below(calls, 8)]);
    }
    text_printf(text, "}");
}

/* Often the same event again, sometimes another of the same id. */
static void add_event(struct calls *calls, struct text *text)
{
    const size_t id = below(calls, IDS);
    const uint64_t kept = calls->seed;

    text_printf(text, "{");
    if (!once_in(calls, 3)) {
        text_printf(text, "\"id\":\"e%zu\",", id);
        if (!once_in(calls, 8))
            calls->seed = id * 7919 + 13; /* the calls that follow depend on that id alone */
    }
    if (once_in(calls, 2))
        text_printf(text, "\"timestamp\":%d.%zu,", (int)below(calls, 20000) - 10000, below(calls, 100));
    if (once_in(calls, 3))
        text_printf(text, "\"branch\":\"b%zu\",", below(calls, 3));
    if (once_in(calls, 2))
        text_printf(text, "\"invocationId\":\"i%zu\",", below(calls, 4));
    if (once_in(calls, 10))
        text_printf(text, "\"partial\":true,");
    text_printf(text, "\"author\":\"%s\",\"actions\":{", once_in(calls, 2) ? "user" : "\xC3\xA4 agent");
    if (once_in(calls, 25))
        text_printf(text, "\"rewindBeforeInvocationId\":\"i%zu\",", below(calls, 4));
    if (once_in(calls, 40))
        text_printf(text, "\"compaction\":{\"startTimestamp\":1,\"endTimestamp\":2},");
    text_printf(text, "\"stateDelta\":");
    add_delta(calls, text);
    text_printf(text, "}}");
    calls->seed = kept;
    (void)random_next(&calls->seed);
}

/* -------------------------------------------------------------------------------------------- comparing */

static void differ(const struct calls *calls, const char *what, const char *left, const char *right)
{
    fail_msg("step %d, %s: %s: %.300s, on the server %.300s", calls->step, calls->what, what, left, right);
}

static void same_codes(const struct calls *calls, const int codes[ENGINES], const ses_error errors[ENGINES])
{
    char text[ENGINES][700];

    for (int i = 0; i < ENGINES; i++)
        snprintf(text[i], sizeof text[i], "%s: %s", ses_code_name(codes[i]),
                 codes[i] < 0 ? errors[i].message : "");
    if (codes[0] != codes[1] || (codes[0] < 0 && errors[0].index != errors[1].index))
        differ(calls, "codes", text[0], text[1]);
}

static void same_sessions(const struct calls *calls, const ses_session *left, const ses_session *right)
{
    char *json[ENGINES];
    const char *title[ENGINES] = {ses_session_title(left), ses_session_title(right)};
    size_t len;
    ses_error error;

    assert_ok(ses_session_json(left, &json[0], &len, &error));
    assert_ok(ses_session_json(right, &json[1], &len, &error));
    if (strcmp(json[0], json[1]) != 0)
        differ(calls, "sessions", json[0], json[1]);
    if (!title[0] != !title[1] || (title[0] && strcmp(title[0], title[1]) != 0))
        differ(calls, "titles", title[0] ? title[0] : "-", title[1] ? title[1] : "-");
    assert_int_equal(ses_session_label_count(left), ses_session_label_count(right));
    assert_int_equal(ses_session_last_seq(left), ses_session_last_seq(right));
    assert_int_equal(ses_session_stored(left), ses_session_stored(right));
    assert_int_equal(ses_session_updated_us(left), ses_session_updated_us(right));
    assert_int_equal(ses_session_created_us(left), ses_session_created_us(right));
    assert_int_equal(ses_session_base_seq(left), ses_session_base_seq(right));
    for (int i = 0; i < ENGINES; i++)
        ses_free(json[i]);
}

static void same_handles(const struct calls *calls, size_t of)
{
    if (calls->engines[0].handles[of] && calls->engines[1].handles[of])
        same_sessions(calls, calls->engines[0].handles[of], calls->engines[1].handles[of]);
}

static void close_handles(struct calls *calls, size_t of)
{
    for (int i = 0; i < ENGINES; i++) {
        ses_session_close(calls->engines[i].handles[of]);
        calls->engines[i].handles[of] = NULL;
    }
}

/* Versions begin where those of deleted sessions have ended: of a file, or of a shard. */
static void blank_numbers(char *text, const char *name)
{
    for (char *at = strstr(text, name); at; at = strstr(at, name)) {
        at += strlen(name);
        memmove(at, at + strspn(at, "0123456789"), strlen(at + strspn(at, "0123456789")) + 1);
    }
}

static void same_stores(const struct calls *calls)
{
    struct text lines[ENGINES];
    size_t at = 0;

    for (int i = 0; i < ENGINES; i++)
        lines[i] = exported(calls->engines[i].store, NULL);
    for (int i = 0; i < ENGINES; i++) {
        blank_numbers(lines[i].data, "\"version\":");
        blank_numbers(lines[i].data, "\"crc\":");
        lines[i].len = strlen(lines[i].data);
    }
    while (lines[0].data[at] && lines[0].data[at] == lines[1].data[at])
        at++;
    if (lines[0].len != lines[1].len || at < lines[0].len)
        differ(calls, "lines", lines[0].data + (at > 150 ? at - 150 : 0),
               lines[1].data + (at > 150 ? at - 150 : 0));
    for (int i = 0; i < ENGINES; i++)
        free(lines[i].data);
}

/* ------------------------------------------------------------------------------------------------ calls */

static void call_create(struct calls *calls, size_t of, bool or_get)
{
    static const ses_label labels[] = {{"color", "blue"}, {"size", ""}};
    const ses_key named = key_of(of);
    const ses_range range = {
        .size = sizeof range, .which = SES_RANGE_NEWEST, .newest = (int64_t)below(calls, 5)};
    ses_create_options options = {.size = sizeof options};
    struct text state = {NULL, 0};
    ses_error errors[ENGINES];
    int codes[ENGINES];

    add_delta(calls, &state);
    options.title = once_in(calls, 3) ? "A title" : NULL;
    options.labels = labels;
    options.label_count = below(calls, 3);
    if (or_get && once_in(calls, 2))
        options.range = &range;
    const bool shows = !once_in(calls, 3);
    const bool given = !once_in(calls, 4);
    close_handles(calls, of);
    for (int i = 0; i < ENGINES; i++) {
        struct engine *engine = &calls->engines[i];
        ses_session **handle = shows || or_get ? &engine->handles[of] : NULL;
        codes[i] =
            (or_get ? ses_get_or_create : ses_create)(engine->store, &named, given ? state.data : NULL,
                                                      given ? state.len : 0, &options, handle, &errors[i]);
    }
    free(state.data);
    same_codes(calls, codes, errors);
    same_handles(calls, of);
}

static void call_get(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    ses_range range = {
        .size = sizeof range, .newest = (int64_t)below(calls, 9), .last_seq = INT64_MAX, .first_seq = 1};
    const ses_get_options options = {.size = sizeof options, .range = &range};
    const bool all = once_in(calls, 2);
    ses_error errors[ENGINES];
    int codes[ENGINES];

    range.which = once_in(calls, 2) ? SES_RANGE_NEWEST : 0;
    if (once_in(calls, 3))
        range.which |= SES_RANGE_LIVE;
    close_handles(calls, of);
    for (int i = 0; i < ENGINES; i++)
        codes[i] = ses_get(calls->engines[i].store, &named, all ? NULL : &options,
                           &calls->engines[i].handles[of], &errors[i]);
    same_codes(calls, codes, errors);
    same_handles(calls, of);
}

static void call_append(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const size_t count = once_in(calls, 2) ? 1 : below(calls, MOST_BATCH) + 1;
    const bool by_handle =
        calls->engines[0].handles[of] && calls->engines[1].handles[of] && once_in(calls, 2);
    const bool is_batch = count > 1 || once_in(calls, 5);
    const bool anyway = once_in(calls, 4);
    const bool versioned = !by_handle && !anyway && calls->engines[0].handles[of] && once_in(calls, 4);
    const int64_t off = once_in(calls, 3);
    const size_t leased = below(calls, 6);
    const bool unleased = once_in(calls, 3);
    ses_append_options options = {.size = sizeof options};
    ses_appended appended[ENGINES][MOST_BATCH];
    struct text texts[MOST_BATCH] = {{NULL, 0}};
    ses_text events[MOST_BATCH];
    ses_error errors[ENGINES];
    int codes[ENGINES];

    memset(appended, 0, sizeof appended);
    for (size_t i = 0; i < count; i++) {
        add_event(calls, &texts[i]);
        events[i] = (ses_text){texts[i].data, texts[i].len};
    }
    options.flags = anyway ? SES_ANYWAY : versioned ? SES_AT_VERSION : 0;
    if (once_in(calls, 8)) {
        options.expected = once_in(calls, 2) ? "{\"app:a\":1}" : "{\"user:z\":null}";
        options.expected_len = strlen(options.expected);
    }
    if (!is_batch && once_in(calls, 4)) {
        options.delta = "{\"user:d\":7,\"a\":8,\"temp:y\":1}";
        options.delta_len = strlen(options.delta);
    }
    for (int i = 0; i < ENGINES; i++) {
        struct engine *engine = &calls->engines[i];
        if (leased == 0)
            options.lease = engine->leases[of];
        else if (leased == 1 && unleased)
            options.lease = INT64_MAX;
        if (versioned)
            options.version = ses_session_version(engine->handles[of]) - off;
        codes[i] = is_batch    ? by_handle ? ses_append_batch(engine->handles[of], events, count, &options,
                                                              appended[i], &errors[i])
                                           : ses_append_batch_by_key(engine->store, &named, events, count,
                                                                     &options, appended[i], &errors[i])
                      : by_handle ? ses_append(engine->handles[of], texts[0].data, texts[0].len, &options,
                                               appended[i], &errors[i])
                               : ses_append_by_key(engine->store, &named, texts[0].data, texts[0].len,
                                                   &options, appended[i], &errors[i]);
    }
    same_codes(calls, codes, errors);
    for (size_t i = 0; i < count && codes[0] >= 0; i++) {
        const ses_appended *left = &appended[0][i];
        const ses_appended *right = &appended[1][i];
        if (left->status != right->status || left->seq != right->seq || left->time_us != right->time_us ||
            left->updated_us != right->updated_us || strcmp(left->made_id, right->made_id) != 0)
            differ(calls, "results", left->made_id, right->made_id);
    }
    for (size_t i = 0; i < count; i++)
        free(texts[i].data);
    same_handles(calls, of);
}

static void call_refresh(struct calls *calls, size_t of)
{
    ses_error errors[ENGINES];
    int codes[ENGINES];

    if (!calls->engines[0].handles[of] || !calls->engines[1].handles[of])
        return;
    for (int i = 0; i < ENGINES; i++)
        codes[i] = ses_refresh(calls->engines[i].handles[of], NULL, &errors[i]);
    same_codes(calls, codes, errors);
    same_handles(calls, of);
}

static void call_describe(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const ses_label label = {once_in(calls, 2) ? "color" : "size", once_in(calls, 3) ? NULL : "red"};
    const char *title = once_in(calls, 3) ? NULL : once_in(calls, 2) ? "" : "Another";
    const bool titles = once_in(calls, 2);
    ses_error errors[ENGINES];
    int codes[ENGINES];

    for (int i = 0; i < ENGINES; i++)
        codes[i] = titles
                       ? ses_title_set_by_key(calls->engines[i].store, &named, title, NULL, &errors[i])
                       : ses_labels_set_by_key(calls->engines[i].store, &named, &label, 1, NULL, &errors[i]);
    same_codes(calls, codes, errors);
}

static void call_delete(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const size_t what = below(calls, 12);
    ses_error errors[ENGINES];
    int codes[ENGINES];

    for (int i = 0; i < ENGINES; i++) {
        ses_store *store = calls->engines[i].store;
        codes[i] = what == 0   ? ses_delete_app(store, named.app, NULL, NULL, &errors[i])
                   : what == 1 ? ses_delete_user(store, named.app, named.user, NULL, NULL, NULL, &errors[i])
                               : ses_delete(store, &named, NULL, NULL, &errors[i]);
    }
    same_codes(calls, codes, errors);
}

static void call_lease(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const ses_lease_options options = {.size = sizeof options, .wait_ms = -1};
    const char *owner = once_in(calls, 2) ? "one" : "two";
    const bool takes = once_in(calls, 2);
    ses_error errors[ENGINES];
    int codes[ENGINES];

    for (int i = 0; i < ENGINES; i++) {
        struct engine *engine = &calls->engines[i];
        ses_lease lease = {.token = engine->leases[of]};
        codes[i] = takes ? ses_lease_take(engine->store, &named, owner, &options, &lease, &errors[i])
                         : ses_lease_release(engine->store, &named, lease.token ? lease.token : INT64_MAX,
                                             NULL, &errors[i]);
        if (takes && codes[i] >= 0)
            engine->leases[of] = lease.token;
    }
    same_codes(calls, codes, errors);
}

static void call_value(struct calls *calls, size_t of)
{
    static const char *const names[] = {"a", "user:a", "app:a", "app:b", "\xC3\xA4", "temp:x"};
    const ses_key named = key_of(of);
    const char *name = names[below(calls, 6)];
    char *json[ENGINES] = {NULL, NULL};
    size_t len;
    ses_error errors[ENGINES];
    int codes[ENGINES];

    for (int i = 0; i < ENGINES; i++)
        codes[i] =
            ses_state_get_by_key(calls->engines[i].store, &named, name, NULL, &json[i], &len, &errors[i]);
    same_codes(calls, codes, errors);
    if (codes[0] == SES_OK && strcmp(json[0], json[1]) != 0)
        differ(calls, name, json[0], json[1]);
    for (int i = 0; i < ENGINES; i++)
        ses_free(json[i]);
}

static void call_list(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const int64_t time = (int64_t)below(calls, 20000) * 1000000 - INT64_C(10000000000);
    const bool of_user = once_in(calls, 2);
    ses_filter filter = {.size = sizeof filter};
    ses_list_options options = {.size = sizeof options,
                                .order = (int)below(calls, 3),
                                .limit = below(calls, 4) + 1,
                                .flags = once_in(calls, 4) ? SES_LIST_NO_STATE : 0};
    ses_error errors[ENGINES];
    int codes[ENGINES];
    char token[ENGINES][2000] = {"", ""};
    bool more = true;

    filter.label = once_in(calls, 4) ? "color" : NULL;
    filter.label_value = filter.label && once_in(calls, 2) ? "blue" : NULL;
    filter.id_prefix = of_user && once_in(calls, 5) ? "a" : NULL;
    filter.updated_since_us = once_in(calls, 6) ? &time : NULL;
    filter.updated_before_us = once_in(calls, 6) ? &time : NULL;
    options.filter = once_in(calls, 2) ? &filter : NULL;
    while (more) {
        ses_page *pages[ENGINES] = {NULL, NULL};
        for (int i = 0; i < ENGINES; i++) {
            options.token = token[i][0] ? token[i] : NULL;
            codes[i] = ses_list(calls->engines[i].store, named.app, of_user ? named.user : NULL, &options,
                                &pages[i], &errors[i]);
        }
        same_codes(calls, codes, errors);
        more = codes[0] == SES_OK && ses_page_token(pages[0]);
        if (codes[0] == SES_OK) {
            assert_int_equal(ses_page_count(pages[0]), ses_page_count(pages[1]));
            for (size_t i = 0; i < ses_page_count(pages[0]); i++)
                same_sessions(calls, ses_page_session(pages[0], i), ses_page_session(pages[1], i));
            assert_int_equal(!ses_page_token(pages[0]), !ses_page_token(pages[1]));
        }
        for (int i = 0; i < ENGINES; i++) {
            if (more)
                snprintf(token[i], sizeof token[i], "%s", ses_page_token(pages[i]));
            ses_page_close(pages[i]);
        }
    }
}

static void call_prune(struct calls *calls, size_t of)
{
    const ses_key named = key_of(of);
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = (int64_t)below(calls, 20) + 1};
    ses_error errors[ENGINES];
    int codes[ENGINES];

    for (int i = 0; i < ENGINES; i++)
        codes[i] = ses_prune_by_key(calls->engines[i].store, &named, &options, NULL, &errors[i]);
    same_codes(calls, codes, errors);
}

static void step(struct calls *calls)
{
    const size_t of = below(calls, SESSIONS);
    const size_t what = below(calls, 40);

    calls->now_us += (int64_t)below(calls, 3) * 700000000;
#define CALL(least, call)    \
    if (what >= (least)) {   \
        calls->what = #call; \
        call;                \
        return;              \
    }
    CALL(39, call_prune(calls, of))
    CALL(36, call_list(calls, of))
    CALL(34, call_value(calls, of))
    CALL(32, call_lease(calls, of))
    CALL(30, call_delete(calls, of))
    CALL(28, call_describe(calls, of))
    CALL(25, call_refresh(calls, of))
    CALL(21, call_get(calls, of))
    CALL(18, call_create(calls, of, false))
    CALL(15, call_create(calls, of, true))
    calls->what = "call_append";
    call_append(calls, of);
#undef CALL
}

SERVER_TEST(random_calls_do_the_same)
{
    const int steps = getenv("SESLITE_CALLS") ? atoi(getenv("SESLITE_CALLS")) : 1500;
    static struct calls calls;
    char place[600];

    calls.seed = getenv("SESLITE_SEED") ? strtoull(getenv("SESLITE_SEED"), NULL, 10) : 1;
    calls.now_us = -INT64_C(7000000000);
    for (int i = 0; i < ENGINES; i++) {
        struct engine *engine = &calls.engines[i];
        const ses_open_options options = {.size = sizeof options,
                                          .clock = now,
                                          .clock_context = engine,
                                          .make_id = make_id,
                                          .make_id_context = engine,
                                          .max_session_events = MOST_EVENTS};
        engine->now_us = &calls.now_us;
        assert_ok(i == 0 ? ses_open(":memory:", &options, &engine->store, &error)
                         : ses_open_postgres(database_fresh(database, "same", "", place), &options, NULL,
                                             &engine->store, &error));
    }
    for (calls.step = 0; calls.step < steps; calls.step++) {
        step(&calls);
        if (calls.step % 50 == 0)
            same_stores(&calls);
    }
    same_stores(&calls);
    for (size_t i = 0; i < SESSIONS; i++)
        close_handles(&calls, i);
    for (int i = 0; i < ENGINES; i++) {
        ses_close(calls.engines[i].store);
    }
}
