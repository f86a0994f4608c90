/* Takes the oldest input together with the lease of its session. A call looks before it writes, and waits
 * among those that wait for leases. */
#include "base/clock.h"
#include "base/error.h"
#include "inbox/inbox.h"
#include "session/sql/lease.h"

static const int64_t LOOK_FIRST_US = 4000;
static const int64_t LOOK_LAST_US = 120000;

struct input_taking {
    ses_store *store;
    ses_key key;
    const char *owner;
    int64_t duration_us;
    struct limits limits;
    int64_t now_us;
    ses_inputs *inputs; /* one, after success */
    ses_lease lease;
};

/* Reads the oldest input after that place of a session whose lease may be taken, if there is one. */
static int find_candidate(struct input_taking *own, struct db *db, int64_t after, ses_error *error)
{
    struct inbox_range range = {.after = after, .limit = 1, .lease_owner = own->owner, .now_us = own->now_us};
    struct query rows;
    const int code = ses__inbox_find(db, &own->key, &range, error);

    own->inputs->count = 0;
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    ses__inbox_ask(&rows, db, &range, error);
    return ses__inputs_fill(own->inputs, &rows);
}

static int run_input_look(struct db *db, void *context, ses_error *error)
{
    return find_candidate(context, db, 0, error);
}

/* Takes the lease of the candidate's session, and reads the input again. It is not taken if another owner has
 * the lease after all, or the input was answered meanwhile. (On a server, the search locks the session.) */
static int take_candidate(struct input_taking *own, struct db *db, bool *taken, ses_error *error)
{
    const ses_input *input = &own->inputs->items[0];
    const ses_key key = {input->app, input->user, input->session};
    const struct session_ref ref = {&key, NULL};
    struct inbox_range first = {.of = INBOX_OF_SESSION, .limit = 1};
    int64_t now_us = own->now_us;
    struct session_row row;
    struct lease_row lease;
    struct query session;
    struct query leases;
    struct query rows;
    int code = ses__session_ask(&session, db, &ref, &row, error);

    *taken = false;
    if (code == SES_OK) {
        first.owner = row.id;
        ses__lease_ask(&leases, db, row.id, error);
        ses__inbox_ask(&rows, db, &first, error);
        code = ses__session_take(&session, &ref, &row);
    }
    if (code == SES_NOTFOUND)
        ses__error_clear(error);
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    code = ses__lease_take(&leases, row.id, &lease, &now_us);
    if (code == SES_OK)
        code = ses__inputs_fill(own->inputs, &rows);
    if (code != SES_OK || own->inputs->count == 0)
        return code;
    return ses__lease_try(db, &lease, own->owner, own->duration_us, now_us, taken, &own->lease, error);
}

static int run_input_taking(struct db *db, void *context, ses_error *error)
{
    struct input_taking *own = context;
    bool taken = false;
    int64_t after = 0;
    int code = SES_OK;

    while (code == SES_OK && !taken) {
        code = find_candidate(own, db, after, error);
        if (code != SES_OK || own->inputs->count == 0)
            return code;
        after = own->inputs->items[0].place;
        code = take_candidate(own, db, &taken, error);
    }
    return code;
}

/* The write reports a store that is read-only. */
static int try_to_take(struct input_taking *own, ses_error *error)
{
    struct storage *storage = own->store->storage;
    int code = SES_OK;

    own->now_us = ses__store_now(own->store);
    if (!storage->read_only)
        code = ses__run_within(storage, &own->limits, TO_READ, run_input_look, own, error);
    if (code == SES_OK && (storage->read_only || own->inputs->count > 0))
        code = ses__run_within(storage, &own->limits, TO_WRITE(0), run_input_taking, own, error);
    return code;
}

/* Tries until there is an input, or the time is over. */
static int take_in_time(struct input_taking *own, struct lease_waiter *waiter, int64_t deadline_us,
                        ses_error *error)
{
    int64_t pause_us = LOOK_FIRST_US;

    for (;;) {
        const int code = try_to_take(own, error);
        const int64_t now_us = ses__clock_steady_us();
        if (code != SES_OK || own->inputs->count > 0 || now_us >= deadline_us)
            return code;
        if (!ses__lease_queue_wait(&own->store->leases, waiter, now_us + pause_us, deadline_us))
            return ses__error_set(error, SES_INTERRUPTED,
                                  "the call was interrupted while it waited for an input");
        pause_us = pause_us < LOOK_LAST_US ? pause_us + pause_us / 8 : LOOK_LAST_US;
    }
}

static int wait_and_take_input(struct input_taking *own, int64_t wait_ms, ses_error *error)
{
    struct lease_waiter waiter = {.key = &own->key, .is_inbox = true, .limits = &own->limits};
    struct lease_queue *queue = &own->store->leases;
    const int64_t deadline_us = wait_ms < 0 ? INT64_MAX : ses__clock_steady_us() + ses__wait_us(wait_ms);

    if (wait_ms == 0)
        return try_to_take(own, error);
    if (!ses__lease_queue_join(queue, &waiter))
        return ses__error_nomem(error);
    const int code = take_in_time(own, &waiter, ses__limits_until(&own->limits, deadline_us), error);
    ses__lease_queue_leave(queue, &waiter);
    return code;
}

static int take_input(ses_store *store, const ses_key *whose, const char *owner,
                      const ses_inbox_take_options *given, ses_inputs **input, ses_lease *lease,
                      ses_error *error)
{
    struct input_taking own = {.store = store, .owner = owner};
    ses_inbox_take_options options;
    int code = ses__inbox_check(whose, &own.key, error);

    if (code == SES_OK)
        code = ses__lease_check_owner(owner, error);
    if (code == SES_OK)
        code = ses__check_argument(lease, "lease", error);
    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "inbox take options", error);
    if (code == SES_OK)
        code = ses__lease_duration(&options.duration_us, error);
    if (code == SES_OK)
        code = ses__inputs_new(store, &own.inputs, error);
    if (code != SES_OK)
        return code;
    own.duration_us = options.duration_us;
    own.limits = LIMITS_OF(store, options);
    code = wait_and_take_input(&own, options.wait_ms, error);
    if (code == SES_OK && own.inputs->count == 0)
        code = SES_ABSENT;
    if (code != SES_OK) {
        ses_inputs_close(own.inputs);
        return code;
    }
    *input = own.inputs;
    *lease = own.lease;
    return SES_OK;
}

int ses_inbox_take(ses_store *store, const ses_key *whose, const char *owner,
                   const ses_inbox_take_options *options, ses_inputs **input, ses_lease *lease,
                   ses_error *error)
{
    int code = ses__store_begin_giving(store, input, "input", error);
    return code == SES_OK
               ? ses__store_end(store, take_input(store, whose, owner, options, input, lease, error))
               : code;
}
