/* Artifacts by themselves: saved, opened, read, listed and deleted. */
#include "artifact.h"

/* -------------------------------------------------------------------------------------------- versions */

TEST(each_save_is_the_next_version)
{
    const int64_t first = 0;

    must_create(fixture->store, &key, NULL);
    assert_int_equal(must_save(fixture->store, &key, "a.txt", "one"), 0);
    assert_int_equal(must_save(fixture->store, &key, "a.txt", "two!"), 1);
    assert_int_equal(must_save(fixture->store, &key, "b", ""), 0);
    assert_artifact(fixture->store, &key, "a.txt", NULL, "two!");
    assert_artifact(fixture->store, &key, "a.txt", &first, "one");
    assert_artifact(fixture->store, &key, "b", NULL, "");
    assert_sound(fixture);
}

TEST(a_version_says_what_it_is)
{
    const ses_artifact_save_options options = {.size = sizeof options,
                                               .mime_type = "image/png",
                                               .display_name = "A chart",
                                               .metadata = Q("{ 'dpi':  300 }"),
                                               .metadata_len = SES_NUL};
    ses_artifact *artifact;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "chart", "\0\1\2", 3, &options, NULL, &error));
    fixture->now += 5000000;
    assert_ok(ses_artifact_open_by_key(fixture->store, &key, "chart", NULL, &artifact, &error));
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    assert_string_equal(info->name, "chart");
    assert_int_equal(info->version, 0);
    assert_int_equal(info->created_us, fixture->now - 5000000);
    assert_int_equal(info->size, 3);
    assert_int_equal(info->kind, SES_ARTIFACT_BYTES);
    assert_string_equal(info->mime_type, "image/png");
    assert_string_equal(info->display_name, "A chart");
    assert_string_equal(info->metadata, Q("{ 'dpi':  300 }"));
    assert_int_equal(info->metadata_len, strlen(info->metadata));
    assert_string_equal(info->hash, "ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc");
    assert_string_equal(info->uri,
                        "artifact://apps/app/users/user/sessions/session/artifacts/chart/versions/0");
    ses_artifact_close(artifact);
}

TEST(a_users_artifact_is_seen_by_all_sessions)
{
    const ses_key other = {"app", "user", "other"};
    const ses_key user = {"app", "user", NULL};
    const ses_key stranger = {"app", "stranger", "session"};

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    must_create(fixture->store, &stranger, NULL);
    assert_int_equal(must_save(fixture->store, &key, "user:logo", "1"), 0);
    assert_int_equal(must_save(fixture->store, &user, "logo", "2"), 1);
    assert_artifact(fixture->store, &other, "user:logo", NULL, "2");
    assert_artifact(fixture->store, &user, "user:logo", NULL, "2");
    assert_no_artifact(fixture->store, &stranger, "user:logo");
    assert_no_artifact(fixture->store, &other, "logo");
}

