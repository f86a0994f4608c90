/* Scenes of scenario.h: the other forms of calls that write, the index of words, and finding. */
#ifndef SESLITE_TEST_SCENARIO_FORMS_H
#define SESLITE_TEST_SCENARIO_FORMS_H

#include "faults.h"
#include "seslite_erase.h"
#include "seslite_memory.h"

/* The calls on a handle that the other scenes make by key, and the other way round. */
static void faults_use_forms(struct faults *faults, ses_store *store, ses_session *session)
{
    static const ses_label label = {"l", "v"};
    const int64_t expires = INT64_C(1700000000000005);
    const ses_key key = {"app", "forms", "one"};
    const ses_key copy = {"app", "forms", "copy"};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_point third = {.size = sizeof third, .kind = SES_POINT_SEQ, .seq = 3};
    ses_popped *popped = NULL;
    int64_t deleted = 0;
    ses_error error;

    STEP(SES_OK, ses_title_set(session, "T", NULL, &error));
    STEP(SES_OK, ses_labels_set_by_key(store, &key, &label, 1, NULL, &error));
    STEP(SES_OK, ses_expiry_set(session, &expires, NULL, &error));
    STEP(SES_OK, ses_archive_set_by_key(store, &key, 1, NULL, &error));
    STEP(SES_OK, ses_archive_set(session, 0, NULL, &error));
    STEP(SES_OK, ses_rewind_by_key(store, &key, &first, NULL, NULL, &error));
    STEP(SES_OK, ses_redo_by_key(store, &key, NULL, NULL, &error));
    STEP(SES_OK, ses_refresh(session, NULL, &error));
    STEP(SES_OK, ses_fork_by_key(store, &key, &first, &copy, NULL, NULL, &error));
    STEP(SES_OK, ses_pop(session, &third, NULL, &popped, &error));
    ses_popped_close(popped);
    STEP(SES_OK, ses_artifact_save(session, "a", "text", 4, NULL, NULL, &error));
    STEP(SES_OK, ses_artifact_delete(session, "a", NULL, &deleted, &error));
    if (deleted != 1 || ses_session_version(session) != 5 || ses_session_event_count(session) != 3)
        faults_complain(faults, "the handle is not as it should be", 0, &error);
}

