/* A session as a Markdown document, for people to read. */
#include "agent/markdown.h"

#include <string.h>

#include "agent/content.h"
#include "base/argument.h"
#include "base/error.h"
#include "json/object.h"
#include "model/calls.h"
#include "model/event/timestamp.h"
#include "session/handle.h"

/* A call, and the response that is shown with it; NULL: none was found. */
struct told_call {
    struct call call;
    const ses_function *response;
};

/* An event. The arrays have an element for each call and each response of its content. */
struct told_event {
    const ses_event *event;
    ses_content *content; /* NULL: its fields have other types than an event's */
    struct told_call *calls;
    bool *has_call; /* which shows the response */
};

struct markdown {
    const ses_session *session;
    bool only_texts; /* SES_MARKDOWN_TEXTS */
    struct buffer out;
    struct arena arena;
    struct calls book;
    struct told_event *events;
    size_t event_count;
    const char *author; /* of the last heading; NULL: there is none */
};

static struct span of_text(ses_text text)
{
    return (struct span){text.text, text.len};
}

/* ------------------------------------------------------------------------------------ calls and responses */

static int match_told_functions(struct markdown *markdown, struct told_event *told, ses_error *error)
{
    const size_t calls = ses_content_call_count(told->content);
    const size_t responses = ses_content_response_count(told->content);

    told->calls = ses__arena_new(&markdown->arena, calls * sizeof *told->calls);
    told->has_call = ses__arena_new(&markdown->arena, responses * sizeof *told->has_call);
    if (!told->calls || !told->has_call)
        return ses__error_nomem(error);
    for (size_t i = 0; i < calls; i++) {
        const ses_function *call = ses_content_call(told->content, i);
        told->calls[i].response = NULL;
        if (!ses__calls_add(&markdown->book, of_text(call->id), of_text(call->name), &told->calls[i].call))
            return ses__error_nomem(error);
    }
    for (size_t i = 0; i < responses; i++) {
        const ses_function *response = ses_content_response(told->content, i);
        struct told_call *call = (struct told_call *)ses__calls_answer(&markdown->book, of_text(response->id),
                                                                       of_text(response->name));
        told->has_call[i] = call && !call->response;
        if (told->has_call[i])
            call->response = response;
    }
    return SES_OK;
}

static int open_told_event(struct markdown *markdown, struct told_event *told, ses_error *error)
{
    const ses_event *event = told->event;
    ses_error wrong;
    int code = ses_content_open(ses__session_store(markdown->session), event->json, event->json_len,
                                &told->content, &wrong);

    if (code == SES_OK)
        return match_told_functions(markdown, told, error);
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    return code == SES_INVALID ? SES_OK
                               : ses__error_set(error, SES_CORRUPT, "the stored event %lld is not JSON (%s)",
                                                (long long)event->seq, wrong.message);
}

