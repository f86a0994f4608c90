/*
 * Appending and reading on a PostgreSQL server, each by a program that knows nothing but these statements, and by the
 * library, in the same run. Each side has a session of its own, with the same rows.
 */
#ifndef SESLITE_BENCH_POSTGRES_SIDES_H
#define SESLITE_BENCH_POSTGRES_SIDES_H

#include "../bench.h"

/* What a get reads: so many events and keys of the session, a key of the user and a key of the app. */
enum { GET_EVENTS = 20, GET_KEYS = 10 };
enum { SIDE_EVENT_BYTES = 300, WRITERS = 8 };

/*
 * An event with two session keys and a user key. `side` and `number` make its id, and the former also its keys' values;
 * the id begins at byte 7 and is 36 long.
 */
size_t side_event(char event[SIDE_EVENT_BYTES + 1], int side, int64_t number);

/* -------------------------------------------------------------------------------------- the bare programs */

struct bare;
/* A connection, and what it needs to know of the session of app "app", user "user" and that name. */
struct bare *pg_bare_open(const char *place, const char *session, int side);
void pg_bare_close(struct bare *bare);
/* All statements with one sync, which is one round trip. */
void pg_bare_append_pipeline(void *bare, int count);
void pg_bare_get_pipeline(void *bare, int count);
/* A round trip a statement. */
void pg_bare_append_single(void *bare, int count);

/* ------------------------------------------------------------------------------------------------ seslite */

struct library_side {
    ses_store *store;
    ses_session *session; /* keeps no events; NULL: appends by key */
    ses_key key;
    int side;
    int64_t number;
};

/* Makes a session of that name, with what a get reads. */
void pg_library_make(ses_store *store, const char *session, int side);
void pg_library_open(struct library_side *library, ses_store *store, const char *session, int side,
                     bool handle);
void pg_library_close(struct library_side *library);
void pg_library_append(void *library, int count);
void pg_library_get(void *library, int count);

/* --------------------------------------------------------------------------------------------- google-adk */

struct adk;
/* NULL: that Python has no google-adk, or it does not come up. */
struct adk *adk_open(const char *python, const char *place);
void adk_close(struct adk *adk);
void adk_append(void *adk, int count);
void adk_get(void *adk, int count);

/* -------------------------------------------------------------------------------------- the server's work */

struct cpu;
struct cpu *cpu_open(const char *place);
void cpu_close(struct cpu *cpu);
/* The time that all connections have taken of the processors so far; 0 where the system does not say. */
double cpu_us(struct cpu *cpu);

#endif
