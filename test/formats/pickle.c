/*
 * Pickles as data: those that Python wrote become the JSON that Python writes for them, and hostile ones are
 * refused, by name, without a call and within bounds of memory and time. pickles.txt was made by google-adk
 * 2.13.0, pydantic and json.dumps.
 */
#include "support.h"

#include <sqlite3.h>
#include <sys/resource.h>

#include "base/error.h"
#include "formats/pickle/pickle.h"

enum { MAX_TEXT = 1 << 20 };

static ses_allocator allocator;

/* Reads it into the buffer, which is freed first. */
static int read_into(struct buffer *json, const void *pickle, size_t len, ses_error *error)
{
    const struct span span = {pickle, len};

    ses__buffer_free(json);
    ses__buffer_init(json, &allocator);
    ses__error_clear(error);
    return pickle_to_json(span, MAX_TEXT, json, error);
}

/* A copy that ends where the memory ends, for the sanitizer. */
static int read_copy(struct buffer *json, const void *pickle, size_t len, ses_error *error)
{
    char *copy = malloc(len + 1);

    assert_non_null(copy);
    memcpy(copy + 1, pickle, len);
    int code = read_into(json, copy + 1, len, error);
    free(copy);
    return code;
}

static void assert_pickle(const char *pickle, size_t len, const char *expected)
{
    struct buffer json;
    ses_error error;

    ses__buffer_init(&json, &allocator);
    assert_ok(read_copy(&json, pickle, len, &error));
    ses__buffer_add(&json, "", 1);
    assert_string_equal(json.data, expected);
    ses__buffer_free(&json);
}

static void refuse_pickle(const char *pickle, size_t len, int expected, const char *words)
{
    struct buffer json;
    ses_error error;

    ses__buffer_init(&json, &allocator);
    assert_code(expected, read_copy(&json, pickle, len, &error));
    assert_message(words);
    assert_int_equal(json.len, 0);
    ses__buffer_free(&json);
}

/* String literals with NULs in them. */
#define gives(pickle, json) assert_pickle((pickle), sizeof(pickle) - 1, (json))
#define refused(pickle, words) refuse_pickle((pickle), sizeof(pickle) - 1, SES_INVALID, (words))

static int setup(void **state)
{
    (void)state;
    ses__memory_default(&allocator);
    return 0;
}

/* ------------------------------------------------------------------------------------------- from Python */

static size_t from_hex(const char *hex, size_t len, char *out)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + i, "%2x", &byte), 1);
        out[i / 2] = (char)byte;
    }
    return len / 2;
}

typedef void visit_pickle(const char *name, const char *pickle, size_t len, const char *json);

/* Each line of the file: a name, the pickle in hexadecimal, and the JSON. */
static void each_pickle(visit_pickle *visit)
{
    char *text = support_read_file("test/formats/pickles.txt", NULL);
    size_t count = 0;

    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), count++) {
        char *hex = strchr(line, '\t');
        assert_non_null(hex);
        *hex++ = '\0';
        char *json = strchr(hex, '\t');
        assert_non_null(json);
        *json++ = '\0';
        size_t len = from_hex(hex, strlen(hex), hex); /* in place: it shrinks */
        visit(line, hex, len, json);
    }
    assert_int_equal(count, 12);
    free(text);
}

static void compare(const char *name, const char *pickle, size_t len, const char *json)
{
    print_message("%s\n", name);
    assert_pickle(pickle, len, json);
}

PLAIN_TEST(pickles_of_python_equal_its_json)
{
    each_pickle(compare);
}

static void cut(const char *name, const char *pickle, size_t len, const char *json)
{
    struct buffer buffer;
    ses_error error;

    (void)name;
    (void)json;
    ses__buffer_init(&buffer, &allocator);
    for (size_t i = 0; i < len; i++)
        assert_code(SES_INVALID, read_copy(&buffer, pickle, i, &error));
    ses__buffer_free(&buffer);
}

