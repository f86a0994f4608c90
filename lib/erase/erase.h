/* Redacts the events of one session, inside a transaction: first their texts, then the rows. */
#ifndef SESLITE_ERASE_ERASE_H
#define SESLITE_ERASE_ERASE_H

#include "seslite_erase.h"
#include "model/event/stored_event.h"
#include "storage/sql/session/family.h"

/* The options of a call; they hold for all sessions. */
struct redaction {
    const ses_allocator *allocator;
    const ses_key *key;
    const int64_t *seqs; /* ascending, each once; NULL: all */
    size_t seq_count;
    bool state;
    bool forks;
    bool names; /* names are removed, too */
    bool secure;
    struct span plain;   /* in place of a text */
    struct span text;    /* the same as JSON */
    struct span object;  /* in place of arguments: an object with that text */
    struct span content; /* in place of a content; without text: none was given */
    ses_redact_finder *find;
    void *find_context;
    size_t max_event_bytes;
    int64_t now_us;
};

/* A value that an event has set: its number, the key and the value, and the value in its place. */
struct replaced_value {
    struct base_value before;
    struct span stored; /* the value that is stored by now */
    struct span after;
};

/* A version of an artifact that an event names, which is removed. */
struct named_version {
    struct span name;
    int64_t version;
};

struct replaced_values {
    struct replaced_value *items;
    size_t count;
    size_t capacity;
};
struct named_versions {
    struct named_version *items;
    size_t count;
    size_t capacity;
};
/* The names of state keys in which something was found, each once; and the title and the labels. */
struct found_names {
    struct span *items;
    size_t count;
    size_t capacity;
    struct annotating annotating; /* removes the title and the labels */
    struct annotated annotated;   /* those that the session has */
};
struct redacted_event {
    struct event_row row; /* only the number, the ids and the new body */
    struct span before;   /* the old one, if it is to be overwritten; otherwise without text */
};

struct redacted_events {
    struct redacted_event *items;
    size_t count;
    size_t capacity;
};

/* The session of whose events another has copies: all up to the number that they have in common, and of those
 * after it the ones that are the same. */
struct redacted_origin {
    const struct session_row *row;
    struct kinship kinship;
    const struct replaced_values *values;
};

/* The redaction of one session. All texts are in the arena. */
struct redacting {
    struct redacting *next; /* of the sessions with copies */
    const struct redaction *asked;
    const struct redacted_origin
        *origin; /* NULL: it is the session of the call; else only copies are redacted */
    struct db *db;
    struct session_row row;
    char name[SES_ID_MAX + 1]; /* the session's */
    bool is_copy;              /* it is not the session of the call */
    bool may_have;             /* it is that session's memory, and has events that may be copies */
    struct arena arena;
    struct buffer plain; /* for one text */
    struct buffer built; /* for one value, within what holds it: so a failure must stay noted */
    struct replaced_values values;
    struct named_versions versions;
    struct redacted_events events;
    struct found_names names;
    size_t initial_before; /* the length of the old initial state */
    struct span initial;   /* the new initial state; without text: it stays */
    bool drops_draft;
    struct {
        const char **items; /* in the arena */
        size_t count;
        size_t capacity;
    } inputs; /* the requests of those that go */
    /* out */
    ses_erased counts;
};

SESLITE_PRIVATE void ses__redacting_init(struct redacting *run, struct db *db, const struct redaction *asked);
SESLITE_PRIVATE void ses__redacting_free(struct redacting *run);

/* A copy of what is in `run->built` from `start` on, which is cut off there. */
SESLITE_PRIVATE int ses__built_take(struct redacting *run, size_t start, struct span *text, ses_error *error);

/* ---- found.c: values of JSON */

/* Adds the value to what is built, with all pieces replaced that are found in its strings, names and numbers.
 * A number in which something is found becomes a text, or this value, if it has text. */
SESLITE_PRIVATE int ses__found_add(struct redacting *run, struct span value, struct span number, bool *any,
                                   ses_error *error);
/* Adds base64, a JSON string, with all pieces replaced that are found in the bytes. */
SESLITE_PRIVATE int ses__found_add_data(struct redacting *run, struct span value, bool *any,
                                        ses_error *error);
/* Gives the value of ses__found_add: in the arena, or the value itself if nothing is found. */
SESLITE_PRIVATE int ses__found_replace(struct redacting *run, struct span value, struct span *after,
                                       ses_error *error);

/* Sets `found` if something is found in the text. */
SESLITE_PRIVATE int ses__found_in(struct redacting *run, struct span text, bool *found, ses_error *error);

/* ---- names.c */

