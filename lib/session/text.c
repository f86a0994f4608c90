/* Texts that change hands. */
#include "base/memory.h"

char *ses_text_make(ses_store *store, size_t len)
{
    return store ? ses__memory_text(ses_store_allocator(store), len) : NULL;
}

void ses_free(char *text)
{
    if (text) {
        struct text_header *header = (struct text_header *)(void *)text - 1;
        header->release(header->context, header);
    }
}
