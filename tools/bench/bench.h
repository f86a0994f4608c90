/*
 * Measures seslite; each figure is compared with a reference in the same run.
 *
 * Both sides take turns in short rounds, and the medians of the rounds are compared, so that other load on
 * the machine affects both.
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

/* Sets the folder for the stores and the file (or NULL) that gets a line of JSON for each figure. Call it
 * before measuring. A quick run does a hundredth of the work and only shows that everything runs; its figures
 * mean nothing. */
void measure_begin(const char *folder, FILE *json, bool quick);
bool measure_is_quick(void);
/* Scales a count of events or microseconds: in a quick run a hundredth of it, but at least one. */
int scaled(int count);
/* Scales a number of rounds: at most two in a quick run. */
int scaled_rounds(int rounds);
/* True if every figure so far has reached its claim. Always true in a quick run. */
bool measure_all_reached(void);

double now_us(void);
/* Sorts the values. */
double median(double *values, size_t count);

/* Performs the measured operation `count` times. */
typedef void work(void *context, int count);

struct side {
    const char *name;
    work *work;
    void *context;
};

/* The left side is the one with the claim, the right side its reference. */
struct comparison {
    const char *name;
    struct side left;
    struct side right;
    int rounds;      /* at most 400 */
    int count;       /* in each round */
    double at_most;  /* the limit of left's time divided by right's; 0 to use at_least */
    double at_least; /* left must be at least this many times as fast as right */
};
void compare(const struct comparison *comparison);

/* A line of the report. The values are in `unit`; `ratio` is compared with the claim. */
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
    const char *limit; /* the reason, if the claim is not reached */
};
void report(const struct figure *figure);
/* A value that must be at most `most`. */
void report_time(const char *name, const char *what, const char *unit, double value, double most);

/* Returns "FOLDER/NAME" after removing any file of that name. Free it. */
char *fresh_path(const char *name);

/* ---------------------------------------------------------------------------------------------- the event */

/* The fixed time of all programs. */
#define NOW_US INT64_C(1700000000000000)

enum { EVENT_BYTES = 600 };

/* An event as an ADK writes it, EVENT_BYTES long, with two session keys and one user key. */
size_t make_event(char event[EVENT_BYTES + 1], int64_t number);

/* --------------------------------------------------------------------------------------- the bare program */

/* Writes the same rows as the library, with the same settings and precomputed values, and does nothing
 * else. */
struct bare;
struct bare *bare_open(const char *path, bool full);
/* Checks that both files contain the same rows, so that the comparison is fair. */
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

/* Opens a store, or uses the given one, with a session of that number. */
void library_open(struct library *library, ses_store *store, const char *path, bool full, int session);
void library_close(struct library *library, bool close_store);
void library_append(void *library, int count);
void library_get_20(void *library, int count);
void library_get_1000(void *library, int count);
/* Appends a long history and a large state in batches. */
void library_fill(struct library *library, int64_t events, int keys);

/* -------------------------------------------------------------------------------------------- the figures */

void bench_basics(void);  /* appends and gets, against the bare program; large sessions against empty ones */
void bench_threads(void); /* group commit, batches, readers during writes */
void bench_scale(void);   /* long logs, large files, memory */
void bench_agent(void);   /* templates */
void bench_history(void); /* live events, fork, prune */
/* undo, redo, past states, pending calls, pop and cut by the length of the log */
void bench_length(bool million);
void bench_follow(void);  /* from an append to a follower, in this process and another; followers that wait */
void bench_backup(void);  /* against SQLite's own methods */
void bench_list(void);    /* pages by label, pages without state */
void bench_lines(void);   /* JSON lines, out and in */
void bench_foreign(void); /* another program that reads */
void bench_search(void);  /* by the index of words, in 1,000,000 events */
void bench_key(void);     /* encrypted stores, before a VFS is put before that of the cipher */
void bench_artifact(void); /* files, and sessions without images */

#endif
