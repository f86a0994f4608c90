#include "formats/load/initial.h"

#include <string.h>

#include "base/error.h"
#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "formats/load/event_read.h"

int import_check_size(const struct session_import *import, struct span json, ses_error *error)
{
    return json.len <= import->opened->file.max_bytes
               ? SES_OK
               : ses__error_set(error, SES_LIMIT, "it has %zu bytes; the limit is %zu", json.len,
                                import->opened->file.max_bytes);
}

int import_check_key(struct span key, ses_error *error)
{
    if (key.len > SES_ID_MAX)
        return ses__error_set(error, SES_INVALID, "the state key %.40s... has %zu bytes; the limit is %d",
                              key.ptr, key.len, SES_ID_MAX);
    if (key.len > 0 && memchr(key.ptr, '\0', key.len))
        return ses__error_set(error, SES_INVALID, "a state key contains a NUL");
    return SES_OK;
}

static void note_difference(const struct initial *initial, struct span key, const char *what)
{
    const ses_key *name = &initial->import->key;
    foreign_note(initial->import->opened->file.notes, FOREIGN_NOTE_STATE_DIFFERS, "%s/%s/%s, key %.*s: %s",
                 name->app, name->user, name->session, (int)key.len, key.ptr, what);
}

/* The final value of a key that events wrote is that of the last of them. */
static void compare(struct initial *initial, struct own_entry *entry, struct span value, bool *differs)
{
    const struct session_import *import = initial->import;
    const struct span key = entry->in_table.key;
    bool rounded = false;

    entry->met = true;
    if (!values_same((struct span){entry->value.data, entry->value.len}, value, &rounded)) {
        if (!*differs)
            note_difference(initial, key, "the file has another value");
        *differs = true;
    } else if (rounded) {
        foreign_note(import->opened->file.notes, FOREIGN_NOTE_ROUNDED, "%s/%s/%s, key %s", import->key.app,
                     import->key.user, import->key.session, entry->key);
    }
}

static void add_initial(struct initial *initial, struct json_string raw, struct span key, struct span value)
{
    const struct session_import *import = initial->import;

    add_spelled_name(&initial->json, raw.raw);
    if (is_tombstone(value)) {
        foreign_note(import->opened->file.notes, FOREIGN_NOTE_TOMBSTONE_TEXT,
                     "%s/%s/%s, initial state, key %.*s", import->key.app, import->key.user,
                     import->key.session, (int)key.len, key.ptr);
        text_puts(&initial->json, ESCAPED_TOMBSTONE);
    } else {
        add_span(&initial->json, value);
    }
}

static void refuse_key(void *context, const char *key, const ses_error *error)
{
    const struct initial *initial = context;
    initial->import->refused(initial->import->refused_context, key, error);
}

static int take_final_key(struct initial *initial, struct json_string raw, struct span value,
                          struct text *room, bool *differs, ses_error *error)
{
    size_t len = 0;

    text_clear(room);
    text_add(room, raw.raw.ptr, raw.raw.len);
    if (!ses__json_unescape(raw, room->data, &len))
        return ses__error_set(error, SES_INVALID, "it contains a lone surrogate");
    const struct span key = {room->data, len};
    if (is_shared_key(key)) {
        foreign_note(initial->import->opened->file.notes, FOREIGN_NOTE_SHARED_COPIES, NULL);
        return SES_OK;
    }
    struct own_entry *entry = own_state_find(&initial->written, key);
    int code = entry ? SES_OK : import_check_key(key, error);
    if (entry)
        compare(initial, entry, value, differs);
    else if (code == SES_OK)
        add_initial(initial, raw, key, value);
    return code;
}

/* Takes the members of the state in the file that are JSON. */
static int read_final(struct initial *initial, struct span *state, ses_error *error)
{
    int code = import_check_size(initial->import, *state, error);

    if (code != SES_OK || ses__json_check(state->ptr, state->len, error) == SES_OK)
        return code;
    code = explain_json(*state, error);
    if (!loose_object(*state, &initial->sound, refuse_key, initial))
        return code;
    *state = (struct span){initial->sound.data, initial->sound.len};
    return SES_OK;
}

static int take_final(struct initial *initial, bool *differs, ses_error *error)
{
    struct span state = initial->import->session->state;
    struct json_reader reader;
    struct json_string key;
    struct span value;
    struct text room = {NULL, 0, 0};
    int code = read_final(initial, &state, error);

    if (code == SES_OK)
        code = ses__json_start_object(&reader, state, "the state", error);
    if (code == SES_OK && !ses__json_enter(&reader))
        code = ses__json_error(&reader, error);
    while (code == SES_OK && ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        ses_error why;
        if (take_final_key(initial, key, ses__json_trim(value), &room, differs, &why) == SES_OK)
            continue;
        text_clear(&room);
        text_add(&room, key.raw.ptr, key.raw.len);
        refuse_key(initial, room.data, &why);
    }
    text_free(&room);
    if (code != SES_OK)
        ses__error_prefix(error, "its state: ");
    return code;
}

/* Takes the final state in the file without the keys that events wrote. */
int initial_make(struct initial *initial, ses_error *error)
{
    bool differs = false;

    if (initial->written.first)
        foreign_note(initial->import->opened->file.notes, FOREIGN_NOTE_INITIAL_STATE, NULL);
    text_puts(&initial->json, "{");
    int code = initial->import->session->state.ptr ? take_final(initial, &differs, error) : SES_OK;
    text_puts(&initial->json, "}");
    const bool compares = code == SES_OK && initial->import->session->state.ptr;
    for (const struct own_entry *entry = initial->written.first; entry && compares && !differs;
         entry = entry->next) {
        if (entry->met)
            continue;
        note_difference(initial, entry->in_table.key, "the file does not contain it");
        differs = true;
    }
    return code;
}

void initial_free(struct initial *initial)
{
    own_state_free(&initial->written);
    text_free(&initial->json);
    text_free(&initial->sound);
}
