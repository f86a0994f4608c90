/* Each function gives Go what its declaration in the headers promises to be const, which Go cannot say. */
#include "_cgo_export.h"
#include "callbacks.h"

#define VALUE(context) (*(uintptr_t *)(context))

int64_t ses_go_clock(void *context)
{
    return sesGoClock(VALUE(context));
}

int ses_go_make_id(void *context, char *id, size_t capacity)
{
    return sesGoMakeID(VALUE(context), id, capacity);
}

void ses_go_trace(void *context, const ses_trace *trace)
{
    sesGoTrace(VALUE(context), (ses_trace *)trace);
}

int ses_go_next(void *context, ses_loaded_event *event, ses_error *error)
{
    (void)error;
    return sesGoNext(VALUE(context), event);
}

int ses_go_write(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    return sesGoWrite(VALUE(context), (char *)data, len);
}

int ses_go_read(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    (void)error;
    return sesGoRead(VALUE(context), buffer, capacity, len);
}

int ses_go_imported(void *context, const ses_import_item *item)
{
    return sesGoImported(VALUE(context), (ses_import_item *)item);
}

int ses_go_progress(void *context, int64_t done, int64_t total)
{
    return sesGoProgress(VALUE(context), done, total);
}

int ses_go_left_out(void *context, const ses_error *why)
{
    return sesGoLeftOut(VALUE(context), (ses_error *)why);
}

int ses_go_problem(void *context, const ses_problem *problem)
{
    return sesGoProblem(VALUE(context), (ses_problem *)problem);
}

int ses_go_answer(void *context, const ses_function *call, const ses_event *event, int is_long_running,
                  char **response, size_t *len, ses_error *error)
{
    (void)error;
    return sesGoAnswer(VALUE(context), (ses_function *)call, (ses_event *)event, is_long_running, response,
                       len);
}

int ses_go_count(void *context, const ses_event *event, const char *content, size_t len, int64_t *tokens,
                 ses_error *error)
{
    (void)error;
    return sesGoCount(VALUE(context), (ses_event *)event, (char *)content, len, tokens);
}

int ses_go_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                ses_error *error)
{
    (void)error;
    return sesGoFind(VALUE(context), (char *)text, len, from, begin, end);
}

int ses_go_zone(void *context, int64_t time_us)
{
    return sesGoZone(VALUE(context), time_us);
}

int ses_go_artifact(void *context, const char *name, char **text, size_t *len, ses_error *error)
{
    (void)error;
    return sesGoArtifact(VALUE(context), (char *)name, text, len);
}
