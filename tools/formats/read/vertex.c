#include "formats/read/vertex.h"

#include "base/error.h"
#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "formats/times.h"

/* ------------------------------------------------------------------------------------------------ writing */

static struct span any_of(const struct members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (ses__json_string_is(members->names[i], name) &&
            ses__json_type_of(members->values[i]) != JSON_NULL)
            return members->values[i];
    return (struct span){NULL, 0};
}

/* Like google-adk, cuts digits beyond microseconds. */
int64_t vertex_time(struct span time, bool *cut)
{
    enum { PLACES = 6 };
    const struct span raw = time.ptr ? ses__json_string_of(time).raw : (struct span){NULL, 0};
    char kept[64];
    size_t len = 0;
    size_t places = 0;
    bool fraction = false;

    *cut = false;
    if (raw.len > sizeof kept)
        return FOREIGN_NO_TIME;
    for (size_t i = 0; i < raw.len; i++) {
        const bool digit = raw.ptr[i] >= '0' && raw.ptr[i] <= '9';
        places += fraction && digit;
        *cut = *cut || (fraction && places > PLACES && digit && raw.ptr[i] != '0');
        if (!fraction || !digit || places <= PLACES)
            kept[len++] = raw.ptr[i];
        fraction = raw.ptr[i] == '.' || (fraction && digit);
    }
    return time_of_text((struct span){kept, len}, NULL);
}

static void put_time(struct text *text, struct span time, struct foreign_notes *notes)
{
    bool cut = false;
    const int64_t time_us = vertex_time(time, &cut);

    if (time_us == FOREIGN_NO_TIME)
        return;
    if (cut)
        foreign_note(notes, FOREIGN_NOTE_TIME_CUT, NULL);
    add_name(text, "timestamp");
    add_seconds(text, time_us);
}

/* The last part of ".../events/ID". */
static void put_id(struct text *text, struct span name)
{
    const struct span raw = name.ptr ? ses__json_string_of(name).raw : (struct span){NULL, 0};
    size_t start = raw.len;

    while (start > 0 && raw.ptr[start - 1] != '/')
        start--;
    if (start == raw.len)
        return;
    add_name(text, "id");
    text_puts(text, "\"");
    text_add(text, raw.ptr + start, raw.len - start);
    text_puts(text, "\"");
}

/* ----------------------------------------------------------------------------------------------- rawEvent */

/* Writes rawEvent as the event. Author and time come from the top level, as does the invocation unless
 * rawEvent has one in camelCase. */
static void put_raw_event(struct text *text, const struct members *top, struct span raw,
                          struct foreign_notes *notes)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    bool has_id = false;
    bool has_invocation = false;

    reader_begin(&reader, raw);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        if (ses__json_string_is(name, "author") || ses__json_string_is(name, "timestamp") ||
            ses__json_string_is(name, "invocation_id"))
            continue;
        if (ses__json_string_is(name, "id")) {
            if (ses__json_type_of(value) != JSON_STRING || value.len == 2)
                continue; /* null and "" mean no id */
            has_id = true;
        }
        has_invocation = has_invocation || ses__json_string_is(name, "invocationId");
        add_spelled_member(text, name.raw, value);
    }
    if (!has_id)
        put_id(text, member_of(top, "name", JSON_STRING));
    if (!has_invocation)
        add_member(text, "invocationId", member_of(top, "invocationId", JSON_STRING));
    add_member(text, "author", member_of(top, "author", JSON_STRING));
    put_time(text, member_of(top, "timestamp", JSON_STRING), notes);
}

/* --------------------------------------------------------------------------------------- without rawEvent */

static void put_actions(struct text *text, struct span actions, struct span compaction)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;

    if (!actions.ptr && !compaction.ptr)
        return;
    add_name(text, "actions");
    text_puts(text, "{");
    ses__json_start(&reader, actions.ptr ? actions.ptr : "{}", actions.ptr ? actions.len : 2);
    (void)ses__json_enter(&reader);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        if (ses__json_string_is(name, "transferAgent"))
            add_member(text, "transferToAgent", value);
        else
            add_spelled_member(text, name.raw, value);
    }
    add_member(text, "compaction", compaction);
    text_puts(text, "}");
}

