/* Objects with known fields, and edits of a text that is kept otherwise. */
#include "json/object.h"

#include "json/writer.h"
#include "random.h"

struct thing {
    struct arena arena;
    struct span name;
    struct span list;
    bool flag;
    int names_read;
};

static int read_name(void *context, const struct json_found *found, ses_error *error)
{
    struct thing *thing = context;
    struct span null;

    thing->names_read++;
    return found->type == JSON_NULL ? ses__json_read_value(&null, found, error)
                                    : ses__json_take_text(found, &thing->arena, &thing->name, error);
}

static int read_list(void *context, const struct json_found *found, ses_error *error)
{
    struct thing *thing = context;
    return ses__json_read_value(&thing->list, found, error);
}

static int read_flag(void *context, const struct json_found *found, ses_error *error)
{
    struct thing *thing = context;
    return ses__json_read_bool(&thing->flag, found, error);
}

static int read_never(void *context, const struct json_found *found, ses_error *error)
{
    (void)context;
    return ses__json_must_be(found, "left out", error);
}

static const struct json_object fields = {
    "the thing",
    "in.",
    JSON_FIELDS(
        {"name", "theName", JSON_MAY_BE(JSON_STRING) | JSON_MAY_BE(JSON_NULL), read_name, NULL},
        {"list", NULL, JSON_MAY_BE(JSON_ARRAY) | JSON_MAY_BE(JSON_OBJECT), read_list, "a list of some kind"},
        {"flag", NULL, JSON_MAY_BE(JSON_BOOL), read_flag, NULL},
        {"never", NULL, JSON_MAY_BE(JSON_NUMBER), read_never, NULL}),
};

static int read_thing(struct thing *thing, const char *text, ses_error *error)
{
    static ses_allocator allocator;

    ses__memory_default(&allocator);
    *thing = (struct thing){.name = {NULL, 0}};
    ses__arena_init(&thing->arena, &allocator);
    return ses__json_read_whole((struct span){text, strlen(text)}, &fields, thing, error);
}

static void assert_span(struct span span, const char *expected)
{
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.ptr, expected, span.len);
}

PLAIN_TEST(fields_are_found_in_any_order_and_spelling)
{
    static const char *const texts[] = {
        "{'name':'N','list':[1,{'name':2}],'flag':true}",
        " { 'flag' : true , 'other' : { 'name' : 7 } , 'list' : [1,{'name':2}] , 'theName' : 'N' } ",
        "{'theName':'N','Name':1,'names':1,'nam':1,'':1,'list':[1,{'name':2}],'flag':true}",
        "{'fl\\u0061g':true,'n\\u0061me':'\\u004E','list':[1,{'name':2}]}",
    };
    struct thing thing;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_ok(read_thing(&thing, Q(texts[i]), &error));
        assert_span(thing.name, "N");
        assert_span(thing.list, Q("[1,{'name':2}]"));
        assert_true(thing.flag);
        ses__arena_free(&thing.arena);
    }
}

PLAIN_TEST(a_null_is_absent_unless_the_field_reads_it)
{
    struct thing thing;

    assert_ok(read_thing(&thing, Q("{'name':null,'list':null,'flag':null,'never':null}"), &error));
    assert_null(thing.name.ptr);
    assert_null(thing.list.ptr);
    assert_int_equal(thing.names_read, 1);
    ses__arena_free(&thing.arena);
}

