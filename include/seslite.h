/*
 * seslite: sessions of AI agents, kept in an SQLite file.
 *
 * A session is one conversation, as the Agent Development Kit (ADK) defines it: an append-only log of events,
 * and state. The words used below:
 *
 *  - State is a set of keys with JSON values. The prefix of a key is its scope: "app:" (all users and
 *    sessions of the app), "user:" (all sessions of one user in that app), none (that session), "temp:"
 *    (the current invocation, on the handle that appended it; never stored). Merged state is that of all
 *    scopes, its keys with their prefixes. A key is UTF-8 without a NUL, of at most 512 bytes after its
 *    prefix; what breaks this is INVALID, and any other character is allowed.
 *  - The tombstone is the string "__ADK_SENTINEL_REMOVED__" as a value: it removes the key, whoever writes
 *    it.
 *  - An invocation is one run of an agent, from a user's message to the final response. Its events share an
 *    invocation id.
 *  - The version of a session goes up by one with every stored event, and is always below 2^53. A session that
 *    is created under the name of a deleted one begins above every version the old one had.
 *
 * The rules that hold for every call, so that each comment below says only what is particular:
 *
 *  - Arguments come in this order: the object, the inputs, the outputs, and last a ses_error, which may be
 *    NULL. Outputs marked "may be NULL" can be left out; all other pointers must be given: a call that
 *    returns a code refuses NULL with MISUSE, the others must not be given it unless their comment says so.
 *  - A call returns 0, or a negative code, or a positive value whose meaning it states. The comments leave
 *    out the SES_ of codes: NOTFOUND is SES_NOTFOUND. After a negative code nothing has changed: neither
 *    the file, nor the handle, nor the outputs, except that an output handle or text is set to NULL.
 *  - Beside the codes that its comment names, a call that reads the file can return BUSY, IO, CORRUPT,
 *    INTERRUPTED and NOMEM; one that writes BUSY, READONLY, FULL, IO, CORRUPT and NOMEM. Rows that the library
 *    cannot have written are CORRUPT, whoever wrote them: they never keep a call going without end.
 *  - Text is UTF-8. JSON text comes as a pointer and a length in bytes; SES_NUL as the length means "up to
 *    the NUL". Ids and names of state keys cannot hold a NUL and are C strings. Inputs are copied: they need
 *    to live only as long as the call.
 *  - A `const char *` that comes out is borrowed; the comment says until when. A `char *` that comes out is
 *    the caller's, to be freed with ses_free. Both end in a NUL that the length does not count. (A ses_text
 *    is a pointer and a length, and need not.)
 *  - Times are microseconds since 1970-01-01 00:00:00 UTC, as int64_t. Sequence numbers begin at 1.
 *  - Options are structs whose first member, `size`, is sizeof of the struct. A member that is zero means
 *    its documented default, and NULL instead of options means all defaults. Later versions append members.
 *  - Threads: any thread may call anything on a ses_store at any time until ses_close. Everything else that is
 *    opened belongs to one thread at a time, a ses_session together with the views on it (ses_tracked);
 *    different ones of the same store may be used in parallel. Agents in parallel threads need a handle each.
 *  - Processes: several may have the same file open. A store does not survive fork(): in the child every
 *    call that needs it is refused with MISUSE, and so is opening that file there, as SQLite's locks are not
 *    inherited but its records of them are. Fork before opening, or exec.
 *  - Do not keep the file on a network file system, and do not copy, move or delete it while it is open
 *    (https://www.sqlite.org/howtocorrupt.html). A store stays on the file it was opened on, whatever becomes of
 *    the working directory and of links in the path. When that file is deleted, moved or replaced, every write is
 *    IO, and so is every read within a second.
 *  - The library never prints, exits, reads the environment, installs signal handlers, or changes settings
 *    of SQLite that belong to the whole process.
 */
#ifndef SESLITE_H
#define SESLITE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May be defined by the program: for a compiler that needs other words, or a parser that knows none. */
#ifndef SES_API
#if defined(__GNUC__)
#define SES_API __attribute__((visibility("default")))
#else
#define SES_API
#endif
#endif

/* ------------------------------------------------------------------------------------------------- codes */

/*
 * Every negative code: its name, number and meaning. Numbers are never reused.
 * `SES_CODES(X)` calls X(name, number, text) for each.
 */