PLAIN_TEST(a_pickle_cut_anywhere_is_refused)
{
    each_pickle(cut);
}

/* True if the byte is part of a float that follows at least twenty others in a row. The rule for those holds
 * for it. */
static bool is_repeated(const char *pickle, size_t at)
{
    enum { FLOAT = 'G', FLOAT_LEN = 9, MANY = 20 };

    for (size_t begin = at; begin + FLOAT_LEN > at && begin >= MANY * FLOAT_LEN; begin--) {
        size_t before = 0;
        while (before <= MANY && pickle[begin - before * FLOAT_LEN] == FLOAT)
            before++;
        if (before > MANY)
            return true;
    }
    return false;
}

static void flip(const char *name, const char *pickle, size_t len, const char *json)
{
    static const unsigned char masks[] = {0x01, 0x02, 0x10, 0x80, 0xff};
    struct buffer buffer;
    ses_error error;
    char *copy = malloc(len);

    (void)name;
    (void)json;
    assert_non_null(copy);
    ses__buffer_init(&buffer, &allocator);
    for (size_t i = 0; i < len; i++) {
        for (size_t j = 0; j < sizeof masks && !is_repeated(pickle, i); j++) {
            memcpy(copy, pickle, len);
            copy[i] = (char)((unsigned char)copy[i] ^ masks[j]);
            int code = read_copy(&buffer, copy, len, &error);
            assert_true(code == SES_OK || (error.code == code && error.message[0]));
        }
    }
    ses__buffer_free(&buffer);
    free(copy);
}

PLAIN_TEST(a_pickle_with_a_changed_byte_is_read_or_refused)
{
    each_pickle(flip);
}

PLAIN_TEST(the_pickles_of_real_databases_are_read)
{
    static const char *const names[] = {"data/adk-stores/python-v0-1.0.db",
                                        "data/adk-stores/python-v0-1.18.db"};
    struct buffer json;

    ses__buffer_init(&json, &allocator);
    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = NULL;
        sqlite3_stmt *statement = NULL;
        size_t len = 0;
        char *data = support_test_data(names[i], &len);
        if (!data)
            skip();
        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        assert_int_equal(sqlite3_deserialize(db, "main", (unsigned char *)data, (sqlite3_int64)len,
                                             (sqlite3_int64)len, SQLITE_DESERIALIZE_READONLY),
                         SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT actions FROM events", -1, &statement, NULL),
                         SQLITE_OK);
        size_t count = 0;
        for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
            assert_ok(read_into(&json, sqlite3_column_blob(statement, 0),
                                (size_t)sqlite3_column_bytes(statement, 0), &error));
            assert_true(json.len > 2 && json.data[0] == '{' && json.data[json.len - 1] == '}');
        }
        assert_true(count > 100);
        (void)sqlite3_finalize(statement);
        (void)sqlite3_close(db);
        free(data);
    }
    ses__buffer_free(&json);
}

/* ------------------------------------------------------------------------------------------------ by hand */

