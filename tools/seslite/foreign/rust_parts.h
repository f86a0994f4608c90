/* Parts of a content as Rust's adk-session writes them, which says by their members what they are. */
#ifndef FOREIGN_RUST_PARTS_H
#define FOREIGN_RUST_PARTS_H

#include "foreign/adk.h"

/* Adds the member `content` to the event, with its parts as the ADK writes them. Parts that are not known stay
 * as they are. The JSON was accepted before. */
void rust_content(struct adk_source *source, struct span content);

#endif
