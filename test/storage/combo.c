/*
 * The same random calls on two stores: one has an index of words, a tally, artifacts, and now and then damage
 * in what is derived; the other has nothing of that. The results of calls, searches, tallies and exports must
 * be the same.
 *
 * SESLITE_COMBO_SEED=7 begins with that seed, which a failure names; SESLITE_COMBO_ROUNDS=1000 takes so many.
 */
#include "check.h"
#include "random.h"
#include "seslite_artifact.h"
#include "seslite_erase.h"
#include "seslite_history.h"
#include "seslite_search.h"
#include "seslite_transfer.h"
#include "seslite_usage.h"

#include "../session/lines_text.h"

enum { USERS = 2, SESSIONS = 4, STEPS = 60, COMPARED_EVERY = 4 };

struct combo {
    char *folder;
    char *paths[2];
    ses_store *stores[2]; /* the first is the one that has everything */
    ses_open_options options;
    int64_t now;
    int64_t ids; /* that were made, in the store under way */
    uint64_t seed;
    uint64_t first_seed; /* of the round */
    int step;
    const char *call;
    bool is_damaged; /* since it was made last */
    char *lines;     /* an export of an earlier step; NULL: none */
};

#define combo_fail(combo, ...)                                                              \
    do {                                                                                    \
        print_error("SESLITE_COMBO_SEED=%llu SESLITE_COMBO_ROUNDS=1, step %d, %s:\n",       \
                    (unsigned long long)(combo)->first_seed, (combo)->step, (combo)->call); \
        fail_msg(__VA_ARGS__);                                                              \
    } while (0)

/* ----------------------------------------------------------------------------------------- the two stores */

static int make_id(void *context, char *id, size_t capacity)
{
    struct combo *combo = context;
    return snprintf(id, capacity, "id-%lld", (long long)++combo->ids) > 0 ? 0 : -1;
}

static void open_both(struct combo *combo)
{
    ses_error error;

    for (int i = 0; i < 2; i++)
        assert_ok(ses_open(combo->paths[i], &combo->options, &combo->stores[i], &error));
}

static void close_both(struct combo *combo)
{
    for (int i = 0; i < 2; i++)
        ses_close(combo->stores[i]);
}

/* One call on each store, with the same ids. `done` is the code, and what else the call has told. */
#define ON_BOTH(combo, call_)                                                                      \
    do {                                                                                           \
        const int64_t ids_ = (combo)->ids;                                                         \
        int codes_[2];                                                                             \
        ses_error errors_[2];                                                                      \
        for (int i_ = 0; i_ < 2; i_++) {                                                           \
            ses_store *const store = (combo)->stores[i_];                                          \
            ses_error error;                                                                       \
            (combo)->ids = ids_;                                                                   \
            codes_[i_] = (call_);                                                                  \
            errors_[i_] = error;                                                                   \
        }                                                                                          \
        if (codes_[0] != codes_[1])                                                                \
            combo_fail(combo, "%s (%s), but %s (%s) in the plain store", ses_code_name(codes_[0]), \
                       codes_[0] < 0 ? errors_[0].message : "", ses_code_name(codes_[1]),          \
                       codes_[1] < 0 ? errors_[1].message : "");                                   \
    } while (0)

static const char *pick(struct combo *combo, const char *const *names, size_t count)
{
    return names[random_below(&combo->seed, count)];
}

static ses_key any_key(struct combo *combo)
{
    static const char *const users[USERS] = {"anna", "bert"};
    static const char *const names[SESSIONS] = {"s1", "s2", "s3", "s4"};
    const char *const user = pick(combo, users, USERS);
    return (ses_key){"app", user, pick(combo, names, SESSIONS)};
}

static ses_point any_point(struct combo *combo)
{
    ses_point point = {
        .size = sizeof point, .kind = SES_POINT_SEQ, .seq = (int64_t)random_below(&combo->seed, 40)};

    if (random_below(&combo->seed, 3) == 0)
        point.kind = SES_POINT_LAST_TURN;
    return point;
}

/* ------------------------------------------------------------------------------------------------ appends */

