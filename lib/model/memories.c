#include "model/memories.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256/sha256.h"

#define OF_ALL "memory:"
#define OF_PROJECT MEMORY_PROJECT ":"
#define NOTES "notes"
#define HASHED "sha256:"

static bool has_beginning(struct span text, const char *beginning)
{
    const size_t len = strlen(beginning);
    return text.len >= len && memcmp(text.ptr, beginning, len) == 0;
}

bool ses__memories_is_name(struct span name)
{
    return has_beginning(name, OF_ALL) || has_beginning(name, OF_PROJECT);
}

static void hash_text(const char *text, char hex[SHA256_HEX + 1])
{
    struct sha256 hash;

    ses__sha256_init(&hash);
    ses__sha256_add(&hash, text, strlen(text));
    ses__sha256_end(&hash, hex);
}

void ses__memories_name(const char *project, const char *session, char name[SES_ID_MAX + 1])
{
    char of_project[SHA256_HEX + 1] = "";
    char of_session[SHA256_HEX + 1];
    /* An id that is too long, or looks like something else here. */
    const bool is_hashed =
        session && (project || strcmp(session, NOTES) == 0 || has_beginning(ses__span_of(session), HASHED) ||
                    sizeof OF_ALL - 1 + strlen(session) > SES_ID_MAX);

    if (project)
        hash_text(project, of_project);
    if (is_hashed)
        hash_text(session, of_session);
    (void)snprintf(name, SES_ID_MAX + 1, "%s%s%s%s%s", project ? OF_PROJECT : OF_ALL, of_project,
                   project ? ":" : "", is_hashed ? HASHED : "",
                   is_hashed ? of_session
                   : session ? session
                             : NOTES);
}
