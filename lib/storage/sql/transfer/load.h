/* Shared by the steps of loading a session. */
#ifndef SESLITE_STORAGE_SQL_TRANSFER_LOAD_H
#define SESLITE_STORAGE_SQL_TRANSFER_LOAD_H

#include "model/replay.h"
#include "model/event/log.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"

/* The job has succeeded, and what it wrote is to be taken back: no code of a call. */
enum { LOAD_UNDONE = -1000 };

/* One load. The incoming session is compared with the stored one of that name. Writing starts at the first
 * difference, or at once if no session has the name. */
struct load_run {
    struct db *db;
    struct load_op *op;
    bool repeatable;           /* nothing was asked of the caller yet */
    struct replay replay;      /* the own state that the events have led to */
    int64_t count;             /* of the events */
    struct update_times times; /* up to the last event */
    /* The session that has the name. */
    struct session_row known; /* its id is 0: there is none */
    bool matches;             /* all that came is equal so far, and its events are walked */
    struct event_rows walk;
    /* The session that is written; its id is 0: none yet. */
    struct session_row row;
    struct session_row holder; /* as ses__event_add needs it */
    bool extends;              /* it is the known one */
    bool only_annotates;       /* it gets nothing else, which is no write to its log */
    bool annotates;      /* the known one is to get another title, labels or expiry, if its events match */
    int64_t staged;      /* artifacts that came */
    bool adds_artifacts; /* the known session lacks some of them, and has no others */
    /* If the removal of the known session fails: how the load goes on in another transaction. */
    bool removes;              /* the removal is under way */
    int64_t shared_seq;        /* up to this event both sessions are the same */
    struct event_draft *draft; /* the event that came last, if it is not stored; NULL: none */
    bool ended;                /* no more events come */
};

/* Compares everything but the events. `difference` is set to NULL if both are equal, otherwise to the name of
 * the first difference. `annotates` is set to true where title, labels or expiry differ, which are then no
 * difference; NULL: they are one. */
SESLITE_PRIVATE int ses__load_compare_head(struct load_run *run, const struct session_row *row,
                                           const char **difference, bool *annotates, ses_error *error);
/* Gives the known session the title, labels and expiry that were loaded. `row` is brought up to date. */
SESLITE_PRIVATE int ses__load_annotate(struct load_run *run, struct session_row *row, ses_error *error);
/* Compares the columns that are known when all events have come. */
SESLITE_PRIVATE const char *ses__load_compare_end(const struct load_run *run, const struct session_row *row);
/* Sets the operation's name to one that is free, or finds what was made there already: SES_LOADED_EQUAL. */
SESLITE_PRIVATE int ses__load_find_name(struct load_run *run, ses_error *error);
/* ---- load_artifacts.c */
/* Stores what comes where nobody sees it: under a name that no session has. */
SESLITE_PRIVATE int ses__load_stage_artifacts(struct load_run *run, int64_t user_id, ses_error *error);
/* Compares the loaded artifacts with those of a session: has_others, that it has other ones; lacks, that it
 * lacks some. */
SESLITE_PRIVATE int ses__load_compare_artifacts(struct load_run *run, int64_t user_id, const char *session,
                                                bool *has_others, bool *lacks, ses_error *error);
/* Gives what came to the session, in the place of what it has. */
SESLITE_PRIVATE int ses__load_settle_artifacts(struct load_run *run, ses_error *error);

/* INVALID, naming the key, unless the replay has led to the state that is asked for. */
SESLITE_PRIVATE int ses__load_check_state(struct load_run *run, ses_error *error);

#endif
