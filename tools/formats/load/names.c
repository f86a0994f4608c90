#include "formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "seslite.h"

const char *name_fault(const char *name)
{
    const size_t len = strlen(name);

    if (len == 0)
        return "is empty";
    if (len > SES_ID_MAX)
        return "is longer than 512 bytes";
    return ses_text_cut(name, len, len, NULL) == len ? NULL : "is not valid UTF-8";
}

void name_fit(const char *name, struct text *fitted)
{
    enum { HASH = 9 };
    const size_t len = strlen(name);
    const size_t most = len < SES_ID_MAX - HASH ? len : SES_ID_MAX - HASH;

    if (len == 0)
        text_puts(fitted, "empty");
    text_add(fitted, name, ses_text_cut(name, len, most, NULL));
    text_print(fitted, "~%08" PRIx32, ses__hash32(HASH32_BASIS, name, len));
}
