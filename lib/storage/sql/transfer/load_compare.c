/* Compares a session that is loaded with a stored one, and finds a free name for it where they differ. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/transfer/load.h"

/* ----------------------------------------------------------------------------------------- annotations */

/* Both may be NULL. */
static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static int read_known_details(struct load_run *run, const struct session_row *row, struct snapshot *own,
                              ses_error *error)
{
    int code = ses__snapshot_init(own, run->db->allocator, run->op->seed, error);

    own->row = *row;
    return code == SES_OK
               ? ses__load_details_of(
                     run->db, &(struct described){&own->row, run->op->key->app, own, &own->annotations},
                     error)
               : code;
}

static const char *compare_annotations(const struct load_op *op, const struct snapshot *own)
{
    const ses_label *labels = own->annotations.labels;
    bool same = own->annotations.label_count == op->annotating.label_count;

    if (own->row.expires_us != op->expires_us)
        return "expiry";
    if (own->annotations.archived_us != op->annotating.archived_us)
        return "archive";
    if (own->annotations.remembered_seq < op->annotating.remembered_seq)
        return "remembered_seq";
    if (!same_text(own->annotations.title, op->annotating.title))
        return "title";
    for (size_t i = 0; i < op->annotating.label_count && same; i++)
        same = strcmp(labels[i].name, op->annotating.labels[i].name) == 0 &&
               strcmp(labels[i].value, op->annotating.labels[i].value) == 0;
    return same ? NULL : "labels";
}

static bool same_link(const ses_key *left, const ses_key *right)
{
    return left && right ? strcmp(left->user, right->user) == 0 && strcmp(left->session, right->session) == 0
                         : left == right;
}

static int compare_details(struct load_run *run, const struct session_row *row, const char **difference,
                           bool *annotates, ses_error *error)
{
    const struct load_op *op = run->op;
    struct snapshot own;
    int code = read_known_details(run, row, &own, error);

    if (code == SES_OK) {
        *difference = compare_annotations(op, &own);
        if (*difference && annotates) {
            *annotates = true;
            *difference = NULL;
        }
        if (!*difference &&
            !(same_link(own.parent, op->parent) && (!own.parent || own.parent_seq == op->parent_seq)))
            *difference = "parent";
        const bool is_memory = (row->details & DETAIL_MEMORY) != 0;
        if (!*difference && !(same_link(own.child_of, op->child_of) && is_memory == op->is_memory))
            *difference = "kind";
    }
    ses__snapshot_free(&own);
    return code;
}

/* The labels that are to be set, and those of the session that are to be removed, sorted by name. */
static int merge_labels(struct annotating *change, const struct annotations *own, struct arena *arena,
                        ses_error *error)
{
    const struct annotating given = *change;
    ses_label *labels = ses__arena_new(arena, (own->label_count + given.label_count + 1) * sizeof *labels);
    size_t count = 0;
    size_t next = 0;

    if (!labels)
        return ses__error_nomem(error);
    for (size_t i = 0; i < own->label_count; i++) {
        while (next < given.label_count && strcmp(given.labels[next].name, own->labels[i].name) < 0)
            labels[count++] = given.labels[next++];
        if (next == given.label_count || strcmp(given.labels[next].name, own->labels[i].name) != 0)
            labels[count++] = (ses_label){own->labels[i].name, NULL};
    }
    while (next < given.label_count)
        labels[count++] = given.labels[next++];
    change->labels = labels;
    change->label_count = count;
    return SES_OK;
}

int ses__load_annotate(struct load_run *run, struct session_row *row, ses_error *error)
{
    const struct load_op *op = run->op;
    struct annotating change = op->annotating;
    struct snapshot own;
    int code = read_known_details(run, row, &own, error);
    const struct annotated now = {.has_title = own.annotations.title != NULL};

    change.sets_title = true;
    if (code == SES_OK)
        code = merge_labels(&change, &own.annotations, &own.arena, error);
    if (code == SES_OK)
        code = ses__details_annotate(run->db, row, &change, &now, error);
    if (code == SES_OK)
        code = ses__details_archive(run->db, row, change.archived_us, error);
    if (code == SES_OK && change.remembered_seq > own.annotations.remembered_seq)
        code = ses__details_remember(run->db, row, change.remembered_seq, error);
    ses__snapshot_free(&own);
    if (code != SES_OK || row->expires_us == op->expires_us)
        return code;
    row->expires_us = op->expires_us;
    return ses__change_one(run->db, STATEMENT_SESSION_EXPIRY, "sessions", error,
                           VALUES(INT(row->id), INT_IF(op->expires_us != INT64_MAX, op->expires_us)));
}

/* ----------------------------------------------------------------------------------------------- state */

/* The values that were loaded, and the number of stored ones that were compared with them. */
struct base_comparison {
    const struct load_op *op;
    size_t count;
    bool differs;
};

static int compare_base_value(void *context, const struct base_value *value, ses_error *error)
{
    struct base_comparison *it = context;
    const struct base_value *loaded = it->count < it->op->base_count ? &it->op->base[it->count] : NULL;
    (void)error;

    it->differs = it->differs || !loaded || !ses__span_is(loaded->name, value->name) ||
                  !ses__span_is(loaded->value, value->value) || loaded->seq != value->seq;
    it->count++;
    return SES_OK;
}

