/* Converts parts of a content as Rust's adk-session writes them, where the members identify the kind. */
#ifndef FORMATS_READ_RUST_PARTS_H
#define FORMATS_READ_RUST_PARTS_H

#include "formats/read/adk.h"

/* Adds the member `content` to the event, with its parts as the ADK writes them. Unknown parts are kept
 * unchanged. The JSON has been checked. */
void rust_content(struct adk_source *source, struct span content);

#endif
