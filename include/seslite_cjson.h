/*
 * seslite for callers who hold cJSON trees. The rules at the head of seslite.h hold here too.
 *
 * cJSON keeps numbers as doubles and strings as C strings. So what is read through these calls may be rounded
 * (9007199254740993 becomes 9007199254740992) or cut (at a NUL); the text that is stored is not touched. What
 * is written is exactly what the tree holds: numbers with as many digits as it takes to read the same double
 * again. To store other numbers exactly, hand over text, or cJSON_CreateRaw. Strings and doubles are spelled as
 * every other call of the library spells them, so an event that a builder made is the same event as a tree.
 *
 * Trees that come out are the caller's (cJSON_Delete). cJSON's memory is cJSON's: its hooks, not the store's
 * allocator. Link with -lcjson; a program that calls nothing of this header needs no cJSON.
 */
#ifndef SESLITE_CJSON_H
#define SESLITE_CJSON_H

#include <cjson/cJSON.h>

#include "seslite_agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As ses_create, with the state as a tree (NULL: empty). INVALID also for a tree that is not JSON: a number
 * that is infinite or NaN, an item without a type; LIMIT for one nested more than 1000 levels deep. */
SES_API int ses_create_cjson(ses_store *store, const ses_key *key, const cJSON *state,
                             const ses_create_options *options, ses_session **session, ses_error *error);

/* As ses_append and ses_append_by_key. `error->offset` counts in the tree's text, printed without spaces. */
SES_API int ses_append_cjson(ses_session *session, const cJSON *event, const ses_append_options *options,
                             ses_appended *appended, ses_error *error);
SES_API int ses_append_by_key_cjson(ses_store *store, const ses_key *key, const cJSON *event,
                                    const ses_append_options *options, ses_appended *appended,
                                    ses_error *error);

/* The whole merged state; one value (or SES_ABSENT, and NULL); an event. LIMIT: cJSON does not take the text, as older
 * versions do not take numbers of more than 63 characters, or memory is out. */
SES_API int ses_state_cjson(const ses_session *session, cJSON **state, ses_error *error);
SES_API int ses_state_get_cjson(const ses_session *session, const char *name, cJSON **value,
                                ses_error *error);
SES_API int ses_event_cjson(const ses_event *event, cJSON **tree, ses_error *error);

/* As ses_tracked_set, ses_tracked_get (the tree is the caller's), ses_builder_content and ses_builder_field. */
SES_API int ses_tracked_set_cjson(ses_tracked *tracked, const char *name, const cJSON *value,
                                  ses_error *error);
SES_API int ses_tracked_get_cjson(const ses_tracked *tracked, const char *name, cJSON **value,
                                  ses_error *error);
SES_API int ses_builder_content_cjson(ses_builder *builder, const cJSON *content, ses_error *error);
SES_API int ses_builder_field_cjson(ses_builder *builder, const char *field, const cJSON *value,
                                    ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_CJSON_H */
