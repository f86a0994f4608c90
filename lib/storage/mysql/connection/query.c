/* The driver: running statements on MySQL. */
#include "storage/mysql/connection/connection.h"

/* ------------------------------------------------------------------------------------------------- runs */

static struct my_run *run_of(const struct query *query)
{
    return query->run;
}

void ses__my_start(struct query *query, const struct value *values)
{
    struct my *my = ses__my_of(query->db);
    const struct statement *source = query->source;
    const struct mysql_statement *statement = &ses__mysql_statements[ses__statement_slot(source)];
    const bool returns = statement->returns;
    struct my_run *run = NULL;

    if (my->base.code == SES_OK) {
        run = ses__memory_new(my->base.db.allocator, sizeof *run);
        if (!run)
            ses__remote_fail(&my->base, SES_NOMEM, statement->name);
    }
    if (run) {
        *run = (struct my_run){.next = my->runs, .statement = statement};
        my->runs = run;
        query->run = run;
        ses__remote_go_on(&my->base, !returns, statement->name);
        /* The first statement of a transaction that writes comes after a look for unknown features, if it
         * does not look itself. */
        if (my->is_unguarded && source != STATEMENT_APPEND_BY_ID && source != STATEMENT_APPEND_BY_KEY)
            ses__my_collect(my, STATEMENT_BEGIN_GUARD, NULL, MY_ROWS, NULL);
        my->is_unguarded = false;
        ses__my_collect(my, source, values, returns ? MY_ROWS : MY_CHANGES, returns ? run : NULL);
    }
    ses__remote_report(&my->base, query);
}

static void end_run(struct my *my, struct my_run *run)
{
    struct my_run **link = &my->runs;

    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    ses__my_abandon(my, run);
    mysql_free_result(run->result);
    ses__memory_free(my->base.db.allocator, run);
}

/* -------------------------------------------------------------------------------------------------- rows */

bool ses__my_row(struct query *query)
{
    struct my *my = ses__my_of(query->db);
    struct my_run *run = run_of(query);

    if (query->code != SES_OK)
        return false;
    if (run->statement->returns && !run->result)
        (void)ses__my_settle(my);
    ses__remote_report(&my->base, query);
    if (query->code != SES_OK || !run->result)
        return false;
    run->row = mysql_fetch_row(run->result);
    run->lengths = run->row ? mysql_fetch_lengths(run->result) : NULL;
    return run->row != NULL;
}

enum sql_type ses__my_type(const struct query *query, int column)
{
    const struct my_run *run = run_of(query);

    if (!run->row[column])
        return SQL_NULL;
    return IS_NUM(mysql_fetch_field_direct(run->result, (unsigned)column)->type) ? SQL_INT : SQL_TEXT;
}

/* 0: it is NULL. */
int64_t ses__my_int_of(struct query *query, int column)
{
    const char *text = run_of(query)->row[column];
    return text ? ses__my_number(text) : 0;
}

struct span ses__my_text_of(struct query *query, int column)
{
    const struct my_run *run = run_of(query);
    struct meter *meter = ses__limits_meter(query->db->limits);

    if (!run->row[column])
        return (struct span){NULL, 0};
    if (meter)
        meter->bytes_out += (int64_t)run->lengths[column];
    return (struct span){run->row[column], run->lengths[column]};
}

int ses__my_end(struct query *query)
{
    struct my_run *run = run_of(query);

    if (run) {
        end_run(ses__my_of(query->db), run);
        query->run = NULL;
    }
    return query->code;
}

void ses__my_end_queries(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);

    while (my->runs)
        end_run(my, my->runs);
}
