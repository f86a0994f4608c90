/* Checks the table of used tokens: it must agree with the events. */
#include "storage/sql/upkeep/check.h"

#include <string.h>

#include "base/error.h"
#include "storage/sql/usage/usage.h"

int ses__check_usage_find(struct check *check)
{
    bool is_wanted = false;
    bool has_feature = false;
    int code = ses__feature_find(check->db, USAGE_FEATURE, &has_feature, &check->error);

    if (code == SES_OK)
        code = ses__usage_find_wish(check->db, &check->tallies_usage, &is_wanted, &check->error);
    if (code == SES_OK && has_feature && !is_wanted)
        ses__check_found(
            check, SES_PROBLEM_USAGE, 0,
            "the table usage_sums is not that of the tally: make it again, by ses_store_tally with SES_TALLY_REBUILD");
    check->tallies_usage = check->tallies_usage && code == SES_OK;
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}

int ses__check_usage_begin(struct check *check, struct check_usage *usage, const struct session_row *row)
{
    struct derived_row derived;

    usage->counted_seq = 0;
    if (!check->tallies_usage)
        return SES_OK;
    const int code = ses__derived_find(check->db, USAGE_FEATURE, row, &derived, &check->error);
    if (code == SES_OK && derived.current && derived.seq > row->base_seq && derived.seq <= row->last_seq)
        usage->counted_seq = derived.seq;
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}

/* An event that cannot be read was reported. */
int ses__check_usage_add(struct check *check, struct check_usage *usage, const struct event_row *event)
{
    struct usage_sums call;
    struct span model;
    bool used = false;

    if (event->seq > usage->counted_seq)
        return SES_OK;
    ses__arena_reset(&usage->arena);
    const int code = ses__usage_of_event(event, 0, &usage->arena, &call, &model, &used, &check->error);
    if (code == SES_NOMEM)
        return code;
    ses__error_clear(&check->error);
    return code != SES_OK || !used || ses__usage_tally_add(&usage->tally, &call, model)
               ? SES_OK
               : ses__error_nomem(&check->error);
}

int ses__check_usage_compare(struct check *check, struct check_usage *usage, const struct session_row *row)
{
    struct usage_tally *tally = &usage->tally;
    size_t found = 0;
    bool agrees = true;
    bool was_pruned = false; /* by a library that does not know the table: the sums hold more */
    struct usage_row stored;
    struct query query;

    if (usage->counted_seq == 0)
        return SES_OK;
    tally->total.first_seq = row->base_seq + 1;
    tally->total.last_seq = usage->counted_seq;
    ses__usage_rows_open(&query, check->db, &(struct owner_list){&row->id, 1}, false, &check->error);
    while (ses__query_row(&query)) {
        const struct usage_part *part = NULL;
        agrees = agrees && ses__usage_row_read(&query, &stored);
        if (stored.quarter == USAGE_OF_SESSION)
            was_pruned = stored.sums.first_seq <= row->base_seq;
        else if (agrees)
            part = ses__usage_tally_find(tally, stored.quarter, stored.model);
        const struct usage_sums *due = stored.quarter == USAGE_OF_SESSION ? &tally->total
                                       : part                             ? &part->sums
                                                                          : NULL;
        agrees = agrees && due && memcmp(due, &stored.sums, sizeof *due) == 0;
        found++;
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && tally->key.failed)
        code = ses__error_nomem(&check->error);
    if (code == SES_OK && !was_pruned && (!agrees || found != tally->parts.count + 1))
        ses__check_found(check, SES_PROBLEM_USAGE, 0,
                         "the tally of tokens does not agree with the events: make it again");
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}
