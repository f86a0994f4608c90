#include "html/rewinds.h"

#include <stdlib.h>
#include <string.h>

#include "html/actions.h"
#include "html/survey.h"
#include "store/live.h"
#include "store/walk.h"
#include "text/index.h"
#include "text/text.h"

struct finding {
    struct run *run;
    struct rewinds *rewinds;
    struct index invocations; /* the first event of each */
    struct live live;
    struct text target;
};

/* ------------------------------------------------------------------------------------------------ finding */

static void add_rewind(struct rewinds *rewinds, int64_t seq, int64_t first_seq)
{
    if (rewinds->count == rewinds->capacity) {
        rewinds->capacity = rewinds->capacity ? rewinds->capacity * 2 : 16;
        struct rewind *at = allocate(rewinds->capacity * sizeof *at);
        if (rewinds->count > 0)
            memcpy(at, rewinds->at, rewinds->count * sizeof *at);
        free(rewinds->at);
        rewinds->at = at;
    }
    const bool redo = first_seq > 0 && rewinds_in(rewinds, first_seq) != NULL;
    rewinds->at[rewinds->count++] = (struct rewind){.seq = seq, .first_seq = first_seq, .redo = redo};
}

/* A rewind event is never live itself. */
static int visit(void *context, const ses_event *event)
{
    struct finding *finding = context;
    bool is_live = false;
    int code = SES_OK;
    int status = live_look(&finding->live, event->seq, &is_live);

    if (status == EXIT_OK && !is_live) {
        ses_content *content = open_event(finding->run, event, &code);
        if (content && rewind_target(content, &finding->target))
            add_rewind(finding->rewinds, event->seq,
                       index_find(&finding->invocations, finding->target.data, finding->target.len));
        ses_content_close(content);
    }
    if (*event->invocation_id)
        (void)index_add(&finding->invocations, event->invocation_id, strlen(event->invocation_id),
                        event->seq);
    return status;
}

/* Works backwards from the newest: a rewind that was itself taken back takes back nothing. */
static void mark_gone(struct rewinds *rewinds)
{
    int64_t before = INT64_MAX;

    for (size_t i = rewinds->count; i-- > 0;) {
        struct rewind *rewind = &rewinds->at[i];
        rewind->gone = rewind->seq >= before;
        if (!rewind->gone && rewind->first_seq > 0)
            before = rewind->first_seq;
    }
}

int rewinds_find(struct rewinds *rewinds, struct run *run)
{
    struct finding finding = {.run = run, .rewinds = rewinds, .live = {.run = run}};
    int status = each_event(run, &run->key, NULL, false, visit, &finding);

    mark_gone(rewinds);
    live_close(&finding.live);
    index_free(&finding.invocations);
    text_free(&finding.target);
    return status;
}

const struct rewind *rewinds_in(const struct rewinds *rewinds, int64_t seq)
{
    size_t low = 0;
    size_t high = rewinds->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rewinds->at[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rewinds->count && rewinds->at[low].seq == seq ? &rewinds->at[low] : NULL;
}

void rewinds_free(struct rewinds *rewinds)
{
    free(rewinds->at);
    *rewinds = (struct rewinds){.at = NULL};
}