#define SES_CODES(X)                                                                                \
    X(NOMEM, -1, "out of memory")                                                                   \
    X(MISUSE, -2, "the call itself is wrong: a missing argument, a closed handle, unknown options") \
    X(INVALID, -3, "a value breaks a rule: an id, a state key, the type of an event's field")       \
    X(JSON, -4, "the text is not strict JSON (RFC 8259)")                                           \
    X(NOTFOUND, -5, "no such session, artifact or file, or a template names a missing key")         \
    X(EXISTS, -6, "there already is one, and it is different")                                      \
    X(STALE, -7, "another writer came between; refresh the handle")                                 \
    X(BUSY, -8, "the whole busy timeout was waited and the file is still locked")                   \
    X(READONLY, -9, "the store, the file or the view cannot be written")                            \
    X(FULL, -10, "the disk is full")                                                                \
    X(IO, -11, "reading or writing the file failed")                                                \
    X(CORRUPT, -12, "the file is damaged")                                                          \
    X(NOTASTORE, -13, "the file is something else than a seslite store")                            \
    X(TOONEW, -14, "the store was written by a newer version of seslite")                           \
    X(LIMIT, -15, "larger than a limit allows")                                                     \
    X(INTERRUPTED, -16, "another thread cancelled the call")                                        \
    X(TYPE, -17, "the state value has another type than the one asked for")                         \
    X(RANGE, -18, "the value does not fit the type asked for: a number, or a lone surrogate")       \
    X(CANTOPEN, -19, "the file cannot be opened")                                                   \
    X(INTERNAL, -20, "the engine answered what it should not; please report it")                    \
    X(UNKNOWN, -21, "it cannot be known whether the commit took effect; send the same event again")

typedef enum ses_code {
    SES_OK = 0,
    /* Positive: success with something to say. */
    SES_PARTIAL = 1,   /* append: the event is `partial`, so nothing was stored or applied */
    SES_DUPLICATE = 2, /* append: this very event had been stored before; nothing was written again */
    SES_EXISTING = 3,  /* get or create: the session was already there */
    SES_ROW = 4,       /* cursor: here is an event */
    SES_ABSENT = 5,    /* reading state: there is no such key */
#define SES_CODE_ENUM_(name, number, text) SES_##name = number,
    SES_CODES(SES_CODE_ENUM_)
#undef SES_CODE_ENUM_
} ses_code;

/* "SES_NOTFOUND" for SES_NOTFOUND; "?" for a number that is no code. Static text. */
SES_API const char *ses_code_name(int code);
/* What the code means, in general. Static text. */
SES_API const char *ses_code_text(int code);

/*
 * What went wrong in one call. Filled when the call returns a negative code, cleared (code 0, empty message)
 * when it does not; needs no initialisation and no freeing.
 */
typedef struct ses_error {
    int code;          /* the code that the call returned */
    int64_t version;   /* after STALE the version that the session has now, else -1 */
    int engine_code;   /* of what failed below: SQLite's extended result code; else 0 */
    char sqlstate[6];  /* of a database server (five characters); else "" */
    int64_t offset;    /* byte offset in a JSON text of what was refused (JSON, INVALID, LIMIT), else -1 */
    int64_t index;     /* the event of a batch that was refused, counted from 0, else -1 */
    char message[488]; /* what, where, and what to do about it; UTF-8, cut to fit */
} ses_error;

/* -------------------------------------------------------------------------------------- texts and memory */

#define SES_NUL ((size_t)-1)

/* A text and its length: into a call, `len` may be SES_NUL; what comes out need not end in a NUL. */
typedef struct ses_text {
    const char *text;
    size_t len; /* bytes */
} ses_text;

/*
 * The allocator of a store, in the shape of malloc, realloc and free, each with a context. All three must be
 * given, be callable from any thread, and outlive everything the store made. `resize` and `release` get only
 * what `allocate` or `resize` returned and never NULL; `allocate` never gets 0. SQLite's own memory does not
 * go through it: that is the application's to configure (https://www.sqlite.org/malloc.html).
 */
typedef struct ses_allocator {
    size_t size;
    void *context;
    void *(*allocate)(void *context, size_t bytes);
    void *(*resize)(void *context, void *memory, size_t bytes);
    void (*release)(void *context, void *memory);
} ses_allocator;

/* Frees a text that a call handed over as `char *`. NULL is fine. The store may be closed already. */
SES_API void ses_free(char *text);

/* ------------------------------------------------------------------------------------------- open, close */

typedef struct ses_store ses_store;

