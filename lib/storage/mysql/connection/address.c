/* Addresses: mysql://user:password@host:port/database?parameter=value&... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/mysql/connection/config.h"

enum { DEFAULT_PORT = 3306, MAX_PORT = 65535 };

static const char *const forms[] = {"mysql://", "mariadb://"};

static int refuse_address(const char *what, ses_error *error)
{
    return ses__error_set(
        error, SES_INVALID,
        "the address of the server %s: it has the form mysql://user:password@host:port/database", what);
}

static int hex_of(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    character = (char)(character | 0x20);
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* Copies a part of the address, with %XX decoded. NULL with an error. */
static const char *decode(struct mysql_address *address, const char *text, size_t len, int *code,
                          ses_error *error)
{
    char *copy = ses__arena_text(&address->texts, text, len);
    size_t end = 0;

    if (!copy && *code == SES_OK)
        *code = ses__error_nomem(error);
    for (size_t i = 0; copy && i < len; i++) {
        copy[end] = text[i];
        if (text[i] == '%') {
            const int high = i + 2 < len ? hex_of(text[i + 1]) : -1;
            const int low = high >= 0 ? hex_of(text[i + 2]) : -1;
            if (low < 0 || (high == 0 && low == 0)) {
                *code = refuse_address("has a % that no two hexadecimal digits follow", error);
                return NULL;
            }
            copy[end] = (char)(high * 16 + low);
            i += 2;
        }
        end++;
    }
    if (copy)
        copy[end] = '\0';
    return copy;
}

static int take_port(struct mysql_address *address, const char *text, size_t len, ses_error *error)
{
    unsigned port = 0;

    for (size_t i = 0; i < len && port <= MAX_PORT; i++) {
        if (text[i] < '0' || text[i] > '9')
            return refuse_address("has a port that is no number", error);
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    if (port > MAX_PORT || (len > 0 && port == 0))
        return refuse_address("has a port beyond 65535, or 0", error);
    address->port = len > 0 ? port : DEFAULT_PORT;
    return SES_OK;
}

/* host:port, with brackets around an IPv6 address. */
static int take_host(struct mysql_address *address, const char *text, size_t len, ses_error *error)
{
    const char *bracket = len > 0 && *text == '[' ? memchr(text, ']', len) : NULL;
    const char *after = bracket ? bracket + 1 : text;
    const char *colon = memchr(after, ':', len - (size_t)(after - text));
    const size_t end = colon ? (size_t)(colon - text) : len;
    int code = SES_OK;

    if (bracket)
        address->host = decode(address, text + 1, (size_t)(bracket - text) - 1, &code, error);
    else if (end > 0)
        address->host = decode(address, text, end, &code, error);
    if (code != SES_OK)
        return code;
    return colon ? take_port(address, colon + 1, len - end - 1, error) : SES_OK;
}

static int take_tls(struct mysql_address *address, const char *value, ses_error *error)
{
    static const char *const words[] = {
        [MYSQL_TLS_OFF] = "off", [MYSQL_TLS_ENCRYPT] = "encrypt", [MYSQL_TLS_VERIFY] = "verify"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value, words[i]) == 0) {
            address->tls = (enum mysql_tls)i;
            return SES_OK;
        }
    }
    return refuse_address("has a parameter tls that is not off, encrypt or verify", error);
}

static int take_parameter(struct mysql_address *address, const char *text, size_t len, ses_error *error)
{
    const struct {
        const char *name;
        const char **value;
    } texts[] = {{"socket", &address->socket},
                 {"tls-ca", &address->tls_ca},
                 {"tls-cert", &address->tls_cert},
                 {"tls-key", &address->tls_key}};
    const char *equals = memchr(text, '=', len);
    const size_t name = equals ? (size_t)(equals - text) : len;
    int code = SES_OK;
    const char *value = equals ? decode(address, equals + 1, len - name - 1, &code, error) : NULL;

    if (code != SES_OK || len == 0)
        return code;
    for (size_t i = 0; value && i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i].name) == name && memcmp(texts[i].name, text, name) == 0) {
            *texts[i].value = value;
            return SES_OK;
        }
    }
    if (value && name == strlen("tls") && memcmp(text, "tls", name) == 0)
        return take_tls(address, value, error);
    return ses__error_set(
        error, SES_INVALID,
        "the address of the server has an unknown parameter, or one without a value: \"%.*s\"", (int)name,
        text);
}

/* Everything after the form. */
static int take_parts(struct mysql_address *address, const char *text, ses_error *error)
{
    const size_t authority = strcspn(text, "/?");
    const char *const path = text + authority + (text[authority] == '/');
    const size_t database = strcspn(path, "?");
    const char *host = text;
    int code = SES_OK;

    for (const char *at = text; at < text + authority; at++) {
        if (*at == '@')
            host = at + 1;
    }
    if (host > text) { /* user:password */
        const size_t login = (size_t)(host - text) - 1;
        const char *colon = memchr(text, ':', login);
        const size_t user = colon ? (size_t)(colon - text) : login;
        address->user = decode(address, text, user, &code, error);
        if (colon && code == SES_OK)
            address->password = decode(address, colon + 1, login - user - 1, &code, error);
    }
    if (code == SES_OK)
        code = take_host(address, host, (size_t)(text + authority - host), error);
    if (code == SES_OK && text[authority] == '/' && database > 0)
        address->database = decode(address, path, database, &code, error);
    if (code == SES_OK && !address->database)
        code = refuse_address("names no database", error);
    const char *parameter = path[database] == '?' ? path + database + 1 : "";
    while (code == SES_OK && *parameter) {
        const size_t len = strcspn(parameter, "&");
        code = take_parameter(address, parameter, len, error);
        parameter += len + (parameter[len] == '&');
    }
    if (code == SES_OK && address->tls == MYSQL_TLS_OFF && address->tls_ca) /* it is given to be compared */
        address->tls = MYSQL_TLS_VERIFY;
    return code;
}

int ses__mysql_address_init(struct mysql_address *address, const ses_allocator *allocator, const char *uri,
                            ses_error *error)
{
    *address = (struct mysql_address){.port = DEFAULT_PORT};
    ses__arena_init(&address->texts, allocator);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const size_t len = strlen(forms[i]);
        if (strncmp(uri, forms[i], len) == 0)
            return take_parts(address, uri + len, error);
    }
    return refuse_address("does not begin with mysql:// or mariadb://", error);
}

void ses__mysql_address_free(struct mysql_address *address)
{
    ses__arena_free(&address->texts);
}

int ses__mysql_name(const char *uri, char **name, ses_error *error)
{
    static const char format[] = "mysql://%s:%u/%s";
    struct mysql_address address;
    ses_allocator allocator;

    ses__memory_default(&allocator);
    int code = ses__mysql_address_init(&address, &allocator, uri, error);
    if (code == SES_OK) {
        const char *host = address.host ? address.host : "localhost";
        const size_t len = strlen(host) + strlen(address.database) + sizeof format + 8;
        *name = ses__memory_text(&allocator, len);
        if (*name)
            (void)snprintf(*name, len, format, host, address.port, address.database);
        else
            code = ses__error_nomem(error);
    }
    ses__mysql_address_free(&address);
    return code;
}
