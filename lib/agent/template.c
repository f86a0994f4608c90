/* Instruction templates: text in which {name} is replaced by a value of the state. */
#include "agent/identifier_table.h"
#include "agent/tracked.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "model/state/state.h"
#include "seslite_artifact.h"
#include "session/handle.h"

/* The value of a key, or SES_ABSENT. */
typedef int value_source(const void *state, const char *name, struct span *value, ses_error *error);

struct renderer {
    const ses_allocator *allocator;
    value_source *source;
    const void *state; /* the session or the view */
    const ses_session *session;
    ses_render_options options;
    struct buffer out;
    const char *text;
    const char *end;
    const char *copied; /* the text before it is in `out` */
};

/* ------------------------------------------------------------------------------------------- names */

enum { IDENTIFIER_CONTINUES = 1, IDENTIFIER_STARTS = 2 };

/* Returns the kind of the last run that begins at the character or before it. */
static unsigned kind_above_ascii(uint32_t character)
{
    size_t low = 0;
    size_t high = sizeof identifier_runs / sizeof identifier_runs[0];

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (identifier_runs[middle] >> 2 <= character)
            low = middle;
        else
            high = middle;
    }
    return identifier_runs[low] & (IDENTIFIER_CONTINUES | IDENTIFIER_STARTS);
}

/* Returns the length in bytes of the character at `text`, which is valid UTF-8, if it may do that in an
 * identifier, as Python's str.isidentifier defines them, otherwise 0. */
static size_t identifier_len(const char *text, unsigned kind)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const bool is_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
    unsigned own = is_letter                      ? IDENTIFIER_STARTS | IDENTIFIER_CONTINUES
                   : first >= '0' && first <= '9' ? IDENTIFIER_CONTINUES
                                                  : 0;

    if (first >= 0x80)
        own = kind_above_ascii(ses__utf8_decode(text, len));
    return own & kind ? len : 0;
}

enum name_kind { NAME_NONE, NAME_KEY, NAME_DOTTED, NAME_ARTIFACT };

struct placeholder {
    enum name_kind kind;
    bool optional;
    struct span name; /* of a key, with its prefix; of an artifact, without */
};

static const struct span artifact_prefix = {"artifact.", 9};

static enum name_kind kind_of(struct span name)
{
    struct span key;
    enum name_kind kind = NAME_KEY;

    (void)ses__scope_of(name, &key);
    size_t at = key.len > 0 ? identifier_len(key.ptr, IDENTIFIER_STARTS) : 0;
    if (at == 0)
        return NAME_NONE;
    while (at < key.len) {
        const bool dot = key.ptr[at] == '.';
        const size_t len = dot ? 1 : identifier_len(key.ptr + at, IDENTIFIER_CONTINUES);
        if (len == 0)
            return NAME_NONE;
        if (dot)
            kind = NAME_DOTTED;
        at += len;
    }
    return kind;
}

/* True for the characters that Python's str.isspace accepts. */
static bool is_white(uint32_t character)
{
    return (character >= 0x9 && character <= 0xd) || (character >= 0x1c && character <= 0x20) ||
           character == 0x85 || character == 0xa0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200a) || character == 0x2028 || character == 0x2029 ||
           character == 0x202f || character == 0x205f || character == 0x3000;
}

/* The text, which is valid UTF-8, without white space around it. */
static struct span trim_white(struct span text)
{
    const char *end = text.ptr + text.len;
    const char *start = NULL; /* of the text that stays, and the byte after it */
    const char *stop = text.ptr;

    for (const char *at = text.ptr; at < end;) {
        const size_t len = ses__utf8_character(at, end);
        const bool white = is_white(ses__utf8_decode(at, len));
        if (!white && !start)
            start = at;
        at += len;
        if (!white)
            stop = at;
    }
    return start ? (struct span){start, (size_t)(stop - start)} : (struct span){text.ptr, 0};
}

/* Reads the text between the braces. */
static struct placeholder read_placeholder(struct span inside, unsigned flags)
{
    struct placeholder placeholder = {
        NAME_NONE, false, flags & SES_RENDER_ADK_SPACES ? trim_white(inside) : ses__json_trim(inside)};
    struct span *name = &placeholder.name;

    if (name->len > 0 && name->ptr[name->len - 1] == '?') {
        placeholder.optional = true;
        name->len--;
    }
    if (name->len >= artifact_prefix.len &&
        memcmp(name->ptr, artifact_prefix.ptr, artifact_prefix.len) == 0 &&
        !memchr(name->ptr, '\0', name->len)) {
        placeholder.kind = NAME_ARTIFACT;
        *name = (struct span){name->ptr + artifact_prefix.len, name->len - artifact_prefix.len};
    } else {
        placeholder.kind = kind_of(*name);
    }
    return placeholder;
}

