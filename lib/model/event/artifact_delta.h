/* The artifacts that an event names: its `actions.artifactDelta`, an object of names and versions. */
#ifndef SESLITE_MODEL_EVENT_ARTIFACT_DELTA_H
#define SESLITE_MODEL_EVENT_ARTIFACT_DELTA_H

#include "json/reader.h"

/* Pieces of an event's text. Without a pointer: the event has no such object. */
struct artifact_outline {
    struct json_string id; /* without a pointer: it has none */
    struct span invocation_id;
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
/* `version` is -1 for a value that is not the number of a version. */
SESLITE_PRIVATE bool ses__artifact_delta_next(struct artifact_delta_walk *walk, struct json_string *name,
                                              struct span *value, int64_t *version);

#endif