/* Flags of ses_open_options. */
typedef enum ses_open_flags {
    /* Never write; every write is refused with READONLY. The file must exist. SQLite may still need to make files
     * beside a store that uses WAL: CANTOPEN where it cannot, except on a read-only file system without a log. */
    SES_OPEN_READ_ONLY = 0x1,
    SES_OPEN_MUST_EXIST = 0x2 /* do not create the file: NOTFOUND when it is not there */
} ses_open_flags;

/* When is a write on disk? See https://www.sqlite.org/pragma.html#pragma_synchronous. With a rollback journal NORMAL
 * means FULL: there SQLite's NORMAL can damage the file when the power fails. */
typedef enum ses_synchronous {
    SES_SYNC_FULL = 0,  /* before the call returns: it survives the loss of power */
    SES_SYNC_NORMAL = 1 /* soon: the last writes can be lost with the power, never with the process */
} ses_synchronous;

typedef enum ses_journal {
    SES_JOURNAL_AUTO = 0,    /* WAL where it is safe, a rollback journal on network file systems */
    SES_JOURNAL_WAL = 1,     /* WAL, even where it does not look safe */
    SES_JOURNAL_ROLLBACK = 2 /* a rollback journal: readers and the writer wait for each other */
} ses_journal;

typedef enum ses_checkpoint {
    SES_CHECKPOINT_AUTO = 0,    /* the store copies the write-ahead file into the database as it grows */
    SES_CHECKPOINT_EXTERNAL = 1 /* another program does (Litestream and the like); the store never does */
} ses_checkpoint;

typedef struct ses_open_options {
    size_t size;
    unsigned flags;          /* SES_OPEN_* */
    int synchronous;         /* SES_SYNC_* */
    int journal;             /* SES_JOURNAL_* */
    int64_t busy_timeout_ms; /* how long a call waits for other writers; 0: 10,000; negative: not at all */
    size_t max_event_bytes;  /* the longest event or initial state; 0: 16 MiB; at most 512 MiB */
    unsigned max_readers;    /* connections for reading, opened when first needed; 0: 4; at most 64 */
    const ses_allocator *allocator; /* copied; NULL: malloc */
    /* The clock for sessions and events that bring no time: microseconds since 1970. NULL: the system's. */
    int64_t (*clock)(void *context);
    void *clock_context;
    /*
     * Makes ids of sessions and events that bring none: writes a NUL-terminated id of at most `capacity - 1`
     * bytes and returns 0, or returns non-zero, which fails the call with INVALID. NULL: lower-case UUIDs of
     * version 7 (RFC 9562), ascending within the store. Called from any thread.
     */
    int (*make_id)(void *context, char *id, size_t capacity);
    void *id_context;
    int checkpoint; /* SES_CHECKPOINT_* */
} ses_open_options;

/*
 * Opens the store in the file `path` (UTF-8), creates it (mode 0600) when there is none, and brings an older
 * schema up to date in place. ":memory:" is a store in memory that lives until it is closed.
 * A file that is not a store is NOTASTORE, one of a newer version TOONEW; both are left untouched.
 * CORRUPT, with a name: a table, index or guard (trigger) of the store is missing or was changed, or an index that
 * is unique, partial or on an expression was added to one of its tables. Tables, views, triggers and plain indexes
 * of one's own are fine; the library runs no view and no trigger.
 * Also: NOTFOUND, CANTOPEN, READONLY, CORRUPT, BUSY, IO, FULL, NOMEM, MISUSE. FULL includes a write past
 * RLIMIT_FSIZE, provided that the program ignores SIGXFSZ.
 */
SES_API int ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);

/*
 * Closes the store. From the moment this is called, no other call on that pointer may begin: its memory may be
 * gone. Calls of other threads that are under way are waited for, except those that use the store only for its
 * allocator: ses_text_make, ses_output_delta, and opening a builder or a content. The last connection to close
 * a file copies what its write-ahead file still holds, however long that takes: after another program's long
 * read transaction it can be gigabytes (see wal_bytes).
 *
 * Sessions, cursors, views and pages may outlive the store, and be closed later. What they hold can still be
 * looked at; calls on them that need the store are MISUSE from now on. NULL is fine.
 */
SES_API void ses_close(ses_store *store);

/* ---------------------------------------------------------------------------------------------- sessions */

/*
 * Names one session. Ids are byte strings, compared byte by byte: valid UTF-8, 1 to 512 bytes. Anything else
 * is INVALID at every call. The wrong app or user is the same as absent.
 */