int ses__load_compare_head(struct load_run *run, const struct session_row *row, const char **difference,
                           bool *annotates, ses_error *error)
{
    const struct load_op *op = run->op;
    struct base_comparison base = {.op = op, .differs = row->base_seq != op->base_seq};
    struct arena arena;
    struct span initial;
    int code = SES_OK;

    *difference = row->created_us != op->created_us ? "time of creation" : NULL;
    if (!*difference)
        code = compare_details(run, row, difference, annotates, error);
    if (code == SES_OK && !*difference) {
        ses__arena_init(&arena, run->db->allocator);
        code = ses__log_initial(run->db, row->id, &arena, &initial, error);
        if (code == SES_OK && (initial.ptr && op->initial.ptr ? !ses__span_is(initial, op->initial)
                                                              : initial.ptr != op->initial.ptr))
            *difference = "initial state";
        ses__arena_free(&arena);
    }
    if (code == SES_OK && !*difference) {
        code = ses__base_visit_all(run->db, row, compare_base_value, &base, error);
        if (code == SES_OK && (base.differs || base.count != op->base_count))
            *difference = "base";
    }
    return code;
}

const char *ses__load_compare_end(const struct load_run *run, const struct session_row *row)
{
    const struct load_op *op = run->op;
    const int64_t last_seq = op->last_seq ? op->last_seq : run->times.seq;
    const int64_t updated_us =
        op->updated_us == INT64_MIN ? ses__update_times_end(&run->times) : op->updated_us;

    return row->event_count != run->count  ? "number of events"
           : row->last_seq != last_seq     ? "last sequence number"
           : row->updated_us != updated_us ? "update time"
                                           : NULL;
}

/* ------------------------------------------------------------------------------------------- own state */

static int refuse_key(struct span name, ses_error *error)
{
    return ses__error_set(
        error, SES_INVALID,
        "the own state that was given is not what the initial state and the events lead to: the key \"%.200s\" differs",
        name.ptr);
}

static int compare_states(const struct state *given, const struct state *led, ses_error *error)
{
    struct state_entry *const *entries = ses__state_sorted(given);
    struct state_entry *const *led_entries = ses__state_sorted(led);

    if (!entries || !led_entries)
        return ses__error_nomem(error);
    for (size_t i = 0; i < ses__state_count(given); i++) {
        const struct span name = ses__state_entry_span(entries[i]);
        const struct state_entry *found = ses__state_find(led, name);
        if (!found || !ses__span_is(ses__state_entry_value(entries[i]), ses__state_entry_value(found)))
            return refuse_key(name, error);
    }
    for (size_t i = 0; i < ses__state_count(led); i++) {
        const struct span name = ses__state_entry_span(led_entries[i]);
        if (!ses__state_find(given, name))
            return refuse_key(name, error);
    }
    return SES_OK;
}

int ses__load_check_state(struct load_run *run, ses_error *error)
{
    struct replay given;

    if (!run->op->state)
        return SES_OK;
    int code = ses__replay_init(&given, run->db->allocator, run->op->seed, false, error);
    if (code == SES_OK)
        code = ses__replay_delta(&given, run->op->state, 0, error);
    if (code == SES_OK)
        code = compare_states(&given.state, &run->replay.state, error);
    ses__replay_free(&given);
    return code;
}

/* ------------------------------------------------------------------------------------------- names */

/* The number of other names under which a different session may be there already. */
enum { MAX_RENAMES = 10000 };

/* NAME~2, NAME~3 ...: cut so that it stays an id. */
static void write_other_name(char *to, const char *name, int number)
{
    char suffix[16];
    size_t limit = SES_ID_MAX - (size_t)snprintf(suffix, sizeof suffix, "~%d", number);
    size_t len = strlen(name);

    if (len > limit)
        len = ses__utf8_valid_part(name, limit);
    memcpy(to, name, len);
    memcpy(to + len, suffix, strlen(suffix) + 1);
}

/* `same`: the other session is equal to the one that was made, under the name that it would get. */
static int compare_with(struct load_run *run, const struct session_row *other, bool *same, ses_error *error)
{
    const char *difference = ses__load_compare_end(run, other);
    bool has_others = false;
    bool lacks = false;
    int64_t seq = 0;
    int code = SES_OK;

    if (!difference)
        code = ses__load_compare_head(run, other, &difference, NULL, error);
    if (code != SES_OK || difference)
        return code;
    /* The first of its events that the other one lacks, or has in another way. */
    code = ses__query_number(run->db, STATEMENT_EVENT_UNLIKE, &seq, error,
                             VALUES(INT(run->row.id), INT(other->id)));
    *same = code == SES_NOTFOUND;
    code = *same ? SES_OK : code;
    if (*same && run->op->artifacts)
        code = ses__load_compare_artifacts(run, other->user_id, run->op->name, &has_others, &lacks, error);
    *same = *same && !has_others && !lacks;
    return code;
}

int ses__load_find_name(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    const ses_key key = {op->key->app, op->key->user, op->name};

    for (int number = 2; number < MAX_RENAMES; number++) {
        struct session_row other;
        bool same = false;
        write_other_name(op->name, op->key->session, number);
        int code = ses__session_find(run->db, &key, &other, error);
        if (code == SES_NOTFOUND)
            return SES_OK;
        if (code == SES_OK)
            code = compare_with(run, &other, &same, error);
        if (code != SES_OK)
            return code;
        if (same) {
            op->outcome = SES_LOADED_EQUAL;
            op->version_now = other.version;
            return SES_OK;
        }
    }
    return ses__refuse_existing(op->key, error);
}
