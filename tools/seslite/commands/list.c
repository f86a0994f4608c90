/* seslite list */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/containing.h"
#include "store/labels.h"
#include "store/missing.h"
#include "store/sessions.h"
#include "store/walk.h"
#include "text/times.h"

static const struct column columns[] = {
    {"SESSION", COLOUR_BOLD, 0, 0},
    {"USER", COLOUR_CYAN, 0, 0},
    {"APP", COLOUR_CYAN, 0, 0},
    {"UPDATED", COLOUR_DIM, COLUMN_TIME, 0},
    {"EVENTS", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"TITLE AND LABELS", COLOUR_NONE, COLUMN_CUT, 0},
    {"WAITING", COLOUR_YELLOW, COLUMN_RIGHT, 0},
    {"LAST TEXT", COLOUR_NONE, COLUMN_CUT, 0},
};

enum { PREVIEW_COLUMNS = 2 };

/* The state of a listing. */
struct listing {
    struct run *run;
    struct table table;
    struct json_rows rows;
    int64_t count;
    int64_t left; /* sessions that may still be printed */
    bool more;    /* there are more */
};

/* ------------------------------------------------------------------------------------------------ filters */

/* The label's name and value are copies within `label`. */
struct filter_texts {
    char *label;
    int64_t since_us;
    int64_t before_us;
    int64_t written_since_us;
    int64_t written_before_us;
    ses_key child_of;
};

/* NULL without the option. Its value has been checked with the command line. */
static const int64_t *time_given(const struct run *run, enum option_id option, int64_t *us)
{
    return given(run, option) && time_read(run->values[option], us) ? us : NULL;
}

static unsigned kinds_given(const struct run *run)
{
    const char *kind = given(run, OPTION_KIND) ? run->values[OPTION_KIND] : "conversation";

    if (given(run, OPTION_ALL_KINDS) || (given(run, OPTION_OF_SESSION) && !given(run, OPTION_KIND)))
        return 0;
    return strcmp(kind, "child") == 0    ? SES_KIND_CHILD
           : strcmp(kind, "memory") == 0 ? SES_KIND_MEMORY
                                         : SES_KIND_CONVERSATION;
}

static void filter_given(const struct run *run, ses_filter *filter, struct filter_texts *texts)
{
    *texts = (struct filter_texts){.label = NULL};
    *filter =
        (ses_filter){.size = sizeof *filter,
                     .id_prefix = run->values[OPTION_PREFIX],
                     .updated_since_us = time_given(run, OPTION_SINCE, &texts->since_us),
                     .updated_before_us = time_given(run, OPTION_BEFORE, &texts->before_us),
                     .changed_since_us = time_given(run, OPTION_WRITTEN_SINCE, &texts->written_since_us),
                     .changed_before_us = time_given(run, OPTION_WRITTEN_BEFORE, &texts->written_before_us),
                     .without_label = run->values[OPTION_WITHOUT_LABEL],
                     .kinds = kinds_given(run),
                     .archived = given(run, OPTION_ARCHIVED)    ? SES_ARCHIVED_ONLY
                                 : given(run, OPTION_ALL_KINDS) ? SES_ARCHIVED_ANY
                                                                : SES_ARCHIVED_NO};
    texts->child_of = (ses_key){NULL, run->values[OPTION_USER], run->values[OPTION_OF_SESSION]};
    filter->child_of = given(run, OPTION_OF_SESSION) ? &texts->child_of : NULL;
    texts->label = filter_label_given(run, filter);
}

static int order_given(const struct run *run)
{
    const char *order = given(run, OPTION_ORDER) ? run->values[OPTION_ORDER] : "written";
    return strcmp(order, "newest") == 0    ? SES_ORDER_NEWEST
           : strcmp(order, "oldest") == 0  ? SES_ORDER_OLDEST
           : strcmp(order, "created") == 0 ? SES_ORDER_CREATED
                                           : SES_ORDER_CHANGED;
}

/* --------------------------------------------------------------------------------------------------- rows */

static void add_preview(struct table *table, const ses_preview *preview)
{
    struct text words = {NULL, 0, 0};

    if (preview->pending_calls > 0)
        table_number(table, (int64_t)preview->pending_calls);
    else
        table_puts(table, "");
    if (preview->last.text) {
        text_print(&words, "%s: ", preview->last_author);
        text_add(&words, preview->last.text, preview->last.len);
    }
    table_cell(table, words.data, words.len);
    text_free(&words);
}

