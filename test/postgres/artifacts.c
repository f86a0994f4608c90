/* Artifacts on a server: what calls that meet there leave in its tables. */
#include "../artifact/at_once.h"
#include "database.h"
#include "seslite_postgres.h"

static void assert_sound(const struct database *database)
{
    static const char *const numbers[] = {
        "SELECT count(*) FROM seslite.artifact_contents AS c WHERE c.hash IS NULL OR c.uses = 0 OR c.uses <>"
        " (SELECT count(*) FROM seslite.artifacts AS f WHERE f.shard = c.shard AND f.content_id = c.id"
        " AND f.user_id = c.user_id)",
        "SELECT count(*) FROM seslite.artifact_contents AS c WHERE c.size <> (SELECT coalesce(sum(length(k.bytes)), 0)"
        " FROM seslite.artifact_chunks AS k WHERE k.shard = c.shard AND k.content_id = c.id)",
        "SELECT count(*) FROM seslite.artifact_chunks AS k WHERE NOT EXISTS (SELECT FROM seslite.artifact_contents AS c"
        " WHERE k.shard = c.shard AND k.content_id = c.id)",
        "SELECT count(*) FROM seslite.artifacts AS f WHERE NOT EXISTS (SELECT FROM seslite.artifact_contents AS c"
        " WHERE f.shard = c.shard AND f.content_id = c.id)"};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (database_number(database, numbers[i]) != 0)
            fail_msg("%s", numbers[i]);
    }
}

SERVER_TEST(threads_of_two_stores_share_the_bytes_of_a_user)
{
    ses_store *stores[2] = {NULL, NULL};

    for (int i = 0; i < 2; i++)
        assert_ok(ses_open_postgres(database->place, NULL, NULL, &stores[i], &error));
    at_once_run_all(stores, 40);
    assert_sound(database);
    assert_ok(ses_delete_user(stores[0], "app", "user", NULL, NULL, NULL, &error));
    assert_int_equal(database_number(database, "SELECT count(*) FROM seslite.artifact_contents"), 0);
    assert_sound(database);
    for (int i = 0; i < 2; i++)
        ses_close(stores[i]);
}
