/* Redaction, finding, and the use of tokens. */
#include <string.h>

#include <seslite_erase.h>
#include <seslite_usage.h>

#include "calls.h"

/* --------------------------------------------------------------------------------------------- redaction */

struct needle {
    const char *text;
    size_t len;
};

static int find_needle(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    (void)error;
    const struct needle *needle = context;
    const size_t last = len < needle->len ? 0 : len - needle->len;

    for (size_t at = from; needle->len <= len && at <= last; at++) {
        if (memcmp(text + at, needle->text, needle->len) == 0) {
            *begin = at;
            *end = at + needle->len;
            return 1;
        }
    }
    return 0;
}

/* Options: flags, version, text, content and its length, a text to be found and its length. Without numbers
 * (`count` is negative) all events. */
EXPORT(redact)
int js_redact(ses_store *store, const char *app, const char *user, const char *id, const int64_t *seqs,
              int count, const int64_t *slots)
{
    const ses_key key = {app, user, id};
    struct needle needle = {(const char *)(uintptr_t)slots[5], (size_t)slots[6]};
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = (unsigned)slots[0],
                                        .version = slots[1],
                                        .text = (const char *)(uintptr_t)slots[2],
                                        .content = (const char *)(uintptr_t)slots[3],
                                        .content_len = (size_t)slots[4],
                                        .find = needle.text ? find_needle : NULL,
                                        .find_context = &needle};
    ses_erased erased = {.size = sizeof erased};
    const int code = ses_redact_by_key(store, &key, count < 0 ? NULL : seqs, count < 0 ? 0 : (size_t)count,
                                       &options, &erased, &js_failure);

    if (code < 0)
        return code;
    js_out[0] = erased.sessions;
    js_out[1] = erased.events;
    js_out[2] = erased.state_keys;
    js_out[3] = erased.artifacts;
    js_out[4] = erased.index_events;
    js_out[5] = erased.forks_left;
    js_out[6] = erased.state_left;
    js_out[7] = erased.artifacts_left;
    js_out[8] = erased.compactions_left;
    js_out[9] = erased.derived_left;
    js_out[10] = erased.names;
    js_out[11] = erased.names_left;
    js_out[12] = code == SES_MORE;
    return code;
}

/* ----------------------------------------------------------------------------------------------- finding */

/* Options: flags, limit, token. A scope without an app is the whole store. */
EXPORT(find)
int js_find(ses_store *store, const char *app, const char *user, const char *id, const char *text, size_t len,
            const int64_t *slots)
{
    const ses_key scope = {app, user, id};
    const ses_find_options options = {.size = sizeof options,
                                      .flags = (unsigned)slots[0],
                                      .limit = (size_t)slots[1],
                                      .token = (const char *)(uintptr_t)slots[2]};
    ses_findings *findings = NULL;
    const int code =
        ses_store_find(store, app || user || id ? &scope : NULL, text, len, &options, &findings, &js_failure);

    js_out[0] = js_slot(findings);
    js_out[1] = findings ? (int64_t)ses_findings_count(findings) : 0;
    js_out[2] = findings ? js_slot(ses_findings_token(findings)) : 0;
    return code;
}

EXPORT(findings_at) void js_findings_at(const ses_findings *findings, size_t index)
{
    const ses_finding *found = ses_findings_at(findings, index);

    js_out[0] = found->kind;
    js_out[1] = js_slot(found->app);
    js_out[2] = js_slot(found->user);
    js_out[3] = js_slot(found->session);
    js_out[4] = js_slot(found->name);
    js_out[5] = found->seq;
    js_out[6] = found->version;
    js_out[7] = js_slot(found->text);
    js_out[8] = (int64_t)found->text_len;
    js_out[9] = (int64_t)found->text_found;
}

EXPORT(findings_close) void js_findings_close(ses_findings *findings)
{
    ses_findings_close(findings);
}

/* ------------------------------------------------------------------------------------------------- usage */

/* Options: flags, limit, token, and two optional times. A scope without an app is the whole store. */
EXPORT(usage)
int js_usage(ses_store *store, const char *app, const char *user, const char *id, const int64_t *slots)
{
    const ses_key scope = {app, user, id};
    const ses_usage_options options = {.size = sizeof options,
                                       .flags = (unsigned)slots[0],
                                       .limit = (size_t)slots[1],
                                       .token = (const char *)(uintptr_t)slots[2],
                                       .since_us = js_optional(slots + 3),
                                       .before_us = js_optional(slots + 5)};
    ses_usage_rows *rows = NULL;
    const int code = ses_store_usage(store, &scope, &options, &rows, &js_failure);

    js_out[0] = js_slot(rows);
    js_out[1] = (int64_t)ses_usage_rows_count(rows);
    js_out[2] = rows ? js_slot(ses_usage_rows_token(rows)) : 0;
    return code;
}

/* A row, or (-1) the sum of all. */
EXPORT(usage_at) void js_usage_at(const ses_usage_rows *rows, int index)
{
    const ses_usage_row *row = index < 0 ? ses_usage_rows_sum(rows) : ses_usage_rows_at(rows, (size_t)index);
    const char *const texts[] = {row->app, row->user, row->session, row->day, row->model, row->invocation};
    const int64_t numbers[] = {row->calls,    row->prompt, row->cached, row->candidates, row->thoughts,
                               row->tool_use, row->total,  row->odd,    row->first_us,   row->last_us};
    size_t slot = 0;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        js_out[slot++] = js_slot(texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        js_out[slot++] = numbers[i];
}

EXPORT(usage_close) void js_usage_close(ses_usage_rows *rows)
{
    ses_usage_rows_close(rows);
}

EXPORT(tally) int js_tally(ses_store *store, int flags)
{
    const ses_tally_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_store_tally(store, &options, &js_out[0], &js_failure);
}