static const char *const spoken[] = {
    "rain",  "Sun", "caf\u00e9", "\u6211\u5199\u4e2d\u6587", "secret-42", "\u30c7\u30fc\u30bf",
    "don't", "each"};
enum { SPOKEN = sizeof spoken / sizeof spoken[0] };

static void make_event(struct combo *combo, int invocation, char *event, size_t size)
{
    uint64_t *const seed = &combo->seed;
    const char *const author = random_below(seed, 2) ? "user" : "agent";
    const char *const first = pick(combo, spoken, SPOKEN);
    const char *const second = pick(combo, spoken, SPOKEN);

    snprintf(
        event, size,
        "{\"invocationId\":\"i%d\",\"author\":\"%s\",\"modelVersion\":\"m%zu\",\"content\":{\"role\":\"%s\",\"parts\":"
        "[{\"text\":\"%s %s w%zu\"}]},\"actions\":{\"stateDelta\":{\"k%zu\":\"%s\",\"user:u\":%zu}},"
        "\"usageMetadata\":{\"promptTokenCount\":%zu,\"totalTokenCount\":%s}}",
        invocation, author, random_below(seed, 3), author, first, second, random_below(seed, 30),
        random_below(seed, 4), second, random_below(seed, 9), random_below(seed, 1000),
        random_below(seed, 20) ? "12" : "\"odd\"");
}

static void append_one(struct combo *combo)
{
    const ses_key key = any_key(combo);
    char event[700];

    make_event(combo, combo->step, event, sizeof event);
    ON_BOTH(combo, ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error));
}

static void append_batch(struct combo *combo)
{
    enum { MOST = 25 };
    const ses_key key = any_key(combo);
    static char events[MOST][700];
    ses_text texts[MOST];
    const size_t count = 1 + random_below(&combo->seed, MOST);

    for (size_t i = 0; i < count; i++) {
        make_event(combo, combo->step * 100 + (int)i / 3, events[i], sizeof events[i]);
        texts[i] = (ses_text){events[i], strlen(events[i])};
    }
    ON_BOTH(combo, ses_append_batch_by_key(store, &key, texts, count, NULL, NULL, &error));
}

static void create(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const int64_t expires_us = combo->now + 5000000;
    const ses_create_options options = {.size = sizeof options,
                                        .expires_us = random_below(&combo->seed, 4) ? NULL : &expires_us};

    ON_BOTH(combo, ses_create(store, &key, Q("{'k0':'created rain'}"), SES_NUL, &options, NULL, &error));
}

/* ------------------------------------------------------------------------------------------------ history */

static void rewind_it(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_point point = any_point(combo);

    ON_BOTH(combo, ses_rewind_by_key(store, &key, &point, NULL, NULL, &error));
}

static void redo(struct combo *combo)
{
    const ses_key key = any_key(combo);

    ON_BOTH(combo, ses_redo_by_key(store, &key, NULL, NULL, &error));
}

static void fork_it(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_point point = any_point(combo);
    ses_key to = any_key(combo);

    to.user = key.user;
    ON_BOTH(combo, ses_fork_by_key(store, &key, &point, &to, NULL, NULL, &error));
}

static unsigned maybe_secure(struct combo *combo)
{
    return random_below(&combo->seed, 8) == 0 ? SES_SECURE : 0;
}

static void cut(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_point point = any_point(combo);
    const ses_cut_options options = {.size = sizeof options, .flags = maybe_secure(combo)};

    ON_BOTH(combo, ses_cut_by_key(store, &key, &point, &options, NULL, &error));
}

static int pop_text(ses_store *store, const ses_key *key, const ses_point *point, struct text *text,
                    ses_error *error)
{
    ses_popped *popped = NULL;
    const int code = ses_pop_by_key(store, key, point, NULL, &popped, error);

    for (size_t i = 0; code >= 0 && i < ses_popped_count(popped); i++)
        text_printf(text, "%s\n", ses_popped_event(popped, i)->json);
    ses_popped_close(popped);
    return code;
}

