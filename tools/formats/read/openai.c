/* Databases of the OpenAI Agents SDK, SQLiteSession: a session is a list of items. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/database/rows.h"
#include "formats/read/openai_items.h"
#include "formats/read/table.h"

struct openai_source {
    const struct foreign_file *file;
    struct openai_items items;
    sqlite3_stmt *sessions;
    sqlite3_stmt *messages;
    int64_t session_row;
};

static int recognize_openai(const struct foreign_file *file, ses_error *error)
{
    (void)error;
    return rows_has(file->db, "agent_sessions", "session_id created_at updated_at") &&
           rows_has(file->db, "agent_messages", "id session_id message_data created_at");
}

static void close_openai(void *closed)
{
    struct openai_source *source = closed;

    rows_finalize(&source->sessions);
    rows_finalize(&source->messages);
    openai_items_free(&source->items);
    free(source);
}

static int open_openai(struct foreign_file *file, void **opened, ses_error *error)
{
    struct openai_source *source = allocate(sizeof *source);

    source->file = file;
    source->items.notes = file->notes;
    int code = rows_places(
        file, "main.agent_messages AS e CROSS JOIN main.agent_sessions AS s ON s.session_id = e.session_id",
        "main.agent_messages", error);
    if (code == SES_OK) {
        source->sessions = rows_prepare(
            file->db,
            "SELECT rowid, session_id, created_at, updated_at FROM main.agent_sessions ORDER BY rowid",
            error);
        source->messages =
            source->sessions
                ? rows_prepare(file->db,
                               "SELECT e.rowid, e.message_data, e.created_at FROM temp.place AS p"
                               " CROSS JOIN main.agent_messages AS e ON e.rowid = p.event"
                               " WHERE p.session = ?1 ORDER BY p.event",
                               error)
                : NULL;
        code = source->messages ? SES_OK : error->code;
    }
    if (code == SES_OK)
        *opened = source;
    else
        close_openai(source);
    return code;
}

static int next_openai_session(void *from, struct foreign_session *session, ses_error *error)
{
    struct openai_source *source = from;
    int code = rows_step(source->sessions, error);

    if (code == 1)
        code = rows_ascend(source->sessions, &source->session_row, error);
    if (code != 1)
        return code;
    *session = (struct foreign_session){
        .app = "openai-agents", .user = "user", .session = "", .expires_us = FOREIGN_NO_TIME};
    session->created_us = rows_time(source->sessions, 2, NULL);
    session->updated_us = rows_time(source->sessions, 3, NULL);
    code = rows_text(source->sessions, 1, "session id", &session->session, error);
    return code == SES_OK ? 1 : code;
}

static int begin_messages(void *from, ses_error *error)
{
    struct openai_source *source = from;

    openai_items_begin(&source->items);
    (void)sqlite3_reset(source->messages);
    return sqlite3_bind_int64(source->messages, 1, sqlite3_column_int64(source->sessions, 0)) == SQLITE_OK
               ? SES_OK
               : rows_failed(source->file->db, "reading the messages", error);
}

static int next_message(void *from, struct foreign_event *event, ses_error *error)
{
    struct openai_source *source = from;
    int code = rows_step_event(source->messages, error);

    *event = (struct foreign_event){.name = NULL};
    if (code != 1)
        return code;
    return openai_item(&source->items, sqlite3_column_int64(source->messages, 0),
                       rows_span(source->messages, 1), rows_time(source->messages, 2, NULL), &event->json,
                       error);
}

const struct foreign_format foreign_openai = {
    .name = "openai-agents",
    .words = "a database of the OpenAI Agents SDK's SQLiteSession",
    .not_in_file = "It contains no app, user, agent or state: these become openai-agents, user, assistant "
                   "and no state. A turn begins with each message of the user. Times are whole seconds. Each "
                   "item is kept unchanged in the customMetadata of its event.",
    .recognizes = recognize_openai,
    .open = open_openai,
    .next_session = next_openai_session,
    .begin_events = begin_messages,
    .next_event = next_message,
    .close = close_openai,
};
