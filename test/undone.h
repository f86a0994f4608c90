/*
 * On a server: whatever table of the store refuses what a call writes, nothing of the call is stored. Each
 * call is made with each table that refuses in turn; where it fails, the store must be as before.
 */
#ifndef SESLITE_TEST_UNDONE_H
#define SESLITE_TEST_UNDONE_H

#include "seslite_artifact.h"
#include "seslite_erase.h"
#include "seslite_usage.h"
#include "support.h"

struct undone {
    ses_store *store;
    void *database;
    /* From now on the table refuses every change, or no longer. */
    void (*refuse)(void *database, const char *table, bool refuses);
    const char *tables; /* their names, with commas between them */
};

struct undone_text {
    char data[65536];
    size_t len;
};

static const ses_key undone_key = {"app", "user", "one"};

static int undone_write(void *context, const char *data, size_t len, ses_error *error)
{
    struct undone_text *text = context;

    (void)error;
    if (len > sizeof text->data - text->len)
        return SES_LIMIT;
    memcpy(text->data + text->len, data, len);
    text->len += len;
    return 0;
}

/* The content of the store. */
static void undone_look(ses_store *store, struct undone_text *text, int64_t *tokens)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    text->len = 0;
    assert_ok(ses_store_export(store, NULL, undone_write, text, &error));
    assert_ok(ses_store_usage(store, NULL, NULL, &rows, &error));
    *tokens = ses_usage_rows_sum(rows)->total;
    ses_usage_rows_close(rows);
}

/* Not after each call, since a server takes long for it. */
static void undone_check(ses_store *store)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

/* ---------------------------------------------------------------------------------------------- the calls */

typedef int undone_call(ses_store *store, ses_error *error);

static int undone_create(ses_store *store, ses_error *error)
{
    const ses_label label = {"l", "v"};
    const ses_create_options options = {
        .size = sizeof options, .title = "T", .labels = &label, .label_count = 1};
    return ses_create(store, &(ses_key){"fresh", "user", "new"}, Q("{'app:a':1,'user:u':1,'k':1}"), SES_NUL,
                      &options, NULL, error);
}

static int undone_append(ses_store *store, ses_error *error)
{
    const ses_text events[] = {{Q("{'actions':{'stateDelta':{'app:a':5,'user:u':5,'k':5}}}"), SES_NUL},
                               {Q("{'actions':{'rewindBeforeInvocationId':'i2'}}"), SES_NUL}};
    return ses_append_batch_by_key(store, &undone_key, events, 2, NULL, NULL, error);
}

static int undone_cut(ses_store *store, ses_error *error)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    return ses_cut_by_key(store, &undone_key, &first, NULL, NULL, error);
}

static int undone_prune(ses_store *store, ses_error *error)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = 1};
    return ses_prune_by_key(store, &undone_key, &options, NULL, error);
}

static int undone_fork(ses_store *store, ses_error *error)
{
    const ses_point second = {.size = sizeof second, .kind = SES_POINT_SEQ, .seq = 2};
    return ses_fork_by_key(store, &undone_key, &second, &(ses_key){"app", "user", "fork"}, NULL, NULL, error);
}

static int undone_redact(ses_store *store, ses_error *error)
{
    const ses_redact_options options = {.size = sizeof options, .flags = SES_REDACT_STATE};
    ses_erased erased = {.size = sizeof erased};
    return ses_redact_by_key(store, &undone_key, (int64_t[]){0, 1, 2}, 3, &options, &erased, error);
}

static int undone_save(ses_store *store, ses_error *error)
{
    return ses_artifact_save_by_key(store, &undone_key, "a", "other", 5, NULL, NULL, error);
}

static int undone_delete(ses_store *store, ses_error *error)
{
    return ses_delete(store, &undone_key, NULL, NULL, error);
}

static int undone_delete_user(ses_store *store, ses_error *error)
{
    return ses_delete_user(store, "app", "user", NULL, NULL, NULL, error);
}

static int undone_drop_tally(ses_store *store, ses_error *error)
{
    const ses_tally_options drop = {.size = sizeof drop, .flags = SES_TALLY_DROP};
    return ses_store_tally(store, &drop, NULL, error);
}

static undone_call *const undone_calls[] = {undone_create,      undone_append,    undone_cut,  undone_prune,
                                            undone_fork,        undone_redact,    undone_save, undone_delete,
                                            undone_delete_user, undone_drop_tally};

/* ----------------------------------------------------------------------------------------------- the test */

static void undone_furnish(ses_store *store)
{
    const ses_text events[] = {
        {Q("{'id':'1','invocationId':'i1','usageMetadata':{'totalTokenCount':7},'content':{'parts':[{'text':"
           "'x'}]},'actions':{'stateDelta':{'k':1,'app:a':2}}}"),
         SES_NUL},
        {Q("{'id':'2','invocationId':'i2','actions':{'stateDelta':{'k':2,'l':3},'artifactDelta':{'a':0}}}"),
         SES_NUL}};
    ses_error error;

    must_create(store, &undone_key, Q("{'user:u':1,'i':1}"));
    assert_ok(ses_artifact_save_by_key(store, &undone_key, "a", "text", 4, NULL, NULL, &error));
    assert_ok(ses_append_batch_by_key(store, &undone_key, events, 2, NULL, NULL, &error));
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
}

static void undone_clear(ses_store *store)
{
    static const char *const apps[] = {"app", "fresh"};
    ses_error error;

    for (size_t i = 0; i < 2; i++)
        assert_ok(ses_delete_app(store, apps[i], NULL, NULL, &error));
}

/* True if the call has failed: then the store is as before. */
static bool undone_try(const struct undone *undone, undone_call *call, const char *table)
{
    static struct undone_text before;
    static struct undone_text after;
    int64_t tokens = 0;
    int64_t tokens_after = 0;
    ses_error error;

    undone_look(undone->store, &before, &tokens);
    undone->refuse(undone->database, table, true);
    const int code = call(undone->store, &error);
    undone->refuse(undone->database, table, false);
    undone_look(undone->store, &after, &tokens_after);
    if (code < 0 && (before.len != after.len || memcmp(before.data, after.data, before.len) != 0))
        fail_msg("%s refuses (%s), and something is stored: %.*s", table, error.message, (int)after.len,
                 after.data);
    if (code < 0)
        assert_int_equal(tokens, tokens_after);
    if (code >= 0) {
        undone_clear(undone->store);
        undone_furnish(undone->store);
    }
    return code < 0;
}

/* Takes the next name from the list; false at its end. */
static bool undone_next_table(const char **tables, char *table, size_t capacity)
{
    const size_t len = strcspn(*tables, ",");

    snprintf(table, capacity, "%.*s", (int)len, *tables);
    *tables += len + ((*tables)[len] == ',');
    return len > 0;
}

static void undone_try_all(const struct undone *undone)
{
    int failures = 0;
    char table[64];

    undone_furnish(undone->store);
    for (size_t i = 0; i < sizeof undone_calls / sizeof undone_calls[0]; i++) {
        const char *tables = undone->tables;
        const int before = failures;
        while (undone_next_table(&tables, table, sizeof table))
            failures += undone_try(undone, undone_calls[i], table);
        assert_true(failures > before); /* each call writes to one of them */
        undone_check(undone->store);
    }
    assert_true(failures > 30);
}

#endif
