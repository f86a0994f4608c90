/*
 * The interface to storage: the only header through which the rooms above reach it, except for calls that are
 * one file from their arguments to their rows (session/sql). An operation is here if engines do it in
 * different ways, or if several callers or a handle need it.
 *
 * Each operation is a transaction of its own and sees one moment. The first members of its struct are its
 * input, those after "out" its result. After a negative code the result means nothing, and is freed as after
 * success. `create` returns 0 or SES_EXISTING, the others 0. A missing session is NOTFOUND with a message
 * that names it.
 *
 * Each has `limits`, those of the call: waiting beyond them is BUSY, working INTERRUPTED. A commit that has
 * begun is not ended by them.
 */
#ifndef SESLITE_STORAGE_DOOR_H
#define SESLITE_STORAGE_DOOR_H

#include "base/limits.h"
#include "model/event/log.h"
#include "model/event/range.h"
#include "model/snapshot.h"

struct storage;

/* ---------------------------------------------------------------------------------------- operations */

/* A session by its name; or, with `known` (a row that was read before), that very life of it. */
struct session_ref {
    const ses_key *key;
    const struct session_row *known; /* NULL: whichever has the name now */
};

struct create_op {
    struct limits limits;
    const ses_key *key;
    int64_t now_us;
    int64_t created_us;
    int64_t expires_us;  /* INT64_MAX: never */
    struct span initial; /* state as it is kept, without temp: keys; without text: none */
    const struct delta *delta;
    struct annotating annotating;
    const ses_key *child_of; /* NULL: it is no child */
    bool get_existing;       /* the door's: which of the two operations it is */
    struct range range;
    struct snapshot *snapshot; /* a new one, which is filled; NULL: nothing is read */
};
/* EXISTS: there is one. */
SESLITE_PRIVATE int ses__door_create(struct storage *storage, struct create_op *op, ses_error *error);
/* Reads the session when there is one (SES_EXISTING), with `range`. */
SESLITE_PRIVATE int ses__door_get_or_create(struct storage *storage, struct create_op *op, ses_error *error);

struct get_op {
    struct limits limits;
    const ses_key *key;
    struct range range;
    struct snapshot *snapshot; /* a new one, which is filled */
};
SESLITE_PRIVATE int ses__door_get(struct storage *storage, struct get_op *op, ses_error *error);

/* Reads the events that a snapshot does not have yet. */
struct refresh_op {
    struct limits limits;
    struct session_ref session;
    struct snapshot *snapshot;
    /* out: to be freed in any case, and applied after success. */
    struct advance advance;
};
SESLITE_PRIVATE int ses__door_refresh(struct storage *storage, struct refresh_op *op, ses_error *error);

/* Shared state without a session. */
struct shared_get_op {
    struct limits limits;
    const char *app;
    const char *user; /* NULL: the app's */
    const char *name; /* one key, without prefix; NULL: all, as an object */
    const ses_allocator *allocator;
    /* out */
    char *json; /* to be freed by ses_free in any case; NULL: there is no such key */
    size_t len;
};
SESLITE_PRIVATE int ses__door_get_shared(struct storage *storage, struct shared_get_op *op, ses_error *error);

/* Changes it. STALE when an expected key has changed. */
struct shared_set_op {
    struct limits limits;
    const char *app;
    const char *user;             /* NULL: the app's */
    bool makes_owner;             /* also where no key is set */
    const struct delta *delta;    /* of that scope */
    const struct delta *expected; /* the values that the caller has seen; a removal: the key did not exist */
    size_t bytes;                 /* about how much is written */
};
SESLITE_PRIVATE int ses__door_set_shared(struct storage *storage, struct shared_set_op *op, ses_error *error);

#define TOO_LONG_EVENT "the event, with its state changes, is longer than max_event_bytes, %zu"

struct db;
/* So often others may save versions of the same artifacts between a look at them and the write. */
enum { MAX_OUTRUN = 100 };
/* Artifacts that an append saves with its event, in its transaction. */
struct append_artifact_rows {
    /* Asks a server for what `store` needs of the session that this transaction finds. NULL: nothing. */
    void (*ask)(struct append_artifact_rows *rows, struct db *db, ses_error *error);
    int (*store)(struct append_artifact_rows *rows, struct db *db, const struct session_row *session,
                 int64_t now_us, ses_error *error);
    bool outrun; /* BUSY, since others have saved versions in the meantime: the event names the wrong ones */
};

