/*
 * seslite: sessions of AI agents in an SQLite file.
 *
 * A session is one conversation, as the Agent Development Kit (ADK) defines it: an append-only log of events,
 * and state. This program opens a store, gets a session or creates it, appends an event and prints the state:
 *
 *     const ses_key key = {.app = "my_app", .user = "alice", .session = "s1"};
 *     const char *event = "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"topic\":\"travel\"}}}";
 *     const char *json = NULL;
 *     ses_store *store = NULL;
 *     ses_session *session = NULL;
 *     ses_error error;
 *
 *     if (ses_open("agents.db", NULL, &store, &error) < 0 ||
 *         ses_get_or_create(store, &key, "{\"user:lang\":\"en\"}", SES_NUL, NULL, &session, &error) < 0 ||
 *         ses_append(session, event, SES_NUL, NULL, NULL, &error) < 0 ||
 *         ses_state_json(session, &json, NULL, &error) < 0)
 *         fprintf(stderr, "%s\n", error.message);
 *     else
 *         puts(json);
 *     ses_session_close(session);
 *     ses_close(store);
 *
 * At its end this header includes the rest of the calls:
 *
 *  - seslite_history.h: the state at any point of a log; rewind, cut and fork; pruning and expiry.
 *  - seslite_live.h: leases, which make the turns of a session run one at a time, and following.
 *  - seslite_transfer.h: sessions in and out, backup and check.
 *
 * Other headers are not included: seslite_agent.h has calls for agent frameworks, seslite_artifact.h keeps
 * files of sessions and users, seslite_draft.h keeps a message that grows, seslite_inbox.h keeps inputs that
 * wait for their turn, seslite_search.h finds events by words, seslite_memory.h remembers for later sessions
 * what was said, seslite_usage.h adds up the tokens that models have used, seslite_erase.h erases what must
 * not be kept from events that stay, seslite_cjson.h has calls for programs that use cJSON, and
 * seslite_postgres.h and seslite_mysql.h open a store on a server.
 *
 * Three things to know first:
 *
 *  - An append is final. When it returns SES_OK the event is committed, with its changes of state, and only
 *    ses_redact can change it. Give events an `id`, and an append can be repeated after any failure: the
 *    event is stored once. The values of "temp:" keys are never stored.
 *  - A handle is a snapshot. It does not see what others append, and an append through it then returns STALE:
 *    call ses_refresh and append again. Any thread may use a store; a handle belongs to one thread at a time.
 *  - Check every code. A negative one is a failure, after which nothing has changed, except perhaps after
 *    UNKNOWN. A `const char *` output is borrowed, from the handle for example; free a `char *` with
 *    ses_free.
 *
 * The words used below:
 *
 *  - State is a set of keys with JSON values. The prefix of a key is its scope. "app:" keys are shared by all
 *    users and sessions of the app, and "user:" keys by all sessions of one user in that app. A key without a
 *    prefix belongs to its session. "temp:" keys live for the current invocation, on the handle that appended
 *    them, and are never stored. Merged state is the state of all scopes; its keys carry their prefixes.
 *  - A state key is UTF-8, holds no NUL, and has at most 512 bytes after its prefix. Every other character is
 *    allowed. Any other key is rejected with INVALID.
 *  - The tombstone is the string "__ADK_SENTINEL_REMOVED__". Writing it as a value removes the key. Only this
 *    exact spelling counts: the same string written with an escape is an ordinary value.
 *  - An invocation is one run of an agent, from a user's message to the final response. Its events share an
 *    invocation id.
 *  - The version of a session is a number below 2^53. Every stored event and every cut raises it by one. A
 *    session that is created under the name of a deleted one starts above every version that the deleted one
 *    had. So within one store a version stands for one log, and it says nothing about the session of that
 *    name in another store: an import keeps the versions of the export where it can, and two stores that went
 *    on apart give the same versions to different logs. The same is true of a store that lost its newest
 *    commits: a file that was restored from a backup, or a server that failed over to a standby which was
 *    behind. Throw away handles, and versions that you keep elsewhere, from before that.
 *
 * These rules hold for every call. The comments below do not repeat them.
 *
 *  - Arguments come in this order: the object, the inputs, the options, the outputs, and last a ses_error,
 *    which may be NULL. An output can be NULL only where the comment says so. All other pointers are
 *    required: a call that returns a code rejects NULL with MISUSE, and any other call must not be given NULL
 *    unless its comment allows it.
 *  - A call returns 0, a negative code, or a positive value whose meaning its comment states. Comments write
 *    codes without SES_: NOTFOUND is SES_NOTFOUND.
 *  - After a negative code nothing has changed: not the file, not the handle, and not the outputs, except
 *    that an output handle or text is set to NULL. Only after UNKNOWN may the file have changed.
 *  - UNKNOWN: the call wrote, and its commit failed so late that all of it may be stored, or nothing. A disk
 *    that cannot flush does that, as does a server that goes away. It is returned only when the library
 *    cannot prove that nothing is stored. Reads then show what is stored now. In a file with a write-ahead
 *    log, a change that they do not show can still appear if every process that has the file open dies before
 *    the next successful write to it. The handle is as before, and ses_refresh brings it up to date. An
 *    append can be repeated: an event with the same id is stored once (see ses_append).
 *  - A missing state key is not an error: the getters return the positive SES_ABSENT. They set a text to NULL
 *    and its length to 0, and leave a number or flag as it was, so that it can hold a default.
 *  - "Codes:" lists every negative code of a call. Those of a read are MISUSE, BUSY, IO, CORRUPT, CANTOPEN,
 *    INTERRUPTED, INTERNAL and NOMEM. Those of a write are MISUSE, BUSY, READONLY, FULL, IO, CORRUPT,
 *    CANTOPEN, INTERNAL, NOMEM and UNKNOWN.
 *  - CORRUPT means that the file holds rows that the library cannot have written, whoever wrote them; such
 *    rows never keep a call running without end. INTERNAL means that SQLite returned something unexpected.
 *  - Three cases are not listed. A call with a limit can return BUSY and INTERRUPTED (see Limits). Every call
 *    that writes can return CONSTRAINT: a table of your own has a foreign key to one of the store's, and what
 *    the call would remove is referred to there. The message names the table. And a read may first have to
 *    recover the file after another program crashed; it can then also return READONLY or FULL.
 *  - Text is UTF-8. JSON text, and other text that may hold a NUL, is passed as a pointer and a length in
 *    bytes; a length of SES_NUL means that the text ends at its NUL. The library copies its inputs, so they
 *    only need to live as long as the call.
 *  - Ids and names of state keys are C strings and cannot hold a NUL. Authors of bindings: reject a NUL
 *    inside a string before the call, or the library sees only the part in front of it.
 *  - A `const char *` output is borrowed, and the comment says until when. A `char *` output belongs to the
 *    caller, who frees it with ses_free. Both end in a NUL that the length does not count. (A ses_text is a
 *    pointer and a length, and need not end in a NUL.)
 *  - Times are microseconds since 1970-01-01 00:00:00 UTC, as int64_t. The times of events and
 *    sessions lie in the years 0 to 9999; any other is rejected with INVALID. Sequence numbers start at 1.
 *  - Lengths, and numbers of things that a call holds in memory, are size_t; numbers of what is stored are
 *    int64_t. An enumerator is passed as an int, and flags are an unsigned, so that both can grow.
 *  - Options are structs. Their first member, `size`, is set to sizeof the struct. A zero member means its
 *    documented default, and NULL instead of options means all defaults. SES_OPTIONS makes them. A flag or a
 *    kind that this version does not know is rejected with MISUSE, and so are flags that exclude each other,
 *    and members of a later version that are not zero. A number that must not be negative, or is above its
 *    limit, is INVALID; in the options of a call that opens a store it is MISUSE.
 *  - Structs: later versions append members to one that begins with `size`, which its owner sets. In one that
 *    a call fills, members that the library does not know become 0. A struct that the library makes and lends
 *    grows, too: never make one, copy one or put one into an array. Every other struct stays as it is, and
 *    anybody may make and copy it. The comment above a struct says so, if it has no `size`.
 *  - Threads: any thread may call anything on a ses_store at any time until ses_close. Every other object
 *    belongs to one thread at a time. A ses_session and the views on it (ses_tracked) belong to the same
 *    thread. Different objects of one store may be used in parallel, so agents that run in parallel threads
 *    need a handle each.
 *  - Callbacks: a function that is passed to a call, or in its options, runs on the thread of that call and
 *    before it returns. Those of a store or a follower (ses_open_options, ses_allocator,
 *    ses_follow_options.notify) may run on any thread, on several at a time, and must not call the library.
 *    One that can fail returns a negative code, which the call then returns, and may write a message into its
 *    `error`, which is never NULL. A negative number that is not a code becomes IO, and a positive one that
 *    its comment does not name is MISUSE. If a function that is called with progress returns any number but
 *    0, the call ends as its comment says.
 *  - Processes: several processes may have the same file open.
 *  - Features: a later version may add features to a store that this one does not know. One that is derived
 *    from the rest, such as an index of words, changes nothing here. With one that forbids writing, opening
 *    returns READONLY unless the store is opened for reading only. With any other, opening returns TOONEW.
 *    The message names the feature. Each connection looks for features when it is opened, and each
 *    transaction that writes looks again if another program has written. So a store that was open before a
 *    feature was added returns the same codes from then on, except that connections that are already open go
 *    on reading. On a server such a store always returns READONLY for a write. An event that a later version
 *    stored in another form than text returns UNSUPPORTED when it is read, and so does what depends on which
 *    events are live, in a session with a mark that a later version made. Calls do not list these codes.
 *  - fork: a store does not survive fork(). In the child, every call that needs the store returns MISUSE, and
 *    so does opening the same file, because a child inherits SQLite's bookkeeping but not its locks. Fork
 *    before opening the store, or call exec.
 *  - Files: do not keep the file on a network file system, and do not copy, move or delete it while it is
 *    open (https://www.sqlite.org/howtocorrupt.html). A store stays on the file that it opened, even if the
 *    working directory or a link in the path changes. If that file, its log (-wal) or the log's index (-shm)
 *    is deleted, moved or replaced, every write returns IO, and within a second every read does too. A write
 *    also returns IO after another program has given the file a second name, cut it short or overwritten it.
 *  - The library never prints, exits, reads the environment, installs signal handlers, or changes SQLite
 *    settings that belong to the whole process.
 */
