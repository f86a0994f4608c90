/* seslite_cjson.h, by the public calls alone: it is linked only into programs that use it. */
#include "seslite_cjson.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__APPLE__)
#include <xlocale.h>
#endif

static int tell(ses_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int tell(ses_error *error, int code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        *error = (ses_error){.code = code, .offset = -1, .index = -1};
        va_start(arguments, format);
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

/* -------------------------------------------------------------------------------------------- writing */

enum { MAX_DEPTH = 1000 };

/* Writes a tree twice: first to measure it (`out` NULL), then into the memory. */
struct tree_writer {
    char *out;
    size_t len;
    int code;
    const char *wrong;
};

static void put(struct tree_writer *writer, const char *text, size_t len)
{
    if (writer->out)
        memcpy(writer->out + writer->len, text, len);
    writer->len += len;
}

static void refuse(struct tree_writer *writer, int code, const char *wrong)
{
    if (writer->code == SES_OK) {
        writer->code = code;
        writer->wrong = wrong;
    }
}

static void put_string(struct tree_writer *writer, const char *text)
{
    put(writer, "\"", 1);
    for (const char *p = text; *p; p++) {
        unsigned char byte = (unsigned char)*p;
        char escape[8];
        if (byte < 0x20)
            put(writer, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
        else if (byte == '"' || byte == '\\')
            put(writer, (const char[]){'\\', (char)byte}, 2);
        else
            put(writer, p, 1);
    }
    put(writer, "\"", 1);
}

/* The fewest digits that read back as the same double. The locale is "C" here. */
static void put_number(struct tree_writer *writer, double number)
{
    const double exact_integers = 9007199254740992.0; /* 2^53 */
    char text[40];

    if (!isfinite(number)) {
        refuse(writer, SES_INVALID, "the tree holds an infinite number, or one that is none");
    } else {
        int len;
        if (number == 0 && signbit(number)) {
            len = snprintf(text, sizeof text, "-0.0");
        } else if (number > -exact_integers && number < exact_integers && number == (double)(int64_t)number) {
            len = snprintf(text, sizeof text, "%.0f", number);
        } else {
            int digits = 15;
            do {
                len = snprintf(text, sizeof text, "%.*g", digits, number);
            } while (strtod(text, NULL) != number && ++digits <= 17);
        }
        put(writer, text, (size_t)len);
    }
}

static void put_tree(struct tree_writer *writer, const cJSON *item, int depth);

static void put_children(struct tree_writer *writer, const cJSON *item, bool object, int depth)
{
    put(writer, object ? "{" : "[", 1);
    for (const cJSON *child = item->child; child; child = child->next) {
        if (child != item->child)
            put(writer, ",", 1);
        if (object && !child->string) {
            refuse(writer, SES_INVALID, "the tree holds an object member without a name");
        } else if (object) {
            put_string(writer, child->string);
            put(writer, ":", 1);
        }
        put_tree(writer, child, depth + 1);
    }
    put(writer, object ? "}" : "]", 1);
}

static void put_tree(struct tree_writer *writer, const cJSON *item, int depth)
{
    bool container = cJSON_IsObject(item) || cJSON_IsArray(item);

    if (container && depth > MAX_DEPTH) {
        refuse(writer, SES_LIMIT, "the tree is nested more than 1000 levels deep");
    } else if (container) {
        put_children(writer, item, cJSON_IsObject(item), depth);
    } else if (cJSON_IsNull(item)) {
        put(writer, "null", 4);
    } else if (cJSON_IsTrue(item)) {
        put(writer, "true", 4);
    } else if (cJSON_IsFalse(item)) {
        put(writer, "false", 5);
    } else if (cJSON_IsNumber(item)) {
        put_number(writer, item->valuedouble);
    } else if (cJSON_IsString(item) && item->valuestring) {
        put_string(writer, item->valuestring);
    } else if (cJSON_IsRaw(item) && item->valuestring) {
        put(writer, item->valuestring, strlen(item->valuestring));
    } else {
        refuse(writer, SES_INVALID, "the tree holds an item that is no JSON value");
    }
}

/* The tree as text, to be freed with cJSON_free. */
static int write_tree(const cJSON *tree, char **text, size_t *len, ses_error *error)
{
    struct tree_writer writer = {NULL, 0, SES_OK, NULL};
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    int code = SES_OK;

    *text = NULL;
    if (plain == (locale_t)0) {
        code = tell(error, SES_NOMEM, "out of memory");
    } else {
        locale_t before = uselocale(plain);
        put_tree(&writer, tree, 1);
        if (writer.code == SES_OK) {
            *len = writer.len;
            writer.out = *text = cJSON_malloc(writer.len + 1);
            writer.len = 0;
            if (*text)
                put_tree(&writer, tree, 1);
        }
        uselocale(before);
        freelocale(plain);
        if (writer.code != SES_OK)
            code = tell(error, writer.code, "%s", writer.wrong);
        else if (!*text)
            code = tell(error, SES_NOMEM, "out of memory");
    }
    return code;
}

int ses_create_cjson(ses_store *store, const ses_key *key, const cJSON *state, ses_session **session,
                     ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = state ? write_tree(state, &text, &len, error) : SES_OK;

    if (code == SES_OK)
        code = ses_create(store, key, text, len, session, error);
    else if (session)
        *session = NULL;
    cJSON_free(text);
    return code;
}

static int need_tree(const void *tree, const char *what, ses_error *error)
{
    return tree ? SES_OK : tell(error, SES_MISUSE, "the argument `%s` is NULL", what);
}

int ses_append_cjson(ses_session *session, const cJSON *event, const ses_append_options *options,
                     ses_appended *appended, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = need_tree(event, "event", error);

    if (code == SES_OK)
        code = write_tree(event, &text, &len, error);
    if (code == SES_OK)
        code = ses_append(session, text, len, options, appended, error);
    cJSON_free(text);
    return code;
}

int ses_append_by_key_cjson(ses_store *store, const ses_key *key, const cJSON *event,
                            const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = need_tree(event, "event", error);

    if (code == SES_OK)
        code = write_tree(event, &text, &len, error);
    if (code == SES_OK)
        code = ses_append_by_key(store, key, text, len, options, appended, error);
    cJSON_free(text);
    return code;
}

/* -------------------------------------------------------------------------------------------- reading */

static int parse_text(const char *text, size_t len, cJSON **tree, ses_error *error)
{
    *tree = cJSON_ParseWithLength(text, len);
    return *tree
               ? SES_OK
               : tell(error, SES_LIMIT,
                      "cJSON does not take the text (a number too long, nested too deep), or memory is out");
}

int ses_value_cjson(const ses_session *session, const char *name, cJSON **value, ses_error *error)
{
    const char *json = NULL;
    size_t len = 0;
    int code = need_tree(value, "value", error);

    if (code == SES_OK) {
        *value = NULL;
        code = ses_state_get(session, name, &json, &len, error);
    }
    return code == SES_OK ? parse_text(json, len, value, error) : code;
}

int ses_state_cjson(const ses_session *session, cJSON **state, ses_error *error)
{
    const char *json = NULL;
    size_t len = 0;
    int code = need_tree(state, "state", error);

    if (code == SES_OK) {
        *state = NULL;
        code = need_tree(session, "session", error);
    }
    if (code == SES_OK) {
        json = ses_state_json(session, &len);
        code = json ? parse_text(json, len, state, error) : tell(error, SES_NOMEM, "out of memory");
    }
    if (code == SES_OK)
        tell(error, SES_OK, "%s", "");
    return code;
}

int ses_event_cjson(const ses_event *event, cJSON **tree, ses_error *error)
{
    int code = need_tree(tree, "tree", error);

    if (code == SES_OK) {
        *tree = NULL;
        code = need_tree(event, "event", error);
    }
    if (code == SES_OK)
        code = parse_text(event->json, event->json_len, tree, error);
    if (code == SES_OK)
        tell(error, SES_OK, "%s", "");
    return code;
}
