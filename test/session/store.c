/* Opening, closing and describing a store. */
#include "support.h"

static void test_reopened_store_has_everything(void **state)
{
    struct fixture *fixture = *state;
    const ses_key key = {"app", "user", "session"};
    ses_session *session = NULL;

    must_create(fixture->store, &key, Q("{'a':1}"));
    fixture_reopen(fixture);
    session = must_get(fixture->store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'a':1}"));
    ses_session_close(session);
}

static void test_info_tells_what_the_store_runs_on(void **state)
{
    struct fixture *fixture = *state;
    ses_info info = {.size = sizeof info};
    ses_error error;

    assert_ok(ses_store_info(fixture->store, &info, &error));
    assert_string_equal(info.path, fixture->path);
    assert_string_equal(info.sqlite.journal_mode, "wal");
    assert_string_equal(info.sqlite.journal_reason, "");
    assert_int_equal(info.schema_version, SES_SCHEMA_VERSION);
    assert_int_equal(info.read_only, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reopened_store_has_everything, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_info_tells_what_the_store_runs_on, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