TEST(a_session_that_does_not_exist_has_artifacts_only_if_asked)
{
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    const ses_artifact_save_options of_append = {.size = sizeof of_append, .flags = SES_ANYWAY};

    assert_code(SES_NOTFOUND,
                ses_artifact_save_by_key(fixture->store, &key, "a", "1", 1, NULL, NULL, &error));
    assert_code(SES_MISUSE,
                ses_artifact_save_by_key(fixture->store, &key, "a", "1", 1, &of_append, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "a", "1", 1, &anyway, NULL, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "1");
    must_create(fixture->store, &key, NULL);
    assert_artifact(fixture->store, &key, "a", NULL, "1");
    must_delete(fixture->store, &key);
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

/* -------------------------------------------------------------------------------------------- many bytes */

/* Reads bytes made from their place, in odd portions. */
struct stream {
    int64_t size;
    int64_t at;
    int64_t fails_at; /* 0: never */
};

static int read_stream(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct stream *stream = context;
    unsigned char *bytes = (unsigned char *)buffer;
    (void)error;
    int64_t count = stream->size - stream->at;

    if (stream->fails_at > 0 && stream->at >= stream->fails_at)
        return SES_INTERRUPTED;
    if (count > 70001)
        count = 70001;
    if (count > (int64_t)capacity)
        count = (int64_t)capacity;
    for (int64_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((stream->at + i) * 31 >> 3);
    stream->at += count;
    *len = (size_t)count;
    return SES_OK;
}

static void assert_streamed(ses_store *store, const char *name, int64_t size)
{
    static unsigned char got[100000];
    ses_artifact *artifact;
    ses_error error;
    size_t len = 1;

    assert_ok(ses_artifact_open_by_key(store, &key, name, NULL, &artifact, &error));
    assert_int_equal(ses_artifact_info_of(artifact)->size, size);
    for (int64_t at = 0; len > 0; at += (int64_t)len) {
        assert_ok(ses_artifact_read(artifact, at, got, sizeof got, &len, &error));
        for (size_t i = 0; i < len; i++)
            assert_int_equal(got[i], (unsigned char)((at + (int64_t)i) * 31 >> 3));
        assert_true(len > 0 || at == size);
    }
    assert_ok(ses_artifact_read(artifact, size / 2, got, 10, &len, &error));
    assert_int_equal(len, size / 2 + 10 <= size ? 10 : size - size / 2);
    ses_artifact_close(artifact);
}

TEST(bytes_are_read_from_a_function)
{
    static const int64_t sizes[] = {0,       1,       65535,   65536,   65537,   4194303,
                                    4194304, 4194305, 8388608, 9000001, 12582912};

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct stream stream = {.size = sizes[i]};
        const ses_artifact_save_options options = {
            .size = sizeof options, .read = read_stream, .read_context = &stream};
        int64_t version = -1;
        assert_ok(
            ses_artifact_save_by_key(fixture->store, &key, "big", NULL, SES_NUL, &options, &version, &error));
        assert_int_equal(version, i);
        assert_streamed(fixture->store, "big", sizes[i]);
    }
    assert_sound(fixture);
}

static int save_stream(struct fixture *fixture, struct stream *stream, size_t len, int64_t max_bytes,
                       ses_error *error)
{
    const ses_artifact_save_options options = {
        .size = sizeof options, .read = read_stream, .read_context = stream, .max_bytes = max_bytes};
    return ses_artifact_save_by_key(fixture->store, &key, "big", NULL, len, &options, NULL, error);
}

TEST(a_failure_leaves_nothing)
{
    must_create(fixture->store, &key, NULL);
    assert_code(SES_INVALID, save_stream(fixture, &(struct stream){.size = 9000000}, 9000001, 0, &error));
    assert_message("fewer");
    assert_code(SES_INVALID, save_stream(fixture, &(struct stream){.size = 9000002}, 9000001, 0, &error));
    assert_message("more");
    assert_code(SES_LIMIT, save_stream(fixture, &(struct stream){.size = 9000001}, SES_NUL, 9000000, &error));
    assert_code(SES_LIMIT, save_stream(fixture, &(struct stream){.size = 9000001}, 9000001, 9000000, &error));
    assert_code(SES_INTERRUPTED, save_stream(fixture, &(struct stream){.size = 9000001, .fails_at = 5000000},
                                             SES_NUL, 0, &error));
    assert_no_artifact(fixture->store, &key, "big");
    assert_sound(fixture);
    assert_ok(save_stream(fixture, &(struct stream){.size = 9000001}, 9000001, 9000001, &error));
    assert_streamed(fixture->store, "big", 9000001);
}

/* -------------------------------------------------------------------------------------------- references */

static void save_uri(ses_store *store, const char *name, const char *uri, int expected)
{
    const ses_artifact_save_options options = {.size = sizeof options, .kind = SES_ARTIFACT_URI};
    ses_error error;
    assert_code(expected, ses_artifact_save_by_key(store, &key, name, uri, SES_NUL, &options, NULL, &error));
}

TEST(a_reference_opens_what_it_refers_to)
{
    static const char base[] = "artifact://apps/app/users/user/sessions/session/artifacts/";
    ses_artifact *artifact;
    char uri[300];

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "r0", "target");
    must_save(fixture->store, &key, "r0", "later");
    for (int i = 1; i <= 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%d", i);
        snprintf(uri, sizeof uri, "%sr%d/versions/0", base, i - 1);
        save_uri(fixture->store, name, uri, SES_OK);
    }
    assert_artifact(fixture->store, &key, "r1", NULL, "target");
    assert_artifact(fixture->store, &key, "r5", NULL, "target");
    assert_code(SES_INVALID, ses_artifact_open_by_key(fixture->store, &key, "r6", NULL, &artifact, &error));
    const ses_artifact_open_options stored = {.size = sizeof stored, .flags = SES_ARTIFACT_OPEN_STORED};
    assert_ok(ses_artifact_open_by_key(fixture->store, &key, "r6", &stored, &artifact, &error));
    assert_int_equal(ses_artifact_info_of(artifact)->kind, SES_ARTIFACT_URI);
    ses_artifact_close(artifact);
    must_save(fixture->store, &key, "user:logo", "of the user");
    save_uri(fixture->store, "logo", "artifact://apps/app/users/user/artifacts/user:logo/versions/0", SES_OK);
    assert_artifact(fixture->store, &key, "logo", NULL, "of the user");
    save_uri(fixture->store, "bad", "artifact://apps/app/users/other/artifacts/user:logo/versions/0",
             SES_INVALID);
    save_uri(fixture->store, "bad", "artifact://apps/app/users/user/sessions/other/artifacts/x/versions/0",
             SES_INVALID);
    save_uri(fixture->store, "bad", "artifact://apps/app/users/user/artifacts/x/versions/-1", SES_INVALID);
    save_uri(fixture->store, "far", "gs://bucket/file", SES_OK);
    assert_artifact(fixture->store, &key, "far", NULL, "gs://bucket/file");
}

TEST(an_empty_version_of_unknown_type_counts_as_absent)
{
    const ses_artifact_save_options tombstone = {.size = sizeof tombstone,
                                                 .mime_type = "application/octet-stream"};

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "1");
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "a", "", 0, &tombstone, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    assert_int_equal(count_versions(fixture->store, &key, "a"), 2);
}

