/* The state that a handle shows, held against a plain array of keys. */
#include "model/state/state.h"

#include "random.h"

enum { MOST_KEYS = 64, NAME_ROOM = 16 };

struct pair {
    char name[NAME_ROOM];
    char value[NAME_ROOM];
};

/* The same, as simply as can be. */
struct plain {
    struct pair pairs[MOST_KEYS];
    size_t count;
};

struct subject {
    ses_allocator allocator;
    struct state state;
    struct plain plain;
};

static int subject_setup(void **state)
{
    struct subject *subject = calloc(1, sizeof *subject);
    const struct hash_seed seed = {{1, 2}};
    ses_error error;

    assert_non_null(subject);
    ses__memory_default(&subject->allocator);
    assert_ok(ses__state_init(&subject->state, &subject->allocator, seed, &error));
    *state = subject;
    return 0;
}

static int subject_teardown(void **state)
{
    struct subject *subject = *state;

    ses__state_free(&subject->state);
    free(subject);
    return 0;
}

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* ------------------------------------------------------------------------------------- the plain array */

static struct pair *plain_find(struct plain *plain, const char *name)
{
    for (size_t i = 0; i < plain->count; i++) {
        if (strcmp(plain->pairs[i].name, name) == 0)
            return &plain->pairs[i];
    }
    return NULL;
}

/* `value` NULL: takes it away. */
static void plain_set(struct plain *plain, const char *name, const char *value)
{
    struct pair *pair = plain_find(plain, name);

    if (!pair && value) {
        assert_true(plain->count < MOST_KEYS);
        pair = &plain->pairs[plain->count++];
        strcpy(pair->name, name);
    }
    if (pair && value)
        strcpy(pair->value, value);
    else if (pair)
        *pair = plain->pairs[--plain->count];
}

static enum scope scope_of(const char *name)
{
    return ses__scope_of(span_of(name), NULL);
}

static void plain_clear(struct plain *plain, enum scope scope)
{
    for (size_t i = plain->count; i-- > 0;) {
        if (scope_of(plain->pairs[i].name) == scope)
            plain->pairs[i] = plain->pairs[--plain->count];
    }
}

/* By scope, then by name. */
static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left;
    const struct pair *b = right;
    int order = (int)scope_of(a->name) - (int)scope_of(b->name);

    return order != 0 ? order : strcmp(a->name, b->name);
}

static void plain_to_json(struct plain *plain, char *json)
{
    qsort(plain->pairs, plain->count, sizeof plain->pairs[0], compare_pairs);
    char *to = stpcpy(json, "{");
    for (size_t i = 0; i < plain->count; i++)
        to += sprintf(to, "%s\"%s\":%s", i ? "," : "", plain->pairs[i].name, plain->pairs[i].value);
    (void)stpcpy(to, "}");
}

static void assert_same(struct subject *subject)
{
    char expected[MOST_KEYS * (2 * NAME_ROOM + 4) + 3];
    struct plain *plain = &subject->plain;
    struct span json;
    ses_error error;

    plain_to_json(plain, expected);
    assert_int_equal(ses__state_count(&subject->state), plain->count);
    assert_ok(ses__state_to_json(&subject->state, &json, &error));
    assert_string_equal(json.ptr, expected);
    assert_int_equal(json.len, strlen(expected));
    struct state_entry *const *sorted = ses__state_sorted(&subject->state);
    for (size_t i = 0; i < plain->count; i++) {
        struct state_entry *entry = ses__state_find(&subject->state, span_of(plain->pairs[i].name));
        assert_non_null(entry);
        assert_ptr_equal(sorted[i], entry);
        assert_string_equal(ses__state_entry_span(entry).ptr, plain->pairs[i].name);
        assert_string_equal(ses__state_entry_value(entry).ptr, plain->pairs[i].value);
    }
}

/* --------------------------------------------------------------------------------- random operations */

static void random_name(uint64_t *seed, char *name)
{
    static const char *const prefixes[] = {"app:", "user:", "", "temp:"};
    sprintf(name, "%s%zu", prefixes[random_below(seed, 4)], random_below(seed, MOST_KEYS / 4));
}

