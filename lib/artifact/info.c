#include "artifact/artifact.h"
#include "base/error.h"

/* NULL for an absent text. */
static const char *copy(struct span text, struct arena *arena, bool *copied)
{
    const char *made = text.ptr ? ses__arena_text(arena, text.ptr, text.len) : NULL;

    *copied = *copied && (made || !text.ptr);
    return made;
}

int ses__artifact_info_make(struct artifact_info *info, const struct artifact_row *row,
                            const struct artifact_call *call, struct arena *arena, ses_error *error)
{
    bool copied = true;

    info->content_id = row->content_id;
    info->shown = (ses_artifact_info){.name = copy(row->name, arena, &copied),
                                      .version = row->version,
                                      .created_us = row->created_us,
                                      .size = row->size,
                                      .kind = (int)row->kind,
                                      .mime_type = copy(row->mime_type, arena, &copied),
                                      .display_name = copy(row->display_name, arena, &copied),
                                      .metadata = copy(row->metadata, arena, &copied),
                                      .metadata_len = row->metadata.len,
                                      .hash = copy(row->hash, arena, &copied),
                                      .uri = ses__artifact_uri(arena, call, row->name, row->version)};
    return copied && info->shown.uri ? SES_OK : ses__error_nomem(error);
}