/* ------------------------------------------------------------------------------------------- values */

static int add_value(struct renderer *renderer, const char *name, struct span value, ses_error *error)
{
    struct span trimmed = ses__json_trim(value); /* a value written by hand can have white space around it */
    enum json_type type = ses__json_type_of(trimmed);

    if (type == JSON_STRING)
        return ses__typed_add_text(trimmed, name, &renderer->out, error);
    if (type != JSON_NULL)
        ses__buffer_add(&renderer->out, trimmed.ptr, trimmed.len);
    return SES_OK;
}

/* Copies the text before `from`, and continues at `to`: the caller puts something else in between. */
static void replace(struct renderer *renderer, const char *from, const char *to)
{
    ses__buffer_add(&renderer->out, renderer->copied, (size_t)(from - renderer->copied));
    renderer->copied = to;
}

/* `from` and `to` are the placeholder's, braces included. */
static int put_key(struct renderer *renderer, const struct placeholder *placeholder, const char *from,
                   const char *to, ses_error *error)
{
    char name[sizeof "user:" + SES_ID_MAX];
    struct span value = {NULL, 0};
    bool fits = placeholder->name.len < sizeof name; /* a longer name is not a key */
    size_t len = fits ? placeholder->name.len : sizeof name - 1;
    int code;

    memcpy(name, placeholder->name.ptr, len);
    name[len] = '\0';
    code = fits ? renderer->source(renderer->state, name, &value, error) : SES_ABSENT;
    if (code == SES_ABSENT && placeholder->kind == NAME_DOTTED)
        return SES_OK; /* the text stays as it is */
    if (code == SES_ABSENT && !placeholder->optional)
        return ses__error_set(
            error, SES_NOTFOUND,
            "the template names the state key \"%.200s\", which does not exist; write {%.200s?} to make it optional",
            name, name);
    if (code == SES_OK || code == SES_ABSENT)
        replace(renderer, from, to);
    else
        ses__error_prefix(error, "the state key \"%.200s\" of the template: ", name);
    return code == SES_OK ? add_value(renderer, name, value, error) : code == SES_ABSENT ? SES_OK : code;
}

/* ---------------------------------------------------------------------------------------- artifacts */

/* No model reads more. */
#define MAX_RENDERED_BYTES (INT64_C(64) << 20)

/* Reads an artifact of the session, or of its user, from the store, as a ses_artifact_reader does. */
static int read_artifact(const ses_session *session, const char *name, char **text, size_t *len,
                         ses_error *error)
{
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    ses_store *store = ses__session_store(session);
    ses_artifact *artifact = NULL;
    int code = ses_artifact_open_by_key(store, &key, name, NULL, &artifact, error);
    const int64_t size = code == SES_OK ? ses_artifact_info_of(artifact)->size : 0;

    if (size > MAX_RENDERED_BYTES)
        code = ses__error_set(error, SES_LIMIT, "it has %lld bytes, more than 64 MiB", (long long)size);
    if (code == SES_OK) {
        *text = ses__memory_text(ses__store_allocator(store), (size_t)size);
        code =
            *text ? ses_artifact_read(artifact, 0, *text, (size_t)size, len, error) : ses__error_nomem(error);
    }
    ses_artifact_close(artifact);
    return code;
}

/* Calls the callback, and checks that it keeps its contract; or reads the artifact from the store. */
static int ask_for_artifact(struct renderer *renderer, const char *name, char **text, size_t *len,
                            ses_error *error)
{
    ses_error own;
    int code;

    ses__error_clear(&own);
    code = renderer->options.artifacts
               ? renderer->options.artifacts(renderer->options.artifacts_context, name, text, len, &own)
               : read_artifact(renderer->session, name, text, len, &own);
    if (code != SES_OK) {
        code = ses__error_called(error, code, 0, &own, "reads artifacts");
        ses__error_prefix(error, "the artifact \"%.200s\": ", name);
        return code;
    }
    if (!*text)
        return ses__error_set(error, SES_MISUSE, "the artifact callback returned no text for \"%.200s\"",
                              name);
    if (!ses__utf8_valid(*text, *len))
        return ses__error_set(error, SES_INVALID, "the artifact \"%.200s\" is not valid UTF-8", name);
    return SES_OK;
}

static int put_artifact(struct renderer *renderer, const struct placeholder *placeholder, const char *from,
                        const char *to, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    char *name = ses__memory_text_of(renderer->allocator, placeholder->name);
    int code;

    if (!name)
        code = ses__error_nomem(error);
    else if (placeholder->name.len == 0)
        code = ses__error_set(error, SES_INVALID, "the template asks for an artifact without a name");
    else
        code = ask_for_artifact(renderer, name, &text, &len, error);
    if (code == SES_OK || (code == SES_NOTFOUND && placeholder->optional)) {
        replace(renderer, from, to);
        ses__buffer_add(&renderer->out, text, code == SES_OK ? len : 0);
        code = SES_OK;
    }
    ses_free(text);
    ses_free(name);
    return code;
}

