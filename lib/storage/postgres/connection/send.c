/* Sends statements, each of which a connection prepares once, with their values. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "storage/postgres/connection/connection.h"

/* ------------------------------------------------------------------------------------------- parameters */

enum { PG_PARAMETERS = POSTGRES_MAX_PARAMETERS, PG_LISTS = 3 };

/* The parameters of a statement, as libpq takes them: all are binary. */
struct pg_parameters {
    const char *values[PG_PARAMETERS];
    int lengths[PG_PARAMETERS];
    int formats[PG_PARAMETERS];
    char numbers[PG_PARAMETERS][8];
    char *lists[PG_LISTS];
    size_t list_count;
};

/* https://github.com/postgres/postgres, pg_type.dat */
enum { PG_TYPE_INT8 = 20, PG_TYPE_TEXT = 25 };

/* Big-endian. */
static void put_number(char *bytes, uint64_t number, size_t count)
{
    for (; count > 0; number >>= 8)
        bytes[--count] = (char)(unsigned char)number;
}

static void add_number(struct buffer *list, uint64_t number, size_t count)
{
    char bytes[8];

    put_number(bytes, number, count);
    ses__buffer_add(list, bytes, count);
}

/* A one-dimensional array (array_send in PostgreSQL's arrayfuncs.c) of texts or of numbers. */
static void add_array(struct buffer *list, const struct text_list *texts, const struct owner_list *numbers)
{
    const size_t count = texts ? texts->count : numbers->count;

    add_number(list, 1, 4); /* dimensions */
    add_number(list, 0, 4); /* flags, which the server does not need */
    add_number(list, texts ? PG_TYPE_TEXT : PG_TYPE_INT8, 4);
    add_number(list, count, 4);
    add_number(list, 1, 4);                       /* the lower bound */
    for (size_t i = 0; i < count && texts; i++) { /* a text without a pointer is NULL */
        const struct span text = texts->texts[i];
        add_number(list, text.ptr ? text.len : UINT32_MAX, 4);
        ses__buffer_add(list, text.ptr, text.len);
    }
    for (size_t i = 0; i < count && !texts; i++) {
        add_number(list, 8, 4);
        add_number(list, (uint64_t)numbers->ids[i], 8);
    }
}

/* False, with the failure of the transaction, if a value is too long or memory has run out. */
static bool parameters_init(struct pg_parameters *parameters, struct pg *pg, int count,
                            const struct value *values)
{
    struct meter *meter = ses__limits_meter(pg->base.db.limits);

    *parameters = (struct pg_parameters){.list_count = 0};
    for (int i = 0; values && values[i].type != 0 && i < count; i++) {
        const struct value *value = &values[i];
        struct span bytes = value->text;
        if (value->type == SQL_INT) {
            put_number(parameters->numbers[i], (uint64_t)value->number, 8);
            bytes = (struct span){parameters->numbers[i], 8};
        } else if (value->texts || value->owners) {
            struct buffer list;
            ses__buffer_init(&list, pg->base.db.allocator);
            add_array(&list, value->texts, value->owners);
            if (list.failed)
                ses__remote_fail(&pg->base, SES_NOMEM, "a list of parameters");
            parameters->lists[parameters->list_count++] = list.data;
            bytes = (struct span){list.data, list.len};
        }
        if (bytes.len > INT32_MAX && pg->base.code == SES_OK)
            pg->base.code = ses__error_set(&pg->base.error, SES_LIMIT,
                                           "%s: a text is longer than PostgreSQL takes", pg->base.db.name);
        if (meter && value->type != SQL_INT)
            meter->bytes_in += (int64_t)bytes.len;
        parameters->values[i] = bytes.ptr;
        parameters->lengths[i] = (int)bytes.len;
        parameters->formats[i] = 1; /* binary */
    }
    return pg->base.code == SES_OK;
}

/* ------------------------------------------------------------------------------------------- statements */

/* The name is made from the text, so that behind a pooler in the wrong mode another client's statement of the
 * same name is the same statement. */
static bool send_prepared(struct pg *pg, size_t number, const char *text, int count,
                          const struct pg_parameters *parameters)
{
    static const struct hash_seed seed = {{0, 0}};
    struct pg_prepared *prepared = &pg->prepared[number];

    if (prepared->state == PG_UNPREPARED) {
        (void)snprintf(prepared->name, PG_NAME, "seslite_%016llx",
                       (unsigned long long)ses__hash_keyed(&seed, (struct span){text, strlen(text)}));
        if (PQsendPrepare(pg->conn, prepared->name, text, 0, NULL) != 1)
            return false;
        prepared->state = PG_PREPARING;
        ses__pg_await(pg, PG_PREPARES, number, NULL);
    }
    return PQsendQueryPrepared(pg->conn, prepared->name, count, parameters->values, parameters->lengths,
                               parameters->formats, 1) == 1;
}

void ses__pg_send(struct pg *pg, const struct statement *source, const struct value *values,
                  enum pg_kind kind, struct pg_run *run)
{
    const size_t slot = ses__statement_slot(source);
    const struct postgres_statement *statement = &ses__postgres_statements[slot];
    const bool locks = pg->base.writes && statement->locked;
    const char *text = locks ? statement->locked : statement->text;
    const int count = statement->parameters;
    struct pg_parameters parameters;

    ses__pg_make_room(pg);
    if (pg->base.lost)
        ses__pg_fail(pg, NULL, source->name);
    if (parameters_init(&parameters, pg, count, values)) {
        const bool sent = pg->config->unprepared
                              ? PQsendQueryParams(pg->conn, text, count, NULL, parameters.values,
                                                  parameters.lengths, parameters.formats, 1) == 1
                              : send_prepared(pg, slot * 2 + locks, text, count, &parameters);
        if (sent)
            ses__pg_await(pg, kind, 0, run);
        else
            ses__pg_fail(pg, NULL, source->name);
    }
    while (parameters.list_count > 0)
        ses__memory_free(pg->base.db.allocator, parameters.lists[--parameters.list_count]);
}
