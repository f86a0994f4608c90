/* JSON lines take a store from a file to a server and back, byte for byte. */
#include "database.h"
#include "random.h"
#include "seslite_postgres.h"
#include "../session/lines.h"

static ses_store *open_server(const struct database *database, const char *name)
{
    ses_store *store = NULL;
    char place[300];
    ses_error error;

    assert_ok(ses_open_postgres(database_address(database, name, place), NULL, NULL, &store, &error));
    return store;
}

static void move(ses_store *from, ses_store *to)
{
    struct text lines = exported(from, NULL);
    ses_import_report report;
    ses_error error;

    assert_ok(import_text(to, lines.data, lines.len, 0, &report, &error));
    free(lines.data);
}

static void assert_sound_store(ses_store *store)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

/* To the server, to a second one, and back. */
static void assert_moves(const struct database *database, ses_store *file, const char *name)
{
    char second_name[64];

    snprintf(second_name, sizeof second_name, "%s_second", name);
    ses_store *server = open_server(database, name);
    ses_store *second = open_server(database, second_name);
    ses_store *back = empty_store();
    move(file, server);
    assert_same_store(file, server);
    move(server, second);
    assert_same_store(server, second);
    move(second, back);
    assert_same_store(file, back);
    assert_sound_store(server);
    assert_sound_store(back);
    ses_close(back);
    ses_close(second);
    ses_close(server);
}

SERVER_TEST(all_that_a_store_can_have_moves)
{
    ses_store *file = empty_store();

    fill_store(file);
    assert_moves(database, file, "filled");
    ses_close(file);
}

/* ----------------------------------------------------------------------------------------- a random store */

enum { STEPS = 1000, NAMES = 5 };

struct maker {
    ses_store *store;
    uint64_t seed;
    int events;
    int64_t now_us;
    int ids;
    bool
        /* the first version of a session depends on what was deleted elsewhere in the file, or the shard */
        deletes;
};

static int64_t tick(void *context)
{
    return ++((struct maker *)context)->now_us;
}

static int count_id(void *context, char *id, size_t capacity)
{
    return snprintf(id, capacity, "made-%d", ++((struct maker *)context)->ids) < (int)capacity ? 0 : -1;
}

/* Time and ids are those of the maker. Without a place: in memory. */
static void open_for(struct maker *maker, const char *place)
{
    const ses_open_options options = {.size = sizeof options,
                                      .clock = tick,
                                      .clock_context = maker,
                                      .make_id = count_id,
                                      .make_id_context = maker};
    ses_error error;

    assert_ok(place ? ses_open_postgres(place, &options, NULL, &maker->store, &error)
                    : ses_open(":memory:", &options, &maker->store, &error));
}

static ses_key random_key(struct maker *maker)
{
    static const char *const names[NAMES] = {"a", "A b", "\xC3\xA4'\"\\", "\xF0\x9F\x98\x80", "%_\x01"};
    return (ses_key){names[random_below(&maker->seed, 2)], names[random_below(&maker->seed, 2)],
                     names[random_below(&maker->seed, NAMES)]};
}

/* An object of up to four keys of all scopes; free it. */
static char *random_state(struct maker *maker, bool shared_only)
{
    static const char *const scopes[] = {"app:", "user:", "", ""};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    const size_t count = random_below(&maker->seed, 5);

    assert_non_null(out);
    fputc('{', out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s\"%sk%zu\":", i > 0 ? "," : "",
                scopes[random_below(&maker->seed, shared_only ? 2 : 4)],
                i * 3 + random_below(&maker->seed, 3));
        random_json(&maker->seed, out, 3);
    }
    fputc('}', out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static int try_append(struct maker *maker, const ses_key *of, ses_error *error)
{
    char *delta = random_state(maker, false);
    struct text event = {NULL, 0};
    const int number = ++maker->events;

    text_printf(&event, "{\"id\":\"e%d\",\"timestamp\":%d.5,\"invocationId\":\"i%d\",\"author\":\"a\"",
                number, 1000 + number + (int)random_below(&maker->seed, 9) - 4, number / 3);
    if (random_below(&maker->seed, 10) == 0)
        text_printf(&event,
                    ",\"actions\":{\"compaction\":{\"startTimestamp\":1000,\"endTimestamp\":%d,"
                    "\"compactedContent\":{}}}}",
                    1000 + number);
    else {
        text_printf(&event, ",\"actions\":{\"stateDelta\":");
        text_add(&event, delta, strlen(delta));
        text_printf(&event, "}}");
    }
    int code = ses_append_by_key(maker->store, of, event.data, event.len, NULL, NULL, error);
    free(event.data);
    free(delta);
    return code;
}

static int try_fork(struct maker *maker, const ses_key *of, ses_error *error)
{
    const ses_fork_options other = {.size = sizeof other, .flags = SES_FORK_OTHER_USER};
    ses_key to = random_key(maker);

    to.app = of->app;
    return ses_fork_by_key(maker->store, of, AFTER_SEQ((int64_t)random_below(&maker->seed, 6)), &to, &other,
                           NULL, error);
}

static int try_prune(struct maker *maker, const ses_key *of, ses_error *error)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = (int64_t)random_below(&maker->seed, 6)};
    return ses_prune_by_key(maker->store, of, &options, NULL, error);
}

