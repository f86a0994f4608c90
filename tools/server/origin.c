/*
 * Which pages may use the server. Any page that a browser shows can send requests to 127.0.0.1, and one whose
 * name's address has been changed to 127.0.0.1 ("DNS rebinding") even looks like the server's own. The rules
 * are google-adk's: the request must be addressed to this machine, and come from the server's own page or
 * from an allowed site.
 */
#include "server.h"

#include <regex.h>
#include <string.h>
#include <strings.h>

static const char scheme[] = "http://";
static const char pattern_prefix[] = "regex:";

/* The name without the port. */
static size_t name_len(const char *host)
{
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    const size_t len = bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":/");
    const size_t rest = host[len] == ':' ? strspn(host + len + 1, "0123456789") + 1 : 0;

    return host[len + rest] == '\0' && rest != 1 ? len : strlen(host); /* else it is no name, as a whole */
}

static bool is_this_machine(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    const size_t len = name_len(host);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && strncasecmp(host, names[i], len) == 0)
            return true;
    return false;
}

/* ----------------------------------------------------------------------------------------- allowed sites */

bool origin_is_valid(const char *origin)
{
    regex_t regex;
    bool ok = *origin != '\0';

    if (strncmp(origin, pattern_prefix, sizeof pattern_prefix - 1) == 0) {
        ok = regcomp(&regex, origin + sizeof pattern_prefix - 1, REG_EXTENDED | REG_NOSUB) == 0;
        if (ok)
            regfree(&regex);
    }
    return ok;
}

/* Returns true if the whole text matches. */
static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    regmatch_t match;

    if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return false; /* out of memory */
    const bool found =
        regexec(&regex, text, 1, &match, 0) == 0 && match.rm_so == 0 && text[match.rm_eo] == '\0';
    regfree(&regex);
    return found;
}

static bool allows_all(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->origin_count; i++)
        if (strcmp(arguments->origins[i], "*") == 0)
            return true;
    return false;
}

bool origin_is_allowed(const struct arguments *arguments, const char *origin)
{
    for (size_t i = 0; i < arguments->origin_count; i++) {
        const char *allowed = arguments->origins[i];
        const bool is_pattern = strncmp(allowed, pattern_prefix, sizeof pattern_prefix - 1) == 0;
        if (strcmp(allowed, "*") == 0 || strcmp(allowed, origin) == 0 ||
            (is_pattern && matches(allowed + sizeof pattern_prefix - 1, origin)))
            return true;
    }
    return false;
}

/* A site that is allowed may also be the name under which a proxy reaches this server. */
static bool is_allowed_host(const struct arguments *arguments, const char *host)
{
    const size_t len = name_len(host);

    for (size_t i = 0; i < arguments->origin_count; i++) {
        const char *name = strstr(arguments->origins[i], "://");
        if (name && name_len(name + 3) == len && strncasecmp(name + 3, host, len) == 0)
            return true;
    }
    return allows_all(arguments);
}

static bool is_own_page(const struct arguments *arguments, const char *origin, const char *host)
{
    const size_t len = sizeof scheme - 1;

    return host && strncmp(origin, scheme, len) == 0 && strcmp(origin + len, host) == 0 &&
           (arguments->origin_count > 0 || is_this_machine(origin + len));
}

const char *origin_refuse(const struct request *request)
{
    const struct arguments *arguments = &request->server->arguments;
    const char *host = request_header(request, MHD_HTTP_HEADER_HOST);
    const char *origin = request_header(request, MHD_HTTP_HEADER_ORIGIN);

    if (host && !is_this_machine(host) && !is_allowed_host(arguments, host))
        return "Forbidden: host not allowed";
    if (origin && !origin_is_allowed(arguments, origin) && !is_own_page(arguments, origin, host))
        return "Forbidden: origin not allowed";
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ replies */

static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

bool origin_allow(const struct request *request, struct MHD_Response *response)
{
    const struct arguments *arguments = &request->server->arguments;
    const char *origin = request_header(request, MHD_HTTP_HEADER_ORIGIN);
    const bool is_same_for_all = arguments->origin_count == 0 || allows_all(arguments);

    if (!is_same_for_all && !add(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN))
        return false;
    if (!origin || !origin_is_allowed(arguments, origin))
        return true;
    if (allows_all(arguments) && !request_header(request, MHD_HTTP_HEADER_COOKIE))
        origin = "*";
    return add(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin) &&
           add(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
}
