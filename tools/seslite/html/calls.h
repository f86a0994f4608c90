/* Matches responses to calls by their ids. Calls and responses are numbered in the order of the walk. For an
 * answered call only two numbers are kept, so that a long log takes little memory. */
#ifndef HTML_CALLS_H
#define HTML_CALLS_H

#include "command.h"

enum { CALL_BUCKETS = 4096 };

struct numbers {
    int64_t *at;
    size_t count;
    size_t capacity;
};

struct calls {
    struct open_call *open[CALL_BUCKETS]; /* still without a response, newest first */
    struct numbers answers;               /* for each call the event of its response, or 0 */
    struct numbers askers;                /* for each response the event of its call, or 0 */
};

void calls_add_call(struct calls *calls, const ses_text *id, int64_t seq);
/* The response answers the newest open call with that id. */
void calls_add_response(struct calls *calls, const ses_text *id, int64_t seq);
/* True if the response reports a failure: `error` is not empty, `isError` is true, or `status` is "error". */
bool response_failed(const ses_text *response);
/* The number at the index, or 0 past the end. */
int64_t number_at(const struct numbers *numbers, size_t index);
void calls_free(struct calls *calls);

#endif