PLAIN_TEST(each_opcode_of_data_is_read)
{
    gives("\x80\x02N.", "null");
    gives("\x80\x05\x88.", "true");
    gives("\x80\x04\x95\x02\0\0\0\0\0\0\0K\xff.", "255");
    gives("\x80\x04M\xff\xff.", "65535");
    gives("\x80\x04J\xff\xff\xff\xff.", "-1");
    gives("\x80\x04J\xff\xff\xff\x7f.", "2147483647");
    gives("\x80\x04\x8a\0.", "0");
    gives("\x80\x04\x8a\x01\x80.", "-128");
    gives("\x80\x04\x8b\x05\0\0\0\0\0\0\0\x01.", "4294967296");
    gives("\x80\x04G?\xf0\0\0\0\0\0\0.", "1.0");
    gives("\x80\x04\x8c\x02\xc3\xa9.", "\"\\u00e9\"");
    gives("\x80\x04X\x01\0\0\0x.", "\"x\"");
    gives("\x80\x04\x8d\x01\0\0\0\0\0\0\0x.", "\"x\"");
    gives("\x80\x04"
          "C\x02\xfb\xff.",
          "\"-_8=\"");
    gives("\x80\x04"
          "B\x01\0\0\0a.",
          "\"YQ==\"");
    gives("\x80\x05\x96\x03\0\0\0\0\0\0\0abc.", "\"YWJj\"");
    gives("\x80\x04]\x94K\x01"
          "a.",
          "[1]");
    gives("\x80\x04](K\x01K\x02"
          "e.",
          "[1, 2]");
    gives("\x80\x04\x8f(K\x01\x90.", "[1]");
    gives("\x80\x04(K\x01\x91.", "[1]");
    gives("\x80\x04).", "[]");
    gives("\x80\x04(K\x01t.", "[1]");
    gives("\x80\x04K\x01K\x02\x86.", "[1, 2]");
    gives("\x80\x04}K\x01Ns.", "{\"1\": null}");
    gives("\x80\x04}(NK\x01\x88K\x02G?\xf8\0\0\0\0\0\0Nu.", "{\"null\": 1, \"true\": 2, \"1.5\": null}");
    gives("\x80\x04]q\x05h\x05"
          "a0N0](K\x01"
          "1N0.",
          "[]");
    gives("\x80\x02"
          "ccollections\nOrderedDict\n)R.",
          "{}");
    gives("\x80\x02"
          "c__builtin__\nset\n](K\x01K\x02"
          "e\x85R.",
          "[1, 2]");
}

PLAIN_TEST(a_function_called_in_a_pickle_is_refused_by_name)
{
    refused("\x80\x02"
            "cos\nsystem\nX\x02\0\0\0ls\x85R.",
            "os.system");
    refused("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.", "os.system");
    refused("\x80\x04\x8c\x08"
            "builtins\x8c\x04"
            "eval\x93\x8c\x01"
            "1\x85R.",
            "builtins.eval");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x0dPart.__init__\x93.", "Part.__init__");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x02os\x93.", "google.genai.types.os");
    refused("\x80\x04\x8c\x03\x1b[m\x8c\x01\n\x93.", "?[m.?");
    refused("\x80\x02(ios\nsystem\n.", "INST");
    refused("\x80\x02(cos\nsystem\no.", "os.system");
    refused("\x80\x02(X\x01\0\0\0ao.", "OBJ");
    refused("\x80\x02\x82\x01.", "EXT1");
    refused("\x80\x02\x83\x01\0.", "EXT2");
    refused("\x80\x02\x84\x01\0\0\0.", "EXT4");
    refused("\x80\x02Pid\n.", "PERSID");
    refused("\x80\x02NQ.", "BINPERSID");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x04Part\x93)}\x92.", "NEWOBJ_EX");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x04Part\x93K\x01\x85\x81.", "with arguments");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x04Part\x93)R.", "unexpected arguments");
    refused("\x80\x04\x8c\x01"
            "a)R.",
            "not a class");
    refused("\x80\x04]}b.", "not an object");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x04Part\x93)\x81}b.", "no fields");
    refused("\x80\x04\x8c\x12google.genai.types\x8c\x04Part\x93.", "a class as a value");
}