/* The preview is NULL without --preview. */
static void add_row(struct table *table, const ses_session *session, const ses_preview *preview)
{
    char time[TIME_SIZE];
    struct text words = {NULL, 0, 0};
    const char *title = ses_session_title(session);

    if (!title && preview)
        title = preview->first.text;
    table_puts(table, ses_session_id(session));
    table_puts(table, ses_session_user(session));
    table_puts(table, ses_session_app(session));
    table_puts(table, time_text(ses_session_updated_us(session), time));
    table_number(table, ses_session_stored(session));
    text_puts(&words, title ? title : "");
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        text_print(&words, "%s[%s%s%s]", words.len > 0 ? " " : "", label->name, *label->value ? "=" : "",
                   label->value);
    }
    if (ses_session_kind(session) == SES_KIND_MEMORY)
        text_print(&words, "%s(memory)", words.len > 0 ? " " : "");
    if (ses_session_child_of(session))
        text_print(&words, "%s(child of %s)", words.len > 0 ? " " : "",
                   ses_session_child_of(session)->session);
    if (ses_session_archived_us(session) != 0)
        text_print(&words, "%s(archived)", words.len > 0 ? " " : "");
    table_cell(table, words.data, words.len);
    text_free(&words);
    if (preview)
        add_preview(table, preview);
}

static void preview_json(struct json *json, const ses_preview *preview)
{
    json_open(json, "preview", '{');
    json_text(json, "last", preview->last.text);
    json_text(json, "lastAuthor", preview->last_author);
    json_number(json, "lastSeq", preview->last_seq);
    json_number(json, "pendingCalls", (int64_t)preview->pending_calls);
    json_text(json, "first", preview->first.text);
    json_close(json, '}');
}

/* An event that cannot be read has no error that could be listed. */
static bool has_error(struct run *run, const ses_event *event)
{
    ses_content *content = NULL;
    const bool is_read = ses_content_open(run->store, event->json, event->json_len, &content, NULL) >= 0;
    const bool has =
        is_read && ses_content_error_code(content).len + ses_content_error_message(content).len > 0;

    ses_content_close(content);
    return has;
}