static int try_annotate(struct maker *maker, const ses_key *of, ses_error *error)
{
    const ses_label labels[] = {{"z", ""}, {"a", "\xC3\xA9 \""}};
    const int64_t expires_us = INT64_C(4000000000000000) + (int64_t)random_below(&maker->seed, 99);

    switch (random_below(&maker->seed, 3)) {
    case 0:
        return ses_title_set_by_key(maker->store, of, "\xC3\xA9 \xF0\x9F\x98\x80", NULL, error);
    case 1:
        return ses_labels_set_by_key(maker->store, of, labels, 2, NULL, error);
    default:
        return ses_expiry_set_by_key(maker->store, of, &expires_us, NULL, error);
    }
}

static int change_shared(struct maker *maker, const ses_key *of, ses_error *error)
{
    const bool of_app = random_below(&maker->seed, 2) == 0;
    int code = SES_OK;
    char delta[100];

    snprintf(delta, sizeof delta, "{\"own%zu\":[1.10,\"\\u0000\"]}", random_below(&maker->seed, 3));
    code = ses_shared_state_change(maker->store, of->app, of_app ? NULL : of->session, delta, SES_NUL, NULL,
                                   error);
    return code;
}

static int try_create(struct maker *maker, const ses_key *of, ses_error *error)
{
    const ses_create_options options = {.size = sizeof options,
                                        .created_us = &(int64_t){(int64_t)random_below(&maker->seed, 2000)}};
    char *initial = random_state(maker, false);
    int code = ses_create(maker->store, of, initial, SES_NUL, &options, NULL, error);

    free(initial);
    return code;
}

static int take_step(struct maker *maker, ses_error *error)
{
    const ses_key of = random_key(maker);
    const int64_t seq = (int64_t)random_below(&maker->seed, 40);

    switch (random_below(&maker->seed, 24)) {
    case 0:
    case 1:
        return try_create(maker, &of, error);
    case 2:
        return ses_rewind_by_key(maker->store, &of, AFTER_SEQ(seq), NULL, NULL, error);
    case 3:
        return ses_redo_by_key(maker->store, &of, NULL, NULL, error);
    case 4:
        return ses_cut_by_key(maker->store, &of, AFTER_SEQ(seq), NULL, NULL, error);
    case 5:
        return try_fork(maker, &of, error);
    case 6:
        return try_prune(maker, &of, error);
    case 7:
        return try_annotate(maker, &of, error);
    case 8:
        return change_shared(maker, &of, error);
    case 9:
        return maker->deletes && random_below(&maker->seed, 4) == 0
                   ? ses_delete(maker->store, &of, NULL, NULL, error)
                   : SES_OK;
    default:
        return try_append(maker, &of, error);
    }
}

static void fill_randomly(struct maker *maker)
{
    for (int i = 0; i < STEPS; i++) {
        ses_error error;
        const int code = take_step(maker, &error);
        if (code < 0 && code != SES_NOTFOUND && code != SES_EXISTS && code != SES_RANGE &&
            code != SES_INVALID)
            fail_msg("%s", error.message);
    }
}

SERVER_TEST(random_stores_move)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct maker maker = {.seed = seed, .deletes = true};
        char name[32];

        snprintf(name, sizeof name, "random_%d", (int)seed);
        open_for(&maker, NULL);
        fill_randomly(&maker);
        assert_moves(database, maker.store, name);
        ses_close(maker.store);
    }
}

SERVER_TEST(the_same_steps_make_the_same_store)
{
    struct maker file = {.seed = 7};
    struct maker server = {.seed = 7};
    char place[300];

    open_for(&file, NULL);
    open_for(&server, database_address(database, "steps", place));
    fill_randomly(&file);
    fill_randomly(&server);
    assert_like_store(file.store, server.store);
    assert_sound_store(server.store);
    ses_close(file.store);
    ses_close(server.store);
}
