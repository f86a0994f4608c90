/* Opens a store on a server. */
#include "seslite_postgres.h"

#include "base/error.h"
#include "session/server/options.h"
#include "storage/postgres/connection/config.h"

struct postgres_place {
    const char *connection;
    const ses_postgres_options *options;
};

static int open_postgres(void *context, const struct storage_config *common, const ses_open_options *options,
                         struct storage **storage, ses_error *error)
{
    (void)options; /* those of files were refused */
    const struct postgres_place *place = context;
    const struct server_config config = ses__server_config(common, place->options->max_connections);
    const struct postgres_config own = {
        .connection = place->connection,
        .replica = place->options->replica,
        .unprepared = place->options->unprepared != 0,
    };

    return ses__postgres_open(&config, &own, storage, error);
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
        code = ses__take_options(&own, sizeof own, postgres, "PostgreSQL options", error);
    if (code == SES_OK && (own.unprepared < 0 || own.unprepared > 1))
        code = ses__error_set(error, SES_MISUSE, "PostgreSQL options: unprepared is not 0 or 1");
    if (code == SES_OK)
        code = ses__server_check_options(options, "PostgreSQL", "sslmode=verify-full", own.max_connections,
                                         error);
    if (code == SES_OK)
        code = ses__postgres_name(connection, &name, error);
    if (code == SES_OK) {
        struct postgres_place place = {connection, &own};
        code = ses__store_open(name, options, &(struct storage_opener){open_postgres, &place}, store, error);
    }
    ses_free(name);
    return code;
}
