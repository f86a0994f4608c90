/* The events of an input: JSON objects one after another, usually one on each line. */
#ifndef WRITE_BATCH_H
#define WRITE_BATCH_H

#include "command.h"
#include "text/text.h"

/* All events of a batch are held in memory and stored in one transaction. */
enum { MAX_EVENTS = 10000 };

/* All zero is empty. */
struct batch {
    size_t count;
    ses_text *events; /* within the input */
    int64_t *lines;   /* where each of them begins */
};

/* Divides the input, without checking the JSON. Returns false if there are more than MAX_EVENTS. */
bool batch_divide(struct batch *batch, const struct text *input);
void batch_free(struct batch *batch);

#endif
