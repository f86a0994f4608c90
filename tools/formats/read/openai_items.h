/* Converts items of the OpenAI Agents SDK to events of the ADK. */
#ifndef FORMATS_READ_OPENAI_ITEMS_H
#define FORMATS_READ_OPENAI_ITEMS_H

#include "formats/formats.h"
#include "formats/json/own_state.h"

/* The tokens of a turn. */
struct openai_usage {
    int64_t input;
    int64_t output; /* with those for reasoning */
    int64_t total;
    int64_t cached;
    int64_t reasoning;
};

/* A walk over the items of a session. Ready when zeroed and `notes` is set. */
struct openai_items {
    struct foreign_notes *notes;
    struct own_state calls;           /* function names by the id of the call */
    const struct openai_usage *usage; /* for the next item; NULL: none */
    int64_t turn;                     /* the number of the user's item that began it; 0 before the first */
    struct text json;                 /* of the last event */
    struct text room;
};

void openai_items_begin(struct openai_items *items);
/* Converts an item. Returns 1, or JSON, INVALID or LIMIT if it is not a valid JSON object. */
int openai_item(struct openai_items *items, int64_t number, struct span item, int64_t time_us,
                struct span *event, ses_error *error);
void openai_items_free(struct openai_items *items);

#endif
