#include "cjson/text.h"

#include <math.h>
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/decimal.h"
#include "json/reader.h"
#include "json/writer.h"

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
    writer->len += ses__json_write_string(writer->out ? writer->out + writer->len : NULL, text, strlen(text));
}

static void put_number(struct tree_writer *writer, double number)
{
    char text[DOUBLE_ROOM];

    if (isfinite(number))
        put(writer, text, ses__double_write(number, text));
    else
        refuse(writer, SES_INVALID, "the tree holds a number that is infinite or NaN");
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
        refuse(writer, SES_INVALID, "the tree holds an item that is not a JSON value");
    }
}

int ses__cjson_write(const cJSON *tree, char **text, size_t *len, ses_error *error)
{
    struct tree_writer writer = {NULL, 0, SES_OK, NULL};
    int code = SES_OK;

    *text = NULL;
    put_tree(&writer, tree, 1);
    if (writer.code == SES_OK) {
        *len = writer.len;
        writer.out = *text = cJSON_malloc(writer.len + 1);
        writer.len = 0;
        if (*text)
            put_tree(&writer, tree, 1);
        else
            code = ses__error_nomem(error);
    } else {
        code = ses__error_set(error, writer.code, "%s", writer.wrong);
    }
    return code;
}

int ses__cjson_take(const cJSON *tree, const char *what, char **text, size_t *len, ses_error *error)
{
    int code = ses__check_argument(tree, what, error);

    *text = NULL;
    return code == SES_OK ? ses__cjson_write(tree, text, len, error) : code;
}

/* -------------------------------------------------------------------------------------------- reading */

int ses__cjson_parse(const char *text, size_t len, cJSON **tree, ses_error *error)
{
    const char *end = text;

    *tree = cJSON_ParseWithLengthOpts(text, len, &end, false);
    /* Older versions of cJSON end a number after 63 characters, and leave the rest of it. */
    while (end < text + len && ses__json_is_space(*end))
        end++;
    if (end < text + len) {
        cJSON_Delete(*tree);
        *tree = NULL;
    }
    return *tree
               ? SES_OK
               : ses__error_set(
                     error, SES_LIMIT,
                     "cJSON rejected the text (a long number, a lone surrogate, deep nesting) or is out of memory");
}
