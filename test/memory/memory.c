/* Memory through the public header: what is remembered, found, listed and forgotten. */
#include "seslite_memory.h"

#include "check.h"
#include "session/history.h"
#include "seslite_erase.h"

static const ses_key talk = {"app", "user", "talk"};
static const ses_key notes = {"app", "user", NULL};

/* An event whose id and invocation are its text. */
static const char *said_event(const char *text)
{
    static char events[16][400];
    static size_t next;
    char *event = events[next++ % 16];

    snprintf(event, sizeof events[0],
             "{\"id\":\"%s\",\"invocationId\":\"%s\",\"author\":\"user\",\"timestamp\":%zu,"
             "\"content\":{\"parts\":[{\"text\":\"%s\"}]},\"actions\":{\"stateDelta\":{\"app:k\":1}}}",
             text, text, next, text);
    return event;
}

static void say(ses_store *store, const ses_key *to, const char *text)
{
    must_append_by_key(store, to, said_event(text));
}

/* The ids of hits, with a comma after each. */
static const char *ids_of(ses_hits *hits)
{
    static char ids[4000];
    size_t len = 0;

    ids[0] = '\0';
    for (size_t i = 0; i < ses_hits_count(hits); i++)
        len += (size_t)snprintf(ids + len, sizeof ids - len, "%s,", ses_hits_at(hits, i)->id);
    ses_hits_close(hits);
    return ids;
}

static const char *found_in(ses_store *store, const char *query, const char *project)
{
    const ses_memory_options options = {.size = sizeof options, .project = project};
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_memory_search(store, "app", "user", query, SES_NUL, &options, &hits, &error));
    return ids_of(hits);
}

static const char *found(ses_store *store, const char *query)
{
    return found_in(store, query, NULL);
}

static const char *listed_in(ses_store *store, const char *project)
{
    const ses_memory_options options = {.size = sizeof options, .project = project};
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_memory_list(store, "app", "user", &options, &hits, &error));
    return ids_of(hits);
}

static size_t must_add(ses_store *store, const ses_key *to, const ses_memory_add_options *options,
                       const char *const *texts, size_t count)
{
    ses_text events[16];
    size_t added = 99;
    ses_error error;

    for (size_t i = 0; i < count; i++)
        events[i] = (ses_text){said_event(texts[i]), SES_NUL};
    assert_ok(ses_memory_add_events(store, to, events, count, options, &added, &error));
    return added;
}
#define ADD(key, options, ...)                                                     \
    must_add(fixture->store, (key), (options), (const char *const[]){__VA_ARGS__}, \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static int64_t number_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t seq = ses_session_remembered_seq(session);

    ses_session_close(session);
    return seq;
}

/* The sessions with copies, and the ids of their events: "name: a b; ". */
static const char *kept(ses_store *store)
{
    static char text[4000];
    const ses_filter filter = {.size = sizeof filter, .kinds = SES_KIND_MEMORY};
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED, .filter = &filter};
    ses_page *page = NULL;
    size_t len = 0;
    ses_error error;

    assert_ok(ses_list(store, "app", NULL, &options, &page, &error));
    text[0] = '\0';
    for (size_t i = 0; i < ses_page_count(page); i++) {
        const ses_session *listed = ses_page_session(page, i);
        const ses_key place = {"app", ses_session_user(listed), ses_session_id(listed)};
        ses_session *session = must_get(store, &place);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s:", place.session);
        for (size_t j = 0; j < ses_session_event_count(session); j++)
            len += (size_t)snprintf(text + len, sizeof text - len, " %s", ses_session_event(session, j)->id);
        len += (size_t)snprintf(text + len, sizeof text - len, "; ");
        ses_session_close(session);
    }
    ses_page_close(page);
    return text;
}

/* Every search must give the same with an index. */
static int indexed_setup(void **state)
{
    const int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    ses_error error;

    if (!failed) {
        const int code = ses_store_index(fixture->store, NULL, NULL, &error);
        assert_true(code == SES_OK || code == SES_UNSUPPORTED);
    }
    return failed;
}
#define SEARCH_TEST(name) TEST_ALSO(indexed_setup, fixture_teardown, name) TEST(name)