#ifndef SESLITE_H
#define SESLITE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program may define SES_API itself, for a compiler or a parser that does not know the attribute. */
#ifndef SES_API
#if defined(__GNUC__)
#define SES_API __attribute__((visibility("default")))
#else
#define SES_API
#endif
#endif

/*
 * Declares a variable: options of that type with all defaults. In C++, which has no designated initializers
 * before C++20, it is the way to make options; in C it is the same as an initializer with `size` alone.
 *
 *     SES_OPTIONS(ses_append_options, options);
 *     options.lease = token;
 */
#ifdef __cplusplus
#define SES_OPTIONS(type, name) \
    type name = type();         \
    name.size = sizeof name
#else
#define SES_OPTIONS(type, name) type name = {.size = sizeof name}
#endif

/* -------------------------------------------------------------------------------------------------- codes */

/*
 * Every negative code with its name, number and meaning. Numbers are never reused.
 * `SES_CODES(X)` calls X(name, number, text) for each.
 */
#define SES_CODES(X)                                                                                     \
    X(NOMEM, -1, "out of memory")                                                                        \
    X(MISUSE, -2, "the call is wrong: a missing argument, a closed handle, an unknown option")           \
    X(INVALID, -3, "a value breaks a rule: an id, a state key, a field of the wrong type")               \
    X(JSON, -4, "the text is not strict JSON (RFC 8259)")                                                \
    X(NOTFOUND, -5, "no such session, artifact or file, or a template names a missing key")              \
    X(EXISTS, -6, "the session already exists, or the event's id already exists with different content") \
    X(STALE, -7, "another writer appended in the meantime; refresh the handle")                          \
    X(BUSY, -8, "still locked after the busy timeout")                                                   \
    X(READONLY, -9, "the store, the file or the view is read-only")                                      \
    X(FULL, -10, "the disk is full")                                                                     \
    X(IO, -11, "reading or writing the file failed")                                                     \
    X(CORRUPT, -12, "the file is damaged")                                                               \
    X(NOTASTORE, -13, "the file is not a seslite store")                                                 \
    X(TOONEW, -14, "the store was written by a newer version of seslite")                                \
    X(LIMIT, -15, "a limit is exceeded")                                                                 \
    X(INTERRUPTED, -16, "the call was interrupted or cancelled, or its time was over")                   \
    X(TYPE, -17, "the state value has a different type")                                                 \
    X(RANGE, -18, "the value does not fit the requested type: a large number, or a lone surrogate")      \
    X(CANTOPEN, -19, "the file cannot be opened")                                                        \
    X(INTERNAL, -20, "the database engine returned something unexpected; please report this")            \
    X(UNKNOWN, -21, "the outcome of the commit is not known; send the same event again")                 \
    X(LEASED, -22, "another owner has taken the session's lease")                                        \
    X(CONSTRAINT, -23, "a foreign key of an added table forbids it")                                     \
    X(KEY, -24, "wrong key, or not a store")                                                             \
    X(UNSUPPORTED, -25, "the store holds, or the call needs, what this seslite or its SQLite cannot do")

/* The codes that calls return: 0 and positive ones, which are successes, and the negative ones of
 * SES_CODES. */
typedef enum ses_code {
#define SES_CODE_ENUM_(name, number, text) SES_##name = number,
    SES_CODES(SES_CODE_ENUM_)
#undef SES_CODE_ENUM_
        SES_OK = 0,    /* success */
    SES_PARTIAL = 1,   /* the appended event is `partial`, so nothing was stored or applied */
    SES_DUPLICATE = 2, /* the appended event was stored before; nothing was written again */
    SES_EXISTING = 3,  /* the session to get or create already existed */
    SES_ROW = 4,       /* an event was read */
    SES_ABSENT = 5,    /* there is none: no such state key, event, draft or input */
    SES_UNCHANGED = 6, /* there was nothing to do, and nothing was written */
    SES_MORE = 7,      /* a step of a long task is done: call again */
    SES_RESET = 8      /* events that a follower had given, or not given yet, are gone: read again */
} ses_code;

/* Returns "SES_NOTFOUND" for SES_NOTFOUND, and "?" for a number that is not a code. The text is static. */
SES_API const char *ses_code_name(int code);
/* Returns the general meaning of a code. The text is static. */
SES_API const char *ses_code_text(int code);

/*
 * The failure of one call. A call fills it when it returns a negative code, and clears it (code 0, empty
 * message) when it does not. It needs no initialisation and no freeing. Its size will not change; later
 * versions may use the reserved members.
 */
typedef struct ses_error {
    int code;            /* the code that the call returned */
    int64_t version;     /* after STALE: the version that the session has now; otherwise -1 */
    int engine_code;     /* SQLite's extended result code, or the number of MySQL's error; otherwise 0 */
    char sqlstate[6];    /* the five-character SQLSTATE of a database server; "" for SQLite */
    int64_t offset;      /* JSON, INVALID, LIMIT: byte offset of the fault in a JSON text; otherwise -1 */
    int64_t index;       /* the rejected event of a batch, counted from 0; otherwise -1 */
    int64_t reserved[5]; /* 0 */
    char message[488];   /* what failed, where, and what to do about it; UTF-8, cut to fit */
} ses_error;

/* --------------------------------------------------------------------------------------- texts and memory */

/* In place of the length of a text: the text ends at its NUL. (The largest size_t, without a cast, of which a
 * C++ compiler may warn.) */
#define SES_NUL (sizeof(char) - 2)

/* A text and its length. In an input `len` may be SES_NUL. An output need not end in a NUL. This struct will
 * not change. */
typedef struct ses_text {
    const char *text; /* UTF-8 */
    size_t len;       /* bytes */
} ses_text;

/*
 * The allocator of a store: malloc, realloc and free, each with a context. All three functions are required.
 * They must be callable from any thread, and outlive everything that the store made. `resize` and `release`
 * only get memory that `allocate` or `resize` returned, and never NULL. `allocate` never gets 0. SQLite's own
 * memory does not go through this allocator: the application configures that
 * (https://www.sqlite.org/malloc.html).
 */
typedef struct ses_allocator {
    size_t size;
    void *context;                                              /* passed to each function */
    void *(*allocate)(void *context, size_t bytes);             /* as malloc */
    void *(*resize)(void *context, void *memory, size_t bytes); /* as realloc */
    void (*release)(void *context, void *memory);               /* as free */
} ses_allocator;

/* Frees a `char *` that a call returned. NULL is allowed. The store may be closed already. */
SES_API void ses_free(char *text);

/* A store: the sessions in one file, in memory, or in a database of PostgreSQL, MySQL or MariaDB. */
typedef struct ses_store ses_store;

/* A handle that ends the calls to which it is given (see Limits). */
typedef struct ses_cancel ses_cancel;

/*
 * Gives any text as a JSON string, in quotes, as the library writes strings. `*json` belongs to the caller
 * (ses_free). `json_len` may be NULL. It uses the store only for its allocator. INVALID: the text is not
 * UTF-8.
 *
 * Codes: MISUSE, INVALID, NOMEM.
 */
SES_API int ses_text_quote(ses_store *store, const char *text, size_t len, char **json, size_t *json_len,
                           ses_error *error);

/*
 * Returns the length of the longest beginning of a text that has at most `limit` bytes and consists of whole
 * characters of UTF-8, for a title or a preview. `*was_cut` (may be NULL) is 1 if that is not the whole text,
 * and 0 otherwise. The beginning also ends before the first byte that is not UTF-8. A sign that is made of
 * several characters, such as a flag or a letter with a combining accent, can be separated.
 */
SES_API size_t ses_text_cut(const char *text, size_t len, size_t limit, int *was_cut);

/* --------------------------------------------------------------------------------------------- encryption */

/*
 * A store can be encrypted where SQLite3 Multiple Ciphers 2 or newer
 * (https://utelle.github.io/SQLite3MultipleCiphers) is linked in place of SQLite. Then the file, its
 * write-ahead log, its journals and its backups are encrypted, and each page has a tag that shows whether it
 * was changed. The cipher is AEGIS-256. The key is `ses_open_options.key`: SES_KEY_BYTES random bytes, such
 * as from getrandom(). Keep it outside the store; without it nothing can be read.
 *
 *  - A new file is encrypted if a key is given. A file that exists keeps its key, or has none: a backup with
 *    another `key` changes or adds it, and one with SES_BACKUP_PLAIN removes it.
 *  - KEY: the file has another key, or no key is given, or one is given and the file has none, or it is
 *    damaged where the key is checked. If no key is given, an encrypted file that cannot be recognized as one
 *    is NOTASTORE.
 *  - UNSUPPORTED: a key is given, and the linked SQLite cannot encrypt, keeps temporary files on the disk
 *    (SQLITE_TEMP_STORE=0), or has another VFS in front of the one that encrypts. Nothing is written.
 *  - A store in memory is not encrypted. Its key is for its backups. A copy in memory keeps the key of its
 *    store for that, unless its options give another.
 *  - Exports are not encrypted.
 *  - The library wipes its copy of the key when the store is closed. Messages never contain it.
 */

enum { SES_KEY_BYTES = 32 /* bytes in the key of a file */ };

/* -------------------------------------------------------------------------------------------- open, close */

