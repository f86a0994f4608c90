/* Redacts the objects of state keys and of artifacts that events hold. */
#include "erase/erase.h"

#include "base/error.h"
#include "json/writer.h"
#include "model/event/artifacts.h"

/* ----------------------------------------------------------------------------------------------- values */

/* The text in place of a value is never taken for the tombstone: the key must not be removed. */
int ses__value_redact(struct redacting *run, struct span value, struct span *after, ses_error *error)
{
    const struct span text = ses__scope_is_tombstone(run->asked->text) ? TOMBSTONE_AS_TEXT : run->asked->text;
    int code = SES_OK;

    *after = value;
    if (ses__scope_is_tombstone(value) || ses__span_is(value, text))
        return SES_OK;
    if (run->asked->find)
        code = ses__found_replace(run, value, after, error);
    else
        *after = text;
    if (ses__scope_is_tombstone(*after))
        *after = TOMBSTONE_AS_TEXT;
    return code;
}

static struct span copy_text(struct redacting *run, struct span text)
{
    return (struct span){ses__arena_text(&run->arena, text.ptr, text.len), text.len};
}

int ses__value_keep(struct redacting *run, const struct base_value *before, struct span after,
                    ses_error *error)
{
    const struct base_value kept = {copy_text(run, before->name), copy_text(run, before->value), before->seq};
    const struct span fresh = copy_text(run, after);

    if (!kept.name.ptr || !kept.value.ptr || !fresh.ptr || !LIST_GROW(run->asked->allocator, &run->values))
        return ses__error_nomem(error);
    run->values.items[run->values.count++] = (struct replaced_value){kept, kept.value, fresh};
    return SES_OK;
}

/* Gives the value in place of the member's, or none if the member goes. */
typedef int member_redactor(struct redacting *run, const struct base_value *member, struct span *after,
                            ses_error *error);

/* Without SES_REDACT_STATE values are only counted. */
static int redact_delta_member(struct redacting *run, const struct base_value *member, struct span *after,
                               ses_error *error)
{
    bool named = false;
    int code = ses__name_look(run, member->name, &named, error);

    *after = (struct span){NULL, 0};
    if (code != SES_OK || (named && ses__names_go(run)))
        return code;
    code = ses__value_redact(run, member->value, after, error);
    if (code != SES_OK || after->ptr == member->value.ptr)
        return code;
    if (run->asked->state)
        return ses__value_keep(run, member, *after, error);
    run->counts.state_left++;
    *after = member->value;
    return SES_OK;
}

/* Gives the object with the values that the function gives. */
static int redact_members(struct redacting *run, struct span text, int64_t seq, member_redactor *redact,
                          struct span *after, ses_error *error)
{
    struct buffer *built = &run->built;
    const size_t start = built->len;
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool first = true;
    bool changed = false;
    int code = SES_OK;

    *after = text;
    ses__json_start(&reader, text.ptr, text.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return SES_OK;
    const char *gap = reader.at; /* between the members, with the next one's name */
    ses__buffer_add(built, text.ptr, (size_t)(gap - text.ptr));
    while (code == SES_OK && ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        struct base_value member = {.name = {"", 0}, .value = ses__json_trim(value), .seq = seq};
        struct span fresh = {NULL, 0};
        code = ses__json_decode(key, &run->arena, &member.name) == SES_NOMEM
                   ? ses__error_nomem(error)
                   : redact(run, &member, &fresh, error);
        changed = changed || fresh.ptr != member.value.ptr;
        if (fresh.ptr) {
            gap = ses__after_comma(gap);
            ses__buffer_add(built, ",", first ? 0 : 1);
            ses__buffer_add(built, gap, (size_t)(member.value.ptr - gap));
            ses__buffer_add(built, fresh.ptr, fresh.len);
            first = false;
        }
        gap = member.value.ptr + member.value.len;
    }
    ses__buffer_add(built, gap, (size_t)(text.ptr + text.len - gap));
    if (code == SES_OK && changed)
        return ses__built_take(run, start, after, error);
    ses__buffer_take_back(built, start);
    return code;
}

int ses__delta_redact(struct redacting *run, struct span delta, int64_t seq, struct span *after,
                      ses_error *error)
{
    return redact_members(run, delta, seq, redact_delta_member, after, error);
}

int ses__value_redact_copy(struct redacting *run, const struct base_value *member, struct span *after,
                           ses_error *error)
{
    const size_t count = run->values.count;

    *after = member->value;
    for (size_t i = 0; i < count; i++) {
        const struct replaced_value *value = &run->values.items[i];
        if (value->before.seq < member->seq && ses__span_is(value->before.name, member->name) &&
            ses__span_is(value->before.value, member->value)) {
            *after = value->after;
            return ses__value_keep(run, member, *after, error);
        }
    }
    return SES_OK;
}

int ses__delta_redact_copies(struct redacting *run, struct span delta, int64_t seq, struct span *after,
                             ses_error *error)
{
    return redact_members(run, delta, seq, ses__value_redact_copy, after, error);
}

/* -------------------------------------------------------------------------------------------- artifacts */

int ses__versions_note(struct redacting *run, struct span delta, ses_error *error)
{
    struct artifact_delta_walk walk;
    struct json_string key;
    struct span value;
    struct span name;
    int64_t version;

    ses__artifact_delta_open(&walk, delta);
    while (ses__artifact_delta_next(&walk, &key, &value, &version)) {
        const int decoded = ses__json_decode(key, &run->arena, &name);
        if (decoded == SES_NOMEM)
            return ses__error_nomem(error);
        if (decoded == SES_OK && (run->asked->find || ses__artifact_is_of_user(name))) {
            run->counts.artifacts_left++;
        } else if (decoded == SES_OK && version >= 0) {
            const struct named_version noted = {copy_text(run, name), version};
            if (!noted.name.ptr || !LIST_GROW(run->asked->allocator, &run->versions))
                return ses__error_nomem(error);
            run->versions.items[run->versions.count++] = noted;
        }
    }
    return SES_OK;
}

bool ses__versions_have(const struct named_versions *versions, struct span name, int64_t version)
{
    for (size_t i = 0; i < versions->count; i++) {
        if (versions->items[i].version == version && ses__span_is(versions->items[i].name, name))
            return true;
    }
    return false;
}

static int leave_out_version(struct redacting *run, const struct base_value *member, struct span *after,
                             ses_error *error)
{
    const int64_t version = ses__artifact_version_of(member->value);

    (void)error;
    *after = member->value;
    if (ses__versions_have(&run->versions, member->name, version))
        *after = (struct span){NULL, 0};
    return SES_OK;
}

int ses__versions_leave_out(struct redacting *run, struct span delta, struct span *after, ses_error *error)
{
    return redact_members(run, delta, 0, leave_out_version, after, error);
}
