/* Sends statements, each of which a connection prepares once. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "storage/postgres/connection/connection.h"

/* The name is made from the text, so that behind a pooler in the wrong mode another client's statement of the same name is
 * the same statement. */
static void name_of(const char *text, char name[PG_NAME])
{
    static const struct hash_seed seed = {{0, 0}};

    (void)snprintf(name, PG_NAME, "seslite_%016llx",
                   (unsigned long long)ses__hash_keyed(&seed, (struct span){text, strlen(text)}));
}

static bool send_prepared(struct pg *pg, size_t number, const char *text, const struct pg_run *run)
{
    struct pg_prepared *prepared = &pg->prepared[number];

    if (prepared->state == PG_UNPREPARED) {
        name_of(text, prepared->name);
        if (PQsendPrepare(pg->conn, prepared->name, text, 0, NULL) != 1)
            return false;
        prepared->state = PG_PREPARING;
        ses__pg_await(pg, PG_PREPARES, number, NULL);
    }
    return PQsendQueryPrepared(pg->conn, prepared->name, run->statement->parameters, run->values,
                               run->lengths, run->formats, 0) == 1;
}

bool ses__pg_send_text(struct pg *pg, const struct pg_run *run)
{
    const struct postgres_statement *statement = run->statement;
    const bool locks = pg->writes && statement->locked;
    const char *text = locks ? statement->locked : statement->text;

    if (pg->lost)
        return false;
    return pg->config->unprepared ? PQsendQueryParams(pg->conn, text, statement->parameters, NULL,
                                                      run->values, run->lengths, run->formats, 0) == 1
                                  : send_prepared(pg, run->slot * 2 + locks, text, run);
}

void ses__pg_send(struct pg *pg, const struct statement *statement, const char *parameter, enum pg_kind kind)
{
    const size_t slot = ses__statement_slot(statement);
    const struct pg_run run = {
        .slot = slot, .statement = &ses__postgres_statements[slot], .values = {parameter}};

    ses__pg_make_room(pg);
    if (pg->lost)
        return;
    if (ses__pg_send_text(pg, &run))
        ses__pg_await(pg, kind, 0, NULL);
    else
        ses__pg_fail(pg, NULL, statement->name);
}