static void pop(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_point point = any_point(combo);
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};
    int at = 0;

    text_add(&texts[0], "", 0);
    text_add(&texts[1], "", 0);
    ON_BOTH(combo, pop_text(store, &key, &point, &texts[at++], &error));
    if (strcmp(texts[0].data, texts[1].data) != 0)
        combo_fail(combo, "popped\n%s\nbut\n%s", texts[0].data, texts[1].data);
    free(texts[0].data);
    free(texts[1].data);
}

static void prune(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_prune_options options = {.size = sizeof options,
                                       .which = SES_PRUNE_KEEP,
                                       .flags = maybe_secure(combo),
                                       .keep = (int64_t)random_below(&combo->seed, 30)};

    ON_BOTH(combo, ses_prune_by_key(store, &key, &options, NULL, &error));
}

static void expire(struct combo *combo)
{
    const ses_expire_options options = {.size = sizeof options,
                                        .sessions_per_user = random_below(&combo->seed, 2) ? 0 : 3};

    ON_BOTH(combo, ses_store_expire(store, NULL, &options, NULL, &error));
}

static void delete_it(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_delete_options options = {.size = sizeof options, .flags = maybe_secure(combo)};

    ON_BOTH(combo, ses_delete(store, &key, &options, NULL, &error));
}

static void delete_user(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_delete_options options = {.size = sizeof options, .flags = maybe_secure(combo)};

    ON_BOTH(combo, ses_delete_user(store, key.app, key.user, &options, NULL, NULL, &error));
}

static int find_secret(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    static const char secret[] = "secret-42";
    (void)context;
    (void)error;

    for (size_t i = from; i + sizeof secret - 1 <= len; i++) {
        if (memcmp(text + i, secret, sizeof secret - 1) == 0) {
            *begin = i;
            *end = i + sizeof secret - 1;
            return 1;
        }
    }
    return 0;
}

static void redact(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const int64_t seqs[] = {(int64_t)random_below(&combo->seed, 30) + 1};
    const unsigned flags = maybe_secure(combo) | (random_below(&combo->seed, 2) ? SES_REDACT_STATE : 0U) |
                           (random_below(&combo->seed, 3) == 0 ? SES_REDACT_FORKS : 0U);
    const bool all = random_below(&combo->seed, 3) == 0;
    const ses_redact_options options = {
        .size = sizeof options, .flags = flags, .find = all ? find_secret : NULL};

    ON_BOTH(combo, ses_redact_by_key(store, &key, all ? NULL : seqs, all ? 0 : 1, &options, NULL, &error));
}

/* --------------------------------------------------------------------------------------------- in and out */

static int add_text(void *context, const char *text, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, text, len);
    return 0;
}

/* The lines of a store; to be compared, without its artifacts and the sums of all lines. Free it. */
static char *lines_of(ses_store *store, bool compared)
{
    struct text all = {NULL, 0};
    struct text kept = {NULL, 0};
    ses_error error;

    assert_ok(ses_store_export(store, NULL, add_text, &all, &error));
    for (const char *line = all.data; *line;) {
        const char *const end = strchr(line, '\n') + 1;
        const bool is_left_out =
            strncmp(line, "{\"kind\":\"artifact", 17) == 0 || strncmp(line, "{\"kind\":\"bytes\"", 15) == 0 ||
            strncmp(line, "{\"kind\":\"end\"", 13) == 0 || strncmp(line, "{\"kind\":\"total\"", 15) == 0;
        if (!compared || !is_left_out)
            text_add(&kept, line, (size_t)(end - line));
        line = end;
    }
    free(all.data);
    if (compared)
        number_origins(&kept);
    return kept.data;
}

struct reading {
    const char *at;
};

static int read_lines(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct reading *reading = context;
    (void)error;

    *len = strlen(reading->at) < capacity ? strlen(reading->at) : capacity;
    memcpy(buffer, reading->at, *len);
    reading->at += *len;
    return 0;
}

static int import_lines(struct combo *combo, ses_store *store, unsigned flags, ses_error *error)
{
    const ses_import_options options = {.size = sizeof options, .flags = flags | SES_IMPORT_SKIP};
    struct reading reading = {combo->lines};
    int code = ses_store_import(store, read_lines, &reading, &options, NULL, error);

    if (code != SES_CORRUPT || store != combo->stores[0])
        return code;
    reading.at = combo->lines; /* what is damaged is void after it */
    return ses_store_import(store, read_lines, &reading, &options, NULL, error);
}

