/* Statements as text. Their values are numbers, and strings of bytes in quotes: in the character set "binary", and without the
 * mode NO_BACKSLASH_ESCAPES, which every connection sets, only quotes and backslashes mean anything in them. */
#include <stdio.h>
#include <string.h>

#include "storage/mysql/connection/connection.h"

int64_t ses__my_number(const char *text)
{
    const bool negative = *text == '-';
    uint64_t number = 0;

    for (text += negative; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return (int64_t)(negative ? UINT64_C(0) - number : number);
}

static void add_number(struct buffer *text, int64_t number)
{
    char digits[24];

    ses__buffer_add(text, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number));
}

/* A quote is doubled rather than escaped: so even in another mode none would end the string. */
static void add_string(struct buffer *text, struct span string)
{
    size_t len = string.len + 2;

    for (size_t i = 0; i < string.len; i++)
        len += string.ptr[i] == '\'' || string.ptr[i] == '\\';
    if (!ses__buffer_reserve(text, len))
        return;
    char *to = text->data + text->len;
    *to++ = '\'';
    for (size_t i = 0; i < string.len; i++) {
        const char character = string.ptr[i];
        if (character == '\'' || character == '\\')
            *to++ = character;
        *to++ = character;
    }
    *to++ = '\'';
    text->len = (size_t)(to - text->data);
}

/* As JSON. */
static void add_list(struct buffer *text, const struct owner_list *list)
{
    ses__buffer_add(text, "'[", 2);
    for (size_t i = 0; i < list->count; i++) {
        ses__buffer_add(text, ",", i > 0);
        add_number(text, list->ids[i]);
    }
    ses__buffer_add(text, "]'", 2);
}

static bool is_null(const struct value *value)
{
    return !value || (value->type != SQL_INT && !value->owners && !value->text.ptr);
}

static void add_value(struct buffer *text, const struct value *value)
{
    if (value->type == SQL_INT)
        add_number(text, value->number);
    else if (value->owners)
        add_list(text, value->owners);
    else
        add_string(text, value->text);
}

static size_t word_len(const char *word)
{
    return strspn(word, "abcdefghijklmnopqrstuvwxyz_");
}

/* A parameter, such as $1; or $1@name, which is the variable @name if the value is NULL. Returns what follows. */
static const char *add_parameter(struct buffer *text, const char *sql, const struct value *values, int count)
{
    int number = 0;

    for (sql++; *sql >= '0' && *sql <= '9'; sql++)
        number = number * 10 + (*sql - '0');
    const struct value *value = number <= count ? &values[number - 1] : NULL;
    const bool has_variable = *sql == '@';
    const size_t variable = has_variable ? 1 + word_len(sql + 1) : 0;
    if (!is_null(value))
        add_value(text, value);
    else if (has_variable)
        ses__buffer_add(text, sql, variable);
    else
        ses__buffer_add_word(text, "NULL");
    return sql + variable;
}

static bool is_parameter(const char *sql)
{
    return sql[0] == '$' && sql[1] >= '0' && sql[1] <= '9';
}

void ses__my_format(struct buffer *text, const char *sql, int parameters, const struct value *values)
{
    int count = 0;

    while (values && count < parameters && values[count].type != 0)
        count++;
    while (*sql) {
        const size_t plain = strcspn(sql, "$");
        ses__buffer_add(text, sql, plain);
        sql += plain;
        if (is_parameter(sql)) {
            sql = add_parameter(text, sql, values, count);
        } else if (*sql) {
            ses__buffer_add(text, sql++, 1);
        }
    }
}
