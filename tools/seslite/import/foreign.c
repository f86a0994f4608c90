#include "import/foreign.h"

#include <string.h>

#include "formats/formats.h"
#include "import/taken.h"
#include "output/progress.h"
#include "text/refuse.h"

/* The import of one file of another program. */
struct foreign_import {
    struct run *run;
    struct opened_file *opened;
    struct import_report *report;
    ses_import_options options;
    bool only_check; /* only look for rejections; write and count nothing */
    int64_t done;    /* events walked so far */
    int64_t total;
    struct text names[3]; /* app, user and session as stored here */
    struct index taken;   /* names taken by sessions of this file */
};

static bool is_refusal(int code)
{
    return code == SES_EXISTS || code == SES_INVALID || code == SES_JSON || code == SES_LIMIT;
}

static void report_progress(void *context)
{
    struct foreign_import *import = context;
    progress_set(++import->done, import->total);
}

/* True if --app, --user and --session select it. */
static bool is_wanted(const struct foreign_import *import, const char *app, const char *user,
                      const char *session)
{
    const ses_key *key = &import->run->key;

    return (!key->app || (app && strcmp(key->app, app) == 0)) &&
           (!key->user || (user && strcmp(key->user, user) == 0)) &&
           (!key->session || (session && strcmp(key->session, session) == 0));
}

/* ---------------------------------------------------------------------------------------------- the names */

/* Finds the name to store: `given_name` if it is not NULL, otherwise the file's own, or another one with
 * --rename. Fails with INVALID if it cannot be stored. */
static int fit_name(struct foreign_import *import, size_t index, const char *name, const char *given_name,
                    const char **fitted, ses_error *error)
{
    static const char *const what[] = {"app", "user", "id"};
    struct text *text = &import->names[index];

    *fitted = given_name ? given_name : name;
    const char *fault = name_fault(*fitted);
    if (!fault)
        return SES_OK;
    if (!given(import->run, OPTION_RENAME))
        return refuse(error, SES_INVALID, "the %s %s, so it cannot be a name here; --rename gives it another",
                      what[index], fault);
    text_clear(text);
    name_fit(*fitted, text);
    *fitted = text->data;
    return SES_OK;
}

static int fit_owner(struct foreign_import *import, const char *app, const char *user, ses_key *key,
                     ses_error *error)
{
    int code = fit_name(import, 0, app, import->options.app, &key->app, error);
    return code == SES_OK && user ? fit_name(import, 1, user, import->options.user, &key->user, error) : code;
}

/* ------------------------------------------------------------------------------------------- shared state */

static void refuse_key(void *context, const struct foreign_shared *shared, const char *key,
                       const ses_error *why)
{
    struct foreign_import *import = context;
    report_refused(import->report, &(struct import_item){shared->app, shared->user, NULL, key, NULL}, why);
}

static int note_key(void *context, const ses_import_item *item)
{
    struct foreign_import *import = context;

    if (!import->only_check && item->key && item->outcome != SES_IMPORTED_REFUSED)
        report_key(import->report, &(struct import_item){item->app, item->user, NULL, item->key, NULL},
                   item->outcome == SES_IMPORTED_KEY_REPLACED);
    return 0;
}

static int take_shared(struct foreign_import *import, const struct foreign_shared *shared, ses_error *error)
{
    ses_import_options options = import->options;
    ses_import_report unread = {.size = sizeof unread};
    ses_key key = {.app = NULL};
    int code = fit_owner(import, shared->app, shared->user, &key, error);

    if (code != SES_OK)
        return code;
    options.app = options.user = NULL;
    options.report = note_key;
    options.report_context = import;
    options.flags |= import->only_check ? SES_IMPORT_DRY_RUN : 0u;
    const struct shared_import one = {.store = import->run->store,
                                      .notes = &import->report->notes,
                                      .options = &options,
                                      .refused = refuse_key,
                                      .context = import};
    const struct foreign_shared here = {key.app, key.user, shared->state};
    return shared_import(&one, &here, import->only_check ? &unread : &import->report->counts, error);
}

static int import_shared(struct foreign_import *import, ses_error *error)
{
    const struct foreign_format *format = import->opened->format;
    struct foreign_shared shared = {.app = NULL};
    int code = SES_OK;

    while (format->next_shared && (code = format->next_shared(import->opened->source, &shared, error)) != 0) {
        if (code == 1 && !is_wanted(import, shared.app, shared.user, NULL))
            continue;
        if (code == 1)
            code = take_shared(import, &shared, error);
        if (code == SES_OK)
            continue;
        if (!is_refusal(code))
            return code;
        report_refused(import->report, &(struct import_item){shared.app, shared.user, NULL, NULL, NULL},
                       error);
    }
    return SES_OK;
}

/* ----------------------------------------------------------------------------------------------- sessions */