/* ----------------------------------------------------------------------------------------------- sessions */

SEARCH_TEST(a_session_is_remembered_up_to_a_number)
{
    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "red tea");
    say(fixture->store, &talk, "green tea");
    assert_string_equal(found(fixture->store, "tea"), "");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_string_equal(found(fixture->store, "TEA"), "green tea,red tea,");
    say(fixture->store, &talk, "black tea");
    assert_string_equal(found(fixture->store, "tea"), "green tea,red tea,");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 1, NULL, &error)); /* it is never lowered */
    assert_int_equal(number_of(fixture->store, &talk), 2);
    assert_ok(ses_memory_add_session(fixture->store, &talk, 4, NULL, &error));
    say(fixture->store, &talk, "blue tea");
    say(fixture->store, &talk, "last tea");
    assert_string_equal(found(fixture->store, "tea"), "blue tea,black tea,green tea,red tea,");
    assert_string_equal(listed_in(fixture->store, NULL), "blue tea,black tea,green tea,red tea,");
    assert_string_equal(kept(fixture->store), "");
    must_delete(fixture->store, &talk);
    assert_string_equal(found(fixture->store, "tea"), "");
    assert_code(SES_NOTFOUND, ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_code(SES_INVALID, ses_memory_add_session(fixture->store, &talk, -1, NULL, &error));
    assert_code(SES_INVALID, ses_memory_add_session(fixture->store, &talk, INT64_MAX, NULL, &error));
    must_create(fixture->store, &talk, NULL);
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_int_equal(number_of(fixture->store, &talk), 0);
    assert_no_problems(fixture->store);
}

SEARCH_TEST(a_rewind_and_a_cut_forget)
{
    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea 0");
    say(fixture->store, &talk, "tea 1");
    say(fixture->store, &talk, "tea 2");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    must_rewind(fixture->store, &talk, BEFORE_INVOCATION("tea 2"));
    assert_string_equal(found(fixture->store, "tea"), "tea 1,tea 0,");
    assert_string_equal(listed_in(fixture->store, NULL), "tea 1,tea 0,");
    assert_ok(ses_cut_by_key(fixture->store, &talk, AFTER_SEQ(1), NULL, NULL, &error));
    assert_string_equal(found(fixture->store, "tea"), "tea 0,");
    assert_int_equal(number_of(fixture->store, &talk), 3);
    say(fixture->store, &talk, "tea 4"); /* numbers are not given again */
    assert_string_equal(found(fixture->store, "tea"), "tea 0,");
    assert_no_problems(fixture->store);
}

TEST(a_fork_begins_without)
{
    const ses_key fork = {"app", "user", "fork"};

    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea 0");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 100, NULL, &error));
    assert_ok(ses_fork_by_key(fixture->store, &talk, NULL, &fork, NULL, NULL, &error));
    say(fixture->store, &fork, "my secret tea");
    assert_int_equal(number_of(fixture->store, &fork), 0);
    assert_string_equal(found(fixture->store, "tea"), "tea 0,");
}

/* ------------------------------------------------------------------------------------------------- events */

