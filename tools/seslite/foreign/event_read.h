/* What the import has to know of an event, and the changes that it makes to one. */
#ifndef FOREIGN_EVENT_READ_H
#define FOREIGN_EVENT_READ_H

#include "foreign/foreign.h"
#include "json/reader.h"

/* A change of a state key. */
struct event_change {
    struct span key;        /* decoded */
    struct json_string raw; /* its key in the text */
    struct span value;
};

/* Zeroed: ready. It is used again for the next event. */
struct event_read {
    struct span json;
    struct event_change *changes;
    size_t count;
    size_t capacity;
    struct text id;      /* decoded; empty: it has none */
    int64_t time_us;     /* FOREIGN_NO_TIME: it has none */
    struct span null_id; /* the null that stands for it */
    struct span null_time;
    bool partial;
    struct arena *arena; /* of the decoded keys */
};

/* Reads it strictly: JSON, INVALID, LIMIT. */
int event_read(struct event_read *read, struct span json, ses_error *error);
void event_read_free(struct event_read *read);

/* Makes the message of the error say so if it stopped at NaN or Infinity, which Python writes and JSON does not
 * have. Gives the code. */
int explain_json(struct span json, ses_error *error);

/* The value is the text of the tombstone, in the spelling that would remove the key. */
bool is_tombstone(struct span value);
/* The same string with an escape, which is an ordinary value. */
extern const char ESCAPED_TOMBSTONE[];

/* Has it to be changed before it is stored? */
bool event_needs_change(const struct event_read *read);
/* The changed text: with the id and the time if it has none, and tombstones escaped. */
void event_change(const struct event_read *read, const char *id, int64_t time_us, struct text *changed);

#endif
