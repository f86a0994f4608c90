#include "session/server/options.h"

#include "base/error.h"

enum { DEFAULT_CONNECTIONS = 8, MAX_CONNECTIONS = 1000 };

int ses__server_check_options(const ses_open_options *given, const char *system, const char *tls,
                              unsigned max_connections, ses_error *error)
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
            "open options: a key is about files; a server is protected by encrypted disks, and connections by TLS (%s)",
            tls);
    if (code == SES_OK && max_connections > MAX_CONNECTIONS)
        code = ses__error_set(error, SES_MISUSE, "%s options: max_connections is more than %d", system,
                              MAX_CONNECTIONS);
    return code;
}

struct server_config ses__server_config(const struct storage_config *common, unsigned max_connections)
{
    return (struct server_config){
        .read_only = common->read_only,
        .must_exist = common->must_exist,
        .has_clock = common->has_clock,
        .max_connections = max_connections > 0 ? max_connections : DEFAULT_CONNECTIONS,
        .timeout_us = common->timeout_us,
        .allocator = common->allocator,
    };
}
