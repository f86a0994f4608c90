/* Which response answers which call, by their ids. Calls and responses are numbered in the order of the walk. Of what
 * is answered * only two numbers are kept, so that a long log takes little memory. */
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
    struct open_call *open[CALL_BUCKETS]; /* without a response as yet, newest first */
    struct numbers answers;               /* of each call, the event of its response; 0: there is none */
    struct numbers askers;                /* of each response, the event of its call; 0: there is none */
};

void calls_add_call(struct calls *calls, const ses_text *id, int64_t seq);
/* The newest call of that id that is not answered is. */
void calls_add_response(struct calls *calls, const ses_text *id, int64_t seq);
/* Does the response say that the call failed? Its `error` is something, `isError` is true, or `status` is "error". */
bool response_failed(const ses_text *response);
/* 0 past the end. */
int64_t number_at(const struct numbers *numbers, size_t index);
void calls_free(struct calls *calls);

#endif