static int open_told_events(struct markdown *markdown, ses_error *error)
{
    const size_t count = ses_session_event_count(markdown->session);
    int code = SES_OK;

    /* Room for one more: an arena that has begun gives even an empty array an address. */
    markdown->events = ses__arena_new(&markdown->arena, (count + 1) * sizeof *markdown->events);
    if (!markdown->events)
        return ses__error_nomem(error);
    while (markdown->event_count < count && code == SES_OK) {
        struct told_event *told = &markdown->events[markdown->event_count];
        *told = (struct told_event){.event = ses_session_event(markdown->session, markdown->event_count)};
        markdown->event_count++;
        code = open_told_event(markdown, told, error);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* Begins a block of the event, with a heading if the author is another. */
static void begin_block(struct markdown *markdown, const ses_event *event)
{
    struct buffer *out = &markdown->out;
    char date[TIMESTAMP_ROOM];

    if (markdown->author && strcmp(markdown->author, event->author) == 0)
        return;
    markdown->author = event->author;
    ses__timestamp_to_date(event->time_us, date);
    ses__buffer_add_word(out, "## ");
    ses__markdown_plain(out, ses__span_of(event->author[0] ? event->author : "(no author)"));
    ses__buffer_add_word(out, ", ");
    ses__buffer_add_word(out, date);
    ses__buffer_add_word(out, " UTC\n\n");
}

/* A block that is folded: https://html.spec.whatwg.org/#the-details-element. The empty line lets Markdown
 * follow. A name without text is none. */
static void begin_fold(struct buffer *out, const char *words, ses_text name, const char *more_words)
{
    ses__buffer_add_word(out, "<details><summary>");
    ses__buffer_add_word(out, words);
    if (name.text) {
        ses__buffer_add_word(out, " <code>");
        ses__markdown_html(out, of_text(name));
        ses__buffer_add_word(out, "</code>");
    }
    ses__buffer_add_word(out, more_words);
    ses__buffer_add_word(out, "</summary>\n\n");
}

static void end_fold(struct buffer *out)
{
    ses__buffer_add_word(out, "</details>\n\n");
}

static const ses_text unnamed = {NULL, 0};

static void put_json(struct buffer *out, ses_text json)
{
    ses__markdown_code(out, "json", json.text ? of_text(json) : ses__span_of("{}"));
}

static void fold_json(struct buffer *out, const char *words, ses_text name, ses_text json)
{
    begin_fold(out, words, name, "");
    put_json(out, json);
    end_fold(out);
}

static void fold_call(struct buffer *out, const ses_function *call, const ses_function *response)
{
    begin_fold(out, "Call", call->name, response ? "" : ", no response");
    put_json(out, call->json);
    if (response) {
        ses__buffer_add_word(out, "Response:\n\n");
        put_json(out, response->json);
    }
    end_fold(out);
}

/* Adds words, and plain texts after them, in italics on a line of their own. */
static void put_note(struct buffer *out, const char *words, const struct span *texts, size_t count)
{
    bool is_first = true;

    ses__buffer_add_word(out, "*");
    ses__buffer_add_word(out, words);
    for (size_t i = 0; i < count; i++) {
        if (texts[i].len == 0)
            continue;
        ses__buffer_add_word(out, is_first ? ": " : ", ");
        ses__markdown_plain(out, texts[i]);
        is_first = false;
    }
    ses__buffer_add_word(out, "*\n\n");
}

/* ------------------------------------------------------------------------------------------- other parts */

/* A part that is a file, or code: https://ai.google.dev/api/caching#Part. */
struct other_part {
    size_t kinds; /* 1, unless something is wrong */
    bool is_file;
    struct span name;
    struct span type;
    struct span uri;
    struct span language;
    struct span code;
    struct span output;
};

#define OTHER_TEXT(member) \
    JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct other_part, member), ses__json_read_text, NULL

static const struct json_object other_fields = {
    "the part", "",
    JSON_FIELDS({"displayName", "display_name", OTHER_TEXT(name)},
                {"mimeType", "mime_type", OTHER_TEXT(type)}, {"fileUri", "file_uri", OTHER_TEXT(uri)},
                {"language", NULL, OTHER_TEXT(language)}, {"code", NULL, OTHER_TEXT(code)},
                {"output", NULL, OTHER_TEXT(output)})};

static int read_told_code(void *into, const struct json_found *found, ses_error *error)
{
    struct other_part *part = into;

    part->kinds++;
    return ses__json_take_object(found, &other_fields, part, error);
}

static int read_told_file(void *into, const struct json_found *found, ses_error *error)
{
    struct other_part *part = into;

    part->is_file = true;
    return read_told_code(into, found, error);
}

#define OTHER_OBJECT JSON_MAY_BE(JSON_OBJECT)

static const struct json_object other_part_fields = {
    "the part", "",
    JSON_FIELDS({"inlineData", "inline_data", OTHER_OBJECT, read_told_file, NULL},
                {"fileData", "file_data", OTHER_OBJECT, read_told_file, NULL},
                {"executableCode", "executable_code", OTHER_OBJECT, read_told_code, NULL},
                {"codeExecutionResult", "code_execution_result", OTHER_OBJECT, read_told_code, NULL})};

/* A part of another kind, or with fields of other types, is shown as it is. */
static void put_other_part(struct markdown *markdown, ses_text json)
{
    struct buffer *out = &markdown->out;
    struct other_part part = {.kinds = 0};
    struct json_reader reader;
    ses_error wrong;

    ses__json_start(&reader, json.text, json.len);
    reader.arena = &markdown->arena;
    reader.shows = true;
    const int code = ses__json_read_last(&reader, &other_part_fields, &part, &wrong);
    const bool is_known = code == SES_OK && part.kinds == 1;
    out->failed = out->failed || code == SES_NOMEM;
    if (is_known && part.is_file) {
        put_note(out, "File", (struct span[]){part.name, part.type, part.uri}, 3);
    } else if (is_known && part.code.ptr) {
        const bool is_python = ses__span_is(part.language, ses__span_of("PYTHON"));
        ses__markdown_code(out, is_python ? "python" : "", part.code);
    } else if (is_known && part.output.ptr) {
        ses__buffer_add_word(out, "Output:\n\n");
        ses__markdown_code(out, "", part.output);
    } else {
        fold_json(out, "Part", unnamed, json);
    }
}

/* ------------------------------------------------------------------------------------------------- events */

/* Adds the texts of the part and of those after it that continue it, since a model streams a text in several
 * parts. Returns the index of the last one. */
static size_t put_texts(struct markdown *markdown, const ses_content *content, size_t index)
{
    const int thought = ses_content_part(content, index)->thought;
    const ses_part *next = NULL;
    struct buffer whole;

    ses__buffer_init(&whole, markdown->out.allocator);
    for (;; index++) {
        const ses_part *part = ses_content_part(content, index);
        next = ses_content_part(content, index + 1);
        ses__buffer_add(&whole, part->text.text, part->text.len);
        if (!next || !next->text.text || next->call || next->response || next->thought != thought)
            break;
    }
    if (thought)
        begin_fold(&markdown->out, "Thought", unnamed, "");
    ses__markdown_text(&markdown->out, (struct span){whole.data, whole.len});
    if (thought)
        end_fold(&markdown->out);
    markdown->out.failed = markdown->out.failed || whole.failed;
    ses__buffer_free(&whole);
    return index;
}

static void put_parts(struct markdown *markdown, const struct told_event *told)
{
    const ses_content *content = told->content;
    size_t call = 0;
    size_t response = 0;

    for (size_t i = 0; i < ses_content_part_count(content); i++) {
        const ses_part *part = ses_content_part(content, i);
        const bool is_said = !part->call && !part->response && part->text.text && !part->thought;
        const bool is_told = part->response && told->has_call[response++];
        const struct told_call *told_call = part->call ? &told->calls[call++] : NULL;
        if (is_told || (markdown->only_texts && !is_said) || (part->text.text && part->text.len == 0))
            continue;
        begin_block(markdown, told->event);
        if (part->call)
            fold_call(&markdown->out, part->call, told_call->response);
        else if (part->response)
            fold_json(&markdown->out, "Response", part->response->name, part->response->json);
        else if (part->text.text)
            i = put_texts(markdown, content, i);
        else
            put_other_part(markdown, part->json);
    }
}

/* Adds the summary that replaces earlier events for a model. */
static void put_summary(struct markdown *markdown, const struct told_event *told)
{
    const ses_compaction *compaction = ses_content_compaction(told->content);
    ses_content *summary = NULL;
    struct buffer event;
    ses_error wrong;

    ses__buffer_init(&event, markdown->out.allocator);
    ses__buffer_add_word(&event, "{\"content\":");
    ses__buffer_add(&event, compaction->content.text, compaction->content.len);
    ses__buffer_add_word(&event, "}");
    const int code = event.failed ? SES_NOMEM
                                  : ses_content_open(ses__session_store(markdown->session), event.data,
                                                     event.len, &summary, &wrong);
    begin_block(markdown, told->event);
    begin_fold(&markdown->out, "Summary of earlier events", unnamed, "");
    if (code == SES_OK)
        ses__markdown_text(&markdown->out, (struct span){summary->text.data, summary->text.len});
    else
        put_json(&markdown->out, compaction->content);
    end_fold(&markdown->out);
    markdown->out.failed = markdown->out.failed || code == SES_NOMEM;
    ses_content_close(summary);
    ses__buffer_free(&event);
}

static void put_event(struct markdown *markdown, const struct told_event *told)
{
    const ses_event *event = told->event;

    if (!told->content) {
        begin_block(markdown, event);
        fold_json(&markdown->out, "Event", unnamed, (ses_text){event->json, event->json_len});
        return;
    }
    put_parts(markdown, told);
    if (ses_content_compaction(told->content) && !markdown->only_texts)
        put_summary(markdown, told);
    if (ses_content_error_code(told->content).len > 0 || ses_content_error_message(told->content).len > 0) {
        begin_block(markdown, event);
        put_note(&markdown->out, "Error",
                 (struct span[]){of_text(ses_content_error_code(told->content)),
                                 of_text(ses_content_error_message(told->content))},
                 2);
    }
}

/* ----------------------------------------------------------------------------------------------- sessions */

static void put_named(struct buffer *out, const char *words, const char *name)
{
    ses__buffer_add_word(out, words);
    ses__markdown_plain(out, ses__span_of(name));
}

static void put_head(struct markdown *markdown)
{
    const ses_session *session = markdown->session;
    struct buffer *out = &markdown->out;
    char date[TIMESTAMP_ROOM];

    ses__timestamp_to_date(ses_session_created_us(session), date);
    put_named(out, "# ", ses_session_title(session) ? ses_session_title(session) : ses_session_id(session));
    put_named(out, "\n\nApp ", ses_session_app(session));
    put_named(out, ", user ", ses_session_user(session));
    put_named(out, ", session ", ses_session_id(session));
    ses__buffer_add_word(out, ", created ");
    ses__buffer_add_word(out, date);
    ses__buffer_add_word(out, " UTC\n\n");
}

int ses_session_markdown(const ses_session *session, const ses_markdown_options *options, char **text,
                         size_t *len, ses_error *error)
{
    struct markdown markdown = {.session = session};
    ses_markdown_options own;
    int code = ses__check_output(text, "text", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code == SES_OK)
        code = ses__take_flagged(&own, sizeof own, options, SES_MARKDOWN_TEXTS, "markdown options", error);
    if (code != SES_OK)
        return code;
    const ses_allocator *allocator = ses__store_allocator(ses__session_store(session));
    markdown.only_texts = (own.flags & SES_MARKDOWN_TEXTS) != 0;
    markdown.book =
        (struct calls){.allocator = allocator, .seed = ses__store_seed(ses__session_store(session))};
    ses__arena_init(&markdown.arena, allocator);
    ses__buffer_init_text(&markdown.out, allocator);
    code = open_told_events(&markdown, error);
    if (code == SES_OK)
        put_head(&markdown);
    for (size_t i = 0; code == SES_OK && i < markdown.event_count; i++)
        put_event(&markdown, &markdown.events[i]);
    for (size_t i = 0; i < markdown.event_count; i++)
        ses_content_close(markdown.events[i].content);
    ses__calls_free(&markdown.book);
    ses__arena_free(&markdown.arena);
    return ses__buffer_give(&markdown.out, code, text, len, error);
}