/* Flags of ses_open_options. */
typedef enum ses_open_flags {
    /* Opens the store for reading only: every write returns READONLY. The file must exist. If the store uses
     * WAL, SQLite may still need to create files in its folder. Where it cannot, opening returns CANTOPEN,
     * except on a read-only file system if there is no write-ahead log. CANTOPEN also if a crash has left a
     * rollback journal: open the store for writing first. */
    SES_OPEN_READ_ONLY = 0x1,
    SES_OPEN_MUST_EXIST = 0x2, /* do not create the file; NOTFOUND if it does not exist */
    /* Opens a file also if it has other names: hard links, or a mount point that is the file itself (a
     * container's volume of one file). Each name has its own write-ahead log and journal beside it, so
     * programs that use different names lose each other's writes. Without this flag such a file is CANTOPEN,
     * except for reading only where no log or journal stands beside it. Give it only if all programs use the
     * same name. */
    SES_OPEN_LINKED = 0x4
} ses_open_flags;

/* When a write reaches the disk (https://www.sqlite.org/pragma.html#pragma_synchronous). With a rollback
 * journal SES_SYNC_NORMAL means SES_SYNC_FULL, because SQLite's NORMAL can damage the file there on power
 * loss. */
typedef enum ses_synchronous {
    SES_SYNC_FULL = 0,  /* before the call returns; a write survives power loss */
    SES_SYNC_NORMAL = 1 /* soon after; power loss can lose the last writes, a crash of the process cannot */
} ses_synchronous;

/* How SQLite makes a write atomic (https://www.sqlite.org/pragma.html#pragma_journal_mode).
 * SES_JOURNAL_ROLLBACK is remembered in the file, and in its backups and other copies: SES_JOURNAL_AUTO,
 * which is also what the command uses, keeps the rollback journal from then on, until SES_JOURNAL_WAL ends
 * that. A file that has a rollback journal for another reason, such as a copy by `VACUUM INTO`, gets WAL. */
typedef enum ses_journal {
    SES_JOURNAL_AUTO = 0, /* WAL where it is safe; a rollback journal on network file systems, or as above */
    SES_JOURNAL_WAL = 1,  /* WAL, even where it does not look safe */
    SES_JOURNAL_ROLLBACK = 2 /* a rollback journal; readers and the writer wait for each other */
} ses_journal;

/* The program that empties the write-ahead log. */
typedef enum ses_checkpoint {
    SES_CHECKPOINT_AUTO = 0,    /* the store copies the write-ahead log into the database as it grows */
    SES_CHECKPOINT_EXTERNAL = 1 /* another program does (such as Litestream); the store never does */
} ses_checkpoint;

/* A call that has ended, for ses_open_options.trace. The library makes and lends it: never make or copy this
 * struct; you may copy its members. */
typedef struct ses_trace {
    const char *call;  /* its name, such as "ses_append", which lives as long as the program */
    int code;          /* the code that it returns */
    int64_t wait_us;   /* how long it waited for locks, connections, a lease, and other calls that write */
    int64_t work_us;   /* the rest of its time */
    int64_t bytes_in;  /* in the texts that it gave to statements: events, values, names */
    int64_t bytes_out; /* in the rows that it read */
} ses_trace;

typedef struct ses_open_options {
    size_t size;
    unsigned flags;          /* SES_OPEN_* */
    int synchronous;         /* SES_SYNC_* */
    int journal;             /* SES_JOURNAL_* */
    int64_t busy_timeout_ms; /* how long a call waits for other writers; 0: 10,000; negative: no wait */
    /* The longest event or initial state that is given; 0: 16 MiB; at most 512 MiB. An event with an id and a
     * timestamp may be 4,096 bytes longer, so that one to which the store added them can be given again. A
     * rewind, the retry of an event that is stored, and state that is loaded may be longer. */
    size_t max_event_bytes;
    unsigned max_readers;           /* connections for reading, opened when first needed; 0: 4; at most 64 */
    const ses_allocator *allocator; /* the struct is copied; NULL: malloc */
    /* Gives the time of sessions and events that have none, and the time by which leases run out, in
     * microseconds since 1970. NULL: the system's clock, or the server's for leases in a store on a
     * server. */
    int64_t (*clock)(void *context);
    void *clock_context;
    /*
     * Makes the ids of sessions and events that have none. It writes a NUL-terminated id of at most
     * `capacity - 1` bytes and returns 0. If it returns non-zero, the call fails with INVALID. Any thread may
     * call it. NULL: lower-case UUIDs of version 7 (RFC 9562), ascending within the store.
     */
    int (*make_id)(void *context, char *id, size_t capacity);
    void *make_id_context;
    int checkpoint; /* SES_CHECKPOINT_* */
    /* The number of events that a session may hold. An event beyond it returns LIMIT. 0: no limit. */
    int64_t max_session_events;
    int64_t timeout_ms; /* for calls that give none (see Limits); 0: no limit */
    /*
     * Called at the end of each call that uses the store, on the thread of that call. So several threads may
     * call it at the same time. `trace` is borrowed until it returns. It must not call the library. Not
     * traced are ses_open and ses_close, calls that only look at the memory of a handle, calls that a closed
     * store refuses, and calls for which there is no memory to trace them. A call that makes others reports
     * these too, or only these. When threads share a commit, one of them does the work of all; for the others
     * that is waiting. On a server, waiting for its locks counts as work. NULL: nothing is traced.
     */
    void (*trace)(void *context, const ses_trace *trace);
    void *trace_context;
    /* The key that encrypts the file (see Encryption), which is copied; NULL: the file is not encrypted. */
    const void *key;
    size_t key_len; /* SES_KEY_BYTES, or 0 without a key */
} ses_open_options;

/*
 * Opens the store in the file `path` (UTF-8). If there is no such file, creates it with mode 0600. If the
 * store has an older schema, migrates it in place. The path ":memory:" is a store in memory, which lives
 * until it is closed.
 *
 * A file that is not a store returns NOTASTORE, and so does one that a version before the first release
 * wrote; a store of a newer version returns TOONEW. These files stay untouched. CORRUPT names a table, index
 * or guard (trigger) of the store that is missing or was changed, or a unique, partial or expression index
 * that was added to one of the store's tables. Your own tables, views, triggers and plain indexes are
 * allowed; the library runs no views and no triggers. An older schema is READONLY if the store is opened for
 * reading only. A feature that this version does not know is READONLY or TOONEW (see the rules above). FULL
 * includes a write beyond RLIMIT_FSIZE if the program ignores SIGXFSZ. INVALID: the path is empty or a URI. A
 * call that fails may still have created the file or migrated the store: open it again. INVALID also if the
 * key has another length than SES_KEY_BYTES. BUSY: the file is locked, or a process of Node has it open, as
 * `FILE.js-lock` says, even in another container. KEY and UNSUPPORTED are about the key.
 *
 * Codes: INVALID, NOTFOUND, NOTASTORE, TOONEW, KEY, UNSUPPORTED, and those of a write except UNKNOWN.
 */
SES_API int ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);

/*
 * Closes the store. NULL is allowed. Once ses_close is called, no other call on that pointer may begin,
 * because its memory may be gone. ses_close interrupts the calls that wait in ses_lease_take or
 * ses_follower_next (INTERRUPTED), and waits for the calls that other threads have begun, except those that
 * use the store only for its allocator: ses_text_make, ses_text_quote, ses_output_delta, ses_builder_open and
 * ses_content_open. The last connection that closes a file copies the rest of the write-ahead log into it,
 * however long that takes. After another program's long read transaction that can be gigabytes (see
 * wal_bytes).
 *
 * Sessions, cursors, followers, views and pages may outlive the store, and can be closed later. Their
 * contents can still be read. Calls on them that need the store return MISUSE.
 */
SES_API void ses_close(ses_store *store);

/* ------------------------------------------------------------------------------------------------- limits */

/*
 * Options of calls have two members that limit the call. Both end it in the same way, and after a negative
 * code nothing has changed.
 *
 *  - `timeout_ms`: how long the call may take, in milliseconds. 0: as long as ses_open_options.timeout_ms
 *    says; negative: no limit. The limit applies in addition to the busy timeout, and to a lease's `wait_ms`.
 *  - `cancel`: any thread can end the call with ses_cancel_pull. NULL: nobody can.
 *
 * BUSY: the time was over while the call waited for a lock, a connection, other calls that write, or a lease.
 * INTERRUPTED: the time was over while the call worked, or the call was cancelled. A call returns within some
 * milliseconds of either, with these exceptions. Once its commit has begun, it waits for the end, so that its
 * result is true. A call that shares a commit takes part in it as soon as its own work is done. It finishes a
 * step that SQLite cannot interrupt, such as flushing a file, copying the write-ahead log, and, before SQLite
 * 3.41, the check of the file's pages. It waits for a callback to return. A call of several transactions
 * keeps those that it has committed, as its comment says.
 *
 * A cursor and a follower limit each of their calls by the options with which they were opened, so `cancel`
 * must live as long as they do. How long ses_follower_next waits for events is its own parameter.
 */

/*
 * Makes a handle that has not been pulled. It may be given to any number of calls, at the same time or one
 * after another, on any store. The store is only used for its allocator.
 *
 * Codes: MISUSE, NOMEM.
 */
SES_API int ses_cancel_open(ses_store *store, ses_cancel **cancel, ses_error *error);
/*
 * Ends the calls that have the handle: those under way, and those that begin before ses_cancel_reset. They
 * return INTERRUPTED. Any thread may call it at any time, and so may a signal handler. NULL is allowed.
 */
SES_API void ses_cancel_pull(ses_cancel *cancel);
/* Resets the handle, as if it had not been pulled. A call that has not yet noticed the pull continues. */
SES_API void ses_cancel_reset(ses_cancel *cancel);
/* Frees the handle, which no call may have any more. The store may be closed already. NULL is allowed. */
SES_API void ses_cancel_close(ses_cancel *cancel);

/* ----------------------------------------------------------------------------------------------- sessions */

/*
 * Names one session. Ids are byte strings of valid UTF-8, 1 to 512 bytes long, and are compared byte by byte.
 * Every call rejects any other id with INVALID. A session under another app or user is reported as not found.
 * This struct will not change.
 */
