/* Which sessions of an app or a user a caller asks for. */
#include "session/read/filter.h"

#include "base/argument.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/annotations.h"
#include "session/store.h"

int ses__filter_take(const ses_filter *given, const char *user, struct list_filter *filter, ses_error *error)
{
    ses_filter own;
    int code = ses__take_options(&own, sizeof own, given, "filter", error);

    if (code != SES_OK)
        return code;
    if (own.label_value && !own.label)
        return ses__error_set(error, SES_MISUSE, "the filter has a label_value, but no label");
    if (own.label && !ses__is_label_name(ses__span_of(own.label)))
        return ses__error_set(error, SES_INVALID,
                              "the filter: the label is empty, longer than %d bytes, or not valid UTF-8",
                              SES_LABEL_NAME_MAX);
    if (own.label_value && !ses__is_label_value(ses__span_of(own.label_value)))
        return ses__error_set(error, SES_INVALID,
                              "the filter: the label_value is longer than %d bytes, or not valid UTF-8",
                              SES_LABEL_VALUE_MAX);
    if (own.id_prefix && !user)
        return ses__error_set(error, SES_MISUSE, "the filter has an id_prefix, which needs a user");
    code = ses__check_prefix(own.id_prefix, "the filter: the id_prefix", error);
    if (code == SES_OK)
        *filter = (struct list_filter){own.label, own.label_value, own.id_prefix,
                                       own.updated_since_us ? *own.updated_since_us : INT64_MIN,
                                       own.updated_before_us ? *own.updated_before_us : INT64_MAX};
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
    return ses__hash32(hash, &filter->before_us, sizeof filter->before_us);
}
