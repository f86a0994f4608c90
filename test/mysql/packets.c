/* Values that are longer than the server takes at once, and bytes that mean something in a statement. */
#include "mysql/database.h"
#include "seslite_artifact.h"

static const ses_key key = {"app", "user", "s1"};
enum { MEGABYTE = 1 << 20 };

/* An event of about so many bytes, half of which have to be doubled in a statement. */
static char *event_of(size_t bytes)
{
    static const char begin[] = "{\"content\":{\"parts\":[{\"text\":\"";
    static const char end[] = "\"}]}}";
    char *event = malloc(bytes + sizeof begin + sizeof end);

    assert_non_null(event);
    strcpy(event, begin);
    memset(event + strlen(begin), 'x', bytes);
    for (size_t i = 1; i < bytes; i += 2)
        event[strlen(begin) + i] = '\'';
    strcpy(event + strlen(begin) + bytes, end);
    return event;
}

SERVER_TEST(an_event_that_is_too_long_for_a_packet_is_refused)
{
    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 1048576");
    ses_store *store = database_open(database->uri, 20000);
    char *large = event_of(MEGABYTE);
    char *small = event_of(600000);
    must_create(store, &key, NULL);
    assert_code(SES_LIMIT, ses_append_by_key(store, &key, large, SES_NUL, NULL, NULL, &error));
    assert_non_null(strstr(error.message, "max_allowed_packet"));
    must_append_by_key(store, &key, small);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_last_seq(session), 1);
    assert_code(SES_LIMIT, ses_append(session, large, SES_NUL, NULL, NULL, &error));
    must_append(session, small);
    ses_session_close(session);
    ses_close(store);
    free(large);
    free(small);
    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 16777216");
}

/* An event of so many bytes, 30,000 of which are the value of a key. */
static char *event_with_key(size_t bytes)
{
    static const char format[] =
        "{\"actions\":{\"stateDelta\":{\"user:k\":\"%030000d\"}},\"content\":{\"parts\":[{\"text\":\"";
    static const char end[] = "\"}]}}";
    char *event = malloc(bytes + 1);

    assert_non_null(event);
    memset(event, 'x', bytes);
    event[snprintf(event, bytes, format, 0)] = 'x';
    strcpy(event + bytes - strlen(end), end);
    return event;
}

/* A text that the server takes is stored, whatever comes after it. One that it does not take is refused
 * before it is sent, so the connection stays. */
SERVER_TEST(events_of_about_the_length_of_a_packet)
{
    const ses_key edge = {"app", "edge", "s"};
    int64_t stored = 0;
    int code = SES_OK;

    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 1048576");
    ses_store *store = database_open(database->uri, 20000);
    must_create(store, &edge, NULL);
    const int64_t connections = database_count(database, "Connections");
    for (size_t left = 800; left > 0; left -= 8) {
        char *event = event_with_key(MEGABYTE - left);
        const int next = ses_append_by_key(store, &edge, event, SES_NUL, NULL, NULL, &error);
        assert_true(next == code || (code == SES_OK && next == SES_LIMIT));
        code = next;
        stored += code == SES_OK;
        free(event);
    }
    assert_int_equal(code, SES_LIMIT);
    assert_in_range(stored, 20, 80);
    must_append_by_key(store, &edge, "{}");
    ses_session *session = must_get(store, &edge);
    assert_int_equal(ses_session_event_count(session), stored + 1);
    assert_int_equal(database_count(database, "Connections"), connections);
    ses_session_close(session);
    ses_close(store);
    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 16777216");
}

/* Many statements are sent in pieces, and are still one transaction. */
SERVER_TEST(a_batch_that_is_longer_than_a_packet_is_sent_in_pieces)
{
    enum { COUNT = 40 };
    const ses_key batch = {"app", "user", "batch"};
    ses_text events[COUNT];

    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 1048576");
    ses_store *store = database_open(database->uri, 20000);
    char *event = event_of(100000);
    for (int i = 0; i < COUNT; i++)
        events[i] = (ses_text){event, strlen(event)};
    must_create(store, &batch, NULL);
    assert_ok(ses_append_batch_by_key(store, &batch, events, COUNT, NULL, NULL, &error));
    ses_session *session = must_get(store, &batch);
    assert_int_equal(ses_session_event_count(session), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_non_null(strstr(ses_session_event(session, i)->json, event + 1));
    ses_session_close(session);
    ses_close(store);
    free(event);
    (void)database_ask(database, "SET GLOBAL max_allowed_packet = 16777216");
}

/* All bytes, also at the edges of chunks. */
SERVER_TEST(every_byte_comes_back)
{
    const size_t len = 3 * 65536 + 7;
    unsigned char *bytes = malloc(len);
    unsigned char *read = malloc(len);
    ses_artifact *artifact = NULL;
    size_t got = 0;

    assert_non_null(bytes);
    assert_non_null(read);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 256);
    ses_store *store = database_open(database->uri, 20000);
    assert_ok(ses_artifact_save_by_key(store, &key, "all", bytes, len, NULL, NULL, &error));
    assert_ok(ses_artifact_open_by_key(store, &key, "all", NULL, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, read, len, &got, &error));
    assert_int_equal(got, len);
    assert_memory_equal(bytes, read, len);
    ses_artifact_close(artifact);
    ses_close(store);
    free(bytes);
    free(read);
}
