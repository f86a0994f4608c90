/* Finds the owner of an artifact. */
#include <stdio.h>
#include <string.h>

#include "artifact/artifact.h"
#include "base/error.h"
#include "storage/sql/rows/parts.h"

#define USER_PREFIX "user:"

static bool has_user_prefix(const char *name)
{
    return strncmp(name, USER_PREFIX, sizeof USER_PREFIX - 1) == 0;
}

int ses__artifact_take_name(struct artifact_call *call, const char *name, ses_error *error)
{
    const bool needs_prefix = name && !call->at.key.session && !has_user_prefix(name);
    int code = ses__check_id(name, "artifact", error);

    if (code != SES_OK)
        return code;
    const size_t len = strlen(name) + (needs_prefix ? sizeof USER_PREFIX - 1 : 0);
    if (len > SES_ID_MAX)
        return ses__error_set(error, SES_INVALID,
                              "the artifact's name is longer than %d bytes with the prefix " USER_PREFIX,
                              SES_ID_MAX);
    (void)snprintf(call->name, sizeof call->name, "%s%s", needs_prefix ? USER_PREFIX : "", name);
    call->of_user = has_user_prefix(call->name);
    return SES_OK;
}

/* Unlike that of another call the key may have no session. */
static int begin_at_key(struct session_call *call, const struct target *target, ses_error *error)
{
    const ses_key *key = target->key;
    int code = ses__store_begin_as(target->store, target->call, error);

    if (code != SES_OK)
        return code;
    code = ses__check_argument(key, "key", error);
    if (code == SES_OK)
        code = ses__check_id(key->app, "app", error);
    if (code == SES_OK)
        code = ses__check_id(key->user, "user", error);
    if (code == SES_OK && key->session)
        code = ses__check_id(key->session, "session", error);
    if (code != SES_OK)
        return ses__store_end(target->store, code);
    *call = (struct session_call){.store = target->store, .key = *key};
    call->ref.key = &call->key;
    return SES_OK;
}

int ses__artifact_begin(struct artifact_call *call, const struct target *target, const char *name,
                        ses_error *error)
{
    int code =
        target->by_key ? begin_at_key(&call->at, target, error) : ses__call_begin(&call->at, target, error);

    if (code != SES_OK)
        return code;
    call->name[0] = '\0';
    call->of_user = !call->at.key.session;
    if (name)
        code = ses__artifact_take_name(call, name, error);
    return code == SES_OK ? SES_OK : ses__call_end(&call->at, code);
}

static struct artifact_owner owner_of(const struct artifact_call *call, int64_t user_id)
{
    const struct span none = {"", 0};
    return (struct artifact_owner){user_id, call->of_user ? none : ses__span_of(call->at.key.session)};
}

static int take_owner(struct query *query, struct artifact_owner *owner)
{
    struct user_row user;
    const int code = ses__owner_take(query, &user);

    owner->user_id = user.id;
    return code;
}

int ses__artifact_ask_owner(struct query *query, struct db *db, const struct artifact_call *call,
                            struct artifact_owner *owner, ses_error *error)
{
    *owner = owner_of(call, 0);
    ses__owner_ask(query, db, call->at.key.app, call->at.key.user, error);
    return ses__db_asks_ahead(db) ? SES_OK : take_owner(query, owner);
}

int ses__artifact_take_owner(struct query *query, struct artifact_owner *owner)
{
    return ses__db_asks_ahead(query->db) ? take_owner(query, owner) : SES_OK;
}

int ses__artifact_make_owner(struct db *db, const struct artifact_call *call, bool anyway,
                             struct artifact_owner *owner, ses_error *error)
{
    const ses_key *key = &call->at.key;
    struct session_row session;
    struct user_row user = {.id = 0};
    int code = SES_NOTFOUND;

    if (!call->of_user)
        code = ses__session_find(db, key, &session, error);
    if (code == SES_OK)
        user.id = session.user_id;
    else if (code == SES_NOTFOUND && (call->of_user || anyway))
        code = ses__owner_ensure(db, key->app, key->user, &user, error);
    else if (code == SES_NOTFOUND)
        code = ses__no_such_session(key, error);
    *owner = owner_of(call, user.id);
    return code;
}

int ses__artifact_absent(const struct artifact_call *call, ses_error *error)
{
    const ses_key *key = &call->at.key;
    return ses__error_set(error, SES_NOTFOUND,
                          "there is no artifact \"%.100s\" of %.100s/%.100s/%.100s (app/user/session)",
                          call->name, key->app, key->user, call->of_user ? "" : key->session);
}
