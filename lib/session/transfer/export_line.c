/* Writes the lines of an export. */
#include <string.h>

#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"
#include "session/transfer/export.h"

enum { WRITTEN_AT_ONCE = 64 * 1024 };

int ses__export_flush(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    ses_error own;

    if (out->len == 0)
        return SES_OK;
    ses__error_clear(&own);
    int code = call->write(call->write_context, out->data, out->len, &own);
    ses__buffer_cut(out, 0);
    call->line = 0;
    return ses__error_called(error, code, 0, &own, "writes");
}

void ses__export_begin(struct export_call *call, const char *kind)
{
    ses__buffer_add_word(&call->out, "{\"kind\":\"");
    ses__buffer_add_word(&call->out, kind);
    ses__buffer_add(&call->out, "\"", 1);
}

int ses__export_end(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    uint32_t *crc = call->in_session ? &call->session_crc : &call->crc;

    ses__buffer_add(out, "}\n", 2);
    if (out->failed)
        return ses__error_nomem(error);
    if (call->rehearses) {
        ses__buffer_cut(out, call->line);
        return SES_OK;
    }
    *crc = ses__crc32(&call->tables, *crc, out->data + call->line, out->len - call->line);
    call->line = out->len;
    return out->len >= WRITTEN_AT_ONCE ? ses__export_flush(call, error) : SES_OK;
}

void ses__export_name(struct export_call *call, const char *name)
{
    ses__buffer_add(&call->out, ",\"", 2);
    ses__buffer_add_word(&call->out, name);
    ses__buffer_add(&call->out, "\":", 2);
}

void ses__export_number(struct export_call *call, const char *name, int64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits[--at] = '-';
    ses__export_name(call, name);
    ses__buffer_add(&call->out, digits + at, sizeof digits - at);
}

void ses__export_span(struct export_call *call, const char *name, struct span text)
{
    ses__export_name(call, name);
    ses__json_add_string(&call->out, text.ptr, text.len);
}

void ses__export_text(struct export_call *call, const char *name, const char *text)
{
    ses__export_span(call, name, ses__span_of(text));
}

bool ses__export_fits(struct span json)
{
    return json.len > 0 && ses__json_trim(json).len == json.len && !memchr(json.ptr, '\n', json.len) &&
           !memchr(json.ptr, '\r', json.len);
}

void ses__export_json(struct export_call *call, const char *name, const char *text_name, struct span json)
{
    if (ses__export_fits(json)) {
        ses__export_name(call, name);
        ses__buffer_add(&call->out, json.ptr, json.len);
    } else {
        ses__export_span(call, text_name, json);
    }
}
