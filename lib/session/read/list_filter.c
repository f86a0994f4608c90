#include "session/read/list_filter.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "session/store.h"

static int check_filter_label(const ses_filter *filter, ses_error *error)
{
    if (filter->label_value && !filter->label)
        return ses__error_set(error, SES_MISUSE, "the filter has a label_value, but no label");
    if (filter->label && !ses__is_label_name((struct span){filter->label, strlen(filter->label)}))
        return ses__error_set(error, SES_INVALID,
                              "the filter: the label is empty, longer than %d bytes, or not valid UTF-8",
                              SES_LABEL_NAME_MAX);
    if (filter->label_value &&
        !ses__is_label_value((struct span){filter->label_value, strlen(filter->label_value)}))
        return ses__error_set(error, SES_INVALID,
                              "the filter: the label_value is longer than %d bytes, or not valid UTF-8",
                              SES_LABEL_VALUE_MAX);
    return SES_OK;
}

int ses__list_filter_take(const ses_filter *given, const char *user, struct list_filter *filter,
                          ses_error *error)
{
    ses_filter own;
    int code = ses__take_options(&own, sizeof own, given, "filter", error);

    if (code == SES_OK)
        code = check_filter_label(&own, error);
    if (code == SES_OK && own.id_prefix && !user)
        code = ses__error_set(error, SES_MISUSE, "the filter has an id_prefix, which needs a user");
    if (code == SES_OK)
        code = ses__check_prefix(own.id_prefix, "the filter: the id_prefix", error);
    if (code == SES_OK)
        *filter = (struct list_filter){own.label, own.label_value, own.id_prefix,
                                       own.updated_since_us ? *own.updated_since_us : INT64_MIN,
                                       own.updated_before_us ? *own.updated_before_us : INT64_MAX};
    return code;
}
