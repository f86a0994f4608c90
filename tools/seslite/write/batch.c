#include "write/batch.h"

#include <stdlib.h>
#include <string.h>

/* A place in the input. */
struct place {
    const char *at;
    const char *end;
    int64_t line;
};

/* Skips a string, up to a line break that it must not contain. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        if (*at == '\\' && end - at > 1 && at[1] != '\n')
            at++;
    return at < end && *at == '"' ? at + 1 : at;
}

/* Returns the end of the event that begins here: where its brackets are closed, or the end of the line if it
 * is no object. */
static const char *end_of_event(const char *at, const char *end)
{
    size_t depth = 0;

    while (at < end && (depth > 0 || *at != '\n')) {
        const char c = *at;
        if (c == '"') {
            at = skip_string(at, end);
            continue;
        }
        at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && depth-- <= 1)
            break;
    }
    return at;
}

/* Finds the next event, without the white space around it. */
static bool next_event(struct place *place, ses_text *event, int64_t *line)
{
    while (place->at < place->end && *place->at && strchr(" \t\r\n", *place->at))
        place->line += *place->at++ == '\n';
    if (place->at == place->end)
        return false;
    const char *begin = place->at;
    *line = place->line;
    for (const char *end = end_of_event(begin, place->end); place->at < end; place->at++)
        place->line += *place->at == '\n';
    *event = (ses_text){begin, (size_t)(place->at - begin)};
    return true;
}

bool batch_divide(struct batch *batch, const struct text *input)
{
    struct place place = {input->data, input->data + input->len, 1};
    ses_text event;
    int64_t line = 0;

    *batch = (struct batch){.events = allocate(MAX_EVENTS * sizeof event),
                            .lines = allocate(MAX_EVENTS * sizeof line)};
    while (next_event(&place, &event, &line)) {
        if (batch->count == MAX_EVENTS)
            return false;
        batch->events[batch->count] = event;
        batch->lines[batch->count++] = line;
    }
    return true;
}

void batch_free(struct batch *batch)
{
    free(batch->events);
    free(batch->lines);
}
