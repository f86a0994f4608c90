/* Sessions in the form of other programs, written without the command, and read again. */
#include "support.h"

#include "formats/formats.h"
#include "formats/write.h"

static const ses_key key = {"chat", "bob", "trip"};

static ses_session *make_session(ses_store *store)
{
    ses_session *session = must_open_new(store, &key, "{\"topic\":\"Oslo\"}");

    must_append(session, "{\"id\":\"e1\",\"author\":\"user\",\"invocationId\":\"i\",\"timestamp\":1.50,"
                         "\"own\":[1.0],\"content\":{\"parts\":[{\"text\":\"\\ud800\"}]}}");
    return session;
}

static int64_t noted(const struct writing *writing)
{
    int64_t sum = 0;

    for (size_t i = 0; i < WRITE_NOTE_COUNT; i++)
        sum += writing->notes[i];
    return sum;
}

PLAIN_TEST(a_session_keeps_its_bytes_and_what_changes_is_counted)
{
    ses_store *store = must_open(":memory:", NULL);
    ses_session *session = make_session(store);
    struct writing writing = {.store = store};
    struct text json = {NULL, 0, 0};

    assert_ok(write_session_json(&writing, session, &json, &error));
    assert_non_null(strstr(json.data, "\"timestamp\":1.50,\"own\":[1.0]"));
    assert_non_null(strstr(json.data, "{\"text\":\"\\ufffd\"}"));
    assert_int_equal(writing.notes[WRITE_NOTE_SURROGATES], 1);
    assert_int_equal(noted(&writing), 1);
    text_clear(&json);
    assert_ok(write_vertex_json(&writing, session, &json, &error));
    assert_non_null(strstr(json.data, "/reasoningEngines/chat/sessions/trip\""));
    assert_int_equal(writing.notes[WRITE_NOTE_FIELDS], 1);
    text_free(&json);
    ses_session_close(session);
    ses_close(store);
}

static void write_into(const char *path, const ses_session *session, struct writing *writing)
{
    static const char state[] = "{\"topic\":\"Oslo\"}";
    struct adk_database *database = NULL;
    ses_error error;

    assert_ok(adk_database_open(writing, path, "the copy", &database, &error));
    assert_ok(adk_database_session(database, session, (struct span){state, sizeof state - 1}, &error));
    assert_ok(adk_database_event(database, session, ses_session_event(session, 0), &error));
    assert_code(SES_IO, adk_database_event(database, session, ses_session_event(session, 0), &error));
    assert_message("the copy cannot be written: UNIQUE");
    assert_ok(adk_database_close(database, SES_OK, &error));
}

PLAIN_TEST(a_database_is_read_again)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "session.db");
    ses_store *store = must_open(":memory:", NULL);
    ses_session *session = make_session(store);
    struct writing writing = {.store = store};
    struct foreign_notes notes = {.muted = true};
    struct opened_file opened;
    struct foreign_session read;
    struct foreign_event event;
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    write_into(path, session, &writing);
    assert_ok(file_open(path, false, &notes, &opened, &error));
    assert_string_equal(opened.format->name, "adk-python-sqlite");
    assert_ok(opened.format->open(&opened.file, &opened.source, &error));
    assert_int_equal(opened.format->next_session(opened.source, &read, &error), 1);
    assert_string_equal(read.session, key.session);
    assert_memory_equal(read.state.ptr, "{\"topic\":\"Oslo\"}", read.state.len);
    assert_ok(opened.format->begin_events(opened.source, &error));
    assert_int_equal(opened.format->next_event(opened.source, &event, &error), 1);
    assert_string_equal(event.name, "e1");
    opened.format->close(opened.source);
    file_close(&opened);
    ses_session_close(session);
    ses_close(store);
    free(path);
    support_folder_remove(folder);
}