SEARCH_TEST(events_are_copied_only_if_a_number_cannot_say_it)
{
    const ses_memory_add_options copies = {.size = sizeof copies, .flags = SES_MEMORY_COPY};

    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea 1");
    say(fixture->store, &talk, "tea 2");
    say(fixture->store, &talk, "tea 3");
    say(fixture->store, &talk, "tea 4");
    assert_int_equal(ADD(&talk, NULL, "tea 1", "tea 2"), 2);
    assert_int_equal(number_of(fixture->store, &talk), 2);
    assert_string_equal(kept(fixture->store), "");
    assert_int_equal(ADD(&talk, NULL, "tea 4"), 1); /* but not the third */
    assert_int_equal(number_of(fixture->store, &talk), 2);
    assert_string_equal(kept(fixture->store), "memory:talk: tea 4; ");
    assert_int_equal(ADD(&talk, NULL, "tea 1", "tea 4", "tea 5", "tea 5"), 1);
    assert_string_equal(kept(fixture->store), "memory:talk: tea 4 tea 5; ");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    must_append_by_key(fixture->store, &talk,
                       "{\"id\":\"call\",\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"tea\"}}]}}");
    say(fixture->store, &talk, "tea 6");
    assert_int_equal(ADD(&talk, &copies, "tea 6"), 1);
    assert_string_equal(kept(fixture->store), "memory:talk: tea 4 tea 5 tea 6; ");
    assert_int_equal(ADD(&talk, NULL, "tea 6"), 1); /* nothing was said by the call */
    assert_int_equal(number_of(fixture->store, &talk), 6);
    assert_no_problems(fixture->store);
}

/* Only what memory needs is kept of an event: no change of state, which would be made again. */
TEST(a_copy_has_the_fields_of_a_memory)
{
    static const char given[] = "{\"id\":\"a\",\"author\":\"bob\",\"timestamp\":12.5,\"invocationId\":\"i\", "
                                "\"content\":{\"parts\":[{\"text\":\"tea\"}],\"x\":1},\"branch\":\"b\","
                                "\"actions\":{\"stateDelta\":{\"app:k\":1}},\"custom_metadata\":{\"m\":[1]}}";
    const ses_text events[] = {{given, SES_NUL}};
    const ses_memory_options options = {.size = sizeof options, .snippet_bytes = 20};
    ses_hits *hits = NULL;
    char *state = NULL;

    assert_ok(ses_memory_add_events(fixture->store, &notes, events, 1, NULL, NULL, &error));
    assert_ok(ses_memory_search(fixture->store, "app", "user", "tea pot", SES_NUL, &options, &hits, &error));
    assert_int_equal(ses_hits_count(hits), 1);
    const ses_hit *hit = ses_hits_at(hits, 0);
    assert_string_equal(hit->json, "{\"id\":\"a\",\"author\":\"bob\",\"timestamp\":12.5,"
                                   "\"content\":{\"parts\":[{\"text\":\"tea\"}],\"x\":1},"
                                   "\"custom_metadata\":{\"m\":[1]}}");
    assert_int_equal(hit->json_len, strlen(hit->json));
    assert_string_equal(hit->session, "memory:notes");
    assert_string_equal(hit->author, "bob");
    assert_string_equal(hit->snippet, "tea");
    assert_true(hit->time_us == 12500000 && hit->score == 0.5 && hit->seq == 1);
    ses_hits_close(hits);
    assert_code(SES_ABSENT,
                ses_shared_state_get(fixture->store, "app", NULL, "k", NULL, &state, NULL, &error));
}

TEST(nothing_is_kept_of_what_nobody_said)
{
    static const char *const parts[] = {"", "{\"text\":\"\"}", "{\"text\":\"tea\",\"thought\":true}",
                                        "{\"functionCall\":{\"name\":\"tea\"}}",
                                        "{\"functionResponse\":{\"response\":{\"text\":\"tea\"}}}"};
    size_t added = 1;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"content\":{\"parts\":[%s]}}", parts[i]);
        const ses_text events[] = {
            {event, SES_NUL}, {"{\"partial\":true,\"content\":{\"parts\":[{\"text\":\"a\"}]}}", SES_NUL}};
        assert_ok(ses_memory_add_events(fixture->store, &notes, events, 2, NULL, &added, &error));
        assert_int_equal(added, 0);
    }
    assert_ok(ses_memory_add_events(fixture->store, &notes, NULL, 0, NULL, NULL, &error));
    assert_ok(ses_memory_add(fixture->store, &notes, "", 0, NULL, &error));
    assert_string_equal(kept(fixture->store), "");
    must_create(fixture->store, &talk, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"content\":{\"parts\":[%s]}}", parts[i]);
        must_append_by_key(fixture->store, &talk, event);
    }
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_string_equal(found(fixture->store, "tea"), "");
    assert_string_equal(listed_in(fixture->store, NULL), "");
}

