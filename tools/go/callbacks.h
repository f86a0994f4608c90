/* The functions through which the library calls Go. Each context points to the number of a Go value
 * (runtime/cgo.Handle). */
#ifndef SESLITE_GO_CALLBACKS_H
#define SESLITE_GO_CALLBACKS_H

#include "seslite_agent.h"
#include "seslite_artifact.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_inbox.h"
#include "seslite_search.h"
#include "seslite_usage.h"

int64_t ses_go_clock(void *context);
int ses_go_make_id(void *context, char *id, size_t capacity);
void ses_go_trace(void *context, const ses_trace *trace);
int ses_go_next(void *context, ses_loaded_event *event, ses_error *error);
int ses_go_write(void *context, const char *data, size_t len, ses_error *error);
int ses_go_read(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error);
int ses_go_imported(void *context, const ses_import_item *item);
int ses_go_progress(void *context, int64_t done, int64_t total);
int ses_go_left_out(void *context, const ses_error *why);
int ses_go_problem(void *context, const ses_problem *problem);
int ses_go_answer(void *context, const ses_function *call, const ses_event *event, int is_long_running,
                  char **response, size_t *len, ses_error *error);
int ses_go_count(void *context, const ses_event *event, const char *content, size_t len, int64_t *tokens,
                 ses_error *error);
int ses_go_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                ses_error *error);
int ses_go_zone(void *context, int64_t time_us);
int ses_go_artifact(void *context, const char *name, char **text, size_t *len, ses_error *error);

#endif
