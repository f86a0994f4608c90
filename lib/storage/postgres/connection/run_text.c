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

static bool send_prepared(struct pg *pg, size_t number, const char *text, int count,
                          const struct pg_parameters *parameters)
{
    struct pg_prepared *prepared = &pg->prepared[number];

    if (prepared->state == PG_UNPREPARED) {
        name_of(text, prepared->name);
        if (PQsendPrepare(pg->conn, prepared->name, text, 0, NULL) != 1)
            return false;
        prepared->state = PG_PREPARING;
        ses__pg_await(pg, PG_PREPARES, number, NULL);
    }
    return PQsendQueryPrepared(pg->conn, prepared->name, count, parameters->values, parameters->lengths,
                               parameters->formats, 1) == 1;
}

static bool send_text(struct pg *pg, size_t slot, const struct pg_parameters *parameters)
{
    const struct postgres_statement *statement = &ses__postgres_statements[slot];
    const bool locks = pg->writes && statement->locked;
    const char *text = locks ? statement->locked : statement->text;
    const int count = statement->parameters;

    return pg->config->unprepared ? PQsendQueryParams(pg->conn, text, count, NULL, parameters->values,
                                                      parameters->lengths, parameters->formats, 1) == 1
                                  : send_prepared(pg, slot * 2 + locks, text, count, parameters);
}

void ses__pg_send(struct pg *pg, const struct statement *source, const struct value *values,
                  enum pg_kind kind, struct pg_run *run)
{
    const size_t slot = ses__statement_slot(source);
    struct pg_parameters parameters;

    ses__pg_make_room(pg);
    if (pg->lost)
        ses__pg_fail(pg, NULL, source->name);
    if (ses__pg_parameters_init(&parameters, pg, ses__postgres_statements[slot].parameters, values)) {
        if (send_text(pg, slot, &parameters))
            ses__pg_await(pg, kind, 0, run);
        else
            ses__pg_fail(pg, NULL, source->name);
    }
    ses__pg_parameters_free(&parameters, pg);
}
