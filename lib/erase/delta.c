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
    member->name = (struct span){"", 0};
    return ses__json_decode(key, &run->arena, &member->name) == SES_NOMEM ? ses__error_nomem(error) : SES_OK;
}

typedef int member_redactor(struct redacting *run, const struct base_value *member, struct span *after,
                            ses_error *error);

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

/* A delta whose members are redacted one by one. */
struct redacted_delta {
    member_redactor *redact;
    bool names;      /* looks into the names, too */
    const char *gap; /* between the members */
    bool first;      /* no member was built yet */
    bool changed;
};

static int redact_delta_member(struct redacting *run, struct redacted_delta *delta,
                               const struct base_value *member, ses_error *error)
{
    const char *const gap = ses__after_comma(delta->gap);
    struct span fresh = member->value;
    bool named = false;
    int code = delta->names ? ses__name_look(run, member->name, &named, error) : SES_OK;

    delta->gap = member->value.ptr + member->value.len;
    if (code == SES_OK && named && ses__names_go(run)) {
        delta->changed = true;
        return SES_OK;
    }
    if (code == SES_OK)
        code = delta->redact(run, member, &fresh, error);
    delta->changed |= fresh.ptr != member->value.ptr;
    ses__buffer_add(&run->built, ",", delta->first ? 0 : 1);
    ses__buffer_add(&run->built, gap, (size_t)(member->value.ptr - gap));
    ses__buffer_add(&run->built, fresh.ptr, fresh.len);
    delta->first = false;
    return code;
}

/* Gives the delta with the values that the function gives. */
static int redact_members(struct redacting *run, struct span text, int64_t seq, member_redactor *redact,
                          struct span *after, ses_error *error)
{
    const size_t start = run->built.len;
    struct redacted_delta delta = {
        .redact = redact, .names = redact == redact_delta_value, .gap = text.ptr + 1, .first = true};
    struct base_value member = {.seq = seq};
    struct json_reader reader;
    bool any = true;
    int code = SES_OK;

    *after = text;
    ses__json_start(&reader, text.ptr, text.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return SES_OK;
    delta.gap = reader.at;
    ses__buffer_add(&run->built, text.ptr, (size_t)(reader.at - text.ptr));
    while (code == SES_OK) {
        code = next_of_delta(run, &reader, &member, &any, error);
        if (code != SES_OK || !any)
            break;
        code = redact_delta_member(run, &delta, &member, error);
    }
    ses__buffer_add(&run->built, delta.gap, (size_t)(text.ptr + text.len - delta.gap));
    if (code == SES_OK && delta.changed)
        return ses__built_take(run, start, after, error);
    ses__buffer_take_back(&run->built, start);
    return code;
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
        else if (decoded == SES_OK && (run->asked->find || ses__artifact_is_of_user(name)))
            run->counts.artifacts_left++;
        else if (decoded == SES_OK && version >= 0)
            code = note_version(run, name, version, error);
    }
    return code;
}

bool ses__versions_have(const struct named_versions *versions, struct span name, int64_t version)
{
    for (size_t i = 0; i < versions->count; i++) {
        if (versions->items[i].version == version && ses__span_is(versions->items[i].name, name))
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
        if (decoded == SES_OK && ses__versions_have(&run->versions, name, version)) {
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
    ses__buffer_take_back(&run->built, start);
    return SES_OK;
}
