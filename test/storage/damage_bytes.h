/* Ways to damage the bytes of a store's files: anywhere, by the page, and where SQLite's file format hurts
 * most (https://www.sqlite.org/fileformat.html). */
#ifndef SESLITE_TEST_DAMAGE_BYTES_H
#define SESLITE_TEST_DAMAGE_BYTES_H

#include "storage/damage.h"

enum { PAGE = 4096, FILE_HEADER = 100, LOG_HEADER = 32, FRAME_HEADER = 24, FRAME = FRAME_HEADER + PAGE };

/* ------------------------------------------------------------------------------------------ anywhere */

static inline void damage_some_bytes(struct bytes *bytes, struct chance *chance)
{
    static const size_t longest[] = {1, 4, 32, 600};
    size_t runs = 1 + chance_below(chance, 8);

    for (size_t run = 0; run < runs && bytes->len > 0; run++) {
        size_t at = chance_below(chance, bytes->len);
        if (chance_below(chance, 2)) /* the head of a page says what the rest is */
            at = at / PAGE * PAGE + at % 40;
        size_t len = 1 + chance_below(chance, longest[chance_below(chance, 4)]);
        size_t kind = chance_below(chance, 4);
        for (size_t i = at; i < at + len && i < bytes->len; i++) {
            unsigned char *byte = &bytes->data[i];
            if (kind == 0)
                *byte = (unsigned char)(*byte ^ 1U << chance_below(chance, 8));
            else
                *byte = kind == 1 ? (unsigned char)chance_next(chance) : kind == 2 ? 0 : 0xFF;
        }
    }
}

static inline void damage_length(struct bytes *bytes, struct chance *chance)
{
    size_t len = bytes->len;
    size_t kind = chance_below(chance, 4);

    if (kind == 0)
        bytes_resize(bytes, chance_below(chance, len + 1));
    else if (kind == 1)
        bytes_resize(bytes, chance_below(chance, len / PAGE + 1) * PAGE);
    else
        bytes_resize(bytes, len + 1 + chance_below(chance, 20 * PAGE));
    for (size_t i = len; i < bytes->len && kind == 3; i++)
        bytes->data[i] = (unsigned char)chance_next(chance);
}

/* ------------------------------------------------------------------------------------------ by pages */

static inline unsigned char *page_at(const struct bytes *bytes, size_t index)
{
    return bytes->data + index * PAGE;
}

static inline void damage_pages(struct bytes *bytes, struct chance *chance)
{
    size_t count = bytes->len / PAGE;
    size_t kind = chance_below(chance, 5);
    unsigned char *one = page_at(bytes, chance_below(chance, count));
    unsigned char *other = page_at(bytes, chance_below(chance, count));
    unsigned char kept[PAGE];

    memcpy(kept, one, PAGE);
    if (kind == 0)
        memset(one, 0, PAGE);
    else if (kind <= 2)
        memmove(one, other, PAGE);
    if (kind == 1)
        memcpy(other, kept, PAGE);
    for (size_t i = 0; i < PAGE && kind == 3; i++)
        one[i] = (unsigned char)chance_next(chance);
    if (kind == 4) /* half of it did not reach the disk */
        memcpy(one + PAGE / 2, other + PAGE / 2, PAGE / 2);
}

/* A number that has a meaning where page numbers, counts and offsets are due. */
static inline uint32_t telling_number(struct chance *chance, size_t pages)
{
    const uint32_t numbers[] = {
        0,    1,      2,       (uint32_t)pages, (uint32_t)pages + 1, 8,          PAGE,      PAGE - 1, 0x7F,
        0x80, 0xFFFF, 0x10000, 0x7FFF,          0x7FFFFFFF,          0x80000000, 0xFFFFFFFF};
    size_t count = sizeof numbers / sizeof numbers[0];
    size_t which = chance_below(chance, 2 * count);
    return which < count ? numbers[which] : (uint32_t)chance_below(chance, pages + 2);
}

static inline void damage_header(struct bytes *bytes, struct chance *chance)
{
    static const unsigned char fields[][2] = {
        {0, 4},  {16, 2}, {18, 1}, {19, 1}, {20, 1}, {21, 1}, {22, 1}, {23, 1}, {24, 4}, {28, 4}, {32, 4},
        {36, 4}, {40, 4}, {44, 4}, {48, 4}, {52, 4}, {56, 4}, {60, 4}, {64, 4}, {68, 4}, {92, 4}, {96, 4}};
    size_t times = 1 + chance_below(chance, 2);

    for (size_t i = 0; i < times; i++) {
        const unsigned char *field = fields[chance_below(chance, sizeof fields / sizeof fields[0])];
        bytes_put(bytes->data + field[0], field[1], telling_number(chance, bytes->len / PAGE));
    }
}

/* ------------------------------------------------------------------------------------------ b-trees */

struct tree_page {
    unsigned char *page;
    unsigned char *head;
    bool is_tree;
    bool is_inner;
    size_t cells;
    unsigned char *pointers;
};