typedef struct ses_key {
    const char *app;     /* the id of the app */
    const char *user;    /* the id of the user */
    const char *session; /* NULL only when creating (the store makes an id) and following (all of the user) */
} ses_key;

enum { SES_ID_MAX = 512 /* bytes in an id, and in a state key after its prefix */ };

/*
 * A session as the ADK defines it: id, times, version, merged state, events. A handle is a snapshot, taken
 * when the session was created or read. Its own appends move it forward; ses_refresh adds what others wrote.
 */
typedef struct ses_session ses_session;

/*
 * A stored event, lent by a session or a cursor: never make or copy this struct. `json` is the text in the
 * file. If another program wrote it, it may not be JSON.
 */
typedef struct ses_event {
    int64_t seq;               /* 1, 2, 3 ... in the order of commit */
    int64_t time_us;           /* the event's timestamp */
    const char *id;            /* given or made; unique in its session */
    const char *invocation_id; /* "" when the event has none */
    const char *author;        /* "" when the event has none */
    const char *branch;        /* NULL when the event has none */
    const char *json;          /* the bytes that were appended, without `temp:` keys */
    size_t json_len;
} ses_event;

/* The flags of ses_range.which. */
typedef enum ses_range_parts {
    SES_RANGE_NONE = 0x1,   /* no events */
    SES_RANGE_NEWEST = 0x2, /* the newest `newest` events */
    SES_RANGE_SINCE = 0x4,  /* events whose time is `since_us` or later */
    SES_RANGE_SEQ = 0x8,    /* events with sequence numbers from `first_seq` to `last_seq`, both included */
    SES_RANGE_LIVE = 0x10   /* events that no rewind has taken back (see History in seslite_history.h) */
} ses_range_parts;

/* Selects events. `which` combines flags; 0 selects all events. Live, time and sequence apply first, then the
 * newest N of what is left. */
typedef struct ses_range {
    size_t size;
    unsigned which;    /* SES_RANGE_* */
    int64_t newest;    /* for SES_RANGE_NEWEST; 0 or more */
    int64_t since_us;  /* for SES_RANGE_SINCE */
    int64_t first_seq; /* for SES_RANGE_SEQ; 1 or more */
    int64_t last_seq;  /* for SES_RANGE_SEQ; INT64_MAX: to the end */
} ses_range;

/*
 * Options of calls that have no others. NULL means the defaults.
 */
typedef struct ses_call_options {
    size_t size;
    unsigned flags;     /* 0 */
    int64_t timeout_ms; /* for the call (see Limits); 0: as the store was opened; negative: none */
    ses_cancel *cancel; /* ends the call when it is pulled (see Limits); NULL: nothing does */
} ses_call_options;

/* A label of a session. When labels are set, a value of NULL removes the label of that name. This struct will
 * not change. */
typedef struct ses_label {
    const char *name;  /* 1 to SES_LABEL_NAME_MAX bytes */
    const char *value; /* up to SES_LABEL_VALUE_MAX bytes */
} ses_label;

typedef struct ses_create_options {
    size_t size;
    const ses_range *range;    /* ses_get_or_create: the events to read of an existing session; NULL: all */
    const int64_t *created_us; /* the time of creation, for imports; NULL: the store's clock */
    /* When the session may be removed (see ses_store_expire), later than the store's clock and before the
     * year 10000; NULL: never. Not used by ses_get_or_create if the session exists. */
    const int64_t *expires_us;
    /* See ses_title_set; NULL: none. ses_get_or_create checks the title and the labels, but does not use them
     * if the session exists. */
    const char *title;
    const ses_label *labels; /* see ses_labels_set; no value may be NULL */
    size_t label_count;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    /* The session that the new one is a child of, in the same app (its `app` may be NULL); NULL: it is a
     * conversation. NOTFOUND: it does not exist. Not used by ses_get_or_create if the session exists. */
    const ses_key *child_of;
} ses_create_options;

typedef struct ses_get_options {
    size_t size;
    const ses_range *range; /* the events to read; NULL: all */
    int64_t timeout_ms;     /* as in ses_call_options */
    ses_cancel *cancel;     /* as in ses_call_options */
} ses_get_options;

/*
 * Creates a session in one transaction. `state` is its initial state, a JSON object; NULL means empty. `app:`
 * and `user:` keys go to their scopes, `temp:` keys are dropped, and the tombstone removes a key. `*session`
 * (may be NULL) shows the merged state; close it with ses_session_close.
 *
 * EXISTS: the session already exists. Nothing has changed, not even in shared scopes. INVALID: an id, a state
 * key or the time of creation breaks its rules, or make_id failed. LIMIT: `state` is longer than
 * max_event_bytes or nested more than 1000 levels deep, or the file has had 2^31 - 1 sessions or has used all
 * versions. IO also means that the system gave no random bytes for an id. UNKNOWN: the session may exist or
 * not; call ses_get_or_create with the same id to make sure that it does. An id that the store made is then
 * lost, so pass an id where an unknown session would matter.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, EXISTS, NOTFOUND (`child_of`).
 */
SES_API int ses_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                       const ses_create_options *options, ses_session **session, ses_error *error);

/*
 * Reads a session, or creates it with `state` if it does not exist. Returns 0 if the session was created, and
 * SES_EXISTING if it existed; then `state` is checked but not used. Two concurrent callers never both create
 * the session.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT.
 */
SES_API int ses_get_or_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                              const ses_create_options *options, ses_session **session, ses_error *error);

/*
 * Reads a session. State and events belong to the same moment, whatever other writers do meanwhile.
 * NOTFOUND: there is no such session.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_get(ses_store *store, const ses_key *key, const ses_get_options *options,
                    ses_session **session, ses_error *error);

/*
 * Brings the handle up to date with other writers, by reading the events that it lacks and the shared scopes.
 * A handle that was read with SES_RANGE_NONE still holds no events. `temp:` values stay. If events were cut
 * (see ses_cut), the handle drops them. Events that were pruned stay, unless nothing is left that
 * distinguishes them from events that were cut. NOTFOUND: the session was deleted.
 *
 * Codes: those of a read, NOTFOUND.
 */
SES_API int ses_refresh(ses_session *session, const ses_call_options *options, ses_error *error);

/* Frees the handle, its events and its `temp:` values. Stored data does not change. NULL is allowed. */
SES_API void ses_session_close(ses_session *session);

/* These calls return the parts of the snapshot. Texts are borrowed until the handle is closed. */
SES_API const char *ses_session_app(const ses_session *session);
SES_API const char *ses_session_user(const ses_session *session);
SES_API const char *ses_session_id(const ses_session *session);
SES_API int64_t ses_session_version(const ses_session *session); /* every stored event, every cut raises it */
SES_API int64_t ses_session_last_seq(const ses_session *session);   /* 0 before the first event */
SES_API int64_t ses_session_stored(const ses_session *session);     /* the number of stored events */
SES_API int64_t ses_session_created_us(const ses_session *session); /* microseconds */
SES_API int64_t ses_session_updated_us(const ses_session *session); /* microseconds; never goes back */
SES_API int64_t ses_session_expires_us(const ses_session *session); /* microseconds; INT64_MAX: never */
/* Returns the number of the last event that was pruned, after which the log is known. 0: no event was. */
SES_API int64_t ses_session_base_seq(const ses_session *session);
/* Returns the session that this one was forked from, which may have been deleted since; NULL if it is not a
 * fork. `*seq` (may be NULL) is the number of the last event that was taken from there. */
SES_API const ses_key *ses_session_parent(const ses_session *session, int64_t *seq);

/* The kinds of sessions. */
typedef enum ses_kind {
    SES_KIND_CONVERSATION = 0x1, /* any session that is none of these: */
    SES_KIND_CHILD = 0x2,        /* belongs to another session, such as that of a sub-agent */
    SES_KIND_MEMORY = 0x4        /* holds what an agent remembers */
} ses_kind;

/* Returns SES_KIND_*. A session keeps its kind, and its fork has the same; a fork of memory is INVALID. */
SES_API int ses_session_kind(const ses_session *session);
/* Returns the session that this one is a child of, which may have been deleted since; NULL if it is no
 * child. */
SES_API const ses_key *ses_session_child_of(const ses_session *session);

/*
 * These calls return the events that the handle holds, oldest first: those of its range, and those appended
 * or refreshed since. A handle that was read with SES_RANGE_NONE holds none. An event is borrowed until the
 * handle is closed. An index past the end returns NULL.
 */
SES_API size_t ses_session_event_count(const ses_session *session);
SES_API const ses_event *ses_session_event(const ses_session *session, size_t index);
/* Returns the event of that id, or NULL if the handle does not hold it. The search begins with the newest
 * event. */
SES_API const ses_event *ses_session_event_by_id(const ses_session *session, const char *id);

/* Returns the newest of these events, or NULL if the handle holds none. */
SES_API const ses_event *ses_session_newest_event(const ses_session *session);

/*
 * Finds which of these events are live, as of what the handle shows (see History in seslite_history.h).
 * `live` has room for `count` values, at least ses_session_event_count (otherwise MISUSE). One for each event
 * becomes 1 if no rewind has taken the event back, and 0 otherwise, also if the event was pruned since. One
 * query finds the rewinds; the log is not read. STALE: events were cut since the handle was read. NOTFOUND:
 * the session was deleted.
 *
 * Codes: those of a read, NOTFOUND, STALE.
 */
SES_API int ses_session_live(ses_session *session, const ses_call_options *options, unsigned char *live,
                             size_t count, ses_error *error);

/*
 * Gives the session as the JSON object that the ADK writes: id, appName, userId, state, events and
 * lastUpdateTime, in this order. `state` is the merged state, without `temp:` keys. `events` are those that
 * the handle holds (none for the sessions of a list), with their stored bytes. `lastUpdateTime` is in
 * seconds, exact to the microsecond; from 1e11 seconds on it is in milliseconds, as such a number is read.
 * `*json` belongs to the caller (ses_free). `len` may be NULL. CORRUPT: another program stored an event or a
 * value that is not JSON.
 *
 * Codes: MISUSE, CORRUPT, NOMEM.
 */
