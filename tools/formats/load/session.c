/*
 * The file has the final state of a session but not its initial state. So the events are walked twice: first
 * to find the keys that they wrote, then to load them. The keys that no event wrote make up the initial
 * state.
 */
#include "formats/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "formats/database/database.h"
#include "formats/load/event_read.h"
#include "formats/load/initial.h"

struct walk {
    const struct session_import *import;
    struct event_read read;
    struct initial initial;
    struct text changed; /* the last event, if it had to be changed */
    int64_t index;       /* of the next event in the file */
    int64_t first_us;
    int64_t latest_us;
    int64_t time_us; /* of the previous event */
    /* The session that is here, if there is one, and copies of what an update leaves as it is. */
    ses_session *here;
    ses_label *labels;
    int64_t expires_us;
    struct text left_out; /* for each event of the file, up to the last one that is left out: is it? */
    bool plain;           /* all events can be loaded as they are */
};

/* ---------------------------------------------------------------------------------------------- the walks */

/* Adds the event to the message. */
static int name_event(const struct walk *walk, const struct foreign_event *event, int code, ses_error *error)
{
    const char *name = walk->read.id.len > 0 ? walk->read.id.data : event->name;

    if (code == SES_INVALID || code == SES_JSON || code == SES_LIMIT || code == SES_RANGE)
        ses__error_prefix(error, "event %" PRId64 "%s%.80s: ", walk->index + 1, name ? ", " : "",
                          name ? name : "");
    return error->code = code == SES_RANGE ? SES_INVALID : code;
}

/* Returns 1 with the next event, parsed. */
static int next_read(struct walk *walk, struct foreign_event *event, ses_error *error)
{
    const struct session_import *import = walk->import;

    text_clear(&walk->read.id);
    int code = import->opened->format->next_event(import->opened->source, event, error);
    if (code == 1 && import->progress)
        import->progress(import->progress_context);
    if (code == 1)
        code = import_check_size(import, event->json, error) == SES_OK ? 1 : error->code;
    if (code == 1)
        code = event_read(&walk->read, event->json, error) == SES_OK ? 1 : error->code;
    return code < 0 ? name_event(walk, event, code, error) : code;
}

static void note_event(const struct walk *walk)
{
    const struct session_import *import = walk->import;
    const struct event_read *read = &walk->read;
    const ses_key *key = &import->key;

    if (read->time_us == FOREIGN_NO_TIME)
        foreign_note(import->opened->file.notes, FOREIGN_NOTE_NO_TIME, "%s/%s/%s, event %" PRId64, key->app,
                     key->user, key->session, walk->index + 1);
    for (size_t i = 0; i < read->count; i++)
        if (is_tombstone(read->changes[i].value))
            foreign_note(import->opened->file.notes, FOREIGN_NOTE_TOMBSTONE_TEXT,
                         "%s/%s/%s, event %s, key %.*s", key->app, key->user, key->session,
                         read->id.len > 0 ? read->id.data : "?", (int)read->changes[i].key.len,
                         read->changes[i].key.ptr);
}

static void take_times(struct walk *walk)
{
    const int64_t time_us = walk->read.time_us;

    if (time_us == FOREIGN_NO_TIME)
        return;
    if (walk->first_us == FOREIGN_NO_TIME)
        walk->first_us = time_us;
    if (time_us > walk->latest_us)
        walk->latest_us = time_us;
}

static int survey_event(struct walk *walk, const struct foreign_event *event, ses_error *error)
{
    const struct event_read *read = &walk->read;
    int code = SES_OK;

    if (read->partial) {
        foreign_note(walk->import->opened->file.notes, FOREIGN_NOTE_PARTIAL, NULL);
        walk->plain = false;
        return 1;
    }
    note_event(walk);
    take_times(walk);
    walk->plain = walk->plain && !event_needs_change(read);
    for (size_t i = 0; i < read->count && code == SES_OK; i++) {
        if (is_shared_key(read->changes[i].key))
            continue;
        code = import_check_key(read->changes[i].key, error);
        if (code == SES_OK)
            own_state_set(&walk->initial.written, read->changes[i].key, read->changes[i].value);
    }
    return code == SES_OK ? 1 : name_event(walk, event, code, error);
}

static bool is_left_out(const struct walk *walk, int64_t index)
{
    return index < (int64_t)walk->left_out.len && walk->left_out.data[index] != 0;
}

/* With `skips`, leaves the event out, and says so once. Returns 1, or the code if it cannot be left out. */
static int leave_out(struct walk *walk, int64_t index, int code, ses_error *error)
{
    const bool is_refused = code == SES_INVALID || code == SES_JSON || code == SES_LIMIT;

    if (!is_refused || !walk->import->skips)
        return code;
    if (!is_left_out(walk, index))
        walk->import->refused(walk->import->refused_context, NULL, error);
    while ((int64_t)walk->left_out.len <= index)
        text_add(&walk->left_out, "", 1);
    walk->left_out.data[index] = 1;
    walk->plain = false;
    ses__error_clear(error);
    return 1;
}

