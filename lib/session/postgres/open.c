/* Opens a store on a server. */
#include "seslite_postgres.h"

#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"
#include "storage/postgres/connection/config.h"

enum { DEFAULT_CONNECTIONS = 8, MAX_CONNECTIONS = 1000 };

struct postgres_place {
    const char *connection;
    const ses_postgres_options *options;
};

static int open_postgres(void *context, const struct storage_config *common, const ses_open_options *options,
                         struct storage **storage, ses_error *error)
{
    (void)options; /* check_common has refused those of files */
    const struct postgres_place *place = context;
    const unsigned limit = place->options->max_connections;
    const struct server_config config = {
        .read_only = common->read_only,
        .must_exist = common->must_exist,
        .has_clock = common->has_clock,
        .max_connections = limit ? limit : DEFAULT_CONNECTIONS,
        .timeout_us = common->timeout_us,
        .allocator = common->allocator,
    };
    const struct postgres_config own = {
        .connection = place->connection,
        .replica = place->options->replica,
        .unprepared = place->options->unprepared != 0,
    };
    return ses__postgres_open(&config, &own, storage, error);
}

/* Refuses options that only a file has a use for. */
static int check_common(const ses_open_options *given, ses_error *error)
{
    ses_open_options options;
    int code = ses__take_options(&options, sizeof options, given, "open options", error);

    if (code == SES_OK &&
        (options.synchronous || options.journal || options.checkpoint || options.max_readers))
        code = ses__error_set(
            error, SES_MISUSE,
            "open options: synchronous, journal, checkpoint and max_readers are about files; the durability of a server is set on the server");
    if (code == SES_OK && (options.key || options.key_len > 0))
        code = ses__error_set(
            error, SES_MISUSE,
            "open options: a key is about files; a server is protected by encrypted disks, and connections by TLS (sslmode=verify-full)");
    return code;
}

static int check_own(const ses_postgres_options *given, ses_postgres_options *options, ses_error *error)
{
    int code = ses__take_options(options, sizeof *options, given, "PostgreSQL options", error);

    if (code == SES_OK && options->max_connections > MAX_CONNECTIONS)
        code = ses__error_set(error, SES_MISUSE, "PostgreSQL options: max_connections is more than %d",
                              MAX_CONNECTIONS);
    if (code == SES_OK && (options->unprepared < 0 || options->unprepared > 1))
        code = ses__error_set(error, SES_MISUSE, "PostgreSQL options: unprepared is not 0 or 1");
    return code;
}

int ses_open_postgres(const char *connection, const ses_open_options *options,
                      const ses_postgres_options *postgres, ses_store **store, ses_error *error)
{
    ses_postgres_options own;
    char *name = NULL;
    int code = ses__check_output(store, "store", error);

    if (code == SES_OK)
        code = ses__check_argument(connection, "connection", error);
    if (code == SES_OK)
        code = check_common(options, error);
    if (code == SES_OK)
        code = check_own(postgres, &own, error);
    if (code == SES_OK)
        code = ses__postgres_name(connection, &name, error);
    if (code == SES_OK) {
        struct postgres_place place = {connection, &own};
        code = ses__store_open(name, options, &(struct storage_opener){open_postgres, &place}, store, error);
    }
    ses_free(name);
    return code;
}
