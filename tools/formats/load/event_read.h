/* The facts that the import needs from an event, and the changes that it makes to one. */
#ifndef FORMATS_LOAD_EVENT_READ_H
#define FORMATS_LOAD_EVENT_READ_H

#include "formats/formats.h"
#include "json/reader.h"

/* A change of a state key. */
struct event_change {
    struct span key;        /* decoded */
    struct json_string raw; /* the key as spelled in the text */
    struct span value;
};

/* Ready when zeroed. It is reused for the next event. */
struct event_read {
    struct span json;
    struct event_change *changes;
    size_t count;
    size_t capacity;
    struct text id;      /* decoded; empty if it has none */
    int64_t time_us;     /* FOREIGN_NO_TIME if it has none */
    struct span null_id; /* the null in place of an id */
    struct span null_time;
    bool partial;
    struct arena *arena; /* holds the decoded keys */
};

/* Parses the event strictly. Fails with JSON, INVALID or LIMIT. */
int event_read(struct event_read *read, struct span json, ses_error *error);
void event_read_free(struct event_read *read);

/* If parsing stopped at NaN or Infinity, which Python writes although JSON does not have them, names it in
 * the error message. Returns the code. */
int explain_json(struct span json, ses_error *error);

/* True if the value is the tombstone in the exact spelling that would remove the key. */
bool is_tombstone(struct span value);
/* The tombstone spelled with an escape, which makes it an ordinary value. */
extern const char ESCAPED_TOMBSTONE[];

/* True if the event has to be changed before it is stored. */
bool event_needs_change(const struct event_read *read);
/* Writes the changed event: with the id and time if it lacks them, and with escaped tombstones. */
void event_change(const struct event_read *read, const char *id, int64_t time_us, struct text *changed);

/*
 * Copies the members that are JSON into `sound`, byte for byte as an object, and calls `refused` for each
 * other member with its key as spelled. Returns false, without any call, if the text cannot even be split
 * into members.
 */
bool loose_object(struct span json, struct text *sound,
                  void (*refused)(void *context, const char *key, const ses_error *error), void *context);

#endif
