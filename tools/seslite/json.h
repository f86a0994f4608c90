/* JSON out: objects built of the library's own JSON and texts that it quotes, printed as an array or line by line. */
#ifndef JSON_H
#define JSON_H

#include "out.h"

/* An object, or an array, that is being built. */
struct json {
    struct run *run;
    struct text text;
    bool first; /* the next member has no comma before it */
    int code;   /* of the first call that failed; run->error tells more */
};

void json_begin(struct json *json, struct run *run, char bracket);
/* `name` is one of ours, of plain letters; NULL for an element. */
void json_text(struct json *json, const char *name, const char *text);
void json_number(struct json *json, const char *name, int64_t number);
/* A time as the ADK writes it: seconds, to the microsecond. */
void json_time(struct json *json, const char *name, int64_t time_us);
void json_bool(struct json *json, const char *name, bool value);
/* A member whose name is any text. */
void json_member(struct json *json, const char *name, const char *text);
/* What is JSON already. */
void json_raw(struct json *json, const char *name, const char *raw, size_t len);
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);

/* Values, one after the other: an array with --json, lines with --jsonl. */
struct json_rows {
    const struct run *run;
    int64_t count;
};

void json_rows_begin(struct json_rows *rows, const struct run *run);
/* Prints a value. What ends a line within it becomes a blank. */
void json_rows_put(struct json_rows *rows, const char *value, size_t len);
/* Closes the object, prints it and frees it. Gives EXIT_OK, or the code of what failed while it was built. */
int json_rows_add(struct json_rows *rows, struct json *json);
void json_rows_end(struct json_rows *rows);

/* One value, as its own line: in both forms. */
void json_print(const char *value, size_t len);
int json_print_object(struct json *json);

#endif
