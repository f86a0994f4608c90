/* Opening, closing and describing a store. */
#include "support.h"

TEST(reopened_store_has_everything)
{
    const ses_key key = {"app", "user", "session"};

    must_create(fixture->store, &key, Q("{'a':1}"));
    fixture_reopen(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'a':1}"));
    ses_session_close(session);
}

TEST(info_tells_what_the_store_runs_on)
{
    ses_info info = {.size = sizeof info};

    assert_ok(ses_store_info(fixture->store, &info, &error));
    assert_string_equal(info.path, fixture->path);
    assert_string_equal(info.sqlite.journal_mode, "wal");
    assert_string_equal(info.sqlite.journal_reason, "");
    assert_int_equal(info.schema_version, SES_SCHEMA_VERSION);
    assert_int_equal(info.read_only, 0);
}