/* True if names are removed. A copy of events in another session keeps its own. */
static inline bool ses__names_go(const struct redacting *run)
{
    return run->asked->names && !run->is_copy;
}
/* Looks into the name of a state key, and keeps it if something is found. */
SESLITE_PRIVATE int ses__name_look(struct redacting *run, struct span name, bool *found, ses_error *error);
/* After the events: looks into the title, the labels and the ids, and counts what is found. */
SESLITE_PRIVATE int ses__names_plan(struct redacting *run, ses_error *error);
/* Removes what was found. */
SESLITE_PRIVATE int ses__names_write(struct redacting *run, ses_error *error);

/* ---- delta.c: objects of state keys, and of artifacts */

/* Gives a delta, or an initial state, in which the values are replaced, and keeps them in `run->values`;
 * without SES_REDACT_STATE counts them. */
SESLITE_PRIVATE int ses__delta_redact(struct redacting *run, struct span delta, int64_t seq,
                                      struct span *after, ses_error *error);
/* Decides of one value: gives what replaces it, or the value itself. */
SESLITE_PRIVATE int ses__value_redact(struct redacting *run, struct span value, struct span *after,
                                      ses_error *error);
SESLITE_PRIVATE int ses__value_keep(struct redacting *run, const struct base_value *before, struct span after,
                                    ses_error *error);
/* Replaces a value of the same key and the same bytes as one of an earlier event that was replaced. */
SESLITE_PRIVATE int ses__value_redact_copy(struct redacting *run, const struct base_value *value,
                                           struct span *after, ses_error *error);
/* Gives the delta of a rewind in which copies of replaced values are replaced, too. */
SESLITE_PRIVATE int ses__delta_redact_copies(struct redacting *run, struct span delta, int64_t seq,
                                             struct span *after, ses_error *error);
/* Keeps the artifacts that the delta names in `run->versions`. Those of the user are counted. */
SESLITE_PRIVATE int ses__versions_note(struct redacting *run, struct span delta, ses_error *error);
SESLITE_PRIVATE bool ses__versions_have(const struct named_versions *versions, struct span name,
                                        int64_t version);
/* Gives the delta of a rewind without those. */
SESLITE_PRIVATE int ses__versions_leave_out(struct redacting *run, struct span delta, struct span *after,
                                            ses_error *error);

/* ---- fields.c */

/* Between two members of an object: what follows the comma, if there is one. */
static inline const char *ses__after_comma(const char *gap)
{
    const char *at = gap;

    while (ses__json_is_space(*at))
        at++;
    return *at == ',' ? at + 1 : gap;
}

/* An event that is redacted. */
struct redacted_body {
    struct redacting *run;
    const struct event_row *event;
    bool copies; /* only what it repeats of other events */
    /* out */
    bool has_content;  /* a content that is replaced by the given one */
    struct span named; /* the artifacts that it names; without text: none */
    bool found_kept;   /* something was found in what is kept */
};

/* Adds the event to what is built, each field redacted as the table of the ADK's fields says. */
SESLITE_PRIVATE int ses__fields_redact(struct redacted_body *body, bool *changed, ses_error *error);

/* ---- body.c */

/* Gives the event's new text: in the arena, or its own if nothing is replaced. With `copies` only what it may
 * repeat of redacted events is replaced, as in a rewind. */
SESLITE_PRIVATE int ses__body_redact(struct redacting *run, const struct event_row *event, bool copies,
                                     struct span *after, ses_error *error);

/* ---- session.c */

/* For qsort. */
SESLITE_PRIVATE int ses__compare_seqs(const void *a, const void *b);
/* Reads what is to be redacted in the session, which is run->row, and counts what is left. */
SESLITE_PRIVATE int ses__redacting_plan(struct redacting *run, ses_error *error);
static inline bool ses__redacting_changes(const struct redacting *run)
{
    return run->events.count > 0 || run->values.count > 0 || run->initial.ptr || run->counts.names > 0 ||
           run->drops_draft || run->inputs.count > 0;
}

/* ---- write.c */

/*
 * Before anything of any session becomes shorter: overwrites in place what was planned, and takes it out of
 * the index of words. SQLite moves rows when others become shorter, and leaves copies of their bytes behind.
 */
SESLITE_PRIVATE int ses__redacting_blank(struct redacting *run, ses_error *error);
/* Writes what was planned, and raises the version. */
SESLITE_PRIVATE int ses__redacting_write(struct redacting *run, ses_error *error);

/* ---- copies.c */

/* Plans the redaction of other sessions of the app that have copies of these events, and blanks them: a list,
 * of which each is to be freed. With `counts` only counts them. */
SESLITE_PRIVATE int ses__copies_plan(struct redacting *run, bool counts, struct redacting **copies,
                                     ses_error *error);
/* Writes what was planned. */
SESLITE_PRIVATE int ses__copies_write(struct redacting *run, struct redacting *copies, ses_error *error);
SESLITE_PRIVATE void ses__copies_free(struct redacting *copies);

#endif
