/* The help topics. */
#ifndef HELP_TOPICS_H
#define HELP_TOPICS_H

#include "command.h"

extern const struct topic topic_table[];
extern const size_t topic_count;

#endif
