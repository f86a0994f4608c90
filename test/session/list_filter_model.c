/*
 * Filtered lists against a plain array: every filter, order and page size, in an app that is large enough for
 * each way to find sessions; and walks in order of creation while sessions, labels and times change.
 */
#include "open.h"
#include "random.h"

#include <stdbool.h>

enum { SESSIONS = 14000, LABELS = 6 };

struct item {
    int64_t id;
    int64_t updated_us;
    int64_t changed_us;
    int user;
    char name[16];
    bool is_archived;
    unsigned kind;              /* SES_KIND_* */
    const char *values[LABELS]; /* NULL: it does not have that label */
};

static struct item items[SESSIONS];
static const char *const users[] = {"u0", "u1", "u2"};
static const char *const values[] = {"", "a", "b", "c", "d", "e", "f", "g"};

static const int64_t base_us = INT64_C(1700000000000000);
static const int64_t hour_us = INT64_C(3600000000);

/* Hours of very different sizes, and times that are the same. */
static int64_t random_time(uint64_t *seed)
{
    size_t hour = random_below(seed, 4) ? random_below(seed, 300) : random_below(seed, 3);
    return base_us + (int64_t)hour * hour_us + (int64_t)random_below(seed, 500) * 1000000;
}

static void make_item(struct item *item, int number, uint64_t *seed)
{
    *item = (struct item){.id = number + 1, .updated_us = random_time(seed), .changed_us = random_time(seed)};
    item->is_archived = random_below(seed, 3) == 0;
    item->kind = random_below(seed, 3) ? SES_KIND_CONVERSATION
                 : number % 3          ? SES_KIND_CHILD
                                       : SES_KIND_MEMORY;
    item->user = number % 50 == 0 ? 2 : number % 5 < 3 ? 0 : 1;
    snprintf(item->name, sizeof item->name, "%c%05d", 'a' + (char)random_below(seed, 5),
             (number * 7919) % SESSIONS);
    if (number % 2 == 0)
        item->values[0] = "half";
    if (random_below(seed, 10) == 0)
        item->values[1] = "tenth";
    if (random_below(seed, 700) == 0)
        item->values[2] = "rare";
    if (item->updated_us < base_us + 130 * hour_us) /* many, and all of them old */
        item->values[3] = "old";
    if (random_below(seed, 3) == 0)
        item->values[4] = values[random_below(seed, 8)];
    if (item->updated_us > base_us + 280 * hour_us || number > SESSIONS - 400)
        item->values[5] = "young";
}

static void write_item(FILE *out, const struct item *item)
{
    int details = (item->is_archived ? 8 : 0) + (item->kind == SES_KIND_CHILD ? 16 : 0) +
                  (item->kind == SES_KIND_MEMORY ? 32 : 0);
    if (item->kind == SES_KIND_CHILD)
        fprintf(
            out,
            "INSERT INTO session_details (session_id, child_user, child_session) VALUES (%lld, 'u', 's');",
            (long long)item->id);
    for (int i = 0; i < LABELS; i++) {
        if (item->values[i]) {
            details |= 4;
            fprintf(out, "INSERT INTO session_labels VALUES (%lld, 'l%d', '%s', 1);", (long long)item->id, i,
                    item->values[i]);
        }
    }
    fprintf(
        out,
        "INSERT INTO sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, "
        "event_count, details, changed_us) VALUES (%lld, 1, %d, '%s', 0, %lld, %lld, 0, 0, 0, %d, %lld);\n",
        (long long)item->id, item->user + 1, item->name, (long long)item->updated_us,
        (long long)(item->updated_us / 30000000 - (details & 56 ? INT64_C(1) << 34 : 0)), details,
        (long long)item->changed_us);
}