/* A delta of some keys, with some removals; `texts` keeps its names and values. */
static void random_delta(uint64_t *seed, struct subject *subject, struct delta *delta, struct pair *texts,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        random_name(seed, texts[i].name);
        sprintf(texts[i].value, "%zu", random_below(seed, 1000));
        const char *value = random_below(seed, 3) == 0 ? Q("'" TOMBSTONE "'") : texts[i].value;
        assert_true(ses__delta_add(delta, &subject->allocator,
                                   ses__delta_op(span_of(texts[i].name), span_of(value))));
    }
}

/* Stages it, applies it or not, in whole or in two pieces. */
static void change(uint64_t *seed, struct subject *subject)
{
    struct state *state = &subject->state;
    struct delta delta = {NULL, 0, 0};
    struct state_changes changes = {0};
    struct pair texts[8];
    enum scope from = (enum scope)random_below(seed, SCOPE_COUNT);
    size_t applied;
    ses_error error;

    random_delta(seed, subject, &delta, texts, random_below(seed, 8) + 1);
    assert_ok(ses__state_stage(state, &delta, from, SCOPE_TEMP, &changes, &error));
    assert_ok(ses__state_reserve(state, &changes, &error));
    assert_same(subject); /* nothing has changed yet */
    applied = random_below(seed, 4) == 0 ? random_below(seed, changes.count + 1) : changes.count;
    if (applied == changes.count) {
        ses__state_apply(state, &changes);
    } else {
        ses__state_apply_some(state, &changes, 0, applied);
        ses__state_changes_free(state, &changes);
    }
    for (size_t i = 0; i < delta.count && applied > 0; i++) {
        if (delta.ops[i].scope >= from) {
            plain_set(&subject->plain, texts[i].name, delta.ops[i].removes ? NULL : texts[i].value);
            applied--;
        }
    }
    ses__delta_free(&delta, &subject->allocator);
}

/* Loads a scope anew, or begins to. */
static void reload(uint64_t *seed, struct subject *subject)
{
    enum scope scope = (enum scope)random_below(seed, SCOPE_COUNT);
    bool whole = random_below(seed, 3) > 0;
    struct state_loading loading;
    ses_error error;

    if (whole)
        plain_clear(&subject->plain, scope);
    assert_ok(ses__state_load_begin(&loading, &subject->state, scope, &error));
    for (size_t i = random_below(seed, 4); i < MOST_KEYS / 4; i += 1 + random_below(seed, 5)) {
        char key[NAME_ROOM];
        char name[NAME_ROOM * 2];
        sprintf(key, "%zu", i);
        sprintf(name, "%.5s%s", ses__scope_prefix(scope).ptr, key);
        assert_ok(ses__state_load_put(&loading, span_of(key), span_of(Q("'new'")), &error));
        if (whole)
            plain_set(&subject->plain, name, "\"new\"");
    }
    ses__state_load_end(&loading, whole);
}

#define SUBJECT_TEST(name) TEST_WITH(struct subject *subject, subject_setup, subject_teardown, name)

SUBJECT_TEST(random_operations)
{
    enum { ROUNDS = 5000 };
    uint64_t seed = 9;

    for (int round = 0; round < ROUNDS; round++) {
        size_t what = random_below(&seed, 10);
        if (what == 0) {
            enum scope scope = (enum scope)random_below(&seed, SCOPE_COUNT);
            ses__state_clear(&subject->state, scope);
            plain_clear(&subject->plain, scope);
        } else if (what == 1) {
            reload(&seed, subject);
        } else {
            change(&seed, subject);
        }
        assert_same(subject);
    }
}

SUBJECT_TEST(many_keys)
{
    enum { KEYS = 5000 };
    struct state_loading loading;
    char name[NAME_ROOM];

    assert_ok(ses__state_load_begin(&loading, &subject->state, SCOPE_USER, &error));
    for (int i = 0; i < KEYS; i++) {
        sprintf(name, "%d", i);
        assert_ok(ses__state_load_put(&loading, span_of(name), span_of(name), &error));
    }
    ses__state_load_end(&loading, true);
    assert_int_equal(ses__state_count(&subject->state), KEYS);
    for (int i = 0; i < KEYS; i++) {
        sprintf(name, "user:%d", i);
        assert_string_equal(ses__state_entry_value(ses__state_find(&subject->state, span_of(name))).ptr,
                            name + 5);
        sprintf(name, "%d", i);
        assert_null(ses__state_find(&subject->state, span_of(name)));
    }
}

/* ------------------------------------------------------------------------------- what others have written */

