#include "store/labels.h"

#include <stdlib.h>
#include <string.h>

#include "text/text.h"

/* Splits NAME=VALUE in a copy, which becomes the label's name. */
void label_given(const char *text, bool remove, ses_label *label)
{
    char *name = copy_text(text);
    char *equals = remove ? NULL : strchr(name, '=');

    *label = (ses_label){name, remove ? NULL : ""};
    if (equals) {
        *equals = '\0';
        label->value = equals + 1;
    }
}

size_t labels_given(const struct run *run, ses_label *labels)
{
    size_t count = 0;

    for (size_t i = 0; i < run->repeated_count; i++)
        if (run->repeated_option[i] == OPTION_GIVE_LABEL)
            label_given(run->repeated[i], false, &labels[count++]);
    return count;
}

char *filter_label_given(const struct run *run, ses_filter *filter)
{
    if (!given(run, OPTION_LABEL))
        return NULL;
    char *label = copy_text(run->values[OPTION_LABEL]);
    char *equals = strchr(label, '=');
    if (equals)
        *equals = '\0';
    filter->label = label;
    filter->label_value = equals ? equals + 1 : NULL;
    return label;
}

void labels_free(ses_label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)labels[i].name);
}
