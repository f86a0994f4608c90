/* The settings of a store on a server. */
#ifndef SESLITE_STORAGE_MYSQL_CONFIG_H
#define SESLITE_STORAGE_MYSQL_CONFIG_H

#include "storage/server/remote.h"

enum mysql_tls { MYSQL_TLS_OFF, MYSQL_TLS_ENCRYPT, MYSQL_TLS_VERIFY };

/* Where a server is, and how to log in. Texts that are not given are NULL. */
struct mysql_address {
    const char *user;
    const char *password;
    const char *host;
    const char *database;
    const char *socket;
    const char *tls_ca;
    const char *tls_cert;
    const char *tls_key;
    unsigned port;
    enum mysql_tls tls;
    struct arena texts;
};

struct mysql_config {
    const char *uri;
    struct mysql_address address;
};

/* Takes an address apart. The caller frees it in any case. INVALID: the text is not an address. */
SESLITE_PRIVATE int ses__mysql_address_init(struct mysql_address *address, const ses_allocator *allocator,
                                            const char *uri, ses_error *error);
SESLITE_PRIVATE void ses__mysql_address_free(struct mysql_address *address);
/* "mysql://host:port/database", to be freed with ses_free. INVALID. */
SESLITE_PRIVATE int ses__mysql_name(const char *uri, char **name, ses_error *error);

/* Copies the address, and sets the name, the engine and the driver of the common part. */
SESLITE_PRIVATE int ses__mysql_open(const struct server_config *common, const struct mysql_config *config,
                                    struct storage **storage, ses_error *error);

#endif
