#include "output/json.h"

#include <inttypes.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- building */

void json_begin(struct json *json, struct run *run, char bracket)
{
    *json = (struct json){.run = run, .first = true};
    text_add(&json->text, &bracket, 1);
}

static void quote(struct json *json, const char *text)
{
    char *quoted = NULL;
    size_t len = 0;

    if (json->code < 0)
        return;
    json->code = ses_text_quote(json->run->store, text, SES_NUL, &quoted, &len, &json->run->error);
    if (json->code >= 0)
        text_add(&json->text, quoted, len);
    ses_free(quoted);
}

/* Adds the comma and the name before a value. */
static void begin_member(struct json *json, const char *name)
{
    if (!json->first)
        text_puts(&json->text, ",");
    json->first = false;
    if (name)
        text_print(&json->text, "\"%s\":", name);
}

void json_text(struct json *json, const char *name, const char *text)
{
    begin_member(json, name);
    if (text)
        quote(json, text);
    else
        text_puts(&json->text, "null");
}

void json_number(struct json *json, const char *name, int64_t number)
{
    begin_member(json, name);
    text_print(&json->text, "%" PRId64, number);
}

void json_time(struct json *json, const char *name, int64_t time_us)
{
    int64_t seconds = time_us / 1000000;
    int64_t rest = time_us % 1000000;

    begin_member(json, name);
    text_print(&json->text, "%s%" PRId64 ".%06" PRId64, time_us < 0 ? "-" : "",
               seconds < 0 ? -seconds : seconds, rest < 0 ? -rest : rest);
}

void json_bool(struct json *json, const char *name, bool value)
{
    begin_member(json, name);
    text_puts(&json->text, value ? "true" : "false");
}

void json_member(struct json *json, const char *name, const char *text)
{
    begin_member(json, NULL);
    quote(json, name);
    text_puts(&json->text, ":");
    quote(json, text);
}

void json_member_raw(struct json *json, const char *name, const char *raw, size_t len)
{
    begin_member(json, NULL);
    quote(json, name);
    text_puts(&json->text, ":");
    text_add(&json->text, raw, len);
}

void json_raw(struct json *json, const char *name, const char *raw, size_t len)
{
    begin_member(json, name);
    text_add(&json->text, raw, len);
}

void json_open(struct json *json, const char *name, char bracket)
{
    begin_member(json, name);
    text_add(&json->text, &bracket, 1);
    json->first = true;
}

void json_close(struct json *json, char bracket)
{
    text_add(&json->text, &bracket, 1);
    json->first = false;
}

/* ----------------------------------------------------------------------------------------------- printing */

/* Line breaks can only occur in the white space between tokens: within strings they are escaped. */
static void add_line(struct text *line, const char *value, size_t len)
{
    if (out_is_terminal())
        text_add_clean_json(line, value, len);
    else
        text_add(line, value, len);
    for (size_t i = 0; i < line->len; i++)
        if (line->data[i] == '\n' || line->data[i] == '\r')
            line->data[i] = ' ';
}

static void put_line(const char *value, size_t len)
{
    struct text line = {NULL, 0, 0};

    add_line(&line, value, len);
    out_text(line.data, line.len);
    text_free(&line);
}

void json_rows_begin(struct json_rows *rows, const struct run *run)
{
    *rows = (struct json_rows){run, 0};
    if (!given(run, OPTION_JSONL))
        out_puts("[");
}

void json_rows_put(struct json_rows *rows, const char *value, size_t len)
{
    bool lines = given(rows->run, OPTION_JSONL);

    if (!lines)
        out_puts(rows->count > 0 ? ",\n" : "\n");
    put_line(value, len);
    if (lines)
        out_puts("\n");
    rows->count++;
}

int json_rows_add(struct json_rows *rows, struct json *json)
{
    int code = json->code;

    text_puts(&json->text, "}");
    if (code >= 0)
        json_rows_put(rows, json->text.data, json->text.len);
    text_free(&json->text);
    return code < 0 ? fail(json->run) : EXIT_OK;
}

void json_rows_end(struct json_rows *rows)
{
    if (!given(rows->run, OPTION_JSONL))
        out_puts(rows->count > 0 ? "\n]\n" : "]\n");
}

void json_print(const char *value, size_t len)
{
    put_line(value, len);
    out_puts("\n");
}

int json_print_object(struct json *json)
{
    int code = json->code;

    text_puts(&json->text, "}");
    if (code >= 0)
        json_print(json->text.data, json->text.len);
    text_free(&json->text);
    return code < 0 ? fail(json->run) : EXIT_OK;
}
