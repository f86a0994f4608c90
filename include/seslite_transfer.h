/*
 * seslite: loading sessions, export and import of a store as JSON lines, backup and check.
 *
 * It is a part of seslite.h, which includes it, and whose rules hold here too.
 */
#ifndef SESLITE_TRANSFER_H
#define SESLITE_TRANSFER_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------- in and out */

/* A key of the state at the base of a log, which is the state that the pruned events led to. This struct will
 * not change. */
typedef struct ses_loaded_value {
    const char *name; /* with its prefix; no `temp:` key */
    const char *json; /* its value */
    size_t json_len;
    int64_t seq; /* the event that set it; 0: the initial state has it with this value */
} ses_loaded_value;

/* An event of a session that is loaded, lent to `next`, which fills it: never make or copy this struct. */
typedef struct ses_loaded_event {
    const char *json; /* as for ses_append; must live until the next call */
    size_t json_len;
    int64_t seq; /* its number, above that of the one before; 0: the next */
    /* The session's update time after this event; NULL: the latest time so far. It can differ only if events
     * before it were cut or pruned, or if a fork has copied it. */
    const int64_t *updated_us;
} ses_loaded_event;

/* A session to load. The comment of a member says what zero means. */
typedef struct ses_loaded {
    size_t size;
    /* The state it was created with, as for ses_create: `app:` and `user:` keys are kept in it, but not
     * written to their scopes. NULL: empty. */
    const char *initial_state;
    size_t initial_state_len;
    /* Its own keys, as an object. They must equal the state that the rest leads to, byte for byte. If they do
     * not, the call returns INVALID, and the message names the key. If NULL, they are not checked. */
    const char *state;
    size_t state_len;
    const int64_t *created_us; /* NULL: the store's clock */
    const int64_t *updated_us; /* not before created_us and the events; NULL: the latest of them */
    const int64_t *expires_us; /* may have passed; NULL: never */
    /* From 0 to 2^52. It is raised if a deleted session has had it. NULL: the number of events. (Every
     * session that is created later starts above the version of a deleted session, and none goes beyond 2^53
     * - 1. The bound leaves them 2^52 versions, whatever is loaded.) */
    const int64_t *version;
    int64_t last_seq;        /* the last number that was ever given; 0: the last event's */
    const char *title;       /* NULL: none */
    const ses_label *labels; /* as for ses_create */
    size_t label_count;
    const ses_key *parent;        /* of a fork, otherwise NULL; its app is NULL or the session's */
    int64_t parent_seq;           /* not above the last number */
    int64_t base_seq;             /* the last event that was pruned; 0: none was */
    const ses_loaded_value *base; /* the own keys as the pruned events had left them */
    size_t base_count;
    /*
     * Gives the next event: fills the struct, which is zeroed, and returns 1; or returns 0 at the end, or a
     * negative code, which ends the call and is returned. It runs on the caller's thread, inside the
     * transaction: it may read from other stores, and from this one if it is in a file. A call of it that
     * writes to this store returns BUSY. NULL: there are no events.
     */
    int (*next)(void *context, ses_loaded_event *event, ses_error *error);
    void *next_context;
    /* A random number that the session has in common with those that it was forked from or is a child of, and
     * with their forks and children; it links them for SES_REDACT_FORKS and families. 0: that of `parent`, or
     * of `child_of`, if that is there and not younger; otherwise none. INVALID: it is negative. */
    int64_t origin;
    const int64_t *archived_us; /* after 1970; NULL: it is not archived */
    const ses_key *child_of;    /* of a child, otherwise NULL; its app is NULL or the session's */
    int kind;                   /* SES_KIND_MEMORY; 0: a child if it has `child_of`, else a conversation */
    int64_t remembered_seq;     /* events up to it are remembered (see seslite_memory.h); 0: none is */
} ses_loaded;

/* How to proceed if a different session of the same name exists. Without a flag, the call returns EXISTS.
 * SES_LOAD_REPLACE and SES_LOAD_RENAME exclude each other. */
typedef enum ses_load_flags {
    SES_LOAD_UPDATE = 0x1,  /* if the existing one is the beginning of it, add the missing events */
    SES_LOAD_REPLACE = 0x2, /* delete the existing one */
    SES_LOAD_RENAME = 0x4,  /* load it as NAME~2, or NAME~3, ... */
    SES_LOAD_DRY_RUN = 0x8, /* find out what the call would do, and change nothing */
    SES_LOAD_SHARED = 0x10, /* only for ses_load_json: also write the shared keys that do not exist yet */
    SES_LOAD_FOLLOW = 0x20  /* with SES_LOAD_UPDATE: title, labels and expiry become those that are given */
} ses_load_flags;