struct append_asked;
/* Appends the drafts in order. STALE when the version is not the one that was checked for, or an expected key
 * has changed, unless all events are stored already; `anyway` asks for neither. */
struct append_op {
    struct limits limits;
    struct session_ref session;
    struct append_artifact_rows *artifacts; /* are stored together with the event; NULL: none */
    bool checks_version;
    int64_t version;
    bool anyway;
    const struct delta *expected; /* shared keys, as shared_set_op has them; NULL: nothing is expected */
    int64_t lease;       /* LEASED unless this is the token of the session's lease; 0: none is required */
    bool takes_draft;    /* the session's draft is removed if an event is stored */
    const char *answers; /* and the input with this request; NULL: none */
    const struct annotating *annotating; /* is done if an event is stored; NULL: title and labels stay */
    struct event_draft *drafts;          /* sealed; their numbers are filled in */
    size_t count;
    bool may_be_stored; /* by an earlier run: then ids that were made for this call are looked for, too */
    int64_t max_events; /* that the session may hold */
    size_t max_event_bytes;
    int64_t now_us;
    size_t bytes;               /* about how much is written */
    struct snapshot *snapshot;  /* the handle's; NULL: by key */
    struct session_row looked;  /* the engine's: the log in which targets were looked for; id 0: in none */
    bool looks;                 /* the engine's: nothing is stored, only what is there already is found */
    struct append_asked *asked; /* the job's: what was asked for ahead; NULL: nothing */
    /* out */
    ses_appended *results; /* `count`, the caller's: status, seq and time of all but partial events */
    size_t at;             /* drafts begun: what STALE and EXISTS are about is the last of them; 0: none */
    struct session_row before;
    struct session_row row;
    struct advance advance; /* of the snapshot, as in refresh_op */
};
SESLITE_PRIVATE int ses__door_append(struct storage *storage, struct append_op *op, ses_error *error);

/* A page of a session's events. The first page of a walk ends it at the events that are there then; the
 * others are given its row as `session.known`. STALE when events were cut since, or pruned that the walk
 * still needs. */
struct page_op {
    struct limits limits;
    struct session_ref session;
    bool first;
    bool backward;
    size_t max_events;
    size_t max_bytes; /* the page is full with the event that reaches it */
    const ses_allocator *allocator;
    /* in and out: what is left of the walk */
    struct range range;
    /* For a range of live events: as of the first page. Later rewinds take nothing back. */
    struct live *live;
    bool after_settled; /* a walk forward over live events: not those before which no call is pending */
    /* out */
    int64_t settled; /* the last of these; 0: none is known */
    struct session_row row;
    struct arena *arena;       /* of the events; reset first */
    struct event_list *events; /* the list's memory is kept */
};
SESLITE_PRIVATE int ses__door_page(struct storage *storage, struct page_op *op, ses_error *error);
/* Keeps for later walks that no call up to this live event is pending. */
SESLITE_PRIVATE int ses__door_settle(struct storage *storage, const struct limits *limits,
                                     const struct session_row *walked, int64_t seq, ses_error *error);

/* How far a follower has come in a session: its life, what cuts move, the number. */
struct follow_place {
    int64_t session_id;
    int64_t epoch;
    int64_t seq;
};

struct follow_known {
    char *name;
    struct follow_place place;
};

enum follow_news {
    FOLLOW_EVENTS, /* or none, where the place moves for other reasons */
    FOLLOW_RESET,
    FOLLOW_GONE /* but of a follower of one session: the session was deleted */
};

struct followed {
    enum follow_news news;
    const char *name; /* in the arena, as are the next two, which only an app or the store has */
    const char *app;
    const char *user;
    size_t events;             /* so many of the operation's are its */
    struct follow_place place; /* after them */
};

/* Reads a page of the changes to a session, or to the sessions of a user, after the known places, in the
 * order of names. A single session that was deleted and created again is NOTFOUND. The sessions of an app or
 * the store are known by their numbers. They come in that order, with their names only if there is news. */
