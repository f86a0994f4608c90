/* The table of formats. The more specific ones come first. */
#include "foreign/foreign.h"
#include "foreign/formats/formats.h"

const struct foreign_format *const foreign_formats[] = {
    &foreign_python_v1,
    &foreign_javascript,
    &foreign_python_sqlite,
    &foreign_rust,
    &foreign_python_v0,
    &foreign_go,
    &foreign_openai_branches,
    &foreign_openai,
    &foreign_vertex,
    &foreign_session_json,
    NULL,
};
