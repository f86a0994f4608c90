/* The list of announced queries, and the search for the one that a job asks for. */
#include "storage/postgres/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ses__ahead_begin(struct pg *pg)
{
    pg->ahead.announcing = true;
    pg->ahead.source = NULL;
}

void ses__ahead_end(struct pg *pg)
{
    pg->ahead.announcing = false;
}

void ses__ahead_from(struct pg *pg, int64_t limit)
{
    pg->ahead.source = pg->ahead.last;
    pg->ahead.limit = limit;
}

void ses__ahead_add(struct pg *pg, struct pg_run *run)
{
    run->next = NULL;
    if (pg->ahead.last)
        pg->ahead.last->next = run;
    else
        pg->ahead.first = run;
    pg->ahead.last = run;
}

/* -------------------------------------------------------------------------------------------- sources */

/* The columns in which a statement returns the numbers of a session, a user and an app; -1 if it does not. */
struct columns {
    const struct statement *statement;
    int session;
    int user;
    int app;
    int details;
    const char *names;
};

static const struct columns *columns_of(const struct pg_run *source)
{
    static const struct columns columns[] = {
        {STATEMENT_SESSION_FIND, 0, 2, 1, 10, ""},
        {STATEMENT_SESSION_BY_ID, 0, 2, 1, 10, ""},
        {STATEMENT_USER_FIND, -1, 0, 1, -1, " (user_id, app_id)"},
        {STATEMENT_APP_FIND, -1, -1, 0, -1, " (app_id)"},
    };
    static const struct columns of_list = {
        NULL,
        0,
        2,
        1,
        10,
        " (id, app_id, user_id, version, last_seq, event_count, created_us, updated_us, expires_us, base_seq,"
        " details, name, user_name, users_app_id)"};

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (columns[i].statement->slot == source->slot)
            return &columns[i];
    }
    return &of_list;
}

const char *ses__ahead_columns(const struct pg_run *source)
{
    return columns_of(source)->names;
}

/* ------------------------------------------------------------------------------------------- matching */

static int64_t column_number(const PGresult *result, int row, int column)
{
    return column < 0 ? 0 : strtoll(PQgetvalue(result, row, column), NULL, 10);
}

/* The column with the number of such a thing; -1 if there is none. */
static int column_of(const struct columns *columns, enum pg_placeholder placeholder)
{
    return placeholder == PG_APP                               ? columns->app
           : placeholder == PG_USER || placeholder == PG_USERS ? columns->user
                                                               : columns->session;
}

static int compare_numbers(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Collects the numbers of such a list from the source's first rows. */
static size_t collect_numbers(const struct pg_run *source, enum pg_placeholder placeholder, int rows,
                              int64_t *numbers)
{
    const struct columns *columns = columns_of(source);
    const int64_t bits = placeholder == PG_DESCRIBED ? 3 : placeholder == PG_LABELLED ? 4 : 0;
    const int column = column_of(columns, placeholder);
    size_t count = 0;

    for (int row = 0; row < rows; row++) {
        if (bits == 0 || (column_number(source->result, row, columns->details) & bits))
            numbers[count++] = column_number(source->result, row, column);
    }
    if (placeholder == PG_USERS) {
        size_t users = 0;
        qsort(numbers, count, sizeof *numbers, compare_numbers);
        for (size_t i = 0; i < count; i++) {
            if (i == 0 || numbers[i] != numbers[users - 1])
                numbers[users++] = numbers[i];
        }
        count = users;
    }
    return count;
}

/* True if the list is these numbers, as a list of owners is sent: "{1,2}". */
static bool is_text_of(const char *list, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        if (*list != (i == 0 ? '{' : ',') || strtoll(list + 1, &end, 10) != numbers[i])
            return false;
        list = end;
    }
    return count > 0 && strcmp(list, "}") == 0;
}

static bool is_list_of(const struct pg *pg, const char *list, const struct pg_run *source,
                       enum pg_placeholder placeholder, int rows)
{
    int64_t *numbers = ses__memory_new(pg->config->allocator, (size_t)rows * sizeof *numbers);
    const bool is_it =
        numbers && is_text_of(list, numbers, collect_numbers(source, placeholder, rows, numbers));

    ses__memory_free(pg->config->allocator, numbers);
    return is_it;
}

/* True if the source has found this value. */
static bool is_found(const struct pg *pg, const struct pg_run *announced, enum pg_placeholder placeholder,
                     const char *value)
{
    const struct pg_run *source = announced->source;
    const int found = source->result ? PQntuples(source->result) : 0;
    const int rows = announced->limit < found ? (int)announced->limit : found;

    if (rows == 0 || !value)
        return false;
    if (placeholder >= PG_SESSIONS)
        return is_list_of(pg, value, source, placeholder, rows);
    return strtoll(value, NULL, 10) ==
           column_number(source->result, 0, column_of(columns_of(source), placeholder));
}

static bool is_same_value(const struct pg_run *left, const struct pg_run *right, int i)
{
    const char *a = left->values[i];
    const char *b = right->values[i];

    if (!a || !b || left->formats[i] != right->formats[i])
        return a == b;
    return left->formats[i] == 0
               ? strcmp(a, b) == 0
               : left->lengths[i] == right->lengths[i] && memcmp(a, b, (size_t)left->lengths[i]) == 0;
}

/* True if the query was announced with the values of this run. */
static bool is_answer(const struct pg *pg, const struct pg_run *announced, const struct pg_run *run)
{
    if (announced->slot != run->slot)
        return false;
    for (int i = 0; i < run->statement->parameters; i++) {
        const enum pg_placeholder placeholder = (enum pg_placeholder)announced->placeholders[i];
        const bool is_it = placeholder == PG_VALUE ? is_same_value(announced, run, i)
                                                   : is_found(pg, announced, placeholder, run->values[i]);
        if (!is_it)
            return false;
    }
    return true;
}

static struct pg_run *find_answer(const struct pg *pg, const struct pg_run *run, struct pg_run *from,
                                  const struct pg_run *end)
{
    for (struct pg_run *announced = from; announced != end; announced = announced->next) {
        if (announced->result && is_answer(pg, announced, run))
            return announced;
    }
    return NULL;
}

/* Jobs mostly ask in the order of the announcement. So the search starts after the last answer: a query that was
 * announced twice, before and after a change, gets both answers in turn. */
bool ses__ahead_take(struct pg *pg, struct pg_run *run)
{
    if (!pg->ahead.first)
        return false;
    if (pg->awaited_count > 0)
        (void)ses__pg_settle(pg);
    if (pg->code != SES_OK)
        return false;
    struct pg_run *announced = find_answer(pg, run, pg->ahead.next, NULL);
    if (!announced)
        announced = find_answer(pg, run, pg->ahead.first, pg->ahead.next);
    if (!announced)
        return false;
    pg->ahead.next = announced->next;
    run->result = announced->result;
    run->borrowed = true;
    run->sent = true;
    return true;
}
