/* The parts of a content, and the data in them or to which they refer. */
#ifndef SESLITE_MODEL_EVENT_PART_DATA_H
#define SESLITE_MODEL_EVENT_PART_DATA_H

#include "json/reader.h"

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
