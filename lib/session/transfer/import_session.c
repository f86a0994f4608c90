/* Imports one session. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "session/transfer/import.h"

/* The session as given by the lines before its events. */
struct imported_session {
    struct import_call *call;
    struct arena arena;
    int64_t line;
    ses_key key;
    ses_key parent;
    ses_key child_of;
    ses_loaded loaded;
    struct line first;              /* the session's own line; its texts are in the arena */
    struct annotations annotations; /* its labels */
    ses_loaded_value *base;
    size_t base_count;
    size_t base_capacity;
    bool ended;
    int64_t events;
};

/* Keeps the decoded texts of the last line. Its JSON is in the text that was read, and is not kept. */
static void keep_line_texts(struct imported_session *own)
{
    ses__arena_join(&own->arena, &own->call->lines.arena);
}

static const int64_t *line_number(const struct line *line, enum line_field field)
{
    return ses__line_has(line, field) ? &line->of[field].number : NULL;
}

/* --------------------------------------------------------------------------------------------- its line */

static int decode_label_text(struct imported_session *own, struct json_string string, struct span *text,
                             ses_error *error)
{
    const int code = ses__json_decode(string, &own->arena, text);

    if (code == SES_RANGE || (code == SES_OK && text->len > 0 && memchr(text->ptr, '\0', text->len)))
        return ses__error_set(error, SES_INVALID, "a label holds a NUL or a lone surrogate");
    return code == SES_OK ? SES_OK : ses__error_nomem(error);
}

static int take_imported_label(struct imported_session *own, struct json_reader *reader,
                               struct json_string key, ses_error *error)
{
    struct json_string string;
    struct span name;
    struct span value;

    if (ses__json_peek(reader) != JSON_STRING)
        return ses__error_set(error, SES_INVALID, "the value of a label must be a string");
    (void)ses__json_read_string(reader, &string); /* it has been checked */
    int code = decode_label_text(own, key, &name, error);
    if (code == SES_OK)
        code = decode_label_text(own, string, &value, error);
    if (code == SES_OK && !ses__annotations_add_label(&own->annotations, name, value))
        code = ses__error_nomem(error);
    return code;
}

static int take_imported_labels(struct imported_session *own, struct span object, ses_error *error)
{
    struct json_reader reader;
    struct json_string name;
    int code = object.ptr ? ses__json_check(object.ptr, object.len, error) : SES_OK;

    if (code != SES_OK || !object.ptr)
        return code;
    ses__json_start(&reader, object.ptr, object.len);
    (void)ses__json_enter(&reader); /* it has been checked */
    while (code == SES_OK && ses__json_member(&reader, &name))
        code = take_imported_label(own, &reader, name, error);
    own->loaded.labels = own->annotations.labels;
    own->loaded.label_count = own->annotations.label_count;
    return code;
}

static int take_session_line(struct imported_session *own, ses_error *error)
{
    const struct line *line = &own->first;
    const ses_import_options *options = &own->call->options;
    const struct span initial = ses__line_json(line, LINE_INITIAL, LINE_INITIAL_TEXT);
    const char *kind = ses__line_text(line, LINE_SESSION_KIND);
    ses_loaded *loaded = &own->loaded;

    keep_line_texts(own);
    own->key.app = options->app ? options->app : ses__line_text(line, LINE_APP);
    own->key.user = options->user ? options->user : ses__line_text(line, LINE_USER);
    own->key.session = ses__line_text(line, LINE_SESSION);
    own->parent.user = options->user ? options->user : ses__line_text(line, LINE_PARENT_USER);
    own->parent.session = ses__line_text(line, LINE_PARENT_SESSION);
    own->child_of.user = options->user ? options->user : ses__line_text(line, LINE_CHILD_USER);
    own->child_of.session = ses__line_text(line, LINE_CHILD_SESSION);
    *loaded = (ses_loaded){.size = sizeof *loaded,
                           .title = ses__line_text(line, LINE_TITLE),
                           .created_us = line_number(line, LINE_CREATED),
                           .updated_us = line_number(line, LINE_UPDATED),
                           .expires_us = line_number(line, LINE_EXPIRES),
                           .archived_us = line_number(line, LINE_ARCHIVED),
                           .remembered_seq = line->of[LINE_REMEMBERED].number,
                           .version = line_number(line, LINE_VERSION),
                           .last_seq = line->of[LINE_LAST_SEQ].number,
                           .base_seq = line->of[LINE_BASE_SEQ].number,
                           .parent = own->parent.session ? &own->parent : NULL,
                           .parent_seq = line->of[LINE_PARENT_SEQ].number,
                           .origin = line->of[LINE_ORIGIN].number,
                           .child_of = own->child_of.session ? &own->child_of : NULL,
                           .kind = kind ? SES_KIND_MEMORY : 0};
    int code = take_imported_labels(own, line->of[LINE_LABELS].text, error);
    if (code == SES_OK && initial.ptr) {
        loaded->initial_state = ses__arena_text(&own->arena, initial.ptr, initial.len);
        loaded->initial_state_len = initial.len;
        code = loaded->initial_state ? SES_OK : ses__error_nomem(error);
    }
    if (code == SES_OK && (!own->key.app || !own->key.user || !own->key.session))
        code = ses__error_set(error, SES_INVALID, "a session needs the names app, user and session");
    if (code == SES_OK && kind && strcmp(kind, "memory") != 0)
        code = ses__error_set(error, SES_INVALID, "the session_kind is none that this version knows");
    return code;
}

