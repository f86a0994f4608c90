/* seslite show */
#include "commands.h"

#include <string.h>

#include "commands/content.h"
#include "store/choose.h"
#include "store/containing.h"
#include "store/live.h"
#include "store/sessions.h"
#include "store/walk.h"
#include "text/times.h"

/* --------------------------------------------------------------------------------------------- the header */

static void put_field(const char *name, const char *value)
{
    struct text text = {NULL, 0, 0};

    text_print(&text, "%-9s", name);
    out_coloured(COLOUR_DIM, text.data, text.len);
    text_clear(&text);
    text_add_clean(&text, value, strlen(value), LINES_ONE);
    out_print("%s\n", text.data);
    text_free(&text);
}

static void put_labels(const ses_session *session)
{
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        struct text text = {NULL, 0, 0};
        const ses_label *label = ses_session_label(session, i);
        text_print(&text, "%s=%s", label->name, label->value);
        put_field(i == 0 ? "labels" : "", text.data);
        text_free(&text);
    }
}

static void put_header(const ses_session *session)
{
    struct text text = {NULL, 0, 0};
    char created[TIME_SIZE];
    char updated[TIME_SIZE];
    int64_t seq = 0;
    const ses_key *parent = ses_session_parent(session, &seq);

    put_field("session", ses_session_id(session));
    put_field("user", ses_session_user(session));
    put_field("app", ses_session_app(session));
    if (ses_session_title(session))
        put_field("title", ses_session_title(session));
    put_labels(session);
    if (parent) {
        text_print(&text, "fork of %s after event %lld", parent->session, (long long)seq);
        put_field("parent", text.data);
    }
    text_clear(&text);
    text_print(&text, "%s, from %s to %s", counted(ses_session_stored(session), "event"),
               time_text(ses_session_created_us(session), created),
               time_text(ses_session_updated_us(session), updated));
    zone_add(&text);
    put_field("log", text.data);
    if (ses_session_base_seq(session) > 0)
        note("(the events up to %lld were pruned)", (long long)ses_session_base_seq(session));
    text_free(&text);
}

/* ----------------------------------------------------------------------------------------- the transcript */

struct transcript {
    struct run *run;
    struct live live;
    struct rewinds rewinds;
    struct containing containing;
};

static void put_event_head(const ses_event *event, bool taken_back)
{
    struct text text = {NULL, 0, 0};
    char time[TIME_SIZE];

    text_print(&text, "\n#%lld  ", (long long)event->seq);
    out_coloured(COLOUR_DIM, text.data, text.len);
    text_clear(&text);
    text_add_clean(&text, event->author, strlen(event->author), LINES_ONE);
    out_coloured(strcmp(event->author, "user") == 0 ? COLOUR_GREEN : COLOUR_CYAN, text.data, text.len);
    text_clear(&text);
    text_print(&text, "  %s%s", time_text(event->time_us, time), taken_back ? "  (taken back)" : "");
    out_coloured(COLOUR_DIM, text.data, text.len);
    out_puts("\n");
    text_free(&text);
}

/* A rewind is never live, but takes effect unless a later one took it back. */
static int visit(void *context, const ses_event *event)
{
    struct transcript *transcript = context;
    const struct rewind *rewind = NULL;
    bool is_live = false;
    int status = live_look(&transcript->live, event->seq, &is_live);

    if (status != EXIT_OK || !containing_take(&transcript->containing, event->seq))
        return status;
    if (!is_live)
        status = rewinds_look(&transcript->rewinds, transcript->run, &transcript->run->key, event, &rewind);
    put_event_head(event, rewind ? rewind->gone : !is_live);
    content_print(transcript->run, event, rewind, given(transcript->run, OPTION_FULL));
    return status;
}

static int put_transcript(struct run *run)
{
    struct transcript transcript = {.run = run, .live = {.run = run, .key = &run->key}};
    ses_range range;

    range_given(run, &range);
    int status = containing_find(run, &transcript.containing);
    if (status == EXIT_OK)
        status = each_event(run, &run->key, &range, false, visit, &transcript);
    live_close(&transcript.live);
    rewinds_free(&transcript.rewinds);
    containing_free(&transcript.containing);
    return status;
}

/* ------------------------------------------------------------------------------------------------ as JSON */

static int print_session(struct run *run)
{
    ses_range range;
    const ses_get_options options = {.size = sizeof options, .range = &range};
    ses_session *session = NULL;
    char *json = NULL;
    size_t len = 0;

    range_given(run, &range);
    int code = ses_get(run->store, &run->key, &options, &session, &run->error);
    if (code >= 0)
        code = ses_session_json(session, &json, &len, &run->error);
    int status = code < 0 ? fail(run) : EXIT_OK;
    if (status == EXIT_OK)
        json_print(json, len);
    ses_free(json);
    ses_session_close(session);
    return status;
}

int run_show(struct run *run)
{
    if (wants_json(run) && given(run, OPTION_CONTAINING))
        return say_usage(run, "--containing selects events of the transcript, not of JSON");
    int status = open_to_search(run);
    if (status == EXIT_OK)
        status = choose_session(run);
    if (status != EXIT_OK || wants_json(run))
        return status == EXIT_OK ? print_session(run) : status;
    ses_session *session = session_read(run, &status);
    if (session) {
        put_header(session);
        status = put_transcript(run);
    }
    ses_session_close(session);
    return status;
}
