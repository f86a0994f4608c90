#include "text/refuse.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(ses_error *error, int code, const char *format, ...)
{
    va_list arguments;

    *error = (ses_error){.code = code, .version = -1, .offset = -1, .index = -1};
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}