struct follow_op {
    struct limits limits;
    const ses_key *key;               /* without a session, a user, an app: all of it, which need not exist */
    bool opens;                       /* only where all of it is now, however much that is */
    const struct follow_known *known; /* by name, or by number without one; of one session: one */
    size_t known_count;
    const char *after; /* of a user's: only names after this one; "": all */
    /* Only these sessions, each name with its NUL (of an app's or the store's, after those of its app and its
     * user) and none twice; NULL: all */
    const char *told;
    size_t told_len;
    int64_t after_id; /* of an app's or the store's: only numbers after this one; 0: all */
    bool is_recent;   /* of these: only sessions that were updated at `since_us` or later */
    int64_t since_us;
    size_t max_events; /* and most items */
    size_t max_bytes;
    const ses_allocator *allocator;
    /* out */
    struct arena *arena;       /* of events and names; reset first */
    struct event_list *events; /* the list's memory is kept, as is that of `items` */
    struct followed *items;    /* to be freed by the caller in any case */
    size_t count;
    size_t capacity;
    bool more; /* it may not be all: of a user's, go on after the last item, and after `told` with all */
    /* For an app or the store: the latest update so far; a told session is not there; there is more of one
     * that is not recent. */
    int64_t newest_us;
    bool lacks_told;
    bool leaves_old;
};
SESLITE_PRIVATE int ses__door_follow(struct storage *storage, struct follow_op *op, ses_error *error);

/* The state of the store that a follower has seen. It waits until this changes. */
struct watched {
    const char *app; /* NULL: one session, or the store */
    const char *user;
    int64_t session_id; /* of a user's: the highest */
    int64_t count;      /* of a user's */
    int64_t versions;   /* the session's; of a user's: the sum, each cut to 32 bits */
    bool fresh;         /* was not looked at since it waits */
    /* An app's or the store's: only of the sessions that were updated at `since_us` or later. A look replaces
     * the numbers above. */
    bool is_wide;
    int64_t since_us;
    int64_t due_us; /* when all of them may be looked at again */
    /* out */
    bool changed;
    bool written; /* of these: something else may have changed */
};

/* Looks at those that are not fresh only if anything was written since the last look. Does not wait. */
struct watch_op {
    struct watched *items;
    size_t count;
};
SESLITE_PRIVATE int ses__door_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* A place in a list: after the session it names. For creation order only `session_id` counts. */
struct list_place {
    int64_t time_us; /* of the update, or of the last write, by which the list is sorted */
    struct span name;
    int64_t user_id;
    int64_t session_id;
};

struct listed {
    struct snapshot snapshot; /* without events; taking it over sets its allocator to NULL */
    const char *user;
    const char *name;
};

/* Which sessions of an app or a user: those for which all of it holds. */
struct list_filter {
    const char *label;         /* NULL: any labels */
    const char *label_value;   /* NULL: any */
    const char *id_prefix;     /* NULL: any; only in a list of one user */
    int64_t since_us;          /* of the update time; INT64_MIN: any */
    int64_t before_us;         /* INT64_MAX: any */
    int64_t changed_since_us;  /* of the last write; INT64_MIN: any */
    int64_t changed_before_us; /* INT64_MAX: any */
    const char *without_label; /* NULL: any labels */
    int64_t without_shelves;   /* see rows.h; 0: any */
    ses_key child_of;          /* without a session: any */
};

struct list_op {
    struct limits limits;
    const char *app;
    const char *user; /* NULL: all */
    struct list_filter filter;
    bool no_state;
    size_t preview_bytes; /* the most of a text; 0: no previews */
    int order;            /* SES_ORDER_* */
    size_t limit;
    bool from_start; /* else after `after` */
    struct list_place after;
    struct hash_seed seed;
    struct arena *arena; /* for texts */
    /* out: freed with ses__list_op_free in any case */
    struct listed *items;
    size_t count;
    size_t capacity;
    bool more;             /* there are sessions after the last */
    ses_preview *previews; /* one each item, in the arena; NULL: none */
};
SESLITE_PRIVATE int ses__door_list(struct storage *storage, struct list_op *op, ses_error *error);

/* With `secure`, deleted bytes are overwritten. `unclean` (out): they may still be in the write-ahead log,
 * which a reader kept from being emptied, or in unused bytes of the file. */
struct erasure {
    struct limits limits;
    bool secure;
    bool alone;      /* the job runs on the caller's thread, in a transaction that no other job shares */
    bool counts;     /* a receipt is asked for */
    bool drops_void; /* an index or a tally that is void must not be left, as with `secure` */
    /* True after the job if the call has to be made again, which then also does the rest of the overwriting.
     * NULL: never. */
    const bool *more;
    /* out */
    bool unclean;
    bool keeps_void;   /* what is void could not be dropped, so that it is unclean, too */
    ses_erased erased; /* the counts of this transaction, as far as they are known there */
};