static int model_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    char *sql = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&sql, &size);
    uint64_t seed = 11;

    assert_non_null(out);
    fprintf(out, "PRAGMA foreign_keys = OFF; DROP TRIGGER guard_session_labels_insert;"
                 "DROP TRIGGER guard_sessions_insert;"
                 "DROP TRIGGER guard_session_details_insert; BEGIN;"
                 "INSERT INTO apps VALUES (1, 'app');"
                 "INSERT INTO users VALUES (1, 1, 'u0'), (2, 1, 'u1'), (3, 1, 'u2');\n");
    for (int i = 0; i < SESSIONS; i++) {
        make_item(&items[i], i, &seed);
        write_item(out, &items[i]);
    }
    fprintf(out, "COMMIT");
    assert_int_equal(fclose(out), 0);
    raw_exec(fixture->path, sql);
    free(sql);
    return failed;
}

/* ---------------------------------------------------------------------------------------------- the model */

struct question {
    int user; /* -1: all */
    int order;
    int label; /* -1: none */
    const char *value;
    const char *prefix;
    int64_t since_us; /* 0: none */
    int64_t before_us;
    int64_t changed_since_us;
    int64_t changed_before_us;
    int without;  /* one more than the number of the label; 0: none */
    int archived; /* SES_ARCHIVED_* */
    unsigned kinds;
};

static bool matches(const struct item *item, const struct question *question)
{
    const char *value = question->label >= 0 ? item->values[question->label] : "";

    return (question->user < 0 || item->user == question->user) && value &&
           (!question->value || strcmp(value, question->value) == 0) &&
           (!question->prefix || strncmp(item->name, question->prefix, strlen(question->prefix)) == 0) &&
           (!question->since_us || item->updated_us >= question->since_us) &&
           (!question->archived || item->is_archived == (question->archived == SES_ARCHIVED_ONLY)) &&
           (!question->kinds || (item->kind & question->kinds)) &&
           (!question->before_us || item->updated_us < question->before_us) &&
           (!question->changed_since_us || item->changed_us >= question->changed_since_us) &&
           (!question->changed_before_us || item->changed_us < question->changed_before_us) &&
           (!question->without || !item->values[question->without - 1]);
}

static int sorted_by;

static int compare_items(const void *left, const void *right)
{
    const struct item *a = *(const struct item *const *)left;
    const struct item *b = *(const struct item *const *)right;
    const int64_t a_us = sorted_by == SES_ORDER_CHANGED ? a->changed_us : a->updated_us;
    const int64_t b_us = sorted_by == SES_ORDER_CHANGED ? b->changed_us : b->updated_us;
    int names = strcmp(a->name, b->name);

    if (sorted_by == SES_ORDER_CREATED || (a_us == b_us && names == 0))
        return a->id < b->id ? -1 : 1;
    if (a_us == b_us)
        return names;
    return (a_us < b_us) == (sorted_by == SES_ORDER_OLDEST) ? -1 : 1;
}

static size_t answer(const struct question *question, const struct item **found)
{
    size_t count = 0;

    for (size_t i = 0; i < SESSIONS; i++) {
        if (matches(&items[i], question))
            found[count++] = &items[i];
    }
    sorted_by = question->order;
    qsort(found, count, sizeof *found, compare_items);
    return count;
}

struct names {
    char label[16];
    char without[16];
};

static ses_filter filter_of(const struct question *question, struct names *names)
{
    snprintf(names->label, sizeof names->label, "l%d", question->label);
    snprintf(names->without, sizeof names->without, "l%d", question->without - 1);
    return (ses_filter){.size = sizeof(ses_filter),
                        .label = question->label >= 0 ? names->label : NULL,
                        .label_value = question->value,
                        .id_prefix = question->prefix,
                        .updated_since_us = question->since_us ? &question->since_us : NULL,
                        .updated_before_us = question->before_us ? &question->before_us : NULL,
                        .changed_since_us = question->changed_since_us ? &question->changed_since_us : NULL,
                        .changed_before_us =
                            question->changed_before_us ? &question->changed_before_us : NULL,
                        .without_label = question->without ? names->without : NULL,
                        .archived = question->archived,
                        .kinds = question->kinds};
}

