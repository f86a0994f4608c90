#include "agent/identifier.h"

#include "agent/identifier_table.h"
#include "base/utf8.h"

static unsigned ascii_kind(char letter)
{
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_')
        return IDENTIFIER_STARTS | IDENTIFIER_CONTINUES;
    return letter >= '0' && letter <= '9' ? IDENTIFIER_CONTINUES : 0;
}

/* Returns the kind of the last run that begins at the character or before it. */
static unsigned kind_above_ascii(uint32_t character)
{
    size_t low = 0;
    size_t high = sizeof identifier_runs / sizeof identifier_runs[0];

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (identifier_runs[middle] >> 2 <= character)
            low = middle;
        else
            high = middle;
    }
    return identifier_runs[low] & (IDENTIFIER_CONTINUES | IDENTIFIER_STARTS);
}

size_t ses__identifier_len(const char *text, unsigned kind)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const uint32_t character = ses__utf8_decode(text, len);

    return (character < 0x80 ? ascii_kind(text[0]) : kind_above_ascii(character)) & kind ? len : 0;
}
