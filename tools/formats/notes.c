#include <stdarg.h>
#include <stdio.h>

#include "formats/formats.h"

void foreign_note(struct foreign_notes *notes, enum foreign_note_kind kind, const char *format, ...)
{
    char words[512];
    va_list arguments;

    if (notes->muted)
        return;
    if (notes->counts[kind]++ || !format)
        return;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    text_puts(&notes->examples[kind], words);
}

void foreign_note_many(struct foreign_notes *notes, enum foreign_note_kind kind, int64_t count)
{
    if (!notes->muted)
        notes->counts[kind] += count;
}