/* ----------------------------------------------------------------------------------------- the pass */

static const char *after_run(const char *p, const char *end, char byte)
{
    while (p < end && *p == byte)
        p++;
    return p;
}

/* Handles the text that an opening brace starts, and sets where to continue. */
static int render_braces(struct renderer *renderer, const char **at, ses_error *error)
{
    bool runs = (renderer->options.flags & SES_RENDER_ADK_BRACES) != 0;
    const char *from = *at;
    const char *inside = after_run(from, renderer->end, '{');
    bool starts = runs || inside - from == 1; /* a brace next to another does not start anything */
    const char *closing = inside;
    int code = SES_OK;

    while (starts && closing < renderer->end && *closing != '{' && *closing != '}')
        closing++;
    *at = closing;
    if (starts && closing < renderer->end && *closing == '}') {
        struct placeholder placeholder =
            read_placeholder((struct span){inside, (size_t)(closing - inside)}, renderer->options.flags);
        *at = runs ? after_run(closing, renderer->end, '}') : closing + 1;
        if (placeholder.kind == NAME_ARTIFACT)
            code = put_artifact(renderer, &placeholder, from, *at, error);
        else if (placeholder.kind != NAME_NONE)
            code = put_key(renderer, &placeholder, from, *at, error);
    }
    return code;
}

static int run(struct renderer *renderer, ses_error *error)
{
    const char *at = renderer->text;
    int code = SES_OK;

    ses__buffer_reserve(&renderer->out, (size_t)(renderer->end - renderer->text));
    while (code == SES_OK && at) {
        at = at < renderer->end ? memchr(at, '{', (size_t)(renderer->end - at)) : NULL;
        if (at)
            code = render_braces(renderer, &at, error);
    }
    if (code == SES_OK)
        replace(renderer, renderer->end, renderer->end);
    return code;
}

static int render(struct renderer *renderer, const char *text, size_t len, const ses_render_options *options,
                  char **rendered, size_t *rendered_len, ses_error *error)
{
    struct span span;
    int code = ses__check_span(text, len, "text", &span, error);

    if (code == SES_OK)
        code = ses__take_flagged(&renderer->options, sizeof renderer->options, options,
                                 SES_RENDER_ADK_BRACES | SES_RENDER_ADK_SPACES, "render options", error);
    if (code != SES_OK)
        return code;
    size_t valid = ses__utf8_valid_part(span.ptr, span.len);
    if (valid < span.len)
        return ses__error_at(error, SES_INVALID, valid, "at byte %zu: the template is not valid UTF-8",
                             valid);
    renderer->text = renderer->copied = span.ptr;
    renderer->end = span.ptr + span.len;
    ses__buffer_init_text(&renderer->out, renderer->allocator);
    return ses__buffer_give(&renderer->out, run(renderer, error), rendered, rendered_len, error);
}

/* ----------------------------------------------------------------------------------------- the calls */

static int session_source(const void *state, const char *name, struct span *value, ses_error *error)
{
    return ses_state_get(state, name, &value->ptr, &value->len, error);
}

static int tracked_source(const void *state, const char *name, struct span *value, ses_error *error)
{
    return ses__tracked_value(state, name, value, error);
}

int ses_render(const ses_session *session, const char *text, size_t len, const ses_render_options *options,
               char **rendered, size_t *rendered_len, ses_error *error)
{
    struct renderer renderer = {.source = session_source, .state = session, .session = session};
    int code = ses__check_output(rendered, "rendered", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code != SES_OK)
        return code;
    renderer.allocator = ses__store_allocator(ses__session_store(session));
    return render(&renderer, text, len, options, rendered, rendered_len, error);
}

int ses_tracked_render(const ses_tracked *tracked, const char *text, size_t len,
                       const ses_render_options *options, char **rendered, size_t *rendered_len,
                       ses_error *error)
{
    struct renderer renderer = {.source = tracked_source, .state = tracked};
    int code = ses__check_output(rendered, "rendered", error);

    if (code == SES_OK)
        code = ses__tracked_check(tracked, error);
    if (code != SES_OK)
        return code;
    renderer.allocator = tracked->allocator;
    renderer.session = tracked->session;
    return render(&renderer, text, len, options, rendered, rendered_len, error);
}

char *ses_text_make(ses_store *store, size_t len)
{
    return store ? ses__memory_text(ses__store_allocator(store), len) : NULL;
}
