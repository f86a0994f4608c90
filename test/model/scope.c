/* State keys, the deltas that change them, and what an append expects of them. */
#include "model/state/scope.h"

#include "model/state/delta.h"
#include "random.h"

#define TOMBSTONE_JSON "'" TOMBSTONE "'"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void assert_span(struct span span, const char *expected)
{
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.ptr, expected, span.len);
}

/* -------------------------------------------------------------------------------------------- scopes */

PLAIN_TEST(the_prefix_tells_the_scope)
{
    static const struct {
        const char *name;
        enum scope scope;
        const char *key;
    } cases[] = {
        {"app:x", SCOPE_APP, "x"},
        {"user:x", SCOPE_USER, "x"},
        {"temp:x", SCOPE_TEMP, "x"},
        {"x", SCOPE_SESSION, "x"},
        {"app:", SCOPE_APP, ""},
        {"", SCOPE_SESSION, ""},
        {"app", SCOPE_SESSION, "app"},
        {"App:x", SCOPE_SESSION, "App:x"},
        {":x", SCOPE_SESSION, ":x"},
        {"app:user:x", SCOPE_APP, "user:x"},
        {"user", SCOPE_SESSION, "user"},
        {"useR:x", SCOPE_SESSION, "useR:x"},
        {"temper", SCOPE_SESSION, "temper"},
        {" app:x", SCOPE_SESSION, " app:x"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span key;
        assert_int_equal(ses__scope_of(span_of(cases[i].name), &key), cases[i].scope);
        assert_span(key, cases[i].key);
        assert_int_equal(ses__scope_of(span_of(cases[i].name), NULL), cases[i].scope);
        assert_int_equal(ses__scope_is_shared(cases[i].scope),
                         cases[i].scope == SCOPE_APP || cases[i].scope == SCOPE_USER);
        assert_int_equal(ses__scope_prefix(cases[i].scope).len + key.len, strlen(cases[i].name));
    }
}

PLAIN_TEST(names_obey_the_rules)
{
    char longest[5 + SES_ID_MAX + 2] = "user:";

    memset(longest + 5, 'x', SES_ID_MAX + 1);
    assert_ok(ses__scope_check_name((struct span){longest, 5 + SES_ID_MAX}, &error));
    assert_code(SES_INVALID, ses__scope_check_name((struct span){longest, 5 + SES_ID_MAX + 1}, &error));
    assert_message("513 bytes after its prefix");
    assert_ok(ses__scope_check_name((struct span){longest + 5, SES_ID_MAX}, &error));
    assert_ok(ses__scope_check_name((struct span){"", 0}, &error));
    assert_ok(ses__scope_check_name(span_of(Q("\xC3\xA9 '{}\n")), &error));
    assert_code(SES_INVALID, ses__scope_check_name((struct span){"a\0b", 3}, &error));
    assert_message("NUL");
    assert_code(SES_INVALID, ses__scope_check_name(span_of("app:\xFF"), &error));
    assert_message("UTF-8");
}

PLAIN_TEST(the_tombstone_however_it_is_spelled)
{
    assert_true(ses__scope_is_tombstone(span_of(Q(TOMBSTONE_JSON))));
    assert_false(ses__scope_is_tombstone(span_of(Q("'\\u005f_ADK_SENTINEL_REMOVED__'"))));
    assert_false(ses__scope_is_tombstone(span_of(Q("'__ADK_SENTINEL_REMOVED_'"))));
    assert_false(ses__scope_is_tombstone(span_of(Q("'__ADK_SENTINEL_REMOVED__ '"))));
    assert_false(ses__scope_is_tombstone(span_of(Q("['__ADK_SENTINEL_REMOVED__']"))));
    assert_false(ses__scope_is_tombstone(span_of(Q("''"))));
    assert_false(ses__scope_is_tombstone(span_of("7")));
}

/* -------------------------------------------------------------------------------------------- deltas */

struct reading {
    ses_allocator allocator;
    struct arena arena;
    struct delta delta;
    struct edits edits;
    struct changes beside;
};

static void reading_start(struct reading *reading)
{
    *reading = (struct reading){.delta = {NULL, 0, 0}};
    ses__memory_default(&reading->allocator);
    ses__arena_init(&reading->arena, &reading->allocator);
    ses__changes_init(&reading->beside, &reading->allocator);
}

static void reading_end(struct reading *reading)
{
    ses__delta_free(&reading->delta, &reading->allocator);
    ses__edits_free(&reading->edits, &reading->allocator);
    ses__arena_free(&reading->arena);
    ses__changes_free(&reading->beside);
}

/* Returns the rest of the delta `text` when there are these changes beside it. `beside` NULL: none. */
static const char *merged(struct reading *reading, const char *text, const char *beside)
{
    struct json_reader json;
    size_t len = 0;
    ses_error error;

    reading_start(reading);
    if (beside)
        assert_ok(
            ses__delta_read_text(span_of(beside), 0, &reading->beside.arena, &reading->beside.delta, &error));
    assert_ok(ses__changes_settle(&reading->beside, &error));
    ses__json_start(&json, text, strlen(text));
    assert_ok(ses__delta_merge(&json, &reading->arena, beside ? &reading->beside : NULL, &reading->delta,
                               &reading->edits, &error));
    assert_true(ses__json_finish(&json));
    const char *kept = ses__edits_apply(&reading->edits, &reading->arena, span_of(text), &len);
    assert_int_equal(strlen(kept), len);
    assert_int_equal(ses__json_check(kept, len, NULL), SES_OK);
    return kept;
}

PLAIN_TEST(a_delta_is_read_in_the_order_of_its_text)
{
    struct reading reading;

    (void)merged(&reading, Q("{'b':1,'app:\\u0061':[1, 2],'b':" TOMBSTONE_JSON ",'temp:t':{}}"), NULL);
    assert_int_equal(reading.delta.count, 4);
    assert_span(reading.delta.ops[0].key, "b");
    assert_span(reading.delta.ops[0].value, "1");
    assert_int_equal(reading.delta.ops[1].scope, SCOPE_APP);
    assert_string_equal(reading.delta.ops[1].name.ptr, "app:a");
    assert_span(reading.delta.ops[1].key, "a");
    assert_span(reading.delta.ops[1].value, "[1, 2]");
    assert_false(reading.delta.ops[1].removes);
    assert_true(reading.delta.ops[2].removes);
    assert_int_equal(reading.delta.ops[3].scope, SCOPE_TEMP);
    reading_end(&reading);
}

PLAIN_TEST(the_kept_part_of_a_delta)
{
    static const struct {
        const char *text;
        const char *beside;
        const char *kept;
    } cases[] = {
        {"{}", NULL, "{}"},
        {"{ }", NULL, "{ }"},
        {"{'a':1, 'b':2}", NULL, "{'a':1, 'b':2}"},
        /* temp: keys are cut out, with one comma */
        {"{'temp:t':1}", NULL, "{}"},
        {"{ 'temp:t':1 }", NULL, "{  }"},
        {"{'temp:t':1,'a':1}", NULL, "{'a':1}"},
        {"{'a':1,'temp:t':1}", NULL, "{'a':1}"},
        {"{'a':1,'temp:t':1,'temp:u':[1,2],'b':2}", NULL, "{'a':1,'b':2}"},
        {"{'a':1 , 'temp:t':1 , 'b':2}", NULL, "{'a':1 , 'b':2}"},
        {"{'temp:t':1,'a':1,'temp:t':2}", NULL, "{'a':1}"},
        /* changes beside it go to its end, and win */
        {"{}", "{'x':1}", "{'x':1}"},
        {"{ }", "{'x':1}", "{ 'x':1}"},
        {"{'a':1}", "{'x':1,'y':2}", "{'a':1,'x':1,'y':2}"},
        {"{'a':1}", "{'a':2}", "{'a':2}"},
        {"{'a':1,'b':1,'a':3}", "{'a':2}", "{'b':1,'a':2}"},
        {"{'b':1,'a':1}", "{'a':2,'a':3}", "{'b':1,'a':3}"},
        {"{'\\u0061':1}", "{'a':2}", "{'a':2}"},
        {"{'a':1}", "{'temp:t':2}", "{'a':1}"},
        {"{'temp:t':1}", "{'temp:t':2}", "{}"},
        {"{'temp:t':1,'a':1}", "{'a':2,'temp:u':1}", "{'a':2}"},
        {"{'a':1}", "{'a':" TOMBSTONE_JSON "}", "{'a':" TOMBSTONE_JSON "}"},
        {"{'a':1}", "{ 'x' : [ 1 , 2 ] }", "{'a':1,'x':[ 1 , 2 ]}"},
        {"{'a':1}", "{}", "{'a':1}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading reading;
        const char *beside = cases[i].beside ? Q(cases[i].beside) : NULL;
        const char *text = Q(cases[i].text);
        assert_string_equal(merged(&reading, text, beside), Q(cases[i].kept));
        reading_end(&reading);
    }
}

PLAIN_TEST(deltas_that_are_refused)
{
    static const struct {
        const char *text;
        int code;
        int64_t offset;
    } cases[] = {
        {"{'a':1,'\\uD800':1}", SES_INVALID, 7},
        {"{'a':1,'app:\\u0000':1}", SES_INVALID, 7},
        {"{'a':}", SES_JSON, 5},
        {"{'a':1", SES_JSON, 6},
        {"[]", SES_INVALID, 0},
        {"{} {}", SES_JSON, 3},
        {"nul", SES_JSON, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading reading;
        reading_start(&reading);
        assert_code(cases[i].code, ses__delta_read_text(span_of(Q(cases[i].text)), 0, &reading.arena,
                                                        &reading.delta, &error));
        assert_int_equal(error.offset, cases[i].offset);
        reading_end(&reading);
    }
}

/* Some names in any order, some of them in both, some twice: the last of each counts, and those beside
 * win. */
PLAIN_TEST(random_merges_keep_the_last_value_of_each_name)
{
    enum { ROUNDS = 5000, NAMES = 6 };
    static const char *const names[NAMES] = {"a", "b", "app:c", "user:d", "temp:e", "temp:f"};
    uint64_t seed = 6;

    for (int round = 0; round < ROUNDS; round++) {
        char texts[2][512];
        int last[NAMES] = {0};
        struct reading reading;
        int value = 0;
        for (int beside = 0; beside < 2; beside++) {
            char *to = stpcpy(texts[beside], "{");
            for (size_t i = random_below(&seed, 8); i > 0; i--) {
                size_t name = random_below(&seed, NAMES);
                last[name] = ++value;
                to += sprintf(to, "%s\"%s\":%d", to[-1] == '{' ? "" : ",", names[name], value);
            }
            (void)stpcpy(to, "}");
        }
        const char *kept = merged(&reading, texts[0], texts[1]);
        struct reading again;
        (void)merged(&again, kept, NULL);
        int found[NAMES] = {0};
        for (size_t i = 0; i < again.delta.count; i++) {
            for (size_t name = 0; name < NAMES; name++) {
                if (strcmp(again.delta.ops[i].name.ptr, names[name]) == 0)
                    found[name] = atoi(again.delta.ops[i].value.ptr);
            }
        }
        for (size_t name = 0; name < NAMES; name++)
            assert_int_equal(found[name], strncmp(names[name], "temp:", 5) == 0 ? 0 : last[name]);
        reading_end(&again);
        reading_end(&reading);
    }
}

/* ------------------------------------------------------------------------------------------- expected */

PLAIN_TEST(only_shared_keys_can_be_expected)
{
    ses_allocator allocator;
    struct changes expected;

    ses__memory_default(&allocator);
    ses__changes_init(&expected, &allocator);
    assert_ok(ses__expected_read(&expected, span_of(Q("{'app:a':1,'user:b':" TOMBSTONE_JSON "}")), &error));
    assert_int_equal(expected.delta.count, 2);
    assert_false(expected.delta.ops[0].removes);
    assert_true(expected.delta.ops[1].removes);
    assert_code(SES_INVALID, ses__expected_read(&expected, span_of(Q("{'a':1}")), &error));
    assert_message("\"a\" is not shared");
    assert_int_equal(error.offset, -1);
    ses__changes_free(&expected);
}
