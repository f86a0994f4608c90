#include "formats/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void end_without_memory(void)
{
    fputs("seslite: out of memory\n", stderr);
    exit(1);
}

void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        end_without_memory();
    return memory;
}

char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(allocate(size), text, size);
}

void *enlarge(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity > 0 ? 2 * *capacity : 16;
    void *enlarged = *capacity <= SIZE_MAX / size ? realloc(items, *capacity * size) : NULL;
    if (!enlarged)
        end_without_memory();
    return enlarged;
}

static void reserve(struct text *text, size_t more)
{
    if (more > SIZE_MAX / 2 - text->len - 1)
        end_without_memory();
    if (text->len + more + 1 > text->capacity) {
        size_t capacity = (text->len + more + 1) * 2;
        char *data = realloc(text->data, capacity);
        if (!data)
            end_without_memory();
        text->data = data;
        text->capacity = capacity;
    }
}

void text_add(struct text *text, const char *more, size_t len)
{
    reserve(text, len);
    if (len > 0)
        memcpy(text->data + text->len, more, len);
    text->len += len;
    text->data[text->len] = '\0';
}

void text_puts(struct text *text, const char *more)
{
    text_add(text, more, strlen(more));
}

void text_print(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len < 0)
        return;
    reserve(text, (size_t)len);
    va_start(arguments, format);
    (void)vsnprintf(text->data + text->len, (size_t)len + 1, format, arguments);
    va_end(arguments);
    text->len += (size_t)len;
}

void text_clear(struct text *text)
{
    text->len = 0;
    text_add(text, "", 0);
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){NULL, 0, 0};
}
