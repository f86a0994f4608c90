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

void labels_free(ses_label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)labels[i].name);
}
