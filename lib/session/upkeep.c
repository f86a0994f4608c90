/* Upkeep of the whole store: checks whether the stored data is sound, and gives free space back. */
#include "base/error.h"
#include "session/store.h"

enum { DEFAULT_PROBLEMS = 100 };

static int check_store(ses_store *store, const ses_check_options *options, int64_t *problems,
                       ses_error *error)
{
    ses_check_options own;
    int code = ses__check_argument(problems, "problems", error);

    if (code == SES_OK)
        code = ses__take_options(&own, sizeof own, options, "check options", error);
    if (code == SES_OK && (own.level < SES_CHECK_QUICK || own.level > SES_CHECK_LOG))
        code = ses__error_set(error, SES_MISUSE, "check options: level is not one of SES_CHECK_*");
    if (code == SES_OK && own.limit < 0)
        code = ses__error_set(error, SES_INVALID, "check options: limit is negative");
    if (code != SES_OK)
        return code;
    struct check_op op = {.limits = LIMITS_OF(store, own),
                          .level = own.level,
                          .limit = own.limit > 0 ? own.limit : DEFAULT_PROBLEMS,
                          .report = own.report,
                          .report_context = own.report_context,
                          .progress = own.progress,
                          .progress_context = own.progress_context,
                          .seed = store->seed,
                          .now_us = ses__store_now(store)};
    code = ses__door_check(store->storage, &op, error);
    if (code == SES_OK)
        *problems = op.problems;
    return code;
}

const char *ses_problem_name(int kind)
{
    static const char *const names[] = {[0] = "?",
                                        [SES_PROBLEM_PAGE] = "page",
                                        [SES_PROBLEM_INDEX] = "index",
                                        [SES_PROBLEM_REFERENCE] = "reference",
                                        [SES_PROBLEM_NAME] = "name",
                                        [SES_PROBLEM_NUMBER] = "number",
                                        [SES_PROBLEM_COUNT] = "count",
                                        [SES_PROBLEM_TIME] = "time",
                                        [SES_PROBLEM_BODY] = "body",
                                        [SES_PROBLEM_EVENT] = "event",
                                        [SES_PROBLEM_MARK] = "mark",
                                        [SES_PROBLEM_STATE] = "state",
                                        [SES_PROBLEM_BASE] = "base",
                                        [SES_PROBLEM_DETAIL] = "detail",
                                        [SES_PROBLEM_LABEL] = "label",
                                        [SES_PROBLEM_PARENT] = "parent",
                                        [SES_PROBLEM_LEASE] = "lease",
                                        [SES_PROBLEM_SHARED] = "shared",
                                        [SES_PROBLEM_COUNTER] = "counter",
                                        [SES_PROBLEM_ARTIFACT] = "artifact",
                                        [SES_PROBLEM_USAGE] = "usage",
                                        [SES_PROBLEM_NEWER] = "newer"};
    const bool known = kind > 0 && (size_t)kind < sizeof names / sizeof names[0];
    return names[known ? kind : 0];
}

int ses_store_check(ses_store *store, const ses_check_options *options, int64_t *problems, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, check_store(store, options, problems, error)) : code;
}

/* The largest argument of PRAGMA incremental_vacuum. */
static const int64_t MAX_PAGES = INT32_MAX;

static int maintain(ses_store *store, const ses_maintain_options *options, ses_error *error)
{
    const int64_t default_limit = 10000;
    ses_maintain_options own;
    int code = ses__take_options(&own, sizeof own, options, "maintain options", error);

    if (code == SES_OK && own.limit < 0)
        code = ses__error_set(error, SES_INVALID, "maintain options: limit is negative");
    if (code != SES_OK)
        return code;
    struct maintain_op op = {.limits = LIMITS_OF(store, own),
                             .limit = own.limit > 0 ? own.limit : default_limit};
    if (op.limit > MAX_PAGES)
        op.limit = MAX_PAGES;
    code = ses__door_maintain(store->storage, &op, error);
    return code == SES_OK && op.more ? SES_MORE : code;
}

int ses_store_maintain(ses_store *store, const ses_maintain_options *options, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, maintain(store, options, error)) : code;
}
