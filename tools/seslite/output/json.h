/* JSON output: objects built from the library's own JSON and from quoted texts, printed as an array or line
 * by line. */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include "output/out.h"

/* An object or array under construction. */
struct json {
    struct run *run;
    struct text text;
    bool first; /* the next member has no comma before it */
    int code;   /* of the first call that failed; run->error has the message */
};

void json_begin(struct json *json, struct run *run, char bracket);
/* `name` consists of plain letters, and is not escaped. NULL adds an element of an array. */
void json_text(struct json *json, const char *name, const char *text);
void json_number(struct json *json, const char *name, int64_t number);
/* A time as the ADK writes it: seconds, to the microsecond. */
void json_time(struct json *json, const char *name, int64_t time_us);
void json_bool(struct json *json, const char *name, bool value);
/* Adds a member whose name can be any text. */
void json_member(struct json *json, const char *name, const char *text);
/* Adds a member whose name can be any text, and whose value is already JSON. */
void json_member_raw(struct json *json, const char *name, const char *raw, size_t len);
/* Adds a value that is already JSON. */
void json_raw(struct json *json, const char *name, const char *raw, size_t len);
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);

/* A series of values: an array with --json, lines with --jsonl. */
struct json_rows {
    const struct run *run;
    int64_t count;
};

void json_rows_begin(struct json_rows *rows, const struct run *run);
/* Prints a value. Line breaks within it become blanks. */
void json_rows_put(struct json_rows *rows, const char *value, size_t len);
/* Closes the object, prints it and frees it. Returns EXIT_OK, or the exit code of the first failure while it
 * was built. */
int json_rows_add(struct json_rows *rows, struct json *json);
void json_rows_end(struct json_rows *rows);

/* Prints a single value on a line of its own, with --json and with --jsonl. */
void json_print(const char *value, size_t len);
int json_print_object(struct json *json);

#endif