SES_API int ses_session_json(const ses_session *session, char **json, size_t *len, ses_error *error);

/* ------------------------------------------------------------------------------------------------- append */

/* Flags that several calls take; the options of a call say which. The flags of one call are below 0x10000, so
 * that none of these is taken for one of them. */
typedef enum ses_flags {
    SES_ANYWAY = 0x10000, /* an outdated handle catches up in the same transaction instead of STALE */
    /* by key (a handle has its own), not with SES_ANYWAY: STALE unless at `version` */
    SES_AT_VERSION = 0x20000,
    /*
     * Overwrites the deleted data (`PRAGMA secure_delete`), empties the write-ahead log, and overwrites all
     * bytes of the file that belong to no row: when SQLite moves rows between pages, it leaves copies of them
     * there. For that the file is read once, while other writers wait: about 0.1 s for 100 MB. When a call
     * returns SES_MORE because more is to be deleted, the next one does it.
     *
     * If a reader keeps the log from being emptied for the whole busy timeout, the deletion is done and the
     * call returns SES_MORE: call it again later, even though nothing is left to delete. It also returns
     * SES_MORE if its time is over before the file was read, or if a page is damaged.
     *
     * With SES_CHECKPOINT_EXTERNAL it returns SES_MORE until the other program has emptied the log. Then, and
     * in a store with a key or with an extension's bytes at the end of pages (such as checksums), the copies
     * that SQLite has left are not overwritten. (With a key they are encrypted.) VACUUM overwrites them, run
     * with the sqlite3 program. The flag does not reach rows that were deleted earlier without it, nor copies
     * that the file system or the disk has kept.
     */
    SES_SECURE = 0x40000
} ses_flags;

/* Artifacts that are saved together with an event (see seslite_artifact.h). */
typedef struct ses_artifacts ses_artifacts;

typedef enum ses_append_flags {
    SES_APPEND_TAKES_DRAFT = 0x1 /* removes the session's draft (seslite_draft.h), if an event is stored */
} ses_append_flags;

typedef struct ses_append_options {
    size_t size;
    unsigned flags;  /* SES_APPEND_*, SES_ANYWAY, SES_AT_VERSION */
    int64_t version; /* for SES_AT_VERSION */
    /*
     * The values of shared keys that the caller has seen, as a JSON object: {"user:n":41}. The append is
     * STALE, and the message names the key, if a different value is stored now. So a value that was computed
     * from a shared key never replaces a newer one: read the key again, and compute again. Values are
     * compared with the stored bytes, as ses_state_get_by_key returns them; the tombstone means that the key
     * does not exist. Every member is checked once, before the first event. A key that is neither app: nor
     * user: is INVALID. NULL: nothing is expected. SES_ANYWAY ignores this member.
     */
    const char *expected;
    size_t expected_len;
    /*
     * State changes in addition to the event's, as a JSON object: {"user:n":42}. They are merged into the
     * event's `actions.stateDelta`, which is added if there is none. They win: a key that both contain
     * appears once in the stored event, with the value given here. If a key appears twice, the last value
     * counts. Values keep their bytes, keys are written as the library writes strings, and all other bytes of
     * the event stay. A retry with the same event and the same changes is SES_DUPLICATE. NULL: no changes. A
     * batch rejects this member with MISUSE, because its events carry their own changes.
     */
    const char *delta;
    size_t delta_len;
    /* The token of a lease (see One turn at a time in seslite_live.h). The append is LEASED once another
     * owner has taken the lease, with SES_ANYWAY too. 0: no lease is required. */
    int64_t lease;
    /* The title that the session gets in the same transaction, if it stores an event: a call whose events are
     * all partial or duplicates sets nothing. The handle shows it. NULL: the title stays (ses_title_set
     * removes it). */
    const char *title;
    /* Labels that are set or removed in the same way; see ses_labels_set. */
    const ses_label *labels;
    size_t label_count;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    /* Artifacts that are saved in the same transaction, and named in the event's `actions.artifactDelta`.
     * They belong to the user of the session. NULL: none. A batch rejects this member with MISUSE. */
    ses_artifacts *artifacts;
    /* The request of an input (seslite_inbox.h) that is removed from the session's inbox in the same
     * transaction, if an event is stored. It is not an error if there is none. NULL: none. */
    const char *answers;
} ses_append_options;

/* The result for one event. After UNKNOWN the status is SES_UNKNOWN (of a partial event SES_PARTIAL), and
 * only `made_id` says more. The size of this struct will not change; later versions may use the reserved
 * members. */
typedef struct ses_appended {
    int status;          /* 0: stored; SES_PARTIAL; SES_DUPLICATE; of a rewind also SES_UNCHANGED */
    int64_t seq;         /* the event's sequence number, also of a duplicate; 0 when none is stored */
    int64_t version;     /* the session's version after the call; 0 when partial */
    int64_t time_us;     /* the event's timestamp, given or made; 0 when partial */
    int64_t updated_us;  /* the session's update time after the call; 0 when partial */
    int64_t reserved[3]; /* 0 */
    char made_id[64];    /* the id that the library made; "" if it made none or the id is longer */
} ses_appended;

/*
 * Appends one event, a JSON object as the ADK writes it. One transaction checks the session, gives the event
 * the next sequence number, stores it, applies its `actions.stateDelta`, and updates the session's time and
 * version. On success the handle includes the event. After a failure nothing is stored and the handle is as
 * before. Returns 0, SES_PARTIAL or SES_DUPLICATE.
 *
 *  - The store reads id, invocationId, author, branch, timestamp, partial, actions.stateDelta and
 *    actions.rewindBeforeInvocationId, and whether there is an actions.compaction. Each may be spelled in
 *    camelCase or in snake_case. A field that appears twice, or in both spellings, is INVALID, whatever its
 *    values. A null counts as absent. The texts among these fields cannot hold a NUL or a lone surrogate. All
 *    other bytes are stored as they are, including white space around the object.
 *  - `temp:` keys of the delta are cut out of the stored event. This handle shows them until an event of
 *    another invocation, or of none, is appended through it, or an invocation begins or ends on it.
 *  - A value replaces the key's whole value. The tombstone removes the key.
 *  - A missing `timestamp` and a missing `id` are added at the front of the object, in this order. A
 *    timestamp is a number of seconds since 1970, a number of milliseconds if it is 1e11 or more, or RFC 3339
 *    text. It is rounded to microseconds.
 *  - If `partial` is true, nothing is stored or applied, and the session is not looked up: SES_PARTIAL.
 *  - If the session already has an event with this id, the result is SES_DUPLICATE when the stored event is
 *    the same (a retry is safe), and EXISTS when its content is different. Both take precedence over STALE.
 *    After SES_DUPLICATE an outdated handle is up to date, and if it lacked the event, it shows the `temp:`
 *    values of the event that was passed. A handle that already had the event does not.
 *  - STALE: another writer appended after the handle was read, or a shared key is not as `expected`. Nothing
 *    is written. `error->version` is the version that the session has now.
 *  - LEASED: another owner has taken the lease whose token is `lease`. Nothing is written. SES_DUPLICATE and
 *    EXISTS take precedence over it, and it takes precedence over STALE. A negative token is INVALID.
 *  - NOTFOUND: the session was deleted.
 *  - LIMIT: the event, with its changes, is longer than max_event_bytes or nested more than 1000 levels deep
 *    (a value in its stateDelta: more than 999, as in an initial state), or the session has had 2^32 - 1
 *    events, holds max_session_events, has reached the last version, or would have more than SES_LABELS_MAX
 *    labels.
 *  - UNKNOWN: the event may be stored or not. Append the same event with the same id again: it is stored
 *    once, and is SES_DUPLICATE if it was stored already. If the event had no id, `appended->made_id` is the
 *    one that was made: put it in front, as the first member of the same text, or in place of a null. With a
 *    time of its own or without one, the event is then known again. For a batch, do so for every event.
 *
 * `appended` may be NULL.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, NOTFOUND, EXISTS, LEASED, STALE.
 */
SES_API int ses_append(ses_session *session, const char *event, size_t event_len,
                       const ses_append_options *options, ses_appended *appended, ses_error *error);

/*
 * Appends one event without a handle, at any version of the session unless SES_AT_VERSION is set. A
 * version of a deleted session is STALE for a later session of the same name. NOTFOUND: there is no such
 * session. `appended` may be NULL. Returns 0, SES_PARTIAL or SES_DUPLICATE.
 *
 * Codes: those of ses_append.
 */
SES_API int ses_append_by_key(ses_store *store, const ses_key *key, const char *event, size_t event_len,
                              const ses_append_options *options, ses_appended *appended, ses_error *error);

/*
 * Appends `count` events in order in one transaction: all or none. `appended` (may be NULL) has room for
 * `count` results; it shows which events are partial or duplicates, and the call returns 0 for them too. If
 * one event is rejected, `error->index` is its index.
 *
 * Codes: those of ses_append.
 */
SES_API int ses_append_batch(ses_session *session, const ses_text *events, size_t count,
                             const ses_append_options *options, ses_appended *appended, ses_error *error);
/* Appends a batch without a handle. The rules are those of ses_append_batch and ses_append_by_key. Codes:
 * those of ses_append. */
SES_API int ses_append_batch_by_key(ses_store *store, const ses_key *key, const ses_text *events,
                                    size_t count, const ses_append_options *options, ses_appended *appended,
                                    ses_error *error);

/* -------------------------------------------------------------------------------------------- invocations */

/*
 * A handle is in one invocation at a time, or in none, as after it was opened. Every agent and sub-agent of
 * the invocation sees the same `temp:` values on this handle. Appending an event of another invocation begins
 * that one. Appending an event without an invocation ends the current one.
 */

