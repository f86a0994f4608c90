/* ses_store_find: one call, and the page that it fills. The walk is made of public calls. */
#ifndef SESLITE_ERASE_FIND_FIND_H
#define SESLITE_ERASE_FIND_FIND_H

#include "seslite_erase.h"
#include "session/store.h"

enum { FIND_TEXT_MAX = 4096, FIND_PAGE_BYTES = 16 * 1024 * 1024 };

/* The next step of the walk. */
enum find_step {
    FIND_NEXT_APP,        /* after `app` */
    FIND_APP,             /* `app` itself */
    FIND_NEXT_USER,       /* of `app`, after `user` */
    FIND_USER,            /* `user` itself */
    FIND_USER_ARTIFACTS,  /* after `name` */
    FIND_NEXT_LOOSE,      /* the next name, after `session`, under which artifacts are, but no session */
    FIND_LOOSE_ARTIFACTS, /* of that */
    FIND_NEXT_SESSION,    /* after `token` */
    FIND_ONE_SESSION,     /* the scope is one */
    FIND_STATES,          /* of `session`, with its draft and its inbox */
    FIND_ARTIFACTS,       /* of `session`, after `name` */
    FIND_EVENTS,          /* of `session`, after `seq` */
    FIND_END
};

/* Names, each with room for the longest. */
struct find_place {
    int64_t step;
    int64_t seq;
    int64_t version; /* of the artifact that is read, from `offset` on */
    int64_t offset;
    char app[SES_ID_MAX + 1]; /* "": before the first; so of the others */
    char user[SES_ID_MAX + 1];
    char session_user[SES_ID_MAX + 1]; /* whose session it is */
    char session[SES_ID_MAX + 1];
    char name[SES_ID_MAX + 1];
    char *token;  /* of the list of sessions, after `session`; NULL: the list begins, or has ended */
    bool last;    /* the list has ended */
    bool reading; /* the artifact `name` is read; it may be deleted meanwhile */
};

struct ses_findings {
    ses_store *store;
    struct arena arena;
    struct {
        ses_finding *items;
        size_t count;
        size_t capacity;
    } found;
    char *token; /* NULL: it is the last page */
};

/* The state of one call. */
struct find {
    ses_store *store;
    const ses_key *scope; /* NULL: the whole store */
    struct span text;     /* without text: the caller's function finds */
    const ses_find_options *options;
    struct limits limits;
    struct find_place at;
    struct buffer plain; /* of one string */
    size_t limit;
    int64_t bytes_left; /* of the page */
    ses_findings *page;
};

static inline bool ses__find_is_full(const struct find *find)
{
    return find->page->found.count >= find->limit || find->bytes_left <= 0;
}

/* ---- look.c: looks into texts, and adds what is found */

/* Looks into a text or other bytes, and adds a copy of `what` to the page if they have a piece. */
SESLITE_PRIVATE int ses__find_in_bytes(struct find *find, const ses_finding *what, struct span bytes,
                                       ses_error *error);
/* The same for the strings, names and numbers of a JSON text. */
SESLITE_PRIVATE int ses__find_in_json(struct find *find, const ses_finding *what, struct span json,
                                      ses_error *error);
/* The same for the names and values of a JSON object of state keys, whose names get the prefix. */
struct state_kinds {
    const char *prefix;
    int key; /* the kind of the finding if the name has it */
    int value;
};
SESLITE_PRIVATE int ses__find_in_state(struct find *find, const ses_finding *what, struct state_kinds kinds,
                                       struct span json, ses_error *error);

/* ---- artifacts.c */

/* Looks into the artifact that is read, or the next one, and moves the place on. `*any` is false if there is
 * none. */
SESLITE_PRIVATE int ses__find_in_artifact(struct find *find, const ses_key *key, bool *any, ses_error *error);

/* Moves the place on to the next name under which the user has artifacts but no session. */
SESLITE_PRIVATE int ses__find_next_loose(struct find *find, bool *any, ses_error *error);

/* ---- walk.c */

/* Keeps a copy of a token of the list of sessions, or none if there is no text. */
SESLITE_PRIVATE int ses__find_keep_token(struct find *find, struct span token, ses_error *error);
/* Makes the next step, and moves the place on. */
SESLITE_PRIVATE int ses__find_step(struct find *find, ses_error *error);

#endif