static void import(struct combo *combo)
{
    static const unsigned flags[] = {SES_IMPORT_UPDATE, SES_IMPORT_REPLACE, SES_IMPORT_UPDATE};
    const unsigned flag = flags[random_below(&combo->seed, 3)];

    if (combo->lines)
        ON_BOTH(combo, import_lines(combo, store, flag, &error));
}

static void keep_lines(struct combo *combo)
{
    free(combo->lines);
    combo->lines = lines_of(combo->stores[1], false);
}

static void load(struct combo *combo)
{
    const ses_key key = any_key(combo);
    const ses_load_options replace = {.size = sizeof replace, .flags = SES_LOAD_REPLACE};
    const char *const json = Q(
        "{'appName':'app','userId':'u','id':'s','state':{'k0':'sun'},'lastUpdateTime':1700000001,'events':"
        "[{'id':'loaded','timestamp':1700000001,'author':'user','invocationId':'l','content':{'parts':[{'text':'each rain'}]},"
        "'actions':{'stateDelta':{'k0':'sun'}}}]}");
    int tries = 0;

    ON_BOTH(combo, tries++ == 0 && ses_load_json(store, &key, json, SES_NUL, &replace, NULL, &error) >= 0
                       ? 0
                       : ses_load_json(store, &key, json, SES_NUL, &replace, NULL, &error) < 0);
}

/* ------------------------------------------------------------------------- only in the store that has all */

static void index_it(struct combo *combo)
{
    static const unsigned flags[] = {0, 0, 0, SES_INDEX_REBUILD, SES_INDEX_DROP};
    const ses_index_options index = {.size = sizeof index, .flags = flags[random_below(&combo->seed, 5)]};
    const ses_tally_options tally = {.size = sizeof tally, .flags = flags[random_below(&combo->seed, 5)]};
    ses_error error;

    if (ses_store_index(combo->stores[0], &index, NULL, &error) < 0 ||
        ses_store_tally(combo->stores[0], &tally, NULL, &error) < 0)
        combo_fail(combo, "%s", error.message);
    combo->is_damaged = combo->is_damaged && (index.flags == 0 || tally.flags == 0);
}

/* A session of an existing user: one with artifacts differs from one without when lines are imported. */
static void save_artifact(struct combo *combo)
{
    const ses_key of_session = any_key(combo);
    const ses_key key = {of_session.app, of_session.user, NULL};
    ses_session *session = NULL;
    ses_error error;

    if (ses_get(combo->stores[0], &of_session, NULL, &session, &error) == SES_NOTFOUND)
        return;
    ses_session_close(session);
    const int code =
        random_below(&combo->seed, 4)
            ? ses_artifact_save_by_key(combo->stores[0], &key, "file", "bytes", 5, NULL, NULL, &error)
            : ses_artifact_delete_by_key(combo->stores[0], &key, "file", NULL, NULL, &error);
    if (code < 0)
        combo_fail(combo, "%s", error.message);
}

static void damage(struct combo *combo)
{
    static const char *const changes[] = {"DELETE FROM search_words_data",
                                          "DELETE FROM search_words_config",
                                          "DROP TABLE search_places",
                                          "DROP TABLE search_words",
                                          "ALTER TABLE search_places ADD COLUMN mine TEXT",
                                          "UPDATE features SET name = 'search2' WHERE name = 'search'",
                                          "DELETE FROM features WHERE name = 'search'",
                                          "DELETE FROM features WHERE name = 'usage2'",
                                          "INSERT OR IGNORE INTO features VALUES ('search', 2)",
                                          "INSERT OR IGNORE INTO features VALUES ('usage2', 1)",
                                          "UPDATE derived SET seq = 9223372036854775807, epoch = epoch + 1",
                                          "UPDATE derived SET seq = -5",
                                          "DELETE FROM derived",
                                          "UPDATE usage_sums SET calls = -1",
                                          "DELETE FROM usage_sums",
                                          "DROP TABLE usage_sums",
                                          "ALTER TABLE usage_sums ADD COLUMN mine TEXT"};
    const char *const change = pick(combo, changes, sizeof changes / sizeof changes[0]);
    sqlite3 *db = raw_open(combo->paths[0]);

    combo->call = change;
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL), SQLITE_OK);
    (void)sqlite3_exec(db, change, NULL, NULL, NULL); /* there may be nothing to damage */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    combo->is_damaged = true;
}