typedef struct ses_load_options {
    size_t size;
    unsigned flags;     /* SES_LOAD_* */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_load_options;

/* The outcome of loading a session. */
typedef enum ses_load_outcome {
    SES_LOADED_NEW = 0,      /* no session had its name */
    SES_LOADED_EQUAL = 1,    /* an equal one exists; nothing has changed */
    SES_LOADED_UPDATED = 2,  /* the existing one got events, or with SES_LOAD_FOLLOW the rest */
    SES_LOADED_REPLACED = 3, /* it has replaced the existing one */
    SES_LOADED_RENAMED = 4   /* it has another name; the existing one stays */
} ses_load_outcome;

/* The outcome of a load. The size of this struct will not change; later versions may use the reserved
 * members. */
typedef struct ses_load_result {
    int outcome;                  /* SES_LOADED_* */
    int64_t events;               /* stored now: those that the session of that name did not have already */
    int64_t version;              /* the session's version */
    int64_t reserved[4];          /* 0 */
    char session[SES_ID_MAX + 1]; /* its id */
} ses_load_result;

/*
 * Stores a session with everything that belongs to it but artifacts, in one transaction. Events keep their
 * bytes, ids, times and numbers; gaps in the numbers are allowed. Events are read from `next` one by one, so
 * a log may be larger than memory. `app:` and `user:` keys of the initial state and of events are not written
 * to their scopes. The own state follows from the log. A missing id or timestamp of an event is added and
 * `temp:` keys are cut out, as by ses_append. The artifacts of an existing session are not compared, and stay
 * unless the session is replaced.
 *
 * Returns 0, or SES_UNCHANGED if the session exists and is equal in everything but its version. Other writers
 * wait until the call ends, and return BUSY after their timeout. `result` may be NULL.
 *
 * With SES_LOAD_UPDATE the existing session gets the events that it lacks, if it is equal up to its last one;
 * a different title, label or expiry time is a difference. With SES_LOAD_FOLLOW they become those that are
 * given instead, also where no event is missing; without a title or labels given, there are none afterwards.
 * A `remembered_seq` below that of the session is no difference, and does not lower it. This moves neither
 * the version nor the update time. If events differ, they stay.
 *
 * EXISTS: a different session of that name exists; the message says what differs. The events after the
 * difference were not read, and nothing has changed. INVALID: an id, a time, a number or a value breaks its
 * rules; an event is `partial`, has the id of an earlier one, or its number is not above the one before.
 * LIMIT: a limit of ses_append or ses_create is exceeded. `error->index` is the event that was refused,
 * counted from 0.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, EXISTS, and those of `next`.
 */
SES_API int ses_load(ses_store *store, const ses_key *key, const ses_loaded *loaded,
                     const ses_load_options *options, ses_load_result *result, ses_error *error);

/*
 * Loads a session from the JSON that the ADK and ses_session_json write: an object with `id`, `appName`,
 * `userId`, `state`, `events` and `lastUpdateTime`, in camelCase or snake_case. `key` names the new session;
 * members that are NULL, or all if `key` is NULL, are taken from the JSON. The rules are those of ses_load:
 * one transaction, events keep their bytes (except white space around them), and the same flags and results.
 *
 * The JSON holds less than a session. Events are numbered from 1. The initial state consists of the own keys
 * of `state` that no delta names, so an initial value that a delta replaced is lost. The time of creation is
 * the earliest time in the JSON, and the update time is the latest. Title, labels and everything else have
 * their defaults, and the JSON has no artifacts.
 *
 * `state` is the merged state. Its `app:` and `user:` keys belong to other sessions too, and are left out.
 * With SES_LOAD_SHARED those that their scopes lack are written there, as ses_store_import does, after the
 * session and in separate transactions. If that fails, the session stays, and the call can be repeated. Keys
 * that exist keep their values.
 *
 * INVALID also means that the session or an event has a field of the wrong type, twice, or in both spellings;
 * that the session has an unknown field, which could not be kept; that an id is missing; or that the own
 * state does not follow from the events. (Values are compared byte by byte, except white space between
 * tokens.) `error->offset` counts from the beginning of the JSON, or of the event if `error->index` names
 * one.
 *
 * Codes: those of ses_load.
 */
SES_API int ses_load_json(ses_store *store, const ses_key *key, const char *json, size_t len,
                          const ses_load_options *options, ses_load_result *result, ses_error *error);

/*
 * JSON lines: a whole store, an app, a user or a session as text, one JSON object per line.
 * lib/session/transfer/README.md describes the format. Importing the text into an empty store gives the same
 * store: every event with its bytes and number, every time, version, state, title, label, parent and base,
 * the shared state, every artifact with its versions, and the order in which sessions were created. Leases
 * are not included, nor are versions of sessions above 2^52, which ses_load does not accept.
 */

typedef enum ses_export_flags {
    SES_EXPORT_ONLY_SESSIONS = 0x1, /* without shared state and artifacts of users */
    SES_EXPORT_SKIP = 0x2           /* leave out what is damaged, and go on; needs `left_out` */
} ses_export_flags;

typedef struct ses_export_options {
    size_t size;
    unsigned flags;      /* SES_EXPORT_* */
    const char *app;     /* NULL: all */
    const char *user;    /* NULL: all of the app */
    const char *session; /* NULL: all of the user */
    /* Called after each session and every 1,000 events, with the numbers written so far. Non-zero ends the
     * export with INTERRUPTED. May be NULL. */
    int (*progress)(void *context, int64_t sessions, int64_t events);
    void *progress_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    /* Called for each version of an artifact that the lines leave out, since a later version of seslite has
     * made it: `why` has UNSUPPORTED, and names it. With SES_EXPORT_SKIP also for what is damaged: `why` has
     * CORRUPT, and names it. Non-zero ends the export with INTERRUPTED. May be NULL. */
    int (*left_out)(void *context, const ses_error *why);
    void *left_out_context;
} ses_export_options;

/*
 * Writes the lines as of one moment, whatever is written to the store meanwhile. Memory is constant: a few
 * times the largest event, however long an artifact is. `write` gets the text in pieces, in order, and
 * returns 0 or a negative code. A negative code ends the call and is returned, and the pieces written until
 * then are of no use. `write` runs on the caller's thread, and may use this store if it is in a file. The
 * call reads in one transaction, so the write-ahead log keeps everything that is written until it ends.
 *
 * Damage ends the call with CORRUPT. With SES_EXPORT_SKIP it goes on after it: a session of which anything is
 * damaged is left out whole, and so are the artifacts of a user; of shared state, what follows the damage.
 * For that it reads each session twice. It still returns CORRUPT if the names, or the list of sessions,
 * cannot be read. The lines that are written are sound, and can be imported.
 *
 * NOTFOUND: there is no such app, user or session. MISUSE: a user without an app, a session without a user,
 * or SES_EXPORT_SKIP without `left_out`. UNSUPPORTED: the store has a feature that this version does not know
 * and that forbids writing, and the lines would leave out what belongs to it. A backup does not.
 *
 * Codes: those of a read, INVALID, NOTFOUND, UNSUPPORTED, and those of `write`.
 */
SES_API int ses_store_export(ses_store *store, const ses_export_options *options,
                             int (*write)(void *context, const char *data, size_t len, ses_error *error),
                             void *context, ses_error *error);

/* Flags of ses_import_options. SES_IMPORT_REPLACE and SES_IMPORT_RENAME exclude each other. */
typedef enum ses_import_flags {
    SES_IMPORT_UPDATE = 0x1,  /* as SES_LOAD_UPDATE with SES_LOAD_FOLLOW */
    SES_IMPORT_REPLACE = 0x2, /* as SES_LOAD_REPLACE */
    SES_IMPORT_RENAME = 0x4,  /* as SES_LOAD_RENAME */
    SES_IMPORT_DRY_RUN = 0x8, /* as SES_LOAD_DRY_RUN */
    SES_IMPORT_SKIP = 0x10,   /* continue after a refused session (EXISTS, INVALID, JSON, LIMIT) */
    /* shared keys that have another value in the store get the file's, and so do artifacts of users */
    SES_IMPORT_REPLACE_KEYS = 0x20
} ses_import_flags;

/* The outcome of importing a session or a shared key: SES_LOADED_* (0 to 4) or one of these. */
typedef enum ses_import_outcome {
    SES_IMPORTED_REFUSED = 10,     /* `error` says why */
    SES_IMPORTED_KEY_KEPT = 11,    /* the key has another value in the store, and keeps it */
    SES_IMPORTED_KEY_REPLACED = 12 /* the key had another value, and now has the file's */
} ses_import_outcome;

/* A session or a shared key of an import, lent until the function returns: never make or copy this struct. */
typedef struct ses_import_item {
    const char *app;        /* the app that it is in here */
    const char *user;       /* NULL: a key of the app */
    const char *session;    /* as in the file; NULL: a shared key, or an artifact of the user */
    const char *loaded_as;  /* the session's id in this store */
    const char *key;        /* a shared key; NULL: it is not one */
    const char *artifact;   /* of the user, or of a session that does not exist; NULL: it is not one */
    int outcome;            /* a ses_load_outcome or a ses_import_outcome */
    int64_t events;         /* events stored */
    int64_t line;           /* where it begins; for a key, approximately */
    const ses_error *error; /* why it was refused; NULL: it was not */
} ses_import_item;

typedef struct ses_import_options {
    size_t size;
    unsigned flags;   /* SES_IMPORT_* */
    const char *app;  /* put everything into this app ... */
    const char *user; /* ... and everything of a user under this one; NULL: as in the file */
    /* Called for each session, and for each shared key that has another value in the store. Non-zero ends the
     * import with INTERRUPTED; the reported ones stay stored. May be NULL. */
    int (*report)(void *context, const ses_import_item *item);
    void *report_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_import_options;

/* The counts of an import. */
typedef struct ses_import_report {
    size_t size;            /* input: sizeof(ses_import_report) */
    int64_t lines;          /* lines read */
    int64_t made;           /* sessions that are new */
    int64_t equal;          /* sessions that were there and are equal */
    int64_t updated;        /* sessions that got what they lacked: see SES_LOADED_UPDATED */
    int64_t replaced;       /* sessions that took the place of another */
    int64_t renamed;        /* sessions that were stored under another id */
    int64_t refused;        /* sessions that were not stored */
    int64_t events;         /* events stored */
    int64_t keys;           /* shared keys written */
    int64_t keys_kept;      /* shared keys that keep another value */
    int64_t artifacts;      /* versions of artifacts stored */
    int64_t artifacts_kept; /* artifacts of users that keep other versions */
    int64_t unknown;        /* lines of a kind, and members, that this version does not know and left out */
} ses_import_report;

/*
 * Reads JSON lines. `read` puts at most `capacity` bytes of the text into the buffer, sets `*len`, and
 * returns 0; at the end it sets `*len` to 0. A negative code ends the call and is returned. Memory does not
 * grow with the text. Each session is loaded as by ses_load, in a transaction of its own. So a session that
 * differs is EXISTS unless a flag is set, and reading the same text twice is safe. Shared keys that the store
 * lacks are written; those that it has stay.
 *
 * The artifacts of a session are a part of it: they are compared like its events, and stored or refused with
 * it. Those of a user are like shared keys: each that the store lacks is stored with all its versions, in a
 * transaction of its own, and one that it has stays. With SES_IMPORT_UPDATE it gets the versions that it
 * lacks if the others are equal, and with SES_IMPORT_REPLACE_KEYS those of the file.
 *
 * `read` is also called within the transaction of a session, or of an artifact of a user. If it waits, for
 * example for a pipe, other writers wait too, and return BUSY after their timeout. Copy a slow source to a
 * file first.
 *
 * The call ends at the first session that is refused, unless SES_IMPORT_SKIP is set. Sessions before it stay,
 * and the call can be repeated. A session is stored whole or not at all.
 *
 *  - INVALID, JSON: a line is malformed or out of order, or the text was cut short or changed; the message
 *    names the line.
 *  - TOONEW: the text has a newer format. NOTASTORE: it is not an export of a store.
 *  - LIMIT: a line is longer than 16 MiB and six times max_event_bytes; or as for ses_load.
 *
 * `*report` (may be NULL) is filled in unless the call returns MISUSE. After a failure it counts what was
 * done before.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, EXISTS, TOONEW, NOTASTORE, INTERRUPTED, and those of `read`.
 */
SES_API int ses_store_import(ses_store *store,
                             int (*read)(void *context, char *buffer, size_t capacity, size_t *len,
                                         ses_error *error),
                             void *context, const ses_import_options *options, ses_import_report *report,
                             ses_error *error);

/* --------------------------------------------------------------------------------------- backup and check */

typedef enum ses_backup_flags {
    SES_BACKUP_REPLACE = 0x1, /* replace an existing store */
    SES_BACKUP_COMPACT = 0x2, /* rewrite the content without free pages (VACUUM INTO) */
    SES_BACKUP_PLAIN = 0x4    /* without a key, although the store has one */
} ses_backup_flags;

typedef struct ses_backup_options {
    size_t size;
    unsigned flags; /* SES_BACKUP_* */
    /* Called with the number of pages copied and the total; with SES_BACKUP_COMPACT both are estimates.
     * Non-zero ends the backup with INTERRUPTED. It may use the store, but not close it. May be NULL. */
    int (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    const void *key;    /* of the copy; NULL: that of the store, if it has one */
    size_t key_len;     /* SES_KEY_BYTES, or 0 without a key */
} ses_backup_options;

/*
 * Copies the whole store, as of one moment, into the file `path`, while readers and writers go on. The copy
 * is a store of mode 0600. It is written to a temporary file in the same folder, PATH.seslite-backup-XXXXXX,
 * checked, flushed to the disk, and only then moved to `path`. So `path` is either complete or as it was,
 * also after a failure or if the process is killed. The next backup into the same folder removes a temporary
 * file that a killed process has left. If `path` is a link, the file that it leads to is created or replaced.
 *
 * Writers do not wait for the backup. (With a rollback journal they do, as they do for any reader; in a store
 * in memory they wait while it is copied within memory.) The write-ahead log cannot start over before the
 * backup ends. ses_store_interrupt ends it.
 *
 *  - EXISTS: the file exists, or the log or journal of a store does without it, and SES_BACKUP_REPLACE is not
 *    set. A link() decides, so nothing is ever replaced by accident.
 *  - With SES_BACKUP_REPLACE: NOTASTORE if the file is not a store. BUSY if it is still open after the busy
 *    timeout; it stays locked during the backup. (A store with a rollback journal looks closed while it is
 *    not in use. If it is open elsewhere, its calls return IO from then on.) The log and the journal of the
 *    old store are removed before the new file takes its place. UNKNOWN: the new file is in place, but a
 *    power failure may bring back the old one. Make the backup again.
 *  - INVALID: `path` is empty, a URI, ":memory:", the store's own file by any name, its log or journal, or
 *    named like a temporary file.
 *  - The key: a copy has that of the store unless `key` gives another, or SES_BACKUP_PLAIN none. To add a
 *    key, to remove it, or to change it with SES_BACKUP_COMPACT, the whole content is rewritten as with
 *    SES_BACKUP_COMPACT. A store that is replaced may have the old key or the new one, or none; with any
 *    other it returns KEY. INVALID: the key does not have SES_KEY_BYTES. MISUSE: a key is given and
 *    SES_BACKUP_PLAIN. UNSUPPORTED: the SQLite that is linked cannot encrypt files.
 *  - CANTOPEN: the folder does not exist, or no file can be created in it. CORRUPT: the store is damaged so
 *    badly that it cannot be copied whole; see ses_store_check for the rest.
 *
 * Codes: those of a write, INVALID, EXISTS, NOTASTORE, KEY, UNSUPPORTED, INTERRUPTED.
 */
SES_API int ses_store_backup(ses_store *store, const char *path, const ses_backup_options *options,
                             ses_error *error);
/*
 * Copies the whole store, as of one moment, into a store in memory, which is independent of it. `options` are
 * those of ses_open. The options of the other store are not copied. READONLY also: the store has a feature
 * that this version does not know and that forbids writing, as to a copy. A store with a key is read into
 * memory as a whole first, so it must be shorter than 2 GiB (NOMEM), and the SQLite that is linked must have
 * sqlite3_deserialize (UNSUPPORTED).
 *
 * Codes: those of a read, INVALID (the key), READONLY, FULL, UNSUPPORTED.
 */
SES_API int ses_open_copy(ses_store *store, const ses_open_options *options, ses_store **copy,
                          ses_error *error);

/* How much is checked. Each level includes those before it. */
typedef enum ses_check_level {
    SES_CHECK_QUICK = 0, /* the pages of the file, without its indexes */
    SES_CHECK_FULL = 1,  /* also the indexes, and that the row exists to which each row belongs */
    /* also every row: the log of each session, all that follows from it, artifacts, and whether the index of
     * words (see seslite_search.h) holds the words of the events and no others */
    SES_CHECK_LOG = 2
} ses_check_level;

/* The part of a store that a problem concerns. */
typedef enum ses_problem_kind {
    SES_PROBLEM_PAGE = 1,      /* the file: its pages, and what is on them */
    SES_PROBLEM_INDEX = 2,     /* an index does not match its table, or leads to another row */
    SES_PROBLEM_REFERENCE = 3, /* a row belongs to one that does not exist */
    SES_PROBLEM_NAME = 4,      /* the name of an app, user or session is not an id */
    SES_PROBLEM_NUMBER = 5,    /* numbers of a session are impossible, or contradict each other */
    SES_PROBLEM_COUNT = 6,     /* a session does not have as many events as it says */
    SES_PROBLEM_TIME = 7,      /* a time is impossible, or contradicts others */
    SES_PROBLEM_BODY = 8,      /* an event's text could not have been stored */
    SES_PROBLEM_EVENT = 9,     /* id, invocation, author or branch differ from the event's text */
    SES_PROBLEM_MARK = 10,     /* the marks of rewinds and compactions differ from the events */
    SES_PROBLEM_STATE = 11,    /* a session's own state does not follow from its log */
    SES_PROBLEM_BASE = 12,     /* the state kept for pruned events, or the initial state, is impossible */
    SES_PROBLEM_DETAIL = 13,   /* the title, the draft, an input, or which of its details a session has */
    SES_PROBLEM_LABEL = 14,    /* a label */
    SES_PROBLEM_PARENT = 15,   /* the session that a fork was made from */
    SES_PROBLEM_LEASE = 16,    /* a lease */
    SES_PROBLEM_SHARED = 17,   /* app: or user: state */
    SES_PROBLEM_COUNTER = 18,  /* a counter of sessions, versions or leases is wrong, or nearly used up */
    SES_PROBLEM_ARTIFACT = 19, /* an artifact, or its bytes; or bytes that a save that was killed has left */
    SES_PROBLEM_USAGE = 20,    /* the tally of tokens (seslite_usage.h) does not agree with the events */
    SES_PROBLEM_NEWER = 21     /* no damage: a later version has made it, and this one cannot check it */
} ses_problem_kind;

/* Returns a word for a SES_PROBLEM_*: "page", "index", "reference" and so on, or "?". The text is static. */
SES_API const char *ses_problem_name(int kind);

/* One problem, lent during the report: never make or copy this struct. */
typedef struct ses_problem {
    int kind;            /* SES_PROBLEM_* */
    const char *app;     /* NULL if the problem has none, or it is unknown */
    const char *user;    /* NULL if the problem has none, or it is unknown */
    const char *session; /* NULL if the problem has none, or it is unknown */
    int64_t seq;         /* the event's number; 0: not about an event */
    const char *message; /* what is wrong, and where */
} ses_problem;

typedef struct ses_check_options {
    size_t size;
    int level;     /* SES_CHECK_* */
    int64_t limit; /* the check ends after this many problems; 0: 100 */
    /* Called with each problem. Non-zero ends the check. It may use the store, but not close it. May be
     * NULL. */
    int (*report)(void *context, const ses_problem *problem);
    void *report_context;
    /* With SES_CHECK_LOG, called with about how many sessions were checked, and their total. Non-zero ends
     * the check with INTERRUPTED. May be NULL. */
    int (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_check_options;

/*
 * Checks the store as of one moment and changes nothing. `*problems` is the number of problems that were
 * found; 0 means that the store is sound. The call succeeds even if it finds damage: rows that cannot be read
 * are a problem, and the check continues with the next session. It needs as much memory as the state of one
 * session. All bytes of artifacts are compared with their hashes. (A store in memory is copied first.)
 * Writers do not wait for it, as for ses_store_backup, and ses_store_interrupt ends it.
 *
 * A check cannot find everything: it accepts a title, a time or a text that was changed to another valid one.
 *
 * TOONEW: a later version has added a feature since the store was opened, and this version would take what
 * belongs to it for damage.
 *
 * Codes: INVALID, TOONEW, and those of a read except CORRUPT.
 */
SES_API int ses_store_check(ses_store *store, const ses_check_options *options, int64_t *problems,
                            ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_TRANSFER_H */
