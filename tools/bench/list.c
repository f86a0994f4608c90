/* Pages of lists, by label and without a filter, and without state against with state. */
#include "bench.h"

#include <string.h>

enum { LISTED = 100000, PAGE = 50, ONE_USERS = 2 }; /* every second session belongs to one user */

#define MINUTE_US INT64_C(60000000)

/* In a quick run there are enough for a page of every hundredth. */
static int listed(void)
{
    return measure_is_quick() ? LISTED / 10 : LISTED;
}

struct listing {
    ses_store *store;
    const char *user;
    const ses_filter *filter;
    const char *token;
    int order;
    unsigned flags;
    size_t least; /* sessions on the page */
};

static ses_page *list_one(const struct listing *listing)
{
    const ses_list_options options = {.size = sizeof options,
                                      .order = listing->order,
                                      .limit = PAGE,
                                      .flags = listing->flags,
                                      .filter = listing->filter,
                                      .token = listing->token};
    ses_page *page = NULL;

    CHECK(ses_list(listing->store, "app", listing->user, &options, &page, NULL) == SES_OK);
    CHECK(ses_page_count(page) >= listing->least);
    return page;
}

static void list_page(void *context, int count)
{
    for (int i = 0; i < count; i++)
        ses_page_close(list_one(context));
}

static double page_ms(struct listing *listing)
{
    enum { ROUNDS = 11 };
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        const double start = now_us();
        list_page(listing, 1);
        times[i] = (now_us() - start) / 1000;
    }
    return median(times, ROUNDS);
}

static double larger(double left, double right)
{
    return left > right ? left : right;
}

/* The first page and the one after it, in every order. */
static double slowest_page(struct listing listing)
{
    double slowest = 0;

    for (listing.order = SES_ORDER_NEWEST; listing.order <= SES_ORDER_CREATED; listing.order++) {
        ses_page *first = list_one(&listing);
        struct listing second = listing;
        second.token = ses_page_token(first);
        second.least = 0;
        slowest = larger(slowest, larger(page_ms(&listing), second.token ? page_ms(&second) : 0));
        ses_page_close(first);
    }
    return slowest;
}

static int64_t time_of(int number, int64_t step_us)
{
    return INT64_C(1700000000000000) + (int64_t)number * step_us;
}

/* Sessions have labels named after their frequency. (7919 is prime, so labels are equally frequent among one
 * user's sessions.) */
static void create_listed(ses_store *store, int number, int64_t step_us)
{
    char user[16];
    char id[32];
    ses_label labels[3];
    size_t count = 0;
    const int64_t created = time_of(number, step_us);
    const int mixed = (int)((int64_t)number / ONE_USERS * 7919 % (listed() / ONE_USERS));

    if (mixed % 2 == 0)
        labels[count++] = (ses_label){"second", "yes"};
    if (mixed % 100 == 0)
        labels[count++] = (ses_label){"hundredth", "yes"};
    if (mixed % 10000 == 0)
        labels[count++] = (ses_label){"ten-thousandth", "yes"};
    const ses_create_options options = {
        .size = sizeof options, .created_us = &created, .labels = labels, .label_count = count};
    snprintf(user, sizeof user, "user-%d", number % ONE_USERS ? 1 + number % 999 : 0);
    snprintf(id, sizeof id, "session-%06d", (int)((int64_t)number * 7919 % listed()));
    const ses_key key = {"app", user, id};
    CHECK(ses_create(store, &key, "{\"user:theme\":\"dark\",\"topic\":\"orders\",\"counter\":1}", SES_NUL,
                     &options, NULL, NULL) == SES_OK);
}

/* At all times, and within half of them. */
static void limit_label(ses_store *store, const char *user, const char *label, const char *name, size_t least)
{
    const int64_t since = time_of(listed() / 4, MINUTE_US);
    const int64_t before = time_of(listed() / 4 * 3, MINUTE_US);
    const ses_filter all = {.size = sizeof all, .label = label, .label_value = "yes"};
    ses_filter half = all;

    half.updated_since_us = &since;
    half.updated_before_us = &before;
    const double of_all =
        slowest_page((struct listing){.store = store, .user = user, .filter = &all, .least = least});
    const double of_half = slowest_page((struct listing){.store = store, .user = user, .filter = &half});
    report_time(name, "slowest", "ms", larger(of_all, of_half), 10);
}

static ses_store *open_listed(const char *path, int64_t step_us)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_store *store = NULL;

    CHECK(ses_open(path, &options, &store, NULL) == SES_OK);
    for (int i = 0; i < listed(); i++)
        create_listed(store, i, step_us);
    return store;
}

static void limit_labels(void)
{
    char *path = fresh_path("bench-list.db");
    ses_store *store = open_listed(path, MINUTE_US);

    limit_label(store, NULL, "second", "page of 50 of 100,000 by label, every 2nd", PAGE);
    limit_label(store, NULL, "hundredth", "page of 50 of 100,000 by label, every 100th", PAGE);
    limit_label(store, NULL, "ten-thousandth", "page of 50 of 100,000, every 10,000th", (size_t)scaled(10));
    limit_label(store, NULL, "none", "page of 50 of 100,000 by a label of none", 0);
    limit_label(store, "user-0", "second", "page of a user's 50,000 by label, every 2nd", PAGE);
    limit_label(store, "user-0", "hundredth", "page of a user's 50,000 by label, every 100th", PAGE);
    limit_label(store, "user-0", "ten-thousandth", "page of a user's 50,000, every 10,000th",
                (size_t)scaled(5));
    compare(&(struct comparison){
        .name = "page of 50 without state",
        .left = {"no state", list_page,
                 &(struct listing){.store = store, .flags = SES_LIST_NO_STATE, .least = PAGE}},
        .right = {"with state", list_page, &(struct listing){.store = store, .least = PAGE}},
        .rounds = 200,
        .count = 5,
        .at_most = 1});
    ses_close(store);
    free(fresh_path("bench-list.db"));
    free(path);
}

/* All sessions within one hour: many of them have to be sorted. */
static void limit_hour(void)
{
    char *path = fresh_path("bench-hour.db");
    ses_store *store = open_listed(path, INT64_C(60) * MINUTE_US / listed());

    report_time("page of 50 of 100,000 in one hour", "slowest", "ms",
                slowest_page((struct listing){.store = store, .least = PAGE}), 2);
    report_time("page of a user's 50,000 in one hour", "slowest", "ms",
                slowest_page((struct listing){.store = store, .user = "user-0", .least = PAGE}), 2);
    ses_close(store);
    free(fresh_path("bench-hour.db"));
    free(path);
}

void bench_list(void)
{
    limit_labels();
    limit_hour();
}