static void reopen(struct combo *combo)
{
    close_both(combo);
    open_both(combo);
}

/* ----------------------------------------------------------------------------------------- the comparison */

static void hits_of(struct combo *combo, ses_store *store, const ses_key *scope, const char *words,
                    unsigned flags, struct text *text)
{
    const char *token = NULL;
    ses_hits *hits = NULL;

    do {
        const ses_search_options options = {
            .size = sizeof options, .flags = flags, .limit = 7, .token = token, .snippet_bytes = 20};
        ses_hits *next = NULL;
        ses_error error;
        if (ses_store_search(store, scope, words, SES_NUL, &options, &next, &error) < 0)
            combo_fail(combo, "search for %s: %s", words, error.message);
        ses_hits_close(hits);
        hits = next;
        for (size_t i = 0; i < ses_hits_count(hits); i++) {
            const ses_hit *hit = ses_hits_at(hits, i);
            text_printf(text, "%s %s %lld %.*s\n", hit->user, hit->session, (long long)hit->seq,
                        (int)hit->snippet_len, hit->snippet);
        }
        token = ses_hits_token(hits);
    } while (token);
    ses_hits_close(hits);
}

static void usage_of(struct combo *combo, ses_store *store, unsigned flags, const int64_t *since_us,
                     struct text *text)
{
    const ses_usage_options options = {
        .size = sizeof options, .flags = flags, .since_us = since_us, .limit = 1000};
    ses_usage_rows *rows = NULL;
    ses_error error;

    if (ses_store_usage(store, NULL, &options, &rows, &error) < 0)
        combo_fail(combo, "usage: %s", error.message);
    for (size_t i = 0; i <= ses_usage_rows_count(rows); i++) {
        const ses_usage_row *row = i ? ses_usage_rows_at(rows, i - 1) : ses_usage_rows_sum(rows);
        text_printf(text, "%s %s %s %lld %lld %lld %lld\n", row->user ? row->user : "",
                    row->session ? row->session : "", row->model ? row->model : "", (long long)row->calls,
                    (long long)row->prompt, (long long)row->total, (long long)row->odd);
    }
    ses_usage_rows_close(rows);
}

/* Shows the first line that differs. */
static void compare_texts_of(struct combo *combo, const char *what, struct text texts[2])
{
    size_t line = 0;

    for (size_t i = 0; texts[0].data[i] && texts[0].data[i] == texts[1].data[i]; i++)
        line = texts[0].data[i] == '\n' ? i + 1 : line;
    if (strcmp(texts[0].data, texts[1].data) != 0)
        combo_fail(combo, "%s: in the store that has all\n%.*s\nbut in the plain one\n%.*s", what,
                   (int)strcspn(texts[0].data + line, "\n"), texts[0].data + line,
                   (int)strcspn(texts[1].data + line, "\n"), texts[1].data + line);
    free(texts[0].data);
    free(texts[1].data);
}

static void compare_searches(struct combo *combo)
{
    static const char *const asked[] = {"rain", "sun caf\u00e9", "\u5199\u4e2d", "\u30fc\u30bf", "secret 42",
                                        "w7",   "each"};
    const char *const words = pick(combo, asked, sizeof asked / sizeof asked[0]);
    const ses_key one = any_key(combo);
    const size_t parts = random_below(&combo->seed, 2);
    const ses_key scope = {"app", parts ? one.user : NULL, NULL};
    const unsigned flags = (unsigned)random_below(&combo->seed, 2) * SES_SEARCH_LIVE |
                           (random_below(&combo->seed, 3) == 0 ? SES_SEARCH_ANY : 0U);
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};

    for (int i = 0; i < 2; i++) {
        text_add(&texts[i], "", 0);
        hits_of(combo, combo->stores[i], &scope, words, flags, &texts[i]);
    }
    compare_texts_of(combo, words, texts);
}