/* The forms of an agent, which append. */
static void faults_use_agent(struct faults *faults, ses_store *store, ses_session *session)
{
    const ses_key key = {"app", "forms", "one"};
    const ses_function response = {{"c", 1}, {"f", 1}, {"{\"r\":1}", 7}};
    const ses_answer_options answer = {.size = sizeof answer, .responses = &response, .response_count = 1};
    ses_builder *builder = NULL;
    ses_tracked *tracked = NULL;
    ses_error error;

    STEP(SES_OK, ses_builder_open(store, "a", "i2", &builder, &error));
    STEP(SES_OK, ses_builder_call(builder, "c", "f", "{}", SES_NUL, &error));
    STEP(SES_OK, ses_builder_append(builder, session, NULL, NULL, &error));
    ses_builder_close(builder);
    STEP(SES_OK, ses_pending_answer(session, &answer, NULL, &error));
    STEP(SES_OK, ses_builder_open(store, "a", "i2", &builder, &error));
    STEP(SES_OK, ses_builder_call(builder, "c", "f", "{}", SES_NUL, &error));
    STEP(SES_OK, ses_builder_append_by_key(builder, store, &key, NULL, NULL, &error));
    ses_builder_close(builder);
    STEP(SES_OK, ses_pending_answer_by_key(store, &key, &answer, NULL, &error));
    STEP(SES_OK, ses_refresh(session, NULL, &error));
    STEP(SES_OK, ses_tracked_open(session, NULL, &tracked, &error));
    if (!tracked)
        return;
    STEP(SES_OK, ses_tracked_set_int64(tracked, "t", 1, &error));
    STEP(SES_OK, ses_tracked_append(tracked, "{\"author\":\"a\"}", SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_output_append(tracked, Q("{'author':'a','content':{'parts':[{'text':'out'}]}}"), SES_NUL,
                                   "a", "o", NULL, NULL, &error));
    ses_tracked_close(tracked);
}

static void faults_play_forms(struct faults *faults, ses_store *store)
{
    const ses_key key = {"app", "forms", "one"};
    const ses_text events[] = {{Q("{'invocationId':'i1','actions':{'stateDelta':{'k':1}}}"), SES_NUL},
                               {Q("{'invocationId':'i2','actions':{'stateDelta':{'k':2}}}"), SES_NUL}};
    ses_session *session = NULL;
    ses_error error;

    STEP(SES_OK, ses_get_or_create(store, &key, Q("{'i':1}"), SES_NUL, NULL, &session, &error));
    if (!session)
        return;
    STEP(SES_OK, ses_append_batch(session, events, 2, NULL, NULL, &error));
    faults_use_forms(faults, store, session);
    faults_use_agent(faults, store, session);
    ses_session_close(session);
    STEP(SES_OK, ses_create(store, &(ses_key){"gone", "user", "one"}, "{}", SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_delete_app(store, "gone", NULL, NULL, &error));
}

static void faults_find_word(struct faults *faults, ses_store *store, size_t expected)
{
    const ses_key everywhere = {"app", NULL, NULL};
    ses_hits *hits = NULL;
    ses_error error;

    STEP(SES_OK, ses_store_search(store, &everywhere, "word", SES_NUL, NULL, &hits, &error));
    if (!hits || ses_hits_count(hits) != expected)
        faults_complain(faults, "a search does not find what is there", 0, &error);
    ses_hits_close(hits);
}

/* An index is made, brought up to date, made again and dropped, and events are taken out of it. */
static void faults_play_index(struct faults *faults, ses_store *store)
{
    const ses_index_options rebuild = {.size = sizeof rebuild, .flags = SES_INDEX_REBUILD};
    const ses_index_options drop = {.size = sizeof drop, .flags = SES_INDEX_DROP};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_key one = {"app", "user", "one"};
    const char *const event = Q("{'content':{'parts':[{'text':'a word'}]}}");
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &one, event, SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_store_index(store, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &one, event, SES_NUL, NULL, NULL, &error));
    faults_find_word(faults, store, 2);
    STEP(SES_OK, ses_cut_by_key(store, &one, &first, NULL, NULL, &error));
    faults_find_word(faults, store, 1);
    STEP(SES_OK, ses_store_index(store, &rebuild, NULL, &error));
    faults_find_word(faults, store, 1);
    STEP(SES_OK, ses_store_index(store, &drop, NULL, &error));
    faults_find_word(faults, store, 1);
}

static void faults_recall(struct faults *faults, ses_store *store, size_t expected)
{
    ses_hits *found = NULL;
    ses_hits *listed = NULL;
    ses_error error;

    STEP(SES_OK, ses_memory_search(store, "app", "memory", "tea or coffee", SES_NUL, NULL, &found, &error));
    STEP(SES_OK, ses_memory_list(store, "app", "memory", NULL, &listed, &error));
    if (!found || !listed || ses_hits_count(found) != expected || ses_hits_count(listed) != expected)
        faults_complain(faults, "what is remembered is not found", 0, &error);
    ses_hits_close(found);
    ses_hits_close(listed);
}

/* Events are remembered by a number, and copied; a copy is forgotten, and then all. */
static void faults_play_memory(struct faults *faults, ses_store *store)
{
    const ses_key talk = {"app", "memory", "talk"};
    const ses_key user = {"app", "memory", NULL};
    const ses_memory_add_options replace = {.size = sizeof replace, .flags = SES_MEMORY_REPLACE};
    const ses_text events[] = {{Q("{'id':'a','content':{'parts':[{'text':'tea'}]}}"), SES_NUL},
                               {Q("{'id':'b','content':{'parts':[{'text':'coffee'}]}}"), SES_NUL}};
    ses_error error;

    STEP(SES_OK, ses_create(store, &talk, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_append_batch_by_key(store, &talk, events, 2, NULL, NULL, &error));
    STEP(SES_OK, ses_memory_add_session(store, &talk, 1, NULL, &error));
    faults_recall(faults, store, 1);
    STEP(SES_OK, ses_memory_add_events(store, &talk, events, 2, NULL, NULL, &error));
    faults_recall(faults, store, 2);
    STEP(SES_OK, ses_memory_add_events(store, &user, events, 1, &replace, NULL, &error));
    STEP(SES_OK, ses_memory_add_events(store, &user, events, 2, NULL, NULL, &error));
    STEP(SES_OK, ses_memory_forget_events(store, &talk, (const int64_t[]){2}, 1, NULL, &error));
    STEP(SES_OK, ses_memory_forget(store, &user, NULL, NULL, &error));
    faults_recall(faults, store, 0);
}

/* A session has a child, which has one, too, and a fork. It is deleted with its children. */
static void faults_play_family(struct faults *faults, ses_store *store)
{
    const ses_key talk = {"app", "family", "talk"};
    const ses_key child = {"app", "family", "child"};
    const ses_key fork = {"app", "family", "fork"};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_create_options of_talk = {.size = sizeof of_talk, .child_of = &talk};
    const ses_create_options of_child = {.size = sizeof of_child, .child_of = &child};
    const ses_filter children = {.size = sizeof children, .child_of = &talk};
    const ses_list_options listed = {.size = sizeof listed, .filter = &children};
    const ses_delete_options along = {.size = sizeof along, .flags = SES_DELETE_CHILDREN};
    ses_family *family = NULL;
    ses_page *page = NULL;
    int64_t deleted = 0;
    ses_error error;

    STEP(SES_OK, ses_create(store, &talk, NULL, 0, NULL, NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &talk, "{\"author\":\"a\"}", SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_create(store, &child, NULL, 0, &of_talk, NULL, &error));
    STEP(SES_OK, ses_create(store, &(ses_key){"app", "family", "its"}, NULL, 0, &of_child, NULL, &error));
    STEP(SES_OK, ses_fork_by_key(store, &talk, &first, &fork, NULL, NULL, &error));
    STEP(SES_OK, ses_family_open(store, &talk, NULL, &family, &error));
    STEP(SES_OK, ses_list(store, "app", NULL, &listed, &page, &error));
    if (!family || !page || ses_family_count(family) != 2 || ses_page_count(page) != 1)
        faults_complain(faults, "a family lacks some", 0, &error);
    ses_family_close(family);
    ses_page_close(page);
    STEP(SES_OK, ses_delete(store, &talk, &along, &deleted, &error));
    if (deleted != 3)
        faults_complain(faults, "a deletion has not taken children along", 0, &error);
}

/* Pages of what is found. One that fails is asked for again, and lacks nothing then. */
static void faults_find_all(struct faults *faults, ses_store *store, const char *text, size_t expected)
{
    ses_find_options options = {.size = sizeof options, .limit = 3};
    char token[1000] = "";
    size_t count = 0;
    bool more = true;
    ses_error error;

    while (more) {
        ses_findings *page = NULL;
        options.token = token[0] ? token : NULL;
        STEP(SES_OK, ses_store_find(store, NULL, text, SES_NUL, &options, &page, &error));
        count += page ? ses_findings_count(page) : 0;
        more = page && ses_findings_token(page);
        if (more)
            snprintf(token, sizeof token, "%s", ses_findings_token(page));
        ses_findings_close(page);
    }
    if (count != expected)
        faults_complain(faults, "a text is not found wherever it is", 0, &error);
}

/* A text is wherever a store can hold it, and is found there, in names that escapes write too. */
static void faults_play_finding(struct faults *faults, ses_store *store)
{
    static const ses_label labels[] = {{"zz", "v"}, {"l", "zz"}};
    const ses_create_options create = {
        .size = sizeof create, .title = "about zz", .labels = labels, .label_count = 2};
    const ses_artifact_save_options described = {.size = sizeof described, .display_name = "of zz"};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    const ses_key one = {"app", "user", "one"};
    ses_error error;

    STEP(SES_OK, ses_create(store, &one, Q("{'k':'zz','app:\\u007az':1,'user:u':'zz'}"), SES_NUL, &create,
                            NULL, &error));
    STEP(SES_OK, ses_append_by_key(store, &one, Q("{'actions':{'stateDelta':{'zz\\u0031':2}}}"), SES_NUL,
                                   NULL, NULL, &error));
    STEP(SES_OK,
         ses_append_by_key(store, &one, Q("{'content':{'parts':[{'inlineData':{'data':'YXp6Yg=='}}]}}"),
                           SES_NUL, NULL, NULL, &error));
    STEP(SES_OK, ses_prune_by_key(store, &one, &prune, NULL, &error));
    STEP(SES_OK, ses_artifact_save_by_key(store, &one, "a", "a zz b", 6, &described, NULL, &error));
    /* app, user, title, 2 labels, 2 of the state, 3 of the initial state, 4 of the base, an event, 2 of the
     * artifact */
    faults_find_all(faults, store, "zz", 17);
    faults_find_all(faults, store, "z1z", 0);
}

#endif