static inline struct tree_page tree_page_at(const struct bytes *bytes, size_t index)
{
    struct tree_page at = {.page = page_at(bytes, index)};
    at.head = at.page + (index == 0 ? FILE_HEADER : 0);
    at.is_inner = at.head[0] == 2 || at.head[0] == 5;
    at.is_tree = at.is_inner || at.head[0] == 10 || at.head[0] == 13;
    at.cells = bytes_get(at.head + 3, 2);
    at.pointers = at.head + (at.is_inner ? 12 : 8);
    if (at.pointers + 2 * at.cells > at.page + PAGE)
        at.is_tree = false;
    return at;
}

/* A page of a tree, one with children when there is such a one and chance wants it. */
static inline struct tree_page any_tree_page(const struct bytes *bytes, struct chance *chance)
{
    bool wants_inner = chance_below(chance, 2) == 0;
    struct tree_page at = tree_page_at(bytes, 0);

    for (int tries = 0; tries < 200; tries++) {
        struct tree_page next = tree_page_at(bytes, chance_below(chance, bytes->len / PAGE));
        if (next.is_tree && next.cells > 0)
            at = next;
        if (next.is_tree && next.cells > 0 && (!wants_inner || next.is_inner))
            break;
    }
    return at;
}

static inline unsigned char *any_cell(const struct tree_page *at, struct chance *chance)
{
    size_t offset = at->cells ? bytes_get(at->pointers + 2 * chance_below(chance, at->cells), 2) : 0;
    return at->page + (offset < PAGE - 8 ? offset : PAGE - 8);
}

static inline void damage_pointers(const struct tree_page *at, struct chance *chance, size_t pages)
{
    if (at->cells > 0) {
        unsigned char *one = at->pointers + 2 * chance_below(chance, at->cells);
        unsigned char *other = at->pointers + 2 * chance_below(chance, at->cells);
        uint32_t kept = bytes_get(one, 2);
        size_t kind = chance_below(chance, 3);
        bytes_put(one, 2, kind == 0 ? telling_number(chance, pages) : bytes_get(other, 2));
        if (kind == 1)
            bytes_put(other, 2, kept);
    }
}

static inline void damage_tree(struct bytes *bytes, struct chance *chance)
{
    size_t pages = bytes->len / PAGE;
    struct tree_page at = any_tree_page(bytes, chance);
    unsigned char *cell = any_cell(&at, chance);

    switch (chance_below(chance, 7)) {
    case 0: /* what kind of page it is */
        at.head[0] =
            (unsigned char)(chance_below(chance, 2) ? 2 + 3 * chance_below(chance, 4) : chance_next(chance));
        break;
    case 1: /* free block, number of cells, where they begin, fragments */
        bytes_put(at.head + 1 + 2 * chance_below(chance, 4), 2, telling_number(chance, pages));
        break;
    case 2:
        bytes_put(at.head + 3, 2, (uint32_t)chance_below(chance, at.cells + 2));
        break;
    case 3:
        damage_pointers(&at, chance, pages);
        break;
    case 4: /* a child, or the length of a cell */
        bytes_put(at.is_inner && chance_below(chance, 2) ? at.head + 8 : cell, 4,
                  telling_number(chance, pages));
        break;
    case 5: /* the number of the row, the head of the record */
        for (size_t i = 0; i < 1 + chance_below(chance, 3); i++)
            cell[chance_below(chance, 8)] = (unsigned char)chance_next(chance);
        break;
    default: { /* a child that is another page's */
        struct tree_page other = any_tree_page(bytes, chance);
        unsigned char *child = any_cell(&other, chance);
        if (at.is_inner && other.is_inner)
            memcpy(cell, child, 4);
        else
            bytes_put(at.head + 8, 4, 1 + (uint32_t)chance_below(chance, pages));
        break;
    }
    }
}

/*
 * Puts floors of pages above the first leaf of a tree, each of which leads to the next by every one of its
 * cells: a walk along it meets the leaf's rows more often than any computer can count. `root` counts from 0.
 */
