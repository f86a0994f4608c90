/*
 * Group commit. A call that finds the writer idle leads: it begins a transaction, runs its own job, then the
 * jobs of all waiting calls, and commits once for all of them. Then the turn goes to the first call that has
 * arrived in the meantime.
 */
#include "base/clock.h"
#include "base/error.h"
#include "storage/sqlite/parts.h"

/* The most jobs and bytes of one commit, so that no call waits for a commit without end. */
enum { GROUP_JOBS = 64 };
static const size_t GROUP_BYTES = (size_t)4 << 20;

/*
 * Threads that share a commit often return with their next job moments after it. Where commits are slow, the
 * next leader gives them a tenth of a commit's time to join, and at most COMPANY_MAX_US. It does not wait
 * after a commit that was not shared, or if the wait would be shorter than waking up takes.
 */
static const int64_t COMPANY_LEAST_US = 50;
static const int64_t COMPANY_MAX_US = 500;

enum signal { SIGNAL_NONE, SIGNAL_LEAD, SIGNAL_DONE };

struct pending {
    storage_job *job;
    void *context;
    size_t bytes;
    enum job_kind kind;
    const struct limits *limits; /* of the call; NULL: none */
    int64_t deadline;            /* of waiting, by the steady clock */
    ses_error *error;
    int result;
    bool settled;         /* it has failed, whatever happens to the rest of the group */
    bool set_aside;       /* it has failed after it wrote: it does not run again if what it saw is stored */
    bool queued;          /* guarded by the storage's lock, as is `next` */
    struct pending *next; /* in the queue, then in the group */
    /* Guards the members below, so a thread that is woken does not wait for the storage's lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    enum signal signal;
};

/* -------------------------------------------------------------------------------------------- signals */

static void notify(struct pending *pending, enum signal signal)
{
    (void)pthread_mutex_lock(&pending->lock);
    pending->signal = signal;
    (void)pthread_cond_signal(&pending->wake);
    (void)pthread_mutex_unlock(&pending->lock);
}

/* SIGNAL_NONE when the deadline has passed. */
static enum signal await(struct pending *pending, int64_t deadline)
{
    bool in_time = true;