TEST(places_have_the_names_of_version_0_2)
{
    static const struct {
        const char *project;
        const char *session;
        const char *id;
    } cases[] = {
        {NULL, NULL, "memory:notes"},
        {NULL, "a", "memory:a"},
        {NULL, "notes", "memory:sha256:25c7c2b93eae5ff42d8e5da2f2e0ba9d8bb4ebee5ef0a50ef57e1e4b26a5a5a8"},
        {NULL, "sha256:", "memory:sha256:"},
        {"p", NULL, "memory-project:148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940:notes"},
        {"p", "a",
         "memory-project:148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940:"
         "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_key from = {"app", "user", cases[i].session};
        const ses_memory_add_options options = {.size = sizeof options, .project = cases[i].project};
        const ses_key place = {"app", "user", cases[i].id};
        assert_int_equal(ADD(&from, &options, "tea"), 1);
        if (i == 3 || i == 2) {
            char *names = raw_text(fixture->path, "SELECT name FROM sessions ORDER BY id DESC LIMIT 1");
            assert_int_equal(strncmp(names, "memory:sha256:", 14), 0);
            assert_int_equal(strlen(names), 14 + 64 + 1);
            free(names);
            continue;
        }
        ses_session *session = must_get(fixture->store, &place);
        assert_int_equal(ses_session_kind(session), SES_KIND_MEMORY);
        assert_true((ses_session_label_value(session, "memory-project") != NULL) ==
                    (cases[i].project != NULL));
        ses_session_close(session);
    }
}

TEST(a_session_of_another_kind_has_the_id)
{
    const ses_key taken = {"app", "user", "memory:notes"};
    const ses_memory_add_options replaces = {.size = sizeof replaces, .flags = SES_MEMORY_REPLACE};
    const ses_text events[] = {{said_event("tea"), SES_NUL}};

    must_create(fixture->store, &taken, NULL);
    assert_code(SES_EXISTS, ses_memory_add_events(fixture->store, &notes, events, 1, NULL, NULL, &error));
    assert_code(SES_EXISTS,
                ses_memory_add_events(fixture->store, &notes, events, 1, &replaces, NULL, &error));
    assert_ok(ses_memory_forget(fixture->store, &notes, NULL, NULL, &error));
    ses_session_close(must_get(fixture->store, &taken));
}

TEST(copies_are_replaced)
{
    const ses_memory_add_options options = {.size = sizeof options, .flags = SES_MEMORY_REPLACE};

    assert_int_equal(ADD(&talk, &options, "tea 1", "tea 2"), 2);
    assert_int_equal(ADD(&talk, &options, "tea 2", "tea 3"), 2);
    assert_string_equal(kept(fixture->store), "memory:talk: tea 2 tea 3; ");
    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea 2");
    assert_int_equal(ADD(&talk, &options, "tea 2"), 1); /* now it is a number */
    assert_string_equal(kept(fixture->store), "");
    assert_int_equal(number_of(fixture->store, &talk), 1);
}

/* Ids that look like those of places, and members whose names are spelled with escapes. */
TEST(odd_names)
{
    const ses_key like_notes = {"app", "user", "memory:notes"};
    const ses_text events[] = {
        {"{\"i\\u0064\":\"x\",\"cont\\u0065nt\":{\"parts\":[{\"text\":\"odd tea\"}]},\"timestamp\":1}",
         SES_NUL}};

    ADD(&notes, NULL, "tea");
    assert_int_equal(ADD(&like_notes, NULL, "tea"), 1);
    assert_string_equal(kept(fixture->store), "memory:notes: tea; memory:memory:notes: tea; ");
    assert_ok(ses_memory_add_events(fixture->store, &notes, events, 1, NULL, NULL, &error));
    assert_string_equal(found(fixture->store, "odd"), "x,");
}

TEST(texts_are_notes)
{
    assert_ok(ses_memory_add(fixture->store, &notes, "allergic to \"nuts\"\n", SES_NUL, NULL, &error));
    assert_ok(ses_memory_add(fixture->store, &talk, "likes nuts", SES_NUL, NULL, &error));
    ses_hits *hits = NULL;
    assert_ok(ses_memory_search(fixture->store, "app", "user", "nuts", SES_NUL, NULL, &hits, &error));
    assert_int_equal(ses_hits_count(hits), 2);
    ses_hits_close(hits);
    assert_code(SES_INVALID, ses_memory_add(fixture->store, &notes, "\xff", 1, NULL, &error));
    assert_code(SES_MISUSE,
                ses_memory_add(fixture->store, &(ses_key){"app", NULL, NULL}, "a", 1, NULL, &error));
}

/* ------------------------------------------------------------------------------------------------- search */

SEARCH_TEST(most_words_come_first_and_then_the_latest)
{
    static const char *const texts[] = {"the deploy is ready", "ready", "D\xc3\x89PLOY: status ready!",
                                        "nothing of that", "ready again"};
    const ses_memory_options two = {.size = sizeof two, .limit = 2};
    ses_hits *hits = NULL;

    must_add(fixture->store, &notes, NULL, texts, 5);
    assert_string_equal(found(fixture->store, "deploy status ready"),
                        "D\xc3\x89PLOY: status ready!,the deploy is ready,ready again,ready,");
    assert_string_equal(found(fixture->store, "ready deploy ready ready"),
                        "D\xc3\x89PLOY: status ready!,the deploy is ready,ready again,ready,");
    assert_ok(ses_memory_search(fixture->store, "app", "user", "deploy ready", SES_NUL, &two, &hits, &error));
    assert_string_equal(ids_of(hits), "D\xc3\x89PLOY: status ready!,the deploy is ready,");
    assert_ok(ses_memory_list(fixture->store, "app", "user", &two, &hits, &error));
    assert_string_equal(ids_of(hits), "ready again,nothing of that,");
}

/* An agent's turn may end in more calls than are listed. */
TEST(calls_do_not_hide_what_was_said)
{
    const ses_memory_options one = {.size = sizeof one, .limit = 1};
    ses_hits *hits = NULL;

    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "green tea");
    for (int i = 0; i < 3; i++)
        must_append_by_key(fixture->store, &talk,
                           "{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"tea\"}}]}}");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_ok(ses_memory_list(fixture->store, "app", "user", &one, &hits, &error));
    assert_string_equal(ids_of(hits), "green tea,");
}

