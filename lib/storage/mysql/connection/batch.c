/*
 * Statements that are sent as one text, and their answers. The server runs one after the other, and stops at
 * the first that fails. Those that are sent most often are prepared, by a text too: so many of them still
 * take one round trip. The library does not wait for a statement that only changes rows. It sees the outcome
 * with the next answer that it needs, or with the commit. So a later query of the transaction may report the
 * failure.
 *
 * It waits itself, through the functions of the client library that return instead
 * (https://mariadb.com/kb/en/using-the-non-blocking-library/), so that a call ends in time.
 */
#include <string.h>

#include "base/error.h"
#include "storage/mysql/connection/connection.h"

/* The text that is collected before it is sent, unless one statement is longer. At most four times as much
 * memory is kept. */
enum { FULL_BYTES = 256 * 1024 };
/* The size of a variable, at most, besides the value. */
enum { VARIABLE_BYTES = 48 };

/* ------------------------------------------------------------------------------------------- waiting */

int ses__my_wait(const struct my *my, int status, int *code)
{
    struct pollfd polled = {.fd = mysql_get_socket(my->conn),
                            .events = (short)((status & MYSQL_WAIT_READ ? POLLIN : 0) |
                                              (status & MYSQL_WAIT_WRITE ? POLLOUT : 0) |
                                              (status & MYSQL_WAIT_EXCEPT ? POLLPRI : 0))};
    int happened = MYSQL_WAIT_TIMEOUT; /* which ends the operation */

    if (*code == SES_OK)
        *code = ses__remote_wait(&my->base, &polled);
    if (*code == SES_OK) {
        happened = (polled.revents & POLLIN ? MYSQL_WAIT_READ : 0) |
                   (polled.revents & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
                   (polled.revents & POLLPRI ? MYSQL_WAIT_EXCEPT : 0);
        /* Using the socket shows what is wrong with it. */
        happened = happened ? happened : status & ~MYSQL_WAIT_TIMEOUT;
    }
    return happened;
}

/* The outcome of an operation: false, with the failure of the transaction, if it has failed, or its time is
 * over. */
static bool went_well(struct my *my, int code, bool good, const char *doing)
{
    if (code != SES_OK) {
        my->at_work = true;
        my->committing = ses__remote_is_committing(&my->base);
        ses__remote_give_up(&my->base, code);
    } else if (!good) {
        ses__my_fail(my, doing);
    }
    return code == SES_OK && good;
}

static bool send_text(struct my *my, const char *text, size_t len)
{
    int code = SES_OK;
    int result = 0;
    int status = mysql_send_query_start(&result, my->conn, text, len);

    my->unread = true;
    while (status)
        status = mysql_send_query_cont(&result, my->conn, ses__my_wait(my, status, &code));
    return went_well(my, code, result == 0, "sending");
}

/* Reads the first answer, or the next one. */
static bool read_answer(struct my *my, const char *doing)
{
    int code = SES_OK;
    my_bool failed = 0;
    int result = 0;

    if (my->unread) {
        int status = mysql_read_query_result_start(&failed, my->conn);
        while (status)
            status = mysql_read_query_result_cont(&failed, my->conn, ses__my_wait(my, status, &code));
    } else {
        int status = mysql_next_result_start(&result, my->conn);
        while (status)
            status = mysql_next_result_cont(&result, my->conn, ses__my_wait(my, status, &code));
    }
    my->unread = false;
    return went_well(my, code, !failed && result == 0, doing);
}

/* The rows of an answer: NULL, with the failure of the transaction, if they do not arrive. */
static MYSQL_RES *read_rows(struct my *my, const char *doing)
{
    int code = SES_OK;
    MYSQL_RES *rows = NULL;
    int status = mysql_store_result_start(&rows, my->conn);

    while (status)
        status = mysql_store_result_cont(&rows, my->conn, ses__my_wait(my, status, &code));
    if (went_well(my, code, rows != NULL, doing))
        return rows;
    mysql_free_result(rows);
    return NULL;
}

/* ------------------------------------------------------------------------------------------- answers */

/* Takes the answers to a statement, the last of which counts. False: the server has stopped at it. */
static bool take_statement(struct my *my, const struct my_awaited *awaited)
{
    const struct mysql_statement *statement = awaited->statement;

    for (int part = my->is_block && awaited->kind != MY_ROWS ? 0 : awaited->answers; part > 0; part--) {
        if (!read_answer(my, statement->name))
            return false;
        MYSQL_RES *rows = mysql_field_count(my->conn) > 0 ? read_rows(my, statement->name) : NULL;
        if (mysql_field_count(my->conn) > 0 && !rows)
            return false;
        if (!rows) {
            const uint64_t given = mysql_insert_id(my->conn);
            my->base.changed = (int64_t)mysql_affected_rows(my->conn);
            if (given > 0)
                my->base.given = (int64_t)given;
            if (part == 1 && awaited->table && my->base.changed != 1)
                ses__remote_refuse_unchanged(&my->base, awaited->table);
            continue;
        }
        if (part == 1 && awaited->kind == MY_SAME && my->base.code == SES_OK) {
            const MYSQL_ROW row = mysql_fetch_row(rows);
            if (!row || !row[3] || ses__my_number(row[3]) != my->base.db.found_version) {
                ses__remote_fail(&my->base, SES_BUSY, "a read in which the session has changed");
                my->base.again = true;
            }
        }
        if (part == 1 && awaited->run && my->base.code == SES_OK)
            awaited->run->result = rows;
        else
            mysql_free_result(rows);
    }
    return true;
}

/* Takes the answers to all that was sent. */
static void take_all(struct my *my)
{
    bool goes_on = !my->sets || read_answer(my, "setting variables");

    for (size_t i = 0; i < my->awaited_count && goes_on && !my->base.lost; i++) {
        const struct my_awaited *awaited = &my->awaited[i];
        goes_on = take_statement(my, awaited);
        if (awaited->kind == MY_ENDS && !goes_on) /* of the transaction before */
            my->base.lost = my->base.again = true;
    }
    if (goes_on && my->is_block) {
        goes_on = read_answer(my, "the block of an append");
        /* The last statement of a block is the commit. If somebody kills the block just after it, the answer
         * of the server is the same as before it. So the connection is given up: the outcome is unknown, and
         * the append looks. */
        if (!goes_on && my->base.code == SES_BUSY && !my->base.again)
            my->base.lost = true;
    }
    for (size_t i = 0; i < my->awaited_count && goes_on; i++) {
        if (my->awaited[i].keeps)
            *my->awaited[i].keeps = KEPT;
    }
    my->awaited_count = 0;
    my->sent = false;
}

/* ------------------------------------------------------------------------------------------- sending */

static void empty_text(struct my *my)
{
    if (my->text.capacity > (size_t)FULL_BYTES * 4) {
        ses__buffer_free(&my->text);
        ses__buffer_init(&my->text, my->base.db.allocator);
    }
    ses__buffer_cut(&my->text, 0);
    ses__buffer_cut(&my->head, 0);
    my->variables = 0;
}

/* Sends the first `len` bytes of the text, with what comes before it. */
static bool send_collected(struct my *my, size_t len)
{
    struct buffer *head = &my->head;

    my->sets = my->variables > 0 && head->len > 0;
    my->is_block = my->variables == 0 && head->len > 0;
    if (head->len == 0)
        return send_text(my, my->text.data, len);
    ses__buffer_add(head, ";", my->sets);
    ses__buffer_add(head, my->text.data, len);
    ses__buffer_add_word(head, my->is_block ? ";END" : "");
    if (head->failed)
        ses__remote_fail(&my->base, SES_NOMEM, "sending");
    const bool sent = !head->failed && send_text(my, head->data, head->len);
    ses__buffer_cut(head, 0);
    return sent;
}

void ses__my_join(struct my *my)
{
    if (my->is_mariadb && my->base.code == SES_OK)
        ses__buffer_add_word(&my->head, "BEGIN NOT ATOMIC ");
}

/* The server skips what comes after a failure. */
bool ses__my_drop(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);

    if (my->sent)
        take_all(my);
    empty_text(my);
    my->awaited_count = 0;
    return true;
}