static inline void put_floors(struct bytes *bytes, size_t root)
{
    enum { FLOORS = 15, CELLS = 20, LONGEST_CELL = 150 };
    size_t first = bytes->len / PAGE;
    struct tree_page leaf = tree_page_at(bytes, root);

    while (leaf.is_inner)
        leaf = tree_page_at(bytes, bytes_get(leaf.page + bytes_get(leaf.pointers, 2), 4) - 1);
    bool of_index = leaf.head[0] == 10;
    size_t copy_len = of_index ? LONGEST_CELL : 9; /* what is behind the record does not matter */
    size_t offset = bytes_get(leaf.pointers, 2);
    unsigned char cell[LONGEST_CELL] = {1};
    if (of_index)
        memcpy(cell, leaf.page + offset, offset + copy_len <= PAGE ? copy_len : PAGE - offset);
    unsigned char kept[PAGE];
    memcpy(kept, leaf.page, PAGE);

    bytes_resize(bytes, (first + FLOORS + 1) * PAGE);
    for (size_t floor = 0; floor <= FLOORS; floor++) {
        size_t index = floor == 0 ? root : first + floor - 1;
        uint32_t below = (uint32_t)(first + floor + 1);
        unsigned char *page = page_at(bytes, index);
        memset(page, 0, PAGE);
        page[0] = of_index ? 2 : 5;
        bytes_put(page + 3, 2, CELLS);
        bytes_put(page + 5, 2, PAGE - CELLS * (4 + LONGEST_CELL));
        bytes_put(page + 8, 4, below);
        for (size_t i = 0; i < CELLS; i++) {
            size_t at = PAGE - (i + 1) * (4 + LONGEST_CELL);
            bytes_put(page + 12 + 2 * i, 2, (uint32_t)at);
            bytes_put(page + at, 4, below);
            memcpy(page + at + 4, cell, copy_len);
        }
    }
    memcpy(page_at(bytes, first + FLOORS), kept, PAGE);
    bytes_put(bytes->data + 28, 4, (uint32_t)(first + FLOORS + 1));
}

static inline void damage_by_floors(struct bytes *bytes, struct chance *chance)
{
    struct tree_page at = any_tree_page(bytes, chance);
    size_t index = (size_t)(at.page - bytes->data) / PAGE;
    if (index > 0)
        put_floors(bytes, index);
}

/* ----------------------------------------------------------------------------- the write-ahead file */

static inline void log_sum(const unsigned char *data, size_t len, uint32_t sum[2])
{
    for (size_t i = 0; i < len;
         i += 8) { /* the words are in the byte order that the head's first number tells */
        const unsigned char *at = data + i;
        sum[0] += ((uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0]) + sum[1];
        sum[1] += ((uint32_t)at[7] << 24 | (uint32_t)at[6] << 16 | (uint32_t)at[5] << 8 | at[4]) + sum[0];
    }
}

/* Makes the sums right again, so that SQLite believes what is there. */
static inline void log_mend_sums(struct bytes *log)
{
    uint32_t sum[2] = {0, 0};

    bytes_put(log->data, 4, 0x377f0682);
    log_sum(log->data, 24, sum);
    bytes_put(log->data + 24, 4, sum[0]);
    bytes_put(log->data + 28, 4, sum[1]);
    for (size_t at = LOG_HEADER; at + FRAME <= log->len; at += FRAME) {
        memcpy(log->data + at + 8, log->data + 16, 8); /* the salt */
        log_sum(log->data + at, 8, sum);
        log_sum(log->data + at + FRAME_HEADER, PAGE, sum);
        bytes_put(log->data + at + 16, 4, sum[0]);
        bytes_put(log->data + at + 20, 4, sum[1]);
    }
}

static inline void damage_frames(struct bytes *log, struct chance *chance)
{
    size_t count = (log->len - LOG_HEADER) / FRAME;
    unsigned char *one = log->data + LOG_HEADER + chance_below(chance, count) * FRAME;
    unsigned char *other = log->data + LOG_HEADER + chance_below(chance, count) * FRAME;
    unsigned char kept[FRAME];
    size_t kind = chance_below(chance, 5);

    memcpy(kept, one, FRAME);
    if (kind <= 1)
        memmove(one, other, FRAME);
    if (kind == 1)
        memcpy(other, kept, FRAME);
    if (kind == 2) /* the page it is of, or the size of the file after it */
        bytes_put(one + 4 * chance_below(chance, 2), 4, telling_number(chance, count));
    if (kind == 3)
        memmove(one + FRAME_HEADER, other + FRAME_HEADER, PAGE);
    for (size_t i = 0; i < 4 && kind == 4; i++)
        one[FRAME_HEADER + chance_below(chance, PAGE)] = (unsigned char)chance_next(chance);
}

static inline void damage_log(struct bytes *log, struct chance *chance)
{
    size_t kind = chance_below(chance, 8);

    if (kind == 0)
        damage_some_bytes(log, chance);
    else if (kind == 1)
        bytes_resize(log, chance_below(chance, log->len + 1));
    else if (kind == 2)
        bytes_put(log->data + 4 * chance_below(chance, 8), 4, telling_number(chance, log->len / FRAME));
    else
        damage_frames(log, chance);
    if (kind >= 4 && log->len > LOG_HEADER)
        log_mend_sums(log);
}

static inline void damage_journal(struct bytes *journal, struct chance *chance)
{
    size_t kind = chance_below(chance, 3);

    if (kind == 0)
        damage_some_bytes(journal, chance);
    else if (kind == 1)
        damage_length(journal, chance);
    else /* the number of records, the nonce, the size of the file, of a sector, of a page */
        bytes_put(journal->data + 8 + 4 * chance_below(chance, 5), 4,
                  telling_number(chance, journal->len / PAGE));
}

#endif
