/* The beginnings and the ends of transactions. */
#include "base/clock.h"
#include "storage/mysql/connection/connection.h"

void ses__my_begin(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);
    /* The server counts whole seconds, of which it needs at least one. */
    const int64_t left = (remote->db.deadline_us - ses__clock_steady_us()) / 1000000;
    const int64_t lock_seconds = left < 1 ? 1 : left < 1000000 ? left : 1000000;

    my->number = 0;
    for (size_t i = 0; i < KEEPS_COUNT; i++) /* the server may have stopped before it */
        my->kept[i] = my->kept[i] == KEPT ? KEPT : NOT_KEPT;
    my->is_unguarded = remote->writes;
    if (remote->writes) {
        ses__my_keep(my, STATEMENT_ISOLATE_WRITE, &my->kept[KEEPS_WRITE]);
        ses__my_collect(my, STATEMENT_BEGIN_WRITE, NULL, MY_CHANGES, NULL);
        ses__my_collect(my, STATEMENT_BEGIN_SETTINGS, VALUES(INT(lock_seconds)), MY_CHANGES, NULL);
    } else {
        ses__my_keep(my, STATEMENT_ISOLATE_READ, &my->kept[KEEPS_READ]);
        ses__my_collect(my, STATEMENT_BEGIN_READ, NULL, MY_CHANGES, NULL);
        ses__my_collect(my, STATEMENT_BEGIN_READ_SETTINGS, NULL, MY_CHANGES, NULL);
    }
    my->kept[my->base.writes ? KEEPS_READ : KEEPS_WRITE] = NOT_KEPT;
}

void ses__my_ask_commit(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);

    /* A cluster is sent the commit at once. If its answer is lost, the outcome is unknown. */
    remote->ended = ses__my_is_ready(my, "commit");
    ses__my_collect(my, STATEMENT_COMMIT, NULL, MY_CHANGES, NULL);
}

void ses__my_ask_same(struct remote *remote)
{
    ses__my_collect(ses__my_of(&remote->db), STATEMENT_SESSION_BY_ID, VALUES(INT(remote->db.found_id)),
                    MY_SAME, NULL);
}

void ses__my_send_end(struct remote *remote, const struct statement *statement)
{
    struct my *my = ses__my_of(&remote->db);

    ses__my_collect(my, statement, NULL, MY_ENDS, NULL);
    ses__my_dispatch(my);
}