/* Sets *failed for --failed. A session that was deleted meanwhile has not failed. */
static int session_failed(struct run *run, const ses_session *listed, bool *failed)
{
    const ses_key key = {ses_session_app(listed), ses_session_user(listed), ses_session_id(listed)};
    const ses_range last = {.size = sizeof last, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_get_options options = {.size = sizeof options, .range = &last};
    ses_session *session = NULL;

    *failed = !given(run, OPTION_FAILED);
    if (*failed)
        return EXIT_OK;
    const int code = ses_get(run->store, &key, &options, &session, &run->error);
    if (code >= 0 && ses_session_event_count(session) > 0)
        *failed = has_error(run, ses_session_event(session, 0));
    ses_session_close(session);
    return code < 0 && code != SES_NOTFOUND ? fail(run) : EXIT_OK;
}

/* Sets *wanted to whether it matches the options that are no filter of the library. */
static int is_wanted(struct run *run, const ses_session *session, bool *wanted)
{
    int status = session_contains(run, session, wanted);

    if (status == EXIT_OK && *wanted)
        status = session_failed(run, session, wanted);
    return status;
}

static int visit(void *context, const ses_page *page, size_t at)
{
    struct listing *listing = context;
    const ses_session *session = ses_page_session(page, at);
    const ses_preview *preview = ses_page_preview(page, at);
    bool wanted = false;
    struct json json;

    const int status = is_wanted(listing->run, session, &wanted);
    if (status != EXIT_OK || !wanted)
        return status;
    if (listing->left == 0) {
        listing->more = true;
        return STOP;
    }
    listing->left--;
    listing->count++;
    if (!wants_json(listing->run)) {
        add_row(&listing->table, session, preview);
        return EXIT_OK;
    }
    json_begin(&json, listing->run, '{');
    session_json(&json, session);
    if (preview)
        preview_json(&json, preview);
    return json_rows_add(&listing->rows, &json);
}

static int stop_at_any(void *context, const ses_page *page, size_t at)
{
    (void)context;
    (void)page;
    (void)at;
    return STOP;
}

static void note_empty(struct run *run)
{
    const struct sessions all = {.page_size = 1, .visit = stop_at_any};

    note("%s", each_session(run, &all) == STOP
                   ? "All sessions are in the archive, children or memory. --all lists them, too."
                   : "The store has no sessions.");
}

/* The end of a list. Options that select something and find nothing are an error, as in a search; an empty
 * store is none. */
static int end_list(const struct listing *listing, const char *what, int status)
{
    static const enum option_id selecting[] = {
        OPTION_APP,           OPTION_USER,          OPTION_LABEL,
        OPTION_WITHOUT_LABEL, OPTION_PREFIX,        OPTION_SINCE,
        OPTION_BEFORE,        OPTION_WRITTEN_SINCE, OPTION_WRITTEN_BEFORE,
        OPTION_CONTAINING,    OPTION_FAILED,        OPTION_ARCHIVED,
        OPTION_OF_SESSION,    OPTION_KIND};
    struct run *run = listing->run;

    if (status == STOP || status != EXIT_OK || listing->count > 0)
        return status == STOP ? EXIT_OK : status;
    for (size_t i = 0; i < sizeof selecting / sizeof selecting[0]; i++) {
        if (!given(run, selecting[i]))
            continue;
        if (!say_missing(run))
            say("no %s matches", what);
        return EXIT_NOTFOUND;
    }
    note_empty(run);
    return EXIT_OK;
}

static struct sessions sessions_given(const struct run *run, const ses_filter *filter,
                                      visit_session *visit_one, void *context)
{
    const int64_t limit = number_given(run, OPTION_LIMIT, INT64_MAX);

    return (struct sessions){.order = order_given(run),
                             .filter = filter,
                             .with_previews = given(run, OPTION_PREVIEW),
                             .page_size = limit < 1000 ? (size_t)limit + 1 : 0,
                             .visit = visit_one,
                             .context = context};
}

/* The first few are the first of all apps; all of them are shown app by app. */
static int walk(struct run *run, const struct sessions *sessions)
{
    return given(run, OPTION_LIMIT) ? each_session_merged(run, sessions) : each_session(run, sessions);
}

static int list_sessions(struct run *run)
{
    struct filter_texts texts;
    ses_filter filter = {.size = sizeof filter};
    struct listing listing = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    const struct sessions sessions = sessions_given(run, &filter, visit, &listing);

    filter_given(run, &filter, &texts);
    if (wants_json(run))
        json_rows_begin(&listing.rows, run);
    else
        table_begin(&listing.table, columns,
                    sizeof columns / sizeof columns[0] - (sessions.with_previews ? 0 : PREVIEW_COLUMNS));
    int status = walk(run, &sessions);
    if (wants_json(run))
        json_rows_end(&listing.rows);
    else
        table_end(&listing.table);
    if (listing.more && !wants_json(run))
        note("(there are more)");
    free(texts.label);
    return end_list(&listing, "session", status);
}

/* -------------------------------------------------------------------------------------------------- names */

static int print_name(struct listing *listing, const char *name)
{
    struct text text = {NULL, 0, 0};
    struct json json;
    int status = EXIT_OK;

    if (listing->left == 0)
        return STOP;
    listing->left--;
    listing->count++;
    if (wants_json(listing->run)) {
        json_begin(&json, listing->run, '{');
        json_text(&json, "name", name);
        return json_rows_add(&listing->rows, &json);
    }
    text_add_clean(&text, name, strlen(name), LINES_ONE);
    out_print("%s\n", text.data);
    text_free(&text);
    return status;
}

static int visit_name_of(void *context, const char *name)
{
    return print_name(context, name);
}

static int visit_id(void *context, const ses_page *page, size_t at)
{
    const struct listing *listing = context;
    const ses_session *session = ses_page_session(page, at);
    bool wanted = false;
    const int status = is_wanted(listing->run, session, &wanted);

    return status == EXIT_OK && wanted ? print_name(context, ses_session_id(session)) : status;
}

static int visit_user_name(void *context, const char *app, const char *user)
{
    (void)app;
    return print_name(context, user);
}

static int list_names(struct run *run)
{
    const char *what = run->values[OPTION_NAMES];
    struct filter_texts texts;
    ses_filter filter = {.size = sizeof filter};
    struct listing listing = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    const struct sessions sessions = sessions_given(run, &filter, visit_id, &listing);
    int status;

    filter_given(run, &filter, &texts);
    if (wants_json(run))
        json_rows_begin(&listing.rows, run);
    if (strcmp(what, "apps") == 0)
        status = each_name(run, NULL, visit_name_of, &listing);
    else if (strcmp(what, "users") == 0)
        status = each_user(run, visit_user_name, &listing);
    else
        status = walk(run, &sessions);
    if (wants_json(run))
        json_rows_end(&listing.rows);
    free(texts.label);
    return end_list(&listing,
                    strcmp(what, "apps") == 0    ? "app"
                    : strcmp(what, "users") == 0 ? "user"
                                                 : "session",
                    status);
}

int run_list(struct run *run)
{
    if (given(run, OPTION_SESSION))
        return say_usage(run, "list takes no session: --prefix selects by id, and seslite show ID shows one");
    if (given(run, OPTION_NAMES) && (given(run, OPTION_CONTAINING) || given(run, OPTION_FAILED)) &&
        strcmp(run->values[OPTION_NAMES], "sessions") != 0)
        return say_usage(run, "--containing and --failed select sessions, not apps or users");
    if (given(run, OPTION_ALL_KINDS) && (given(run, OPTION_ARCHIVED) || given(run, OPTION_KIND)))
        return say_usage(run, "--all lists all sessions, and --archived and --kind only some of them");
    if (given(run, OPTION_OF_SESSION) && !given(run, OPTION_USER))
        return say_usage(run, "--child-of needs --user: it names a session of that user");
    if (given(run, OPTION_NAMES) && given(run, OPTION_PREVIEW))
        return say_usage(run, "--preview adds to the list of sessions, and --names prints only names");
    int status = open_to_search(run);
    if (status != EXIT_OK)
        return status;
    return given(run, OPTION_NAMES) ? list_names(run) : list_sessions(run);
}
