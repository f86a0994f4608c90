/*
 * An aligned table, as wide as the terminal. The first rows are kept until there are enough to tell how wide the columns have
 * to be; then rows are printed as they come, so that a long table takes no memory. A text that does not fit into the terminal
 * is cut, with an ellipsis; ids, numbers and times never are, since they would be of no use. Where stdout is not a terminal
 * nothing is cut. A column without any cell that says something is left out, unless there are too many rows to know.
 */
#ifndef TABLE_H
#define TABLE_H

#include "out.h"

enum { COLUMNS_MAX = 8 };

/* How a column is printed. */
enum {
    COLUMN_RIGHT = 1, /* aligned to the right */
    COLUMN_CUT = 2,   /* its cells may be cut */
    COLUMN_TIME = 4   /* of times: the title names the zone */
};

struct column {
    const char *title;
    enum colour colour;
    unsigned flags;
    size_t least; /* columns that it has at least */
};

struct table {
    const struct column *columns;
    size_t column_count;
    struct text titles[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    bool hidden[COLUMNS_MAX];
    size_t blanks;      /* to be printed before the next text: a line does not end in any */
    bool begun;         /* the titles are printed, and the widths are set */
    struct text *cells; /* of rows that are kept */
    size_t cell_count;
    size_t capacity;
};

void table_begin(struct table *table, const struct column *columns, size_t count);
/* Adds the next cell of the row. It is cleaned. */
void table_cell(struct table *table, const char *text, size_t len);
void table_puts(struct table *table, const char *text);
void table_number(struct table *table, int64_t number);
/* Prints the rows that are kept. */
void table_flush(struct table *table);
/* Prints what is left, and frees the table. Of a table without rows nothing is printed. */
void table_end(struct table *table);

#endif