PLAIN_TEST(bytes_that_are_not_a_pickle_are_refused)
{
    refused("", "truncated");
    refused("N.", "protocol");
    refused("\x80\x01N.", "not 2 to 5");
    refused("\x80\x06N.", "not 2 to 5");
    refused("\x80\x04\x80\x04N.", "twice");
    refused("\x80\x04\xff.", "0xff (unknown)");
    refused("\x80\x02I1\n.", "INT");
    refused("\x80\x04.", "exactly one value");
    refused("\x80\x04NN.", "exactly one value");
    refused("\x80\x04(N.", "exactly one value");
    refused("\x80\x04N.N", "after its end");
    refused("\x80\x04h\x01.", "memo");
    refused("\x80\x04"
            "0.",
            "too few values");
    refused("\x80\x04N(0.", "too few values");
    refused("\x80\x04"
            "e.",
            "no mark");
    refused("\x80\x04(e.", "not a list");
    refused("\x80\x04N(e.", "not a list");
    refused("\x80\x04](((u.", "not a dict");
    refused("\x80\x04}(Nu.", "no value");
    refused("\x80\x04}]Ns.", "keys that JSON cannot express");
    refused("\x80\x04\x8c\x02\xc0\x80.", "not UTF-8");
    refused("\x80\x04\x8c\x01\xe9.", "not UTF-8");
    refused("\x80\x04G\x7f\xf0\0\0\0\0\0\0.", "infinite or NaN");
    refused("\x80\x04G\x7f\xf8\0\0\0\0\0\x01.", "infinite or NaN");
}

/* ---------------------------------------------------------------------------------------- memory and time */

/* The most that a call may take: every allocation beyond it fails. */
static size_t most_memory;
static size_t memory;

static void *count_allocate(void *context, size_t bytes)
{
    size_t *block = NULL;

    (void)context;
    if (memory + bytes <= most_memory)
        block = malloc(bytes + 16);
    if (!block)
        return NULL;
    *block = bytes;
    memory += bytes;
    return (char *)block + 16;
}

static void count_release(void *context, void *pointer)
{
    size_t *block = (size_t *)(void *)((char *)pointer - 16);

    (void)context;
    memory -= *block;
    free(block);
}

static void *count_resize(void *context, void *pointer, size_t bytes)
{
    const size_t old = *(size_t *)(void *)((char *)pointer - 16);
    void *resized = count_allocate(context, bytes);

    if (resized) {
        memcpy(resized, pointer, old < bytes ? old : bytes);
        count_release(context, pointer);
    }
    return resized;
}

static void bounded(const char *pickle, size_t len, int expected, const char *words, size_t bytes)
{
    const ses_allocator counting = {sizeof counting, NULL, count_allocate, count_resize, count_release};
    const ses_allocator plain = allocator;
    struct rusage before;
    struct rusage after;

    most_memory = bytes;
    allocator = counting;
    (void)getrusage(RUSAGE_SELF, &before);
    refuse_pickle(pickle, len, expected, words);
    (void)getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_utime.tv_sec - before.ru_utime.tv_sec <= 10);
    assert_int_equal(memory, 0);
    allocator = plain;
}
#define bomb(pickle, expected, words) bounded((pickle), sizeof(pickle) - 1, (expected), (words), 1 << 20)

PLAIN_TEST(lengths_that_lie_allocate_nothing)
{
    bomb("\x80\x04\x8b\xff\xff\xff\xff\x01.", SES_INVALID, "truncated");
    bomb("\x80\x04X\xff\xff\xff\xff\x01.", SES_INVALID, "truncated");
    bomb("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", SES_INVALID, "truncated");
    bomb("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", SES_INVALID, "truncated");
    bomb("\x80\x05\x96\0\0\0\0\0\x01\0\0.", SES_INVALID, "truncated");
    bomb("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN.", SES_INVALID, "truncated");
    bomb("\x80\x04Nr\xff\xff\xff\xff.", SES_LIMIT, "values");
    bomb("\x80\x04\x8b\0\x08\0\0", SES_INVALID, "truncated");
}

static char *new_pickle(size_t capacity, size_t *len)
{
    char *pickle = malloc(capacity);

    assert_non_null(pickle);
    memcpy(pickle, "\x80\x04", 2);
    *len = 2;
    return pickle;
}

static void add(char *pickle, size_t *len, const char *bytes, size_t count)
{
    memcpy(pickle + *len, bytes, count);
    *len += count;
}