    (void)pthread_mutex_lock(&pending->lock);
    while (pending->signal == SIGNAL_NONE && in_time)
        in_time = ses__limits_wait(deadline == INT64_MAX ? NULL : pending->limits, &pending->wake,
                                   &pending->lock, deadline);
    enum signal signal = pending->signal;
    (void)pthread_mutex_unlock(&pending->lock);
    return signal;
}

static bool pending_init(struct pending *pending)
{
    bool ok = pthread_mutex_init(&pending->lock, NULL) == 0;
    if (ok && !ses__condition_init(&pending->wake)) {
        (void)pthread_mutex_destroy(&pending->lock);
        ok = false;
    }
    return ok;
}

/* ---------------------------------------------------------------------------------------------- queue */

static void queue_add(struct writer *writer, struct pending *pending)
{
    if (writer->last)
        writer->last->next = pending;
    else
        writer->first = pending;
    writer->last = pending;
    pending->queued = true;
    writer->queued++;
    if (writer->queued == writer->awaited)
        (void)pthread_cond_signal(&writer->company);
}

static void queue_remove(struct writer *writer, struct pending *pending)
{
    struct pending *before = NULL;
    for (struct pending *at = writer->first; at != pending; at = at->next)
        before = at;
    if (before)
        before->next = pending->next;
    else
        writer->first = pending->next;
    if (writer->last == pending)
        writer->last = before;
    pending->next = NULL;
    pending->queued = false;
    writer->queued--;
}

static struct pending *queue_take_first(struct writer *writer)
{
    struct pending *first = writer->first;
    if (first)
        queue_remove(writer, first);
    return first;
}

void ses__writer_hand_on(struct sqlite *storage)
{
    struct writer *writer = &storage->writer;
    struct checkpointer *checkpointer = &storage->checkpointer;

    writer->taken = checkpointer->due && checkpointer->started && !checkpointer->stops;
    if (writer->taken) {
        checkpointer->due = false;
        checkpointer->work = checkpointer->finishes || ses__wal_fits_turn(checkpointer)
                                 ? CHECKPOINT_IN_TURN
                                 : CHECKPOINT_CONCURRENT;
        (void)pthread_cond_signal(&checkpointer->wake);
    } else if (writer->first) {
        writer->taken = true;
        notify(queue_take_first(writer), SIGNAL_LEAD);
    }
}

/* ---------------------------------------------------------------------------------------------- group */

/* The jobs of one transaction, in the order they ran. */
struct group {
    struct pending *first;
    struct pending *last;
    size_t count;
    size_t bytes;
    int64_t begun_us; /* when its transaction had the lock, by the steady clock */
    size_t tentative; /* jobs that have succeeded, should the commit do so */
    size_t reads;     /* jobs that only read: those of a store in memory */
    /* The latest time until which a job waits for locks. Steps for all jobs wait as long. */
    int64_t deadline;
};

static bool writes(enum job_kind kind)
{
    return kind == JOB_WRITES || kind == JOB_WRITES_BY_ITSELF;
}

/* True if the job waits for the turn itself, and not for a leader. */
static bool wants_turn(enum job_kind kind)
{
    return kind == JOB_ALONE || kind == JOB_WRITES_BY_ITSELF || kind == JOB_READS_BY_ITSELF;
}

/*
 * False if the job has failed and left something to undo; most jobs fail before they write. (So does every
 * statement that fails: SQLite undoes that one itself, but before 3.50.2 it may then write a log that cannot
 * be read back, see known_bugs in engine.c.) A job that refuses after others have written may do so because
 * of what they wrote (EXISTS, STALE), so it is not settled before theirs. A statement that fails has nothing
 * to do with that.
 */
static bool run_pending(struct connection *db, struct group *group, struct pending *pending)
{
    int changes = sqlite3_total_changes(db->handle);
    int64_t events = db->base.events;
    bool good = true;

    ses__connection_start_call(db, pending->deadline,
                               pending->kind == JOB_READS || pending->kind == JOB_READS_BY_ITSELF,
                               pending->limits);
    db->failed = false;
    db->reshaped = false;
    pending->result = pending->job(&db->base, pending->context, pending->error);
    ses__sqlite_end_queries(db);
    if (pending->result >= 0) {
        const int code = ses__transaction_check_open(db, pending->error);
        pending->result = code == SES_OK ? pending->result : code;
    }
    if (db->base.deadline_us > group->deadline) /* a job may move its own */
        group->deadline = db->base.deadline_us;
    ses__connection_start_call(db, group->deadline, false, NULL);
    if (pending->result >= 0) {
        group->tentative++;
    } else {
        db->base.events = events;
        good = !db->failed && !db->reshaped && sqlite3_total_changes(db->handle) == changes &&
               !sqlite3_get_autocommit(db->handle);
        pending->settled = db->failed || group->tentative == 0;
        pending->set_aside = !good;
    }
    return good;
}

/* The transaction cannot go on, or it did not commit: nothing of the group is stored. */
static void fail_all(struct group *group, int code, const ses_error *failure)
{
    for (struct pending *pending = group->first; pending; pending = pending->next) {
        if (!pending->settled) {
            pending->result = code;
            if (pending->error)
                *pending->error = *failure;
        }
    }
    group->tentative = 0;
}

/* Runs the jobs that are neither settled nor set aside. Returns the first that leaves something to undo. */
static struct pending *run_rest(struct connection *db, struct group *group)
{
    struct pending *pending = group->first;
    bool good = true;

    while (pending && good) {
        struct pending *at = pending;
        if (!at->settled && !at->set_aside) {
            ses__error_clear(at->error); /* of an earlier run */
            good = run_pending(db, group, at);
        }
        pending = good ? at->next : at;
    }
    return pending;
}

/*
 * One job has failed and left something to undo. Everything is rolled back, and the others run again in a
 * transaction without it. This ends: each time one more job is settled, or set aside while none is settled.
 * False if that transaction could not begin: all jobs have failed then, and no transaction is open.
 */
static bool run_again(struct connection *db, struct group *group)
{
    const struct pending *failed = NULL;
    bool begun = false;

    do {
        ses_error failure;
        ses__transaction_roll_back(db);
        db->base.events = 0;
        group->tentative = 0;
        int code = ses__transaction_begin(db, STATEMENT_BEGIN_WRITE, &failure);
        begun = code == SES_OK;
        if (!begun)
            fail_all(group, code, &failure);
        failed = begun ? run_rest(db, group) : NULL;
        /* If one that had succeeded has failed, its writes may be why others were set aside. */
        for (struct pending *at = group->first; failed && failed->settled && at; at = at->next)
            at->set_aside = false;
    } while (failed);
    return begun;
}

/* With the lock held. Waits for the callers that shared the last commit to return, if that is worth it. */
static void await_company(struct sqlite *storage, const struct group *group)
{
    struct writer *writer = &storage->writer;
    int64_t patience = writer->commit_us / 10;

    if (patience > COMPANY_MAX_US)
        patience = COMPANY_MAX_US;
    if (patience >= COMPANY_LEAST_US && group->count + writer->queued < writer->last_group) {
        int64_t deadline = writer->last_commit_us + patience;
        writer->awaited = writer->last_group - group->count;
        while (writer->queued < writer->awaited && ses__clock_steady_us() < deadline)
            (void)ses__condition_wait(&writer->company, &storage->lock, deadline);
        writer->awaited = 0;
    }
}

/* The next waiting call, while the group has room and its leader has time. A call that wants the turn for
 * itself is left to wait. */
static struct pending *take_next(struct sqlite *storage, const struct group *group)
{
    struct pending *next = NULL;

