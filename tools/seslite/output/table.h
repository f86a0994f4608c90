/*
 * An aligned table, as wide as the terminal. The first rows are buffered until there are enough to know how
 * wide the columns have to be; later rows are printed as they come, so that a long table takes little memory.
 * A text that does not fit into the terminal is cut, with an ellipsis; ids, numbers and times are never cut,
 * since they would be useless. If stdout is not a terminal, nothing is cut. A column in which all buffered
 * cells are empty is left out.
 */
#ifndef OUTPUT_TABLE_H
#define OUTPUT_TABLE_H

#include "output/out.h"

enum { COLUMNS_MAX = 16 };

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
    size_t min_width; /* in terminal columns */
};

struct table {
    const struct column *columns;
    size_t column_count;
    struct text titles[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    bool hidden[COLUMNS_MAX];
    size_t blanks;      /* to print before the next text, since no line ends in blanks */
    bool begun;         /* the titles are printed and the widths are set */
    struct text *cells; /* of the buffered rows */
    size_t cell_count;
    size_t capacity;
};

void table_begin(struct table *table, const struct column *columns, size_t count);
/* Adds the next cell of the row, and cleans it. */
void table_cell(struct table *table, const char *text, size_t len);
void table_puts(struct table *table, const char *text);
void table_number(struct table *table, int64_t number);
/* Prints the buffered rows. */
void table_flush(struct table *table);
/* Prints the buffered rows and frees the table. A table without rows prints nothing. */
void table_end(struct table *table);

#endif
