/* The `usageMetadata` of an event. */
#ifndef SESLITE_AGENT_USAGE_H
#define SESLITE_AGENT_USAGE_H

#include "seslite_agent.h"

#include "json/object.h"

/* Reads the object that was found. A value that is not a count is treated as absent. */
SESLITE_PRIVATE int ses__usage_read(const struct json_found *found, ses_usage *usage, ses_error *error);

#endif
