/* A view of the state with writes of its own: its life, and writing. */
#include "agent/tracked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "json/double.h"
#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"
#include "base/utf8.h"
#include "session/handle.h"

/* How deep a value is nested in its event: in the event, its actions and their stateDelta. */
enum { VALUE_DEPTH = 3 };

static const struct span tombstone = {"\"" TOMBSTONE "\"", sizeof TOMBSTONE + 1};

/* -------------------------------------------------------------------------------------------- entries */

struct span ses__entry_name(const struct view_entry *entry)
{
    return (struct span){entry->bytes, entry->name_len};
}

struct span ses__entry_value(const struct view_entry *entry)
{
    return (struct span){entry->bytes + entry->name_len + 1, entry->value_len};
}

static struct view_entry *view_entry_new(const ses_allocator *allocator, struct span name, struct span value)
{
    struct view_entry *entry = ses__memory_new(allocator, sizeof *entry + name.len + value.len + 2);
    if (entry) {
        *entry = (struct view_entry){.scope = ses__scope_of(name, NULL),
                                     .removes = ses__scope_is_tombstone(value),
                                     .name_len = name.len,
                                     .value_len = value.len};
        memcpy(entry->bytes, name.ptr, name.len + 1);
        memcpy(entry->bytes + name.len + 1, value.ptr, value.len);
        entry->bytes[name.len + 1 + value.len] = '\0';
    }
    return entry;
}

static void view_entry_free(const ses_allocator *allocator, struct view_entry *entry)
{
    ses__memory_free(allocator, entry->text);
    ses__memory_free(allocator, entry);
}

int ses__state_key_order(struct span left, struct span right)
{
    enum scope left_scope = ses__scope_of(left, NULL);
    enum scope right_scope = ses__scope_of(right, NULL);
    size_t shorter = left.len < right.len ? left.len : right.len;
    int order = left_scope != right_scope ? (left_scope < right_scope ? -1 : 1)
                                          : memcmp(left.ptr, right.ptr, shorter);
    return order != 0 ? order : left.len < right.len ? -1 : left.len > right.len;
}