struct maintain_op {
    struct limits limits;
    int64_t limit; /* pages */
    /* out */
    bool more;
};
SESLITE_PRIVATE int ses__door_maintain(struct storage *storage, struct maintain_op *op, ses_error *error);

struct space_op {
    struct limits limits;
    /* out */
    int64_t bytes;
    int64_t free_bytes;
};
SESLITE_PRIVATE int ses__door_space(struct storage *storage, struct space_op *op, ses_error *error);

/* ------------------------------------------------------------------------------------------- artifacts */

/* Gives artifacts that come in, in the order of names and versions, inside the transaction. */
struct artifact_source {
    /* The next one: 1, 0 at the end, or a code. Its texts, which have a NUL after them, live until the next
     * one. */
    int (*next)(void *context, struct artifact_row *row, ses_error *error);
    /* Its next CHUNK_BYTES bytes, or its last: 1, 0 at the end, or a code. If there are any, they are all of
     * its size, and have its hash. There may be none if the user has these bytes already. */
    int (*bytes)(void *context, struct span *chunk, ses_error *error);
    void *context;
    /* out */
    int64_t stored; /* versions that are new */
};

/* Stores the versions of one artifact that belongs to no session that is loaded: it is the user's, or its
 * session does not exist. Like ses__door_load it is never begun again. */
struct load_artifact_op {
    struct limits limits;
    const char *app;
    const char *user;
    const char *session; /* "": the user's */
    const char *name;
    bool updates;  /* if those that are there are the beginning, add the others */
    bool replaces; /* those that are there and differ */
    bool dry_run;
    int64_t now_us;
    struct artifact_source source;
    /* out */
    int outcome; /* SES_LOADED_NEW, _EQUAL or _UPDATED, SES_IMPORTED_KEY_KEPT or _REPLACED */
};
SESLITE_PRIVATE int ses__door_load_artifact(struct storage *storage, struct load_artifact_op *op,
                                            ses_error *error);

/* --------------------------------------------------------------------------------------------- loading */

/*
 * Makes a session that is as it was. Its events are asked for while it is made, in the same transaction, by
 * the caller's thread. So it is never begun again: an engine that would have to fails instead.
 */
struct load_op {
    struct limits limits;
    const ses_key *key;
    unsigned flags; /* SES_LOAD_* */
    int64_t now_us;
    int64_t created_us;
    int64_t updated_us;        /* INT64_MIN: counted from the events */
    int64_t expires_us;        /* INT64_MAX: never */
    int64_t version;           /* -1: counted */
    int64_t last_seq;          /* 0: counted */
    struct span initial;       /* as in create_op */
    const struct delta *state; /* the own keys must equal it; NULL: they are not compared */
    struct annotating annotating;
    const ses_key *parent; /* NULL: none */
    int64_t parent_seq;
    int64_t origin;          /* the number that it shares with its forks, and so on; 0: none */
    const ses_key *child_of; /* NULL: it is no child */
    bool is_memory;
    int64_t base_seq;
    const struct base_value *base; /* sorted by name, each once */
    size_t base_count;
    int64_t max_events;
    struct hash_seed seed;
    /* The next event, sealed: 1 with `*draft`, 0 at the end, or a code. Its row.seq is its number, or 0: the
     * next; its row.high_us the update time after it, or INT64_MIN: counted. */
    int (*next)(void *context, struct event_draft **draft, ses_error *error);
    void *context;
    /* Asked before the events. NULL: artifacts are neither stored nor compared. */
    struct artifact_source *artifacts;
    unsigned blamed; /* the job's: what may be to blame for a failure (storage/sql/derived) */
    /* out */
    int outcome;    /* SES_LOADED_* */
    int64_t begun;  /* events that were asked for */
    bool refused;   /* the last of them was */
    int64_t events; /* that were stored, those copied from an equal beginning not counted */
    int64_t version_now;
    char name[SES_ID_MAX + 1]; /* the session's, which may be another than the key's */
};
SESLITE_PRIVATE int ses__door_load(struct storage *storage, struct load_op *op, ses_error *error);

/* ------------------------------------------------------------------------------------------- visiting */

struct visited_session {
    ses_key key;
    struct session_row row;
    const ses_key *parent; /* NULL: none */
    int64_t parent_seq;
    int64_t origin;          /* the number that it shares with its forks, and so on; 0: none */
    const ses_key *child_of; /* NULL: it is no child */
    const struct annotations *annotations;
    struct span initial; /* without text: none */
};

/* A walk over more than an older reader knows has a higher format. Each addition raises it (visit.c), unless
 * an older reader loses nothing without it. */