void ses__my_dispatch(struct my *my)
{
    if (my->sent)
        take_all(my);
    if (my->text.len > 0 && !my->base.lost && my->base.code == SES_OK)
        my->sent = send_collected(my, my->text.len);
    empty_text(my);
    if (!my->sent)
        my->awaited_count = 0;
}

int ses__my_settle(struct my *my)
{
    if (my->text.len > 0)
        ses__my_dispatch(my);
    if (my->sent)
        take_all(my);
    return my->base.code;
}

/* Sends what was collected before the statement, the separator and statement after `len`, if all together is
 * too much. */
static void make_room(struct my *my, size_t len, const struct mysql_statement *statement)
{
    const size_t most = my->packet_bytes < FULL_BYTES ? my->packet_bytes : FULL_BYTES;
    const size_t begin = len + (len > 0);
    const size_t own = my->text.len - begin;

    if (own > my->packet_bytes) {
        my->base.code = ses__error_set(
            &my->base.error, SES_LIMIT,
            "%s: %s needs a packet of %zu bytes, and the server takes %zu: raise its max_allowed_packet, or write less at once",
            my->base.db.name, statement->name, own, my->packet_bytes);
    } else if (len > 0 && my->text.len + my->head.len > most) {
        if (my->sent)
            take_all(my);
        if (my->base.code == SES_OK && !my->base.lost)
            my->sent = send_collected(my, len);
        if (my->sent)
            take_all(my);
        memmove(my->text.data, my->text.data + begin, own);
        ses__buffer_cut(&my->text, own);
    }
}

/*
 * Adds a text that belongs to the awaited statement; in a cluster the first part of it. Returns the rest.
 *
 * A node of a cluster aborts a transaction that another node's has overtaken. If that happens between two
 * statements that were sent as one text, the node goes on with the next one, outside of any transaction. (In
 * a block it does not.) So each is sent by itself.
 */
