/* Opens a store on a server. */
#include "seslite_mysql.h"

#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"
#include "storage/mysql/connection/config.h"

enum { DEFAULT_CONNECTIONS = 8, MAX_CONNECTIONS = 1000 };

struct mysql_place {
    const char *uri;
    const ses_mysql_options *options;
};

static int open_mysql(void *context, const struct storage_config *common, const ses_open_options *options,
                      struct storage **storage, ses_error *error)
{
    (void)options; /* check_common has refused those of files */
    const struct mysql_place *place = context;
    const unsigned limit = place->options->max_connections;
    const struct server_config config = {
        .read_only = common->read_only,
        .must_exist = common->must_exist,
        .has_clock = common->has_clock,
        .max_connections = limit ? limit : DEFAULT_CONNECTIONS,
        .timeout_us = common->timeout_us,
        .allocator = common->allocator,
    };
    return ses__mysql_open(&config, &(struct mysql_config){.uri = place->uri}, storage, error);
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
            "open options: a key is about files; a server is protected by encrypted disks, and connections by TLS (tls=verify)");
    return code;
}

static int check_own(const ses_mysql_options *given, ses_mysql_options *options, ses_error *error)
{
    int code = ses__take_options(options, sizeof *options, given, "MySQL options", error);

    if (code == SES_OK && options->max_connections > MAX_CONNECTIONS)
        code = ses__error_set(error, SES_MISUSE, "MySQL options: max_connections is more than %d",
                              MAX_CONNECTIONS);
    return code;
}

int ses_open_mysql(const char *uri, const ses_open_options *options, const ses_mysql_options *mysql,
                   ses_store **store, ses_error *error)
{
    ses_mysql_options own;
    char *name = NULL;
    int code = ses__check_output(store, "store", error);

    if (code == SES_OK)
        code = ses__check_argument(uri, "uri", error);
    if (code == SES_OK)
        code = check_common(options, error);
    if (code == SES_OK)
        code = check_own(mysql, &own, error);
    if (code == SES_OK)
        code = ses__mysql_name(uri, &name, error);
    if (code == SES_OK) {
        struct mysql_place place = {uri, &own};
        code = ses__store_open(name, options, &(struct storage_opener){open_mysql, &place}, store, error);
    }
    ses_free(name);
    return code;
}