/* Writes customMetadata without the two keys that google-adk uses for fields the API lacks. An otherwise
 * empty object is left out. */
static void put_custom_metadata(struct text *text, struct span custom)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    const size_t before = text->len;
    bool empty = true;

    if (!custom.ptr)
        return;
    add_name(text, "customMetadata");
    text_puts(text, "{");
    reader_begin(&reader, custom);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        if (ses__json_string_is(name, "_compaction") || ses__json_string_is(name, "_usage_metadata"))
            continue;
        add_spelled_member(text, name.raw, value);
        empty = false;
    }
    text_puts(text, "}");
    if (empty) {
        text->len = before;
        text->data[before] = '\0';
    }
}

static void put_fields(struct text *text, const struct members *top, struct foreign_notes *notes)
{
    static const char *const plain[] = {"partial", "turnComplete",       "interrupted",
                                        "branch",  "longRunningToolIds", "groundingMetadata"};
    struct members metadata;

    members_read(&metadata, member_of(top, "eventMetadata", JSON_OBJECT));
    const struct span custom = member_of(&metadata, "customMetadata", JSON_OBJECT);
    put_id(text, member_of(top, "name", JSON_STRING));
    add_member(text, "invocationId", member_of(top, "invocationId", JSON_STRING));
    add_member(text, "author", member_of(top, "author", JSON_STRING));
    put_time(text, member_of(top, "timestamp", JSON_STRING), notes);
    add_member(text, "content", member_of(top, "content", JSON_OBJECT));
    put_actions(text, member_of(top, "actions", JSON_OBJECT), member_in(custom, "_compaction"));
    add_member(text, "errorCode", any_of(top, "errorCode"));
    add_member(text, "errorMessage", any_of(top, "errorMessage"));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        add_member(text, plain[i], any_of(&metadata, plain[i]));
    put_custom_metadata(text, custom);
    add_member(text, "usageMetadata", member_in(custom, "_usage_metadata"));
}

int vertex_event(struct span json, struct text *event, struct foreign_notes *notes, ses_error *error)
{
    struct members top;
    struct members of_raw;

    if (ses__json_type_of(json) != JSON_OBJECT)
        return ses__error_set(error, SES_INVALID, "an event must be a JSON object");
    members_read(&top, json);
    const struct span time = any_of(&top, "timestamp");
    bool cut = false;
    if (time.ptr && (ses__json_type_of(time) != JSON_STRING || vertex_time(time, &cut) == FOREIGN_NO_TIME))
        return ses__error_set(error, SES_INVALID, "the event's timestamp is not RFC 3339");
    const struct span raw = member_of(&top, "rawEvent", JSON_OBJECT);
    members_read(&of_raw, raw.ptr ? raw : (struct span){"{}", 2});
    text_clear(event);
    text_puts(event, "{");
    if (of_raw.count > 0)
        put_raw_event(event, &top, raw, notes);
    else
        put_fields(event, &top, notes);
    text_puts(event, "}");
    return SES_OK;
}

/* -------------------------------------------------------------------------------------------------- pages */

int vertex_check_page(struct span page, bool last, ses_error *error)
{
    struct span events;
    const struct span token = member_in(page, "nextPageToken");
    const enum json_type type = ses__json_type_of(page);

    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return ses__error_set(error, SES_INVALID, "a page of events must be an object or an array");
    if (last && token.ptr && token.len > 2)
        return ses__error_set(error, SES_INVALID,
                              "the last page of events has a nextPageToken: further pages are missing");
    return member_typed(page, "sessionEvents", JSON_ARRAY, &events, error);
}

int vertex_check_pages(struct span pages, ses_error *error)
{
    struct json_reader reader;
    struct span page;
    bool more;
    int code = SES_OK;

    ses__json_start(&reader, pages.ptr, pages.len);
    more = ses__json_enter(&reader) && ses__json_element(&reader);
    while (more && code == SES_OK) {
        (void)ses__json_skip(&reader, &page);
        more = ses__json_element(&reader);
        code = vertex_check_page(ses__json_trim(page), !more, error);
    }
    return code;
}
