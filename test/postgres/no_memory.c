/* Memory runs out at any allocation of a call: nothing is lost, and what was stored is not said to be
 * undone. */
#include "database.h"
#include "open.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"

static const ses_key one = {.app = "app", .user = "user", .session = "one"};

/* The n-th allocation from now on fails, once; 0: none does. */
static long left;
static bool failed;
static long used;
static ses_error last;

static bool fails_now(void)
{
    const bool fails = left > 0 && --left == 0;

    failed = failed || fails;
    return fails;
}

static void *take(void *context, size_t size)
{
    void *memory = fails_now() ? NULL : malloc(size);
    (void)context;
    used += memory != NULL;
    return memory;
}

static void *take_again(void *context, void *memory, size_t size)
{
    (void)context;
    if (!memory)
        return take(context, size);
    return fails_now() ? NULL : realloc(memory, size);
}

static void give(void *context, void *memory)
{
    (void)context;
    used -= memory != NULL;
    free(memory);
}

struct scene {
    ses_store *store;
    ses_session *session;
    int made;
};

typedef int scene_call(struct scene *scene);

static int call_get(struct scene *scene)
{
    ses_session *session = NULL;
    const int code = ses_get(scene->store, &one, NULL, &session, &last);
    ses_session_close(session);
    return code;
}

static int call_list(struct scene *scene)
{
    ses_page *page = NULL;
    const int code = ses_list(scene->store, "app", "user", NULL, &page, &last);
    if (code == SES_OK)
        assert_true(ses_page_count(page) >= 1);
    ses_page_close(page);
    return code;
}

static int call_value(struct scene *scene)
{
    char *json = NULL;
    size_t len;
    const int code = ses_state_get_by_key(scene->store, &one, "a", NULL, &json, &len, &last);
    ses_free(json);
    return code;
}

static const char event[] = "{\"actions\":{\"stateDelta\":{\"a\":1,\"gone\":" SES_TOMBSTONE
                            ",\"user:u\":2,\"app:x\":3,\"temp:t\":4}}}";

static int64_t stored(struct scene *scene)
{
    ses_session *session = must_get(scene->store, &one);
    const int64_t events = ses_session_stored(session);
    ses_session_close(session);
    return events;
}

/* The call's report about its events is true. */
static int check_events(struct scene *scene, int64_t before, int64_t events, int code)
{
    const long then = left;
    left = 0;
    const int64_t added = stored(scene) - before;
    if (code == SES_UNKNOWN ? added != 0 && added != events : added != (code == SES_OK ? events : 0))
        fail_msg("%s: %d events more: %s", ses_code_name(code), (int)added, last.message);
    if (scene->session)
        must_refresh(scene->session);
    left = then;
    return code;
}

static int call_append(struct scene *scene)
{
    const int64_t before = ses_session_stored(scene->session);
    return check_events(scene, before, 1, ses_append(scene->session, event, SES_NUL, NULL, NULL, &last));
}

static int call_batch(struct scene *scene)
{
    const int64_t before = ses_session_stored(scene->session);
    const ses_text texts[] = {{event, SES_NUL}, {event, SES_NUL}, {"{}", SES_NUL}};
    return check_events(scene, before, 3,
                        ses_append_batch_by_key(scene->store, &one, texts, 3, NULL, NULL, &last));
}

static int call_create(struct scene *scene)
{
    static const ses_label label = {"color", "blue"};
    const ses_create_options options = {
        .size = sizeof options, .title = "A title", .labels = &label, .label_count = 1};
    char name[30];
    const ses_key key = {.app = "app", .user = "user", .session = name};
    ses_session *session = NULL;

    snprintf(name, sizeof name, "new-%d", scene->made++);
    const int code =
        ses_create(scene->store, &key, "{\"a\":1,\"user:u\":2}", SES_NUL, &options, &session, &last);
    ses_session_close(session);
    const long then = left;
    left = 0;
    const int found = ses_get(scene->store, &key, NULL, &session, &last);
    if (code != SES_UNKNOWN && (code == SES_OK) != (found == SES_OK))
        fail_msg("created: %s, found: %s", ses_code_name(code), ses_code_name(found));
    if (found == SES_OK)
        ses_session_close(session);
    (void)ses_delete(scene->store, &key, NULL, NULL, &last);
    left = then;
    return code;
}

