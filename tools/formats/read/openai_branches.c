/* Databases of the OpenAI Agents SDK, AdvancedSQLiteSession: the items of a session are in branches, which
 * share those up to the turn at which one left the other. Each branch is a session, a fork of the one whose
 * items it shares. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/database/rows.h"
#include "formats/read/openai_items.h"
#include "formats/read/table.h"

struct branch_source {
    const struct foreign_file *file;
    struct openai_items items;
    sqlite3_stmt *sessions;
    sqlite3_stmt *messages;
    int64_t session_row;
    struct text name;
    struct text parent;
};

static int recognize_branches(const struct foreign_file *file, ses_error *error)
{
    (void)error;
    return rows_has(file->db, "agent_sessions", "session_id created_at updated_at") &&
           rows_has(file->db, "agent_messages", "id session_id message_data created_at") &&
           rows_has(file->db, "message_structure",
                    "id session_id message_id branch_id sequence_number user_turn_number") &&
           rows_has(file->db, "turn_usage",
                    "session_id branch_id user_turn_number input_tokens output_tokens total_tokens"
                    " input_tokens_details output_tokens_details");
}

/*
 * branch_row: the items of each branch. SQLiteSession adds items that are in none: the last of the main one.
 * branch_item: each item, and the branch in which it was made and first stands. A branch copies the rows, not
 * the items, so that the items are the same in all branches.
 * branch_usage: the usage of each turn, with its last item.
 * branch: the branches in the order in which they were made, the main one first. `parent` is the branch that
 * made the last of the items that this one did not make.
 */
static const char tables[] =
    "DROP TABLE IF EXISTS temp.branch_row; DROP TABLE IF EXISTS temp.branch_item;"
    "DROP TABLE IF EXISTS temp.branch_usage; DROP TABLE IF EXISTS temp.branch;"
    "CREATE TEMP TABLE branch_row (id INTEGER PRIMARY KEY, session, branch, place, turn, message);"
    "INSERT INTO temp.branch_row SELECT m.id, m.session_id, m.branch_id, m.sequence_number, m.user_turn_number, e.id"
    " FROM main.message_structure AS m JOIN main.agent_messages AS e ON e.id = m.message_id ORDER BY m.id;"
    "INSERT INTO temp.branch_row (session, branch, place, message)"
    " SELECT e.session_id, 'main', 1 << 62, e.id FROM main.agent_messages AS e"
    " WHERE e.id NOT IN (SELECT message FROM temp.branch_row) ORDER BY e.id;"
    "CREATE INDEX temp.branch_rows ON branch_row (session, branch, place, id);"
    "CREATE TEMP TABLE branch_item (message INTEGER PRIMARY KEY, branch TEXT);"
    "INSERT INTO temp.branch_item SELECT message, branch FROM"
    " (SELECT message, branch, min(id) FROM temp.branch_row GROUP BY message);"
    "CREATE TEMP TABLE branch_usage (message INTEGER PRIMARY KEY, input, output, total, cached, reasoning);"
    "INSERT OR IGNORE INTO temp.branch_usage"
    " SELECT r.message, u.input_tokens, u.output_tokens, u.total_tokens,"
    "  CASE WHEN json_valid(u.input_tokens_details) THEN json_extract(u.input_tokens_details, '$.cached_tokens') END,"
    "  CASE WHEN json_valid(u.output_tokens_details)"
    "   THEN json_extract(u.output_tokens_details, '$.reasoning_tokens') END"
    " FROM (SELECT session, branch, turn, message, max(place) FROM temp.branch_row GROUP BY session, branch, turn) AS r"
    " JOIN main.turn_usage AS u"
    "  ON u.session_id = r.session AND u.branch_id = r.branch AND u.user_turn_number = r.turn"
    " JOIN temp.branch_item AS i ON i.message = r.message AND i.branch = r.branch;"
    "CREATE TEMP TABLE branch (id INTEGER PRIMARY KEY, session, branch, created_at, shared, parent);"
    "INSERT INTO temp.branch (session, branch, created_at, shared)"
    " SELECT s.session_id, b.branch, s.created_at, b.shared FROM main.agent_sessions AS s LEFT JOIN"
    "  (SELECT r.session, r.branch, min(r.id) AS first, count(*) FILTER (WHERE i.branch <> r.branch) AS shared"
    "   FROM temp.branch_row AS r JOIN temp.branch_item AS i USING (message) GROUP BY r.session, r.branch) AS b"
    "  ON b.session = s.session_id"
    " ORDER BY s.rowid, b.branch <> 'main', b.first;"
    "UPDATE temp.branch SET parent = (SELECT i.branch FROM temp.branch_row AS r"
    " JOIN temp.branch_item AS i ON i.message = r.message AND i.branch <> r.branch"
    " WHERE r.session = branch.session AND r.branch = branch.branch ORDER BY r.place DESC, r.id DESC LIMIT 1)";

static void close_branches(void *closed)
{
    struct branch_source *source = closed;

    rows_finalize(&source->sessions);
    rows_finalize(&source->messages);
    openai_items_free(&source->items);
    text_free(&source->name);
    text_free(&source->parent);
    free(source);
}

