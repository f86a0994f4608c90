#include "files/place.h"

#include <stdio.h>
#include <string.h>

#ifdef WITH_POSTGRES
#include "seslite_postgres.h"
#endif

/* The length of the scheme at the beginning of an address, or 0 if the text is not an address. */
static size_t scheme_of(const char *place)
{
    static const char *const schemes[] = {"postgresql://", "postgres://"}; /* as libpq knows them */

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncmp(place, schemes[i], strlen(schemes[i])) == 0)
            return strlen(schemes[i]);
    return 0;
}

bool place_is_server(const char *place)
{
    return scheme_of(place) > 0;
}

/* ------------------------------------------------------------------------------------------------ opening */

#ifdef WITH_POSTGRES
static int open_server(const char *place, const ses_open_options *options, ses_store **store,
                       ses_error *error)
{
    return ses_open_postgres(place, options, NULL, store, error);
}
#else
static int open_server(const char *place, const ses_open_options *options, ses_store **store,
                       ses_error *error)
{
    (void)place;
    (void)options;
    *store = NULL;
    *error = (ses_error){.code = SES_MISUSE, .version = -1, .offset = -1, .index = -1};
    (void)snprintf(error->message, sizeof error->message,
                   "this seslite was built without PostgreSQL: rebuild it with make POSTGRES=1");
    return SES_MISUSE;
}
#endif

int place_open(const char *place, const ses_open_options *options, ses_store **store, ses_error *error)
{
    return place_is_server(place) ? open_server(place, options, store, error)
                                  : ses_open(place, options, store, error);
}

/* ------------------------------------------------------------------------------------------------ showing */

/* One address, after its scheme: user:password@host/database?parameters. */
static void add_address(struct text *text, const char *address, size_t len)
{
    const char *query = memchr(address, '?', len);
    const char *end = query ? query : address + len;
    const char *host = address;

    for (const char *at = address; at < end; at++)
        if (*at == '@')
            host = at;
    const char *colon = memchr(address, ':', (size_t)(host - address));
    text_add(text, address, (size_t)((colon ? colon : host) - address));
    text_add(text, host, (size_t)(end - host));
}

void place_add_clean(struct text *text, const char *words)
{
    while (*words) {
        const size_t scheme = scheme_of(words);
        if (scheme > 0) {
            const size_t len = strcspn(words + scheme, " \t\n\"'");
            text_add(text, words, scheme);
            add_address(text, words + scheme, len);
            words += scheme + len;
        } else {
            text_add(text, words++, 1);
        }
    }
    text_add(text, "", 0);
}