static void load_one(struct state *state, enum scope scope, const char *key, const char *value)
{
    struct state_loading loading;
    ses_error error;

    assert_ok(ses__state_load_begin(&loading, state, scope, &error));
    assert_ok(ses__state_load_put(&loading, span_of(key), span_of(value), &error));
    ses__state_load_end(&loading, true);
}

SUBJECT_TEST(broken_rules_are_found_when_shown)
{
    static const struct {
        enum scope scope;
        const char *key;
        const char *value;
        const char *words;
    } cases[] = {
        {SCOPE_SESSION, "a", "{", "\"a\" is not JSON (at byte 1"},
        {SCOPE_SESSION, "a", "", "\"a\" is not JSON (at byte 0"},
        {SCOPE_APP, "a", "1 2", "\"app:a\" is not JSON"},
        {SCOPE_SESSION, "app:a", "1", "prefix is that of another scope"},
        {SCOPE_SESSION, "temp:a", "1", "prefix is that of another scope"},
        {SCOPE_USER, "\xFF", "1", "is not valid UTF-8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span json;
        load_one(&subject->state, cases[i].scope, cases[i].key, cases[i].value);
        assert_code(SES_CORRUPT, ses__state_to_json(&subject->state, &json, &error));
        assert_message(cases[i].words);
        assert_code(SES_CORRUPT, ses__state_entry_check(ses__state_sorted(&subject->state)[0], &error));
        ses__state_clear(&subject->state, cases[i].scope);
        assert_ok(ses__state_to_json(&subject->state, &json, &error));
        assert_string_equal(json.ptr, "{}");
    }
}

SUBJECT_TEST(a_key_that_comes_twice_is_corrupt)
{
    struct state_loading loading;

    load_one(&subject->state, SCOPE_APP, "kept", "1");
    assert_ok(ses__state_load_begin(&loading, &subject->state, SCOPE_APP, &error));
    assert_ok(ses__state_load_put(&loading, span_of("a"), span_of("1"), &error));
    assert_code(SES_CORRUPT, ses__state_load_put(&loading, span_of("a"), span_of("2"), &error));
    assert_message("\"a\" appears twice");
    ses__state_load_end(&loading, false);
    assert_int_equal(ses__state_count(&subject->state), 1);
    assert_non_null(ses__state_find(&subject->state, span_of("app:kept")));
}

/* ------------------------------------------------------------------------------------- sharing, texts */

SUBJECT_TEST(a_scope_can_be_shared)
{
    struct state other;

    load_one(&subject->state, SCOPE_APP, "a", "1");
    assert_ok(ses__state_init(&other, &subject->allocator, subject->state.seed, &error));
    load_one(&other, SCOPE_APP, "gone", "1");
    load_one(&other, SCOPE_USER, "b", "2");
    ses__state_share(&other, &subject->state, SCOPE_APP);
    assert_int_equal(ses__state_count(&other), 2);
    assert_ptr_equal(ses__state_find(&other, span_of("app:a")),
                     ses__state_find(&subject->state, span_of("app:a")));
    load_one(&subject->state, SCOPE_APP, "anew", "1"); /* the other keeps what it shows */
    assert_non_null(ses__state_find(&other, span_of("app:a")));
    assert_null(ses__state_find(&other, span_of("app:anew")));
    ses__state_free(&other);
}

SUBJECT_TEST(the_text_of_a_string_is_made_once)
{
    load_one(&subject->state, SCOPE_SESSION, "s", Q("'a\\u0000\\n'"));
    struct state_entry *entry = ses__state_find(&subject->state, span_of("s"));
    assert_ok(ses__state_entry_text(&subject->state, entry, &error));
    const char *text = entry->text;
    assert_int_equal(entry->text_len, 3);
    assert_memory_equal(text, "a\0\n", 4);
    assert_ok(ses__state_entry_text(&subject->state, entry, &error));
    assert_ptr_equal(entry->text, text);
    load_one(&subject->state, SCOPE_SESSION, "s", "7");
    entry = ses__state_find(&subject->state, span_of("s"));
    assert_code(SES_TYPE, ses__state_entry_text(&subject->state, entry, &error));
    load_one(&subject->state, SCOPE_SESSION, "s", Q("'\\uD800'"));
    entry = ses__state_find(&subject->state, span_of("s"));
    assert_code(SES_RANGE, ses__state_entry_text(&subject->state, entry, &error));
}