/* ------------------------------------------------------------------------------------- the lines after it */

/* Fails, and marks that the file cannot be read any further. */
static int break_off(struct import_call *call, const char *what, ses_error *error)
{
    call->broken = true;
    return ses__import_refuse(call, SES_INVALID, what, error);
}

static bool is_of_base(const struct line *line)
{
    return ses__line_is(line, "base") || ses__line_is(line, "base_artifact");
}

/* Returns 1 and the next line of the session. Lines of unknown kinds are skipped. */
static int next_of_session(struct import_call *call, ses_error *error)
{
    for (;;) {
        const struct line *line = &call->line;
        int code = ses__import_next(call, error);
        if (code == 0)
            return break_off(call, "the text ends within a session: it was cut short", error);
        if (code < 0) {
            call->broken = true;
            return code;
        }
        if (ses__line_is(line, "event") || is_of_base(line) || ses__line_is(line, "artifact") ||
            ses__line_is(line, "bytes") || ses__line_is(line, "end"))
            return 1;
        if (ses__import_knows(line))
            return break_off(call, "it is inside a session, before the end of that session", error);
    }
}

/* An artifact's name without its prefix, or no name, becomes one with the prefix. */
static int add_base(struct imported_session *own, const struct line *line, ses_error *error)
{
    const bool is_artifact = ses__line_is(line, "base_artifact");
    struct span json = ses__line_json(line, LINE_VALUE, LINE_VALUE_TEXT);
    const char *name = ses__line_text(line, LINE_KEY);
    const char *copy = NULL;

    if (is_artifact && !name)
        json = (struct span){"null", 4};
    if (!json.ptr || (!is_artifact && !name))
        return break_off(own->call, "a key of the base has no name or no value", error);
    if (is_artifact) {
        const size_t size = sizeof BASE_ARTIFACT + (name ? strlen(name) : 0);
        char *made = ses__arena_new(&own->arena, size);
        if (made)
            (void)snprintf(made, size, BASE_ARTIFACT "%s", name ? name : "");
        name = made;
    }
    if (ses__memory_grow(own->arena.allocator, &own->base, &own->base_capacity, own->base_count + 1,
                         sizeof *own->base))
        copy = ses__arena_text(&own->arena, json.ptr, json.len);
    if (!copy || !name)
        return ses__error_nomem(error);
    own->base[own->base_count++] = (ses_loaded_value){name, copy, json.len, line->of[LINE_SEQ].number};
    keep_line_texts(own);
    return SES_OK;
}

/* Reads the lines before the events, and the one after them. */
static int take_base_lines(struct imported_session *own, ses_error *error)
{
    struct import_call *call = own->call;
    int code = next_of_session(call, error);

    while (code == 1 && is_of_base(&call->line)) {
        code = add_base(own, &call->line, error);
        if (code == SES_OK)
            code = next_of_session(call, error);
    }
    call->pending = code == 1;
    own->loaded.base = own->base;
    own->loaded.base_count = own->base_count;
    return code == 1 ? SES_OK : code;
}

static int take_end(struct imported_session *own, ses_error *error)
{
    const struct import_call *call = own->call;
    const struct line *line = &call->line;

    own->ended = true;
    if (ses__line_has(line, LINE_EVENTS) && line->of[LINE_EVENTS].number != own->events)
        return ses__error_set(
            error, SES_INVALID,
            "line %lld: the session had %lld events, but %lld lines of them came: the text was changed",
            (long long)call->lines.number, (long long)line->of[LINE_EVENTS].number, (long long)own->events);
    if (ses__line_has(line, LINE_CRC) && line->of[LINE_CRC].number != (int64_t)call->session_crc)
        return ses__error_set(
            error, SES_INVALID,
            "line %lld: the lines of the session do not have the check sum %lld: the text was changed",
            (long long)call->lines.number, (long long)line->of[LINE_CRC].number);
    return SES_OK;
}