static int open_branches(struct foreign_file *file, void **opened, ses_error *error)
{
    struct branch_source *source = allocate(sizeof *source);
    int code = SES_OK;

    source->file = file;
    source->items.notes = file->notes;
    if (sqlite3_exec(file->db, tables, NULL, NULL, NULL) != SQLITE_OK)
        code = rows_failed(file->db, "reading the branches", error);
    if (code == SES_OK) {
        source->sessions = rows_prepare(
            file->db, "SELECT id, session, branch, created_at, shared, parent FROM temp.branch ORDER BY id",
            error);
        source->messages =
            source->sessions
                ? rows_prepare(
                      file->db,
                      "SELECT e.id, e.message_data, e.created_at, u.input, u.output, u.total, u.cached,"
                      " u.reasoning FROM temp.branch_row AS r"
                      " JOIN main.agent_messages AS e ON e.id = r.message"
                      " LEFT JOIN temp.branch_usage AS u ON u.message = r.message"
                      " WHERE r.session = ?1 AND r.branch = ?2 ORDER BY r.place, r.id",
                      error)
                : NULL;
        code = source->messages ? SES_OK : error->code;
    }
    if (code == SES_OK)
        *opened = source;
    else
        close_branches(source);
    return code;
}

/* The main branch has the name of the session. */
static void name_branch(struct text *name, const char *session, const char *branch)
{
    text_clear(name);
    text_puts(name, session);
    if (strcmp(branch, "main") != 0)
        text_print(name, "~%s", branch);
}

static int next_branch(void *from, struct foreign_session *session, ses_error *error)
{
    struct branch_source *source = from;
    const char *branch = "main";
    const char *parent = NULL;
    int code = rows_step(source->sessions, error);

    if (code == 1)
        code = rows_ascend(source->sessions, &source->session_row, error);
    if (code != 1)
        return code;
    *session = (struct foreign_session){
        .app = "openai-agents", .user = "user", .session = "", .expires_us = FOREIGN_NO_TIME};
    session->created_us = rows_time(source->sessions, 3, NULL);
    session->updated_us = FOREIGN_NO_TIME; /* that of the file is one for all branches */
    code = rows_text(source->sessions, 1, "session id", &session->session, error);
    if (code == SES_OK && sqlite3_column_type(source->sessions, 2) != SQLITE_NULL)
        code = rows_text(source->sessions, 2, "branch", &branch, error);
    if (code == SES_OK && sqlite3_column_type(source->sessions, 5) != SQLITE_NULL)
        code = rows_text(source->sessions, 5, "branch", &parent, error);
    if (code != SES_OK)
        return code;
    name_branch(&source->name, session->session, branch);
    if (parent) {
        name_branch(&source->parent, session->session, parent);
        session->parent = source->parent.data;
        session->parent_seq = sqlite3_column_int64(source->sessions, 4);
    }
    session->session = source->name.data;
    return 1;
}

static int begin_branch_items(void *from, ses_error *error)
{
    struct branch_source *source = from;

    openai_items_begin(&source->items);
    (void)sqlite3_reset(source->messages);
    return sqlite3_bind_value(source->messages, 1, sqlite3_column_value(source->sessions, 1)) == SQLITE_OK &&
                   sqlite3_bind_value(source->messages, 2, sqlite3_column_value(source->sessions, 2)) ==
                       SQLITE_OK
               ? SES_OK
               : rows_failed(source->file->db, "reading the messages", error);
}

static int next_branch_item(void *from, struct foreign_event *event, ses_error *error)
{
    struct branch_source *source = from;
    sqlite3_stmt *row = source->messages;
    int code = rows_step_event(row, error);

    *event = (struct foreign_event){.name = NULL};
    if (code != 1)
        return code;
    const struct openai_usage usage = {sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4),
                                       sqlite3_column_int64(row, 5), sqlite3_column_int64(row, 6),
                                       sqlite3_column_int64(row, 7)};
    source->items.usage = sqlite3_column_type(row, 3) == SQLITE_NULL ? NULL : &usage;
    code = openai_item(&source->items, sqlite3_column_int64(row, 0), rows_span(row, 1),
                       rows_time(row, 2, NULL), &event->json, error);
    source->items.usage = NULL;
    return code;
}

const struct foreign_format foreign_openai_branches = {
    .name = "openai-agents-branches",
    .words = "a database of the OpenAI Agents SDK's AdvancedSQLiteSession",
    .not_in_file =
        "It contains no app, user, agent or state: these become openai-agents, user, assistant "
        "and no state. A turn begins with each message of the user. Times are whole seconds. Each "
        "item is kept unchanged in the customMetadata of its event. Each branch is a session, ID~BRANCH, a "
        "fork of the one whose items it shares. The usage of a turn is that of its last event.",
    .recognizes = recognize_branches,
    .open = open_branches,
    .next_session = next_branch,
    .begin_events = begin_branch_items,
    .next_event = next_branch_item,
    .close = close_branches,
};
