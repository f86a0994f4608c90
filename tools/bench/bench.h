/*
 * Measures seslite, each figure beside what it is compared with in the same run.
 *
 * Both sides take turns in short rounds, and the medians of the rounds are compared: so what else the machine
 * does falls on both.
 */
#ifndef SESLITE_BENCH_H
#define SESLITE_BENCH_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "seslite_agent.h"

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "bench: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

/* ---------------------------------------------------------------------------------------------- measuring */

/* Before anything is measured: where the files of the stores go, and (or NULL) a line of JSON for each figure. A quick run
 * shows only that everything runs: with a hundredth of the work, and figures that mean nothing. */
void measure_begin(const char *folder, FILE *json, bool quick);
bool measure_is_quick(void);
/* So many events, or microseconds, or a hundredth of them in a quick run, but at least one. */
int scaled(int count);
/* So many rounds, or at most two in a quick run. */
int scaled_rounds(int rounds);
/* Has every figure so far reached its claim? True of a quick run. */
bool measure_all_reached(void);

double now_us(void);
/* Sorts the values. */
double median(double *values, size_t count);

/* Does `count` of what is measured. */
typedef void work(void *context, int count);

struct side {
    const char *name;
    work *work;
    void *context;
};

/* The left side is what is claimed of, the right what it is compared with. */
struct comparison {
    const char *name;
    struct side left;
    struct side right;
    int rounds;      /* at most 400 */
    int count;       /* in each round */
    double at_most;  /* left may take so many times as long as right; 0: see at_least */
    double at_least; /* left must be so many times as fast as right */
};
void compare(const struct comparison *comparison);

/* A line of the report. The values are in `unit`; `ratio` is what is held against the claim. */
struct figure {
    const char *name;
    const char *unit;
    const char *left_name;
    double left;
    const char *right_name;
    double right;
    double ratio;
    double at_most; /* or 0 */
    double at_least;
    const char *limit; /* what limits it, when it is not reached */
};
void report(const struct figure *figure);

/* "FOLDER/NAME", with no file of that name left; free it. */
char *fresh_path(const char *name);

/* ---------------------------------------------------------------------------------------------- the event */

/* The clock of all programs stands still. */
#define NOW_US INT64_C(1700000000000000)

enum { EVENT_BYTES = 600 };

/* An event as an ADK writes it, EVENT_BYTES long, with two session keys and one user key. */
size_t make_event(char event[EVENT_BYTES + 1], int64_t number);

/* --------------------------------------------------------------------------------------- the bare program */

/* The rows that the library writes, by the same settings, from values that are ready made, and nothing else. */
struct bare;
struct bare *bare_open(const char *path, bool full);
/* Both files must hold the same rows: else the bare program no longer does what the library does. */
void bare_compare_rows(const struct bare *bare, const char *library_path);
void bare_close(struct bare *bare);
void bare_append(void *bare, int count);
void bare_get_20(void *bare, int count);
void bare_get_1000(void *bare, int count);

/* ------------------------------------------------------------------------------------------------ seslite */

struct library {
    ses_store *store;
    ses_session *session; /* keeps no events */
    ses_key key;
    char id[32];
    int64_t number; /* of the last event; its ids are the session's own */
};

/* Opens (or, given a store, uses) a store with a session of that number. */
void library_open(struct library *library, ses_store *store, const char *path, bool full, int session);
void library_close(struct library *library, bool close_store);
void library_append(void *library, int count);
void library_get_20(void *library, int count);
void library_get_1000(void *library, int count);
/* A long history and a large state, quickly: in batches. */
void library_fill(struct library *library, int64_t events, int keys);

/* -------------------------------------------------------------------------------------------- the figures */

void bench_basics(void);  /* appends and gets beside the bare program; large sessions beside empty ones */
void bench_threads(void); /* group commit, batches, readers beside a writer */
void bench_scale(void);   /* long logs, large files, memory */
void bench_agent(void);   /* templates */
void bench_history(void); /* state as of a point, live events, fork, prune */
void bench_follow(void);  /* from an append to a follower, in this process and another; followers that wait */
void bench_backup(void);  /* beside SQLite's own ways */
void bench_list(void);    /* pages by label, pages without state */
void bench_lines(void);   /* JSON lines, out and in */
void bench_foreign(void); /* another program that reads */

#endif
