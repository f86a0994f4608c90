/* The names and meanings of the codes. */
#include "base/common.h"

struct code_entry {
    int code;
    const char *name;
    const char *text;
};

static const struct code_entry code_entries[] = {
    {SES_OK, "SES_OK", "success"},
    {SES_PARTIAL, "SES_PARTIAL", "success: a partial event, nothing was stored"},
    {SES_DUPLICATE, "SES_DUPLICATE", "success: this event had been stored before"},
    {SES_EXISTING, "SES_EXISTING", "success: the session was already there"},
    {SES_ROW, "SES_ROW", "success: here is an event"},
    {SES_ABSENT, "SES_ABSENT", "success: there is no such state key"},
    {SES_UNCHANGED, "SES_UNCHANGED", "success: there was nothing to do"},
    {SES_MORE, "SES_MORE", "success: a step is done, and more are left"},
    {SES_RESET, "SES_RESET", "success: events that were followed are gone; read the session again"},
#define CODE_ENTRY(name, number, text) {SES_##name, "SES_" #name, text},
    SES_CODES(CODE_ENTRY)
#undef CODE_ENTRY
};

static const struct code_entry *code_find(int code)
{
    static const struct code_entry unknown = {0, "?", "not a code of seslite"};
    const struct code_entry *found = &unknown;

    for (size_t i = 0; i < sizeof code_entries / sizeof code_entries[0]; i++) {
        if (code_entries[i].code == code) {
            found = &code_entries[i];
            break;
        }
    }
    return found;
}

const char *ses_code_name(int code)
{
    return code_find(code)->name;
}

const char *ses_code_text(int code)
{
    return code_find(code)->text;
}