typedef struct ses_key {
    const char *app;
    const char *user;
    const char *session; /* NULL is allowed on create only: an id is made */
} ses_key;

enum { SES_ID_MAX = 512 /* bytes in an id, and in a state key after its prefix */ };

/*
 * A session as the ADK has it: id, times, version, merged state, events. It is a snapshot, taken when it was
 * created or read, that its own appends move forward; ses_refresh catches up with other writers.
 */
typedef struct ses_session ses_session;

/*
 * An event as it was stored. Borrowed from a session or a cursor, which says until when. Later versions
 * append members, so never copy the struct by value or make one. `json` is handed out as it stands in the
 * file: where another program has written there, it may not be JSON.
 */
typedef struct ses_event {
    int64_t seq;     /* 1, 2, 3 ... in the order of commit */
    int64_t time_us; /* its timestamp */
    const char *id;
    const char *invocation_id; /* "" when the event has none */
    const char *author;        /* "" when the event has none */
    const char *branch;        /* NULL when the event has none */
    const char *json;          /* the event: the bytes that came, without `temp:` keys */
    size_t json_len;
} ses_event;

/* Which events? `which` combines these; 0 is all of them. Time and sequence first, then the newest N. */
typedef enum ses_range_parts {
    SES_RANGE_NONE = 0x1,   /* no events */
    SES_RANGE_NEWEST = 0x2, /* the newest `newest` of what is left */
    SES_RANGE_SINCE = 0x4,  /* those whose time is `since_us` or later */
    SES_RANGE_SEQ = 0x8     /* those from sequence number `first_seq` to `last_seq`, both included */
} ses_range_parts;

typedef struct ses_range {
    size_t size;
    unsigned which;
    int64_t newest; /* 0 or more */
    int64_t since_us;
    int64_t first_seq;
    int64_t last_seq; /* INT64_MAX: to the end */
} ses_range;

/*
 * Options of calls that have none yet: a call that may wait takes options, so that later versions can give it a
 * deadline, say. NULL is the same.
 */
typedef struct ses_call_options {
    size_t size;
    unsigned flags; /* 0 */
} ses_call_options;

typedef struct ses_create_options {
    size_t size;
    const ses_range *range; /* ses_get_or_create: which events to read of a session that exists; NULL: all */
    const int64_t *create_us; /* the time of creation (imports); NULL: the store's clock */
} ses_create_options;

typedef struct ses_get_options {
    size_t size;
    const ses_range *range; /* which events to read; NULL: all */
} ses_get_options;

/*
 * Creates a session whose initial state is a JSON object (`state` NULL: empty), in one transaction. `app:`
 * and `user:` keys go to their scopes, `temp:` keys are dropped, the tombstone removes a key. `*session`
 * (may be NULL) then shows all scopes merged; close it with ses_session_close.
 * EXISTS: there is such a session; nothing was changed, shared scopes included.
 * Also: MISUSE, INVALID, JSON, LIMIT, BUSY, READONLY, FULL, IO, CORRUPT, NOMEM, UNKNOWN.
 */
SES_API int ses_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                       const ses_create_options *options, ses_session **session, ses_error *error);

/*
 * Reads a session, or creates it with `state` when there is none: 0 when it was created, SES_EXISTING when it
 * was there (then `state` is checked but not used). One transaction: two callers never both create it.
 * Codes as for ses_create, without EXISTS.
 */
SES_API int ses_get_or_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                              const ses_create_options *options, ses_session **session, ses_error *error);

/*
 * Reads a session: state and events of one moment, whatever others write meanwhile.
 * NOTFOUND: there is none. Also: MISUSE, INVALID, BUSY, IO, CORRUPT, INTERRUPTED, NOMEM.
 */
SES_API int ses_get(ses_store *store, const ses_key *key, const ses_get_options *options,
                    ses_session **session, ses_error *error);

/*
 * Brings the handle up to date with what others wrote, by reading the events it lacks and the shared scopes.
 * A handle that was read with SES_RANGE_NONE still keeps no events. `temp:` values stay.
 * NOTFOUND: the session was deleted. Also: MISUSE, BUSY, IO, CORRUPT, INTERRUPTED, NOMEM.
 */
SES_API int ses_refresh(ses_session *session, const ses_call_options *options, ses_error *error);

/* Frees the handle, its events and its `temp:` values. Nothing stored changes. NULL is fine. */
SES_API void ses_session_close(ses_session *session);