TEST(any_text_is_a_query)
{
    char *many = malloc(200 * 1000);
    char *at = many;

    ADD(&notes, NULL, "I wrote tea");
    assert_string_equal(found(fixture->store, ""), "");
    assert_string_equal(found(fixture->store, " \n"), "");
    assert_string_equal(found(fixture->store, "..."), "");
    for (int i = 0; i < 20000; i++)
        at += sprintf(at, "tea ");
    assert_string_equal(found(fixture->store, many), "I wrote tea,");
    memset(many, 'x', 100000);
    strcpy(many + 100000, " tea");
    assert_string_equal(found(fixture->store, many), "I wrote tea,");
    many[100000] = 'x';
    assert_string_equal(found(fixture->store, many), "");
    at = many + sprintf(many, "tea");
    for (int i = 0; i < 300; i++)
        at += sprintf(at, " %d", i);
    assert_string_equal(found(fixture->store, many), "I wrote tea,");
    free(many);
}

SEARCH_TEST(what_is_there_twice_is_found_once)
{
    const ses_memory_add_options copies = {.size = sizeof copies, .flags = SES_MEMORY_COPY};
    const char *event = said_event("tea");
    const ses_text events[] = {{event, SES_NUL}};

    must_create(fixture->store, &talk, NULL);
    must_append_by_key(fixture->store, &talk, event);
    assert_ok(ses_memory_add_events(fixture->store, &talk, events, 1, &copies, NULL, &error));
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_string_equal(found(fixture->store, "tea"), "tea,");
}

