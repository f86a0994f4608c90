/* The relatives of a session: what it was forked from, its forks, its siblings, and its children. */
#include "storage/sql/session/family.h"

#include "base/error.h"
#include "session/session.h"
#include "storage/sql/rows/parts.h"

struct ses_family {
    struct arena arena;
    ses_relative *items;
    size_t count;
};

struct family_run {
    const ses_key *key;
    ses_family *made; /* empty, when it begins */
};

/* The place from which the log of a fork is its own. */
struct fork_place {
    struct span user; /* without text: it is no fork */
    struct span session;
    int64_t seq;
};

/* ---------------------------------------------------------------------------------------------- relations */

static bool names_it(struct span user, struct span session, const struct relative *relative)
{
    return user.ptr && ses__span_is(user, relative->user) && ses__span_is(session, relative->session);
}

/* The fork is the younger one: another session may have got the parent's name since. */
static const struct relative *find_source(const struct family *family, const struct fork_place *place,
                                          const struct relative *fork)
{
    const struct relative *source = ses__relative_find(family, place->user, place->session);
    return source && source->row.created_us <= fork->row.created_us ? source : NULL;
}

/* A walk over forks without an event of their own ends after so many: names that were used again may form a
 * circle, and with a long row of them a family would take the square of the time. */
enum { EMPTY_FORKS_MAX = 100 };

/* A fork that took none of its parent's own events was made, in effect, from what that was forked from. */
static struct fork_place find_place(const struct family *family, const struct relative *fork)
{
    struct fork_place place = {fork->parent_user, fork->parent_session, fork->parent_seq};

    for (int steps = 0; place.user.ptr && steps < EMPTY_FORKS_MAX; steps++) {
        const struct relative *source = find_source(family, &place, fork);
        if (!source || !source->parent_user.ptr || place.seq > source->parent_seq)
            break;
        place.user = source->parent_user;
        place.session = source->parent_session;
    }
    return place;
}

/* The relation of the other to own, and its number; 0: none. */
static int relation_of(const struct family *family, const struct relative *other, int64_t *seq)
{
    const struct relative *own = &family->own;
    const struct fork_place place = find_place(family, own);
    const struct fork_place others = find_place(family, other);

    *seq = 0;
    if (names_it(other->child_user, other->child_session, own))
        return SES_RELATION_CHILD;
    if (names_it(own->child_user, own->child_session, other))
        return SES_RELATION_CHILD_OF;
    *seq = others.seq;
    if (others.user.ptr && find_source(family, &others, other) == own)
        return SES_RELATION_FORK;
    if (place.user.ptr && others.user.ptr && place.seq == others.seq &&
        ses__span_is(place.user, others.user) && ses__span_is(place.session, others.session))
        return SES_RELATION_SIBLING;
    *seq = place.seq;
    return place.user.ptr && find_source(family, &place, own) == other ? SES_RELATION_PARENT : 0;
}

/* ------------------------------------------------------------------------------------------------ reading */

static int add_relative(struct family_run *run, const struct relative *relative, int relation, int64_t seq,
                        ses_error *error)
{
    ses_family *made = run->made;
    ses_relative *item = &made->items[made->count++];

    *item =
        (ses_relative){.relation = relation,
                       .user = ses__arena_text(&made->arena, relative->user.ptr, relative->user.len),
                       .session = ses__arena_text(&made->arena, relative->session.ptr, relative->session.len),
                       .seq = seq,
                       .created_us = relative->row.created_us};
    return item->user && item->session ? SES_OK : ses__error_nomem(error);
}

static int relate(struct family_run *run, struct family *family, ses_error *error)
{
    ses_family *made = run->made;
    int code = ses__family_sort(family, error);

    made->count = 0;
    made->items = ses__arena_new(&made->arena, (family->count + 1) * sizeof *made->items);
    if (code == SES_OK && !made->items)
        code = ses__error_nomem(error);
    for (size_t i = 0; i < family->count && code == SES_OK; i++) {
        int64_t seq = 0;
        const int relation = relation_of(family, &family->items[i], &seq);
        if (relation != 0)
            code = add_relative(run, &family->items[i], relation, seq, error);
    }
    return code;
}

static int run_family(struct db *db, void *context, ses_error *error)
{
    struct family_run *run = context;
    struct session_row row;
    struct family family;
    int code = ses__session_of(db, &(struct session_ref){run->key, NULL}, &row, error);

    ses__arena_reset(&run->made->arena); /* of an earlier run */
    if (code != SES_OK)
        return code;
    code = ses__family_read(db, &row, run->key, &family, error);
    if (code == SES_OK)
        code = relate(run, &family, error);
    ses__family_free(&family, db->allocator);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the calls */

static int open_family(ses_store *store, const ses_key *key, const ses_call_options *options,
                       ses_family **family, ses_error *error)
{
    struct limits limits;
    struct family_run run = {.key = key};
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = ses__take_call_options(store, options, &limits, error);
    if (code == SES_OK && !(run.made = ses__memory_zeroed(&store->allocator, sizeof *run.made)))
        code = ses__error_nomem(error);
    if (code != SES_OK)
        return code;
    ses__arena_init(&run.made->arena, &store->allocator);
    code = ses__run_within(store->storage, &limits, TO_READ, run_family, &run, error);
    if (code == SES_OK)
        *family = run.made;
    else
        ses_family_close(run.made);
    return code;
}

int ses_family_open(ses_store *store, const ses_key *key, const ses_call_options *options,
                    ses_family **family, ses_error *error)
{
    const int code = ses__store_begin_giving(store, family, "family", error);

    return code == SES_OK ? ses__store_end(store, open_family(store, key, options, family, error)) : code;
}

size_t ses_family_count(const ses_family *family)
{
    return family->count;
}

const ses_relative *ses_family_at(const ses_family *family, size_t index)
{
    return index < family->count ? &family->items[index] : NULL;
}

void ses_family_close(ses_family *family)
{
    if (!family)
        return;
    const ses_allocator *allocator = family->arena.allocator;
    ses__arena_free(&family->arena);
    ses__memory_free(allocator, family);
}
