/* Damaged rows: see server/damage.h. */
#include "mysql/place.h"

#define OVERFLOW                                                              \
    "CREATE TRIGGER overflow BEFORE UPDATE ON seslite_sessions FOR EACH ROW " \
    "SET NEW.changed_us = NEW.changed_us + 9223372036854775807"

#include "server/damage.h"

enum { PROBLEM_BYTES = 1000 };

static int note_problem(void *context, const ses_problem *problem)
{
    snprintf(context, PROBLEM_BYTES, "%s", problem->message);
    return 0;
}

SERVER_TEST(a_check_finds_a_wrong_number_of_origin)
{
    const ses_fork_options none = {.size = sizeof none};
    const ses_key fork = {"app", "user", "fork"};
    char message[PROBLEM_BYTES] = "";
    const ses_check_options options = {
        .size = sizeof options, .level = SES_CHECK_LOG, .report = note_problem, .report_context = message};
    struct place place;
    int64_t problems = 0;

    place_make(&place, database, "origins");
    ses_store *store = place_store(&place);
    must_create(store, &key, NULL);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, &none, NULL, &error));
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
    place_run(&place, "UPDATE seslite_session_details SET origin = -origin");
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 2);
    assert_non_null(strstr(message, "origin is not a positive number"));
    ses_close(store);
    place_end(&place);
}

SERVER_TEST(a_check_finds_a_column_of_another_type_and_a_missing_index)
{
    static const struct {
        const char *change;
        const char *problem;
    } cases[] = {{"ALTER TABLE seslite_events MODIFY size INT NOT NULL",
                  "the table events has no column size of type bigint"},
                 {"ALTER TABLE seslite_artifact_contents DROP INDEX unused",
                  "the index unused of artifact_contents is missing"}};
    struct place place;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[PROBLEM_BYTES] = "";
        const ses_check_options options = {.size = sizeof options,
                                           .level = SES_CHECK_QUICK,
                                           .report = note_problem,
                                           .report_context = message};
        int64_t problems = 0;

        place_make(&place, database, i == 0 ? "typed" : "indexed");
        ses_store *store = place_store(&place);
        place_run(&place, cases[i].change);
        assert_ok(ses_store_check(store, &options, &problems, &error));
        assert_int_equal(problems, 1);
        assert_non_null(strstr(message, cases[i].problem));
        ses_close(store);
        place_end(&place);
    }
}