static void count_loaded(struct foreign_import *import, const struct foreign_session *session,
                         const ses_key *key, const ses_load_result *result)
{
    ses_import_report *counts = &import->report->counts;
    int64_t *const of[] = {[SES_LOADED_NEW] = &counts->made,
                           [SES_LOADED_EQUAL] = &counts->equal,
                           [SES_LOADED_UPDATED] = &counts->updated,
                           [SES_LOADED_REPLACED] = &counts->replaced,
                           [SES_LOADED_RENAMED] = &counts->renamed};
    const ses_key here = {key->app, key->user, result->session};

    (*of[result->outcome])++;
    counts->events += result->events;
    if (strcmp(here.session, session->session) != 0 ||
        (!import->options.app && strcmp(here.app, session->app) != 0) ||
        (!import->options.user && strcmp(here.user, session->user) != 0))
        report_renamed(import->report,
                       &(struct import_item){session->app, session->user, session->session, NULL, NULL},
                       &here);
}

/* Finds the owner of the session. */
struct state_owner {
    struct foreign_import *import;
    const struct foreign_session *session;
};

static void refuse_state_key(void *context, const char *key, const ses_error *why)
{
    const struct state_owner *owner = context;
    const struct foreign_session *session = owner->session;

    report_refused(owner->import->report,
                   &(struct import_item){session->app, session->user, session->session, key, NULL}, why);
}

static bool goes_on_after_refusals(const struct foreign_import *import)
{
    return given(import->run, OPTION_SKIP) || given(import->run, OPTION_DRY_RUN);
}

static int take_session(struct foreign_import *import, const struct foreign_session *session,
                        ses_error *error)
{
    ses_load_result result = {.outcome = SES_LOADED_NEW};
    struct state_owner owner = {import, session};
    struct session_import one = {.opened = import->opened,
                                 .session = session,
                                 .store = import->run->store,
                                 .only_check = import->only_check,
                                 .refused = refuse_state_key,
                                 .refused_context = &owner,
                                 .skips = goes_on_after_refusals(import),
                                 .progress = report_progress,
                                 .progress_context = import};
    int code = fit_owner(import, session->app, session->user, &one.key, error);

    /* The first four flags are those of ses_load. */
    one.flags = import->options.flags &
                (SES_IMPORT_UPDATE | SES_IMPORT_REPLACE | SES_IMPORT_RENAME | SES_IMPORT_DRY_RUN);
    if (code == SES_OK)
        code = fit_name(import, 2, session->session, NULL, &one.key.session, error);
    if (code == SES_OK)
        code = taken_claim(&import->taken, &one.key, given(import->run, OPTION_RENAME), error);
    if (code == SES_OK)
        code = session_import(&one, &result, error);
    if (code >= 0 && !import->only_check)
        count_loaded(import, session, &one.key, &result);
    return code < 0 ? code : SES_OK;
}

/* A rejection ends the import, unless --skip is given or this walk only looks for rejections. */
static bool goes_on(const struct foreign_import *import)
{
    return import->only_check || goes_on_after_refusals(import);
}

static int import_sessions(struct foreign_import *import, ses_error *error)
{
    const struct foreign_format *format = import->opened->format;
    struct foreign_session session = {.app = NULL};
    int code;

    while ((code = format->next_session(import->opened->source, &session, error)) != 0) {
        if (code == 1 && !is_wanted(import, session.app, session.user, session.session))
            continue;
        if (code == 1)
            code = take_session(import, &session, error);
        if (code == SES_OK)
            continue;
        if (!is_refusal(code))
            return code;
        report_refused(import->report,
                       &(struct import_item){session.app, session.user, session.session, NULL, NULL}, error);
        if (!goes_on(import))
            break;
        session = (struct foreign_session){.app = NULL};
    }
    return SES_OK;
}

/* ----------------------------------------------------------------------------------------- the whole file */

static int pass(struct foreign_import *import, ses_error *error)
{
    const struct foreign_format *format = import->opened->format;

    import->report->notes.muted = import->only_check;
    int code = format->open(&import->opened->file, &import->opened->source, error);
    if (code != SES_OK)
        return code;
    /* Each event is walked twice, and once more before that to find rejections. */
    import->total = file_events(import->opened) * (given(import->run, OPTION_SKIP) ? 2 : 3);
    code = import_shared(import, error);
    if (code == SES_OK && (import->report->first_code == 0 || goes_on(import)))
        code = import_sessions(import, error);
    format->close(import->opened->source);
    import->opened->source = NULL;
    index_free(&import->taken);
    return code;
}

/* Without --skip, all rejections are found before anything is written. */
static int import_foreign(struct foreign_import *import, ses_error *error)
{
    int code = SES_OK;

    if (import_is_checked(import->run)) {
        import->only_check = true;
        code = pass(import, error);
        import->only_check = false;
    }
    if (code == SES_OK && import->report->first_code == 0)
        code = import_begin_writing(import->run);
    if (code == SES_OK && import->report->first_code == 0)
        code = pass(import, error);
    for (size_t i = 0; i < 3; i++)
        text_free(&import->names[i]);
    return code;
}

int foreign_import(struct run *run, struct opened_file *opened, const ses_import_options *options,
                   struct import_report *report, ses_error *error)
{
    struct foreign_import import = {.run = run, .opened = opened, .report = report, .options = *options};
    return import_foreign(&import, error);
}