/* The parts of the snapshot. Texts are borrowed until the handle is closed. */
SES_API const char *ses_session_app(const ses_session *session);
SES_API const char *ses_session_user(const ses_session *session);
SES_API const char *ses_session_id(const ses_session *session);
SES_API int64_t ses_session_version(const ses_session *session);    /* raised by every stored event */
SES_API int64_t ses_session_last_seq(const ses_session *session);   /* 0 before the first event */
SES_API int64_t ses_session_stored(const ses_session *session);     /* how many events are stored */
SES_API int64_t ses_session_created_us(const ses_session *session); /* microseconds */
SES_API int64_t ses_session_updated_us(const ses_session *session); /* microseconds; never goes back */

/*
 * The events the handle holds, oldest first: those of its range, and those appended or refreshed since
 * (none at all for SES_RANGE_NONE). An event is borrowed until the handle is closed; NULL past the end.
 */
SES_API size_t ses_session_event_count(const ses_session *session);
SES_API const ses_event *ses_session_event(const ses_session *session, size_t index);

/* ------------------------------------------------------------------------------------------------ append */

typedef enum ses_append_flags {
    SES_APPEND_ANYWAY = 0x1, /* a handle that is behind catches up in the same transaction, not STALE */
    SES_APPEND_VERSION =
        0x2 /* by key only (a handle has its own): STALE unless the session is at `version` */
} ses_append_flags;

typedef struct ses_append_options {
    size_t size;
    unsigned flags;  /* SES_APPEND_* */
    int64_t version; /* with SES_APPEND_VERSION */
    /*
     * What the caller has seen of shared keys, a JSON object: {"user:n":41}. The value is the stored bytes, as
     * ses_state_get_by_key gives them; the tombstone stands for a key that is not there. STALE, naming the key, when
     * something else is stored now. So a value that was computed from a shared key never replaces a newer one:
     * read again, compute anew. Every member is checked, once, before the first event. INVALID: a key is neither
     * app: nor user:. NULL: nothing is expected. With SES_APPEND_ANYWAY it is not looked at.
     */
    const char *expected;
    size_t expected_len;
    /*
     * Changes of state beside the event, a JSON object: {"user:n":42}. They are put into its `actions.stateDelta`, which
     * is made where there is none, and win: a key that both write stands in the stored event once, with the value given
     * here. Values keep their bytes, keys are spelled as the library spells strings; all other bytes of the event stay.
     * Of a key that appears twice the last value counts. A retry with the same event and the same changes is
     * SES_DUPLICATE. NULL: none. MISUSE for a batch, whose events carry their own.
     */
    const char *delta;
    size_t delta_len;
} ses_append_options;

/* What became of one event. This struct is an output and will not change. */
typedef struct ses_appended {
    int status;         /* 0: stored; SES_PARTIAL; SES_DUPLICATE */
    int64_t seq;        /* its sequence number, also of a duplicate; 0 when partial */
    int64_t version;    /* the session's version after the call; 0 when partial */
    int64_t time_us;    /* its timestamp, given or made; 0 when partial */
    int64_t updated_us; /* the session's update time after the call; 0 when partial */
    char made_id[64]; /* the id the library made when the event had none; else "" (also when it is longer) */
} ses_appended;

/*
 * Appends one event, a JSON object as the ADK writes it, in one transaction: checks the session, gives the
 * event the next sequence number, stores it, applies `actions.stateDelta`, and updates the session's time and
 * version. On success the handle includes the event; after any failure nothing is stored and the handle is as
 * it was.
 *
 *  - The store reads id, invocationId, author, branch, timestamp, partial, actions.stateDelta,
 *    actions.rewindBeforeInvocationId, and whether there is an actions.compaction, each in camelCase or in
 *    snake_case (both at once, or one twice, is INVALID, whatever their values; a null counts as absent). Texts among them hold no NUL and no lone surrogate. All other bytes are stored as they came,
 *    white space around the object included.
 *  - `temp:` keys of the delta are cut out of the stored event and become visible on this handle, until an
 *    event of another invocation, or of none, is appended through it, or one is begun or ended there.
 *  - A value replaces the key's whole value; the tombstone removes the key.
 *  - `id` and `timestamp` are added where missing, at the front of the object. A timestamp is a number of
 *    seconds since 1970, a number of milliseconds from 1e11 on, or RFC 3339 text; it is read to the nearest
 *    microsecond.
 *  - `partial: true`: nothing is stored or applied, nor is the session looked at; SES_PARTIAL.
 *  - An id that is already in the session: SES_DUPLICATE when the stored event is the same (a retry is
 *    safe), EXISTS when it differs. Both come before STALE; a handle that was behind is up to date after
 *    SES_DUPLICATE, and shows the `temp:` values of the event that was offered (a handle that had the event
 *    does not).
 *  - STALE: another writer has appended since the handle was read, or a shared key is not as `expected`; nothing
 *    is written.
 *  - NOTFOUND: the session was deleted.
 *
 * `appended` may be NULL. Also: JSON, INVALID, LIMIT, BUSY, READONLY, FULL, IO, CORRUPT, NOMEM.
 */
