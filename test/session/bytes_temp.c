/* `temp:` keys are cut out of a delta wherever they stand; every other byte stays. */
#include "support.h"

enum { MAX_MEMBERS = 4, TEXT_ROOM = 8192 };

static const ses_key key = {"app", "user", "session"};

static const char *const values[] = {
    "1",
    "\"text\"",
    "9007199254740993",
    "-1E+400",
    "\"a\\u0000b\\ud800\"",
    "\"\\\",}{\\\\\"",
    "\",\\\"temp:x\\\":1\"",
    "{'a':1,'a':2}",
    "{ 'temp:a' : 1 , 'b' : [ 1 , 2 ]\n}",
    "[ ]",
    "{}",
    "null",
};

enum { VALUE_COUNT = sizeof values / sizeof values[0] };

/* How a delta is written: white space at each place where JSON allows it, and the prefix of temp: keys. */
struct style {
    const char *opening;   /* behind the brace */
    const char *key_end;   /* in front of the colon */
    const char *colon;     /* behind the colon */
    const char *value_end; /* behind the value */
    const char *comma;     /* behind the comma */
    const char *temp;      /* how "temp:" is spelled */
};

static const struct style styles[] = {
    {"", "", "", "", "", "temp:"},
    {"", "", "", "", " ", "temp:"},
    {"\n  ", "", " ", "\n  ", " ", "temp:"},
    {" ", "\t", "\r\n", "  ", "\t", "temp:"},
    {"\r\n\t", " ", "", "\n", "", "\\u0074emp:"},
    {"", "", "", "", "", "\\u0074\\u0065\\u006D\\u0070\\u003A"},
    {"", "", " ", "", "\n", "te\\u006dp\\u003a"},
};

enum { STYLE_COUNT = sizeof styles / sizeof styles[0] };

/* One delta: bit n of `temps` says that member n is a temp: key. */
struct delta_case {
    unsigned count;
    unsigned temps;
    const struct style *style;
    const char *value;
};

static int is_temp(const struct delta_case *delta, unsigned member)
{
    return (delta->temps >> member & 1) != 0;
}

/* A member that stays, from its key to the end of its value. The names are ones that only look special. */
static void kept_member(char *text, const struct delta_case *delta, unsigned member)
{
    static const char *const names[MAX_MEMBERS] = {"Temp:a", "app:temp:b", "temp", "t\\u0065m p:"};
    snprintf(text, TEXT_ROOM, "\"%s\"%s:%s%s", names[member], delta->style->key_end, delta->style->colon,
             delta->value);
}

static void temp_member(char *text, const struct delta_case *delta, unsigned member)
{
    snprintf(text, TEXT_ROOM, "\"%s%u\"%s:%s%s", delta->style->temp, member, delta->style->key_end,
             delta->style->colon, delta->value);
}

/* The whole object; without its temp: members when `cut`. */
static void write_delta(char *text, const struct delta_case *delta, int cut)
{
    char member[TEXT_ROOM];
    int first = 1;
    char *to = stpcpy(text, "{");

    to = stpcpy(to, delta->style->opening);
    for (unsigned i = 0; i < delta->count; i++) {
        if (cut && is_temp(delta, i))
            continue;
        if (!first)
            to = stpcpy(stpcpy(to, ","), delta->style->comma);
        first = 0;
        if (is_temp(delta, i))
            temp_member(member, delta, i);
        else
            kept_member(member, delta, i);
        to = stpcpy(stpcpy(to, member), delta->style->value_end);
    }
    (void)stpcpy(to, "}");
}

/* Takes away the white space between the tokens. */
static void squeeze(char *text)
{
    char *to = text;
    int in_string = 0;

    for (const char *p = text; *p; p++) {
        if (in_string && *p == '\\')
            *to++ = *p++;
        else if (*p == '"')
            in_string = !in_string;
        if (in_string || !strchr(" \t\r\n", *p))
            *to++ = *p;
    }
    *to = '\0';
}

/*
 * The rest of a delta: the same tokens as if it were written without its temp: members, and the exact bytes
 * of each member that stays. (How much of the white space around what was cut goes along is not laid down.)
 */
