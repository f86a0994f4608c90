/* Cursors, lists, searches, followers, deletion, stores as text, and checks. See calls.h. */
#include "calls.h"

#include <stdlib.h>

#include "host.h"

/* ---------------------------------------------------------------------------------------------- cursors */

EXPORT(cursor_open)
int js_cursor_open(ses_store *store, const char *app, const char *user, const char *id, int backward,
                   const int64_t *range_slots)
{
    const ses_key key = {app, user, id};
    ses_range range;
    const ses_cursor_options options = {.size = sizeof options,
                                        .flags = backward ? SES_CURSOR_BACKWARD : 0,
                                        .range = js_range(range_slots, &range)};
    ses_cursor *cursor = NULL;
    const int code = ses_cursor_open(store, &key, &options, &cursor, &js_failure);

    js_out[0] = js_slot(cursor);
    return code;
}

EXPORT(cursor_next) int js_cursor_next(ses_cursor *cursor)
{
    const ses_event *event = NULL;
    const int code = ses_cursor_next(cursor, &event, &js_failure);

    if (code == SES_ROW)
        js_put_event(event);
    return code;
}

EXPORT(cursor_close) void js_cursor_close(ses_cursor *cursor)
{
    (void)ses_cursor_close(cursor, NULL); /* repeats what cursor_next has returned */
}

/* ------------------------------------------------------------------------------------------------ lists */

static ses_filter filter_of(const int64_t *slots, ses_key *child_of)
{
    *child_of = (ses_key){NULL, (const char *)(uintptr_t)slots[14], (const char *)(uintptr_t)slots[15]};
    return (ses_filter){.size = sizeof(ses_filter),
                        .label = (const char *)(uintptr_t)slots[0],
                        .label_value = (const char *)(uintptr_t)slots[1],
                        .id_prefix = (const char *)(uintptr_t)slots[2],
                        .updated_since_us = js_optional(slots + 3),
                        .updated_before_us = js_optional(slots + 5),
                        .changed_since_us = js_optional(slots + 7),
                        .changed_before_us = js_optional(slots + 9),
                        .without_label = (const char *)(uintptr_t)slots[11],
                        .archived = (int)slots[12],
                        .kinds = (unsigned)slots[13],
                        .child_of = child_of->session ? child_of : NULL};
}

EXPORT(list)
int js_list(ses_store *store, const char *app, const char *user, int order, size_t limit, const char *token,
            int flags, const int64_t *filter_slots)
{
    ses_key child_of;
    const ses_filter filter = filter_of(filter_slots, &child_of);
    const ses_list_options options = {.size = sizeof options,
                                      .order = order,
                                      .limit = limit,
                                      .token = token,
                                      .flags = (unsigned)flags,
                                      .filter = &filter};
    ses_page *page = NULL;
    const int code = ses_list(store, app, user, &options, &page, &js_failure);

    js_out[0] = js_slot(page);
    js_out[1] = page ? (int64_t)ses_page_count(page) : 0;
    js_out[2] = page ? js_slot(ses_page_token(page)) : 0;
    return code;
}

EXPORT(page_session) const ses_session *js_page_session(const ses_page *page, size_t index)
{
    return ses_page_session(page, index);
}

EXPORT(page_changed) void js_page_changed(const ses_page *page, size_t index)
{
    js_out[0] = ses_page_changed_us(page, index);
}

EXPORT(page_close) void js_page_close(ses_page *page)
{
    ses_page_close(page);
}

EXPORT(list_count)
int js_list_count(ses_store *store, const char *app, const char *user, const int64_t *filter_slots)
{
    ses_key child_of;
    const ses_filter filter = filter_of(filter_slots, &child_of);
    return ses_list_count(store, app, user, &filter, NULL, &js_out[0], &js_failure);
}

