#include "html/rewinds.h"

#include <stdlib.h>
#include <string.h>

#include "html/actions.h"
#include "html/survey.h"
#include "live.h"
#include "text.h"
#include "walk.h"

/* The first event of each invocation, by a hash of its id. */
struct invocation {
    uint64_t hash; /* 0 if the slot is free */
    int64_t seq;
};

struct invocations {
    struct invocation *slots;
    size_t count;
    size_t capacity;
};

struct finding {
    struct run *run;
    struct rewinds *rewinds;
    struct invocations invocations;
    struct live live;
    struct text target;
};

/* -------------------------------------------------------------------------------------------- invocations */

static uint64_t hash_id(const char *id)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

static struct invocation *find_slot(const struct invocations *invocations, uint64_t hash)
{
    size_t at = (size_t)hash & (invocations->capacity - 1);

    while (invocations->slots[at].hash && invocations->slots[at].hash != hash)
        at = (at + 1) & (invocations->capacity - 1);
    return &invocations->slots[at];
}

static void grow(struct invocations *invocations)
{
    const struct invocations old = *invocations;

    invocations->capacity = old.capacity ? old.capacity * 2 : 256;
    invocations->slots = allocate(invocations->capacity * sizeof *invocations->slots);
    memset(invocations->slots, 0, invocations->capacity * sizeof *invocations->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].hash)
            *find_slot(invocations, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

static void add_invocation(struct invocations *invocations, const char *id, int64_t seq)
{
    if (!*id)
        return;
    if (invocations->count * 2 >= invocations->capacity)
        grow(invocations);
    struct invocation *slot = find_slot(invocations, hash_id(id));
    if (slot->hash)
        return;
    *slot = (struct invocation){hash_id(id), seq};
    invocations->count++;
}

static int64_t first_of(const struct invocations *invocations, const char *id)
{
    return invocations->capacity > 0 ? find_slot(invocations, hash_id(id))->seq : 0;
}

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
            add_rewind(finding->rewinds, event->seq, first_of(&finding->invocations, finding->target.data));
        ses_content_close(content);
    }
    add_invocation(&finding->invocations, event->invocation_id, event->seq);
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
    free(finding.invocations.slots);
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
