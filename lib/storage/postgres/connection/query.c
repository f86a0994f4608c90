/* The driver: running statements on PostgreSQL. */
#include "base/memory.h"
#include "storage/postgres/connection/connection.h"

/* https://github.com/postgres/postgres, pg_type.dat. Columns that are not of this type are texts. */
enum { PG_COLUMN_INT8 = 20 };

/* ------------------------------------------------------------------------------------------------- runs */

static struct pg_run *run_of(const struct query *query)
{
    return query->run;
}

void ses__pg_start(struct query *query, const struct value *values)
{
    struct pg *pg = ses__pg_of(query->db);
    const struct postgres_statement *statement =
        &ses__postgres_statements[ses__statement_slot(query->source)];
    const bool returns = statement->returns;
    struct pg_run *run = NULL;

    if (pg->base.code == SES_OK) {
        run = ses__memory_new(pg->base.db.allocator, sizeof *run);
        if (!run)
            ses__remote_fail(&pg->base, SES_NOMEM, statement->name);
    }
    if (run) {
        *run = (struct pg_run){.next = pg->runs, .statement = statement, .row = -1};
        pg->runs = run;
        query->run = run;
        ses__remote_go_on(&pg->base, !returns || statement->gives, statement->name);
        ses__pg_send(pg, query->source, values, returns ? PG_ROWS : PG_CHANGES, returns ? run : NULL);
    }
    ses__remote_report(&pg->base, query);
}

static void end_run(struct pg *pg, struct pg_run *run)
{
    struct pg_run **link = &pg->runs;

    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    ses__pg_abandon(pg, run);
    PQclear(run->result);
    ses__memory_free(pg->base.db.allocator, run);
}

/* -------------------------------------------------------------------------------------------------- rows */

bool ses__pg_row(struct query *query)
{
    struct pg *pg = ses__pg_of(query->db);
    struct pg_run *run = run_of(query);

    if (query->code != SES_OK)
        return false;
    if (run->statement->returns && !run->result)
        (void)ses__pg_settle(pg);
    ses__remote_report(&pg->base, query);
    if (query->code != SES_OK || !run->result || run->row + 1 >= PQntuples(run->result))
        return false;
    run->row++;
    if (run->statement->gives)
        pg->base.given = ses__pg_number(run->result, run->row, 0);
    return true;
}

enum sql_type ses__pg_type(const struct query *query, int column)
{
    const struct pg_run *run = run_of(query);

    if (PQgetisnull(run->result, run->row, column))
        return SQL_NULL;
    return PQftype(run->result, column) == PG_COLUMN_INT8 ? SQL_INT : SQL_TEXT;
}

int64_t ses__pg_int_of(struct query *query, int column)
{
    const struct pg_run *run = run_of(query);
    return ses__pg_number(run->result, run->row, column);
}

struct span ses__pg_text_of(struct query *query, int column)
{
    const struct pg_run *run = run_of(query);
    struct meter *meter = ses__limits_meter(query->db->limits);

    if (PQgetisnull(run->result, run->row, column))
        return (struct span){NULL, 0};
    const struct span text = {PQgetvalue(run->result, run->row, column),
                              (size_t)PQgetlength(run->result, run->row, column)};
    if (meter)
        meter->bytes_out += (int64_t)text.len;
    return text;
}

int ses__pg_end(struct query *query)
{
    struct pg_run *run = run_of(query);

    if (run) {
        end_run(ses__pg_of(query->db), run);
        query->run = NULL;
    }
    return query->code;
}

void ses__pg_end_queries(struct remote *remote)
{
    struct pg *pg = ses__pg_of(&remote->db);

    while (pg->runs)
        end_run(pg, pg->runs);
}