static void compare_usage(struct combo *combo)
{
    const unsigned flags = (unsigned)random_below(&combo->seed, 64);
    const int64_t since_us = combo->now - 3000000;
    const int64_t *const since = random_below(&combo->seed, 2) ? &since_us : NULL;
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};

    for (int i = 0; i < 2; i++) {
        text_add(&texts[i], "", 0);
        usage_of(combo, combo->stores[i], flags, since, &texts[i]);
    }
    compare_texts_of(combo, "usage", texts);
}

/* Damage is nothing else's. */
static void compare_checks(struct combo *combo)
{
    char *of_plain = problems_of(combo->stores[1], SES_CHECK_LOG);
    char *problems = problems_of(combo->stores[0], SES_CHECK_LOG);

    if (*of_plain)
        combo_fail(combo, "the plain store: %s", of_plain);
    if (*problems && !combo->is_damaged)
        combo_fail(combo, "the store that has all: %s", problems);
    free(problems);
    free(of_plain);
}

/* The calls that are made do not depend on how often that is done. */
static void compare(struct combo *combo)
{
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};
    const uint64_t seed = combo->seed;

    compare_searches(combo);
    compare_usage(combo);
    compare_checks(combo);
    for (int i = 0; i < 2; i++)
        texts[i].data = lines_of(combo->stores[i], true);
    compare_texts_of(combo, "export", texts);
    combo->seed = seed;
}

/* --------------------------------------------------------------------------------------------- the rounds */

static const struct step {
    const char *name;
    void (*run)(struct combo *combo);
    size_t often;
} steps[] = {
    {"create", create, 8},    {"append", append_one, 8}, {"batch", append_batch, 14},
    {"rewind", rewind_it, 5}, {"redo", redo, 3},         {"fork", fork_it, 5},
    {"cut", cut, 4},          {"pop", pop, 3},           {"prune", prune, 4},
    {"expire", expire, 2},    {"delete", delete_it, 3},  {"delete user", delete_user, 1},
    {"redact", redact, 5},    {"import", import, 4},     {"keep lines", keep_lines, 3},
    {"load", load, 2},        {"index", index_it, 7},    {"artifact", save_artifact, 4},
    {"damage", damage, 4},    {"reopen", reopen, 2},
};

static void take_step(struct combo *combo)
{
    enum { COUNT = sizeof steps / sizeof steps[0] };
    size_t sum = 0;
    size_t at = 0;

    for (size_t i = 0; i < COUNT; i++)
        sum += steps[i].often;
    size_t drawn = random_below(&combo->seed, sum);
    while (drawn >= steps[at].often)
        drawn -= steps[at++].often;
    combo->now += 1000000;
    combo->call = steps[at].name;
    steps[at].run(combo);
}

static void run_round(uint64_t seed)
{
    struct combo combo = {
        .folder = support_folder_make(), .now = 1700000000000000, .seed = seed, .first_seed = seed};

    combo.options = (ses_open_options){.size = sizeof combo.options,
                                       .clock = support_clock,
                                       .clock_context = &combo.now,
                                       .make_id = make_id,
                                       .make_id_context = &combo,
                                       .synchronous = SES_SYNC_NORMAL};
    combo.paths[0] = support_path(combo.folder, "all.db");
    combo.paths[1] = support_path(combo.folder, "plain.db");
    open_both(&combo);
    for (combo.step = 1; combo.step <= STEPS; combo.step++) {
        take_step(&combo);
        if (combo.step % COMPARED_EVERY == 0)
            compare(&combo);
    }
    close_both(&combo);
    free(combo.lines);
    free(combo.paths[0]);
    free(combo.paths[1]);
    support_folder_remove(combo.folder);
}

PLAIN_TEST(the_same_with_and_without)
{
    const char *const seed = getenv("SESLITE_COMBO_SEED");
    const char *const rounds = getenv("SESLITE_COMBO_ROUNDS");
    const uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    const int count = rounds ? atoi(rounds) : 20;

    support_need_file();
    for (int i = 0; i < count; i++)
        run_round(first + (uint64_t)i);
    support_figure("steps", (long)count * STEPS);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