/* Where the entry of that name is, or would be. */
static size_t place_of(const struct view_list *list, struct span name, bool *found)
{
    size_t low = 0;
    size_t high = list->count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = ses__state_key_order(ses__entry_name(list->items[middle]), name);
        *found = order == 0;
        if (*found)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct view_entry *list_find(const struct view_list *list, struct span name)
{
    bool found;
    size_t place = place_of(list, name, &found);
    return found ? list->items[place] : NULL;
}

/* Keeps the value under the name, replacing an existing one. False: out of memory, nothing has changed. */
static bool list_put(struct view_list *list, const ses_allocator *allocator, struct span name,
                     struct span value)
{
    struct view_entry *entry = view_entry_new(allocator, name, value);
    void *items = list->items;
    bool found = false;
    size_t place = place_of(list, name, &found);

    if (!entry)
        return false;
    if (found) {
        view_entry_free(allocator, list->items[place]);
        list->items[place] = entry;
        return true;
    }
    bool ok = ses__memory_grow(allocator, &items, &list->capacity, list->count + 1, sizeof entry);
    list->items = items;
    if (!ok) {
        view_entry_free(allocator, entry);
        return false;
    }
    memmove(list->items + place + 1, list->items + place, (list->count - place) * sizeof entry);
    list->items[place] = entry;
    list->count++;
    return true;
}

static void list_clear(struct view_list *list, const ses_allocator *allocator)
{
    for (size_t i = 0; i < list->count; i++)
        view_entry_free(allocator, list->items[i]);
    list->count = 0;
}

struct view_entry *ses__tracked_own(const ses_tracked *tracked, struct span name)
{
    return list_find(&tracked->writes, name);
}

bool ses__tracked_note(const ses_tracked *tracked, struct span name, struct span value)
{
    struct view_list *reads = &tracked->reads->list;
    const struct span shown = value.ptr ? value : tombstone;
    const struct view_entry *noted = list_find(reads, name);
    bool same = noted && noted->value_len == shown.len &&
                memcmp(ses__entry_value(noted).ptr, shown.ptr, shown.len) == 0;

    return same || list_put(reads, tracked->allocator, name, shown);
}

/* ------------------------------------------------------------------------------------- life of a view */

int ses__tracked_check(const ses_tracked *tracked, ses_error *error)
{
    int code = ses__check_argument(tracked, "tracked", error);
    if (code == SES_OK && !ses__session_is_open(tracked->session))
        code = ses__error_set(error, SES_MISUSE, "the session handle is closed; this view needs it");
    if (code == SES_OK)
        ses__error_clear(error);
    return code;
}

int ses__tracked_check_write(const ses_tracked *tracked, ses_error *error)
{
    int code = ses__tracked_check(tracked, error);
    if (code == SES_OK && tracked->read_only)
        code = ses__error_set(error, SES_READONLY,
                              "the view is read-only: it was made with SES_TRACK_READ_ONLY");
    return code;
}

int ses__check_open(const ses_session *session, ses_error *error)
{
    int code = ses__check_argument(session, "session", error);
    if (code == SES_OK && !ses__session_is_open(session))
        code = ses__error_set(error, SES_MISUSE, "the session handle is closed");
    return code;
}

int ses_tracked_open(ses_session *session, unsigned flags, ses_tracked **tracked, ses_error *error)
{
    int code = ses__check_argument(tracked, "tracked", error);

    if (code != SES_OK)
        return code;
    *tracked = NULL;
    code = ses__check_open(session, error);
    if (code == SES_OK)
        code = ses__check_flags(flags, SES_TRACK_READ_ONLY | SES_TRACK_ACCUMULATE,
                                "flags of ses_tracked_open", error);
    if (code != SES_OK)
        return code;
    const ses_allocator *allocator = ses__store_allocator(ses__session_store(session));
    ses_tracked *fresh = ses__memory_zeroed(allocator, sizeof *fresh + sizeof *fresh->reads);
    if (!fresh)
        return ses__error_nomem(error);
    ses__error_clear(error);
    ses__session_retain(session);
    fresh->session = session;
    fresh->allocator = allocator;
    fresh->read_only = (flags & SES_TRACK_READ_ONLY) != 0;
    fresh->accumulates = (flags & SES_TRACK_ACCUMULATE) != 0;
    ses__buffer_init(&fresh->turn, allocator);
    fresh->reads = (struct view_reads *)(fresh + 1);
    *tracked = fresh;
    return SES_OK;
}

void ses__tracked_forget(ses_tracked *tracked)
{
    list_clear(&tracked->writes, tracked->allocator);
    list_clear(&tracked->reads->list, tracked->allocator);
    tracked->reads->lacks_one = false;
}

void ses_tracked_discard(ses_tracked *tracked)
{
    if (tracked)
        ses__tracked_forget(tracked);
}

ses_session *ses_tracked_session(const ses_tracked *tracked)
{
    return tracked ? tracked->session : NULL;
}

void ses_tracked_close(ses_tracked *tracked)
{
    if (tracked) {
        ses_session *session = tracked->session;
        ses__tracked_forget(tracked);
        ses__buffer_free(&tracked->turn);
        ses__memory_free(tracked->allocator, tracked->writes.items);
        ses__memory_free(tracked->allocator, tracked->reads->list.items);
        ses__memory_free(tracked->allocator, tracked);
        ses__session_release(session);
    }
}

/* -------------------------------------------------------------------------------------------- writing */

static int check_name(const ses_tracked *tracked, const char *name, struct span *span, ses_error *error)
{
    int code = ses__tracked_check_write(tracked, error);
    if (code == SES_OK)
        code = ses__check_span(name, SES_NUL, "name", span, error);
    if (code == SES_OK)
        code = ses__scope_check_name(*span, error);
    return code;
}

/* Keeps the value, which is JSON, under the name. */
static int put(ses_tracked *tracked, struct span name, struct span value, ses_error *error)
{
    return list_put(&tracked->writes, tracked->allocator, name, value) ? SES_OK : ses__error_nomem(error);
}

int ses_tracked_set(ses_tracked *tracked, const char *name, const char *json, size_t len, ses_error *error)
{
    struct span key;
    struct span text;
    struct span value;
    int code = check_name(tracked, name, &key, error);

    if (code == SES_OK)
        code = ses__check_span(json, len, "json", &text, error);
    if (code == SES_OK)
        code = ses__json_check_within(text.ptr, text.len, VALUE_DEPTH, &value, error);
    return code == SES_OK ? put(tracked, key, value, error) : code;
}

int ses_tracked_set_string(ses_tracked *tracked, const char *name, const char *text, size_t len,
                           ses_error *error)
{
    struct span key;
    struct span plain;
    int code = check_name(tracked, name, &key, error);

    if (code == SES_OK)
        code = ses__check_span(text, len, "text", &plain, error);
    if (code != SES_OK)
        return code;
    if (!ses__utf8_valid(plain.ptr, plain.len))
        return ses__error_set(error, SES_INVALID, "the text for \"%.200s\" is not valid UTF-8", name);
    struct buffer value;
    ses__buffer_init(&value, tracked->allocator);
    ses__json_add_string(&value, plain.ptr, plain.len);
    code = value.failed ? ses__error_nomem(error)
                        : put(tracked, key, (struct span){value.data, value.len}, error);
    ses__buffer_free(&value);
    return code;
}

int ses_tracked_set_int64(ses_tracked *tracked, const char *name, int64_t value, ses_error *error)
{
    char text[24];
    struct span key;
    int code = check_name(tracked, name, &key, error);

    if (code != SES_OK)
        return code;
    int len = snprintf(text, sizeof text, "%lld", (long long)value);
    return put(tracked, key, (struct span){text, (size_t)len}, error);
}

int ses_tracked_set_double(ses_tracked *tracked, const char *name, double value, ses_error *error)
{
    char text[DOUBLE_ROOM];
    struct span key;
    int code = check_name(tracked, name, &key, error);

    if (code != SES_OK)
        return code;
    if (!isfinite(value))
        return ses__error_set(error, SES_INVALID, "the number for \"%.200s\" is infinite or NaN", name);
    return put(tracked, key, (struct span){text, ses__double_write(value, text)}, error);
}

int ses_tracked_set_bool(ses_tracked *tracked, const char *name, int value, ses_error *error)
{
    struct span key;
    int code = check_name(tracked, name, &key, error);

    if (code != SES_OK)
        return code;
    return put(tracked, key, value ? (struct span){"true", 4} : (struct span){"false", 5}, error);
}

int ses_tracked_remove(ses_tracked *tracked, const char *name, ses_error *error)
{
    struct span key;
    int code = check_name(tracked, name, &key, error);
    return code == SES_OK ? put(tracked, key, tombstone, error) : code;
}