/* The names of apps, or of the users of one. */
EXPORT(names) int js_names(ses_store *store, const char *app, size_t limit, const char *after)
{
    const ses_names_options options = {.size = sizeof options, .limit = limit, .after = after};
    ses_names *names = NULL;
    const int code = app ? ses_list_users(store, app, &options, &names, &js_failure)
                         : ses_list_apps(store, &options, &names, &js_failure);

    js_out[0] = js_slot(names);
    js_out[1] = names ? (int64_t)ses_names_count(names) : 0;
    js_out[2] = names ? js_slot(ses_names_after(names)) : 0;
    return code;
}

EXPORT(names_at) const char *js_names_at(const ses_names *names, size_t index)
{
    return ses_names_at(names, index);
}

EXPORT(names_close) void js_names_close(ses_names *names)
{
    ses_names_close(names);
}

/* ------------------------------------------------------------------------------------------------ family */

EXPORT(family) int js_family(ses_store *store, const char *app, const char *user, const char *id)
{
    const ses_key key = {app, user, id};
    ses_family *family = NULL;
    const int code = ses_family_open(store, &key, NULL, &family, &js_failure);

    js_out[0] = js_slot(family);
    js_out[1] = family ? (int64_t)ses_family_count(family) : 0;
    return code;
}

EXPORT(family_at) void js_family_at(const ses_family *family, size_t index)
{
    const ses_relative *relative = ses_family_at(family, index);

    js_out[0] = relative->relation;
    js_out[1] = js_slot(relative->user);
    js_out[2] = js_slot(relative->session);
    js_out[3] = relative->seq;
    js_out[4] = relative->created_us;
}

EXPORT(family_close) void js_family_close(ses_family *family)
{
    ses_family_close(family);
}

/* ---------------------------------------------------------------------------------------------- deletion */

EXPORT(delete) int js_delete(ses_store *store, const char *app, const char *user, const char *id, int flags)
{
    const ses_key key = {app, user, id};
    const ses_delete_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_delete(store, &key, &options, &js_out[0], &js_failure);
}

EXPORT(delete_user) int js_delete_user(ses_store *store, const char *app, const char *user, int flags)
{
    const ses_delete_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_delete_user(store, app, user, &options, &js_out[0], &js_out[1], &js_failure);
}

/* ---------------------------------------------------------------------------------------------- searches */

/* Options: flags, limit, token, bytes of the snippet, and two optional times. */
EXPORT(search)
int js_search(ses_store *store, const char *app, const char *user, const char *id, const char *words,
              size_t len, const int64_t *slots)
{
    const ses_key scope = {app, user, id};
    const ses_search_options options = {.size = sizeof options,
                                        .flags = (unsigned)slots[0],
                                        .limit = (size_t)slots[1],
                                        .token = (const char *)(uintptr_t)slots[2],
                                        .snippet_bytes = (size_t)slots[3],
                                        .since_us = js_optional(slots + 4),
                                        .before_us = js_optional(slots + 6)};
    ses_hits *hits = NULL;
    const int code = ses_store_search(store, &scope, words, len, &options, &hits, &js_failure);

    js_out[0] = js_slot(hits);
    js_out[1] = hits ? (int64_t)ses_hits_count(hits) : 0;
    js_out[2] = hits ? js_slot(ses_hits_token(hits)) : 0;
    js_out[3] = hits ? ses_hits_indexed(hits) : 0;
    return code;
}

EXPORT(hits_at) void js_hits_at(const ses_hits *hits, size_t index)
{
    const ses_hit *hit = ses_hits_at(hits, index);

    js_out[0] = hit->seq;
    js_out[1] = hit->time_us;
    js_out[2] = js_slot(hit->user);
    js_out[3] = js_slot(hit->session);
    js_out[4] = js_slot(hit->id);
    js_out[5] = js_slot(hit->author);
    js_out[6] = js_slot(hit->snippet);
    js_out[7] = (int64_t)hit->snippet_len;
    js_out[8] = (int64_t)hit->snippet_found;
}

EXPORT(hits_close) void js_hits_close(ses_hits *hits)
{
    ses_hits_close(hits);
}

EXPORT(index) int js_index(ses_store *store, int flags)
{
    const ses_index_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_store_index(store, &options, &js_out[0], &js_failure);
}

/* --------------------------------------------------------------------------------------------- followers */