static int next_imported(void *context, ses_loaded_event *event, ses_error *error)
{
    struct imported_session *own = context;
    struct import_call *call = own->call;
    const struct line *line = &call->line;
    int code = next_of_session(call, error);

    if (code != 1)
        return code;
    if (ses__line_is(line, "end"))
        return take_end(own, error);
    if (ses__line_is(line, "artifact"))
        return break_off(call, "an artifact comes after an event, or is out of order", error);
    if (ses__line_is(line, "bytes"))
        return break_off(call, "the bytes belong to no artifact before them", error);
    if (is_of_base(line))
        return break_off(call, "a key of the base comes after an event", error);
    const struct span body = ses__line_json(line, LINE_BODY, LINE_BODY_TEXT);
    if (!body.ptr)
        return break_off(call, "an event has no body", error);
    event->json = body.ptr;
    event->json_len = body.len;
    event->seq = line->of[LINE_SEQ].number;
    event->updated_us = line_number(line, LINE_UPDATED);
    own->events++;
    return 1;
}

/* --------------------------------------------------------------------------------------------- the result */

static void report_session(const struct imported_session *own, const ses_load_result *result, int outcome,
                           const ses_error *why)
{
    const ses_import_item item = {.app = own->key.app,
                                  .user = own->key.user,
                                  .session = own->key.session,
                                  .loaded_as = result ? result->session : NULL,
                                  .outcome = outcome,
                                  .events = result ? result->events : 0,
                                  .line = own->line,
                                  .error = why};
    ses__import_report(own->call, &item);
}

/* Reports that the session is refused, and, if the import is to go on, skips to its end. */
static int refuse_session(struct imported_session *own, int code, ses_error *error)
{
    struct import_call *call = own->call;
    ses_error why = *error;

    ses__error_prefix(&why, "line %lld, session %.60s/%.60s/%.60s: ", (long long)own->line,
                      own->key.app ? own->key.app : "?", own->key.user ? own->key.user : "?",
                      own->key.session ? own->key.session : "?");
    call->report.refused++;
    report_session(own, NULL, SES_IMPORTED_REFUSED, &why);
    *error = why;
    if (!(call->options.flags & SES_IMPORT_SKIP))
        return code;
    ses__error_clear(error);
    while (!own->ended) {
        code = next_of_session(call, error);
        if (code != 1)
            return code;
        own->ended = ses__line_is(&call->line, "end");
        own->events += ses__line_is(&call->line, "event");
    }
    return SES_OK;
}

static int load_imported(struct imported_session *own, ses_error *error)
{
    struct import_call *call = own->call;
    ses_import_report *report = &call->report;
    int64_t *const counts[] = {[SES_LOADED_NEW] = &report->made,
                               [SES_LOADED_EQUAL] = &report->equal,
                               [SES_LOADED_UPDATED] = &report->updated,
                               [SES_LOADED_REPLACED] = &report->replaced,
                               [SES_LOADED_RENAMED] = &report->renamed};
    const unsigned flags = call->options.flags &
                           (SES_IMPORT_UPDATE | SES_IMPORT_REPLACE | SES_IMPORT_RENAME | SES_IMPORT_DRY_RUN);
    const ses_load_options options = {.size = sizeof options,
                                      .flags = flags | (flags & SES_IMPORT_UPDATE ? SES_LOAD_FOLLOW : 0u)};
    struct import_artifacts artifacts;
    ses_load_result result;

    own->loaded.next = next_imported;
    own->loaded.next_context = own;
    ses__import_artifacts_init(&artifacts, call, next_of_session);
    struct artifact_source source = ses__import_artifact_source(&artifacts);
    int code = ses__load_session(call->store, &own->key, &own->loaded, &source, &options, &call->limits,
                                 &result, error);
    ses__import_artifacts_free(&artifacts);
    if (code < 0)
        return code;
    (*counts[result.outcome])++;
    report->events += result.events;
    report->artifacts += source.stored;
    report_session(own, &result, result.outcome, NULL);
    return SES_OK;
}

int ses__import_session(struct import_call *call, ses_error *error)
{
    struct imported_session own = {.call = call, .line = call->lines.number, .first = call->line};
    ses_error why;

    ses__error_clear(&why);
    ses__arena_init(&own.arena, &call->store->allocator);
    ses__annotations_init(&own.annotations, &call->store->allocator);
    int code = take_session_line(&own, &why);
    if (code == SES_OK)
        code = take_base_lines(&own, &why);
    if (code == SES_OK)
        code = load_imported(&own, &why);
    const bool is_refused =
        code == SES_EXISTS || code == SES_INVALID || code == SES_JSON || code == SES_LIMIT;
    if (is_refused && !call->broken)
        code = refuse_session(&own, code, &why);
    if (code != SES_OK && error)
        *error = why;
    call->events += own.events;
    ses__annotations_free(&own.annotations);
    ses__memory_free(own.arena.allocator, own.base);
    ses__arena_free(&own.arena);
    return code;
}
