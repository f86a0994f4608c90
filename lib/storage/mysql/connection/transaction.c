/* The beginnings of transactions, and the end of those that only read. */
#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/connection/connection.h"

void ses__my_forget_failure(struct my *my)
{
    my->code = SES_OK;
    my->again = false;
    my->number = 0;
    ses__error_clear(&my->error);
}

/* The server counts whole seconds, of which it needs at least one. */
static int64_t lock_seconds(const struct my *my)
{
    const int64_t left_us = my->base.deadline_us - ses__clock_steady_us();
    const int64_t seconds = left_us / 1000000;

    return seconds < 1 ? 1 : seconds < 1000000 ? seconds : 1000000;
}

static void collect_begin(struct my *my)
{
    if (my->writes) {
        ses__my_keep(my, STATEMENT_ISOLATE_WRITE, &my->kept[KEEPS_WRITE]);
        ses__my_collect(my, STATEMENT_BEGIN_WRITE, NULL, MY_CHANGES, NULL);
        ses__my_collect(my, STATEMENT_BEGIN_SETTINGS, VALUES(INT(lock_seconds(my))), MY_CHANGES, NULL);
    } else {
        ses__my_keep(my, STATEMENT_ISOLATE_READ, &my->kept[KEEPS_READ]);
        ses__my_collect(my, STATEMENT_BEGIN_READ, NULL, MY_CHANGES, NULL);
        ses__my_collect(my, STATEMENT_BEGIN_READ_SETTINGS, NULL, MY_CHANGES, NULL);
    }
    my->kept[my->writes ? KEEPS_READ : KEEPS_WRITE] = NOT_KEPT;
}

void ses__my_begin(struct my *my, bool writes)
{
    ses__my_forget_failure(my);
    for (size_t i = 0; i < KEEPS_COUNT; i++) /* what was asked for may not have been reached */
        my->kept[i] = my->kept[i] == KEPT ? KEPT : NOT_KEPT;
    my->writes = my->is_unguarded = writes;
    my->ended = false;
    my->wrote = false;
    my->given = 0;
    my->base.events = 0;
    my->base.outrun = false;
    my->base.looks_first = false;
    collect_begin(my);
}

void ses__my_ask_last(struct db *db)
{
    struct my *my = ses__my_of(db);

    if (my->ended || (my->stays_open && !my->writes) || my->code != SES_OK)
        return;
    ses__my_collect(my, STATEMENT_COMMIT, NULL, MY_CHANGES, NULL);
    my->ended = my->code == SES_OK;
}

void ses__my_end_later(struct my *my, const struct statement *statement)
{
    my->writes = false;
    ses__my_forget_failure(my);
    ses__my_collect(my, statement, NULL, MY_ENDS, NULL);
    ses__my_dispatch(my);
    my->lost |= my->code != SES_OK;
}

void ses__my_resume(struct my *my)
{
    my->ended = false;
    collect_begin(my);
    ses__my_collect(my, STATEMENT_SESSION_BY_ID, VALUES(INT(my->base.found_id)), MY_SAME, NULL);
}

/* The outcome of a write is unknown if the connection was lost after the commit was sent. */
int ses__my_commit(struct my *my, ses_error *error)
{
    ses__my_ask_last(&my->base);
    int code = ses__my_settle(my);
    if (code != SES_OK && error)
        *error = my->error;
    if (code != SES_OK && my->ended && my->lost && my->writes)
        code = ses__error_set(error, SES_UNKNOWN, "%s: the server did not confirm the commit in time",
                              my->base.name);
    my->writes = false;
    return code;
}
