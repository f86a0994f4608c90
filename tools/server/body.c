/* The members of a JSON body, and the replies of google-adk's FastAPI to one that is wrong. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ replies */

enum { MAX_SHOWN = 4096 /* bytes of what was wrong */ };

/* One of the problems of a request. */
static void put_problem(FILE *out, const char *type, const char *place, const char *message, ses_text input)
{
    fprintf(out, "{\"type\":\"%s\",\"loc\":[%s],\"msg\":\"%s\",\"input\":", type, place, message);
    if (input.text && input.len <= MAX_SHOWN)
        fwrite(input.text, 1, input.len, out);
    else
        fputs("null", out);
    fputc('}', out);
}

static enum MHD_Result reply_problems(struct request *request, FILE *out, char **text, size_t *len)
{
    fputs("]}", out);
    if (fclose(out) != 0) {
        free(*text);
        return MHD_NO;
    }
    return reply_text(request, MHD_HTTP_UNPROCESSABLE_CONTENT, *text, *len, "application/json");
}

enum MHD_Result reply_invalid(struct request *request, const char *type, const char *place,
                              const char *message, ses_text input)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return MHD_NO;
    fputs("{\"detail\":[", out);
    put_problem(out, type, place, message, input);
    return reply_problems(request, out, &text, &len);
}

/* ------------------------------------------------------------------------------------------------- fields */

struct problem {
    const char *type;
    const char *message;
};

static const struct problem missing = {"missing", "Field required"};
static const struct problem no_model = {
    "model_attributes_type", "Input should be a valid dictionary or object to extract fields from"};
static const struct problem no_dict = {"dict_type", "Input should be a valid dictionary"};

/* The words that pydantic takes for a flag; the first half is true. */
static const char *const flags[] = {"true",  "1", "\"true\"",  "\"1\"", "\"yes\"", "\"on\"",
                                    "false", "0", "\"false\"", "\"0\"", "\"no\"",  "\"off\""};
enum { FLAGS = sizeof flags / sizeof flags[0] };

static size_t find_flag(ses_text value)
{
    size_t i = 0;

    while (i < FLAGS && !json_key_is(value, flags[i]))
        i++;
    return i;
}

bool body_flag(const struct field *field)
{
    return field->value.text && find_flag(field->value) < FLAGS / 2;
}

/* Returns NULL if the value fits. */
static const struct problem *look_at(enum field_kind kind, ses_text value)
{
    static const struct problem no_string = {"string_type", "Input should be a valid string"};
    static const struct problem no_list = {"list_type", "Input should be a valid list"};
    static const struct problem no_flag = {"bool_type", "Input should be a valid boolean"};
    static const struct problem odd_flag = {"bool_parsing",
                                            "Input should be a valid boolean, unable to interpret input"};
    const char first = value.text[0];

    switch (kind) {
    case FIELD_STRING:
        return first == '"' ? NULL : &no_string;
    case FIELD_DICT:
        return first == '{' ? NULL : &no_dict;
    case FIELD_MODEL:
        return first == '{' ? NULL : &no_model;
    case FIELD_LIST:
        return first == '[' ? NULL : &no_list;
    default:
        if (find_flag(value) < FLAGS)
            return NULL;
        return first == '"' || first == '-' || (first >= '0' && first <= '9') ? &odd_flag : &no_flag;
    }
}

/* Finds the field. Returns the problem that it has, or NULL, and the name by which it was given. */
static const struct problem *read_field(struct field *field, ses_text body, const char **name)
{
    ses_text value = json_member(body, field->name);

    *name = field->name;
    if (!value.text && field->snake) {
        value = json_member(body, field->snake);
        *name = value.text ? field->snake : field->name;
    }
    field->value = value;
    if (!value.text)
        return field->is_required ? &missing : NULL;
    if (json_is_null(value) && !field->is_required && field->kind != FIELD_FLAG) {
        field->value = (ses_text){NULL, 0};
        return NULL;
    }
    return look_at(field->kind, value);
}

/* Returns the number of problems, and writes them. */
static size_t read_fields(FILE *out, struct field *fields, size_t count, ses_text body)
{
    size_t problems = 0;

    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        char place[80];
        const struct problem *problem = read_field(&fields[i], body, &name);
        if (problem) {
            (void)snprintf(place, sizeof place, "\"body\",\"%s\"", name);
            fputs(problems++ > 0 ? "," : "", out);
            put_problem(out, problem->type, place, problem->message,
                        problem == &missing ? body : fields[i].value);
        }
    }
    return problems;
}

/* --------------------------------------------------------------------------------------------------- body */

/* FastAPI takes a body of another type for a text. (A page of another site can send such a body without
 * asking.) */
static bool is_json(const struct request *request)
{
    const char *type = request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE);
    const size_t len = type ? strcspn(type, "; ") : 0;
    static const char json[] = "application/json";

    return len == sizeof json - 1 && strncasecmp(type, json, len) == 0;
}

static enum MHD_Result reply_not_json(struct request *request, const ses_error *error)
{
    char place[40];

    (void)snprintf(place, sizeof place, "\"body\",%lld", error->offset > 0 ? (long long)error->offset : 0);
    return reply_invalid(request, "json_invalid", place, "JSON decode error", (ses_text){"{}", 2});
}

/* The body as one value of a kind. Returns false after a reply. */
static bool read_value(struct request *request, const struct problem *wrong, ses_text *body,
                       enum MHD_Result *result)
{
    static const char place[] = "\"body\"";
    ses_error error;

    *body = (ses_text){NULL, 0};
    if (request->body_len == 0)
        return true;
    if (!is_json(request)) {
        *result = reply_invalid(request, wrong->type, place, wrong->message, *body);
        return false;
    }
    if (json_check(request->server->store, request->body, request->body_len, &error) < 0) {
        *result = error.code == SES_NOMEM ? MHD_NO : reply_not_json(request, &error);
        return false;
    }
    const size_t space = strspn(request->body, " \t\r\n");
    *body = (ses_text){request->body + space, request->body_len - space};
    while (strchr(" \t\r\n", body->text[body->len - 1]))
        body->len--;
    if (json_is_null(*body)) {
        *body = (ses_text){NULL, 0};
    } else if (body->text[0] != '{') {
        *result = reply_invalid(request, wrong->type, place, wrong->message, *body);
        return false;
    }
    return true;
}

bool body_read_dict(struct request *request, ses_text *dict, enum MHD_Result *result)
{
    return read_value(request, &no_dict, dict, result);
}

bool body_read(struct request *request, struct field *fields, size_t count, bool may_be_empty,
               enum MHD_Result *result)
{
    char *text = NULL;
    size_t len = 0;
    ses_text body;

    if (!read_value(request, &no_model, &body, result))
        return false;
    if (!body.text && !may_be_empty) {
        *result = reply_invalid(request, missing.type, "\"body\"", missing.message, body);
        return false;
    }
    if (!body.text)
        return true;
    FILE *out = open_memstream(&text, &len);
    if (!out) {
        *result = MHD_NO;
        return false;
    }
    fputs("{\"detail\":[", out);
    if (read_fields(out, fields, count, body) > 0) {
        *result = reply_problems(request, out, &text, &len);
        return false;
    }
    (void)fclose(out);
    free(text);
    return true;
}
