/* The help topics. */
#ifndef TOPICS_H
#define TOPICS_H

#include "command.h"

extern const struct topic topic_table[];
extern const size_t topic_count;

#endif
