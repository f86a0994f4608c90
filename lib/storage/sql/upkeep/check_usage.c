/* Checks the table of used tokens: it must agree with the events. */
#include "storage/sql/upkeep/check.h"

#include "base/error.h"
#include "storage/sql/usage/usage.h"

int ses__check_usage_find(struct check *check)
{
    bool has_feature = false;
    int code = ses__feature_find(check->db, USAGE_FEATURE, &has_feature, &check->error);

    if (code == SES_OK)
        code = ses__usage_find(check->db, &check->tallies_usage, &check->error);
    if (code == SES_OK && has_feature && !check->tallies_usage)
        ses__check_found(
            check, SES_PROBLEM_USAGE, 0,
            "the table usage_counts is missing, or is not that of the tally: make it again, by ses_store_tally with SES_TALLY_REBUILD");
    check->tallies_usage = check->tallies_usage && code == SES_OK;
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}

int ses__check_usage_begin(struct check *check, struct check_usage *usage, const struct session_row *row)
{
    struct derived_row derived;

    usage->counted_seq = 0;
    usage->hash = 0;
    if (!check->tallies_usage)
        return SES_OK;
    const int code = ses__derived_find(check->db, USAGE_FEATURE, row, &derived, &check->error);
    if (code == SES_OK && derived.current && derived.seq > row->base_seq && derived.seq <= row->last_seq)
        usage->counted_seq = derived.seq;
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t hash_call(uint64_t hash, const struct usage_call *call, struct span model)
{
    hash = mix(mix(mix(hash, (uint64_t)call->seq), (uint64_t)call->time_us), call->odd);
    for (int i = 0; i < USAGE_COUNTS; i++)
        hash = mix(hash, (uint64_t)call->counts[i]);
    for (size_t i = 0; i < model.len; i++)
        hash = mix(hash, (unsigned char)model.ptr[i]);
    return mix(hash, model.len);
}

/* An event that cannot be read was reported. */
int ses__check_usage_add(struct check *check, struct check_usage *usage, const struct event_row *event)
{
    struct usage_call call = {.seq = event->seq, .time_us = event->time_us};
    struct span model;
    bool used = false;

    if (event->seq > usage->counted_seq)
        return SES_OK;
    const int code = ses__usage_read(event->body, &usage->arena, &call, &model, &used, &check->error);
    if (code == SES_NOMEM)
        return code;
    if (code == SES_OK && used)
        usage->hash = hash_call(usage->hash, &call, model);
    ses__error_clear(&check->error);
    ses__arena_reset(&usage->arena);
    return SES_OK;
}

static int hash_sheet(void *context, const struct usage_session *session, const struct usage_sheet *sheet,
                      const struct span *invocations, ses_error *error)
{
    uint64_t *hash = context;

    (void)invocations;
    (void)error;
    for (size_t i = 0; i < sheet->count; i++)
        *hash = hash_call(*hash, &sheet->calls[i], sheet->models[sheet->calls[i].model]);
    if (sheet->first > session->base_seq && !ses__usage_sheet_agrees(sheet))
        *hash = mix(*hash, 1);
    return SES_OK;
}

int ses__check_usage_compare(struct check *check, const struct check_usage *usage,
                             const struct session_row *row)
{
    uint64_t hash = 0;
    struct usage_walk walk = {.session_id = row->id,
                              .filter = {.since_us = INT64_MIN, .before_us = INT64_MAX},
                              .is_kept = true,
                              .reads_table = true,
                              .context = &hash,
                              .visit = hash_sheet};

    if (usage->counted_seq == 0)
        return SES_OK;
    const int code = ses__usage_walk(check->db, &walk, &check->error);
    if (code == SES_OK && hash != usage->hash)
        ses__check_found(check, SES_PROBLEM_USAGE, 0,
                         "the tally of tokens does not agree with the events: make it again");
    return ses__check_settle(check, code, SES_PROBLEM_USAGE);
}
