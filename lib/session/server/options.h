/* The options of the calls that open a store on a server. */
#ifndef SESLITE_SESSION_SERVER_OPTIONS_H
#define SESLITE_SESSION_SERVER_OPTIONS_H

#include "session/store.h"
#include "storage/server/remote.h"

/* Refuses options that only a file has a use for, and too many connections. `tls`: how an address asks for
 * TLS. */
SESLITE_PRIVATE int ses__server_check_options(const ses_open_options *options, const char *system,
                                              const char *tls, unsigned max_connections, ses_error *error);
/* 0 connections: the default. */
SESLITE_PRIVATE struct server_config ses__server_config(const struct storage_config *common,
                                                        unsigned max_connections);

#endif