enum {
    VISIT_FORMAT_FIRST = 1, /* 0.2.0 reads it */
    VISIT_FORMAT_SECOND = 2 /* versions of artifacts at the base of a pruned log, archive, kinds, memory */
};

/* The callbacks of a walk over a store. It begins with the format that what it will visit needs, and visits
 * each app and its keys; then the users of the app by name, each with its keys and artifacts; then its
 * sessions in the order of creation, each with its base, its artifacts, its events and an end. A callback
 * returns 0, or a code that ends the walk. It runs on the caller's thread, and its texts live until it
 * returns. */
struct store_visitor {
    int (*begin)(void *context, int format, ses_error *error);
    int (*app)(void *context, const char *app, ses_error *error);
    int (*user)(void *context, const char *app, const char *user, ses_error *error);
    int (*shared)(void *context, struct span key, struct span value, ses_error *error);
    int (*session)(void *context, const struct visited_session *session, ses_error *error);
    int (*base)(void *context, const struct base_value *value, ses_error *error);
    int (*base_artifact)(void *context, const struct base_value *value, ses_error *error);
    /* `session` is "" for an artifact of the user. Returns 1 if its bytes are wanted, 0, or a code. */
    int (*artifact)(void *context, const char *session, const struct artifact_row *row, ses_error *error);
    int (*bytes)(void *context, int64_t offset, struct span chunk, ses_error *error);
    /* In place of an artifact that a later version has made. */
    int (*left_out)(void *context, const ses_error *why, ses_error *error);
    int (*event)(void *context, const struct event_row *row, ses_error *error);
    int (*session_end)(void *context, ses_error *error);
    /* With `skips`: what is given between these is only tried, and given again afterwards if all of it is
     * sound. */
    void (*rehearse)(void *context, bool begins);
};

/* A walk over all of it, or over one app, user or session, at one moment. It is never begun again either. */
struct visit_op {
    struct limits limits;
    const char *app;     /* NULL: all */
    const char *user;    /* NULL: all */
    const char *session; /* NULL: all */
    bool only_sessions;  /* no apps, users and their keys */
    bool skips;          /* damage is passed over, after left_out */
    struct hash_seed seed;
    const ses_allocator *allocator;
    const struct store_visitor *visitor;
    void *context;
};
SESLITE_PRIVATE int ses__door_visit(struct storage *storage, struct visit_op *op, ses_error *error);

/* -------------------------------------------------------------------------------------------- upkeep */

struct check_op {
    struct limits limits;
    int level; /* SES_CHECK_* */
    int64_t limit;
    int (*report)(void *context, const ses_problem *problem); /* NULL: none */
    void *report_context;
    int (*progress)(void *context, int64_t done, int64_t total); /* NULL: none */
    void *progress_context;
    struct hash_seed seed;
    int64_t now_us;
    /* out */
    int64_t problems;
};
SESLITE_PRIVATE int ses__door_check(struct storage *storage, struct check_op *op, ses_error *error);

/* ------------------------------------------------------------------------------------ the storage itself */

/* The settings with which a store is opened, on any engine. Path and allocator must live as long as the
 * storage. */
struct storage_config {
    const char *path; /* or the name of the store */
    bool read_only;
    bool must_exist;
    bool has_clock;     /* the caller has given one */
    int64_t timeout_us; /* 0: do not wait for others */
    const ses_allocator *allocator;
};

/* Makes the reads that are under way fail with INTERRUPTED. */
SESLITE_PRIVATE void ses__door_interrupt(struct storage *storage);
/* Fill what the engine knows. */
SESLITE_PRIVATE void ses__door_describe(const struct storage *storage, ses_info *info);
SESLITE_PRIVATE void ses__door_count(struct storage *storage, ses_stats *stats);
/* No other call may be under way, and none but `release` may follow. */
SESLITE_PRIVATE void ses__door_close(struct storage *storage);
SESLITE_PRIVATE void ses__door_release(struct storage *storage);

SESLITE_PRIVATE void ses__list_op_free(struct list_op *op, const ses_allocator *allocator);
/* NOTFOUND, with the message that names the session. */
SESLITE_PRIVATE int ses__no_such_session(const ses_key *key, ses_error *error);
/* LEASED: the token is not that of the session's lease. */
SESLITE_PRIVATE int ses__not_leased(int64_t token, ses_error *error);
SESLITE_PRIVATE int ses__refuse_interrupted(const char *what, ses_error *error);

#endif
