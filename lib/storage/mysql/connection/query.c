/* The driver: running statements on MySQL. */
#include "storage/mysql/connection/connection.h"

/* ------------------------------------------------------------------------------------------------- runs */

static struct my_run *run_of(const struct query *query)
{
    return query->run;
}

static struct my_run *add_run(struct my *my, size_t slot)
{
    struct my_run *run = ses__memory_new(my->base.db.allocator, sizeof *run);

    if (run) {
        *run = (struct my_run){.next = my->runs, .statement = &ses__mysql_statements[slot]};
        my->runs = run;
    } else {
        ses__remote_fail(&my->base, SES_NOMEM, ses__mysql_statements[slot].name);
    }
    return run;
}

/* The first statement of a transaction that writes comes after a look for unknown features, if it does not look itself. */
static void guard(struct my *my, const struct statement *source)
{
    if (my->is_unguarded && source != STATEMENT_APPEND_BY_ID && source != STATEMENT_APPEND_BY_KEY)
        ses__my_collect(my, STATEMENT_BEGIN_GUARD, NULL, MY_ROWS, NULL);
    my->is_unguarded = false;
}

static void collect(struct my *my, const struct query *query, const struct value *values)
{
    struct my_run *run = run_of(query);
    const bool returns = run->statement->returns;

    ses__remote_go_on(&my->base, !returns, run->statement->name);
    guard(my, query->source);
    ses__my_collect(my, query->source, values, returns ? MY_ROWS : MY_CHANGES, returns ? run : NULL);
}

void ses__my_start(struct query *query, const struct value *values)
{
    struct my *my = ses__my_of(query->db);

    if (my->base.code == SES_OK)
        query->run = add_run(my, ses__statement_slot(query->source));
    if (query->run)
        collect(my, query, values);
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
