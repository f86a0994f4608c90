/*
 * Appends and reads on a MySQL server, by programs that only send these statements, beside the library. Each
 * side has a session of its own with the same rows.
 */
#ifndef SESLITE_BENCH_MYSQL_BARE_H
#define SESLITE_BENCH_MYSQL_BARE_H

#include "../postgres/sides.h"

struct my_bare;
/* A connection and the row numbers of the session with that name, of app "app" and user "user". `uri` has a
 * socket. */
struct my_bare *my_bare_open(const char *uri, const char *session, int side);
void my_bare_close(struct my_bare *bare);
/* Prepared statements, one per round trip, as most programs do it. */
void my_bare_append_prepared(void *bare, int count);
/* The same, but the session is found by its names, as the library does it without a handle. */
void my_bare_append_by_key(void *bare, int count);
void my_bare_get_prepared(void *bare, int count);
/* One text with all statements, in one round trip. */
void my_bare_append_text(void *bare, int count);
void my_bare_get_text(void *bare, int count);

#endif
