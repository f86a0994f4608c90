/*
 * Sessions as JSON texts: the ADK's session JSON, and what the REST API of Vertex AI Agent Engine returns, as
 * {"session": ..., "events": [...]} or with "eventPages": the pages as received. The whole text is held in
 * memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "formats/database/rows.h"
#include "formats/formats.h"
#include "formats/json/add_json.h"
#include "formats/json/internal_keys.h"
#include "formats/json/members.h"
#include "formats/read/table.h"
#include "formats/read/vertex.h"
#include "formats/times.h"
#include "json/decimal.h"

enum { MAX_TEXT = 1 << 30 };

struct json_source {
    const struct foreign_file *file;
    bool vertex;
    struct text text;
    struct vertex_session session; /* the ADK's session has a subset of these members */
    struct span events;            /* an array of events, or Vertex's array of pages */
    bool paged;
    int shared_step;
    bool given;
    struct json_reader pages;
    struct json_reader reader;
    bool in_page;
    struct text room;
};

/* ------------------------------------------------------------------------------------------------ reading */

static int read_text(struct json_source *source, ses_error *error)
{
    char data[65536];
    off_t at = 0;

    for (;;) {
        const ssize_t got = pread(source->file->fd, data, sizeof data, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ses__error_set(error, SES_IO, "cannot read %s: %s", source->file->path, strerror(errno));
        if (got == 0)
            return ses__json_check(source->text.data ? source->text.data : "", source->text.len, error);
        text_add(&source->text, data, (size_t)got);
        at += got;
        if (source->text.len > MAX_TEXT)
            return ses__error_set(error, SES_LIMIT, "%s is too long for a session as JSON",
                                  source->file->path);
    }
}

/* Fails with INVALID if both spellings are present. */
static int member_either(struct span object, const char *camel, const char *snake, struct span *value,
                         ses_error *error)
{
    const struct span other = strcmp(camel, snake) != 0 ? member_in(object, snake) : (struct span){NULL, 0};

    *value = member_in(object, camel);
    if (value->ptr && other.ptr)
        return ses__error_set(error, SES_INVALID, "the session has both %s and %s", camel, snake);
    if (!value->ptr)
        *value = other;
    return SES_OK;
}

static int64_t time_of(struct span value)
{
    int64_t us = FOREIGN_NO_TIME;
    bool half = false;
    int64_t whole = 0;

    if (ses__json_type_of(value) == JSON_STRING)
        return time_of_text(ses__json_string_of(value).raw, NULL);
    if (ses__json_type_of(value) != JSON_NUMBER)
        return FOREIGN_NO_TIME;
    const bool is_ms =
        ses__decimal_truncate(value, 0, &whole, &half) == DECIMAL_TOO_LARGE || whole >= INT64_C(100000000000);
    return ses__decimal_round(value, is_ms ? 3 : 6, &us) == DECIMAL_TOO_LARGE ? FOREIGN_NO_TIME : us;
}

/* The time may be absent, but not invalid. */
static int take_time(struct span value, const char *name, int64_t *us, ses_error *error)
{
    *us = value.ptr ? time_of(value) : FOREIGN_NO_TIME;
    if (value.ptr && *us == FOREIGN_NO_TIME)
        return ses__error_set(error, SES_INVALID, "%s is not a valid time", name);
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------------- its names */

static int take_session(struct json_source *source, ses_error *error)
{
    static const char *const names[][2] = {{"appName", "app_name"}, {"userId", "user_id"}, {"id", "id"}};
    static const char *const fields[] = {"id",    "appName", "app_name",       "userId",           "user_id",
                                         "state", "events",  "lastUpdateTime", "last_update_time", NULL};
    const struct span whole = {source->text.data, source->text.len};
    struct span value = {NULL, 0};
    int code = members_only(whole, fields, error);

    for (size_t i = 0; i < 3 && code == SES_OK; i++) {
        code = member_either(whole, names[i][0], names[i][1], &value, error);
        if (code == SES_OK && !member_plain(value, &source->session.names[i]))
            code = ses__error_set(error, SES_INVALID, "the session's %s is missing or not a string",
                                  names[i][0]);
    }
    source->session.created_us = source->session.expires_us = FOREIGN_NO_TIME;
    if (code == SES_OK)
        code = member_typed(whole, "state", JSON_OBJECT, &source->session.state, error);
    if (code == SES_OK)
        code = member_typed(whole, "events", JSON_ARRAY, &source->events, error);
    if (code == SES_OK)
        code = member_either(whole, "lastUpdateTime", "last_update_time", &value, error);
    return code == SES_OK ? take_time(value, "lastUpdateTime", &source->session.updated_us, error) : code;
}

static int take_vertex_events(struct json_source *source, struct span whole, ses_error *error)
{
    int code = vertex_check_page(whole, true, error);

    if (code == SES_OK)
        code = member_typed(whole, "events", JSON_ARRAY, &source->events, error);
    if (code == SES_OK && !source->events.ptr)
        code = member_typed(whole, "sessionEvents", JSON_ARRAY, &source->events, error);
    if (code != SES_OK || source->events.ptr)
        return code;
    code = member_typed(whole, "eventPages", JSON_ARRAY, &source->events, error);
    source->paged = source->events.ptr != NULL;
    return code == SES_OK && source->paged ? vertex_check_pages(source->events, error) : code;
}

static int take_vertex(struct json_source *source, ses_error *error)
{
    const struct span whole = {source->text.data, source->text.len};
    const struct span session = member_in(whole, "session");
    int code = vertex_session_read(&source->session, session, error);

    return code == SES_OK ? take_vertex_events(source, whole, error) : code;
}

static void json_close_source(void *closed)
{
    struct json_source *source = closed;

    text_free(&source->text);
    vertex_session_free(&source->session);
    text_free(&source->room);
    free(source);
}

static int open_json(struct foreign_file *file, bool vertex, void **opened, ses_error *error)
{
    struct json_source *source = allocate(sizeof *source);

    *source = (struct json_source){.file = file, .vertex = vertex};
    int code = read_text(source, error);
    if (code == SES_OK)
        code = vertex ? take_vertex(source, error) : take_session(source, error);
    if (code == SES_OK)
        *opened = source;
    else
        json_close_source(source);
    return code;
}

static int open_session(struct foreign_file *file, void **source, ses_error *error)
{
    return open_json(file, false, source, error);
}

static int open_vertex(struct foreign_file *file, void **source, ses_error *error)
{
    return open_json(file, true, source, error);
}

/* ------------------------------------------------------------------------------------------------- pieces */

/* The keys of the state with this prefix, without it. Its first character is never escaped by who writes
 * JSON; if it is, the key is a copy that is left out. Gives whether there are any. */
static bool cut_prefix(struct span state, const char *prefix, struct text *object)
{
    const size_t len = strlen(prefix);
    struct json_reader reader;
    struct json_string key;
    struct span value;

    text_clear(object);
    text_puts(object, "{");
    ses__json_start(&reader, state.ptr, state.len);
    if (!state.ptr || !ses__json_enter(&reader))
        return false;
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        if (key.raw.len < len || memcmp(key.raw.ptr, prefix, len) != 0)
            continue;
        add_spelled_member(object, (struct span){key.raw.ptr + len, key.raw.len - len}, value);
    }
    text_puts(object, "}");
    return object->len > 2;
}

static int json_next_shared(void *from, struct foreign_shared *shared, ses_error *error)
{
    static const char *const prefixes[] = {"app:", "user:"};
    struct json_source *source = from;

    (void)error;
    while (source->shared_step < 2) {
        const int step = source->shared_step++;
        if (!cut_prefix(source->session.state, prefixes[step], &source->room))
            continue;
        *shared = (struct foreign_shared){source->session.names[0].data,
                                          step == 1 ? source->session.names[1].data : NULL,
                                          {source->room.data, source->room.len}};
        return 1;
    }
    return 0;
}

static int json_next_session(void *from, struct foreign_session *session, ses_error *error)
{
    struct json_source *source = from;

    (void)error;
    if (source->given)
        return 0;
    source->given = true;
    const struct vertex_session *own = &source->session;
    *session = (struct foreign_session){.app = own->names[0].data,
                                        .user = own->names[1].data,
                                        .session = own->names[2].data,
                                        .state = own->state.ptr ? own->state : (struct span){"{}", 2},
                                        .created_us = own->created_us,
                                        .updated_us = own->updated_us,
                                        .expires_us = own->expires_us,
                                        .title = own->title.len > 0 ? own->title.data : NULL,
                                        .labels = own->labels,
                                        .label_count = own->label_count};
    return 1;
}

static bool enter_array(struct json_reader *reader, struct span array)
{
    ses__json_start(reader, array.ptr, array.len);
    return array.ptr && ses__json_enter(reader);
}

static int json_begin_events(void *from, ses_error *error)
{
    struct json_source *source = from;

    (void)error;
    source->in_page =
        enter_array(source->paged ? &source->pages : &source->reader, source->events) && !source->paged;
    return SES_OK;
}

/* A page is an array, or an object as the API returns it: {"sessionEvents": [...]}. */
static bool next_page(struct json_source *source)
{
    struct span page;

    if (!source->paged || !source->events.ptr || !ses__json_element(&source->pages) ||
        !ses__json_skip(&source->pages, &page))
        return false;
    if (ses__json_type_of(page) == JSON_OBJECT)
        page = member_in(page, "sessionEvents");
    source->in_page = enter_array(&source->reader, page);
    return true;
}

static int json_next_event(void *from, struct foreign_event *event, ses_error *error)
{
    struct json_source *source = from;
    struct span json;

    *event = (struct foreign_event){.name = NULL};
    while (!source->in_page || !ses__json_element(&source->reader)) {
        source->in_page = false;
        if (!next_page(source))
            return 0;
    }
    (void)ses__json_skip(&source->reader, &json);
    if (!source->vertex) {
        text_clear(&source->room);
        internal_keys_mark(&source->room, json);
        event->json = (struct span){source->room.data, source->room.len};
        return 1;
    }
    int code = vertex_event(json, &source->room, source->file->notes, error);
    event->json = (struct span){source->room.data, source->room.len};
    return code == SES_OK ? 1 : code;
}

/* ------------------------------------------------------------------------------------------------ formats */

/* The head may end anywhere, so the members that it contains decide. */
static bool has_name(const struct foreign_file *file, const char *const *names)
{
    struct json_reader reader;
    struct json_string key;

    ses__json_start(&reader, file->head.ptr, file->head.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return false;
    while (ses__json_member(&reader, &key)) {
        for (size_t i = 0; names[i]; i++)
            if (ses__json_string_is(key, names[i]))
                return true;
        if (!ses__json_skip(&reader, NULL))
            return false;
    }
    return false;
}

static int recognize_session(const struct foreign_file *file, ses_error *error)
{
    static const char *const names[] = {"appName",        "app_name",         "userId", "user_id",
                                        "lastUpdateTime", "last_update_time", NULL};
    (void)error;
    return has_name(file, names);
}

static int recognize_vertex(const struct foreign_file *file, ses_error *error)
{
    static const char *const names[] = {"session", "sessionEvents", "eventPages", NULL};
    (void)error;
    return has_name(file, names);
}

const struct foreign_format foreign_session_json = {
    .name = "adk-session-json",
    .words = "a session as JSON, as the ADKs write it",
    .not_in_file = "The time of its creation is not in the file: that of the first event is used, otherwise "
                   "of the last update.",
    .text = true,
    .recognizes = recognize_session,
    .open = open_session,
    .next_shared = json_next_shared,
    .next_session = json_next_session,
    .begin_events = json_begin_events,
    .next_event = json_next_event,
    .close = json_close_source,
};

const struct foreign_format foreign_vertex = {
    .name = "vertex",
    .words = "a session of Vertex AI Agent Engine, as its REST API returns it",
    .not_in_file = "A ttl, which the API takes but never returns, and the transcriptions of eventMetadata "
                   "are not brought.",
    .text = true,
    .recognizes = recognize_vertex,
    .open = open_vertex,
    .next_shared = json_next_shared,
    .next_session = json_next_session,
    .begin_events = json_begin_events,
    .next_event = json_next_event,
    .close = json_close_source,
};
