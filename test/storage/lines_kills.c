/* A process that is killed while it imports: sessions and artifacts are there whole or not at all, and the
 * import can be done again. SESLITE_KILLS=400 kills at so many moments. */
#include "../session/lines.h"

#include <signal.h>

#include "seslite_artifact.h"

enum { KILL_SESSIONS = 30, KILL_EVENTS = 60 };

/* Two versions of more than a chunk, of which one is the same everywhere. */
static void save_artifacts(ses_store *store, const ses_key *of, int number)
{
    static char bytes[90000];
    ses_error error;

    memset(bytes, 'a', sizeof bytes);
    assert_ok(ses_artifact_save_by_key(store, of, "file", bytes, sizeof bytes, NULL, NULL, &error));
    memset(bytes, number, sizeof bytes);
    assert_ok(ses_artifact_save_by_key(store, of, "file", bytes, sizeof bytes, NULL, NULL, &error));
}

static void fill_source(ses_store *store)
{
    static char texts[KILL_EVENTS][300];
    ses_text events[KILL_EVENTS];
    ses_error error;

    for (int i = 0; i < KILL_SESSIONS; i++) {
        char name[16];
        const ses_key of = {"app", i % 2 ? "odd" : "even", name};
        snprintf(name, sizeof name, "s%d", i);
        must_create(store, &of, "{\"app:a\":1,\"own\":[0]}");
        for (int k = 0; k < KILL_EVENTS; k++) {
            snprintf(texts[k], sizeof texts[k],
                     "{\"id\":\"e%d\",\"timestamp\":%d,\"text\":\"%0150d\",\"actions\":{\"stateDelta\":{\"k%"
                     "d\":%d}}}",
                     k, k, i, k % 9, k);
            events[k] = (ses_text){texts[k], SES_NUL};
        }
        assert_ok(ses_append_batch_by_key(store, &of, events, KILL_EVENTS, NULL, NULL, &error));
        save_artifacts(store, &of, i);
    }
    save_artifacts(store, &(ses_key){"app", "odd", NULL}, 100);
    save_artifacts(store, &(ses_key){"app", "no sessions", NULL}, 101);
}

struct importer {
    const char *path;
    const struct text *lines;
    int ready;
};

static int run_importer(void *context)
{
    const struct importer *importer = context;
    struct piecewise text = {.data = importer->lines->data, .len = importer->lines->len, .piece = 1000};
    ses_store *store = NULL;
    ses_error error;

    if (ses_open(importer->path, NULL, &store, &error) != SES_OK || write(importer->ready, "r", 1) != 1)
        return 1;
    int code = ses_store_import(store, give_lines, &text, NULL, NULL, &error);
    ses_close(store);
    return code == SES_OK ? 0 : 1;
}

static int64_t run_import(const char *path, const struct text *lines, int64_t kill_after_us)
{
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    struct importer importer = {path, lines, ready[1]};
    pid_t child = child_start(run_importer, &importer);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    int64_t began = support_steady_us();
    if (kill_after_us >= 0) {
        support_pause_us((long)kill_after_us);
        assert_int_equal(kill(child, SIGKILL), 0);
        (void)child_end(child);
    } else {
        assert_int_equal(child_end(child), 0);
    }
    return support_steady_us() - began;
}

static void assert_whole(const char *path)
{
    assert_sound(path);
    assert_query(path, "SELECT count(*) FROM sessions WHERE event_count <> 60 OR last_seq <> 60 OR name = ''",
                 "0\n");
    assert_query(path,
                 "SELECT count(*) FROM sessions s WHERE (SELECT count(*) FROM events e WHERE e.session_id = "
                 "s.id) <> 60",
                 "0\n");
    assert_query(path,
                 "SELECT count(*) FROM sessions s WHERE (SELECT count(*) FROM session_state t WHERE "
                 "t.session_id = s.id) <> 10",
                 "0\n");
    assert_query(path, "SELECT count(*) FROM events WHERE session_id NOT IN (SELECT id FROM sessions)",
                 "0\n");
    assert_query(path,
                 "SELECT count(*) FROM sessions s WHERE (SELECT count(*) FROM artifacts a "
                 "WHERE a.user_id = s.user_id AND a.session = s.name) <> 2",
                 "0\n");
    assert_query(path,
                 "SELECT count(*) FROM artifacts a WHERE a.session <> '' AND NOT EXISTS "
                 "(SELECT 1 FROM sessions s WHERE s.user_id = a.user_id AND s.name = a.session)",
                 "0\n");
    assert_query(path, "SELECT user_id FROM artifacts WHERE session = '' GROUP BY 1 HAVING count(*) <> 2",
                 "");
    assert_query(path,
                 "SELECT count(*) FROM artifact_contents c WHERE hash IS NULL OR size <> 90000 OR uses <> "
                 "(SELECT count(*) FROM artifacts a WHERE a.content_id = c.id) OR 2 <> "
                 "(SELECT count(*) FROM artifact_chunks k WHERE k.position >> 20 = c.id)",
                 "0\n");
    assert_query(path,
                 "SELECT count(*) FROM artifact_chunks k WHERE k.position >> 20 NOT IN (SELECT id FROM "
                 "artifact_contents)",
                 "0\n");
}

FOLDER_TEST(an_import_that_is_killed_can_be_done_again)
{
    const int kills = (int)support_setting("SESLITE_KILLS", 10);
    ses_store *source = empty_store();

    fill_source(source);
    struct text lines = exported(source, NULL);
    int64_t whole_us = run_import(folder->path, &lines, -1);
    for (int round = 0; round < kills; round++) {
        ses_store *store = NULL;
        ses_import_report report;
        assert_int_equal(remove(folder->path), 0);
        (void)run_import(folder->path, &lines, whole_us * round / kills);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        assert_whole(folder->path);
        assert_ok(import_text(store, lines.data, lines.len, 0, &report, &error));
        assert_int_equal(report.made + report.equal, KILL_SESSIONS);
        assert_same_store(source, store);
        ses_close(store);
    }
    support_figure("kills", kills);
    free(lines.data);
    ses_close(source);
}