static void complain(const struct question *question, size_t limit, size_t at, const char *what)
{
    print_error("user %d order %d label %d value %s prefix %s from %lld to %lld, written from %lld to %lld, "
                "without %d, archived %d, kinds %x, %zu a page, at %zu: %s\n",
                question->user, question->order, question->label, question->value ? question->value : "-",
                question->prefix ? question->prefix : "-", (long long)question->since_us,
                (long long)question->before_us, (long long)question->changed_since_us,
                (long long)question->changed_before_us, question->without, question->archived,
                question->kinds, limit, at, what);
    fail();
}

/* At most so many pages. */
static void check_walk(ses_store *store, const struct question *question, size_t limit, int pages)
{
    static const struct item *expected[SESSIONS];
    const char *user = question->user >= 0 ? users[question->user] : NULL;
    const size_t count = answer(question, expected);
    struct names names;
    const ses_filter filter = filter_of(question, &names);
    ses_list_options options = {.size = sizeof options,
                                .order = question->order,
                                .limit = limit,
                                .filter = &filter,
                                .flags = SES_LIST_NO_STATE};
    char token[2200] = "";
    size_t at = 0;
    ses_error error;

    do {
        ses_page *page = NULL;
        options.token = token[0] ? token : NULL;
        assert_ok(ses_list(store, "app", user, &options, &page, &error));
        const size_t met = ses_page_count(page);
        if (met != (count - at < limit ? count - at : limit))
            complain(question, limit, at + met, "the page is too short or too long");
        for (size_t i = 0; i < met; i++, at++) {
            if (strcmp(ses_session_id(ses_page_session(page, i)), expected[at]->name) != 0)
                complain(question, limit, at, expected[at]->name);
        }
        snprintf(token, sizeof token, "%s", ses_page_token(page) ? ses_page_token(page) : "");
        if ((token[0] != '\0') != (at < count))
            complain(question, limit, at, "the token");
        ses_page_close(page);
    } while (token[0] && --pages > 0);

    int64_t counted = -1;
    assert_ok(ses_list_count(store, "app", user, &filter, NULL, &counted, &error));
    assert_int_equal(counted, count);
}

static void check_question(ses_store *store, const struct question *question)
{
    check_walk(store, question, 1000, 20);
    check_walk(store, question, 50, 4);
    check_walk(store, question, 3, 3);
}

TEST_OF(model_setup, every_filter_in_every_order)
{
    static const char *const of_label[LABELS][3] = {{"half", "no"}, {"tenth"},      {"rare"},
                                                    {"old"},        {"", "a", "g"}, {"young"}};

    for (int user = -1; user < 3; user++) {
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
            struct question question = {.user = user, .order = order, .label = -1};
            check_question(fixture->store, &question);
            question.archived = SES_ARCHIVED_NO;
            check_question(fixture->store, &question);
            question.archived = SES_ARCHIVED_ONLY;
            check_question(fixture->store, &question);
            question.archived = SES_ARCHIVED_NO;
            for (question.kinds = 1; question.kinds < 8; question.kinds++)
                check_question(fixture->store, &question);
            question.kinds = 0;
            question.archived = SES_ARCHIVED_ANY;
            for (question.label = 0; question.label < LABELS; question.label++) {
                question.value = NULL;
                check_question(fixture->store, &question);
                for (int i = 0; i < 3 && of_label[question.label][i]; i++) {
                    question.value = of_label[question.label][i];
                    check_question(fixture->store, &question);
                }
            }
        }
    }
}

TEST_OF(model_setup, filters_that_are_combined)
{
    uint64_t seed = 5;

    for (int i = 0; i < 300; i++) {
        struct question question = {.user = (int)random_below(&seed, 4) - 1,
                                    .order = (int)random_below(&seed, 4),
                                    .label = (int)random_below(&seed, LABELS + 1) - 1};
        if (random_below(&seed, 3))
            question.since_us = random_time(&seed);
        if (random_below(&seed, 3))
            question.before_us = random_time(&seed);
        if (question.user >= 0 && random_below(&seed, 2) == 0)
            question.prefix = random_below(&seed, 2) ? "c" : "b01";
        if (question.label == 4 && random_below(&seed, 2) == 0)
            question.value = values[random_below(&seed, 8)];
        if (random_below(&seed, 4) == 0)
            question.changed_since_us = random_time(&seed);
        if (random_below(&seed, 4) == 0)
            question.changed_before_us = random_time(&seed);
        if (random_below(&seed, 4) == 0)
            question.without = 1 + (int)random_below(&seed, LABELS);
        question.archived = (int)random_below(&seed, 3);
        question.kinds = (unsigned)random_below(&seed, 8);
        check_walk(fixture->store, &question, 1 + random_below(&seed, 200), 5);
    }
}

