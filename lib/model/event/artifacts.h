/* The artifacts that an event names, in `actions.artifactDelta`, an object of names and versions, and by
 * address; and the data in the parts of its content, or to which they refer. */
#ifndef SESLITE_MODEL_EVENT_ARTIFACTS_H
#define SESLITE_MODEL_EVENT_ARTIFACTS_H

#include <string.h>

#include "json/reader.h"

/* Pieces of an event's text. Without a pointer: the event has no such object. */
struct artifact_outline {
    struct json_string id; /* without a pointer: it has none */
    struct json_string invocation_id;
    struct span object;  /* the event */
    struct span actions; /* its value, which may be null */
    struct span delta;   /* of artifacts, which may be null */
    bool partial;
};

/* False: the text is not a JSON object. The reader of the event reports why. */
SESLITE_PRIVATE bool ses__artifact_outline(struct span event, struct artifact_outline *outline);

/* A walk over the names and versions of a delta that is an object; any other has none. */
struct artifact_delta_walk {
    struct json_reader reader;
    bool any;
};
SESLITE_PRIVATE void ses__artifact_delta_open(struct artifact_delta_walk *walk, struct span delta);
/* The number of a version, or -1. */
SESLITE_PRIVATE int64_t ses__artifact_version_of(struct span value);
/* `version` is -1 for a value that is not the number of a version. */
SESLITE_PRIVATE bool ses__artifact_delta_next(struct artifact_delta_walk *walk, struct json_string *name,
                                              struct span *value, int64_t *version);

/* True if the name is one of the user's artifacts, which all sessions of the user have. */
static inline bool ses__artifact_is_of_user(struct span name)
{
    return name.len >= 5 && memcmp(name.ptr, "user:", 5) == 0;
}

/* ---- addresses, as google/adk/artifacts/artifact_util.py forms them:
 *     artifact://apps/APP/users/USER/sessions/SESSION/artifacts/NAME/versions/N
 *     artifact://apps/APP/users/USER/artifacts/NAME/versions/N
 */

#define ARTIFACT_URI "artifact://"

static inline bool ses__artifact_is_uri(struct span text)
{
    return text.len >= sizeof ARTIFACT_URI - 1 &&
           memcmp(text.ptr, ARTIFACT_URI, sizeof ARTIFACT_URI - 1) == 0;
}

/* Splits NAME/versions/N, of which the name may contain anything but a NUL. */
SESLITE_PRIVATE bool ses__artifact_uri_split(struct span rest, struct span *name, int64_t *version);

/* A walk over the artifacts that an address may lead to, in whatever session: an id may contain the words
 * that separate it from the name. */
struct artifact_uri_walk {
    struct span rest;
};
SESLITE_PRIVATE void ses__artifact_uri_open(struct artifact_uri_walk *walk, struct span uri);
SESLITE_PRIVATE bool ses__artifact_uri_next(struct artifact_uri_walk *walk, struct span *name,
                                            int64_t *version);

/* Finds the next string in an accepted event that begins as an address does. `*at` is 0 at first. */
SESLITE_PRIVATE bool ses__artifact_uri_find(struct span text, size_t *at, struct json_string *uri);

/* ---- parts */

/* A member `inlineData` or `fileData` of a part. */
struct part_data {
    struct span whole;  /* from its key on; without a pointer: the part has none */
    struct span source; /* its `data`, or its `fileUri`. This and the others are JSON strings, in quotes; */
    struct span mime_type; /* without a pointer: absent, or not a string */
    struct span display_name;
};

/* Give the last member of that kind. The part is a value that was accepted before, without white space around
 * it. */
SESLITE_PRIVATE struct part_data ses__part_inline_data(struct span part);
SESLITE_PRIVATE struct part_data ses__part_file_data(struct span part);

/* A walk over the parts of a content; one that has no array of parts has none. */
struct part_walk {
    struct json_reader reader;
    bool any;
};
SESLITE_PRIVATE void ses__parts_open(struct part_walk *walk, struct span content);
SESLITE_PRIVATE bool ses__parts_next(struct part_walk *walk, struct span *part);
/* Returns the value of an event's `content`; without a pointer: it has none. */
SESLITE_PRIVATE struct span ses__event_content(struct span event);

#endif
