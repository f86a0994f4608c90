#include "output/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/times.h"

enum { KEPT_ROWS = 500, GAP = 2, NARROWEST = 6 };

void table_begin(struct table *table, const struct column *columns, size_t count)
{
    *table = (struct table){.columns = columns, .column_count = count, .capacity = KEPT_ROWS * count};
    table->cells = allocate(table->capacity * sizeof *table->cells);
    for (size_t i = 0; i < count; i++) {
        struct text *title = &table->titles[i];
        text_puts(title, columns[i].title);
        if (columns[i].flags & COLUMN_TIME)
            zone_add(title);
        table->widths[i] = title->len > columns[i].min_width ? title->len : columns[i].min_width;
    }
}

/* ------------------------------------------------------------------------------------------------- widths */

static size_t total_width(const struct table *table)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++)
        if (!table->hidden[i])
            total += table->widths[i] + (total > 0 ? GAP : 0);
    return total;
}

/* The widest column that can still be narrowed, or the number of columns if there is none. */
static size_t widest_to_cut(const struct table *table)
{
    size_t widest = table->column_count;
    size_t width = NARROWEST;

    for (size_t i = 0; i < table->column_count; i++) {
        if ((table->columns[i].flags & COLUMN_CUT) && !table->hidden[i] && table->widths[i] > width) {
            widest = i;
            width = table->widths[i];
        }
    }
    return widest;
}

static void shrink(struct table *table, size_t width)
{
    while (total_width(table) > width) {
        size_t widest = widest_to_cut(table);
        if (widest == table->column_count)
            return;
        table->widths[widest]--;
    }
}

/* The rows to come may be longer than those that are known, so the last column gets all the room that the
 * terminal has. */
static void widen_last(struct table *table, size_t width)
{
    const size_t last = table->column_count - 1;
    const size_t total = total_width(table);

    if ((table->columns[last].flags & COLUMN_CUT) && out_is_terminal() && total < width)
        table->widths[last] += width - total;
}

static void set_widths(struct table *table, bool all_rows)
{
    for (size_t i = 0; i < table->column_count; i++)
        table->hidden[i] = all_rows;
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        size_t columns = text_columns(table->cells[i].data, table->cells[i].len);
        if (columns > 0)
            table->hidden[column] = false;
        if (columns > table->widths[column])
            table->widths[column] = columns;
    }
    shrink(table, out_width());
    if (!all_rows)
        widen_last(table, out_width());
}

/* ----------------------------------------------------------------------------------------------- printing */

static void put(struct table *table, enum colour colour, const char *text, size_t len)
{
    if (len > 0) {
        out_print("%*s", (int)table->blanks, "");
        table->blanks = 0;
        out_coloured(colour, text, len);
    }
}

/* Prints a cell that may be too long for its column. */
static void put_cell(struct table *table, size_t index, const struct text *cell, enum colour colour)
{
    const unsigned flags = table->columns[index].flags;
    size_t width = table->widths[index];
    size_t columns = text_columns(cell->data, cell->len);
    bool cut = (flags & COLUMN_CUT) && columns > width && out_is_terminal();
    size_t fits = cut ? text_fitting(cell->data, cell->len, width - 1) : cell->len;

    if (cut)
        columns = text_columns(cell->data, fits) + 1;
    size_t blanks = columns < width ? width - columns : 0;
    table->blanks += (flags & COLUMN_RIGHT) ? blanks : 0;
    put(table, colour, cell->data, fits);
    if (cut)
        put(table, colour, "\xe2\x80\xa6", 3);
    table->blanks += ((flags & COLUMN_RIGHT) ? 0 : blanks) + GAP;
}

static void put_row(struct table *table, const struct text *cells, bool titles)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (!table->hidden[i])
            put_cell(table, i, &cells[i], titles ? COLOUR_BOLD : table->columns[i].colour);
    out_text("\n", 1);
    table->blanks = 0;
}

static void flush_rows(struct table *table, bool all_rows)
{
    if (table->cell_count == 0)
        return;
    if (!table->begun) {
        set_widths(table, all_rows);
        put_row(table, table->titles, true);
        table->begun = true;
    }
    for (size_t i = 0; i < table->cell_count; i += table->column_count)
        put_row(table, &table->cells[i], false);
    for (size_t i = 0; i < table->cell_count; i++)
        text_free(&table->cells[i]);
    table->cell_count = 0;
}

void table_flush(struct table *table)
{
    flush_rows(table, false);
}

/* -------------------------------------------------------------------------------------------------- cells */

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
    flush_rows(table, true);
    for (size_t i = 0; i < table->column_count; i++)
        text_free(&table->titles[i]);
    free(table->cells);
    *table = (struct table){.column_count = 0};
}
