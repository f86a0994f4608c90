/* Prices of models, which the user gives as a JSON file: for each model, what a million tokens cost. */
#ifndef USAGE_PRICES_H
#define USAGE_PRICES_H

#include "command.h"
#include "seslite_usage.h"
#include "text/text.h"

struct prices {
    struct text json; /* of the file; empty: there is none */
};

/* Reads the file of --prices, and checks all of it. Returns EXIT_OK, or prints what is wrong. */
int prices_read(struct run *run, struct prices *prices);
void prices_free(struct prices *prices);
static inline bool prices_given(const struct prices *prices)
{
    return prices->json.len > 0;
}
/* Gives what the calls of a model have cost. Returns false if it has no price. */
bool prices_cost(const struct prices *prices, const ses_usage_row *row, double *cost);

#endif