static void assert_cut(const char *left, size_t len, const struct delta_case *delta)
{
    static char got[TEXT_ROOM];
    static char expected[TEXT_ROOM];
    static char member[TEXT_ROOM];
    const char *at = left;

    assert_true(len < sizeof got);
    for (unsigned i = 0; i < delta->count; i++) {
        if (is_temp(delta, i))
            continue;
        kept_member(member, delta, i);
        at = strstr(at, member);
        if (!at) {
            print_error("%s\nhas not: %s\n", left, member);
            fail();
            return;
        }
        at += strlen(member);
    }
    memcpy(got, left, len);
    got[len] = '\0';
    squeeze(got);
    write_delta(expected, delta, 1);
    squeeze(expected);
    assert_string_equal(got, expected);
}

typedef void check_delta(struct fixture *fixture, const struct delta_case *delta);

/* Every choice of up to four members, in every style, with every value. */
static void each_delta(struct fixture *fixture, check_delta *check)
{
    const size_t stride = support_stride();

    for (unsigned count = 0; count <= MAX_MEMBERS; count++) {
        for (unsigned temps = 0; temps < 1U << count; temps++) {
            for (size_t style = 0; style < STYLE_COUNT; style++) {
                for (size_t value = style % stride; value < VALUE_COUNT; value += stride)
                    check(fixture, &(struct delta_case){count, temps, &styles[style], Q(values[value])});
            }
        }
    }
}

/* The state that a session shows: what stays, and what is for the invocation only where it is seen. */
static void assert_members_of(const ses_session *session, const struct delta_case *delta, int temps_seen)
{
    static const char *const names[MAX_MEMBERS] = {"Temp:a", "app:temp:b", "temp", "tem p:"};
    size_t count = 0;
    ses_error error;

    for (unsigned i = 0; i < delta->count; i++) {
        char temp_name[16];
        const char *json = NULL;
        size_t len = 0;
        int temp = is_temp(delta, i);
        snprintf(temp_name, sizeof temp_name, "temp:%u", i);
        int shown = !temp || temps_seen;
        assert_code(shown ? SES_OK : SES_ABSENT,
                    ses_state_get(session, temp ? temp_name : names[i], &json, &len, &error));
        if (shown) {
            assert_string_equal(json, delta->value);
            assert_int_equal(len, strlen(delta->value));
            count++;
        }
    }
    assert_int_equal(ses_state_count(session), count);
}

/* A session of an app that no other case has: what is left of app: values must not help another case. */
static ses_key next_key(char app[32])
{
    static unsigned long number;
    snprintf(app, 32, "app %lu", ++number);
    return (ses_key){app, "user", "session"};
}

static void check_event(struct fixture *fixture, const struct delta_case *delta)
{
    static const char before[] =
        "\t{ \"id\":\"e\" ,\"timestamp\" : 1.50, \"actions\" :{\"a\":1 , \"stateDelta\" : ";
    static const char after[] =
        " , \"temp:b\": [ 1 , 2 ] } , \"temp:content\" : {\"temp:x\":1,\"y\":2} }\r\n";
    static char object[TEXT_ROOM];
    static char event[TEXT_ROOM * 2];
    char app[32];
    const ses_key own = next_key(app);

    write_delta(object, delta, 0);
    snprintf(event, sizeof event, "%s%s%s", before, object, after);
    ses_session *session = must_open_new(fixture->store, &own, NULL);
    must_append(session, event);
    assert_members_of(session, delta, 1);
    ses_session *stored = must_get(fixture->store, &own);
    assert_members_of(stored, delta, 0);

    const ses_event *kept = ses_session_event(stored, 0);
    size_t around = strlen(before) + strlen(after);
    assert_non_null(kept);
    assert_string_equal(ses_session_event(session, 0)->json, kept->json);
    assert_int_equal(kept->json_len, strlen(kept->json));
    assert_true(kept->json_len > around);
    assert_memory_equal(kept->json, before, strlen(before));
    assert_string_equal(kept->json + kept->json_len - strlen(after), after);
    assert_cut(kept->json + strlen(before), kept->json_len - around, delta);
    if (delta->temps == 0)
        assert_string_equal(kept->json, event);
    ses_session_close(session);
    ses_session_close(stored);
    must_delete(fixture->store, &own);
}

