/* Opens a store on a server. */
#include "seslite_mysql.h"

#include "session/server/options.h"
#include "storage/mysql/connection/config.h"

struct mysql_place {
    const char *uri;
    unsigned max_connections;
};

static int open_mysql(void *context, const struct storage_config *common, const ses_open_options *options,
                      struct storage **storage, ses_error *error)
{
    (void)options; /* those of files were refused */
    const struct mysql_place *place = context;
    const struct server_config config = ses__server_config(common, place->max_connections);

    return ses__mysql_open(&config, &(struct mysql_config){.uri = place->uri}, storage, error);
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
        code = ses__take_options(&own, sizeof own, mysql, "MySQL options", error);
    if (code == SES_OK)
        code = ses__server_check_options(options, "MySQL", "tls=verify", own.max_connections, error);
    if (code == SES_OK)
        code = ses__mysql_name(uri, &name, error);
    if (code == SES_OK) {
        struct mysql_place place = {uri, own.max_connections};
        code = ses__store_open(name, options, &(struct storage_opener){open_mysql, &place}, store, error);
    }
    ses_free(name);
    return code;
}