static void notify(void *context)
{
    host_notify((int)(intptr_t)context);
}

EXPORT(follower_open)
int js_follower_open(ses_store *store, const char *app, const char *user, const char *id, int flags,
                     int64_t after_seq, const char *place, int listener)
{
    const ses_key key = {app, user, id};
    const ses_follow_options options = {.size = sizeof options,
                                        .flags = (unsigned)flags,
                                        .after_seq = after_seq,
                                        .place = place,
                                        .notify = notify,
                                        .notify_context = (void *)(intptr_t)listener};
    ses_follower *follower = NULL;
    const int code = ses_follower_open(store, &key, &options, &follower, &js_failure);

    js_out[0] = js_slot(follower);
    return code;
}

/* Does not wait. Slot 8 is the session. */
EXPORT(follower_next) int js_follower_next(ses_follower *follower)
{
    const ses_event *event = NULL;
    const int code = ses_follower_next(follower, 0, &event, &js_failure);

    if (code == SES_ROW)
        js_put_event(event);
    if (code == SES_ROW || code == SES_RESET)
        js_out[8] = js_slot(ses_follower_session(follower));
    return code;
}

EXPORT(follower_place) const char *js_follower_place(ses_follower *follower)
{
    return ses_follower_place(follower);
}

EXPORT(follower_close) void js_follower_close(ses_follower *follower)
{
    ses_follower_close(follower);
}

/* ------------------------------------------------------------------------------------------------- texts */

static int give(void *context, const char *data, size_t len, ses_error *error)
{
    const int code = host_give(data, (int)len);

    (void)context;
    if (code < 0)
        *error = (ses_error){.code = code, .offset = -1, .index = -1, .version = -1};
    return code;
}

static int leave_out(void *context, const ses_error *why)
{
    (void)context;
    return host_left_out(why->code, why->message) < 0;
}

EXPORT(export)
int js_export(ses_store *store, const char *app, const char *user, const char *id, int flags, int tells)
{
    const ses_export_options options = {.size = sizeof options,
                                        .flags = (unsigned)flags,
                                        .app = app,
                                        .user = user,
                                        .session = id,
                                        .left_out = tells ? leave_out : NULL};
    return ses_store_export(store, &options, give, NULL, &js_failure);
}

static int take(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    const int count = host_take(buffer, (int)capacity);

    (void)context;
    *len = count < 0 ? 0 : (size_t)count;
    if (count < 0)
        *error = (ses_error){.code = count, .offset = -1, .index = -1, .version = -1};
    return count < 0 ? count : 0;
}

EXPORT(import) int js_import(ses_store *store, const char *app, const char *user, int flags)
{
    const ses_import_options options = {
        .size = sizeof options, .flags = (unsigned)flags, .app = app, .user = user};
    ses_import_report report = {.size = sizeof report};
    const int code = ses_store_import(store, take, NULL, &options, &report, &js_failure);
    const int64_t counts[] = {report.lines,    report.made,      report.equal,     report.updated,
                              report.replaced, report.renamed,   report.refused,   report.events,
                              report.keys,     report.keys_kept, report.artifacts, report.artifacts_kept,
                              report.unknown};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        js_out[i] = counts[i];
    return code;
}

/* ------------------------------------------------------------------------------------------------ checks */

/* Each problem is in slots 0 to 5 while the host is given an empty piece. */
static int report(void *context, const ses_problem *problem)
{
    (void)context;
    js_out[0] = js_slot(ses_problem_name(problem->kind));
    js_out[1] = js_slot(problem->app);
    js_out[2] = js_slot(problem->user);
    js_out[3] = js_slot(problem->session);
    js_out[4] = problem->seq;
    js_out[5] = js_slot(problem->message);
    return host_give("", 0) < 0;
}

EXPORT(check) int js_check(ses_store *store, int level, int64_t limit)
{
    const ses_check_options options = {
        .size = sizeof options, .level = level, .limit = limit, .report = report};
    int64_t problems = 0;
    return ses_store_check(store, &options, &problems, &js_failure);
}
