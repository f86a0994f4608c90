/* Prices of models, which the user gives as a JSON file: for each model, what a million tokens cost. */
#ifndef USAGE_PRICES_H
#define USAGE_PRICES_H

#include "command.h"
#include "seslite_usage.h"
#include "text/text.h"

/* An amount of money, exactly: as prices have it, so that no rounding of binary numbers adds up. */
struct amount {
    int64_t millionths; /* INT64_MAX: it is that much or more */
    int64_t rest;       /* millionths of a millionth, below a million */
};

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
bool prices_cost(const struct prices *prices, const ses_usage_row *row, struct amount *cost);

void amount_add(struct amount *sum, const struct amount *more);
enum { AMOUNT_ROOM = 40 };
/* Writes all digits, six decimals at least. */
void amount_write(const struct amount *amount, char text[AMOUNT_ROOM]);
/* Writes four decimals, halves rounded up. */
void amount_write_rounded(const struct amount *amount, char text[AMOUNT_ROOM]);

#endif
