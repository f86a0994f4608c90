/* The store as the public calls see it: its options, and the checks that every call begins with. */
#ifndef SESLITE_SESSION_STORE_H
#define SESLITE_SESSION_STORE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/common.h"
#include "base/limits.h"
#include "model/state/state.h"
#include "session/handle.h"
#include "session/lease_queue.h"
#include "storage/door.h"

/* The user after which the search for those with too many sessions goes on; app_id 0: it begins. */
struct expire_place {
    int64_t app_id;
    char user[SES_ID_MAX];
    size_t user_len;
};

struct followers;

struct ses_store {
    ses_allocator allocator;
    atomic_uint references; /* the opener, and every handle made from it */
    pid_t process;          /* that opened it */
    atomic_bool closed;
    pthread_mutex_t lock;           /* guards `calls`, `traced` and `expired_to` */
    pthread_cond_t ended;           /* the last of them, after ses_close */
    unsigned calls;                 /* between ses__store_begin and ses__store_end */
    struct traced *traced;          /* of these, those that are traced, the newest first */
    struct expire_place expired_to; /* where the last ses_store_expire stopped */
    struct lease_queue leases;
    int64_t busy_timeout_us;
    int64_t timeout_ms; /* of calls that give none; 0: no limit */
    char *path;
    struct storage *storage;
    _Atomic(struct followers *) followers; /* NULL until the first is opened */
    bool is_shared;                        /* other processes can write to it */
    size_t max_event_bytes;
    int64_t max_session_events;
    int64_t (*clock)(void *context);
    void *clock_context;
    int (*make_id)(void *context, char *id, size_t capacity);
    void *make_id_context;
    void (*trace)(void *context, const ses_trace *trace);
    void *trace_context;
    struct uuid_source uuids;
    struct hash_seed seed;
};

/*
 * Begins a public call: clears the error. MISUSE for NULL, after ses_close, and in a forked child.
 * The call goes between ses__store_begin and, only if that succeeded, ses__store_end (handle.h); ses_close
 * waits for it. ses__store_begin_giving begins a call that hands over an object or a text: sets the caller's
 * pointer to NULL first. MISUSE if its address, `output`, is NULL.
 */
#define ses__store_begin_giving(store, output, what, error) \
    ses__store_begin_giving_as((store), __func__, (output), (what), (error))
SESLITE_PRIVATE int ses__store_begin_giving_as(ses_store *store, const char *call, void *output,
                                               const char *what, ses_error *error);
SESLITE_PRIVATE void ses__store_retain(ses_store *store);
SESLITE_PRIVATE void ses__store_release(ses_store *store);

/* The limits of a call that has begun, from the members of its options. */
#define LIMITS_OF(store, options) ses__limits((store), (options).timeout_ms, (options).cancel)
/* Checks options that have no members but these. */
SESLITE_PRIVATE int ses__take_call_options(ses_store *store, const ses_call_options *options,
                                           struct limits *limits, ses_error *error);

/* Checks the options of a call that deletes, and fills the erasure from them. `own->erased` is the
 * receipt. */
SESLITE_PRIVATE int ses__delete_options_take(ses_store *store, const ses_delete_options *given,
                                             unsigned known, ses_delete_options *own, struct erasure *erasure,
                                             ses_error *error);
/* Checks the caller's struct for a receipt, which may be NULL, before the call does anything. */
SESLITE_PRIVATE int ses__receipt_begin(ses_erased *erased, struct erasure *erasure, ses_error *error);
/* Fills the receipt after the call. */
SESLITE_PRIVATE void ses__receipt_end(ses_erased *erased, const struct erasure *erasure);

struct event_draft;
/* Adds a missing id or time to an event that was read, and seals it. */
SESLITE_PRIVATE int ses__store_complete_event(ses_store *store, struct event_draft *draft, ses_error *error);

/* Returns the time of the store's clock, limited to the years 0 to 9999. */
SESLITE_PRIVATE int64_t ses__store_now(const ses_store *store);
/* Makes an id as the store does. `id` has room for SES_ID_MAX + 1 bytes. */
SESLITE_PRIVATE int ses__store_make_id(ses_store *store, char *id, ses_error *error);

/* How to open the storage of a store. The options are complete and, but for those of one engine, checked. */
struct storage_opener {
    int (*open)(void *context, const struct storage_config *config, const ses_open_options *options,
                struct storage **storage, ses_error *error);
    void *context;
};
/* Does the work of ses_open, after its error and its output were cleared. */
SESLITE_PRIVATE int ses__store_open(const char *path, const ses_open_options *options,
                                    const struct storage_opener *opener, ses_store **store, ses_error *error);
/* Converts the time that a caller is willing to wait. A negative time is none. */
SESLITE_PRIVATE int64_t ses__wait_us(int64_t wait_ms);
/* Checks the path of a file: MISUSE for NULL, INVALID for a text that cannot be a path. */
SESLITE_PRIVATE int ses__check_path(const char *path, ses_error *error);

SESLITE_PRIVATE int ses__check_key(const ses_key *key, ses_error *error);
/* The same for an app, or one of its users, or a session: `user` and `session` may be NULL. */
SESLITE_PRIVATE int ses__check_owner(const char *app, const char *user, const char *session,
                                     ses_error *error);
/* INVALID for a text that no id can begin with; NULL is one that any does. */
SESLITE_PRIVATE int ses__check_prefix(const char *prefix, const char *what, ses_error *error);
/* Copies the key, which may have no session. False: out of memory. */
SESLITE_PRIVATE bool ses__key_copy(const ses_key *key, struct arena *arena, ses_key *copy);
/* Ends a call of the door that made a text: hands it over, or frees it after a failure. ABSENT if there is
 * none. */
SESLITE_PRIVATE int ses__give_json(int code, char *made, size_t made_len, char **json, size_t *len);
/* The upper bound of max_event_bytes. */
#define LARGEST_MAX_EVENT ((size_t)512 << 20)
/* The id and the time that the store adds make an event longer by at most this many bytes. */
enum { EVENT_ALLOWANCE = 4096 };
/* LIMIT for an event of more than `limit` bytes, which comes from the store's own. */
SESLITE_PRIVATE int ses__check_event_size(const ses_store *store, size_t len, size_t limit, ses_error *error);
/* Checks a JSON argument against the store's limit. */
SESLITE_PRIVATE int ses__check_text(const ses_store *store, const char *text, size_t len, const char *what,
                                    struct span *span, ses_error *error);

#endif
