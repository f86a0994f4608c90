/* Builds the text of a statement, with the clause that locks its rows, and with the query that finds numbers not known
 * yet. Each connection prepares each text once. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "storage/postgres/ahead.h"

/* A source may have a source, which may have another. */
enum { MAX_SENT = 3 * (PG_PARAMETERS + 1) };

/* A statement and its values, which are borrowed. */
struct sent {
    struct buffer text;
    const char *values[MAX_SENT];
    int lengths[MAX_SENT];
    int formats[MAX_SENT];
    int count;
};

/* ------------------------------------------------------------------------------------------------- text */

static void add_parameter(struct sent *sent, int number)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "$%d", number);

    ses__buffer_add(&sent->text, text, (size_t)len);
}

/* `limit` is the number of the parameter with the number of source rows that count. */
static void add_placeholder(struct sent *sent, enum pg_placeholder placeholder, int limit)
{
    static const char *const texts[PG_PLACEHOLDERS][2] = {
        [PG_SESSION] = {"(SELECT id FROM ahead LIMIT ", ")"},
        [PG_USER] = {"(SELECT user_id FROM ahead LIMIT ", ")"},
        [PG_APP] = {"(SELECT app_id FROM ahead LIMIT ", ")"},
        [PG_SESSIONS] = {"ARRAY(SELECT id FROM ahead LIMIT ", ")"},
        [PG_DESCRIBED] = {"ARRAY(SELECT id FROM (SELECT id, details FROM ahead LIMIT ",
                          ") AS page WHERE details & 3 <> 0)"},
        [PG_LABELLED] = {"ARRAY(SELECT id FROM (SELECT id, details FROM ahead LIMIT ",
                         ") AS page WHERE details & 4 <> 0)"},
        [PG_USERS] = {"ARRAY(SELECT DISTINCT user_id FROM (SELECT user_id FROM ahead LIMIT ",
                      ") AS page ORDER BY user_id)"},
    };

    ses__buffer_add_word(&sent->text, texts[placeholder][0]);
    if (placeholder >= PG_SESSIONS)
        add_parameter(sent, limit);
    else
        ses__buffer_add(&sent->text, "1", 1);
    ses__buffer_add_word(&sent->text, texts[placeholder][1]);
}

/* Numbers the run's parameters within the whole statement, and adds their values; a placeholder has the number 0. */
static void number_parameters(struct sent *sent, const struct pg_run *run, int numbers[PG_PARAMETERS])
{
    for (int i = 0; i < run->statement->parameters; i++) {
        numbers[i] = 0;
        if (run->placeholders[i] == PG_VALUE) {
            sent->values[sent->count] = run->values[i];
            sent->lengths[sent->count] = run->lengths[i];
            sent->formats[sent->count] = run->formats[i];
            numbers[i] = ++sent->count;
        }
    }
}

/* True if the run has a parameter of that kind, or of a later one in the list. */
static bool has_placeholder(const struct pg_run *run, enum pg_placeholder from)
{
    for (int i = 0; i < run->statement->parameters; i++) {
        if (run->placeholders[i] >= from)
            return true;
    }
    return false;
}

/* True if its text contains its source's. */
static bool needs_source(const struct pg_run *run)
{
    return run->source && has_placeholder(run, PG_SESSION);
}

/* Adds the statement's text, with its parameters numbered as in the whole. */
static void add_statement(struct sent *sent, const struct pg_run *run)
{
    const char *text = run->statement->text;
    int numbers[PG_PARAMETERS];
    int limit = 0;

    number_parameters(sent, run, numbers);
    if (has_placeholder(run, PG_SESSIONS)) {
        sent->values[sent->count] = run->limit_text;
        sent->lengths[sent->count] = 0;
        sent->formats[sent->count] = 0;
        limit = ++sent->count;
    }
    for (const char *dollar = strchr(text, '$'); dollar; dollar = strchr(text, '$')) {
        int number = 0;
        ses__buffer_add(&sent->text, text, (size_t)(dollar - text));
        for (text = dollar + 1; *text >= '0' && *text <= '9'; text++)
            number = number * 10 + (*text - '0');
        if (numbers[number - 1] > 0)
            add_parameter(sent, numbers[number - 1]);
        else
            add_placeholder(sent, (enum pg_placeholder)run->placeholders[number - 1], limit);
    }
    ses__buffer_add_word(&sent->text, text);
}

static void add_source(struct sent *sent, const struct pg_run *source);

static void add_whole(struct sent *sent, const struct pg_run *run)
{
    if (needs_source(run))
        add_source(sent, run->source);
    add_statement(sent, run);
}