static int64_t versions(struct scene *scene)
{
    ses_error error;
    const ses_artifact_list_options options = {.size = sizeof options, .limit = 10000};
    ses_artifact_list *list = NULL;

    assert_ok(ses_artifact_versions_by_key(scene->store, &one, "a", &options, &list, &error));
    const int64_t count = (int64_t)ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

/* The call's report about the artifact is true. */
static int check_versions(struct scene *scene, int64_t before, int code)
{
    const long then = left;
    left = 0;
    const int64_t added = versions(scene) - before;
    if (code == SES_UNKNOWN ? added != 0 && added != 1 : added != (code == SES_OK))
        fail_msg("%s: %d versions more: %s", ses_code_name(code), (int)added, last.message);
    left = then;
    return code;
}

/* Without failures: what a call begins with. */
static int64_t versions_before(struct scene *scene)
{
    const long then = left;
    left = 0;
    const int64_t count = versions(scene);
    left = then;
    return count;
}

static int call_save(struct scene *scene)
{
    const int64_t before = versions_before(scene);
    char bytes[1000] = "";

    snprintf(bytes, sizeof bytes, "%d", scene->made++);
    return check_versions(
        scene, before,
        ses_artifact_save_by_key(scene->store, &one, "a", bytes, sizeof bytes, NULL, NULL, &last));
}

static int call_read(struct scene *scene)
{
    ses_artifact *artifact = NULL;
    ses_artifact_list *list = NULL;
    char bytes[10];
    size_t len = 0;
    int code = ses_artifact_open_by_key(scene->store, &one, "a", NULL, &artifact, &last);

    if (code == SES_OK)
        code = ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &last);
    ses_artifact_close(artifact);
    if (code == SES_OK)
        code = ses_artifact_names_by_key(scene->store, &one, NULL, &list, &last);
    ses_artifact_list_close(list);
    return code;
}

static int call_append_with(struct scene *scene)
{
    const int64_t before = ses_session_stored(scene->session);
    const int64_t count = versions_before(scene);
    ses_append_options options = {.size = sizeof options};
    int code = ses_artifacts_open(scene->store, &one, &options.artifacts, &last);

    if (code == SES_OK)
        code = ses_artifacts_add(options.artifacts, "a", "attached", 8, NULL, &last);
    if (code == SES_OK)
        code = ses_append(scene->session, event, SES_NUL, &options, NULL, &last);
    ses_artifacts_close(options.artifacts);
    return check_events(scene, before, 1, check_versions(scene, count, code));
}

/* Until all of the call's allocations have failed. `connected`: on a connection that is there. */
static void fail_each(const char *place, scene_call *call, bool connected, const char *name)
{
    ses_error error;
    static const ses_allocator allocator = {sizeof allocator, NULL, take, take_again, give};
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    struct scene scene = {.store = NULL};
    long number = 0;
    int unknown = 0;

    do {
        failed = false;
        if (!scene.store) {
            assert_ok(ses_open_postgres(place, &options, NULL, &scene.store, &error));
            scene.session = must_get(scene.store, &one);
            assert_int_equal(connected ? call(&scene) : 0, SES_OK);
        }
        left = ++number;
        const int code = call(&scene);
        left = 0;
        unknown += code == SES_UNKNOWN;
        if (code != SES_OK && code != SES_NOMEM && code != SES_UNKNOWN)
            fail_msg("%s, allocation %ld: %s: %s", name, number, ses_code_name(code), last.message);
        if (!failed)
            assert_int_equal(code, SES_OK);
        assert_int_equal(call(&scene), SES_OK);
        if (!connected || number % 8 == 0) {
            ses_session_close(scene.session);
            ses_close(scene.store);
            scene.store = NULL;
            assert_int_equal(used, 0);
        }
    } while (failed);
    if (scene.store) {
        ses_session_close(scene.session);
        ses_close(scene.store);
    }
    assert_int_equal(used, 0);
    assert_int_equal(unknown, 0); /* memory is there again a moment later */
}

SERVER_TEST(memory_runs_out_in_a_call)
{
    char place[600];
    ses_store *store = NULL;

    database_fresh(database, "memory", "", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_create(store, &one, "{\"a\":0,\"gone\":1}");
    assert_ok(ses_title_set_by_key(store, &one, "A title", NULL, &error));
    ses_close(store);
    for (int connected = 0; connected <= 1; connected++) {
        fail_each(place, call_get, connected, "get");
        fail_each(place, call_value, connected, "value");
        fail_each(place, call_list, connected, "list");
        fail_each(place, call_append, connected, "append");
        fail_each(place, call_batch, connected, "batch");
        fail_each(place, call_create, connected, "create");
        fail_each(place, call_save, connected, "save");
        fail_each(place, call_read, connected, "read");
        fail_each(place, call_append_with, connected, "append with an artifact");
    }
}
