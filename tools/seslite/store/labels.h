/* Labels as they are given on the command line: NAME or NAME=VALUE. */
#ifndef STORE_LABELS_H
#define STORE_LABELS_H

#include "command.h"

/* Reads a label; if `remove`, the whole text is the name of one to remove. labels_free frees it. */
void label_given(const char *text, bool remove, ses_label *label);
/* Reads those of --label, for which `labels` has room for ARGUMENTS_MAX. labels_free frees them. */
size_t labels_given(const struct run *run, ses_label *labels);
/* Sets the label of a filter, if --label gives one, and returns a copy of its texts, to be freed. */
char *filter_label_given(const struct run *run, ses_filter *filter);
void labels_free(ses_label *labels, size_t count);

#endif
