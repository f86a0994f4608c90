/* The classes that the actions of an event can contain in google-adk 1.0 to 1.21. */
#include <string.h>

#include "formats/pickle/tree.h"

static const struct pickle_class classes[] = {
    {"google.adk.events.event_actions", "EventActions", PICKLE_MODEL},
    {"google.adk.events.event_actions", "EventCompaction", PICKLE_MODEL},
    {"google.adk.events.ui_widget", "UiWidget", PICKLE_MODEL},
    {"google.adk.tools.tool_confirmation", "ToolConfirmation", PICKLE_MODEL},
    {"google.adk.auth.auth_tool", "AuthConfig", PICKLE_MODEL},
    {"google.adk.auth.auth_credential", NULL, PICKLE_MODEL},
    {"google.adk.auth.auth_schemes", NULL, PICKLE_MODEL},
    {"fastapi.openapi.models", NULL, PICKLE_MODEL},
    {"google.genai.types", NULL, PICKLE_MODEL},
    {"collections", "OrderedDict", PICKLE_ORDERED_DICT},
    {"builtins", "set", PICKLE_SET},
    {"builtins", "frozenset", PICKLE_SET},
    {"__builtin__", "set", PICKLE_SET}, /* their module in protocol 2 */
    {"__builtin__", "frozenset", PICKLE_SET},
};

static bool span_is(struct span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.ptr, text, span.len) == 0;
}

/* Accepts "Part" but not "Part.__init__": a name with a dot is not a class. */
static bool is_plain_name(struct span name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return name.len > 0 && name.ptr[0] >= 'A' && name.ptr[0] <= 'Z';
}

const struct pickle_class *pickle_class_of(struct span module, struct span name)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (span_is(module, classes[i].module) &&
            (classes[i].name ? span_is(name, classes[i].name) : is_plain_name(name)))
            return &classes[i];
    }
    return NULL;
}