/* Two levels at most, one within the other. */
static void add_source(struct sent *sent, const struct pg_run *source)
{
    ses__buffer_add_word(&sent->text, "WITH ahead");
    ses__buffer_add_word(&sent->text, ses__ahead_columns(source));
    ses__buffer_add_word(&sent->text, " AS MATERIALIZED (");
    add_whole(sent, source);
    ses__buffer_add_word(&sent->text, ") ");
}

/* --------------------------------------------------------------------------------------------- prepared */

/* The number of a text that was sent before; 0 if there is none. */
static size_t find_text(const struct pg *pg, const struct buffer *text)
{
    for (size_t i = 0; i < pg->text_count; i++) {
        const struct pg_text *known = &pg->texts[i];
        if (known->len == text->len && memcmp(known->text, text->data, text->len) == 0)
            return i + 1;
    }
    return 0;
}

/* Keeps the text. Returns its number, from 1 on, or 0 if out of memory. */
static size_t add_text(struct pg *pg, struct buffer *text)
{
    static const struct hash_seed seed = {{0, 0}};
    void *texts = pg->texts;
    const bool grown = ses__memory_grow(pg->config->allocator, &texts, &pg->text_capacity, pg->text_count + 1,
                                        sizeof *pg->texts);

    pg->texts = texts;
    if (!grown)
        return 0;
    struct pg_text *added = &pg->texts[pg->text_count++];
    *added = (struct pg_text){.text = text->data, .len = text->len, .prepared = PG_UNPREPARED};
    (void)snprintf(added->name, sizeof added->name, "seslite_%016llx",
                   (unsigned long long)ses__hash_keyed(&seed, (struct span){text->data, text->len}));
    ses__buffer_init(text, text->allocator);
    return pg->text_count;
}

void ses__pg_forget_texts(struct pg *pg)
{
    for (size_t i = 0; i < pg->text_count; i++)
        ses__memory_free(pg->config->allocator, pg->texts[i].text);
    ses__memory_free(pg->config->allocator, pg->texts);
}

static bool send_prepared(struct pg *pg, size_t number, int count, const char *const *values,
                          const int *lengths, const int *formats)
{
    struct pg_text *text = &pg->texts[number - 1];

    if (text->prepared == PG_UNPREPARED) {
        if (PQsendPrepare(pg->conn, text->name, text->text, 0, NULL) != 1)
            return false;
        text->prepared = PG_PREPARING;
        ses__pg_await(pg, PG_PREPARES, number - 1, NULL);
    }
    return PQsendQueryPrepared(pg->conn, text->name, count, values, lengths, formats, 0) == 1;
}

/* Builds the text and sends it. Sets `*plain` to its number if it can be sent again without being built. */
static bool send_new(struct pg *pg, const struct pg_run *run, bool locks, size_t *plain)
{
    struct sent sent = {.count = 0};
    bool done = false;

    ses__buffer_init(&sent.text, pg->config->allocator);
    add_whole(&sent, run);
    if (locks) {
        ses__buffer_add(&sent.text, " ", 1);
        ses__buffer_add_word(&sent.text, run->statement->locks);
    }
    ses__buffer_add(&sent.text, "", 1);
    size_t number = sent.text.failed || pg->config->unprepared ? 0 : find_text(pg, &sent.text);
    if (number == 0 && !sent.text.failed && !pg->config->unprepared)
        number = add_text(pg, &sent.text);
    if (number > 0)
        done = send_prepared(pg, number, sent.count, sent.values, sent.lengths, sent.formats);
    else if (!sent.text.failed && pg->config->unprepared)
        done = PQsendQueryParams(pg->conn, sent.text.data, sent.count, NULL, sent.values, sent.lengths,
                                 sent.formats, 0) == 1;
    else
        ses__pg_fail_as(pg, SES_NOMEM, run->statement->name);
    ses__buffer_free(&sent.text);
    if (!needs_source(run))
        *plain = number;
    return done;
}

bool ses__pg_send_text(struct pg *pg, const struct pg_run *run)
{
    const bool locks = pg->writes && run->statement->locks;
    size_t *plain = &pg->plain[run->slot * 2 + locks];

    if (pg->lost)
        return false;
    if (*plain > 0 && !needs_source(run))
        return send_prepared(pg, *plain, run->statement->parameters, run->values, run->lengths, run->formats);
    return send_new(pg, run, locks, plain);
}

void ses__pg_send(struct pg *pg, const struct statement *statement, const char *parameter, enum pg_kind kind)
{
    const struct pg_run run = {.slot = statement->slot,
                               .statement = &ses__postgres_statements[statement->slot],
                               .values = {parameter}};

    ses__pg_make_room(pg);
    if (pg->lost)
        return;
    if (ses__pg_send_text(pg, &run))
        ses__pg_await(pg, kind, 0, NULL);
    else
        ses__pg_fail(pg, NULL, statement->name);
}
