#include "store/rewinds.h"

#include <stdlib.h>
#include <string.h>

#include "store/live.h"
#include "store/walk.h"
#include "text/index.h"
#include "text/scan.h"

struct finding {
    struct run *run;
    struct rewinds *rewinds;
    struct index invocations; /* the first event of each */
    struct live live;
    struct text target;
};

/* ------------------------------------------------------------------------------------------------ finding */

/* Returns true for a rewind, and sets the id of the invocation that it rewinds to the start of. */
static bool rewind_target(const ses_content *content, struct text *id)
{
    ses_text actions = ses_content_actions(content);
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;
    bool found = false;

    scan_begin(&scan, actions.text ? actions.text : "", actions.text ? actions.len : 0);
    while (!found && scan_member(&scan, &name, &value))
        found = (strcmp(name.data, "rewindBeforeInvocationId") == 0 ||
                 strcmp(name.data, "rewind_before_invocation_id") == 0) &&
                value.text[0] == '"' && value.len > 2;
    text_clear(id);
    if (found)
        scan_decode(id, &value);
    text_free(&name);
    return found;
}

/* An event that cannot be read is no rewind. */
static bool is_rewind(struct run *run, const ses_event *event, struct text *target)
{
    ses_content *content = NULL;
    bool is = false;

    if (ses_content_open(run->store, event->json, event->json_len, &content, NULL) >= 0)
        is = rewind_target(content, target);
    ses_content_close(content);
    return is;
}

/* The number of rewinds before that event. */
static size_t count_before(const struct rewinds *rewinds, int64_t seq)
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
    return low;
}

/* A rewind to before that event ends the effect of the later ones. Those that took back earlier events, too,
 * no longer do so. */
static int64_t brought_from(const struct rewinds *rewinds, int64_t first_seq)
{
    for (size_t i = rewinds->count; i > 0 && rewinds->at[i - 1].seq >= first_seq;
         i = rewinds->at[i - 1].below)
        if (rewinds->at[i - 1].first_seq > 0 && rewinds->at[i - 1].first_seq < first_seq)
            return rewinds->at[i - 1].first_seq;
    return 0;
}

static void add_rewind(struct rewinds *rewinds, int64_t seq, int64_t first_seq)
{
    rewinds->at = enlarge(rewinds->at, rewinds->count, &rewinds->capacity, sizeof *rewinds->at);
    const struct rewind *undone = first_seq > 0 ? rewinds_in(rewinds, first_seq) : NULL;
    struct rewind rewind = {
        .seq = seq, .first_seq = first_seq, .below = rewinds->count, .redo = undone != NULL};
    if (first_seq > 0) {
        rewind.below = count_before(rewinds, first_seq);
        rewind.brought_seq = brought_from(rewinds, first_seq);
    }
    rewind.only_redo = undone && !undone->redo && rewind.brought_seq > 0 && first_seq == seq - 1;
    rewinds->at[rewinds->count++] = rewind;
}

/* A rewind event is never live itself. */
static int visit(void *context, const ses_event *event)
{
    struct finding *finding = context;
    bool is_live = false;
    int status = live_look(&finding->live, event->seq, &is_live);

    if (status == EXIT_OK && !is_live && is_rewind(finding->run, event, &finding->target))
        add_rewind(finding->rewinds, event->seq,
                   index_find(&finding->invocations, finding->target.data, finding->target.len));
    if (*event->invocation_id)
        (void)index_add(&finding->invocations, event->invocation_id, strlen(event->invocation_id),
                        event->seq);
    finding->rewinds->last_seq = event->seq;
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

int rewinds_find(struct rewinds *rewinds, struct run *run, const ses_key *key)
{
    struct finding finding = {.run = run, .rewinds = rewinds, .live = {.run = run, .key = key}};
    int status = each_event(run, key, NULL, false, visit, &finding);

    mark_gone(rewinds);
    live_close(&finding.live);
    index_free(&finding.invocations);
    text_free(&finding.target);
    return status;
}

const struct rewind *rewinds_in(const struct rewinds *rewinds, int64_t seq)
{
    const size_t at = count_before(rewinds, seq);
    return at < rewinds->count && rewinds->at[at].seq == seq ? &rewinds->at[at] : NULL;
}

int rewinds_look(struct rewinds *rewinds, struct run *run, const ses_key *key, const ses_event *event,
                 const struct rewind **rewind)
{
    struct text target = {NULL, 0, 0};
    int status = EXIT_OK;

    *rewind = NULL;
    if (is_rewind(run, event, &target)) {
        if (event->seq > rewinds->last_seq) {
            rewinds_free(rewinds);
            status = rewinds_find(rewinds, run, key);
        }
        *rewind = rewinds_in(rewinds, event->seq);
    }
    text_free(&target);
    return status;
}

/* ----------------------------------------------------------------------------------------------- in words */

static void add_events(struct text *words, int64_t first, int64_t last)
{
    if (first == last)
        text_print(words, "event %lld", (long long)first);
    else
        text_print(words, "events %lld to %lld", (long long)first, (long long)last);
}

void rewind_words(struct text *words, const struct rewind *rewind)
{
    text_puts(words, rewind->only_redo ? "redo: " : "rewind: ");
    if (rewind->first_seq == 0)
        text_puts(words, "took back nothing");
    if (rewind->first_seq > 0 && !rewind->only_redo) {
        text_puts(words, "took back ");
        add_events(words, rewind->first_seq, rewind->seq - 1);
    }
    if (rewind->brought_seq > 0) {
        text_puts(words, rewind->only_redo ? "brought back " : ", and brought back ");
        add_events(words, rewind->brought_seq, rewind->first_seq - 1);
    }
}

void rewinds_free(struct rewinds *rewinds)
{
    free(rewinds->at);
    *rewinds = (struct rewinds){.at = NULL};
}