/* -------------------------------------------------------------------------------------------- lists */

static void assert_names(ses_store *store, const ses_key *of, const char *after, size_t limit,
                         const char *expected)
{
    const ses_artifact_list_options options = {.size = sizeof options, .after = after, .limit = limit};
    ses_artifact_list *list;
    ses_error error;
    char names[300] = "";

    assert_ok(ses_artifact_names_by_key(store, of, &options, &list, &error));
    for (size_t i = 0; i < ses_artifact_list_count(list); i++) {
        const ses_artifact_info *info = ses_artifact_list_at(list, i);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s@%d ", info->name,
                 (int)info->version);
    }
    strcat(names, ses_artifact_list_more(list) ? "..." : "");
    assert_string_equal(names, expected);
    assert_null(ses_artifact_list_at(list, ses_artifact_list_count(list)));
    ses_artifact_list_close(list);
}

TEST(names_are_those_of_the_session_and_the_user)
{
    const ses_key user = {"app", "user", NULL};
    const ses_key nobody = {"app", "nobody", "x"};

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "z", "1");
    must_save(fixture->store, &key, "b", "1");
    must_save(fixture->store, &key, "b", "2");
    must_save(fixture->store, &key, "user:m", "1");
    must_save(fixture->store, &user, "a", "1");
    assert_names(fixture->store, &key, NULL, 0, "b@1 user:a@0 user:m@0 z@0 ");
    assert_names(fixture->store, &key, NULL, 3, "b@1 user:a@0 user:m@0 ...");
    assert_names(fixture->store, &key, "user:m", 3, "z@0 ");
    assert_names(fixture->store, &user, NULL, 1, "user:a@0 ...");
    assert_names(fixture->store, &nobody, NULL, 0, "");
}

/* -------------------------------------------------------------------------------------------- removing */

