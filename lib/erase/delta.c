/* Redacts the objects of state keys and of artifacts that events hold. */
#include "erase/erase.h"

#include "base/error.h"
#include "json/writer.h"
#include "model/event/artifact_names.h"

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

static struct span keep_redacted_text(struct redacting *run, struct span text)
{
    return (struct span){ses__arena_text(&run->arena, text.ptr, text.len), text.len};
}

int ses__value_keep(struct redacting *run, const struct base_value *before, struct span after,
                    ses_error *error)
{
    const struct base_value kept = {keep_redacted_text(run, before->name),
                                    keep_redacted_text(run, before->value), before->seq};
    const struct span fresh = keep_redacted_text(run, after);

    if (!kept.name.ptr || !kept.value.ptr || !fresh.ptr || !LIST_GROW(run->asked->allocator, &run->values))
        return ses__error_nomem(error);
    run->values.items[run->values.count++] = (struct replaced_value){kept, kept.value, fresh};
    return SES_OK;
}

/* A member of a delta, with its decoded name. */
static int next_of_delta(struct redacting *run, struct json_reader *reader, struct base_value *member,
                         bool *any, ses_error *error)
{
    struct json_string key;
    struct span value;

    *any = ses__json_member(reader, &key) && ses__json_skip(reader, &value);
    if (!*any)
        return SES_OK;
    member->value = ses__json_trim(value);
    return ses__json_decode(key, &run->arena, &member->name) == SES_NOMEM ? ses__error_nomem(error) : SES_OK;
}

typedef int member_redactor(struct redacting *run, const struct base_value *member, struct span *after,
                            ses_error *error);

/* Gives the delta with the values that the function gives. */
static int redact_members(struct redacting *run, struct span delta, int64_t seq, member_redactor *redact,
                          struct span *after, ses_error *error)
{
    struct edits edits = {0};
    struct json_reader reader;
    struct base_value member = {.seq = seq};
    struct span fresh = {NULL, 0};
    bool any = true;
    int code = SES_OK;

    *after = delta;
    ses__json_start(&reader, delta.ptr, delta.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return SES_OK;
    while (code == SES_OK) {
        code = next_of_delta(run, &reader, &member, &any, error);
        if (code != SES_OK || !any)
            break;
        code = redact(run, &member, &fresh, error);
        const size_t start = (size_t)(member.value.ptr - delta.ptr);
        if (code == SES_OK && fresh.ptr != member.value.ptr &&
            !ses__edits_add(&edits, run->asked->allocator,
                            (struct edit){start, start + member.value.len, fresh}))
            code = ses__error_nomem(error);
    }
    if (code == SES_OK && edits.count > 0) {
        after->ptr = ses__edits_apply(&edits, &run->arena, delta, &after->len);
        code = after->ptr ? SES_OK : ses__error_nomem(error);
    }
    ses__edits_free(&edits, run->asked->allocator);
    return code;
}

/* Without SES_REDACT_STATE values are only counted. */
static int redact_delta_value(struct redacting *run, const struct base_value *member, struct span *after,
                              ses_error *error)
{
    const int code = ses__value_redact(run, member->value, after, error);

    if (code != SES_OK || after->ptr == member->value.ptr)
        return code;
    if (run->asked->state)
        return ses__value_keep(run, member, *after, error);
    run->counts.state_left++;
    *after = member->value;
    return SES_OK;
}

int ses__delta_redact(struct redacting *run, struct span delta, int64_t seq, struct span *after,
                      ses_error *error)
{
    return redact_members(run, delta, seq, redact_delta_value, after, error);
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

static bool is_artifact_of_user(struct span name)
{
    return name.len >= 5 && memcmp(name.ptr, "user:", 5) == 0;
}

static int note_version(struct redacting *run, struct span name, int64_t version, ses_error *error)
{
    const struct span kept = keep_redacted_text(run, name);

    if (!kept.ptr || !LIST_GROW(run->asked->allocator, &run->versions))
        return ses__error_nomem(error);
    run->versions.items[run->versions.count++] = (struct named_version){kept, version};
    return SES_OK;
}

int ses__versions_note(struct redacting *run, struct span delta, ses_error *error)
{
    struct artifact_delta_walk walk;
    struct json_string key;
    struct span value;
    struct span name;
    int64_t version;
    int code = SES_OK;

    ses__artifact_delta_open(&walk, delta);
    while (code == SES_OK && ses__artifact_delta_next(&walk, &key, &value, &version)) {
        const int decoded = ses__json_decode(key, &run->arena, &name);
        if (decoded == SES_NOMEM)
            code = ses__error_nomem(error);
        else if (decoded == SES_OK && (run->asked->find || is_artifact_of_user(name)))
            run->counts.artifacts_left++;
        else if (decoded == SES_OK && version >= 0)
            code = note_version(run, name, version, error);
    }
    return code;
}

static bool is_version_noted(const struct redacting *run, struct span name, int64_t version)
{
    for (size_t i = 0; i < run->versions.count; i++) {
        const struct named_version *item = &run->versions.items[i];
        if (item->version == version && ses__span_is(item->name, name))
            return true;
    }
    return false;
}

int ses__versions_leave_out(struct redacting *run, struct span delta, struct span *after, ses_error *error)
{
    const size_t start = run->built.len;
    struct artifact_delta_walk walk;
    struct json_string key;
    struct span value;
    struct span name;
    int64_t version;
    bool any = false;

    *after = delta;
    ses__artifact_delta_open(&walk, delta);
    ses__buffer_add(&run->built, "{", 1);
    while (ses__artifact_delta_next(&walk, &key, &value, &version)) {
        const int decoded = ses__json_decode(key, &run->arena, &name);
        if (decoded == SES_NOMEM)
            return ses__error_nomem(error);
        if (decoded == SES_OK && is_version_noted(run, name, version)) {
            any = true;
            continue;
        }
        ses__buffer_add(&run->built, ",", run->built.len > start + 1 ? 1 : 0);
        ses__buffer_add(&run->built, key.raw.ptr - 1, key.raw.len + 2);
        ses__buffer_add(&run->built, ":", 1);
        ses__buffer_add(&run->built, value.ptr, value.len);
    }
    ses__buffer_add(&run->built, "}", 1);
    if (any)
        return ses__built_take(run, start, after, error);
    ses__buffer_cut(&run->built, start);
    return SES_OK;
}