SES_API int ses_append(ses_session *session, const char *event, size_t event_len,
                       const ses_append_options *options, ses_appended *appended, ses_error *error);

/* The same without a handle: appends whatever the version, unless told with SES_APPEND_VERSION. The version of a
 * session that was deleted is STALE for the next one of its name. */
SES_API int ses_append_by_key(ses_store *store, const ses_key *key, const char *event, size_t event_len,
                              const ses_append_options *options, ses_appended *appended, ses_error *error);

/*
 * Appends `count` events in order in one transaction: all or none. `appended` (may be NULL) has room for
 * `count`; partial and duplicate events are told apart there. On failure `error->index` says which event.
 */
SES_API int ses_append_batch(ses_session *session, const ses_text *events, size_t count,
                             const ses_append_options *options, ses_appended *appended, ses_error *error);
SES_API int ses_append_batch_by_key(ses_store *store, const ses_key *key, const ses_text *events,
                                    size_t count, const ses_append_options *options, ses_appended *appended,
                                    ses_error *error);

/* ------------------------------------------------------------------------------------------- invocations */

/*
 * A handle is in one invocation at a time, or in none, as after it was opened. Whoever works in it,
 * sub-agents included, sees its `temp:` values on this handle. Appending an event of another invocation
 * begins that one; an event of none ends it.
 *
 * Begins one: `temp:` values of another are gone. `id` NULL: "e-" and an id of the store's making, as the
 * ADK has it; or that of an event (ses_event.invocation_id), to go on with it, without its `temp:` values.
 * Beginning the current one again changes nothing. INVALID: the id breaks the rules of ids; the empty one
 * is none.
 */
SES_API int ses_invocation_begin(ses_session *session, const char *id, ses_error *error);
/* The id of the current one, for its events; NULL: there is none. Borrowed until the handle is in another. */
SES_API const char *ses_invocation_id(const ses_session *session);
/* Ends the current invocation on this handle: its `temp:` values are gone. */
SES_API int ses_invocation_end(ses_session *session, ses_error *error);

/* ------------------------------------------------------------------------------------------------- state */

/* The prefixes of the scopes, and the JSON string that removes a key as its value. */
#define SES_PREFIX_APP "app:"
#define SES_PREFIX_USER "user:"
#define SES_PREFIX_TEMP "temp:"
#define SES_TOMBSTONE "\"__ADK_SENTINEL_REMOVED__\""

/*
 * The state a handle shows: the scopes merged (keys carry their prefix), `temp:` values of the invocation
 * included. A look-up costs the same whatever the size of the state. Texts are borrowed until the next call
 * that appends, refreshes, ends the invocation or closes the handle.
 *
 * Another program may have written to the file: a value that is not JSON, or a key that breaks the rules of its
 * scope, is CORRUPT, and the message names the key. This is found when it is first shown, by these calls, by
 * views and by templates; the other keys can still be read, one by one.
 */

/* All of it as one JSON object: app, user, session, temp, each by key; values with the bytes that went in.
 * `len` may be NULL. */
SES_API int ses_state_json(const ses_session *session, const char **json, size_t *len, ses_error *error);

/* One value as JSON text. `len` may be NULL. A key that is missing is no error: this call and the next ones
 * return SES_ABSENT, and leave a number or flag as it was, so that it can hold a default; a text is NULL, and
 * its length 0. */
SES_API int ses_state_get(const ses_session *session, const char *name, const char **json, size_t *len,
                          ses_error *error);