/* ---------------------------------------------------------------------------------------------- changes */

enum { LASTING = 40 };

static void change_something(struct fixture *fixture, uint64_t *seed, int step)
{
    static const ses_label other = {"other", "x"};
    static const ses_label label = {"l", "v"};
    char name[24];
    const ses_key key = {"app", random_below(seed, 2) ? "u0" : "u1", name};
    const ses_create_options options = {.size = sizeof options, .labels = &label, .label_count = 1};
    ses_error error;

    fixture->now += (int64_t)random_below(seed, 2) * hour_us;
    snprintf(name, sizeof name, "new%d", step);
    if (random_below(seed, 3) == 0) /* slower than the walk, which would not end */
        assert_ok(ses_create(fixture->store, &key, NULL, 0, &options, NULL, &error));
    snprintf(name, sizeof name, "new%d", (int)random_below(seed, (size_t)step + 1));
    (void)ses_delete(fixture->store, &key, NULL, NULL, &error);
    snprintf(name, sizeof name, "s%d", (int)random_below(seed, LASTING));
    if (ses_labels_set_by_key(fixture->store, &key, &other, 1, NULL, &error) == SES_OK)
        must_append_by_key(fixture->store, &key, "{}");
    snprintf(name, sizeof name, "gone%d", (int)random_below(seed, LASTING));
    (void)ses_labels_set_by_key(fixture->store, &key, &(ses_label){"l", NULL}, 1, NULL, &error);
}

TEST(in_order_of_creation_lasting_sessions_come_once)
{
    static const ses_label label = {"l", "v"};
    const ses_create_options create = {.size = sizeof create, .labels = &label, .label_count = 1};
    uint64_t seed = 3;
    int step = 0;

    for (int i = 0; i < LASTING; i++) {
        char name[24];
        const ses_key key = {"app", i % 2 ? "u0" : "u1", name};
        snprintf(name, sizeof name, "s%d", i);
        assert_ok(ses_create(fixture->store, &key, NULL, 0, &create, NULL, &error));
        snprintf(name, sizeof name, "gone%d", i);
        assert_ok(ses_create(fixture->store, &key, NULL, 0, &create, NULL, &error));
    }
    for (int round = 0; round < 20; round++) {
        const char *user = round % 3 == 0 ? NULL : round % 3 == 1 ? "u0" : "u1";
        const ses_filter filter = {
            .size = sizeof filter, .label = "l", .label_value = round % 2 ? "v" : NULL};
        ses_list_options options = {.size = sizeof options,
                                    .order = SES_ORDER_CREATED,
                                    .filter = &filter,
                                    .limit = 1 + random_below(&seed, 7)};
        char token[2200] = "";
        int seen[LASTING] = {0};
        do {
            ses_page *page = NULL;
            options.token = token[0] ? token : NULL;
            assert_ok(ses_list(fixture->store, "app", user, &options, &page, &error));
            for (size_t i = 0; i < ses_page_count(page); i++) {
                const ses_session *session = ses_page_session(page, i);
                int number = 0;
                assert_string_equal(ses_session_label_value(session, "l"), "v");
                if (sscanf(ses_session_id(session), "s%d", &number) == 1)
                    seen[number]++;
            }
            snprintf(token, sizeof token, "%s", ses_page_token(page) ? ses_page_token(page) : "");
            ses_page_close(page);
            change_something(fixture, &seed, step++);
        } while (token[0]);
        for (int i = 0; i < LASTING; i++)
            assert_int_equal(seen[i], !user || strcmp(user, i % 2 ? "u0" : "u1") == 0);
    }
}
