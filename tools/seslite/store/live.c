#include "store/live.h"

#include "output/out.h"

static int open_cursor(struct live *live, int64_t first_seq)
{
    struct run *run = live->run;
    const ses_range range = {.size = sizeof range,
                             .which = SES_RANGE_LIVE | SES_RANGE_SEQ,
                             .first_seq = first_seq,
                             .last_seq = INT64_MAX};
    const ses_cursor_options options = {.size = sizeof options, .range = &range};

    return ses_cursor_open(run->store, live->key, &options, &live->cursor, &run->error) < 0 ? fail(run)
                                                                                            : EXIT_OK;
}

static int step(struct live *live)
{
    const ses_event *event = NULL;
    int code = ses_cursor_next(live->cursor, &event, &live->run->error);

    live->seq = code == SES_ROW ? event->seq : INT64_MAX;
    return code < 0 ? fail(live->run) : EXIT_OK;
}

int live_look(struct live *live, int64_t seq, bool *is_live)
{
    int status = live->cursor ? EXIT_OK : open_cursor(live, seq);

    while (status == EXIT_OK && live->seq < seq)
        status = step(live);
    *is_live = live->seq == seq;
    return status;
}

void live_close(struct live *live)
{
    (void)ses_cursor_close(live->cursor, NULL); /* a failure was reported when it happened */
    live->cursor = NULL;
    live->seq = 0;
}
