#include "import/taken.h"

#include <string.h>

#include "text/refuse.h"
#include "text/text.h"

int taken_claim(struct index *taken, const ses_key *key, bool renames, ses_error *error)
{
    const char *const names[] = {key->app, key->user, key->session};
    struct text whole = {NULL, 0, 0};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        text_add(&whole, names[i], strlen(names[i]) + 1);
    const bool is_taken = index_add(taken, whole.data, whole.len, 1) != 0;
    text_free(&whole);
    return !is_taken || renames ? SES_OK
                                : refuse(error, SES_EXISTS,
                                         "another session of the file gets the same name here; "
                                         "--rename gives it another");
}
