/*
 * Scenes that together use every part of the store, for tests that make something fail in them. Each step
 * that fails must do so cleanly: with a code that was to be expected and a message. The fault is then lifted
 * and the step is done again, and must succeed; so a handle or a file that was left half changed shows, at
 * the latest in the dump at the end, which must be that of a run without faults.
 *
 * One run makes a call fail in every step (see fault_calls.h), so what a scene costs grows with its length
 * times that of its longest step: a new part of the store gets a scene of its own.
 */
#ifndef SESLITE_TEST_SCENARIO_H
#define SESLITE_TEST_SCENARIO_H

#include <unistd.h>

#include "scenario_forms.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_inbox.h"

static void faults_use_handle(struct faults *faults, ses_store *store, const ses_key *key)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_append_options seen = {.size = sizeof seen,
                                     .expected = Q("{'user:u':2,'app:a':'__ADK_SENTINEL_REMOVED__'}"),
                                     .expected_len = SES_NUL};
    const ses_append_options beside = {
        .size = sizeof beside, .delta = Q("{'m':1,'\\u006d':2,'temp:m':3}"), .delta_len = SES_NUL};
    const ses_text batch[] = {
        {Q("{'author':'b1','id':'b-1'}"), SES_NUL},
        {Q("{'author':'b2','partial':true}"), SES_NUL},
        {Q("{'author':'b3','branch':'x\\u0041','actions':{'stateDelta':{'b':3}}}"), SES_NUL}};
    const char *const temp =
        "{\"author\":\"t\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{\"temp:x\":1,\"k\":\"v\\n\","
        "\"user:u\":2,\"app:a\":\"__ADK_SENTINEL_REMOVED__\",\"gone\":1}}}";
    const char *const retried =
        "{\"author\":\"r\",\"id\":\"r-1\",\"timestamp\":null,\"actions\":{\"stateDelta\":{\"gone\":"
        "\"__ADK_SENTINEL_REMOVED__\"}}}";
    ses_session *session = NULL;
    const char *text = NULL;
    int64_t number = 0;
    double real = 0;
    ses_error error;

    STEP(SES_OK, ses_get(store, key, NULL, &session, &error));
    if (!session)
        return;
    STEP(SES_OK, ses_append(session, temp, SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_state_get_string(session, "k", &text, NULL, &error));
    STEP(SES_OK, ses_state_get_int64(session, "temp:x", &number, &error));
    STEP(SES_OK, ses_state_get_double(session, "user:u", &real, &error));
    STEP(SES_OK, ses_append_batch(session, batch, 3, NULL, NULL, &error));
    STEP(SES_OK, ses_append(session, retried, SES_NUL, &seen, NULL, &error));
    STEP(SES_DUPLICATE, ses_append(session, retried, SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, key, Q("{'author':'other','actions':{'stateDelta':{'o':1}}}"),
                                   SES_NUL, NULL, NULL, &error));
    STEP(SES_STALE, ses_append(session, Q("{'author':'late'}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append(session, Q("{'author':'late'}"), SES_NUL, &anyway, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, key, Q("{'author':'more','actions':{'stateDelta':{'m':0,'n':0}}}"),
                                   SES_NUL, &beside, NULL, &error));
    STEP(SES_OK, ses_refresh(session, NULL, &error));
    for (size_t i = 0; i < ses_state_count(session); i++)
        STEP(SES_OK, ses_state_at(session, i, &text, NULL, NULL, &error));
    if (ses_session_event_count(session) != 7 || ses_session_version(session) != 7)
        faults_complain(faults, "the handle lacks an event", 0, &error);
    ses_session_close(session);
}

static void faults_play_handles(struct faults *faults, ses_store *store)
{
    const ses_key key = {"app", "user", "one"};
    ses_session *session = NULL;
    ses_error error;

    STEP(SES_OK, ses_create(store, &key, Q("{'app:a':1,'user:u':1,'temp:t':1,'k':[1.10]}"), SES_NUL, NULL,
                            &session, &error));
    ses_session_close(session);
    STEP(SES_EXISTS, ses_create(store, &key, NULL, 0, NULL, NULL, &error));
    STEP(SES_EXISTING, ses_get_or_create(store, &key, NULL, 0, NULL, &session, &error));
    ses_session_close(session);
    faults_use_handle(faults, store, &key);
}

static void faults_walk(struct faults *faults, ses_store *store, const ses_key *key,
                        const ses_cursor_options *options, int expected)
{
    int count = 0;
    int result = SES_ROW;

    /* A cursor that has failed stays so: it is opened again. */
    for (int tries = 0; tries < 3 && result != SES_OK; tries++) {
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        ses_error error;
        count = 0;
        faults->retrying = tries > 0;
        STEP(SES_OK, ses_cursor_open(store, key, options, &cursor, &error));
        while ((result = ses_cursor_next(cursor, &event, &error)) == SES_ROW)
            count++;
        if (result < 0)
            faults_failed(faults, "ses_cursor_next", result, &error);
        if (ses_cursor_close(cursor, &error) != result)
            faults_complain(faults, "ses_cursor_close", result, &error);
    }
    faults->retrying = false;
    if (count != expected) {
        const ses_error none = {0};
        faults_complain(faults, "a cursor lacks an event", result, &none);
    }
}

static void faults_use_cursor(struct faults *faults, ses_store *store, const ses_key *key, int backward)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 5};
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = &newest};
    faults_walk(faults, store, key, &options, 5);
}

/* One event of three is left by a rewind. */
static void faults_use_live(struct faults *faults, ses_store *store, const ses_key *key)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_text events[] = {
        {Q("{'id':'l-1','invocationId':'i1'}"), SES_NUL},
        {Q("{'id':'l-2','invocationId':'i2'}"), SES_NUL},
        {Q("{'id':'l-3','invocationId':'i3','actions':{'rewindBeforeInvocationId':'i2'}}"), SES_NUL}};
    ses_session *session = NULL;
    ses_error error;

    STEP(SES_OK, ses_append_batch_by_key(store, key, events, 3, NULL, NULL, &error));
    STEP(SES_OK, ses_get(store, key, GET_RANGE(&live), &session, &error));
    if (!session || ses_session_event_count(session) != 1)
        faults_complain(faults, "a handle does not hold the live event", 0, &error);
    ses_session_close(session);
    faults_walk(faults, store, key, &(ses_cursor_options){.size = sizeof(ses_cursor_options), .range = &live},
                1);
}

