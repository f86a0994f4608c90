/*
 * Random parameters for a statement. The kind of each is a letter: a, u, s: an app, a user, a session; O, o:
 * a list of users, of sessions; w: a user, or NULL; t: a time; l: a time, or NULL; R: a set of shelves; h: a
 * value of active_30s; m: 0 or the bit of memory; c, d: the user and the session of which some are children,
 * the latter or NULL; q: a number of an event; n: a limit; b: no bound; B: 0 or 1; x: NULL; W, M: a text,
 * or NULL; p, e: a prefix, and the end of what has it; v, V: the least and the highest value; y: a value of
 * state as it was first; Y: the first parameter's session again; E: an event's id; i: its invocation; D: the
 * third parameter again; G: the session of the lease before it; C: the user of the content before it; K: a
 * key with a prefix; F, P, N, I: an order, and the place in it (a time; a name, or a session; a user); Q:
 * what an index of words is asked; f: the name of its feature. Any other letter is a text.
 */
#ifndef SESLITE_TEST_POSTGRES_SAME_VALUES_H
#define SESLITE_TEST_POSTGRES_SAME_VALUES_H

#include "same.h"

static const char *const texts[] = {"", "a", "A", "a b", "ab", "ä", "Z", "a'\"%_\\", "\xf4\x8f\xbf\xbf", "b"};

/* As both take it; NULL: NULL. */
struct values {
    char text[2][MOST_PARAMETERS][MOST_TEXT];
    bool is_int[MOST_PARAMETERS];
    bool is_null[2][MOST_PARAMETERS];
};
enum { OF_FILE, OF_SERVER };

static inline int any(struct same *same, int count)
{
    same->seed = same->seed * 1103515245U + 12345U;
    return (int)(same->seed / 65536U % (unsigned)count);
}

static inline void put_int(struct values *values, int at, long long of_file, long long of_server)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%lld", of_file);
    snprintf(values->text[OF_SERVER][at], MOST_TEXT, "%lld", of_server);
    values->is_int[at] = true;
}

static inline void put_text(struct values *values, int at, const char *text)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%s", text);
    snprintf(values->text[OF_SERVER][at], MOST_TEXT, "%s", text);
}

static inline void put_null(struct values *values, int at)
{
    values->is_null[OF_FILE][at] = values->is_null[OF_SERVER][at] = true;
}

static inline void put_owner(struct same *same, struct values *values, int at, int kind)
{
    const int id = any(same, same->counts[kind] + 2);
    put_int(values, at, id, moved(same, kind, id));
}

/* Some of all, each once. */
static inline void put_owners(struct same *same, struct values *values, int at, int kind)
{
    const int step = any(same, 3) + 1;
    size_t lens[2] = {1, 1};

    put_text(values, at, "[");
    values->text[OF_SERVER][at][0] = '{';
    for (int id = same->counts[kind] - any(same, 3); id > 0; id -= step) {
        const char *comma = lens[0] > 1 ? "," : "";
        lens[0] += (size_t)sprintf(values->text[OF_FILE][at] + lens[0], "%s%d", comma, id);
        lens[1] +=
            (size_t)sprintf(values->text[OF_SERVER][at] + lens[1], "%s%lld", comma, moved(same, kind, id));
    }
    values->text[OF_FILE][at][lens[0]] = ']';
    values->text[OF_SERVER][at][lens[1]] = '}';
    values->text[OF_FILE][at][lens[0] + 1] = values->text[OF_SERVER][at][lens[1] + 1] = '\0';
}

/* A range that ends with a byte that no text contains, for the file, has no end for the server. */
static inline void put_end(struct values *values, int at, const char *prefix)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%s\xff", prefix);
    values->is_null[OF_SERVER][at] = true;
}

static inline long long time_of(struct same *same)
{
    return (any(same, 7) - 3) * 1800000000LL + any(same, 2);
}

/* The place in an order: after the factor come a time, a name or a number, a user. */
static inline void put_place(struct same *same, struct values *values, int at, char kind)
{
    const int factor = atoi(values->text[OF_FILE][3]);

    if (kind == 'P') {
        const long long place = factor * time_of(same);
        put_int(values, at, place, place);
    } else if (factor == 0 && kind == 'N')
        put_owner(same, values, at, SESSIONS);
    else if (factor == 0)
        put_int(values, at, INT64_MAX, INT64_MAX);
    else if (kind == 'N')
        put_text(values, at, texts[any(same, 10)]);
    else
        put_owner(same, values, at, USERS);
}

static inline void put_number(struct values *values, int at, long long value)
{
    put_int(values, at, value, value);
}

/* Numbers, and nothing. */
static inline bool put_plain(struct same *same, struct values *values, int at, char kind)
{
    if (kind == 'x' || (strchr("WMwl", kind) && any(same, 2)))
        put_null(values, at);
    else if (kind == 't' || kind == 'l')
        put_number(values, at, time_of(same));
    else if (kind == 'h')
        put_number(values, at, (any(same, 7) - 3) * 60);
    else if (kind == 'q')
        put_number(values, at, any(same, 12));
    else if (kind == 'n')
        put_number(values, at, any(same, 2) ? any(same, 8) : INT64_MAX);
    else if (kind == 'B')
        put_number(values, at, any(same, 2));
    else if (kind == 'b')
        put_number(values, at, INT64_MAX);
    else if (kind == 'F')
        put_number(values, at, any(same, 3) - 1);
    else if (kind == 'R')
        put_number(values, at, any(same, 2) * any(same, 256));
    else if (kind == 'd' && any(same, 4) > 0)
        put_null(values, at);
    else if (kind == 'c' || kind == 'd')
        put_text(values, at, kind == 'c' ? "u" : "c");
    else if (kind == 'm')
        put_number(values, at, any(same, 2) * 32);
    else
        return false;
    return true;
}

