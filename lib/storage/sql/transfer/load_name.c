/* Finds a free name for a session whose name a different one already has. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "storage/sql/transfer/load.h"
#include "storage/sql/session/jobs.h"

/* Under so many other names a different session may be there already. */
enum { MAX_RENAMES = 10000 };

/* NAME~2, NAME~3 ...: cut so that it stays an id. */
static void write_other_name(char *to, const char *name, int number)
{
    char suffix[16];
    size_t limit = SES_ID_MAX - (size_t)snprintf(suffix, sizeof suffix, "~%d", number);
    size_t len = strlen(name);

    if (len > limit)
        len = ses__utf8_valid_part(name, limit);
    memcpy(to, name, len);
    memcpy(to + len, suffix, strlen(suffix) + 1);
}

/* Is it what was made, under the name that it would get? */
static int compare_with(struct load_run *run, const struct session_row *other, bool *same, ses_error *error)
{
    const char *difference = ses__load_compare_end(run, other);
    int64_t seq = 0;
    int code = SES_OK;

    if (!difference)
        code = ses__load_compare_head(run, other, &difference, error);
    if (code == SES_OK && !difference)
        code = ses__events_first_difference(run->db, &run->row, other->id, &seq, error);
    *same = !difference && seq == 0;
    return code;
}

int ses__load_find_name(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    const ses_key key = {op->key->app, op->key->user, op->name};

    for (int number = 2; number < MAX_RENAMES; number++) {
        struct session_row other;
        bool same = false;
        write_other_name(op->name, op->key->session, number);
        int code = ses__session_find(run->db, &key, &other, error);
        if (code == SES_NOTFOUND)
            return SES_OK;
        if (code == SES_OK)
            code = compare_with(run, &other, &same, error);
        if (code != SES_OK)
            return code;
        if (same) {
            op->outcome = SES_LOADED_EQUAL;
            op->version_now = other.version;
            return SES_OK;
        }
    }
    return ses__refuse_existing(op->key, error);
}
