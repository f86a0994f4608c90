#include "usage/prices.h"

#include <stdio.h>

#include "formats/json/members.h"
#include "output/out.h"
#include "write/input.h"

/* ----------------------------------------------------------------------------------------------- the file */

/* The prices of a model. */
static const char *const price_names[] = {"prompt", "cached", "candidates", "thoughts", "toolUse", NULL};

enum { MILLION = 1000000 };

/* A billion for a million tokens, which is enough for any currency. In millionths, as a price is kept. */
static const int64_t MAX_PRICE = INT64_C(1000000000) * MILLION;

/* True if it is a number from 0 to that price, with six decimals or fewer. */
static bool read_price(struct span value, int64_t *price)
{
    return member_number(value, 6, price) && *price >= 0 && *price <= MAX_PRICE;
}

/* True if these are the prices of one model. */
static bool is_model(struct span model, struct run *run)
{
    struct members members;

    if (members_only(model, price_names, &run->error) != SES_OK)
        return false;
    members_read(&members, model);
    if (members.more)
        return false;
    for (size_t i = 0; i < members.count; i++) {
        int64_t price = 0;
        if (!read_price(members.values[i], &price))
            return false;
    }
    return member_in(model, "prompt").ptr && member_in(model, "candidates").ptr;
}

static int check_model(void *context, struct span name, struct span model)
{
    struct run *run = context;

    return is_model(model, run)
               ? EXIT_OK
               : say_usage(run,
                           "%s: the prices of \"%.*s\" must be numbers from 0 to 1,000,000,000 with up to 6 "
                           "decimals: prompt and candidates, and perhaps cached, thoughts and toolUse",
                           run->values[OPTION_PRICES], (int)name.len, name.ptr);
}

static int check_prices(struct run *run, const struct prices *prices)
{
    const struct span json = {prices->json.data, prices->json.len};

    if (members_check(json, &run->error) != SES_OK)
        return say_usage(run, "%s: %s", run->values[OPTION_PRICES], run->error.message);
    const int status = members_visit(json, check_model, run);
    return status >= 0 ? status : say_usage(run, "%s is not a JSON object", run->values[OPTION_PRICES]);
}

int prices_read(struct run *run, struct prices *prices)
{
    *prices = (struct prices){.json = {NULL, 0, 0}};
    if (!given(run, OPTION_PRICES))
        return EXIT_OK;
    const int status = input_read(run, run->values[OPTION_PRICES], &prices->json);
    return status == EXIT_OK ? check_prices(run, prices) : status;
}

void prices_free(struct prices *prices)
{
    text_free(&prices->json);
}

/* -------------------------------------------------------------------------------------------- amounts */

void amount_add(struct amount *sum, const struct amount *more)
{
    const int64_t carry = (sum->rest + more->rest) / MILLION;
    const bool is_too_large = more->millionths >= INT64_MAX - carry - sum->millionths;

    sum->rest = is_too_large ? 0 : (sum->rest + more->rest) % MILLION;
    sum->millionths = is_too_large ? INT64_MAX : sum->millionths + more->millionths + carry;
}

/* Adds the price of so many tokens, which is a price for a million of them. */
static void add_tokens(struct amount *sum, int64_t tokens, int64_t price)
{
    const int64_t millions = tokens / MILLION;
    const int64_t others = tokens % MILLION;
    const bool is_too_large = price > 0 && millions > INT64_MAX / price;
    const int64_t rest = others * (price % MILLION);
    const struct amount of_millions = {is_too_large ? INT64_MAX : millions * price, 0};
    const struct amount of_others = {others * (price / MILLION) + rest / MILLION, rest % MILLION};

    amount_add(sum, &of_millions);
    amount_add(sum, &of_others);
}

void amount_write(const struct amount *amount, char text[AMOUNT_ROOM])
{
    int len = snprintf(text, AMOUNT_ROOM, "%lld.%06lld%06lld", (long long)(amount->millionths / MILLION),
                       (long long)(amount->millionths % MILLION), (long long)amount->rest);

    for (int zeros = 0; zeros < 6 && text[len - 1] == '0'; zeros++)
        text[--len] = '\0';
}

void amount_write_rounded(const struct amount *amount, char text[AMOUNT_ROOM])
{
    const int64_t unit = MILLION / 10000;
    const int64_t rounded = amount->millionths / unit + (amount->millionths % unit >= unit / 2);

    (void)snprintf(text, AMOUNT_ROOM, "%lld.%04lld", (long long)(rounded / 10000),
                   (long long)(rounded % 10000));
}

/* ---------------------------------------------------------------------------------------------- the costs */

/* The price of that name, or of the other one if it is not given. */
static int64_t price_of(struct span model, const char *name, const char *other)
{
    const struct span own = member_in(model, name);
    int64_t price = 0;

    (void)read_price(own.ptr ? own : member_in(model, other), &price); /* the file was checked */
    return price;
}

bool prices_cost(const struct prices *prices, const ses_usage_row *row, struct amount *cost)
{
    const struct span all = {prices->json.data, prices->json.len};
    const struct span model = prices_given(prices) ? member_in(all, row->model) : (struct span){NULL, 0};
    const int64_t cached = row->cached < row->prompt ? row->cached : row->prompt;

    *cost = (struct amount){0, 0};
    if (!model.ptr)
        return false;
    add_tokens(cost, row->prompt - cached, price_of(model, "prompt", "prompt"));
    add_tokens(cost, cached, price_of(model, "cached", "prompt"));
    add_tokens(cost, row->tool_use, price_of(model, "toolUse", "prompt"));
    add_tokens(cost, row->candidates, price_of(model, "candidates", "candidates"));
    add_tokens(cost, row->thoughts, price_of(model, "thoughts", "candidates"));
    return true;
}
