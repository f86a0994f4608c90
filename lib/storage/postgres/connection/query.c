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

/* Copies a failure of the transaction to the query. */
static void look_at(struct query *query, struct pg *pg)
{
    if (query->code == SES_OK && pg->code != SES_OK) {
        query->code = pg->code;
        if (query->error)
            *query->error = pg->error;
    }
}

static struct pg_run *add_run(struct pg *pg, size_t slot)
{
    struct pg_run *run = ses__memory_new(pg->config->allocator, sizeof *run);

    if (run) {
        *run = (struct pg_run){.next = pg->runs, .statement = &ses__postgres_statements[slot], .row = -1};
        pg->runs = run;
    } else {
        ses__pg_fail_as(pg, SES_NOMEM, ses__postgres_statements[slot].name);
    }
    return run;
}

/* Sends it. A read whose transaction has ended goes on in another. */
static void send_run(struct pg *pg, const struct query *query, const struct value *values)
{
    struct pg_run *run = run_of(query);
    const bool returns = run->statement->returns;

    pg->wrote |= !returns || run->statement->gives;
    if (pg->ended && pg->writes)
        ses__pg_fail_as(pg, JOB_MUST_GO_ON, run->statement->name);
    else if (pg->ended)
        ses__pg_resume(pg);
    ses__pg_send(pg, query->source, values, returns ? PG_ROWS : PG_CHANGES, returns ? run : NULL);
}

void ses__pg_start(struct query *query, const struct value *values)
{
    struct pg *pg = ses__pg_of(query->db);

    if (pg->code == SES_OK)
        query->run = add_run(pg, ses__statement_slot(query->source));
    if (query->run)
        send_run(pg, query, values);
    look_at(query, pg);
}

static void end_run(struct pg *pg, struct pg_run *run)
{
    struct pg_run **link = &pg->runs;

    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    ses__pg_abandon(pg, run);
    PQclear(run->result);
    ses__memory_free(pg->config->allocator, run);
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
    look_at(query, pg);
    if (query->code != SES_OK || !run->result || run->row + 1 >= PQntuples(run->result))
        return false;
    run->row++;
    if (run->statement->gives)
        pg->given = ses__pg_number(run->result, run->row, 0);
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

void ses__pg_end_queries(struct pg *pg)
{
    while (pg->runs)
        end_run(pg, pg->runs);
}

void ses__pg_ask(struct db *db, const struct statement *statement, const struct value *values)
{
    struct query query;

    ses__query_open(&query, db, statement, NULL, values);
    (void)ses__query_end(&query);
}

/* The statement in question was sent last, so all answers have arrived with its own. */
int64_t ses__pg_changed(const struct db *db)
{
    struct pg *pg = (struct pg *)(uintptr_t)db;

    return ses__pg_settle(pg) == SES_OK ? pg->changed : -1;
}

int64_t ses__pg_given(const struct db *db)
{
    return ((const struct pg *)db)->given;
}

/* Does not wait: later statements of the transaction run after it anyway. */
void ses__pg_lock(struct db *db, enum scope scope, int64_t owner, bool exclusive)
{
    const struct statement *statement = scope == SCOPE_APP
                                            ? (exclusive ? STATEMENT_LOCK_APP : STATEMENT_SHARE_APP)
                                            : (exclusive ? STATEMENT_LOCK_USER : STATEMENT_SHARE_USER);

    if (ses__pg_of(db)->writes)
        ses__pg_ask(db, statement, VALUES(OWNER(owner)));
}