/*
 * Begins an invocation and drops the `temp:` values of another. If `id` is NULL, the store makes one: "e-"
 * and an id, as the ADK does. To continue the invocation of an event, pass ses_event.invocation_id; its
 * `temp:` values do not come back. Beginning the current invocation again changes nothing. INVALID: the id
 * breaks the rules of ids (an empty id is not an id), or make_id failed. IO: the system gives no random bytes
 * for an id.
 *
 * Codes: MISUSE, INVALID, IO, NOMEM.
 */
SES_API int ses_invocation_begin(ses_session *session, const char *id, ses_error *error);
/* Returns the id of the current invocation, for its events, or NULL if there is none. The text is borrowed
 * until the handle is in another invocation. */
SES_API const char *ses_invocation_id(const ses_session *session);
/* Ends the current invocation on this handle and drops its `temp:` values. Codes: MISUSE. */
SES_API int ses_invocation_end(ses_session *session, ses_error *error);

/* -------------------------------------------------------------------------------------------------- state */

/* The prefixes of the scopes, and the JSON string that removes a key. */
#define SES_PREFIX_APP "app:"
#define SES_PREFIX_USER "user:"
#define SES_PREFIX_TEMP "temp:"
#define SES_TOMBSTONE "\"__ADK_SENTINEL_REMOVED__\""

/*
 * These calls read the merged state of a handle, including the `temp:` values of the invocation. Keys carry
 * their prefix. A look-up costs the same whatever the size of the state. Texts are borrowed until the next
 * call that appends, refreshes, begins or ends an invocation, or closes the handle.
 *
 * Another program may have written to the file. A stored value that is not JSON, or a key that breaks the
 * rules of its scope, returns CORRUPT, and the message names the key. This is found when the key is first
 * shown by one of these calls, a view or a template. The other keys can still be read one by one.
 */

/*
 * Gives the whole state as one JSON object: app, user, session, then temp, each sorted by key. Values keep
 * the bytes that were written. `len` may be NULL.
 *
 * Codes: MISUSE, CORRUPT, NOMEM.
 */
SES_API int ses_state_json(const ses_session *session, const char **json, size_t *len, ses_error *error);

/*
 * Gives one value as JSON text, or returns SES_ABSENT. `len` may be NULL.
 *
 * Codes: MISUSE, CORRUPT.
 */
SES_API int ses_state_get(const ses_session *session, const char *name, const char **json, size_t *len,
                          ses_error *error);

/*
 * These calls give one value as a C type, or return SES_ABSENT.
 *
 *  - string: unescaped UTF-8. It may hold NULs, so `len` (may be NULL) gives its length. RANGE: the string
 *    holds a lone surrogate escape, which UTF-8 cannot express.
 *  - int64: the exact value of a number that is an integer (42, 42.0, 4.2e1). TYPE for 1.5. RANGE: the
 *    integer does not fit into 64 bits.
 *  - double: the nearest double. RANGE for 1e400.
 *  - bool: 1 or 0.
 *
 * TYPE: the value has a different JSON type.
 *
 * Codes: MISUSE, TYPE, RANGE (not for bool), CORRUPT, NOMEM (string and double).
 */
SES_API int ses_state_get_string(const ses_session *session, const char *name, const char **text, size_t *len,
                                 ses_error *error);
SES_API int ses_state_get_int64(const ses_session *session, const char *name, int64_t *value,
                                ses_error *error);
SES_API int ses_state_get_double(const ses_session *session, const char *name, double *value,
                                 ses_error *error);
SES_API int ses_state_get_bool(const ses_session *session, const char *name, int *value, ses_error *error);

/* Returns the number of keys. */
SES_API size_t ses_state_count(const ses_session *session);
/*
 * Gives the key and value at `index`, from 0 to ses_state_count - 1, in the order of ses_state_json. The
 * first call after a change sorts the keys. Each output may be NULL. NOTFOUND: `index` is past the end.
 *
 * Codes: MISUSE, NOTFOUND, CORRUPT, NOMEM.
 */
SES_API int ses_state_at(const ses_session *session, size_t index, const char **name, const char **json,
                         size_t *len, ses_error *error);

/* -------------------------------------------------------------------------- stored state and shared state */

/*
 * These calls read the stored state without a handle: the whole merged state, or the value of one key.
 * `*json` belongs to the caller (ses_free). `len` may be NULL. ses_state_get_by_key returns SES_ABSENT if
 * there is no such key. NOTFOUND: there is no such session.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_state_json_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                  char **json, size_t *len, ses_error *error);
SES_API int ses_state_get_by_key(ses_store *store, const ses_key *key, const char *name,
                                 const ses_call_options *options, char **json, size_t *len, ses_error *error);

/*
 * These calls read shared state without a session: that of the app if `user` is NULL, otherwise
 * that of the user. Keys have no prefix here. A key that begins with "app:", "user:" or "temp:" is INVALID,
 * because a session shows a different key under that name.
 *
 * ses_shared_state_json gives all keys as one JSON object, sorted by key; "{}" if the app or user does not
 * exist. ses_shared_state_get gives one value, or returns SES_ABSENT. Values keep the bytes that were
 * written. `*json` belongs to the caller (ses_free). `len` may be NULL.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_shared_state_json(ses_store *store, const char *app, const char *user,
                                  const ses_call_options *options, char **json, size_t *len,
                                  ses_error *error);
SES_API int ses_shared_state_get(ses_store *store, const char *app, const char *user, const char *name,
                                 const ses_call_options *options, char **json, size_t *len, ses_error *error);

typedef struct ses_shared_state_options {
    size_t size;
    /* The values that the caller has seen, as in ses_append_options, but with keys of this scope, without
     * prefix: {"n":41}. NULL: nothing is expected. */
    const char *expected;
    size_t expected_len;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_shared_state_options;

/*
 * Changes shared state in one transaction. `delta` is a JSON object: each value replaces the key's whole
 * value, and the tombstone removes the key. If a key appears twice, the last value counts. An app and a user
 * that do not exist are created. No session's version or update time changes, and no handle becomes STALE; a
 * handle shows the new values after ses_refresh.
 *
 * STALE: a key is not as `expected`, and the message names it. LIMIT: `delta` is longer than max_event_bytes
 * or nested more than 1000 levels deep.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, STALE.
 */
SES_API int ses_shared_state_change(ses_store *store, const char *app, const char *user, const char *delta,
                                    size_t delta_len, const ses_shared_state_options *options,
                                    ses_error *error);

/* ------------------------------------------------------------------------------------------------- cursor */

/* A walk over the events of a session. */
typedef struct ses_cursor ses_cursor;

typedef enum ses_cursor_flags {
    SES_CURSOR_BACKWARD = 0x1 /* newest first */
} ses_cursor_flags;

typedef struct ses_cursor_options {
    size_t size;
    unsigned flags;         /* SES_CURSOR_* */
    const ses_range *range; /* the events to walk; NULL: all */
    int64_t timeout_ms;     /* as in ses_call_options */
    ses_cancel *cancel;     /* as in ses_call_options */
} ses_cursor_options;

/*
 * Opens a cursor, which walks the events of a session in constant memory, however long the log is (for live
 * events, plus a few bytes for each rewind). It reads a page at a time and holds no transaction open in
 * between. It walks the events that existed when it was opened, and does not see later ones; a later rewind
 * takes nothing back. If the session is deleted meanwhile, the walk ends with NOTFOUND. If events are cut, or
 * events that it has not reached are pruned, the walk ends with STALE: begin another.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_cursor_open(ses_store *store, const ses_key *key, const ses_cursor_options *options,
                            ses_cursor **cursor, ses_error *error);
/*
 * Returns SES_ROW and the next event, borrowed until the next call on the cursor. At the end it returns 0 and
 * sets `*event` to NULL. After a failure every later call returns the same code.
 *
 * Codes: those of a read, NOTFOUND, STALE.
 */
SES_API int ses_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error);
/*
 * Frees the cursor. Returns the first error that ses_cursor_next met, so that a loop can check for errors
 * only here. NULL is allowed.
 *
 * Codes: those of ses_cursor_next.
 */
SES_API int ses_cursor_close(ses_cursor *cursor, ses_error *error);

/*
 * Reads the stored event of that id without a handle. An index finds it, however long the log is. Returns
 * SES_ABSENT if there is none, also after it was cut or pruned. `*json` is its text, which belongs to the
 * caller (ses_free). `*seq` (may be NULL) is its number, for a range that begins or ends there. `len` may be
 * NULL. NOTFOUND: there is no such session.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_event_get_by_key(ses_store *store, const ses_key *key, const char *id,
                                 const ses_call_options *options, int64_t *seq, char **json, size_t *len,
                                 ses_error *error);
/*
 * Reads how many events of a session are stored, and nothing else of it but its version. `*version` (may be
 * NULL) is for SES_AT_VERSION. (ses_state_json_by_key reads only the state.) NOTFOUND: there is no such
 * session.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_event_count_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                   int64_t *count, int64_t *version, ses_error *error);

/* ------------------------------------------------------------------------------------------- list, delete */

/* The order in which sessions are listed. */
typedef enum ses_order {
    SES_ORDER_NEWEST = 0,  /* newest update first; ties by session id */
    SES_ORDER_OLDEST = 1,  /* oldest update first; ties by session id */
    SES_ORDER_CREATED = 2, /* in the order in which this store created them */
    SES_ORDER_CHANGED = 3  /* last written first, by the store's clock; ties by session id */
} ses_order;

/* Flags of ses_list_options. */
typedef enum ses_list_flags {
    SES_LIST_NO_STATE = 0x1, /* without state: ses_state_* show no keys, and nothing is read for them */
    SES_LIST_PREVIEW = 0x2   /* with what ses_page_preview shows of each session */
} ses_list_flags;

/* Whether sessions that are in the archive match a filter. */
typedef enum ses_archived {
    SES_ARCHIVED_ANY = 0, /* those in the archive and the others */
    SES_ARCHIVED_NO = 1,  /* only those that are not in the archive */
    SES_ARCHIVED_ONLY = 2 /* only those in the archive */
} ses_archived;

/* Selects the sessions that match every member that is set. A member that is NULL, or 0, matches all
 * sessions. */