TEST(equal_bytes_are_stored_once_and_go_with_the_last)
{
    const ses_key other = {"app", "user", "other"};
    int64_t deleted = -1;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    must_save(fixture->store, &key, "a", "the same bytes");
    must_save(fixture->store, &other, "b", "the same bytes");
    must_save(fixture->store, &other, "b", "others");
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, &deleted, &error));
    assert_int_equal(deleted, 0);
    assert_artifact(fixture->store, &other, "b", &(int64_t){0}, "the same bytes");
    assert_sound(fixture);
    must_delete(fixture->store, &other);
    assert_sound(fixture);
    assert_int_equal(must_save(fixture->store, &key, "a", "anew"), 0);
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

TEST(deleting_an_artifact_gives_a_receipt)
{
    ses_erased erased = {.size = sizeof erased, .artifacts = -2, .sessions = -2};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "one");
    must_save(fixture->store, &key, "a", "two");
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", &options, NULL, &error));
    assert_int_equal(erased.artifacts, 2);
    assert_int_equal(erased.sessions, 0);
    erased.size = 1;
    assert_code(SES_MISUSE, ses_artifact_delete_by_key(fixture->store, &key, "a", &options, NULL, &error));
}

TEST(a_deleted_artifact_that_is_open_says_so)
{
    ses_artifact *artifact;
    char byte;
    size_t len = 77;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "bytes");
    assert_ok(ses_artifact_open_by_key(fixture->store, &key, "a", NULL, &artifact, &error));
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_artifact_read(artifact, 0, &byte, 1, &len, &error));
    assert_int_equal(len, 77);
    ses_artifact_close(artifact);
}

/* -------------------------------------------------------------------------------------------- bad input */

TEST(bad_names_and_options_are_refused)
{
    ses_store *store = fixture->store;
    ses_artifact_save_options options = {.size = sizeof options};
    const ses_key user = {"app", "user", NULL};
    ses_artifact *artifact = (ses_artifact *)1;
    char name[514];

    must_create(store, &key, NULL);
    memset(name, 'n', sizeof name);
    name[513] = '\0';
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &key, name, "", 0, NULL, NULL, &error));
    name[512] = '\0';
    assert_ok(ses_artifact_save_by_key(store, &key, name, "", 0, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &user, name, "", 0, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &key, "", "", 0, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &key, "\xff", "", 0, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_artifact_open_by_key(store, &key, NULL, NULL, &artifact, &error));
    assert_null(artifact);
    assert_code(SES_INVALID, ses_artifact_open_by_key(
                                 store, &key, "a",
                                 &(ses_artifact_open_options){.size = sizeof(ses_artifact_open_options),
                                                              .version = &(int64_t){-1}},
                                 &artifact, &error));
    options.metadata = "[1]";
    options.metadata_len = SES_NUL;
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &key, "a", "", 0, &options, NULL, &error));
    assert_message("artifact options: `metadata`: it must be an object");
    options.metadata = "{";
    assert_code(SES_JSON, ses_artifact_save_by_key(store, &key, "a", "", 0, &options, NULL, &error));
    assert_message("artifact options: `metadata`: ");
    options.metadata = NULL;
    options.kind = SES_ARTIFACT_TEXT;
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &key, "a", "\xff", 1, &options, NULL, &error));
    for (options.kind = -1; options.kind <= 3; options.kind += 4)
        assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &key, "a", "", 0, &options, NULL, &error));
    options.kind = SES_ARTIFACT_BYTES;
    assert_code(SES_MISUSE, ses_artifact_save_by_key(store, &key, "a", NULL, 1, &options, NULL, &error));
    assert_no_artifact(store, &key, "a");
}

TEST(a_handle_has_the_same_calls)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_artifact_list *list;
    ses_artifact *artifact;
    int64_t number = -1;

    assert_ok(ses_artifact_save(session, "a", "1", 1, NULL, &number, &error));
    assert_int_equal(number, 0);
    assert_ok(ses_artifact_open(session, "a", NULL, &artifact, &error));
    ses_artifact_close(artifact);
    assert_ok(ses_artifact_names(session, NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 1);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_versions(session, "a", NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 1);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_delete(session, "a", NULL, &number, &error));
    assert_int_equal(number, 1);
}
