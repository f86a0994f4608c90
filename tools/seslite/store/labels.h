/* Labels as they are given on the command line: NAME or NAME=VALUE. */
#ifndef STORE_LABELS_H
#define STORE_LABELS_H

#include "command.h"

/* Reads a label; if `remove`, the whole text is the name of one to remove. labels_free frees it. */
void label_given(const char *text, bool remove, ses_label *label);
void labels_free(ses_label *labels, size_t count);

#endif