SEARCH_TEST(a_project_is_searched_besides)
{
    const ses_memory_add_options to = {.size = sizeof to, .project = "p"};
    const ses_memory_add_options other = {.size = sizeof other, .project = "q"};

    ADD(&notes, NULL, "tea for all");
    ADD(&notes, &to, "tea of p");
    ADD(&talk, &to, "tea of p in a talk");
    ADD(&notes, &other, "tea of q");
    assert_string_equal(found(fixture->store, "tea"), "tea for all,");
    assert_string_equal(found_in(fixture->store, "tea", "p"), "tea of p in a talk,tea of p,tea for all,");
    assert_string_equal(listed_in(fixture->store, "q"), "tea of q,tea for all,");
    assert_ok(ses_memory_forget(fixture->store, &talk, "p", NULL, &error));
    assert_string_equal(found_in(fixture->store, "tea", "p"), "tea of p,tea for all,");
    assert_ok(ses_memory_forget(fixture->store, &notes, "p", NULL, &error));
    assert_string_equal(found_in(fixture->store, "tea", "p"), "tea for all,");
    ADD(&talk, &to, "tea again");
    assert_ok(ses_memory_forget(fixture->store, &talk, NULL, NULL, &error));
    assert_string_equal(found_in(fixture->store, "tea", "p"), "tea for all,");
}

