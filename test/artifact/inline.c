/* The bytes of artifacts in place of the references that an event has to them, wherever the event goes. */
#include "../session/lines_text.h"

#define assert_sound assert_artifacts_sound /* the other one is about any file */
#include "artifact.h"
#include "seslite_agent.h"

#define INLINE(type, name, data) \
    "{'inlineData':{'mimeType':'" type "','displayName':'" name "','data':'" data "'}}"
#define CONTENT                                                                                             \
    "{'role':'user','parts':[{'text':'look'}," INLINE("image/png", "a.png", "aGVsbG8gd29ybGQ=") "," INLINE( \
        "image/png", "a.png", "c2Vjb25kIG9uZQ==") "," INLINE("image/png", "user:logo",                      \
                                                             "bG9nbyBvZiB1cw==") "]}"
#define AFTER ",'after':[]}"

/* Appends an event with three images, which are kept as artifacts: two versions of one, and one of the
 * user. */
static void append_images(ses_store *store)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;

    must_create(store, &key, NULL);
    assert_ok(ses_artifacts_open(store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_offload(options.artifacts, 5, &error));
    assert_ok(ses_append_by_key(store, &key,
                                Q("{'id':'e','invocationId':'i','author':'user','content':" CONTENT AFTER),
                                SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}

static char *event_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    char *json = strdup(ses_session_event(session, 0)->json);

    assert_non_null(json);
    ses_session_close(session);
    return json;
}

/* The event has none of the bytes; with what `of` has, it has them all again, and so has a context. */
static void assert_has_images(ses_store *store, const ses_key *of)
{
    const ses_context_options with = {.size = sizeof with, .inline_bytes = 1000};
    ses_context *context = NULL;
    ses_error error;
    char *inlined = NULL;
    char *event = event_of(store, of);
    size_t len = 0;

    assert_null(strstr(event, "inlineData"));
    assert_ok(ses_artifact_inline_by_key(store, of, event, SES_NUL, NULL, &inlined, &len, &error));
    assert_int_equal(len, strlen(inlined));
    assert_non_null(strstr(inlined, Q("'content':" CONTENT)));
    assert_non_null(strstr(inlined, Q(",'after':[]")));
    ses_free(inlined);
    free(event);
    assert_ok(ses_context_open_by_key(store, of, &with, &context, &error));
    assert_string_equal(ses_context_content(context, 0).text, Q(CONTENT));
    ses_context_close(context);
}

TEST(an_event_gets_its_images_back)
{
    ses_store *store = fixture->store;
    append_images(store);
    assert_has_images(store, &key);
}

TEST(forks_of_forks_have_the_images)
{
    ses_store *store = fixture->store;
    char names[2][10] = {"session"};

    append_images(store);
    for (int i = 1; i <= 8; i++) {
        const ses_key from = {"app", "user", names[(i + 1) % 2]};
        const ses_key to = {"app", "user", names[i % 2]};
        snprintf(names[i % 2], sizeof names[0], "fork%d", i);
        assert_ok(ses_fork_by_key(store, &from, NULL, &to, NULL, NULL, &error));
        must_delete(store, &from);
        assert_has_images(store, &to);
    }
}

TEST(an_import_under_another_name_has_the_images)
{
    static const struct {
        const char *app;
        const char *user;
        unsigned flags;
        ses_key key;
    } cases[] = {{"other", NULL, 0, {"other", "user", "session"}},
                 {NULL, "other", 0, {"app", "other", "session"}},
                 {"b", "v", 0, {"b", "v", "session"}},
                 {NULL, NULL, SES_IMPORT_RENAME, {"app", "user", "session~2"}}};
    ses_store *store = fixture->store;

    append_images(store);
    struct text text = exported(store, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_import_options options = {
            .size = sizeof options, .app = cases[i].app, .user = cases[i].user, .flags = cases[i].flags};
        struct piecewise reader = {.data = text.data, .len = text.len};
        ses_store *other = empty_store();
        ses_import_report report = {.size = sizeof report};
        if (cases[i].flags)
            must_create(other, &key, Q("{'another':1}"));
        assert_ok(ses_store_import(other, give_lines, &reader, &options, &report, &error));
        assert_has_images(other, &cases[i].key);
        ses_close(other);
    }
    free(text.data);
}

/* ------------------------------------------------------------------------------------------ what stays */

static void assert_stays(ses_store *store, const char *json, const ses_artifact_inline_options *options)
{
    char *inlined = (char *)1;
    ses_error error;

    assert_code(SES_UNCHANGED,
                ses_artifact_inline_by_key(store, &key, json, SES_NUL, options, &inlined, NULL, &error));
    assert_null(inlined);
}

#define REFERS(delta, session, name)                                                       \
    "{'actions':{'artifactDelta':{" delta "}},'content':{'parts':[{'fileData':{'fileUri':" \
    "'artifact://apps/x/users/y/sessions/" session "/artifacts/" name "'}}]}}"

TEST(other_references_stay)
{
    const ses_artifact_inline_options few = {.size = sizeof few, .bytes = 2};
    ses_store *store = fixture->store;
    char *inlined = NULL;

    must_create(store, &key, NULL);
    must_save(store, &key, "f", "zero");
    must_save(store, &key, "f", "one");
    assert_stays(store, "{}", NULL);
    assert_stays(store, Q("{'content':{'parts':[{'text':'artifact://'}]}}"), NULL);
    assert_stays(store, Q(REFERS("", "z", "f/versions/0")), NULL);
    assert_stays(store, Q(REFERS("'f':0", "z", "f/versions/1")), NULL);
    assert_stays(store, Q(REFERS("'g':0", "z", "f/versions/0")), NULL);
    assert_stays(store, Q(REFERS("'g':0", "z", "g/versions/0")), NULL);
    assert_stays(store, Q(REFERS("'f':0", "z", "f/versions/0")), &few);
    assert_ok(ses_artifact_inline_by_key(store, &key, Q(REFERS("'f':0", "a/artifacts/b", "f/versions/0")),
                                         SES_NUL, NULL, &inlined, NULL, &error));
    assert_string_equal(inlined, Q("{'actions':{'artifactDelta':{'f':0}},'content':{'parts':["
                                   "{'inlineData':{'data':'emVybw=='}}]}}"));
    ses_free(inlined);
}

TEST(wrong_input_is_refused)
{
    const ses_artifact_inline_options negative = {.size = sizeof negative, .bytes = -1};
    ses_store *store = fixture->store;
    char *inlined = (char *)1;

    must_create(store, &key, NULL);
    ses_session *session = must_get(store, &key);
    assert_code(SES_JSON, ses_artifact_inline(session, "{", SES_NUL, NULL, &inlined, NULL, &error));
    assert_null(inlined);
    assert_code(SES_INVALID, ses_artifact_inline(session, "{}", SES_NUL, &negative, &inlined, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_inline(session, NULL, SES_NUL, NULL, &inlined, NULL, &error));
    assert_code(SES_MISUSE, ses_artifact_inline(session, "{}", SES_NUL, NULL, NULL, NULL, &error));
    assert_code(SES_UNCHANGED, ses_artifact_inline(session, "{}", SES_NUL, NULL, &inlined, NULL, &error));
}
