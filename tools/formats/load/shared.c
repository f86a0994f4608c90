#include "formats/formats.h"

#include <string.h>

#include "base/error.h"
#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "formats/load/event_read.h"

/* The state is converted to lines for ses_store_import, so that keys of other programs are written like our
 * own. */
struct key_lines {
    struct text text;
    size_t given;
};

static int give_lines(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct key_lines *lines = context;
    const size_t left = lines->text.len - lines->given;

    (void)error;
    *len = left < capacity ? left : capacity;
    if (*len > 0)
        memcpy(buffer, lines->text.data + lines->given, *len);
    lines->given += *len;
    return SES_OK;
}

static void begin_lines(struct key_lines *lines, const struct foreign_shared *shared)
{
    text_clear(&lines->text);
    lines->given = 0;
    text_puts(&lines->text, "{\"kind\":\"seslite\",\"format\":1}\n");
    text_puts(&lines->text, shared->user ? "{\"kind\":\"user\",\"app\":" : "{\"kind\":\"app\",\"app\":");
    add_string(&lines->text, (struct span){shared->app, strlen(shared->app)});
    if (shared->user) {
        text_puts(&lines->text, ",\"user\":");
        add_string(&lines->text, (struct span){shared->user, strlen(shared->user)});
    }
    text_puts(&lines->text, "}\n");
}

static void add_key(struct key_lines *lines, struct json_string key, struct span value)
{
    const bool whole = memchr(value.ptr, '\n', value.len) || memchr(value.ptr, '\r', value.len);

    text_puts(&lines->text, "{\"kind\":\"key\",\"key\":\"");
    text_add(&lines->text, key.raw.ptr, key.raw.len);
    text_puts(&lines->text, whole ? "\",\"value_text\":" : "\",\"value\":");
    if (is_tombstone(value))
        text_puts(&lines->text, ESCAPED_TOMBSTONE);
    else if (whole)
        add_string(&lines->text, value);
    else
        text_add(&lines->text, value.ptr, value.len);
    text_puts(&lines->text, "}\n");
}

static int end_lines(const struct shared_import *import, struct key_lines *lines, ses_import_report *report,
                     ses_error *error)
{
    ses_import_report own = {.size = sizeof own};

    text_puts(&lines->text, "{\"kind\":\"total\"}\n");
    int code = ses_store_import(import->store, give_lines, lines, import->options, &own, error);
    report->keys += own.keys;
    report->keys_kept += own.keys_kept;
    return code;
}

/* Some keys cannot be stored, so each is imported on its own. */
static int import_one_by_one(const struct shared_import *import, const struct foreign_shared *shared,
                             ses_import_report *report)
{
    struct key_lines lines = {.given = 0};
    struct json_reader reader;
    struct json_string key;
    struct span value;
    struct text name = {NULL, 0, 0};
    int code = SES_OK;

    reader_begin(&reader, shared->state);
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        ses_error error;
        begin_lines(&lines, shared);
        add_key(&lines, key, ses__json_trim(value));
        if (end_lines(import, &lines, report, &error) >= 0)
            continue;
        text_clear(&name);
        text_add(&name, key.raw.ptr, key.raw.len);
        import->refused(import->context, shared, name.data, &error);
        code = error.code;
    }
    text_free(&name);
    text_free(&lines.text);
    return code;
}

struct key_refusal {
    const struct shared_import *import;
    const struct foreign_shared *shared;
};

static void refuse_key(void *context, const char *key, const ses_error *error)
{
    const struct key_refusal *refusal = context;
    refusal->import->refused(refusal->import->context, refusal->shared, key, error);
}

/* Takes the members of the state that are JSON. */
static int read_shared(const struct shared_import *import, struct foreign_shared *shared, struct text *sound,
                       ses_error *error)
{
    struct key_refusal refusal = {import, shared};
    int code = ses__json_check(shared->state.ptr ? shared->state.ptr : "", shared->state.len, error);

    if (code == SES_OK)
        return code;
    code = explain_json(shared->state, error);
    if (!loose_object(shared->state, sound, refuse_key, &refusal))
        return code;
    shared->state = (struct span){sound->data, sound->len};
    return SES_OK;
}

/* Converts the members to lines. */
static int take_members(const struct shared_import *import, const struct foreign_shared *shared,
                        struct key_lines *lines, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = ses__json_start_object(&reader, shared->state, "the shared state", error);
    if (code == SES_OK && !ses__json_enter(&reader))
        code = ses__json_error(&reader, error);
    if (code != SES_OK)
        return code;
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        value = ses__json_trim(value);
        if (is_tombstone(value))
            foreign_note(import->notes, FOREIGN_NOTE_TOMBSTONE_TEXT, "shared state of %s%s%s, key %.*s",
                         shared->app, shared->user ? "/" : "", shared->user ? shared->user : "",
                         (int)key.raw.len, key.raw.ptr);
        add_key(lines, key, value);
    }
    return SES_OK;
}

int shared_import(const struct shared_import *import, const struct foreign_shared *given,
                  ses_import_report *report, ses_error *error)
{
    struct foreign_shared own = *given;
    const struct foreign_shared *shared = &own;
    struct key_lines lines = {.given = 0};
    struct text sound = {NULL, 0, 0};
    int code = read_shared(import, &own, &sound, error);

    begin_lines(&lines, shared);
    if (code == SES_OK)
        code = take_members(import, shared, &lines, error);
    const bool read = code == SES_OK;
    if (read)
        code = end_lines(import, &lines, report, error);
    if (read && (code == SES_INVALID || code == SES_LIMIT || code == SES_JSON)) {
        (void)import_one_by_one(import, shared, report);
        code = SES_OK; /* each was reported */
    }
    text_free(&lines.text);
    text_free(&sound);
    return code;
}
