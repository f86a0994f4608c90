/* The names of sessions that keep what memory copies: lib/memory/README.md. Version 0.2.0 had the same. */
#ifndef SESLITE_MODEL_MEMORIES_H
#define SESLITE_MODEL_MEMORIES_H

#include "base/common.h"

/* The labels of copies that belong to a project: its id, and that of the session that they come from. */
#define MEMORY_PROJECT "memory-project"
#define MEMORY_SOURCE "memory-session"

/* True of a name that may be one of these. */
SESLITE_PRIVATE bool ses__memories_is_name(struct span name);
/* Gives the name for copies of that session, or (NULL) for notes. A project of NULL is none. */
SESLITE_PRIVATE void ses__memories_name(const char *project, const char *session, char name[SES_ID_MAX + 1]);

#endif