PLAIN_TEST(a_pickle_that_doubles_by_sharing_is_refused_by_its_output)
{
    size_t len = 0;
    char *pickle = new_pickle(4096, &len);

    add(pickle, &len, "](]\x94", 4); /* memo 0 */
    for (int i = 0; i < 100; i++) {
        const char get[] = {'h', (char)i, 'h', (char)i, '\x86', '\x94'};
        add(pickle, &len, get, sizeof get);
    }
    add(pickle, &len, "e.", 2);
    bounded(pickle, len, SES_LIMIT, "more than an event may", 4 << 20);
    free(pickle);
}

/* An object whose fields are all None writes two bytes, but is walked: shared widely, that costs time and no
 * text. */
PLAIN_TEST(work_that_writes_nothing_is_bounded_too)
{
    enum { FIELDS = 20000, TIMES = 20000 };
    static const char object[] = "\x8c\x12google.genai.types\x8c\x04Part\x93)\x81}\x8c\x08__dict__}(";
    size_t len = 0;
    char *pickle = new_pickle(FIELDS * 4 + TIMES * 2 + 200, &len);

    add(pickle, &len, "](", 2);
    add(pickle, &len, object, sizeof object - 1);
    for (int i = 0; i < FIELDS; i++)
        add(pickle, &len, "K\x01N", 3);
    add(pickle, &len, "usb\x94", 4);
    for (int i = 0; i < TIMES; i++)
        add(pickle, &len, "h\0", 2);
    add(pickle, &len, "e.", 2);
    bounded(pickle, len, SES_LIMIT, "more than an event may", 8 << 20);
    free(pickle);
}

PLAIN_TEST(a_value_that_contains_itself_is_refused)
{
    bomb("\x80\x04]\x94h\0"
         "a.",
         SES_LIMIT, "levels deep");
    bomb("\x80\x04}\x94\x8c\x01"
         "ah\0s.",
         SES_LIMIT, "levels deep");
}

PLAIN_TEST(depth_is_bounded)
{
    enum { DEPTH = 1000000 };
    size_t len = 0;
    char *pickle = new_pickle(2 * DEPTH + 100, &len);

    memset(pickle + len, ']', DEPTH);
    memset(pickle + len + DEPTH, 'a', DEPTH - 1);
    len += 2 * DEPTH - 1;
    pickle[len++] = '.';
    bounded(pickle, len, SES_LIMIT, "levels deep", (size_t)256 << 20);
    len = 2;
    memset(pickle + len, '(', DEPTH);
    bounded(pickle, len + DEPTH, SES_INVALID, "truncated", (size_t)256 << 20);
    free(pickle);
}

PLAIN_TEST(the_number_of_values_is_bounded)
{
    const size_t count = 3 * (size_t)PICKLE_MAX_VALUES;
    size_t len = 0;
    char *pickle = new_pickle(count + 100, &len);

    pickle[len++] = '(';
    memset(pickle + len, 'N', count);
    len += count;
    add(pickle, &len, "t.", 2);
    bounded(pickle, len, SES_LIMIT, "values", (size_t)512 << 20);
    free(pickle);
}

PLAIN_TEST(integers_have_a_bound)
{
    enum { TIMES = 10000 };
    size_t len = 0;
    char *pickle = new_pickle(TIMES * 2 + 3000, &len);
    char digits[PICKLE_MAX_INTEGER + 1];

    memset(digits, 0x7f, sizeof digits);
    add(pickle, &len, "\x8b\x01\x04\0\0", 5);
    add(pickle, &len, digits, sizeof digits);
    add(pickle, &len, ".", 1);
    bounded(pickle, len, SES_LIMIT, "an integer of more than", 4 << 20);
    len = 2;
    add(pickle, &len, "](\x8b\0\x04\0\0", 7);
    add(pickle, &len, digits, PICKLE_MAX_INTEGER);
    add(pickle, &len, "\x94", 1);
    for (int i = 0; i < TIMES; i++)
        add(pickle, &len, "h\0", 2);
    add(pickle, &len, "e.", 2);
    bounded(pickle, len, SES_LIMIT, "more than an event may", 4 << 20);
    free(pickle);
}

TEST_GROUP(setup, NULL)