static const char *add(struct my *my, struct my_awaited awaited, const char *sql, const struct value *values)
{
    const struct mysql_statement *statement = awaited.statement;
    const size_t len = my->text.len;

    if (my->base.code != SES_OK)
        return "";
    ses__buffer_add(&my->text, ";", len > 0);
    const char *rest = ses__my_format(my, sql, statement->parameters, values,
                                      sql == statement->executing && !my->is_mariadb);
    awaited.answers = my->is_cluster ? 1 : statement->parts;
    if (*rest) {
        awaited.kind = MY_CHANGES;
        awaited.run = NULL;
    }
    if (my->text.failed || my->head.failed ||
        !ses__memory_grow(my->base.db.allocator, &my->awaited, &my->awaited_capacity, my->awaited_count + 1,
                          sizeof *my->awaited)) {
        empty_text(my);
        my->awaited_count = 0;
        ses__remote_fail(&my->base, SES_NOMEM, statement->name);
        return "";
    }
    make_room(my, len, statement);
    my->awaited[my->awaited_count++] = awaited;
    if (awaited.keeps)
        *awaited.keeps = ASKED_TO_KEEP;
    if (my->is_cluster && my->head.len == 0 && awaited.kind != MY_ENDS)
        (void)ses__my_settle(my);
    return rest;
}

bool ses__my_is_ready(struct my *my, const char *name)
{
    if (my->sent) /* the end of the transaction before */
        take_all(my);
    if (my->base.lost)
        ses__my_fail(my, name);
    return my->base.code == SES_OK;
}

/* Variables are for values that are not long. They go into one packet with what was collected before. */
static bool is_prepared(const struct my *my, const struct mysql_statement *statement,
                        const struct value *values)
{
    size_t bytes = my->head.len;

    for (size_t i = 0; values && values[i].type != 0; i++)
        bytes += VARIABLE_BYTES + (values[i].type == SQL_INT ? 0 : 2 * values[i].text.len);
    return statement->prepared > 0 && !my->is_plain && !(my->base.writes && statement->locked) &&
           (my->is_mariadb ||
            (bytes < FULL_BYTES / 4 && my->text.len + bytes < FULL_BYTES && my->packet_bytes > FULL_BYTES));
}

/* Adds a text after which the connection keeps something, unless it does already. */
static void keep(struct my *my, const struct mysql_statement *statement, const char *sql, enum kept *keeps)
{
    if (*keeps == NOT_KEPT)
        (void)add(my, (struct my_awaited){.kind = MY_CHANGES, .statement = statement, .keeps = keeps}, sql,
                  NULL);
}

void ses__my_keep(struct my *my, const struct statement *source, enum kept *keeps)
{
    const struct mysql_statement *statement = &ses__mysql_statements[ses__statement_slot(source)];

    if (ses__my_is_ready(my, statement->name))
        keep(my, statement, statement->text, keeps);
}

void ses__my_collect(struct my *my, const struct statement *source, const struct value *values,
                     enum my_kind kind, struct my_run *run)
{
    const struct mysql_statement *statement = &ses__mysql_statements[ses__statement_slot(source)];
    struct meter *meter = ses__limits_meter(my->base.db.limits);
    const bool prepared = is_prepared(my, statement, values);
    const char *rest = my->base.writes && statement->locked ? statement->locked : statement->text;

    if (!ses__my_is_ready(my, statement->name))
        return;
    if (prepared)
        keep(my, statement, statement->preparing, &my->kept[KEEPS_PREPARED + statement->prepared - 1]);
    if (prepared)
        rest = statement->executing;
    while (*rest)
        rest = add(my, (struct my_awaited){.kind = kind, .statement = statement, .run = run}, rest, values);
    for (size_t i = 0; meter && values && values[i].type != 0; i++)
        meter->bytes_in += values[i].type == SQL_INT ? 0 : (int64_t)values[i].text.len;
}

void ses__my_must_change(struct db *db, const char *table)
{
    struct my *my = ses__my_of(db);

    if (my->awaited_count > 0)
        my->awaited[my->awaited_count - 1].table = table;
    else if (my->is_cluster && my->base.code == SES_OK && my->base.changed != 1)
        ses__remote_refuse_unchanged(&my->base, table);
}

void ses__my_abandon(struct my *my, const struct my_run *run)
{
    for (size_t i = 0; i < my->awaited_count; i++) {
        if (my->awaited[i].run == run)
            my->awaited[i].run = NULL;
    }
}

MYSQL_RES *ses__my_script(struct my *my, const char *sql)
{
    MYSQL_RES *last = NULL;
    bool more = my->base.code == SES_OK && send_text(my, sql, strlen(sql));

    while (more && read_answer(my, "a script")) {
        if (mysql_field_count(my->conn) > 0) {
            mysql_free_result(last);
            last = read_rows(my, "a script");
        }
        more = my->base.code == SES_OK && mysql_more_results(my->conn);
    }
    return last;
}