typedef struct ses_filter {
    size_t size;
    const char *label;                /* the session has this label ... */
    const char *label_value;          /* ... with this value; NULL: with any; MISUSE without `label` */
    const char *id_prefix;            /* its id begins with this; MISUSE in a list of all users */
    const int64_t *updated_since_us;  /* its update time is this or later */
    const int64_t *updated_before_us; /* its update time is earlier than this */
    const int64_t *changed_since_us;  /* its last write, by the store's clock, was at this time or later */
    const int64_t *changed_before_us; /* its last write was earlier than this; see ses_list */
    const char *without_label;        /* it has no label with this name */
    int archived;                     /* SES_ARCHIVED_*; MISUSE for other numbers */
    unsigned kinds;                   /* it is of one of these SES_KIND_*; MISUSE for other bits */
    int remembered;          /* 1: some of it is remembered (see seslite_memory.h), or it is memory */
    const ses_key *child_of; /* it is a child of the session of the app with these names, deleted or not */
} ses_filter;

typedef struct ses_list_options {
    size_t size;
    int order;                /* SES_ORDER_* */
    size_t limit;             /* sessions per page; 0: 100; at most 10,000 */
    const char *token;        /* the token of the previous page; NULL: the first page */
    unsigned flags;           /* SES_LIST_* */
    const ses_filter *filter; /* NULL: all sessions */
    int64_t timeout_ms;       /* as in ses_call_options */
    ses_cancel *cancel;       /* as in ses_call_options */
    size_t preview_bytes;     /* the most bytes of a text in a preview; 0: 200; at most 4,096 */
} ses_list_options;

/* A page of a list of sessions. */
typedef struct ses_page ses_page;

/*
 * Lists one page of sessions: those of a user, or of all users of the app if `user` is NULL. Sessions come
 * with their merged state and without events, all of the same moment. An app or user without sessions gives
 * an empty page. A filter is applied before the sessions are divided into pages.
 *
 * The update time of a session is the latest time of its events, which the clocks of clients give. With
 * SES_ORDER_CHANGED only the store's clock counts: a write is whatever changes the log, but no prune, title,
 * label or expiry time. A session that was loaded, or created with `created_us`, counts as written at its
 * update time, if that is earlier than the load; a load that adds events never moves its last write back.
 * This order has no index, since every append would write it. Each page looks at all sessions of the app or
 * user: among 100,000 it takes some 50 ms in a file, and 150 to 250 ms on a server, where the other orders
 * take a few. The times of last writes in a filter have none either: in the other orders, a page looks at the
 * sessions in their order until it has enough of them, or at all if there are not enough. The same goes for
 * `without_label`.
 *
 * The token of a page leads to the next one. A token is a place in the order, not a count. In order of
 * creation, every session that exists throughout the walk is listed exactly once, whatever is created or
 * deleted meanwhile. In the other orders, a session that changes moves to its new place. INVALID: an id
 * breaks its rules, the limit is too large, a text of the filter cannot be part of an id or label, or the
 * token is not from a list of the same app, user, order and filter.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_list(ses_store *store, const char *app, const char *user, const ses_list_options *options,
                     ses_page **page, ses_error *error);
/* Returns the number of sessions on the page. */
SES_API size_t ses_page_count(const ses_page *page);
/* Returns a session, to be read with ses_session_* and ses_state_*, or NULL past the end. It is borrowed
 * until the page is closed. */
SES_API const ses_session *ses_page_session(const ses_page *page, size_t index);
/* Returns the time at which a session of the page was last written to, by the store's clock, in microseconds
 * since 1970: SES_ORDER_CHANGED sorts by it. Returns 0 past the end. */
SES_API int64_t ses_page_changed_us(const ses_page *page, size_t index);
/*
 * A preview shows what a conversation is about, as it is stored at the moment of the list. Nothing is kept
 * for it, so a rewind, cut or redaction before the list shows in it. Only live events count. The text of an
 * event is that of all parts of its content that are not thoughts, cut between characters after
 * `preview_bytes`, with a NUL after it; in `text` it is NULL if there is none. A lone surrogate is shown as
 * U+FFFD. Later versions append members, so never make or copy this struct.
 *
 * A preview looks at the newest live events, back to the first that has a text, and at most 8 of them. For
 * the first text of the user it looks at the first 8.
 */
typedef struct ses_preview {
    ses_text last;           /* the newest text among these events */
    const char *last_author; /* of its event; NULL: there is no such text */
    int64_t last_seq;        /* the number of its event; 0: there is no such text */
    size_t pending_calls;    /* the function calls of these events that have no response after them */
    ses_text first;          /* the first text of the user, unless the session has a title */
} ses_preview;
/* Returns the preview of a session, borrowed until the page is closed. NULL: the list was made without
 * SES_LIST_PREVIEW, or the index is past the end. */
SES_API const ses_preview *ses_page_preview(const ses_page *page, size_t index);
/* Returns the token of the next page, or NULL if this is the last page. It is borrowed until this page is
 * closed. */
SES_API const char *ses_page_token(const ses_page *page);
/* Frees the page and its sessions. NULL is allowed. */
SES_API void ses_page_close(ses_page *page);

/*
 * A callback that visits a session of a list: the one at `index` of the page, which is borrowed during the
 * callback. It returns 0 to go on, or SES_MORE to end the walk. Or it returns any negative code, which fails
 * the call, and may write a message into `error`, which is never NULL. It may use the store, but not the
 * page's sessions beyond reading them.
 */
typedef int ses_session_visitor(void *context, const ses_page *page, size_t index, ses_error *error);

/*
 * Visits the sessions that ses_list would list on all pages, page by page, each page of one moment. `limit`
 * is the number of sessions that are read at a time, and `token`, if it is given, that of the page before the
 * first. If the visitor writes to sessions, walk in order of creation, where each is visited once: in the
 * other orders a session that it changes moves to a new place, perhaps ahead. A time limit is for each page.
 * Returns 0, or SES_MORE if the visitor has ended the walk.
 *
 * Codes: those of ses_list, and every code that the callback returns.
 */
SES_API int ses_list_each(ses_store *store, const char *app, const char *user,
                          const ses_list_options *options, ses_session_visitor *visit, void *context,
                          ses_error *error);

/*
 * Counts the sessions that ses_list would list on all pages. It looks at each of them (without a filter, in
 * an index), so it takes longer the more there are.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_list_count(ses_store *store, const char *app, const char *user, const ses_filter *filter,
                           const ses_call_options *options, int64_t *count, ses_error *error);

typedef struct ses_names_options {
    size_t size;
    size_t limit;       /* names per page; 0: 100; at most 10,000 */
    const char *after;  /* only names after this one, which need not exist; NULL: from the first */
    const char *prefix; /* only names that begin with this; NULL: all */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_names_options;

/* A page of a list of names. */
typedef struct ses_names ses_names;

/*
 * These calls list one page of the names of apps, or of the users of an app, in the order of their bytes and
 * of one moment. A name is listed from its first session or shared key until it is deleted (ses_delete_app,
 * ses_delete_user), even if it has no sessions left. An app that does not exist has no users. INVALID: the
 * limit is too large, `app` or `after` is not a valid id, or `prefix` cannot begin one.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_list_apps(ses_store *store, const ses_names_options *options, ses_names **names,
                          ses_error *error);
SES_API int ses_list_users(ses_store *store, const char *app, const ses_names_options *options,
                           ses_names **names, ses_error *error);
/* Returns the number of names on the page. */
SES_API size_t ses_names_count(const ses_names *names);
/* Returns a name, borrowed until the page is closed, or NULL past the end. */
SES_API const char *ses_names_at(const ses_names *names, size_t index);
/* Returns `after` for the next page, or NULL if this is the last one. It is borrowed until the page is
 * closed. */
SES_API const char *ses_names_after(const ses_names *names);
/* Frees the page. NULL is allowed. */
SES_API void ses_names_close(ses_names *names);

/*
 * A receipt: what one call has erased, and what it knows to be left. It is about the store alone. Backups,
 * exports, replicas, and what programs that read the session before have kept are not covered. Nor are titles
 * and labels, except those of a deleted session. A call gives a receipt if its options have one in `erased`;
 * ses_redact has it as its output.
 */
typedef struct ses_erased {
    size_t size;          /* input: sizeof(ses_erased) */
    int64_t sessions;     /* that were deleted; for ses_redact: other sessions that were redacted */
    int64_t events;       /* that were deleted or redacted */
    int64_t state_keys;   /* stored values that were deleted or replaced, with those of `app:` and `user:` */
    int64_t artifacts;    /* versions of artifacts that were deleted */
    int64_t index_events; /* events whose words were taken out of the index (see seslite_search.h) */
    /* Other sessions that have copies of these events: forks of this session, those from which it was forked,
     * and what a memory service has copied, found as SES_REDACT_FORKS finds them. -1: not known;
     * ses_store_expire does not look for them, what was deleted before has nothing left by which they are
     * found, and another call could not look. */
    int64_t forks_left;
    int64_t state_left; /* ses_redact: values that the events have set, and keep without SES_REDACT_STATE */
    int64_t artifacts_left;   /* ses_redact: versions that the events name, and that were not deleted */
    int64_t compactions_left; /* ses_redact: later compactions, whose summaries may repeat the events */
    /* Deleted or redacted events of which a damaged index or tally that could not be dropped may still have
     * words or names of models in the file (with SES_SECURE, and for ses_redact). */
    int64_t derived_left;
    /* ses_redact with `find`: names of state keys, titles and labels in which something was found, and that
     * were removed (SES_REDACT_NAMES) */
    int64_t names;
    /* ses_redact with `find`: the names in which something was found and that stay: of state keys, titles,
     * labels, ids of the session, its user, its app and its parent; and events with it in their ids, authors
     * or names of functions and artifacts */
    int64_t names_left;
} ses_erased;

/* Flags of ses_delete_options. */
typedef enum ses_delete_flags {
    SES_DELETE_CHILDREN = 0x1 /* only ses_delete: also its children, and theirs; all count in `*deleted` */
} ses_delete_flags;

