/* Pages of lists: with a label filter against without, and without state against with state. */
#include "bench.h"

#include <string.h>

enum { LISTED = 100000, PAGE = 50, ONE_USERS = 2 }; /* every second session belongs to one user */

/* In a quick run there are enough for a page of every hundredth. */
static int listed(void)
{
    return measure_is_quick() ? LISTED / 10 : LISTED;
}

struct listing {
    ses_store *store;
    const char *user;
    ses_filter filter; /* unused if it has no label */
    unsigned flags;
    size_t least; /* sessions on the page */
};

static void list_page(void *context, int count)
{
    const struct listing *listing = context;
    const ses_list_options options = {.size = sizeof options,
                                      .limit = PAGE,
                                      .flags = listing->flags,
                                      .filter = listing->filter.label ? &listing->filter : NULL};

    for (int i = 0; i < count; i++) {
        ses_page *page = NULL;
        CHECK(ses_list(listing->store, "app", listing->user, &options, &page, NULL) == SES_OK);
        CHECK(ses_page_count(page) >= listing->least);
        ses_page_close(page);
    }
}

/* One session per minute, with labels named after their frequency. (7919 is prime, so labels are equally
 * frequent among one user's sessions.) */
static void create_listed(ses_store *store, int number)
{
    char user[16];
    char id[32];
    ses_label labels[3];
    size_t count = 0;
    const int64_t created = INT64_C(1700000000000000) + (int64_t)number * 60000000;
    const int mixed = (int)((int64_t)number / ONE_USERS * 7919 % (listed() / ONE_USERS));

    if (mixed % 2 == 0)
        labels[count++] = (ses_label){"second", "yes"};
    if (mixed % 100 == 0)
        labels[count++] = (ses_label){"hundredth", "yes"};
    if (mixed % 10000 == 0)
        labels[count++] = (ses_label){"ten-thousandth", "yes"};
    const ses_create_options options = {
        .size = sizeof options, .create_us = &created, .labels = labels, .label_count = count};
    snprintf(user, sizeof user, "user-%d", number % ONE_USERS ? 1 + number % 999 : 0);
    snprintf(id, sizeof id, "session-%06d", (int)((int64_t)number * 7919 % listed()));
    const ses_key key = {"app", user, id};
    CHECK(ses_create(store, &key, "{\"user:theme\":\"dark\",\"topic\":\"orders\",\"counter\":1}", SES_NUL,
                     &options, NULL, NULL) == SES_OK);
}

static void compare_label(ses_store *store, const char *user, const char *label, const char *name,
                          size_t least)
{
    struct listing filtered = {
        .store = store,
        .user = user,
        .filter = {.size = sizeof filtered.filter, .label = label, .label_value = "yes"},
        .least = least};
    struct listing all = {.store = store, .user = user, .least = PAGE};

    compare(&(struct comparison){.name = name,
                                 .left = {"by label", list_page, &filtered},
                                 .right = {"without a filter", list_page, &all},
                                 .rounds = user ? 11 : 200,
                                 .count = user ? 1 : 5,
                                 .at_most = 8});
}

void bench_list(void)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    char *path = fresh_path("bench-list.db");
    ses_store *store = NULL;

    CHECK(ses_open(path, &options, &store, NULL) == SES_OK);
    for (int i = 0; i < listed(); i++)
        create_listed(store, i);
    compare_label(store, NULL, "second", "page of 50 of 100,000 by label, every 2nd", PAGE);
    compare_label(store, NULL, "hundredth", "page of 50 of 100,000 by label, every 100th", PAGE);
    compare_label(store, NULL, "ten-thousandth", "page of 50 of 100,000, every 10,000th", (size_t)scaled(10));
    compare_label(store, "user-0", "second", "page of a user's 50,000 by label, every 2nd", PAGE);
    compare_label(store, "user-0", "hundredth", "page of a user's 50,000 by label, every 100th", PAGE);
    compare_label(store, "user-0", "ten-thousandth", "page of a user's 50,000, every 10,000th",
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
