/* seslite stats */
#include "commands.h"

#include <string.h>

#include "output/json.h"
#include "output/progress.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/walk.h"

static const struct column columns[] = {
    {"APP", COLOUR_CYAN, 0, 0},
    {"USERS", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"SESSIONS", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"EVENTS", COLOUR_NONE, COLUMN_RIGHT, 0},
};

struct figures {
    struct run *run;
    struct table table;
    struct json json; /* with --json: the whole */
    struct json_rows rows;
    int64_t users; /* of the current app */
    int64_t sessions;
    int64_t events;
    int64_t done; /* sessions counted so far */
    int64_t total;
};

static int visit_user(void *context, const char *name)
{
    struct figures *figures = context;

    (void)name;
    figures->users++;
    return EXIT_OK;
}

static int visit_session_of(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    struct figures *figures = context;

    figures->sessions++;
    figures->events += ses_session_stored(session);
    progress_set(++figures->done, figures->total);
    return EXIT_OK;
}

static void add_members(struct json *json, const struct figures *figures, const char *app)
{
    json_text(json, "appName", app);
    json_number(json, "users", figures->users);
    json_number(json, "sessions", figures->sessions);
    json_number(json, "events", figures->events);
}

static int put_app(struct figures *figures, const char *app)
{
    struct json json;

    if (given(figures->run, OPTION_JSONL)) {
        json_begin(&json, figures->run, '{');
        add_members(&json, figures, app);
        return json_rows_add(&figures->rows, &json);
    }
    if (given(figures->run, OPTION_JSON)) {
        json_open(&figures->json, NULL, '{');
        add_members(&figures->json, figures, app);
        json_close(&figures->json, '}');
        return EXIT_OK;
    }
    table_puts(&figures->table, app);
    table_number(&figures->table, figures->users);
    table_number(&figures->table, figures->sessions);
    table_number(&figures->table, figures->events);
    return EXIT_OK;
}

static int visit_app(void *context, const char *app)
{
    struct figures *figures = context;
    struct run *run = figures->run;
    const char *wanted = run->values[OPTION_APP];
    const struct sessions sessions = {
        .order = SES_ORDER_CREATED, .visit = visit_session_of, .context = figures};

    if (wanted && strcmp(wanted, app) != 0)
        return EXIT_OK;
    figures->users = figures->sessions = figures->events = 0;
    run->values[OPTION_APP] = app;
    int status = each_name(run, app, visit_user, figures);
    if (status == EXIT_OK)
        status = each_session(run, &sessions);
    run->values[OPTION_APP] = wanted;
    return status == EXIT_OK ? put_app(figures, app) : status;
}

static int count_all(struct figures *figures)
{
    const struct sessions all = {.order = SES_ORDER_CREATED};
    int status = count_sessions(figures->run, &all, &figures->total);

    progress_begin("counting");
    if (status == EXIT_OK)
        status = each_name(figures->run, NULL, visit_app, figures);
    progress_end();
    return status;
}

/* The sizes of a file and its WAL; or of a database on a server, which has no log of its own. */
struct sizes {
    bool is_file;
    int64_t bytes;
    int64_t log_bytes;
};

static int read_sizes(struct run *run, struct sizes *sizes)
{
    ses_stats stats = {.size = sizeof stats};
    ses_space space = {.size = sizeof space};

    *sizes = (struct sizes){.is_file = !is_on_server(run)};
    int code = sizes->is_file ? ses_store_stats(run->store, &stats, &run->error)
                              : ses_store_space(run->store, NULL, &space, &run->error);
    if (code < 0)
        return fail(run);
    sizes->bytes = sizes->is_file ? stats.sqlite.file_bytes : space.bytes;
    sizes->log_bytes = stats.sqlite.wal_bytes;
    return EXIT_OK;
}

static int print_object(struct figures *figures, const struct sizes *sizes)
{
    json_begin(&figures->json, figures->run, '{');
    json_number(&figures->json, sizes->is_file ? "fileBytes" : "databaseBytes", sizes->bytes);
    if (sizes->is_file)
        json_number(&figures->json, "logBytes", sizes->log_bytes);
    json_open(&figures->json, "apps", '[');
    int status = count_all(figures);
    json_close(&figures->json, ']');
    int printed = status == EXIT_OK ? json_print_object(&figures->json) : EXIT_OK;
    text_free(&figures->json.text);
    return status == EXIT_OK ? printed : status;
}

static int print_table(struct figures *figures, const struct sizes *sizes)
{
    table_begin(&figures->table, columns, sizeof columns / sizeof columns[0]);
    int status = count_all(figures);
    table_end(&figures->table);
    if (sizes->is_file)
        out_print("\nfile %lld bytes, write-ahead log %lld bytes\n", (long long)sizes->bytes,
                  (long long)sizes->log_bytes);
    else
        out_print("\ntables and indexes %lld bytes\n", (long long)sizes->bytes);
    return status;
}

int run_stats(struct run *run)
{
    struct figures figures = {.run = run};
    struct sizes sizes;

    if (given(run, OPTION_USER) || given(run, OPTION_SESSION))
        return say_usage(run, "stats works on a whole app, or on all apps");
    int status = open_to_read(run);
    if (status == EXIT_OK && given(run, OPTION_APP))
        status = choose_app(run);
    if (status != EXIT_OK)
        return status;
    status = read_sizes(run, &sizes);
    if (status != EXIT_OK)
        return status;
    if (given(run, OPTION_JSON))
        return print_object(&figures, &sizes);
    if (!given(run, OPTION_JSONL))
        return print_table(&figures, &sizes);
    json_rows_begin(&figures.rows, run);
    status = count_all(&figures);
    json_rows_end(&figures.rows);
    return status;
}