static void faults_play_reads(struct faults *faults, ses_store *store)
{
    const ses_key key = {"app", "user", "two"};
    const ses_key live = {"app", "user", "three"};
    const ses_text events[] = {{Q("{'author':'a1'}"), SES_NUL}, {Q("{'author':'a2'}"), SES_NUL},
                               {Q("{'author':'a3'}"), SES_NUL}, {Q("{'author':'a4'}"), SES_NUL},
                               {Q("{'author':'a5'}"), SES_NUL}, {Q("{'author':'a6','branch':'b'}"), SES_NUL}};
    char *json = NULL;
    ses_error error;

    STEP(SES_OK, ses_create(store, &key, Q("{'app:a':1,'k':[1.10]}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &live, "{}", SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &key, events, 6, NULL, NULL, &error));
    faults_use_cursor(faults, store, &key, 0);
    faults_use_cursor(faults, store, &key, 1);
    faults_use_live(faults, store, &live);
    STEP(SES_OK, ses_state_json_by_key(store, &key, NULL, &json, NULL, &error));
    ses_free(json);
    STEP(SES_OK, ses_state_get_by_key(store, &key, "k", NULL, &json, NULL, &error));
    ses_free(json);
    STEP(SES_ABSENT, ses_event_get_by_key(store, &key, "none", NULL, NULL, &json, NULL, &error));
}

static void faults_use_lists(struct faults *faults, ses_store *store)
{
    ses_list_options options = {.size = sizeof options, .limit = 1, .flags = SES_LIST_PREVIEW};
    ses_page *first = NULL;
    ses_page *second = NULL;
    ses_error error;

    STEP(SES_OK, ses_list(store, "app", NULL, &options, &first, &error));
    if (first) {
        options.token = ses_page_token(first);
        STEP(SES_OK, ses_list(store, "app", NULL, &options, &second, &error));
        if (ses_page_count(first) != 1 || !second || ses_page_count(second) != 1)
            faults_complain(faults, "a page lacks a session", 0, &error);
    }
    ses_page_close(second);
    ses_page_close(first);
    STEP(SES_OK, ses_list(store, "app", "user", NULL, &first, &error));
    ses_page_close(first);
}

static void faults_use_searches(struct faults *faults, ses_store *store)
{
    const ses_key everywhere = {"app", NULL, NULL};
    ses_search_options options = {.size = sizeof options, .limit = 1, .snippet_bytes = 10};
    ses_hits *first = NULL;
    ses_hits *second = NULL;
    ses_error error;

    STEP(SES_OK, ses_store_search(store, &everywhere, "found", SES_NUL, &options, &first, &error));
    if (first) {
        options.token = ses_hits_token(first);
        STEP(SES_OK, ses_store_search(store, &everywhere, "found", SES_NUL, &options, &second, &error));
        if (ses_hits_count(first) != 1 || !second || ses_hits_count(second) != 0)
            faults_complain(faults, "a search lacks a hit", 0, &error);
    }
    ses_hits_close(second);
    ses_hits_close(first);
}

/* A tally, which is made, brought up to date and made again. */
static void faults_use_usage(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};
    ses_usage_options options = {.size = sizeof options,
                                 .flags = SES_USAGE_BY_MODEL | SES_USAGE_BY_SESSION | SES_USAGE_BY_DAY,
                                 .limit = 1};
    ses_error error;

    STEP(SES_OK, ses_store_tally(store, NULL, NULL, &error));
    for (int i = 0; i < 3; i++) {
        ses_usage_rows *rows = NULL;
        STEP(SES_OK, ses_append_by_key(store, &one,
                                       Q("{'modelVersion':'\\u006d','usageMetadata':{'totalTokenCount':7}}"),
                                       SES_NUL, NULL, NULL, &error));
        if (i == 2)
            STEP(SES_OK, ses_store_tally(store, &rebuild, NULL, &error));
        options.flags ^= i == 1 ? SES_USAGE_BY_INVOCATION : 0;
        STEP(SES_OK, ses_store_usage(store, NULL, &options, &rows, &error));
        if (rows && ses_usage_rows_sum(rows)->total != 7 * (i + 1))
            faults_complain(faults, "the sum of tokens is wrong", 0, &error);
        ses_usage_rows_close(rows);
    }
}

static void faults_use_names(struct faults *faults, ses_store *store)
{
    ses_names *apps = NULL;
    ses_names *users = NULL;
    ses_error error;

    STEP(SES_OK, ses_list_apps(store, NULL, &apps, &error));
    STEP(SES_OK, ses_list_users(store, "app", NULL, &users, &error));
    if (!apps || ses_names_count(apps) != (faults->hooks ? 2 : 1) || !users || ses_names_count(users) != 2)
        faults_complain(faults, "a page lacks a name", 0, &error);
    ses_names_close(users);
    ses_names_close(apps);
}

static void faults_play_lists(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    const ses_key two = {"app", "user", "two"};
    const ses_key three = {"app", "other", "three"};
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &two, "{}", SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &three, Q("{'user:x':1}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &one, Q("{'content':{'parts':[{'text':'It is \\'found\\''}]}}"),
                                   SES_NUL, NULL, NULL, &error));
    faults_use_lists(faults, store);
    faults_use_searches(faults, store);
    faults_use_usage(faults, store);
    faults_use_names(faults, store);
    STEP(SES_OK, ses_delete(store, &two, NULL, NULL, &error));
    STEP(SES_OK, ses_delete_user(store, "app", "other", NULL, NULL, NULL, &error));
}

static void faults_use_filters(struct faults *faults, ses_store *store, const char *user)
{
    const ses_filter filter = {.size = sizeof filter, .label = "l", .label_value = "v"};
    ses_list_options options = {.size = sizeof options, .filter = &filter};
    int64_t count = 0;
    ses_error error;

    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        ses_page *page = NULL;
        options.order = order;
        STEP(SES_OK, ses_list(store, "app", user, &options, &page, &error));
        if (!page || ses_page_count(page) != 1 ||
            strcmp(ses_session_title(ses_page_session(page, 0)), "Title") != 0)
            faults_complain(faults, "a filtered page lacks a session or its title", 0, &error);
        ses_page_close(page);
    }
    STEP(SES_OK, ses_list_count(store, "app", user, &filter, NULL, &count, &error));
    if (count != 1)
        faults_complain(faults, "the count is wrong", 0, &error);
}

