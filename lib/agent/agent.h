/*
 * What the files of the agent layer share. They are built on the public calls, and on the bottom of the
 * library, which knows no store.
 */
#ifndef SESLITE_AGENT_AGENT_H
#define SESLITE_AGENT_AGENT_H

#include "base/common.h"
#include "base/memory.h"
#include "model/scope.h"

/* --------------------------------------------------------------------------------------- tracked state */

/* A key and its value: what the view wrote, or what it was shown. Both end in a NUL. */
struct view_entry {
    enum scope scope;
    bool removes; /* the value is the tombstone: the key is taken away, or was not there */
    size_t name_len;
    size_t value_len;
    char *text; /* the unescaped string, made when first asked for */
    size_t text_len;
    char bytes[]; /* name, NUL, value, NUL */
};

/* Entries in the order of ses_state_json, each name once. */
struct view_list {
    struct view_entry **items;
    size_t count;
    size_t capacity;
};

/* The shared keys that a view read, as the handle showed them. Those that it writes must still be so when it is
 * appended. */
struct view_reads {
    struct view_list list;
    bool lacks_one; /* memory was out when ses_tracked_has, which cannot say so, was to note one */
};

struct ses_tracked {
    ses_session *session;
    const ses_allocator *allocator;
    bool read_only;
    struct view_list writes;
    struct view_reads *reads; /* apart, since reading adds to it */
};

SESLITE_PRIVATE struct span ses__entry_name(const struct view_entry *entry);
SESLITE_PRIVATE struct span ses__entry_value(const struct view_entry *entry);
/* Below 0, 0 or above 0: the order of ses_state_json. */
SESLITE_PRIVATE int ses__state_key_order(struct span left, struct span right);

/* MISUSE for NULL and for a handle that was closed. */
SESLITE_PRIVATE int ses__check_open(const ses_session *session, ses_error *error);
/* Begins a public call on a view: clears the error; MISUSE for NULL and when the handle was closed. */
SESLITE_PRIVATE int ses__tracked_check(const ses_tracked *tracked, ses_error *error);
/* The same for a call that writes: READONLY for a read-only view. */
SESLITE_PRIVATE int ses__tracked_check_write(const ses_tracked *tracked, ses_error *error);
/* NULL when the view did not write that key. */
SESLITE_PRIVATE struct view_entry *ses__tracked_own(const ses_tracked *tracked, struct span name);
/* Notes what the handle showed of a shared key; `value` without text: no such key. False: out of memory. */
SESLITE_PRIVATE bool ses__tracked_note(const ses_tracked *tracked, struct span name, struct span value);
/* The value that the view shows, or SES_ABSENT. */
SESLITE_PRIVATE int ses__tracked_value(const ses_tracked *tracked, const char *name, struct span *value,
                                       ses_error *error);
SESLITE_PRIVATE void ses__tracked_forget(ses_tracked *tracked);

/* A member of a JSON object, its name as plain text. */
struct member {
    struct span name;
    struct span value;
};

/* Adds `"name":value`, with a comma in front unless it is the first since the buffer was `start` bytes long.
 */
SESLITE_PRIVATE void ses__member_add(struct buffer *buffer, size_t start, struct member member);
/* Adds the members of the view's delta, with `last` (may be NULL) in the end, in place of one of that name.
 */
SESLITE_PRIVATE void ses__tracked_add_delta(const ses_tracked *tracked, const struct member *last,
                                            struct buffer *buffer);
/* ses_tracked_append, with one more change of state: `last` may be NULL. The arguments are checked. */
SESLITE_PRIVATE int ses__tracked_append(ses_tracked *tracked, struct span event, const struct member *last,
                                        const ses_append_options *options, ses_appended *appended,
                                        ses_error *error);

/* ------------------------------------------------------------------------------------------- builders */

/* A field of the event or of its actions, in a list of its own. */
struct built_field {
    struct built_field *next;
    unsigned rank;
    size_t name_len;
    size_t value_len;
    char bytes[]; /* name, value; no NULs */
};

struct ses_builder {
    ses_allocator allocator; /* a builder may outlive its store */
    char *author;
    char *invocation;    /* NULL: none */
    struct buffer parts; /* with commas between them */
    bool only_responses;
    struct built_field *content; /* a whole one, in place of the parts; NULL: none */
    struct built_field *actions;
    struct built_field *fields;
    struct buffer json;
};

/* Begins a public call on a builder: clears the error; MISUSE for NULL. */
SESLITE_PRIVATE int ses__check_builder(const ses_builder *builder, ses_error *error);
/* A JSON object that will stand `depth` levels deep in the event: JSON, INVALID, LIMIT. */
SESLITE_PRIVATE int ses__check_object(const char *json, size_t len, const char *what, unsigned depth,
                                      struct span *value, ses_error *error);
SESLITE_PRIVATE int ses__check_utf8(const char *text, size_t len, const char *what, struct span *span,
                                    ses_error *error);
/* Adds a C string; and one, with a text as a JSON string behind it. */
SESLITE_PRIVATE void ses__buffer_word(struct buffer *buffer, const char *word);
SESLITE_PRIVATE void ses__buffer_named(struct buffer *buffer, const char *lead, struct span text);

/* ------------------------------------------------------------------------------------------- contents */

struct text_list {
    ses_text *items;
    size_t count;
    size_t capacity;
};

struct function_list {
    ses_function *items;
    size_t count;
    size_t capacity;
};

struct ses_content {
    ses_allocator allocator;
    struct arena arena;
    struct span author; /* without text: none */
    ses_text json;      /* the content itself; without text: none */
    struct buffer text;
    bool has_text;
    struct text_list parts;
    struct function_list calls;
    struct function_list responses;
    bool partial;
    bool skips_summarization;
    bool runs_long;        /* longRunningToolIds names one */
    bool ends_with_result; /* the last part is a code execution result */
};

#endif
