/* Which sessions of an app or a user a caller asks for. */
#include "session/read/filter.h"

#include "base/argument.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/annotations.h"
#include "model/event/rows.h"
#include "session/store.h"

static int check_label_name(const char *name, const char *member, ses_error *error)
{
    return !name || ses__is_label_name(ses__span_of(name))
               ? SES_OK
               : ses__error_set(error, SES_INVALID,
                                "the filter: the %s is empty, longer than %d bytes, or not valid UTF-8",
                                member, SES_LABEL_NAME_MAX);
}

static int64_t time_or(const int64_t *time_us, int64_t otherwise)
{
    return time_us ? *time_us : otherwise;
}

static int check_owner_asked(const ses_key *child_of, const char *app, ses_error *error)
{
    int code = SES_OK;

    if (child_of->app && app && strcmp(child_of->app, app) != 0)
        code = ses__error_set(error, SES_INVALID, "it is in another app");
    if (code == SES_OK)
        code = ses__check_id(child_of->user, "user", error);
    if (code == SES_OK)
        code = ses__check_id(child_of->session, "session", error);
    if (code != SES_OK)
        ses__error_prefix(error, "the filter: child_of: ");
    return code;
}

static const unsigned KINDS = SES_KIND_CONVERSATION | SES_KIND_CHILD | SES_KIND_MEMORY;

static int64_t find_shelves_left_out(const ses_filter *own)
{
    int64_t without = 0;

    for (int shelf = 0; shelf < SHELF_COUNT; shelf++) {
        const int64_t details = shelf * (int64_t)DETAIL_ARCHIVED;
        const int archived = details & DETAIL_ARCHIVED ? SES_ARCHIVED_ONLY : SES_ARCHIVED_NO;
        if ((own->child_of && ses__kind_of(details) != SES_KIND_CHILD) ||
            (own->kinds != 0 && !(own->kinds & ses__kind_of(details))) ||
            (own->archived != SES_ARCHIVED_ANY && own->archived != archived) ||
            (own->remembered && !(details & (DETAIL_MEMORY | DETAIL_REMEMBERED))))
            without |= INT64_C(1) << shelf;
    }
    return without;
}

int ses__filter_take(const ses_filter *given, const char *app, const char *user, struct list_filter *filter,
                     ses_error *error)
{
    ses_filter own;
    int code = ses__take_options(&own, sizeof own, given, "filter", error);

    if (code != SES_OK)
        return code;
    if (own.label_value && !own.label)
        return ses__error_set(error, SES_MISUSE, "the filter has a label_value, but no label");
    code = check_label_name(own.label, "label", error);
    if (code == SES_OK)
        code = check_label_name(own.without_label, "without_label", error);
    if (code != SES_OK)
        return code;
    if (own.label_value && !ses__is_label_value(ses__span_of(own.label_value)))
        return ses__error_set(error, SES_INVALID,
                              "the filter: the label_value is longer than %d bytes, or not valid UTF-8",
                              SES_LABEL_VALUE_MAX);
    if (own.archived < SES_ARCHIVED_ANY || own.archived > SES_ARCHIVED_ONLY)
        return ses__error_set(error, SES_MISUSE, "the filter: archived is not one of SES_ARCHIVED_*");
    if (own.kinds & ~KINDS)
        return ses__error_set(error, SES_MISUSE, "the filter: kinds has a bit that is none of SES_KIND_*");
    if (own.id_prefix && !user)
        return ses__error_set(error, SES_MISUSE, "the filter has an id_prefix, which needs a user");
    code = ses__check_prefix(own.id_prefix, "the filter: the id_prefix", error);
    if (code == SES_OK && own.child_of)
        code = check_owner_asked(own.child_of, app, error);
    if (code == SES_OK)
        *filter = (struct list_filter){.label = own.label,
                                       .label_value = own.label_value,
                                       .id_prefix = own.id_prefix,
                                       .since_us = time_or(own.updated_since_us, INT64_MIN),
                                       .before_us = time_or(own.updated_before_us, INT64_MAX),
                                       .changed_since_us = time_or(own.changed_since_us, INT64_MIN),
                                       .changed_before_us = time_or(own.changed_before_us, INT64_MAX),
                                       .without_label = own.without_label,
                                       .child_of = {app, own.child_of ? own.child_of->user : NULL,
                                                    own.child_of ? own.child_of->session : NULL},
                                       .without_shelves = find_shelves_left_out(&own)};
    return code;
}

uint32_t ses__filter_add_text(uint32_t hash, char kind, const char *text)
{
    return text ? ses__hash32_name(ses__hash32(hash, &kind, 1), text) : hash;
}

uint32_t ses__filter_hash(uint32_t hash, const struct list_filter *filter)
{
    hash = ses__filter_add_text(hash, 'l', filter->label);
    hash = ses__filter_add_text(hash, 'v', filter->label_value);
    hash = ses__filter_add_text(hash, 'p', filter->id_prefix);
    hash = ses__hash32(hash, &filter->since_us, sizeof filter->since_us);
    hash = ses__hash32(hash, &filter->before_us, sizeof filter->before_us);
    /* These add nothing unless they are asked: 0.2.0 could not ask them, and its tokens stay valid. */
    hash = ses__filter_add_text(hash, 'w', filter->without_label);
    hash = ses__filter_add_text(hash, 'u', filter->child_of.user);
    hash = ses__filter_add_text(hash, 's', filter->child_of.session);
    if (filter->without_shelves != 0)
        hash = ses__hash32(hash, &filter->without_shelves, sizeof filter->without_shelves);
    if (filter->changed_since_us == INT64_MIN && filter->changed_before_us == INT64_MAX)
        return hash;
    hash = ses__hash32(hash, &filter->changed_since_us, sizeof filter->changed_since_us);
    return ses__hash32(hash, &filter->changed_before_us, sizeof filter->changed_before_us);
}
