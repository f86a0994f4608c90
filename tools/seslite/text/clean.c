/* Characters: which may reach a terminal, and how many columns they take there. */
#include "text/text.h"

#include <string.h>

enum { REPLACEMENT = 0xfffd };

/* Ranges, in order. */
struct range {
    uint32_t first;
    uint32_t last;
};

static bool contains(const struct range *ranges, size_t count, uint32_t character)
{
    size_t low = 0;

    while (count > 0) {
        size_t half = count / 2;
        if (character > ranges[low + half].last) {
            low += half + 1;
            count -= half + 1;
        } else if (character < ranges[low + half].first) {
            count = half;
        } else {
            return true;
        }
    }
    return false;
}
#define CONTAINS(ranges, character) contains((ranges), sizeof(ranges) / sizeof((ranges)[0]), (character))

/* Controls, marks and overrides of direction, line separators, and invisible characters. */
static const struct range unreadable[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
    {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

/* Combining marks and joiners, which take no column of their own. */
static const struct range narrow[] = {
    {0x300, 0x36f},   {0x483, 0x489},     {0x591, 0x5bd},     {0x610, 0x61a},   {0x64b, 0x65f},
    {0x6d6, 0x6dc},   {0x900, 0x902},     {0x93c, 0x93c},     {0x941, 0x948},   {0x94d, 0x94d},
    {0xe31, 0xe31},   {0xe34, 0xe3a},     {0xe47, 0xe4e},     {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x200c, 0x200d}, {0x20d0, 0x20ff},   {0x302a, 0x302d},   {0x3099, 0x309a}, {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
};

/* East Asian wide characters, and emoji. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},   {0x26a1, 0x26a1},
    {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2757},   {0x2795, 0x2797},
    {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

/* The length of the sequence that begins with this byte, or 0 if no character begins with it. */
static size_t sequence_length(unsigned char byte)
{
    return byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
}

size_t text_next(const char *text, size_t len, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t length = sequence_length(first);
    uint32_t value = length == 1 ? first : first & (0x7fU >> length);

    *character = REPLACEMENT;
    if (length == 0 || length > len)
        return 1;
    for (size_t i = 1; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (byte & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 1;
    *character = value;
    return length;
}

static void add_unreadable(struct text *text, uint32_t character)
{
    if (character < 0x20 || character == 0x7f)
        text_print(text, "^%c", character == 0x7f ? '?' : (char)(character + '@'));
    else
        text_print(text, "<U+%04X>", (unsigned)character);
}

void text_add_clean(struct text *text, const char *more, size_t len, enum lines lines)
{
    uint32_t character = 0;

    for (size_t at = 0, taken; at < len; at += taken) {
        taken = text_next(more + at, len - at, &character);
        if (character == '\n' && lines == LINES_KEEP)
            text_puts(text, "\n");
        else if (character == '\t' || character == '\n' ||
                 (character == '\r' && at + 1 < len && more[at + 1] == '\n'))
            text_puts(text, character == '\r' ? "" : " ");
        else if (CONTAINS(unreadable, character))
            add_unreadable(text, character);
        else if (character == REPLACEMENT)
            text_puts(text, "\xef\xbf\xbd");
        else
            text_add(text, more + at, taken);
    }
    text_add(text, "", 0);
}

void text_add_clean_json(struct text *text, const char *json, size_t len)
{
    uint32_t character = 0;

    for (size_t at = 0, taken; at < len; at += taken) {
        taken = text_next(json + at, len - at, &character);
        if (character < 0x20 || !CONTAINS(unreadable, character))
            text_add(text, json + at, taken);
        else if (character < 0x10000)
            text_print(text, "\\u%04x", (unsigned)character);
        else
            text_print(text, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (character >> 10)),
                       (unsigned)(0xdc00 + (character & 0x3ff)));
    }
    text_add(text, "", 0);
}

static size_t columns_of(uint32_t character)
{
    return CONTAINS(narrow, character) ? 0 : CONTAINS(wide, character) ? 2 : 1;
}

size_t text_columns(const char *text, size_t len)
{
    uint32_t character = 0;
    size_t columns = 0;

    for (size_t at = 0; at < len; columns += columns_of(character))
        at += text_next(text + at, len - at, &character);
    return columns;
}

size_t text_fitting(const char *text, size_t len, size_t columns)
{
    uint32_t character = 0;
    size_t at = 0;

    while (at < len) {
        size_t taken = text_next(text + at, len - at, &character);
        size_t takes = columns_of(character);
        if (takes > columns)
            break;
        columns -= takes;
        at += taken;
    }
    return at;
}