static void check_initial_state(struct fixture *fixture, const struct delta_case *delta)
{
    static char object[TEXT_ROOM];
    char app[32];
    const ses_key own = next_key(app);

    write_delta(object, delta, 0);
    ses_session *session = must_open_new(fixture->store, &own, object);
    assert_members_of(session, delta,
                      0); /* no invocation has begun: there is nothing temp: could belong to */
    ses_session *stored = must_get(fixture->store, &own);
    assert_members_of(stored, delta, 0);
    ses_session_close(session);
    ses_session_close(stored);
    must_delete(fixture->store, &own);
}

MEMORY_TEST(temp_keys_are_cut_out_of_an_event)
{
    each_delta(fixture, check_event);
}

MEMORY_TEST(temp_keys_of_an_initial_state_are_dropped)
{
    each_delta(fixture, check_initial_state);
}

/* Without white space there is only one way to cut. */
TEST(the_rest_is_exact)
{
    static const struct {
        const char *delta;
        const char *left;
    } cases[] = {
        {"{'temp:a':1}", "{}"},
        {"{'temp:':1}", "{}"},
        {"{'temp:a':1,'k':1.10}", "{'k':1.10}"},
        {"{'k':1.10,'temp:a':1}", "{'k':1.10}"},
        {"{'k':1.10,'temp:a':1,'l':-0.0}", "{'k':1.10,'l':-0.0}"},
        {"{'temp:a':1,'temp:b':2}", "{}"},
        {"{'temp:a':1,'temp:b':2,'k':1}", "{'k':1}"},
        {"{'k':1,'temp:a':1,'temp:b':2}", "{'k':1}"},
        {"{'temp:a':1,'k':1,'temp:b':2,'temp:c':3,'l':2,'temp:d':4}", "{'k':1,'l':2}"},
        {"{'temp:a':1,'temp:a':2,'k':1,'k':2,'temp:a':3}", "{'k':1,'k':2}"},
        {"{'temp:a':{'k':[1,'}']},'\\u0074emp:b':',','k':{'temp:a':1}}", "{'k':{'temp:a':1}}"},
        {"{'TEMP:a':1,'temp :a':2,' temp:a':3,'temp':4,'user:temp:a':5}",
         "{'TEMP:a':1,'temp :a':2,' temp:a':3,'temp':4,'user:temp:a':5}"},
        {"{'temp:a':'__ADK_SENTINEL_REMOVED__','k':'__ADK_SENTINEL_REMOVED__'}",
         "{'k':'__ADK_SENTINEL_REMOVED__'}"},
    };
    static const char format[] = "{\"id\":\"%zu\",\"timestamp\":1,\"actions\":{\"%s\":%s},\"author\":\"a\"}";
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char text[512];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, format, i, i % 2 ? "state_delta" : "stateDelta", Q(cases[i].delta));
        must_append(session, text);
    }
    for (int reopened = 0; reopened < 2; reopened++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            snprintf(text, sizeof text, format, i, i % 2 ? "state_delta" : "stateDelta", Q(cases[i].left));
            assert_string_equal(ses_session_event(session, i)->json, text);
        }
        ses_session_close(session);
        fixture_reopen(fixture);
        session = must_get(fixture->store, &key);
    }
    ses_session_close(session);
}

/* The actions may stand first or last, beside a null that is replaced: the cuts and the additions meet. */
MEMORY_TEST(cuts_beside_what_the_store_adds)
{
    static const struct {
        const char *event;
        const char *front; /* up to what was made */
        const char *end;   /* behind it */
    } cases[] = {
        {"{'actions':{'stateDelta':{'temp:a':1,'k':1}},'id':null,'timestamp':1}",
         "{'actions':{'stateDelta':{'k':1}},'id':'", "\",\"timestamp\":1}"},
        {"{'id':null,'actions':{'stateDelta':{'k':1,'temp:a':1}},'timestamp':1}", "{'id':'",
         "\",\"actions\":{\"stateDelta\":{\"k\":1}},\"timestamp\":1}"},
        {"{'timestamp':1,'actions':{'stateDelta':{'temp:a':1}}}", "{'id':'",
         "\",\"timestamp\":1,\"actions\":{\"stateDelta\":{}}}"},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char expected[512];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        must_append(session, Q(cases[i].event));
        const ses_event *event = ses_session_event(session, i);
        assert_non_null(event);
        snprintf(expected, sizeof expected, "%s%s%s", Q(cases[i].front), event->id, cases[i].end);
        assert_string_equal(event->json, expected);
    }
}
