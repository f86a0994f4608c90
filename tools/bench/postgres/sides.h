/*
 * Appends and reads on a PostgreSQL server, by a program that only sends these statements and by the library,
 * in the same run. Each side has a session of its own with the same rows.
 */
#ifndef SESLITE_BENCH_POSTGRES_SIDES_H
#define SESLITE_BENCH_POSTGRES_SIDES_H

#include "../bench.h"

/* The amounts that a get reads: events and keys of the session, a key of the user and a key of the app. */
enum { GET_EVENTS = 20, GET_KEYS = 10 };
enum { SIDE_EVENT_BYTES = 300, WRITERS = 8, MOST_READERS = 32 };

/*
 * An event with two session keys and a user key. Its id is made of `side` and `number`, and `side` also
 * determines the values of its keys. The id begins at byte 7 and has 36 bytes.
 */
size_t side_event(char event[SIDE_EVENT_BYTES + 1], int side, int64_t number);

/* -------------------------------------------------------------------------------------- the bare programs */

struct bare;
/* A connection and the row numbers of the session with that name, of app "app" and user "user". */
struct bare *pg_bare_open(const char *place, const char *session, int side);
void pg_bare_close(struct bare *bare);
/* Send all statements with one sync, in one round trip. */
void pg_bare_append_pipeline(void *bare, int count);
void pg_bare_get_pipeline(void *bare, int count);
/* Send one statement per round trip. */
void pg_bare_append_single(void *bare, int count);

/* ------------------------------------------------------------------------------------------------ seslite */

struct library_side {
    ses_store *store;
    ses_session *session; /* keeps no events; NULL to append by key */
    ses_key key;
    int side;
    int64_t number;
};

/* Creates a session of that name with the events and keys that a get reads. */
void pg_library_make(ses_store *store, const char *session, int side);
void pg_library_open(struct library_side *library, ses_store *store, const char *session, int side,
                     bool handle);
void pg_library_close(struct library_side *library);
void pg_library_append(void *library, int count);
void pg_library_get(void *library, int count);

/* --------------------------------------------------------------------------------------------- google-adk */

struct adk;
/* Returns NULL if that Python has no google-adk or fails to start. */
struct adk *adk_open(const char *python, const char *place);
void adk_close(struct adk *adk);
void adk_append(void *adk, int count);
void adk_get(void *adk, int count);

/* -------------------------------------------------------------------------------------- the server's work */

struct cpu;
struct cpu *cpu_open(const char *place);
void cpu_close(struct cpu *cpu);
/* The CPU time of all connections so far, or 0 if the system does not report it. */
double cpu_us(struct cpu *cpu);

#endif
