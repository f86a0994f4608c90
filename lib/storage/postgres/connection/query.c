/* The driver: running statements on PostgreSQL. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/connection/connection.h"

/* https://github.com/postgres/postgres, pg_type.dat */
enum { PG_TYPE_BOOL = 16, PG_TYPE_INT8 = 20, PG_TYPE_INT2 = 21, PG_TYPE_INT4 = 23, PG_TYPE_TEXT = 25 };

/* ------------------------------------------------------------------------------------------------- runs */

static struct pg_run *run_of(const struct query *query)
{
    return query->run;
}

static int64_t number_at(const PGresult *result, int row, int column)
{
    return strtoll(PQgetvalue(result, row, column), NULL, 10);
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

static struct pg_run *take_run(struct pg *pg)
{
    struct pg_run *run = pg->free_runs;

    if (run)
        pg->free_runs = run->next;
    else
        run = ses__memory_new(pg->config->allocator, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct pg_run){.row = -1, .next = pg->runs};
    pg->runs = run;
    return run;
}

static void give_back_run(struct pg *pg, struct pg_run *run)
{
    struct pg_run **link = &pg->runs;

    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    ses__pg_abandon(pg, run);
    PQclear(run->result);
    while (run->list_count > 0)
        ses__memory_free(pg->config->allocator, run->lists[--run->list_count]);
    *run = (struct pg_run){.next = pg->free_runs};
    pg->free_runs = run;
}

void ses__pg_start(struct query *query)
{
    struct pg *pg = ses__pg_of(query->db);

    look_at(query, pg);
    if (query->code != SES_OK)
        return;
    struct pg_run *run = take_run(pg);
    if (!run) {
        ses__pg_fail_as(pg, SES_NOMEM, query->source->name);
        look_at(query, pg);
        return;
    }
    run->slot = ses__statement_slot(query->source);
    run->statement = &ses__postgres_statements[run->slot];
    query->run = run;
}

/* True if PostgreSQL's statement has this parameter. */
static bool takes(const struct query *query, int parameter)
{
    return query->code == SES_OK && parameter <= run_of(query)->statement->parameters;
}

void ses__pg_bind_int(struct query *query, int parameter, int64_t value)
{
    struct pg_run *run = run_of(query);

    if (takes(query, parameter)) {
        (void)snprintf(run->numbers[parameter - 1], sizeof run->numbers[0], "%lld", (long long)value);
        run->values[parameter - 1] = run->numbers[parameter - 1];
    }
}

void ses__pg_bind_text(struct query *query, int parameter, struct span text)
{
    struct pg_run *run = run_of(query);

    if (takes(query, parameter) && text.len > INT32_MAX) {
        query->code = ses__error_set(query->error, SES_LIMIT, "%s: a text is longer than PostgreSQL takes",
                                     query->db->name);
    } else if (takes(query, parameter)) {
        run->values[parameter - 1] = text.ptr;
        run->lengths[parameter - 1] = (int)text.len;
        run->formats[parameter - 1] = 1; /* binary */
    }
}

/* The run takes over the list. Without memory the query fails. */
static void bind_list(struct query *query, int parameter, struct buffer *list)
{
    struct pg_run *run = run_of(query);

    if (list->failed) {
        ses__buffer_free(list);
        query->code = ses__error_nomem(query->error);
        return;
    }
    run->lists[run->list_count++] = list->data;
    run->values[parameter - 1] = list->data;
    run->lengths[parameter - 1] = (int)list->len;
    run->formats[parameter - 1] = 1; /* binary */
}

/* Big-endian, as in the protocol. */
static void add_bytes(struct buffer *list, uint64_t number, int bytes)
{
    for (int shift = bytes * 8 - 8; shift >= 0; shift -= 8) {
        const char byte = (char)(unsigned char)(number >> shift);
        ses__buffer_add(list, &byte, 1);
    }
}

/* The head of a one-dimensional array (array_send in PostgreSQL's arrayfuncs.c). */
static void begin_array(struct buffer *list, const struct query *query, unsigned type, size_t count)
{
    ses__buffer_init(list, query->db->allocator);
    add_bytes(list, 1, 4); /* dimensions */
    add_bytes(list, 0, 4); /* no NULLs */
    add_bytes(list, type, 4);
    add_bytes(list, count, 4);
    add_bytes(list, 1, 4); /* the lower bound */
}

void ses__pg_bind_texts(struct query *query, int parameter, const struct span *texts, size_t count)
{
    struct buffer list;

    if (!takes(query, parameter))
        return;
    begin_array(&list, query, PG_TYPE_TEXT, count);
    for (size_t i = 0; i < count; i++) {
        add_bytes(&list, texts[i].len, 4);
        ses__buffer_add(&list, texts[i].ptr, texts[i].len);
    }
    if (list.len > INT32_MAX) {
        ses__buffer_free(&list);
        query->code = SES_LIMIT;
    } else {
        bind_list(query, parameter, &list);
    }
}

void ses__pg_bind_ints(struct query *query, int parameter, const int64_t *numbers, size_t count)
{
    struct buffer list;

    if (!takes(query, parameter))
        return;
    begin_array(&list, query, PG_TYPE_INT8, count);
    for (size_t i = 0; i < count; i++) {
        add_bytes(&list, 8, 4);
        add_bytes(&list, (uint64_t)numbers[i], 8);
    }
    bind_list(query, parameter, &list);
}

void ses__pg_bind_owners(struct query *query, int parameter, const struct owner_list *owners)
{
    ses__pg_bind_ints(query, parameter, owners->ids, owners->count);
}

/* ---------------------------------------------------------------------------------------------- sending */

static void send_run(struct pg *pg, struct pg_run *run)
{
    const bool returns = run->statement->returns;

    run->sent = true;
    pg->wrote |= !returns || run->statement->gives;
    if (pg->ended && pg->writes) {
        ses__pg_fail_as(pg, PG_MUST_GO_ON, run->statement->name);
        return;
    }
    if (pg->ended)
        ses__pg_resume(pg);
    ses__pg_make_room(pg);
    if (ses__pg_send_text(pg, run))
        ses__pg_await(pg, returns ? PG_ROWS : PG_CHANGES, 0, returns ? run : NULL);
    else
        ses__pg_fail(pg, NULL, run->statement->name);
}

void ses__pg_ask(struct query *query)
{
    if (query->code == SES_OK)
        send_run(ses__pg_of(query->db), run_of(query));
}

/* -------------------------------------------------------------------------------------------------- rows */

bool ses__pg_row(struct query *query)
{
    struct pg *pg = ses__pg_of(query->db);
    struct pg_run *run = run_of(query);

    if (query->code != SES_OK)
        return false;
    if (!run->sent)
        send_run(pg, run);
    if (run->statement->returns && !run->result)
        (void)ses__pg_settle(pg);
    look_at(query, pg);
    if (query->code != SES_OK || !run->result || run->row + 1 >= PQntuples(run->result))
        return false;
    run->row++;
    if (run->statement->gives)
        pg->given = number_at(run->result, run->row, 0);
    return true;
}

enum sql_type ses__pg_type(const struct query *query, int column)
{
    const struct pg_run *run = run_of(query);
    const Oid type = PQftype(run->result, column);

    if (PQgetisnull(run->result, run->row, column))
        return SQL_NULL;
    return type == PG_TYPE_INT8 || type == PG_TYPE_INT4 || type == PG_TYPE_INT2 || type == PG_TYPE_BOOL
               ? SQL_INT
               : SQL_TEXT;
}

int64_t ses__pg_int_of(struct query *query, int column)
{
    const struct pg_run *run = run_of(query);
    return number_at(run->result, run->row, column);
}

struct span ses__pg_text_of(struct query *query, int column)
{
    const struct pg_run *run = run_of(query);

    if (PQgetisnull(run->result, run->row, column))
        return (struct span){NULL, 0};
    return (struct span){PQgetvalue(run->result, run->row, column),
                         (size_t)PQgetlength(run->result, run->row, column)};
}

int ses__pg_end(struct query *query)
{
    struct pg *pg = ses__pg_of(query->db);
    struct pg_run *run = run_of(query);

    if (run) {
        if (query->code == SES_OK && !run->sent)
            send_run(pg, run);
        give_back_run(pg, run);
        query->run = NULL;
    }
    return query->code;
}

void ses__pg_end_queries(struct pg *pg)
{
    while (pg->runs)
        give_back_run(pg, pg->runs);
}

/* The statement in question was sent last, so all answers have arrived with its own. */
int64_t ses__pg_changed(const struct db *db)
{
    struct pg *pg = (struct pg *)(uintptr_t)db;

    (void)ses__pg_settle(pg);
    return pg->changed;
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
    struct query query;

    if (!ses__pg_of(db)->writes)
        return;
    ses__query_open(&query, db, statement, NULL, VALUES(OWNER(owner)));
    (void)ses__query_end(&query); /* the transaction keeps a failure */
}
