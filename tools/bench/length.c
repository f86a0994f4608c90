/*
 * History and pending calls by the length of the log. A round makes each call once: it takes the last turn
 * back, and ends with two turns less, so that every round finds the same. The first, which is not measured,
 * makes what later ones find in the file.
 */
#include "bench.h"

#include <string.h>

enum { ROUNDS = 15, BATCH = 1000, MS = 1000 };

static const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};

static int undo(struct library *library)
{
    return ses_rewind_by_key(library->store, &library->key, &last_turn, NULL, NULL, NULL);
}

static int redo(struct library *library)
{
    return ses_redo_by_key(library->store, &library->key, NULL, NULL, NULL);
}

static int state_at(struct library *library, const ses_point *point)
{
    char *json = NULL;
    const int code =
        ses_state_json_as_of_by_key(library->store, &library->key, point, NULL, &json, NULL, NULL);

    ses_free(json);
    return code;
}

static int state_before(struct library *library)
{
    return state_at(library, &last_turn);
}

static int state_at_middle(struct library *library)
{
    const ses_point middle = {.size = sizeof middle, .kind = SES_POINT_SEQ, .seq = library->number / 2};
    return state_at(library, &middle);
}

static int pending(struct library *library)
{
    ses_pending *calls = NULL;
    const int code = ses_pending_open_by_key(library->store, &library->key, NULL, &calls, NULL);

    ses_pending_close(calls);
    return code;
}

static int pop(struct library *library)
{
    ses_popped *popped = NULL;
    const int code = ses_pop_by_key(library->store, &library->key, &last_turn, NULL, &popped, NULL);

    ses_popped_close(popped);
    return code;
}

static int cut(struct library *library)
{
    return ses_cut_by_key(library->store, &library->key, &last_turn, NULL, NULL, NULL);
}

/* In the order of a round. */
static const struct operation {
    const char *name;
    int (*call)(struct library *library);
    double most_us;
    const char *limit;
} operations[] = {
    {"undo of the last turn", undo, 1 * MS, NULL},
    {"redo", redo, 1 * MS, NULL},
    {"state before the last turn", state_before, 1 * MS, NULL},
    {"pending calls", pending, 1 * MS, NULL},
    {"state at the middle", state_at_middle, 5 * MS, "far from the end, all events up to the point are read"},
    {"pop of the last turn", pop, 1 * MS, NULL},
    {"cut of the last turn", cut, 1 * MS, NULL},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* Turns of two events, each of which sets a key. */
static void fill_turns(struct library *library, int events)
{
    static char texts[BATCH][300];
    static ses_text batch[BATCH];

    while (library->number < events) {
        size_t count = 0;
        for (; count < BATCH && library->number < events; count++, library->number++) {
            const int64_t number = library->number;
            const int len = snprintf(texts[count], sizeof texts[count],
                                     "{\"invocationId\":\"v%" PRId64
                                     "\",\"author\":\"%s\",\"content\":{\"parts\":[{\"text\":"
                                     "\"some words of a turn, number %" PRId64 ", which are not many\"}]},"
                                     "\"actions\":{\"stateDelta\":{\"n\":%" PRId64 "}}}",
                                     number / 2, number % 2 == 0 ? "user" : "agent", number, number);
            batch[count] = (ses_text){texts[count], (size_t)len};
        }
        CHECK(ses_append_batch(library->session, batch, count, NULL, NULL, NULL) == SES_OK);
    }
}

static void measure_length(struct library *library, const char *length)
{
    double us[OPERATIONS][ROUNDS];
    const int rounds = scaled_rounds(ROUNDS);

    for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < OPERATIONS; i++) {
            const double start = now_us();
            CHECK(operations[i].call(library) == SES_OK);
            us[i][round < 0 ? 0 : round] = now_us() - start;
        }
    }
    for (int i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = &operations[i];
        char name[64];
        const double value = median(us[i], (size_t)rounds);
        snprintf(name, sizeof name, "%s, %s events", operation->name, length);
        report(&(struct figure){.name = name,
                                .unit = "us",
                                .left_name = "seslite",
                                .left = value,
                                .right_name = "limit",
                                .right = operation->most_us,
                                .ratio = value / operation->most_us,
                                .at_most = 1,
                                .limit = operation->limit});
    }
}

void bench_length(bool million)
{
    static const struct {
        int events;
        const char *name;
    } lengths[] = {{1000, "1,000"}, {10000, "10,000"}, {100000, "100,000"}, {1000000, "1,000,000"}};
    const int count = million ? 4 : 3;
    char *path = fresh_path("bench-length.db");
    ses_store *store = NULL;

    for (int i = 0; i < count; i++) {
        struct library library;
        library_open(&library, store, path, false, i + 1);
        store = library.store;
        fill_turns(&library, measure_is_quick() ? lengths[i].events / 10 : lengths[i].events);
        measure_length(&library, lengths[i].name);
        library_close(&library, i + 1 == count);
    }
    free(fresh_path("bench-length.db"));
    free(path);
}
