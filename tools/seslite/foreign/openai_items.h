/* Items of the OpenAI Agents SDK, as events of the ADK. */
#ifndef FOREIGN_OPENAI_ITEMS_H
#define FOREIGN_OPENAI_ITEMS_H

#include "foreign/foreign.h"
#include "foreign/own_state.h"

/* A walk over the items of a session. Zeroed but for the notes: ready. */
struct openai_items {
    struct foreign_notes *notes;
    struct own_state calls; /* the name of the function, by the id of its call */
    int64_t turn;           /* the item of the user that began it; 0: none yet */
    struct text json;       /* of the event given last */
    struct text room;
};

void openai_items_begin(struct openai_items *items);
/* The event of an item. 1, or JSON, INVALID, LIMIT: it is no JSON object. */
int openai_item(struct openai_items *items, int64_t number, struct span item, int64_t time_us,
                struct span *event, ses_error *error);
void openai_items_free(struct openai_items *items);

#endif