typedef struct ses_delete_options {
    size_t size;
    unsigned flags;     /* SES_SECURE, SES_DELETE_* */
    int64_t limit;      /* ses_delete_app: sessions per call; 0: 100 */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    ses_erased *erased; /* becomes the receipt of the call; NULL: none */
} ses_delete_options;

/*
 * Deletes a session with its events and its session state. `app:` and `user:` state stay. A session that does
 * not exist is not an error: `*deleted` (may be NULL) is the number of sessions deleted: 1 or 0, or more with
 * SES_DELETE_CHILDREN. Returns 0 or, with SES_SECURE, SES_MORE.
 *
 * Codes: those of a write, INVALID.
 */
SES_API int ses_delete(ses_store *store, const ses_key *key, const ses_delete_options *options,
                       int64_t *deleted, ses_error *error);

/*
 * Deletes everything of a user in an app: all sessions and the `user:` state, in one transaction. `*sessions`
 * and `*state_keys` (each may be NULL) are the numbers of sessions and of `user:` keys deleted. Returns 0 or,
 * with SES_SECURE, SES_MORE.
 *
 * Codes: those of a write, INVALID.
 */
SES_API int ses_delete_user(ses_store *store, const char *app, const char *user,
                            const ses_delete_options *options, int64_t *sessions, int64_t *state_keys,
                            ses_error *error);

/*
 * Deletes everything of an app, in steps: each call deletes at most `limit` sessions in one transaction. When
 * no session is left, calls delete the users and their state, 1,000 users at a time, and the last call
 * deletes the `app:` state. Every call but the last returns SES_MORE. Sessions that are created meanwhile are
 * deleted too. `*sessions` (may be NULL) is the number of sessions that this call deleted.
 *
 * Codes: those of a write, INVALID.
 */
SES_API int ses_delete_app(ses_store *store, const char *app, const ses_delete_options *options,
                           int64_t *sessions, ses_error *error);

/* --------------------------------------------------------------------------------------- title and labels */

enum {
    SES_TITLE_MAX = 1024,      /* bytes in a title */
    SES_LABEL_NAME_MAX = 128,  /* bytes in the name of a label */
    SES_LABEL_VALUE_MAX = 512, /* bytes in its value */
    SES_LABELS_MAX = 64        /* labels of a session */
};

/*
 * A session may have a title, and labels that lists can filter by. They are not part of the log: setting them
 * changes neither the version nor the update time, and no handle becomes STALE. A fork starts with those of
 * its parent. All texts are UTF-8. A title and a label's name must not be empty; a value may be.
 */

/*
 * These calls set the title, which NULL removes, and labels: those that are named are set or removed, and the
 * others stay. If a name appears twice, the last one counts. INVALID: a title, name or value breaks its
 * rules. LIMIT: the session would have more than SES_LABELS_MAX labels; nothing has changed. The given handle
 * shows the change at once, other handles after ses_refresh.
 *
 * Codes: those of a write, INVALID, LIMIT (labels), NOTFOUND.
 */
SES_API int ses_title_set(ses_session *session, const char *title, const ses_call_options *options,
                          ses_error *error);
SES_API int ses_title_set_by_key(ses_store *store, const ses_key *key, const char *title,
                                 const ses_call_options *options, ses_error *error);
SES_API int ses_labels_set(ses_session *session, const ses_label *labels, size_t count,
                           const ses_call_options *options, ses_error *error);
SES_API int ses_labels_set_by_key(ses_store *store, const ses_key *key, const ses_label *labels, size_t count,
                                  const ses_call_options *options, ses_error *error);

/*
 * These calls put a session into the archive, or take it out of there if `archived` is 0. A filter can leave
 * archived sessions out (SES_ARCHIVED_NO); one that also selects SES_KIND_CONVERSATION is as fast with many
 * others as without them. Nothing else is different about them, and appends leave them there. The session has
 * the time at which it was archived, by the store's clock, and keeps it when it is archived again. Like a
 * title, it is no part of the log. A fork starts outside of the archive.
 *
 * Codes: those of a write, INVALID, NOTFOUND.
 */
SES_API int ses_archive_set(ses_session *session, int archived, const ses_call_options *options,
                            ses_error *error);
SES_API int ses_archive_set_by_key(ses_store *store, const ses_key *key, int archived,
                                   const ses_call_options *options, ses_error *error);
/* Returns when the session was archived, in microseconds since 1970, as of when it was read, listed or
 * refreshed, or its handle changed that. 0: it is not archived. */
SES_API int64_t ses_session_archived_us(const ses_session *session);
/* Returns the number of the last event that is remembered (see seslite_memory.h), as of the same moment. 0:
 * none is. */
SES_API int64_t ses_session_remembered_seq(const ses_session *session);

/* These calls return the title (NULL: none) and the number of labels as of when the session was created,
 * read, listed or refreshed, or its handle set them. A title and a label are borrowed until the handle is
 * refreshed, sets or removes one of them (also by an append or a redaction), or is closed. */
SES_API const char *ses_session_title(const ses_session *session);
SES_API size_t ses_session_label_count(const ses_session *session);
/* Returns a label. Labels are sorted by name. An index past the end returns NULL. */
SES_API const ses_label *ses_session_label(const ses_session *session, size_t index);
/* Returns the value of the label of that name, or NULL if there is none. */
SES_API const char *ses_session_label_value(const ses_session *session, const char *name);

/* ------------------------------------------------------------------------------ facts, statistics and ids */

/* Facts about a store. Texts are static, or borrowed until the store is closed. */
typedef struct ses_info {
    size_t size;        /* input: sizeof(ses_info) */
    const char *engine; /* "sqlite", "postgresql" or "mysql" */
    const char *path;   /* as passed to ses_open */
    int schema_version; /* of the stored data */
    int read_only;      /* 1: the store was opened with SES_OPEN_READ_ONLY */
    struct {
        const char *journal_mode;   /* the mode in use: "wal", "delete" or "memory" */
        const char *journal_reason; /* why the mode is not WAL; "" if it is */
        const char *version;        /* of the linked SQLite: "3.40.1" */
        const char *bugs;           /* corruption bugs of that version that concern a store; "" if none */
        const char *reserved[4];    /* NULL */
    } sqlite;                       /* only for the engine "sqlite"; otherwise NULLs */
} ses_info;

/* Fills `info`, whose `size` the caller sets. Codes: MISUSE. */
SES_API int ses_store_info(ses_store *store, ses_info *info, ses_error *error);

/* The work of a store since it was opened, and its size now. Counts are of this store, not of the file. */
typedef struct ses_stats {
    size_t size;            /* input: sizeof(ses_stats) */
    int64_t events;         /* events stored */
    int64_t commits;        /* write transactions; events / commits is how many share one on average */
    int64_t write_calls;    /* calls that wrote or tried to */
    int64_t write_waits;    /* write calls that waited for other write calls */
    int64_t read_calls;     /* calls that read */
    int64_t reader_waits;   /* waits for a reading connection because all were in use */
    int64_t readers_open;   /* reading connections that are open */
    int64_t readers_in_use; /* of them, those that a call uses now */
    struct {
        int64_t busy_waits;         /* pauses for locks that other processes held */
        int64_t busy_us;            /* the time of these pauses, in microseconds */
        int64_t cache_hits;         /* pages found in SQLite's page caches */
        int64_t cache_misses;       /* pages read from the file */
        int64_t checkpoints;        /* checkpoints that ran */
        int64_t checkpoint_us;      /* their time, in microseconds */
        int64_t checkpoint_turn_us; /* the part of it in which writers waited */
        int64_t wal_pages;          /* pages in use in the write-ahead log at this store's last commit */
        int64_t wal_bytes;   /* size of the log file; above 24 MB a reader delays or delayed checkpoints */
        int64_t file_bytes;  /* size of the database file; 0 in memory */
        int64_t reserved[6]; /* 0 */
    } sqlite;                /* only for the engine "sqlite"; otherwise zeros */
} ses_stats;

/* Fills `stats`, whose `size` the caller sets. It is cheap: it reads a few counters and the sizes of two
 * files. Codes: MISUSE. */
SES_API int ses_store_stats(ses_store *store, ses_stats *stats, ses_error *error);

/*
 * Interrupts the calls of other threads that are reading from this store now, or wait in ses_lease_take or
 * ses_follower_next. They return INTERRUPTED and nothing has changed. Calls that write or may write
 * (ses_get_or_create) go on, and later calls are not affected.
 *
 * Codes: MISUSE.
 */
SES_API int ses_store_interrupt(ses_store *store, ses_error *error);

/*
 * Makes an id as the store does (see make_id), for the caller's events and function calls. LIMIT: `capacity`,
 * which includes the NUL, is too small; 37 is enough for the library's own ids. INVALID: make_id failed. IO:
 * the system gives no random bytes.
 *
 * Codes: MISUSE, INVALID, LIMIT, IO.
 */
SES_API int ses_store_make_id(ses_store *store, char *id, size_t capacity, ses_error *error);

/* ----------------------------------------------------------------------------------------------- versions */

/* The version of this header. Tools and packages read it from here. */
#define SES_VERSION_MAJOR 0
#define SES_VERSION_MINOR 3
#define SES_VERSION_PATCH 0
#define SES_VERSION_NUMBER (SES_VERSION_MAJOR * 1000000 + SES_VERSION_MINOR * 1000 + SES_VERSION_PATCH)

/* The version of the schema that this version of the library writes (the file's `PRAGMA user_version`). */
#define SES_SCHEMA_VERSION 3

/* These calls return the version of the linked library: as a text ("0.3.0"), and as SES_VERSION_NUMBER. */
SES_API const char *ses_version(void);
SES_API int ses_version_number(void);

#ifdef __cplusplus
}
#endif

/* The other parts of this header. Each includes this one, and so can be included alone. */
#include "seslite_history.h"
#include "seslite_live.h"
#include "seslite_transfer.h"

#endif /* SESLITE_H */