/*
 * One value as a C type, or SES_ABSENT. TYPE: the value is of another JSON type; RANGE: the number does not
 * fit.
 *  - string: unescaped UTF-8; may hold NULs, so `len` (may be NULL) tells its length. RANGE when it holds a
 *    lone surrogate escape, which UTF-8 cannot express.
 *  - int64: a number that is an integer (42, 42.0, 4.2e1), exactly. TYPE for 1.5.
 *  - double: the nearest double. RANGE for 1e400.
 */
SES_API int ses_state_get_string(const ses_session *session, const char *name, const char **text, size_t *len,
                                 ses_error *error);
SES_API int ses_state_get_int64(const ses_session *session, const char *name, int64_t *value,
                                ses_error *error);
SES_API int ses_state_get_double(const ses_session *session, const char *name, double *value,
                                 ses_error *error);
SES_API int ses_state_get_bool(const ses_session *session, const char *name, int *value, ses_error *error);

/* Walks the state in the order of ses_state_json: `index` from 0 to count - 1. NOTFOUND past the end.
 * The first call after a change sorts the keys. Outputs may be NULL. */
SES_API size_t ses_state_count(const ses_session *session);
SES_API int ses_state_at(const ses_session *session, size_t index, const char **name, const char **json,
                         size_t *len, ses_error *error);

/* The same without a handle: the whole merged state, or one key, as it is stored now. The text is the
 * caller's (ses_free). `len` may be NULL. SES_ABSENT: no such key; NOTFOUND: no such session. */
SES_API int ses_state_json_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                  char **json, size_t *len, ses_error *error);
SES_API int ses_state_get_by_key(ses_store *store, const ses_key *key, const char *name,
                                 const ses_call_options *options, char **json, size_t *len, ses_error *error);

/* ------------------------------------------------------------------------------------------------ cursor */

typedef struct ses_cursor ses_cursor;

typedef struct ses_cursor_options {
    size_t size;
    int backward;           /* 1: newest first */
    const ses_range *range; /* NULL: all events */
} ses_cursor_options;

/*
 * Walks the events of a session in constant memory, however long the log is. The cursor reads a page at a
 * time and keeps no transaction open in between. It walks the events that were there when it was opened:
 * later ones are not seen; when the session is deleted meanwhile, the walk ends with NOTFOUND.
 */
SES_API int ses_cursor_open(ses_store *store, const ses_key *key, const ses_cursor_options *options,
                            ses_cursor **cursor, ses_error *error);
/* SES_ROW and an event, borrowed until the next call on the cursor; or 0 and NULL at the end. */
SES_API int ses_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error);
/* Frees the cursor. Returns (and tells) the first error that ses_cursor_next met, so that a loop may check
 * only here. NULL is fine. */
SES_API int ses_cursor_close(ses_cursor *cursor, ses_error *error);

/* ------------------------------------------------------------------------------------------ list, delete */

typedef enum ses_order {
    SES_ORDER_NEWEST = 0, /* newest update first; ties by session id */
    SES_ORDER_OLDEST = 1, /* oldest update first; ties by session id */
    SES_ORDER_CREATED = 2 /* in the order in which they were created in this store */
} ses_order;

typedef struct ses_list_options {
    size_t size;
    int order;         /* SES_ORDER_* */
    size_t limit;      /* sessions a page; 0: 100; at most 10,000 */
    const char *token; /* where the page begins: the token of the page before; NULL: at the beginning */
} ses_list_options;

typedef struct ses_page ses_page;

/*
 * One page of the sessions of an app's user, or of all its users when `user` is NULL: merged state, no
 * events, all of one moment. An app or user without sessions gives an empty page.
 *
 * Pages follow each other by token, which is a place in the order and not a count: by order of creation,
 * every session that exists throughout the walk is seen exactly once, whatever is created or deleted
 * meanwhile; by update time, a session that changes moves to its new place. A token that does not come from a
 * list of the same app, user and order is INVALID.
 */
SES_API int ses_list(ses_store *store, const char *app, const char *user, const ses_list_options *options,
                     ses_page **page, ses_error *error);
SES_API size_t ses_page_count(const ses_page *page);
/* Borrowed until the page is closed, to be read with ses_session_* and ses_state_*; NULL past the end. */
SES_API const ses_session *ses_page_session(const ses_page *page, size_t index);
/* The token of the next page, borrowed until this page is closed; NULL when this is the last page. */
SES_API const char *ses_page_token(const ses_page *page);
SES_API void ses_page_close(ses_page *page);

/*
 * Deletes the session, its events and its session state; `app:` and `user:` state stay. A session that is not
 * there is no error: `*deleted` (may be NULL) says 1 or 0.
 */