static int survey(struct walk *walk, ses_error *error)
{
    const struct session_import *import = walk->import;
    struct foreign_event event = {.name = NULL};
    int code = import->opened->format->begin_events(import->opened->source, error);

    if (code < 0)
        return code;
    do {
        event.json.ptr = NULL;
        code = next_read(walk, &event, error);
        if (code == 1 && is_left_out(walk, walk->index))
            walk->plain = false;
        else if (code == 1)
            code = survey_event(walk, &event, error);
        /* An event without an end, and a row that is too large, have no next one. */
        if (code < 0 && (event.json.ptr || (!import->opened->format->text && code != SES_LIMIT)))
            code = leave_out(walk, walk->index, code, error);
        walk->index++;
    } while (code == 1);
    return code;
}

/* ------------------------------------------------------------------------------------------------ loading */

/* The event gets the same generated id at every import. */
static void change(struct walk *walk, struct span *json)
{
    char id[40];

    if (walk->plain || !event_needs_change(&walk->read))
        return;
    (void)snprintf(id, sizeof id, "import-%" PRId64, walk->index + 1);
    event_change(&walk->read, id, walk->time_us, &walk->changed);
    *json = (struct span){walk->changed.data, walk->changed.len};
}

static int give_event(void *context, ses_loaded_event *given, ses_error *error)
{
    struct walk *walk = context;
    const struct session_import *import = walk->import;
    struct foreign_event event = {.name = NULL};
    bool passes;
    int code;

    do {
        code = walk->plain ? import->opened->format->next_event(import->opened->source, &event, error)
                           : next_read(walk, &event, error);
        const bool left_out = code != 0 && is_left_out(walk, walk->index);
        passes = left_out || (code == 1 && !walk->plain && walk->read.partial);
        walk->index += code == 1 || left_out;
    } while (passes);
    if (code == 0 && import->opened->database)
        return foreign_changed(import->opened->database, error);
    if (code != 1)
        return code;
    walk->index--;
    change(walk, &event.json);
    if (!walk->plain && walk->read.time_us != FOREIGN_NO_TIME)
        walk->time_us = walk->read.time_us;
    walk->index++;
    given->json = event.json.ptr;
    given->json_len = event.json.len;
    return 1;
}

/* Corrects an impossible time: a session cannot be updated before it was created or before its events. */
static const int64_t *updated_of(const struct walk *walk, int64_t created_us)
{
    const struct session_import *import = walk->import;
    const int64_t *told = &import->session->updated_us;

    if (*told == FOREIGN_NO_TIME)
        return NULL;
    if (*told >= created_us && *told >= walk->latest_us)
        return told;
    foreign_note(import->opened->file.notes, FOREIGN_NOTE_UPDATE_RAISED, "%s/%s/%s", import->key.app,
                 import->key.user, import->key.session);
    return NULL;
}

/* The creation time of the existing session, so that importing again finds no difference; otherwise now. */
static int64_t created_here(const struct walk *walk)
{
    const struct session_import *import = walk->import;

    foreign_note(import->opened->file.notes, FOREIGN_NOTE_CREATED_NOW, "%s/%s/%s", import->key.app,
                 import->key.user, import->key.session);
    return walk->here ? ses_session_created_us(walk->here) : (int64_t)time(NULL) * 1000000;
}

/* NULL: there is none, or the load will fail as this did. */
static ses_session *find_here(const struct session_import *import)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    ses_session *session = NULL;

    (void)ses_get(import->store, &import->key, &options, &session, NULL);
    return session;
}

/* An update takes over what the file has. Anything that it lacks, as most formats must, stays as it is. */
static void keep_annotations(struct walk *walk, ses_loaded *loaded)
{
    const ses_session *here = walk->here;

    walk->expires_us = ses_session_expires_us(here);
    if (!loaded->expires_us && walk->expires_us != INT64_MAX)
        loaded->expires_us = &walk->expires_us;
    if (!loaded->title)
        loaded->title = ses_session_title(here);
    if (loaded->label_count > 0 || ses_session_label_count(here) == 0)
        return;
    free(walk->labels);
    loaded->label_count = ses_session_label_count(here);
    walk->labels = allocate(loaded->label_count * sizeof *walk->labels);
    for (size_t i = 0; i < loaded->label_count; i++)
        walk->labels[i] = *ses_session_label(here, i);
    loaded->labels = walk->labels;
}