/* Shared state, titles, labels, and lists that are filtered by them. */
static void faults_play_labels(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "labels", "one"};
    const ses_key two = {"app", "labels", "two"};
    const ses_label given[] = {{"l", "v"}, {"gone", "1"}};
    const ses_label changes[] = {{"new", "2"}, {"gone", NULL}};
    const ses_create_options create = {
        .size = sizeof create, .title = "First", .labels = given, .label_count = 2};
    const ses_label marks[] = {{"none", NULL}, {"marked", "yes"}};
    const ses_append_options marking = {
        .size = sizeof marking, .title = "Title", .labels = marks, .label_count = 2};
    const ses_shared_state_options seen = {
        .size = sizeof seen, .expected = "{\"k\":1}", .expected_len = SES_NUL};
    ses_session *session = NULL;
    char *json = NULL;
    ses_error error;

    STEP(SES_OK, ses_shared_state_change(store, "app", "labels", "{\"k\":1}", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_shared_state_change(store, "app", "labels", "{\"k\":2}", SES_NUL, &seen, &error));
    STEP(SES_STALE, ses_shared_state_change(store, "app", "labels", "{\"k\":3}", SES_NUL, &seen, &error));
    STEP(SES_OK, ses_shared_state_json(store, "app", "labels", NULL, &json, NULL, &error));
    ses_free(json);
    STEP(SES_OK, ses_shared_state_get(store, "app", "labels", "k", NULL, &json, NULL, &error));
    ses_free(json);
    STEP(SES_OK, ses_create(store, &one, Q("{'i':1}"), SES_NUL, &create, &session, &error));
    STEP(SES_OK, ses_create(store, &two, NULL, 0, NULL, NULL, &error));
    if (!session)
        return;
    STEP(SES_OK, ses_title_set_by_key(store, &one, "Title", NULL, &error));
    STEP(SES_OK, ses_labels_set(session, changes, 2, NULL, &error));
    STEP(SES_OK, ses_refresh(session, NULL, &error));
    if (ses_session_label_count(session) != 2 || strcmp(ses_session_title(session), "Title") != 0)
        faults_complain(faults, "title and labels are not as they should be", 0, &error);
    STEP(SES_OK, ses_append_by_key(store, &two, Q("{'author':'a'}"), SES_NUL, &marking, NULL, &error));
    STEP(SES_OK, ses_append(session, Q("{'author':'a'}"), SES_NUL, &marking, NULL, &error));
    if (ses_session_label_count(session) != 3 || ses_session_event_count(session) != 1)
        faults_complain(faults, "an append has not set a label", 0, &error);
    ses_session_close(session);
    faults_use_filters(faults, store, NULL);
    faults_use_filters(faults, store, "labels");
}