/* More than the index is asked for at once, and more than a page of a search. */
SEARCH_TEST(thousands_are_found)
{
    enum { COUNT = 2500 };
    static char events[COUNT][120];
    static ses_text texts[COUNT];
    const ses_memory_options options = {.size = sizeof options, .limit = 10000};
    ses_hits *hits = NULL;

    for (int i = 0; i < COUNT; i++) {
        snprintf(events[i], sizeof events[i],
                 "{\"id\":\"%d\",\"timestamp\":%d,\"content\":{\"parts\":[{\"text\":\"tea\"}]}}", i, i);
        texts[i] = (ses_text){events[i], SES_NUL};
    }
    assert_ok(ses_memory_add_events(fixture->store, &notes, texts, COUNT, NULL, NULL, &error));
    assert_ok(ses_memory_search(fixture->store, "app", "user", "tea", SES_NUL, &options, &hits, &error));
    assert_int_equal(ses_hits_count(hits), COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(atoi(ses_hits_at(hits, (size_t)i)->id), COUNT - 1 - i);
    ses_hits_close(hits);
}

TEST(each_user_has_a_memory)
{
    ses_hits *hits = NULL;

    ADD(&notes, NULL, "tea");
    assert_ok(ses_memory_search(fixture->store, "app", "other", "tea", SES_NUL, NULL, &hits, &error));
    assert_string_equal(ids_of(hits), "");
    assert_ok(ses_memory_search(fixture->store, "none", "user", "tea", SES_NUL, NULL, &hits, &error));
    assert_string_equal(ids_of(hits), "");
    assert_ok(ses_memory_list(fixture->store, "none", "user", NULL, &hits, &error));
    assert_string_equal(ids_of(hits), "");
    assert_code(SES_INVALID,
                ses_memory_search(fixture->store, "app", "", "...", SES_NUL, NULL, &hits, &error));
    assert_code(SES_MISUSE,
                ses_memory_search(fixture->store, "app", NULL, "a", SES_NUL, NULL, &hits, &error));
    const ses_memory_options wrong[] = {{.size = sizeof wrong[0], .limit = 10001},
                                        {.size = sizeof wrong[0], .snippet_bytes = 65537},
                                        {.size = sizeof wrong[0], .project = ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_code(SES_INVALID,
                    ses_memory_search(fixture->store, "app", "user", "a", SES_NUL, &wrong[i], &hits, &error));
}

SEARCH_TEST(times_bound_what_is_found)
{
    const int64_t time = INT64_C(1000000000000);
    const ses_memory_options before = {.size = sizeof before, .before_us = &time};
    const ses_memory_options since = {.size = sizeof since, .since_us = &time};
    const ses_text events[] = {
        {"{\"id\":\"early\",\"timestamp\":999999,\"content\":{\"parts\":[{\"text\":\"tea\"}]}}", SES_NUL},
        {"{\"id\":\"late\",\"timestamp\":1000000,\"content\":{\"parts\":[{\"text\":\"tea\"}]}}", SES_NUL}};
    ses_hits *hits = NULL;

    assert_ok(ses_memory_add_events(fixture->store, &notes, events, 2, NULL, NULL, &error));
    assert_ok(ses_memory_search(fixture->store, "app", "user", "tea", SES_NUL, &before, &hits, &error));
    assert_string_equal(ids_of(hits), "early,");
    assert_ok(ses_memory_search(fixture->store, "app", "user", "tea", SES_NUL, &since, &hits, &error));
    assert_string_equal(ids_of(hits), "late,");
    assert_ok(ses_memory_list(fixture->store, "app", "user", &before, &hits, &error));
    assert_string_equal(ids_of(hits), "early,");
    assert_ok(ses_memory_list(fixture->store, "app", "user", &since, &hits, &error));
    assert_string_equal(ids_of(hits), "late,");
}

/* --------------------------------------------------------------------------------------------- forgetting */

SEARCH_TEST(a_user_and_a_session_are_forgotten)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};
    const ses_key other = {"app", "user", "other"};

    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea of a talk");
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    ADD(&talk, NULL, "tea beside it");
    ADD(&other, NULL, "other tea");
    ADD(&notes, NULL, "noted tea");
    assert_ok(
        ses_memory_forget(fixture->store, &(ses_key){"app", "user", "memory:talk"}, NULL, NULL, &error));
    assert_ok(ses_memory_forget(fixture->store, &talk, NULL, &options, &error)); /* it has other copies */
    assert_int_equal(erased.sessions, 1);
    assert_int_equal(erased.events, 1);
    assert_string_equal(found(fixture->store, "tea"), "noted tea,other tea,");
    assert_int_equal(number_of(fixture->store, &talk), 0);
    assert_ok(ses_memory_forget(fixture->store, &notes, NULL, &options, &error));
    assert_int_equal(erased.sessions, 2);
    assert_string_equal(found(fixture->store, "tea"), "");
    assert_ok(ses_memory_forget(fixture->store, &notes, NULL, NULL, &error));
    ses_session_close(must_get(fixture->store, &talk));
    assert_no_problems(fixture->store);
}

SEARCH_TEST(single_events_are_forgotten)
{
    const int64_t second[] = {2};
    const ses_key place = {"app", "user", "memory:talk"};

    must_create(fixture->store, &talk, NULL);
    say(fixture->store, &talk, "tea 1");
    say(fixture->store, &talk, "tea 2");
    say(fixture->store, &talk, "tea 3");
    assert_ok(ses_memory_forget_events(fixture->store, &talk, second, 1, NULL, &error));
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_ok(ses_memory_forget_events(fixture->store, &talk, second, 1, NULL, &error));
    assert_string_equal(found(fixture->store, "tea"), "tea 3,tea 1,");
    assert_string_equal(kept(fixture->store), "memory:talk: tea 1 tea 3; ");
    assert_ok(ses_memory_forget_events(fixture->store, &place, second, 1, NULL, &error));
    assert_string_equal(found(fixture->store, "tea"), "tea 1,");
    assert_string_equal(listed_in(fixture->store, NULL), "tea 1,");
    assert_ok(ses_memory_forget_events(fixture->store, &talk, NULL, 0, NULL, &error));
    assert_code(SES_NOTFOUND, ses_memory_forget_events(fixture->store, &(ses_key){"app", "user", "none"},
                                                       second, 1, NULL, &error));
    assert_no_problems(fixture->store);
}
