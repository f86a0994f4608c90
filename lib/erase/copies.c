/* Other sessions of the app that have copies of the events: forks, what they were forked from, and their
 * forks, which have the same number of origin; and what a memory service has copied. */
#include "erase/erase.h"

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* Plans the relative, and blanks it; one that is only counted, or has nothing to redact, is not kept. */
static int plan_relative(struct redacting *run, const struct relative *relative,
                         const struct kinship *kinship, bool counts, struct redacting **copies,
                         ses_error *error)
{
    const struct redacted_origin origin = {&run->row, *kinship, &run->values};
    struct redacting *other = ses__memory_new(run->asked->allocator, sizeof *other);

    if (!other)
        return ses__error_nomem(error);
    ses__redacting_init(other, run->db, run->asked);
    other->row = relative->row;
    (void)memcpy(other->name, relative->session.ptr, relative->session.len + 1);
    other->is_copy = true;
    other->origin = &origin;
    int code = ses__redacting_plan(other, error);
    const bool changes = ses__redacting_changes(other);
    if (code == SES_OK && (other->may_have || (counts && changes)))
        run->counts.forks_left++;
    if (code == SES_OK && !counts)
        code = ses__redacting_blank(other, error);
    other->origin = NULL; /* it is planned */
    run->counts.names_left += other->counts.names_left;
    if (code == SES_OK && !counts && changes) {
        other->next = *copies;
        *copies = other;
    } else {
        ses__copies_free(other);
    }
    return code;
}

int ses__copies_write(struct redacting *run, struct redacting *copies, ses_error *error)
{
    ses_erased *sum = &run->counts;
    int code = SES_OK;

    for (struct redacting *other = copies; other && code == SES_OK; other = other->next) {
        code = ses__redacting_write(other, error);
        sum->sessions++;
        sum->events += other->counts.events;
        sum->state_keys += other->counts.state_keys;
        sum->state_left += other->counts.state_left;
        sum->artifacts_left += other->counts.artifacts_left;
        sum->compactions_left += other->counts.compactions_left;
    }
    return code;
}

void ses__copies_free(struct redacting *copies)
{
    while (copies) {
        struct redacting *next = copies->next;
        const ses_allocator *allocator = copies->asked->allocator;
        ses__redacting_free(copies);
        ses__memory_free(allocator, copies);
        copies = next;
    }
}

/* Memory that is not linked is only counted: no call writes to a session because of its name. */
static int look_at_relative(struct redacting *run, const struct relative *own, struct relative *other,
                            bool counts, struct redacting **copies, ses_error *error)
{
    struct kinship kinship;
    int code = ses__session_by_id(run->db, other->row.id, &other->row, error);

    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK && other->row.app_id != run->row.app_id)
        return ses__refuse_stranger(run->db, "app's session", error);
    if (code == SES_OK)
        code = ses__kinship_find(run->db, own, other, &kinship, error);
    if (code != SES_OK || (kinship.common < 0 && !kinship.is_by_id))
        return code;
    return kinship.is_linked || kinship.is_memory
               ? plan_relative(run, other, &kinship, counts || !kinship.is_linked, copies, error)
               : SES_OK;
}

int ses__copies_plan(struct redacting *run, bool counts, struct redacting **copies, ses_error *error)
{
    struct family family;
    int code = ses__family_read(run->db, &run->row, run->asked->key, &family, error);

    for (size_t i = 0; i < family.count && code == SES_OK; i++)
        code = look_at_relative(run, &family.own, &family.items[i], counts, copies, error);
    ses__family_free(&family, run->db->allocator);
    return code;
}