static int64_t created_of(const struct walk *walk)
{
    const struct foreign_session *session = walk->import->session;

    return session->created_us != FOREIGN_NO_TIME   ? session->created_us
           : walk->first_us != FOREIGN_NO_TIME      ? walk->first_us
           : session->updated_us != FOREIGN_NO_TIME ? session->updated_us
                                                    : created_here(walk);
}

/* NULL: it is no fork, or the name of its parent is one that --rename changes. */
static const ses_key *take_parent(const struct walk *walk, ses_key *parent, int64_t *seq)
{
    const struct foreign_session *session = walk->import->session;

    if (!session->parent || name_fault(session->parent))
        return NULL;
    *parent = (ses_key){NULL, walk->import->key.user, session->parent};
    *seq = session->parent_seq;
    for (int64_t i = 0; i < session->parent_seq; i++)
        *seq -= is_left_out(walk, i);
    return parent;
}

static int load(struct walk *walk, const char *initial, unsigned flags, ses_load_result *result,
                ses_error *error)
{
    const struct session_import *import = walk->import;
    const struct foreign_session *session = import->session;
    const ses_load_options options = {.size = sizeof options, .flags = flags};
    const int64_t created_us = created_of(walk);
    ses_key parent;
    ses_loaded loaded = {.size = sizeof loaded, .initial_state = initial, .initial_state_len = SES_NUL};

    loaded.created_us = &created_us;
    loaded.updated_us = updated_of(walk, created_us);
    loaded.expires_us = session->expires_us != FOREIGN_NO_TIME ? &session->expires_us : NULL;
    loaded.title = session->title;
    loaded.labels = session->labels;
    loaded.label_count = session->label_count;
    loaded.parent = take_parent(walk, &parent, &loaded.parent_seq);
    if (walk->here && (flags & SES_LOAD_UPDATE))
        keep_annotations(walk, &loaded);
    loaded.next = give_event;
    loaded.next_context = walk;
    walk->index = 0;
    walk->time_us = created_us;
    const bool muted = import->opened->file.notes->muted;
    import->opened->file.notes->muted = true; /* the first walk noted the events */
    int code = import->opened->format->begin_events(import->opened->source, error);
    if (code >= 0)
        code = ses_load(import->store, &import->key, &loaded, &options, result, error);
    import->opened->file.notes->muted = muted;
    return code;
}

/* An update keeps the initial state of the earlier import, which is known here even if events have
 * overwritten it since. */
static int update(struct walk *walk, unsigned flags, ses_load_result *result, ses_error *error)
{
    const struct session_import *import = walk->import;
    char *before = NULL;
    int code = ses_state_json_initial_by_key(import->store, &import->key, NULL, &before, NULL, error);

    if (code >= 0)
        code = load(walk, before, flags, result, error);
    ses_free(before);
    return code;
}

static int take_session(struct walk *walk, ses_load_result *result, ses_error *error)
{
    const struct session_import *import = walk->import;
    int code = survey(walk, error);

    if (code == SES_OK)
        code = initial_make(&walk->initial, error);
    if (code != SES_OK)
        return code;
    const unsigned follow = import->flags & SES_LOAD_UPDATE ? SES_LOAD_FOLLOW : 0u;
    const unsigned flags = import->flags | follow | (import->only_check ? SES_LOAD_DRY_RUN : 0u);
    walk->here = find_here(import);
    code = load(walk, walk->initial.json.data, flags, result, error);
    return code == SES_EXISTS && (flags & SES_LOAD_UPDATE) ? update(walk, flags, result, error) : code;
}

static void restore_notes(struct foreign_notes *notes, const int64_t *counts)
{
    for (size_t i = 0; i < FOREIGN_NOTE_COUNT; i++) {
        notes->counts[i] = counts[i];
        if (counts[i] == 0)
            text_free(&notes->examples[i]);
    }
}

/* Some events are refused only when they are loaded. Then all begins again, without the event. */
int session_import(const struct session_import *import, ses_load_result *result, ses_error *error)
{
    struct text left_out = {NULL, 0, 0};
    int64_t noted[FOREIGN_NOTE_COUNT];
    bool again;
    int code;

    memcpy(noted, import->opened->file.notes->counts, sizeof noted);
    do {
        struct walk walk = {.import = import,
                            .initial = {.import = import},
                            .first_us = FOREIGN_NO_TIME,
                            .latest_us = INT64_MIN,
                            .left_out = left_out,
                            .plain = true};
        restore_notes(import->opened->file.notes, noted);
        code = take_session(&walk, result, error);
        again = code < 0 && error->index >= 0 && leave_out(&walk, walk.index - 1, code, error) == 1;
        left_out = walk.left_out;
        ses_session_close(walk.here);
        free(walk.labels);
        event_read_free(&walk.read);
        initial_free(&walk.initial);
        text_free(&walk.changed);
    } while (again);
    text_free(&left_out);
    return code;
}
