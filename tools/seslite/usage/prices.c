#include "usage/prices.h"

#include "foreign/json/members.h"
#include "json/decimal.h"
#include "json/reader.h"
#include "output/out.h"
#include "write/input.h"

/* ------------------------------------------------------------------------------------------------ the file */

/* The prices of a model. */
static const char *const price_names[] = {"prompt", "cached", "candidates", "thoughts", "toolUse", NULL};

/* Is it a number of 0 or more? */
static bool read_price(struct span value, double *price)
{
    bool no_memory = false;

    return ses__json_type_of(value) == JSON_NUMBER && ses__decimal_to_double(value, price, &no_memory) &&
           *price >= 0;
}

/* Prints what is wrong with the prices of one model. */
static bool check_model(struct span model, struct run *run)
{
    struct members members;

    if (ses__json_type_of(model) != JSON_OBJECT || members_only(model, price_names, &run->error) != SES_OK)
        return false;
    members_read(&members, model);
    for (size_t i = 0; i < members.count; i++) {
        double price = 0;
        if (!read_price(members.values[i], &price))
            return false;
    }
    return member_in(model, "prompt").ptr && member_in(model, "candidates").ptr;
}

static int check_prices(struct run *run, const struct prices *prices)
{
    struct json_reader reader;
    struct json_string name;
    struct span model;
    bool sound = ses__json_check(prices->json.data, prices->json.len, &run->error) == SES_OK;

    if (!sound)
        return say_usage(run, "%s: %s", run->values[OPTION_PRICES], run->error.message);
    ses__json_start(&reader, prices->json.data, prices->json.len);
    sound = ses__json_peek(&reader) == JSON_OBJECT && ses__json_enter(&reader);
    while (sound && ses__json_member(&reader, &name)) {
        sound = ses__json_skip(&reader, &model) && check_model(model, run);
        if (!sound)
            return say_usage(
                run,
                "%s: the prices of \"%.*s\" must be numbers of 0 or more: prompt and candidates, and "
                "perhaps cached, thoughts and toolUse",
                run->values[OPTION_PRICES], (int)name.raw.len, name.raw.ptr);
    }
    return sound ? EXIT_OK : say_usage(run, "%s is not a JSON object", run->values[OPTION_PRICES]);
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

/* ---------------------------------------------------------------------------------------------- the costs */

/* The price of that name, or of the other one if it is not given. */
static double price_of(struct span model, const char *name, const char *other)
{
    const struct span own = member_in(model, name);
    double price = 0;

    (void)read_price(own.ptr ? own : member_in(model, other), &price);
    return price;
}

bool prices_cost(const struct prices *prices, const ses_usage_row *row, double *cost)
{
    const struct span all = {prices->json.data, prices->json.len};
    const struct span model = prices_given(prices) ? member_in(all, row->model) : (struct span){NULL, 0};
    const int64_t cached = row->cached < row->prompt ? row->cached : row->prompt;

    if (!model.ptr)
        return false;
    *cost = ((double)(row->prompt - cached) * price_of(model, "prompt", "prompt") +
             (double)cached * price_of(model, "cached", "prompt") +
             (double)row->tool_use * price_of(model, "toolUse", "prompt") +
             (double)row->candidates * price_of(model, "candidates", "candidates") +
             (double)row->thoughts * price_of(model, "thoughts", "candidates")) /
            1e6;
    return true;
}