PLAIN_TEST(objects_are_refused_with_code_offset_and_words)
{
    static const struct {
        const char *text;
        int code;
        int64_t offset;
        const char *words;
    } cases[] = {
        {"{'name':1}", SES_INVALID, 8, "at byte 8: the thing's in.name must be a string"},
        {"{'theName' : []}", SES_INVALID, 13, "in.theName must be a string"},
        {"{'list':1}", SES_INVALID, 8, "in.list must be a list of some kind"},
        {"{'flag':'x'}", SES_INVALID, 8, "in.flag must be true or false"},
        {"{'never':1}", SES_INVALID, 9, "in.never must be left out"},
        {"{'flag':true,'flag':true}", SES_INVALID, 13, "the thing's in.flag appears twice"},
        {"{'flag':null,'flag':null}", SES_INVALID, 13, "in.flag appears twice"},
        {"{'name':'a','theName':'a'}", SES_INVALID, 12, "both in.name and in.theName"},
        {"{'theName':null,'name':'a'}", SES_INVALID, 16, "both in.theName and in.name"},
        {"{'name':'\\uD800'}", SES_RANGE, 8, "lone surrogate"},
        {"[]", SES_INVALID, 0, "the thing must be a JSON object"},
        {"7", SES_INVALID, 0, "the thing must be a JSON object"},
        {"[", SES_JSON, 1, "a value is expected"},
        {"{'flag':tru}", SES_JSON, 8, "true, false or null"},
        {"{'flag':}", SES_JSON, 8, "expected a JSON value"},
        {"{'other':{'a':}}", SES_JSON, 14, "expected a JSON value"},
        {"{'flag':true", SES_JSON, 12, "expected , or }"},
        {"{'flag':true}x", SES_JSON, 13, "after the JSON value"},
    };
    struct thing thing;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(cases[i].code, read_thing(&thing, Q(cases[i].text), &error));
        assert_int_equal(error.offset, cases[i].offset);
        assert_message(cases[i].words);
        ses__arena_free(&thing.arena);
    }
}

/* --------------------------------------------------------------------------------------------- edits */

PLAIN_TEST(edits_replace_put_in_and_take_out)
{
    static const struct span text = {"0123456789", 10};
    static const struct edit list[] = {
        {0, 0, {"<", 1}}, {2, 4, {NULL, 0}}, {4, 4, {"four", 4}}, {4, 4, {"!", 1}}, {7, 10, {">", 1}}};
    ses_allocator allocator;
    struct arena arena;
    struct edits edits = {0};
    size_t len = 0;

    ses__memory_default(&allocator);
    ses__arena_init(&arena, &allocator);
    assert_string_equal(ses__edits_apply(&edits, &arena, text, &len), "0123456789");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_true(ses__edits_add(&edits, &allocator, list[i]));
    assert_string_equal(ses__edits_apply(&edits, &arena, text, &len), "<01four!456>");
    assert_int_equal(len, 12);
    ses__edits_free(&edits, &allocator);
    assert_int_equal(edits.count, 0);
    ses__arena_free(&arena);
}

/* Held against the same edits made one at a time, from the last to the first. */
PLAIN_TEST(random_edits)
{
    enum { ROUNDS = 5000, LEN = 40 };
    uint64_t seed = 5;
    ses_allocator allocator;

    ses__memory_default(&allocator);
    for (int round = 0; round < ROUNDS; round++) {
        char plain[LEN * 8];
        char text[LEN];
        size_t plain_len = LEN;
        size_t len = 0;
        struct arena arena;
        struct edits edits = {0};
        for (size_t i = 0; i < LEN; i++)
            text[i] = (char)('a' + random_below(&seed, 26));
        ses__arena_init(&arena, &allocator);
        for (size_t at = random_below(&seed, 10); at <= LEN; at += random_below(&seed, 12)) {
            size_t end = at + random_below(&seed, LEN - at + 1) / 3;
            static const char words[] = "WORDS";
            assert_true(
                ses__edits_add(&edits, &allocator, (struct edit){at, end, {words, random_below(&seed, 6)}}));
            at = end;
            if (edits.count == 20)
                break;
        }
        memcpy(plain, text, LEN);
        for (size_t i = edits.count; i-- > 0;) {
            const struct edit *edit = &edits.items[i];
            memmove(plain + edit->start + edit->text.len, plain + edit->end, plain_len - edit->end);
            memcpy(plain + edit->start, edit->text.ptr, edit->text.len);
            plain_len += edit->text.len - (edit->end - edit->start);
        }
        const char *out = ses__edits_apply(&edits, &arena, (struct span){text, LEN}, &len);
        assert_int_equal(len, plain_len);
        assert_memory_equal(out, plain, len);
        assert_int_equal(out[len], '\0');
        ses__edits_free(&edits, &allocator);
        ses__arena_free(&arena);
    }
}
