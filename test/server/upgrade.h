/*
 * A store of version 0.2.0 (schema version 2) on a server, which a client of that version has open. make_old
 * makes one in a new database, with the sessions first, fork (of first), alone, and orphan and sibling, which
 * are forks of one that is deleted, and memory:notes. Two events of alone are remembered.
 * FAMILIES gives their names by families. OLD_BEGIN is how a transaction of
 * 0.2.0 that writes begins, LATE_FORK how it makes a fork of fork, and REFUSED is what OLD_BEGIN says of a
 * feature. WAITING counts those who wait for a lock in the database "beside".
 */
#include <pthread.h>

#include "siblings.h"

static const ses_key first = {.app = "app", .user = "user", .session = "first"};

static void assert_families(const struct place *place, const char *expected)
{
    assert_string_equal(place_text(place, FAMILIES), expected);
    assert_string_equal(place_text(place, "SELECT version FROM " TABLE "schema_version"), "3");
}

/* The labels have become kinds and numbers. */
static void assert_memory(ses_store *store)
{
    ses_session *alone = must_get(store, &(ses_key){"app", "user", "alone"});
    ses_session *notes = must_get(store, &(ses_key){"app", "user", "memory:notes"});

    assert_int_equal(ses_session_remembered_seq(alone), 2);
    assert_int_equal(ses_session_label_count(alone), 1);
    assert_int_equal(ses_session_kind(alone), SES_KIND_CONVERSATION);
    assert_int_equal(ses_session_kind(notes), SES_KIND_MEMORY);
    assert_int_equal(ses_session_label_count(notes), 0);
    ses_session_close(alone);
    ses_session_close(notes);
}

struct opening {
    pthread_t thread;
    const struct place *place;
    int code;
    ses_error error;
};

static void *open_it(void *context)
{
    struct opening *opening = context;
    ses_store *store = NULL;

    opening->code = place_open(opening->place, NULL, &store, &opening->error);
    ses_close(store);
    return NULL;
}

static void opening_begin(struct opening *opening, const struct place *place)
{
    opening->place = place;
    assert_int_equal(pthread_create(&opening->thread, NULL, open_it, opening), 0);
}

static void opening_end(struct opening *opening)
{
    assert_int_equal(pthread_join(opening->thread, NULL), 0);
    if (opening->code != SES_OK)
        fail_msg("%s", opening->error.message);
}

SERVER_TEST(the_upgrade_waits_for_an_old_client_and_then_refuses_it)
{
    struct place old;
    struct opening opening;
    int64_t waiting = 0;

    make_old(&old, database, "beside");
    place_run(&old, OLD_BEGIN);
    opening_begin(&opening, &old);
    for (int i = 0; i < 5000 && (waiting = database_number(database, WAITING)) == 0; i++)
        support_pause_us(1000);
    assert_int_equal(waiting, 1);
    place_run(&old, LATE_FORK "; COMMIT"); /* in the transaction that it has begun */
    opening_end(&opening);
    assert_families(&old, "first fork late | orphan sibling");
    assert_non_null(strstr(place_try(&old, OLD_BEGIN), REFUSED));
    place_end(&old);
}

SERVER_TEST(an_upgraded_store_is_read_and_written)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;
    struct place place;
    int64_t problems = -1;

    make_old(&place, database, "upgraded");
    assert_code(SES_READONLY, place_open(&place, &read_only, &store, &error));
    assert_message("run seslite migrate");
    store = place_store(&place);
    must_append_by_key(store, &first, "{}");
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
    assert_memory(store);
    assert_families(&place, "first fork | orphan sibling");
    assert_siblings(store, &(ses_key){"app", "user", "orphan"}, &(ses_key){"app", "user", "sibling"});
    ses_close(store);
    assert_ok(place_open(&place, &read_only, &store, &error));
    ses_close(store);
    place_end(&place);
}

/* Many programs open it at once: one upgrades it. */
SERVER_TEST(programs_that_open_at_once)
{
    enum { PROGRAMS = 6 };
    struct opening openings[PROGRAMS];
    struct place place;

    make_old(&place, database, "at_once");
    for (int i = 0; i < PROGRAMS; i++)
        opening_begin(&openings[i], &place);
    for (int i = 0; i < PROGRAMS; i++)
        opening_end(&openings[i]);
    assert_families(&place, "first fork | orphan sibling");
    place_end(&place);
}
