#include "store/sessions.h"

#include <string.h>

static void add_labels(struct json *json, const ses_session *session)
{
    json_open(json, "labels", '{');
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        json_member(json, label->name, label->value);
    }
    json_close(json, '}');
}

static void add_parent(struct json *json, const ses_session *session)
{
    int64_t seq = 0;
    const ses_key *parent = ses_session_parent(session, &seq);

    if (!parent)
        return;
    json_open(json, "parent", '{');
    json_text(json, "userId", parent->user);
    json_text(json, "id", parent->session);
    json_number(json, "seq", seq);
    json_close(json, '}');
}

static void add_child_of(struct json *json, const ses_session *session)
{
    const ses_key *of = ses_session_child_of(session);

    if (!of)
        return;
    json_open(json, "childOf", '{');
    json_text(json, "userId", of->user);
    json_text(json, "id", of->session);
    json_close(json, '}');
}

void session_json(struct json *json, const ses_session *session)
{
    json_text(json, "id", ses_session_id(session));
    json_text(json, "appName", ses_session_app(session));
    json_text(json, "userId", ses_session_user(session));
    json_time(json, "lastUpdateTime", ses_session_updated_us(session));
    json_time(json, "createTime", ses_session_created_us(session));
    if (ses_session_expires_us(session) != INT64_MAX)
        json_time(json, "expireTime", ses_session_expires_us(session));
    if (ses_session_archived_us(session) != 0)
        json_time(json, "archiveTime", ses_session_archived_us(session));
    if (ses_session_kind(session) == SES_KIND_MEMORY)
        json_text(json, "kind", "memory");
    json_number(json, "eventCount", ses_session_stored(session));
    json_number(json, "lastSeq", ses_session_last_seq(session));
    json_number(json, "prunedSeq", ses_session_base_seq(session));
    json_number(json, "version", ses_session_version(session));
    json_text(json, "title", ses_session_title(session));
    add_labels(json, session);
    add_parent(json, session);
    add_child_of(json, session);
}

ses_session *session_read(struct run *run, int *status)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    ses_session *session = NULL;

    *status = ses_get(run->store, &run->key, &options, &session, &run->error) < 0 ? fail(run) : EXIT_OK;
    return session;
}
