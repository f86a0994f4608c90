/* Which versions of SQLite are known to damage a store, as ses_store_info says. */
#include "support.h"

int __wrap_sqlite3_libversion_number(void);

static int version;

int __wrap_sqlite3_libversion_number(void)
{
    return version;
}

static void test_the_versions_with_the_bug(void **state)
{
    static const struct {
        int version;
        bool has_bug;
    } versions[] = {{3037000, true}, {3044005, true}, {3044006, false}, {3044007, false},
                    {3045000, true}, {3050006, true}, {3050007, false}, {3050099, false},
                    {3051000, true}, {3051002, true}, {3051003, false}, {3053000, false}};
    const struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        ses_info info = {.size = sizeof info};
        ses_error error;
        version = versions[i].version;
        assert_ok(ses_store_info(fixture->store, &info, &error));
        if ((info.sqlite.bugs[0] != '\0') != versions[i].has_bug)
            fail_msg("version %d: \"%s\"", version, info.sqlite.bugs);
    }
}

static int setup(void **state)
{
    version = 3053000;
    return fixture_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_versions_with_the_bug, setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("bugs of SQLite", tests, NULL, NULL);
}
