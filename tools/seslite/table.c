#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_ROWS = 500, GAP = 2, NARROWEST = 6 };

void table_begin(struct table *table, const struct column *columns, size_t count)
{
    *table = (struct table){.columns = columns, .column_count = count, .capacity = KEPT_ROWS * count};
    table->cells = allocate(table->capacity * sizeof *table->cells);
    for (size_t i = 0; i < count; i++) {
        size_t title = strlen(columns[i].title);
        table->widths[i] = title > columns[i].least ? title : columns[i].least;
    }
}

/* -------------------------------------------------------------------------------------------------- widths */

static size_t total_width(const struct table *table)
{
    size_t total = GAP * (table->column_count - 1);

    for (size_t i = 0; i < table->column_count; i++)
        total += table->widths[i];
    return total;
}

/* Takes from the widest column until all fit, or none can give any more. */
static void shrink(struct table *table, size_t width)
{
    while (total_width(table) > width) {
        size_t widest = 0;
        for (size_t i = 1; i < table->column_count; i++)
            if (table->widths[i] >= table->widths[widest])
                widest = i;
        if (table->widths[widest] <= NARROWEST)
            return;
        table->widths[widest]--;
    }
}

static void set_widths(struct table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t *width = &table->widths[i % table->column_count];
        size_t columns = text_columns(table->cells[i].data, table->cells[i].len);
        if (columns > *width)
            *width = columns;
    }
    shrink(table, out_width());
}

/* ------------------------------------------------------------------------------------------------- printing */

static void put(struct table *table, enum colour colour, const char *text, size_t len)
{
    if (len > 0) {
        out_print("%*s", (int)table->blanks, "");
        table->blanks = 0;
        out_coloured(colour, text, len);
    }
}

/* Prints a cell that may be too long for its column. */
static void put_cell(struct table *table, size_t index, const char *text, size_t len, enum colour colour)
{
    const struct column *column = &table->columns[index];
    size_t width = table->widths[index];
    size_t columns = text_columns(text, len);
    bool cut = columns > width && out_is_terminal();
    size_t fits = cut ? text_fitting(text, len, width - 1) : len;

    if (cut)
        columns = text_columns(text, fits) + 1;
    size_t blanks = columns < width ? width - columns : 0;
    table->blanks += column->right ? blanks : 0;
    put(table, colour, text, fits);
    if (cut)
        put(table, colour, "\xe2\x80\xa6", 3);
    table->blanks += (column->right ? 0 : blanks) + GAP;
    if (index + 1 == table->column_count) {
        out_text("\n", 1);
        table->blanks = 0;
    }
}

static void put_titles(struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        put_cell(table, i, table->columns[i].title, strlen(table->columns[i].title), COLOUR_BOLD);
}

void table_flush(struct table *table)
{
    if (table->cell_count == 0)
        return;
    if (!table->begun) {
        set_widths(table);
        put_titles(table);
        table->begun = true;
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        struct text *cell = &table->cells[i];
        size_t index = i % table->column_count;
        put_cell(table, index, cell->data, cell->len, table->columns[index].colour);
        text_free(cell);
    }
    table->cell_count = 0;
}

/* ---------------------------------------------------------------------------------------------------- cells */

void table_cell(struct table *table, const char *text, size_t len)
{
    if (table->cell_count == table->capacity)
        table_flush(table);
    text_add_clean(&table->cells[table->cell_count++], text, len, LINES_ONE);
}

void table_puts(struct table *table, const char *text)
{
    table_cell(table, text, strlen(text));
}

void table_number(struct table *table, int64_t number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRId64, number);
    table_cell(table, text, (size_t)len);
}

void table_end(struct table *table)
{
    table_flush(table);
    free(table->cells);
    *table = (struct table){.column_count = 0};
}