SES_API int ses_delete(ses_store *store, const ses_key *key, const ses_call_options *options,
                       int64_t *deleted, ses_error *error);

/*
 * Deletes everything of a user in an app: all sessions and the `user:` state, in one transaction. `*sessions`
 * and `*state_keys` (each may be NULL) say how many there were.
 */
SES_API int ses_delete_user(ses_store *store, const char *app, const char *user,
                            const ses_call_options *options, int64_t *sessions, int64_t *state_keys,
                            ses_error *error);

/* ------------------------------------------------------------------------- what a store tells, and makes */

/* What a store runs on. The texts are static or live as long as the store is open. */
typedef struct ses_info {
    size_t size;        /* in: sizeof(ses_info) */
    const char *engine; /* "sqlite" */
    const char *path;   /* as given to ses_open */
    int schema_version; /* of what is stored */
    int read_only;      /* 1: opened read-only */
    struct {
        const char *journal_mode;   /* "wal", "delete" or "memory": what SQLite says it uses */
        const char *journal_reason; /* why it is not WAL; "" when it is */
        const char *version;        /* of the SQLite that is linked: "3.40.1" */
        const char *bugs;        /* known corruption bugs of that version that concern a store; "" for none */
        const char *reserved[4]; /* NULL */
    } sqlite;                    /* of this engine only; NULLs for another */
} ses_info;

SES_API int ses_store_info(ses_store *store, ses_info *info, ses_error *error);

/* What a store has done since it was opened, and its size now. Counts are of this store, not of the file. */
typedef struct ses_stats {
    size_t size;         /* in: sizeof(ses_stats) */
    int64_t events;      /* stored */
    int64_t commits;     /* write transactions; events / commits is how many share one on average */
    int64_t write_calls; /* calls that wrote, or tried to */
    int64_t write_waits; /* of these, how many waited for one another */
    int64_t read_calls;
    int64_t reader_waits; /* waits for a reading connection, all being in use */
    int64_t readers_open; /* reading connections */
    int64_t readers_in_use;
    struct {
        int64_t busy_waits;         /* pauses for locks that other processes held */
        int64_t busy_us;            /* their time */
        int64_t cache_hits;         /* pages found in SQLite's page caches */
        int64_t cache_misses;       /* pages read from the file */
        int64_t checkpoints;        /* runs */
        int64_t checkpoint_us;      /* their time */
        int64_t checkpoint_turn_us; /* of it: on the writing connection, so that writers waited */
        int64_t wal_pages;          /* in use in the write-ahead file, as of this store's last commit */
        int64_t
            wal_bytes; /* of the write-ahead file; above 24 MB a reader keeps it from being copied, or did */
        int64_t file_bytes;  /* of the database file; 0 in memory */
        int64_t reserved[6]; /* 0 */
    } sqlite;                /* of this engine only; zeros for another */
} ses_stats;

/* Cheap: a few counters, and the sizes of two files. */
SES_API int ses_store_stats(ses_store *store, ses_stats *stats, ses_error *error);

/*
 * Cancels the calls of other threads that are reading from this store at this moment: they return
 * INTERRUPTED, and nothing has changed. Calls that write are not touched, nor those that may write
 * (ses_get_or_create), nor calls that come later.
 */
SES_API int ses_store_interrupt(ses_store *store, ses_error *error);

/* An id as the store makes them (see make_id), for events and function calls of the caller's. LIMIT:
 * `capacity`, with the NUL, is too small; 37 is enough for the library's own. Also: INVALID (make_id
 * failed), IO (no random bytes). */
SES_API int ses_store_make_id(ses_store *store, char *id, size_t capacity, ses_error *error);

/* ---------------------------------------------------------------------------------------------- versions */

/* The version of this header. tools and packages read it from here and nowhere else. */
#define SES_VERSION_MAJOR 0
#define SES_VERSION_MINOR 1
#define SES_VERSION_PATCH 0
#define SES_VERSION_NUMBER (SES_VERSION_MAJOR * 1000000 + SES_VERSION_MINOR * 1000 + SES_VERSION_PATCH)

/* The version of the schema that this header's library writes (the file's `PRAGMA user_version`). */
#define SES_SCHEMA_VERSION 1

/* The version of the library that is linked: "0.1.0", and as SES_VERSION_NUMBER. */
SES_API const char *ses_version(void);
SES_API int ses_version_number(void);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_H */
