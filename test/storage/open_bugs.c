/* Which versions of SQLite are known to damage a store, as ses_store_info says. */
#include "support.h"

int __wrap_sqlite3_libversion_number(void);

static int version;

int __wrap_sqlite3_libversion_number(void)
{
    return version;
}

static int setup(void **state)
{
    version = 3053000;
    return fixture_setup(state);
}

TEST_OF(setup, the_versions_with_bugs)
{
    static const struct {
        int version;
        bool resets;
        bool savepoint;
    } versions[] = {{3037000, true, true},   {3044005, true, true},  {3044006, false, true},
                    {3044007, false, true},  {3045000, true, true},  {3050001, true, true},
                    {3050002, true, false},  {3050006, true, false}, {3050007, false, false},
                    {3050099, false, false}, {3051000, true, false}, {3051002, true, false},
                    {3051003, false, false}, {3053000, false, false}};

    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        ses_info info = {.size = sizeof info};
        version = versions[i].version;
        assert_ok(ses_store_info(fixture->store, &info, &error));
        const bool resets = strstr(info.sqlite.bugs, "WAL-reset") != NULL;
        const bool savepoint = strstr(info.sqlite.bugs, "WAL-savepoint") != NULL;
        if (resets != versions[i].resets || savepoint != versions[i].savepoint ||
            (info.sqlite.bugs[0] != '\0') != (resets || savepoint))
            fail_msg("version %d: \"%s\"", version, info.sqlite.bugs);
    }
}