/* Apps, users and sessions, and places among them. */
static inline bool put_owning(struct same *same, struct values *values, int at, char kind)
{
    if (kind == 'a')
        put_owner(same, values, at, APPS);
    else if (kind == 'u' || kind == 'w')
        put_owner(same, values, at, USERS);
    else if (kind == 's')
        put_owner(same, values, at, SESSIONS);
    else if (kind == 'G') {
        const int id = 3 * atoi(values->text[OF_FILE][at - 1]);
        put_int(values, at, id, moved(same, SESSIONS, id));
    } else if (kind == 'Y') { /* the session of the first parameter */
        const int id = atoi(values->text[OF_FILE][0]);
        put_int(values, at, id, moved(same, SESSIONS, id));
    } else if (kind == 'C') {
        const int id = atoi(values->text[OF_FILE][at - 1]);
        put_int(values, at, id, moved(same, USERS, id));
    } else if (kind == 'O' || kind == 'o')
        put_owners(same, values, at, kind == 'O' ? USERS : SESSIONS);
    else if (strchr("PNI", kind))
        put_place(same, values, at, kind);
    else
        return false;
    return true;
}

/* Texts; one that follows an empty value is above all others, and one that ends a prefix above all that have
 * it. */
static inline void put_words(struct same *same, struct values *values, int at, char kind)
{
    const char *before = at > 0 ? values->text[OF_FILE][at - 1] : "";
    char text[64];

    if (kind == 'E')
        snprintf(text, sizeof text, "e%d", any(same, 12));
    else if (kind == 'i')
        snprintf(text, sizeof text, "i");
    else if (kind == 'D')
        snprintf(text, sizeof text, "%.60s", values->text[OF_FILE][2]);
    else if (kind == 'f')
        snprintf(text, sizeof text, "search");
    else if (kind == 'y')
        snprintf(text, sizeof text, "9007199254740993");
    else if (kind == 'v')
        snprintf(text, sizeof text, "%s", any(same, 2) ? "a" : "");
    else if (kind == 'V')
        snprintf(text, sizeof text, "%.60s", before);
    else
        snprintf(text, sizeof text, "%s%s", kind == 'K' ? "app:" : "",
                 texts[any(same, kind == 'p' ? 4 : 10)]);
    if (kind == 'e' || (kind == 'V' && !before[0]))
        put_end(values, at, before);
    else
        put_text(values, at, text);
}

/* A word of same_index, as each engine is asked for it. */
static inline void put_query(struct same *same, struct values *values, int at)
{
    const int word = any(same, 4);

    snprintf(values->text[OF_FILE][at], MOST_TEXT, "(\"w%d\")", word);
    snprintf(values->text[OF_SERVER][at], MOST_TEXT, "('w%d')", word);
}

static inline void put_parameter(struct same *same, struct values *values, int at, char kind)
{
    if (kind == 'Q')
        put_query(same, values, at);
    else if (!put_plain(same, values, at, kind) && !put_owning(same, values, at, kind))
        put_words(same, values, at, kind);
}

static inline void put_parameters(struct same *same, struct values *values, const char *kinds)
{
    memset(values, 0, sizeof *values);
    for (int i = 0; kinds[i]; i++)
        put_parameter(same, values, i, kinds[i]);
}

/* ----------------------------------------------------------------------------------------- the statements */

/* SQLite's statement of that name; the lists of owners come as JSON. */
static inline sqlite3_stmt *prepare_in_file(const struct same *same, const char *name)
{
    static const char owners[] = "temp.seslite_owners(?1)";
    struct text sql = {NULL, 0};
    char head[64];

    snprintf(head, sizeof head, "-- name: %s\n", name);
    const char *from = strstr(same->statements, head);
    assert_non_null(from);
    from += strlen(head);
    const char *end = strstr(from, ";\n");
    const char *list = strstr(from, owners);
    if (list && list < end) {
        text_printf(&sql, "%.*s(SELECT value AS id, key AS rowid FROM json_each(?1))", (int)(list - from),
                    from);
        from = list + strlen(owners);
    }
    text_printf(&sql, "%.*s", (int)(end - from), from);
    sqlite3_stmt *statement = ask_file(same, sql.data);
    free(sql.data);
    return statement;
}

static inline void bind_in_file(sqlite3_stmt *statement, const struct values *values)
{
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++) {
        if (values->is_null[OF_FILE][i])
            sqlite3_bind_null(statement, i + 1);
        else if (values->is_int[i])
            sqlite3_bind_int64(statement, i + 1, strtoll(values->text[OF_FILE][i], NULL, 10));
        else
            sqlite3_bind_text(statement, i + 1, values->text[OF_FILE][i], -1, SQLITE_STATIC);
    }
}

static PGresult *run_on_server(const struct same *same, const struct postgres_statement *statement,
                               const struct values *values)
{
    const char *given[MOST_PARAMETERS];

    for (int i = 0; i < statement->parameters; i++)
        given[i] = values->is_null[OF_SERVER][i] ? NULL : values->text[OF_SERVER][i];
    return PQexecParams(same->database->conn, statement->text, statement->parameters, NULL, given, NULL, NULL,
                        0);
}

static const struct postgres_statement *statement_of(const char *name)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        if (ses__postgres_statements[i].text && strcmp(ses__postgres_statements[i].name, name) == 0)
            return &ses__postgres_statements[i];
    }
    fail_msg("there is no statement %s", name);
    return NULL;
}

#endif