/* A session goes back and forth, and another begins on the way. */
static void faults_play_history(struct faults *faults, ses_store *store)
{
    const ses_redact_options redact = {.size = sizeof redact, .flags = SES_REDACT_STATE | SES_REDACT_FORKS};
    ses_erased erased = {.size = sizeof erased};
    const ses_key key = {"app", "history", "h"};
    const ses_key copy = {"app", "history", "copy"};
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    const ses_point second = {.size = sizeof second, .kind = SES_POINT_SEQ, .seq = 2};
    const ses_as_of_options shared = {.size = sizeof shared, .flags = SES_AS_OF_SHARED};
    const ses_rewind_options artifacts = {
        .size = sizeof artifacts, .artifact_delta = "{\"f\":1}", .artifact_delta_len = SES_NUL};
    const ses_text events[] = {
        {Q("{'invocationId':'i1','author':'user','content':{'parts':[{'text':'x'}]},'actions':{'stateDelta':{"
           "'k':2,'l':1,'user:h':1}}}"),
         SES_NUL},
        {Q("{'invocationId':'i1','actions':{'stateDelta':{'k':3}}}"), SES_NUL},
        {Q("{'invocationId':'i\\u0032','author':'user','content':{'parts':[{'functionCall':{'id':'\\u0041'}}]"
           "},"
           "'actions':{'stateDelta':{'m':1,'l':'__ADK_SENTINEL_REMOVED__'}}}"),
         SES_NUL}};
    ses_session *session = NULL;
    ses_popped *popped = NULL;
    ses_session *fork = NULL;
    char *json = NULL;
    ses_error error;

    STEP(SES_OK, ses_create(store, &key, Q("{'k':1,'i':[1]}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &key, events, 3, NULL, NULL, &error));
    STEP(SES_OK, ses_get(store, &key, NULL, &session, &error));
    if (!session)
        return;
    STEP(SES_OK, ses_state_json_as_of(session, &second, &shared, &json, NULL, &error));
    if (json && strcmp(json, Q("{'user:h':1,'i':[1],'k':3,'l':1}")) != 0)
        faults_complain(faults, json, 0, &error);
    ses_free(json);
    STEP(SES_OK, ses_state_json_initial_by_key(store, &key, NULL, &json, NULL, &error));
    ses_free(json);
    STEP(SES_OK, ses_rewind(session, &last_turn, &artifacts, NULL, &error));
    STEP(SES_UNCHANGED, ses_rewind(session, &second, NULL, NULL, &error));
    STEP(SES_OK, ses_fork(session, &second, &copy, NULL, &fork, &error));
    STEP(SES_OK, ses_redo(session, NULL, NULL, &error));
    STEP(SES_OK, ses_cut(fork, &(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = 1}, NULL,
                         NULL, &error));
    if (ses_session_event_count(session) != 5 || !fork || ses_session_event_count(fork) != 1)
        faults_complain(faults, "history lacks an event", 0, &error);
    STEP(SES_OK, ses_redact(session, (int64_t[]){0, 1, 3}, 3, &redact, &erased, &error));
    ses_session_close(fork);
    ses_session_close(session);
    STEP(SES_OK, ses_pop_by_key(store, &key, &second, NULL, &popped, &error));
    ses_popped_close(popped);
}

static void faults_play_retention(struct faults *faults, ses_store *store)
{
    static const char *const events[] = {
        "{'invocationId':'a','timestamp':1,'actions':{'stateDelta':{'k':1,'user:p':2}}}",
        "{'invocationId':'b','timestamp':2,'content':{'parts':[{'functionCall':{'id':'1','name':'f'}}]}}",
        "{'invocationId':'c','timestamp':3,'content':{'parts':[{'functionResponse':{'id':'1','name':'f'}}]}}",
        ("{'invocationId':'d','timestamp':4,'actions':{'compaction':{'startTimestamp':1,'endTimestamp':3,'"
         "compactedContent':{}}}}"),
        "{'invocationId':'e','timestamp':5,'actions':{'rewindBeforeInvocationId':'none'}}"};
    const ses_prune_options step = {.size = sizeof step, .which = SES_PRUNE_COMPACTED};
    const ses_prune_options rest = {.size = sizeof rest, .which = SES_PRUNE_KEEP, .keep = 1};
    const ses_expire_options due = {.size = sizeof due,
                                    .now_us = &(int64_t){INT64_C(1700000000000010)},
                                    .idle_us = INT64_C(60000000),
                                    .sessions_per_user = 1};
    const int64_t expires = INT64_C(1700000000000005);
    const ses_key kept = {"kept", "user", "kept"};
    const ses_key expiring = {"kept", "user", "expiring"};
    ses_session *session = NULL;
    int64_t deleted = 0;
    ses_error error;

    STEP(SES_OK, ses_create(store, &kept, Q("{'i':1}"), SES_NUL, NULL, &session, &error));
    STEP(SES_OK, ses_create(store, &expiring, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_expiry_set_by_key(store, &expiring, &expires, NULL, &error));
    if (!session)
        return;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        STEP(SES_OK, ses_append(session, Q(events[i]), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_prune(session, &step, &deleted, &error));
    STEP(SES_OK, ses_prune_by_key(store, &kept, &rest, &deleted, &error));
    STEP(SES_UNCHANGED, ses_prune(session, &rest, &deleted, &error));
    STEP(SES_OK, ses_store_expire(store, "kept", &due, &deleted, &error));
    if (deleted != 1)
        faults_complain(faults, "ses_store_expire has not deleted one session", 0, &error);
    ses_session_close(session);
    STEP(SES_OK, ses_get(store, &kept, NULL, &session, &error));
    if (session && (ses_session_base_seq(session) != 4 || ses_session_event_count(session) != 1 ||
                    ses_state_count(session) != 3))
        faults_complain(faults, "the pruned session is not as it should be", 0, &error);
    ses_session_close(session);
}

/* A reader that keeps a log from being emptied, or unused bytes from being overwritten, does not undo a
 * deletion. */
static void faults_delete_securely(struct faults *faults, ses_store *store)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_SECURE};
    ses_error error;
    int code = ses_delete_app(store, "short", &options, NULL, &error);

    if (code < 0)
        faults_failed(faults, "ses_delete_app", code, &error);
    if (code == SES_MORE)
        faults->failures++;
    if (code != SES_OK) {
        fault_lift();
        code = ses_delete_app(store, "short", &options, NULL, &error);
    }
    if (code != SES_OK)
        faults_complain(faults, "ses_delete_app", code, &error);
}

/* A pruned session, an application, and the file that held them. */
static void faults_play_erasure(struct faults *faults, ses_store *store)
{
    const ses_prune_options all = {.size = sizeof all, .which = SES_PRUNE_KEEP};
    const ses_key kept = {"kept", "user", "kept"};
    const ses_key pruned = {"kept", "user", "pruned"};
    const ses_key other = {"short", "user", "other"};
    ses_space space = {.size = sizeof space};
    int64_t deleted = 0;
    ses_error error;

    STEP(SES_OK, ses_create(store, &kept, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &pruned, Q("{'i':1}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &other, Q("{'app:x':1,'user:y':1}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &pruned, Q("{'actions':{'stateDelta':{'k':1,'user:p':2}}}"),
                                   SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_prune_by_key(store, &pruned, &all, &deleted, &error));
    STEP(SES_OK, ses_store_space(store, NULL, &space, &error));
    STEP(SES_OK, ses_store_maintain(store, NULL, &error));
    faults_delete_securely(faults, store);
    STEP(SES_OK, ses_delete(store, &pruned, NULL, &deleted, &error));
    if (deleted != 1)
        faults_complain(faults, "ses_delete has not deleted one session", 0, &error);
}

static int faults_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    (void)error;
    const char *at = memchr(text + from, *(const char *)context, len - from);

    if (!at)
        return 0;
    *begin = (size_t)(at - text);
    *end = *begin + 1;
    return 1;
}

/* A content that is given, pieces that are found, and artifacts. Forks that are only counted are left
 * uncounted when that fails. */
static void faults_play_redaction(struct faults *faults, ses_store *store)
{
    const ses_redact_options found = {.size = sizeof found,
                                      .flags = SES_REDACT_STATE | SES_REDACT_FORKS | SES_REDACT_DRY_RUN,
                                      .find = faults_find,
                                      .find_context = "4"};
    const ses_redact_options given = {.size = sizeof given,
                                      .flags = SES_REDACT_FORKS,
                                      .content = "{\"parts\":[{\"functionResponse\":{\"id\":\"c\"}}]}",
                                      .content_len = SES_NUL};
    const ses_key key = {"app", "user", "redacted"};
    const ses_text events[] = {
        {Q("{'content':{'parts':[{'text':'4'},{'functionCall':{'id':'c','name':'f','args':{'4':4}}},"
           "{'inlineData':{'data':'NDQ='}}]},'customMetadata':{'x':['4']},'actions':{'stateDelta':{'k':'4'},"
           "'artifactDelta':{'a':0}}}"),
         SES_NUL},
        {Q("{'content':{'parts':[{'functionResponse':{'id':'c','parts':[{'inlineData':{'data':'4!'}}]}}]}}"),
         SES_NUL}};
    const ses_redact_options whole = {.size = sizeof whole, .flags = SES_REDACT_FORKS};
    ses_redact_options replaced = found;
    ses_erased erased = {.size = sizeof erased};
    ses_error error;

    replaced.flags = SES_REDACT_STATE | SES_REDACT_FORKS;
    STEP(SES_OK, ses_create(store, &key, Q("{'i':'4'}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &key, "a", "4", 1, NULL, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &key, events, 2, NULL, NULL, &error));
    STEP(SES_OK, ses_redact_by_key(store, &key, NULL, 0, &found, &erased, &error));
    STEP(SES_OK, ses_redact_by_key(store, &key, NULL, 0, &replaced, &erased, &error));
    if (erased.events != 2 || erased.state_keys != 2 || erased.artifacts_left != 1)
        faults_complain(faults, "not all that is found was redacted", 0, &error);
    STEP(SES_OK, ses_redact_by_key(store, &key, (int64_t[]){2}, 1, &given, &erased, &error));
    STEP(SES_OK, ses_redact_by_key(store, &key, (int64_t[]){1}, 1, &whole, &erased, &error));
    if (erased.events != 1 || erased.artifacts != 1)
        faults_complain(faults, "the artifact was not deleted", 0, &error);
}

/* A reader that keeps the bytes from being overwritten does not undo it: called again, it overwrites them. */
static void faults_redact_names(struct faults *faults, ses_session *session,
                                const ses_redact_options *options, ses_erased *erased)
{
    ses_error error;

    faults_begin_step(faults, "ses_redact");
    int code = ses_redact(session, NULL, 0, options, erased, &error);
    faults_end_step(faults, "ses_redact", code);
    if (code < 0) {
        faults_failed(faults, "ses_redact", code, &error);
        code = ses_redact(session, NULL, 0, options, erased, &error);
    }
    if (code == SES_MORE) {
        faults->failures++;
        fault_lift();
        code = ses_redact(session, NULL, 0, options, NULL, &error) == SES_UNCHANGED ? SES_OK : SES_MORE;
    }
    if (code != SES_OK)
        faults_complain(faults, "ses_redact", code, &error);
}

/* Items with a '4' in their names are removed, also from a log whose first events were pruned. */
static void faults_play_names(struct faults *faults, ses_store *store)
{
    static const ses_label labels[] = {{"4", "v"}, {"l", "v4"}, {"stays", "v"}};
    const ses_create_options create = {
        .size = sizeof create, .title = "about 4", .labels = labels, .label_count = 3};
    const ses_redact_options redact = {.size = sizeof redact,
                                       .flags = SES_REDACT_STATE | SES_REDACT_NAMES | SES_SECURE,
                                       .find = faults_find,
                                       .find_context = "4"};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    const ses_text events[] = {{Q("{'id':'1','actions':{'stateDelta':{'a4':1,'user:b4':1,'k':1}}}"), SES_NUL},
                               {Q("{'id':'2','actions':{'stateDelta':{'c4':2,'app:d4':3,'k':2}}}"), SES_NUL}};
    const ses_key key = {"app", "user", "named"};
    ses_erased erased = {.size = sizeof erased};
    ses_session *session = NULL;
    ses_error error;

    STEP(SES_OK, ses_create(store, &key, Q("{'i4':'x'}"), SES_NUL, &create, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &key, events, 2, NULL, NULL, &error));
    STEP(SES_OK, ses_prune_by_key(store, &key, &prune, NULL, &error));
    STEP(SES_OK, ses_get(store, &key, NULL, &session, &error));
    if (!session)
        return;
    faults_redact_names(faults, session, &redact, &erased);
    if (erased.names != 8 || erased.names_left != 0 || ses_session_title(session) ||
        ses_session_label_count(session) != 1 || ses_state_count(session) != 1)
        faults_complain(faults, "a name is left", 0, &error);
    ses_session_close(session);
}

/* Turns of two owners. */
static void faults_play_leases(struct faults *faults, ses_store *store)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    const ses_key leased = {"app", "user", "leased"};
    const ses_key gone = {"app", "user", "gone"};
    ses_append_options options = {.size = sizeof options};
    ses_lease first = {0};
    ses_lease second = {0};
    ses_error error;

    STEP(SES_OK, ses_create(store, &leased, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &gone, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_lease_take(store, &leased, "one", &at_once, &first, &error));
    options.lease = first.token;
    STEP(SES_OK, ses_append_by_key(store, &leased, Q("{'id':'l1'}"), SES_NUL, &options, NULL, &error));
    STEP(SES_BUSY, ses_lease_take(store, &leased, "two", &at_once, &second, &error));
    STEP(SES_OK, ses_lease_renew(store, &leased, first.token, NULL, &first, &error));
    STEP(SES_OK, ses_lease_release(store, &leased, first.token, NULL, &error));
    STEP(SES_OK, ses_lease_take(store, &leased, "two", &at_once, &second, &error));
    STEP(SES_LEASED, ses_append_by_key(store, &leased, Q("{'id':'l2'}"), SES_NUL, &options, NULL, &error));
    STEP(SES_LEASED, ses_lease_release(store, &leased, first.token, NULL, &error));
    STEP(SES_OK, ses_lease_take(store, &gone, "one", &at_once, &first, &error));
    STEP(SES_OK, ses_delete(store, &gone, NULL, NULL, &error));
    if (first.token <= second.token)
        faults_complain(faults, "a token was given twice", 0, &error);
}

/* A message that grows, until its append takes it. */
static void faults_play_drafts(struct faults *faults, ses_store *store)
{
    const ses_append_options options = {.size = sizeof options, .flags = SES_APPEND_TAKES_DRAFT};
    const ses_key written = {"app", "user", "written"};
    char *body = NULL;
    ses_error error;

    STEP(SES_OK, ses_create(store, &written, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_draft_set(store, &written, "Hel", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_draft_set(store, &written, "Hello", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_draft_get(store, &written, NULL, &body, NULL, NULL, &error));
    ses_free(body);
    STEP(SES_OK, ses_append_by_key(store, &written, Q("{'id':'w1'}"), SES_NUL, &options, NULL, &error));
    STEP(SES_UNCHANGED, ses_draft_clear(store, &written, NULL, &error));
    STEP(SES_OK, ses_draft_set(store, &written, "How", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_redact_by_key(store, &written, NULL, 0, NULL, NULL, &error));
    STEP(SES_ABSENT, ses_draft_get(store, &written, NULL, &body, NULL, NULL, &error));
}

/* Inputs that wait for their turn, until they are answered, removed or redacted. */
static void faults_play_inbox(struct faults *faults, ses_store *store)
{
    const ses_inbox_add_options creates = {.size = sizeof creates, .flags = SES_INBOX_CREATES};
    const ses_key asked = {"app", "user", "asked"};
    ses_append_options answer = {.size = sizeof answer, .answers = "q1"};
    ses_inputs *inputs = NULL;
    ses_lease lease;
    ses_error error;

    STEP(SES_OK, ses_inbox_add(store, &asked, "q1", "\"Hello\"", SES_NUL, &creates, &error));
    STEP(SES_OK, ses_inbox_add(store, &asked, "q2", "1", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_inbox_add(store, &asked, "q3", "[3]", SES_NUL, NULL, &error));
    STEP(SES_OK, ses_inbox_list(store, &asked, NULL, &inputs, &error));
    ses_inputs_close(inputs);
    STEP(SES_OK, ses_inbox_take(store, &asked, "owner", NULL, &inputs, &lease, &error));
    ses_inputs_close(inputs);
    answer.lease = lease.token;
    STEP(SES_OK, ses_append_by_key(store, &asked, Q("{'id':'a1'}"), SES_NUL, &answer, NULL, &error));
    STEP(SES_OK, ses_inbox_remove(store, &asked, "q2", NULL, &error));
    STEP(SES_OK, ses_redact_by_key(store, &asked, NULL, 0, NULL, NULL, &error));
    STEP(SES_ABSENT, ses_inbox_take(store, &asked, "owner", NULL, &inputs, &lease, &error));
}

static void faults_open_follower(struct faults *faults, ses_store *store, const ses_key *key, unsigned flags,
                                 const char *place, ses_follower **follower)
{
    const ses_follow_options options = {.size = sizeof options, .flags = flags, .place = place};
    ses_error error;

    STEP(SES_OK, ses_follower_open(store, key, &options, follower, &error));
}

/* The next results: `count` events, and then `last`. A failure loses none of it. */
static void faults_follow(struct faults *faults, ses_follower *follower, int count, int last)
{
    const ses_event *event = NULL;
    ses_error error;

    if (!follower)
        return;
    for (int i = 0; i < count; i++)
        STEP(SES_ROW, ses_follower_next(follower, 0, &event, &error));
    STEP(last, ses_follower_next(follower, 0, &event, &error));
}

/* Counts the results, whose order depends on how the follower looks. */
static int faults_count_next(ses_follower *follower, int *counts, ses_error *error)
{
    const ses_event *event = NULL;
    const int code = follower ? ses_follower_next(follower, 0, &event, error) : SES_OK;

    counts[code == SES_ROW ? 0 : code == SES_RESET ? 1 : 2] += code >= 0;
    return code < 0 ? code : SES_OK;
}

/* A place; without memory it is asked for again. */
static const char *faults_place(struct faults *faults, ses_follower *follower)
{
    const ses_error error = {.code = SES_NOMEM, .message = "no place"};
    const char *place = follower ? ses_follower_place(follower) : NULL;

    if (follower && !place) {
        faults_failed(faults, "ses_follower_place", SES_NOMEM, &error);
        place = ses_follower_place(follower);
    }
    return place;
}

/* Without waiting: the thread that looks at the file sleeps. */
static void faults_play_following(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    const ses_key two = {"app", "user", "two"};
    const ses_key gone = {"app", "user", "gone"};
    const ses_key user = {"app", "user", NULL};
    const ses_text events[] = {{"{}", 2}, {"{\"author\":\"b\",\"branch\":\"b\"}", SES_NUL}};
    ses_follower *followers[5] = {NULL};
    int counts[3] = {0};
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &gone, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &one, events, 2, NULL, NULL, &error));
    faults_open_follower(faults, store, &one, 0, NULL, &followers[0]);
    faults_open_follower(faults, store, &user, 0, NULL, &followers[1]);
    faults_open_follower(faults, store, &user, SES_FOLLOW_NEW, NULL, &followers[2]);
    faults_open_follower(faults, store, &(ses_key){"app", NULL, NULL}, SES_FOLLOW_NEW, NULL, &followers[4]);
    faults_follow(faults, followers[0], 2, SES_OK);
    faults_follow(faults, followers[1], 2, SES_OK);
    faults_open_follower(faults, store, &user, 0, faults_place(faults, followers[1]), &followers[3]);
    STEP(SES_OK, ses_create(store, &two, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &two, "{}", 2, NULL, NULL, &error));
    STEP(SES_OK, ses_delete(store, &gone, NULL, NULL, &error));
    STEP(SES_OK, ses_cut_by_key(store, &one, &(ses_point){sizeof(ses_point), SES_POINT_SEQ, 1, NULL}, NULL,
                                NULL, &error));
    faults_follow(faults, followers[0], 0, SES_RESET);
    for (int i = 1; i < 4; i++) { /* one session was deleted, one cut, one is new */
        faults_follow(faults, followers[i], 0, SES_RESET);
        faults_follow(faults, followers[i], 0, SES_RESET);
        faults_follow(faults, followers[i], 1, SES_OK);
    }
    for (int i = 0; i < 4; i++)
        STEP(SES_OK, faults_count_next(followers[4], counts, &error));
    if (followers[4] && (counts[0] != 1 || counts[1] != 2 || counts[2] != 1))
        faults_complain(faults, "the follower of the app", SES_OK, &error);
    for (int i = 0; i < 5; i++)
        ses_follower_close(followers[i]);
}

/* The first events of a log. */
struct faults_log {
    int count;
    int given;
};

static int faults_give_event(void *context, ses_loaded_event *event, ses_error *error)
{
    static const char *const events[] = {
        "{'id':'1','timestamp':1,'invocationId':'a','actions':{'stateDelta':{'k':1,'user:p':2}}}",
        "{'id':'2','timestamp':2,'invocationId':'b','actions':{'stateDelta':{'l':[1]}}}",
        "{'timestamp':3,'id':'3','actions':{'rewindBeforeInvocationId':'b','stateDelta':{'temp:t':1,'m':1}}"
        "}"};
    struct faults_log *log = context;

    (void)error;
    if (log->given == log->count)
        return 0;
    event->json = Q(events[log->given++]);
    event->json_len = SES_NUL;
    return 1;
}

static int faults_load(ses_store *store, const ses_key *key, int events, unsigned flags, const char *title,
                       ses_error *error)
{
    static const ses_label label = {"l", "v"};
    static const ses_loaded_value base = {"user:k", "1", 1, 2};
    const bool pruned = strcmp(key->session, "pruned") == 0;
    struct faults_log log = {.count = events};
    const ses_loaded loaded = {.size = sizeof loaded,
                               .initial_state = "{\"i\":1,\"app:a\":1}",
                               .initial_state_len = SES_NUL,
                               .created_us = &(int64_t){7},
                               .title = title,
                               .labels = &label,
                               .label_count = 1,
                               .parent = pruned ? &(ses_key){NULL, "user", "p"} : NULL,
                               .base_seq = pruned ? 2 : 0,
                               .base = &base,
                               .base_count = pruned ? 1 : 0,
                               .next = faults_give_event,
                               .next_context = &log};
    const ses_load_options options = {.size = sizeof options, .flags = flags};
    return ses_load(store, key, &loaded, &options, NULL, error);
}

static void faults_play_loading_json(struct faults *faults, ses_store *store)
{
    static const char json[] =
        "{'id':'json','app_name':'app','userId':'user','state':{'app:a':1,'user:j':[2],'i':1,'k':2},'events':"
        "["
        "{'timestamp':1,'id':'1','actions':{'stateDelta':{'k':1,'user:p':2}}},"
        "{'timestamp':2,'id':'2','actions':{'stateDelta':{'k':2,'l':'__ADK_SENTINEL_REMOVED__'}}}]}";
    const ses_load_options options = {.size = sizeof options, .flags = SES_LOAD_SHARED};
    ses_error error;

    STEP(SES_OK, ses_load_json(store, NULL, Q(json), SES_NUL, NULL, NULL, &error));
    STEP(SES_UNCHANGED, ses_load_json(store, NULL, Q(json), SES_NUL, &options, NULL, &error));
}

static void faults_play_loading(struct faults *faults, ses_store *store)
{
    const ses_key key = {"app", "user", "load"};
    const ses_key pruned = {"app", "user", "pruned"};
    ses_error error;

    STEP(SES_OK, faults_load(store, &key, 2, 0, "T", &error));
    STEP(SES_UNCHANGED, faults_load(store, &key, 2, 0, "T", &error));
    STEP(SES_EXISTS, faults_load(store, &key, 3, 0, "T", &error));
    STEP(SES_OK, faults_load(store, &key, 3, SES_LOAD_UPDATE | SES_LOAD_DRY_RUN, "T", &error));
    STEP(SES_OK, faults_load(store, &key, 3, SES_LOAD_UPDATE, "T", &error));
    STEP(SES_OK, faults_load(store, &key, 2, SES_LOAD_RENAME, "T", &error));
    STEP(SES_UNCHANGED, faults_load(store, &key, 2, SES_LOAD_RENAME, "T", &error));
    STEP(SES_OK, faults_load(store, &key, 1, SES_LOAD_REPLACE, "T", &error));
    STEP(SES_OK, faults_load(store, &pruned, 2, 0, NULL, &error));
    faults_play_loading_json(faults, store);
}

struct faults_text {
    char data[8192];
    size_t len;
    size_t at;
};

static int faults_write(void *context, const char *data, size_t len, ses_error *error)
{
    struct faults_text *text = context;

    (void)error;
    if (len > sizeof text->data - text->len)
        return SES_LIMIT;
    memcpy(text->data + text->len, data, len);
    text->len += len;
    return 0;
}

static int faults_read(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct faults_text *text = context;

    (void)error;
    (void)capacity;
    *len = text->len - text->at < 100 ? text->len - text->at : 100;
    memcpy(buffer, text->data + text->at, *len);
    text->at += *len;
    return 0;
}

static int faults_export(ses_store *store, const char *app, struct faults_text *text, ses_error *error)
{
    const ses_export_options options = {.size = sizeof options, .app = app};

    text->len = 0;
    return ses_store_export(store, &options, faults_write, text, error);
}

static int faults_import(ses_store *store, struct faults_text *text, unsigned flags, ses_error *error)
{
    const ses_import_options options = {.size = sizeof options, .flags = flags, .app = "copy"};

    text->at = 0;
    return ses_store_import(store, faults_read, text, &options, NULL, error);
}

/* An app goes out, and comes in as another. */
static void faults_play_lines(struct faults *faults, ses_store *store)
{
    static const ses_label label = {"l\n", "v"};
    const ses_create_options create = {
        .size = sizeof create, .title = "T", .labels = &label, .label_count = 1};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    const ses_key one = {"app", "user", "one"};
    const ses_key pruned = {"app", "user", "pruned"};
    const ses_key user = {"app", "user", NULL};
    const ses_artifact_save_options described = {.size = sizeof described,
                                                 .kind = SES_ARTIFACT_TEXT,
                                                 .mime_type = "text/plain",
                                                 .metadata = "{\"m\":\n1}",
                                                 .metadata_len = SES_NUL};
    struct faults_text text;
    struct faults_text copy;
    ses_error error;

    STEP(SES_OK,
         ses_create(store, &one, Q("{'app:a':1,\n'user:u':[1,\n2]}"), SES_NUL, &create, NULL, &error));
    STEP(SES_OK,
         ses_append_by_key(store, &one, Q("{'id':'1',\n'timestamp':1}"), SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &pruned, NULL, 0, NULL, NULL, &error));
    for (int i = 0; i < 2; i++)
        STEP(SES_OK, ses_append_by_key(store, &pruned,
                                       i ? Q("{'id':'2','timestamp':3}")
                                         : Q("{'id':'1','timestamp':5,'actions':{'stateDelta':{'k':1}}}"),
                                       SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_prune_by_key(store, &pruned, &prune, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "a", "text", 4, &described, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "b", "text", 4, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &user, "u", "user's", 6, NULL, NULL, &error));
    STEP(SES_OK, faults_export(store, "app", &text, &error));
    STEP(SES_OK, faults_import(store, &text, 0, &error));
    STEP(SES_OK, faults_import(store, &text, SES_IMPORT_RENAME, &error));
    STEP(SES_OK, faults_export(store, "copy", &copy, &error));
    if (copy.len != text.len + 4) /* the app's name, in four lines */
        faults_complain(faults, "what went in is not what had gone out", 0, &error);
}

/* Anything that cannot be read is a problem, whatever the reason. */
static void faults_check(struct faults *faults, ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    int64_t problems = 0;
    ses_error error;

    STEP(SES_OK, ses_store_check(store, &options, &problems, &error));
    if (problems == 0)
        return;
    faults->failures++;
    fault_lift();
    if (ses_store_check(store, &options, &problems, &error) != SES_OK || problems > 0)
        faults_complain(faults, "a sound store has a problem", 0, &error);
}

static void faults_play_upkeep(struct faults *faults, ses_store *store)
{
    const ses_backup_options anew = {.size = sizeof anew, .flags = SES_BACKUP_REPLACE | SES_BACKUP_COMPACT};
    const ses_open_options options = {
        .size = sizeof options, .allocator = faults->allocator, .clock = faults_clock, .busy_timeout_ms = -1};
    const bool is_memory = strcmp(faults->path, ":memory:") == 0;
    char *folder = is_memory ? support_folder_make() : NULL; /* its own: a backup locks the folder */
    const ses_key key = {"app", "user", "one"};
    char target[1024];
    ses_store *copy = NULL;
    ses_session *session = NULL;
    ses_error error;

    if (is_memory)
        snprintf(target, sizeof target, "%s/store.db", folder);
    else
        snprintf(target, sizeof target, "%s.copy", faults->path);
    faults_remove_files(target);
    STEP(SES_OK,
         ses_create(store, &key, Q("{'app:a':1,'user:b':2,'c':3}"), SES_NUL,
                    &(ses_create_options){.size = sizeof(ses_create_options), .title = "T"}, NULL, &error));
    STEP(SES_OK,
         ses_append_by_key(store, &key, Q("{'invocationId':'i','actions':{'stateDelta':{'c':4,'app:a':2}}}"),
                           SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &key, Q("{'actions':{'rewindBeforeInvocationId':'i'}}"), SES_NUL,
                                   NULL, NULL, &error));
    STEP(SES_OK, ses_store_backup(store, target, NULL, &error));
    STEP(SES_EXISTS, ses_store_backup(store, target, NULL, &error));
    STEP(SES_OK, ses_store_backup(store, target, &anew, &error));
    STEP(SES_OK, ses_open_copy(store, &options, &copy, &error));
    if (copy)
        STEP(SES_OK, ses_get(copy, &key, NULL, &session, &error));
    if (!session || ses_session_last_seq(session) != 2)
        faults_complain(faults, "a copy lacks an event", 0, &error);
    ses_session_close(session);
    ses_close(copy);
    faults_check(faults, store);
    faults_remove_files(target);
    if (is_memory && rmdir(folder) != 0)
        faults_complain(faults, "a backup has left a file behind", 0, &error);
    free(folder);
}

/* Reads a text as far as it goes. */
static void faults_read_artifact(struct faults *faults, ses_store *store, const char *name,
                                 const char *expected)
{
    const ses_key key = {"app", "user", "one"};
    ses_artifact *artifact = NULL;
    char bytes[40];
    size_t len = 0;
    ses_error error;

    STEP(SES_OK, ses_artifact_open_by_key(store, &key, name, NULL, &artifact, &error));
    if (!artifact)
        return;
    STEP(SES_OK, ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    if (len != strlen(expected) || memcmp(bytes, expected, len) != 0)
        faults_complain(faults, "an artifact has other bytes", 0, &error);
    ses_artifact_close(artifact);
}

static void faults_play_artifacts(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    const ses_key gone = {"app", "user", "gone"};
    const ses_key user = {"app", "user", NULL};
    const ses_artifact_save_options described = {.size = sizeof described,
                                                 .kind = SES_ARTIFACT_TEXT,
                                                 .mime_type = "text/plain",
                                                 .display_name = "A",
                                                 .metadata = "{\"m\":1}",
                                                 .metadata_len = SES_NUL};
    const ses_artifact_save_options reference = {.size = sizeof reference, .kind = SES_ARTIFACT_URI};
    static const char address[] = "artifact://apps/app/users/user/sessions/one/artifacts/a/versions/1";
    ses_artifact_list *list = NULL;
    int64_t deleted = 0;
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &gone, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "a", "text", 4, &described, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "a", "other", 5, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &gone, "a", "text", 4, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &user, "b", "other", 5, NULL, NULL, &error));
    STEP(SES_OK,
         ses_artifact_save_by_key(store, &one, "reference", address, SES_NUL, &reference, NULL, &error));
    faults_read_artifact(faults, store, "a", "other");
    faults_read_artifact(faults, store, "reference", "other");
    STEP(SES_OK, ses_artifact_names_by_key(store, &one, NULL, &list, &error));
    if (!list || ses_artifact_list_count(list) != 3)
        faults_complain(faults, "a list lacks an artifact", 0, &error);
    ses_artifact_list_close(list);
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "none", "text", 4, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_delete_by_key(store, &one, "none", NULL, &deleted, &error));
    if (deleted != 1)
        faults_complain(faults, "not one version was deleted", 0, &error);
    STEP(SES_OK, ses_delete(store, &gone, NULL, NULL, &error));
}

enum { FAULTS_LONG = 4 * 1024 * 1024 + 100000 };

static int faults_give_bytes(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    (void)error;
    int64_t *left = context;
    const size_t count = (int64_t)capacity < *left ? capacity : (size_t)*left;

    memset(buffer, (int)(*left % 251), count);
    *left -= (int64_t)count;
    *len = count;
    return SES_OK;
}

static int faults_save_long(ses_store *store, const ses_key *key, ses_error *error)
{
    int64_t left = FAULTS_LONG;
    const ses_artifact_save_options options = {
        .size = sizeof options, .read = faults_give_bytes, .read_context = &left};
    return ses_artifact_save_by_key(store, key, "long", NULL, SES_NUL, &options, NULL, error);
}

/* One that is written in several transactions. */
static void faults_play_long_artifact(struct faults *faults, ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    ses_artifact *artifact = NULL;
    char *bytes = malloc(FAULTS_LONG);
    size_t len = 0;
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, faults_save_long(store, &one, &error));
    STEP(SES_OK, ses_artifact_open_by_key(store, &one, "long", NULL, &artifact, &error));
    if (artifact && bytes)
        STEP(SES_OK, ses_artifact_read(artifact, 0, bytes, FAULTS_LONG, &len, &error));
    if (len != FAULTS_LONG)
        faults_complain(faults, "an artifact lacks bytes", 0, &error);
    ses_artifact_close(artifact);
    free(bytes);
}

static void faults_run(struct faults *faults)
{
    static void (*const play[SCENES])(struct faults *, ses_store *) = {NULL,
                                                                       faults_play_handles,
                                                                       faults_play_reads,
                                                                       faults_play_lists,
                                                                       faults_play_labels,
                                                                       faults_play_history,
                                                                       faults_play_retention,
                                                                       faults_play_erasure,
                                                                       faults_play_redaction,
                                                                       faults_play_leases,
                                                                       faults_play_drafts,
                                                                       faults_play_inbox,
                                                                       faults_play_following,
                                                                       faults_play_loading,
                                                                       faults_play_lines,
                                                                       faults_play_upkeep,
                                                                       faults_play_artifacts,
                                                                       faults_play_long_artifact,
                                                                       faults_play_forms,
                                                                       faults_play_index,
                                                                       faults_play_finding,
                                                                       faults_play_names,
                                                                       faults_play_memory,
                                                                       faults_play_family};
    const ses_open_options options = {
        .size = sizeof options,
        .allocator = faults->allocator,
        .clock = faults_clock,
        .busy_timeout_ms = faults->hooks ? 600000 : -1,
        /* Else the second transaction of a call would meet that of the first. */
        .checkpoint = faults->scene == SCENE_LONG_ARTIFACT ? SES_CHECKPOINT_EXTERNAL : SES_CHECKPOINT_AUTO,
        .max_readers = 1};
    ses_store *store = NULL;
    ses_error error;

    faults->failures = 0;
    faults->dump[0] = '\0';
    faults->wrong[0] = '\0';
    faults->steps = faults->scene == SCENE_OPENING ? 0 : -1;
    faults->retrying = false;
    STEP(SES_OK, ses_open(faults->path, &options, &store, &error));
    if (!store)
        return;
    if (faults->hooks)
        faults->hooks->opened(faults, store);
    if (play[faults->scene])
        play[faults->scene](faults, store);
    faults_dump(faults, store);
    if (faults->hooks)
        faults->hooks->played(faults, store);
    ses_close(store);
    fault_lift();
}

#endif