    if (group->count < GROUP_JOBS && group->bytes < GROUP_BYTES && !wants_turn(group->first->kind) &&
        !ses__limits_passed(group->first->limits)) {
        (void)pthread_mutex_lock(&storage->lock);
        if (!storage->writer.first)
            await_company(storage, group);
        if (storage->writer.first && !wants_turn(storage->writer.first->kind))
            next = queue_take_first(&storage->writer);
        (void)pthread_mutex_unlock(&storage->lock);
    }
    return next;
}

static int commit_or_roll_back(struct sqlite *storage, ses_error *failure)
{
    struct connection *db = storage->writer.db;
    /* A commit to files that were deleted or replaced would be lost, and its log may belong to another
     * file by now. */
    int code = ses__connection_guard_file(db, failure);

    /* Between its transactions a store with a rollback journal has no lock that Node could see. */
    if (code == SES_OK && !db->config->in_memory && !db->config->file->has_log)
        code = ses__file_check_js_lock(db->config->allocator, db->config->path, failure);
    if (code == SES_OK) {
        ses__wal_file_extend(storage);
        code = ses__commit(db, failure);
    }
    if (code != SES_OK)
        ses__transaction_roll_back(db);
    return code;
}

/* In a transaction of its own. */
static void run_alone(struct sqlite *storage, struct group *group, struct pending *pending)
{
    struct connection *db = storage->writer.db;
    int64_t events = db->base.events;
    ses_error failure;

    ses__error_clear(pending->error); /* of an earlier run */
    ses__connection_start_call(db, pending->deadline, false, pending->limits);
    pending->result = ses__transaction_begin(db, STATEMENT_BEGIN_WRITE, pending->error);
    if (pending->result != SES_OK)
        return;
    (void)run_pending(db, group, pending);
    if (pending->result < 0) {
        ses__transaction_roll_back(db);
        return;
    }
    int code = commit_or_roll_back(storage, &failure);
    if (code != SES_OK) {
        db->base.events = events;
        pending->result = code;
        if (pending->error)
            *pending->error = failure;
    }
}

static void commit_group(struct sqlite *storage, struct group *group)
{
    ses_error failure;
    int code = commit_or_roll_back(storage, &failure);

    if (code == SES_OK)
        return;
    storage->writer.db->base.events = 0;
    if (code != SES_CONSTRAINT || group->count == 1) {
        fail_all(group, code, &failure);
        return;
    }
    /* A deferred constraint forbids the work of one member of the group. Run them one by one, so that only
     * that one fails. */
    for (struct pending *pending = group->first; pending; pending = pending->next) {
        if (!pending->settled)
            run_alone(storage, group, pending);
    }
}

/* Runs the first job, if its transaction has begun, then the jobs of all waiting calls, and commits. True if
 * there was something to commit. */
static bool run_group(struct sqlite *storage, struct group *group, struct pending *first)
{
    struct connection *db = storage->writer.db;
    bool begun = first->result == SES_OK;
    bool commits = false;

    for (struct pending *pending = first; pending; pending = begun ? take_next(storage, group) : NULL) {
        if (group->last)
            group->last->next = pending;
        else
            group->first = pending;
        group->last = pending;
        group->count++;
        group->reads += writes(pending->kind) ? 0 : 1;
        group->bytes += pending->bytes;
        if (begun && !run_pending(db, group, pending))
            begun = run_again(db, group);
    }
    if (begun) {
        commits = group->tentative > 0;
        if (commits)
            commit_group(storage, group);
        else
            ses__transaction_roll_back(db);
    }
    return commits;
}

/* With the lock held. `reads` of the `calls` only read. */
static void count_calls(struct sqlite *storage, size_t calls, size_t reads)
{
    storage->counts.write_calls += (int64_t)(calls - reads);
    storage->counts.read_calls += (int64_t)reads;
}

/* Each thread of a group wakes the next one, so that the leader can return after waking one. */
static void wake_next(struct pending *next)
{
    if (next)
        notify(next, SIGNAL_DONE);
}

/* With the turn. Runs a group that begins with the thread's own job, and hands the turn on. */
static void lead(struct sqlite *storage, struct pending *own)
{
    struct writer *writer = &storage->writer;
    struct connection *db = writer->db;
    const int64_t waits_before = db->busy_waits;
    struct group group = {0};

    ses__wal_slow_down(storage);
    if (!db->config->in_memory)
        ses__give_way(writer);
    ses__connection_start_call(db, own->deadline, false, own->limits);
    own->result = ses__transaction_begin(db, STATEMENT_BEGIN_WRITE, own->error);
    if (own->result == SES_BUSY || db->busy_waits > waits_before)
        ses__give_way_others_seen(writer);
    group.begun_us = ses__clock_steady_us();
    const bool commits = run_group(storage, &group, own);

    (void)pthread_mutex_lock(&storage->lock);
    writer->last_commit_us = ses__clock_steady_us();
    if (!wants_turn(own->kind)) /* its callbacks took the time */
        writer->commit_us = writer->last_commit_us - group.begun_us;
    writer->last_group = group.count;
    storage->counts.commits += commits && group.reads < group.count ? 1 : 0;
    count_calls(storage, group.count, group.reads);
    storage->counts.sqlite.wal_pages = db->wal_pages;
    ses__connection_count(db, &storage->counts);
    ses__wal_note_commit(storage);
    ses__writer_hand_on(storage);
    (void)pthread_mutex_unlock(&storage->lock);
    wake_next(own->next);
}

/* With the turn: runs the own job without a transaction, and hands the turn on. */
static void work_alone(struct sqlite *storage, struct pending *own)
{
    struct connection *db = storage->writer.db;

    ses__connection_start_call(db, own->deadline, false, own->limits);
    own->result = own->job(&db->base, own->context, own->error);
    ses__connection_end_call(db);
    (void)pthread_mutex_lock(&storage->lock);
    ses__connection_count(db, &storage->counts);
    ses__writer_hand_on(storage);
    (void)pthread_mutex_unlock(&storage->lock);
}

int ses__writer_run(struct sqlite *storage, storage_job *job, void *context, size_t bytes, enum job_kind kind,
                    const struct limits *limits, ses_error *error)
{
    struct writer *writer = &storage->writer;
    const int64_t begun_us = ses__clock_steady_us();
    struct pending own = {.job = job,
                          .context = context,
                          .bytes = bytes,
                          .kind = kind,
                          .limits = limits,
                          .deadline = ses__limits_until(limits, begun_us + storage->config.busy_timeout_us),
                          .error = error};
    enum signal signal = SIGNAL_NONE;

    if (!pending_init(&own))
        return ses__error_nomem(error);
    (void)pthread_mutex_lock(&storage->lock);
    if (!writer->taken) {
        writer->taken = true;
        signal = SIGNAL_LEAD;
    } else {
        queue_add(writer, &own);
        storage->counts.write_waits += kind == JOB_ALONE ? 0 : 1;
    }
    (void)pthread_mutex_unlock(&storage->lock);

    if (signal == SIGNAL_NONE)
        signal = await(&own, own.deadline);
    if (signal == SIGNAL_NONE) {
        (void)pthread_mutex_lock(&storage->lock);
        bool still_queued = own.queued;
        if (still_queued) {
            queue_remove(writer, &own);
            if (kind != JOB_ALONE)
                count_calls(storage, 1, writes(kind) ? 0 : 1);
        }
        (void)pthread_mutex_unlock(&storage->lock);
        if (still_queued)
            own.result =
                ses__refuse_busy(&storage->config, limits, begun_us, "the writing connection is", error);
        else /* a leader has taken it, and its outcome is being decided */
            signal = await(&own, INT64_MAX);
    }
    if (signal == SIGNAL_LEAD && kind == JOB_ALONE)
        work_alone(storage, &own);
    else if (signal == SIGNAL_LEAD)
        lead(storage, &own);
    else if (signal == SIGNAL_DONE)
        wake_next(own.next);
    (void)pthread_cond_destroy(&own.wake);
    (void)pthread_mutex_destroy(&own.lock);
    return own.result;
}
