/* An artifact as google-adk's REST has it: a part of a content, with its bytes in base64 as URLs have it. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- base64 */

static void put_base64(FILE *out, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < len; i += 3) {
        const size_t left = len - i;
        const unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                               (left > 2 ? (unsigned)bytes[i + 2] : 0);
        fputc(digits[group >> 18], out);
        fputc(digits[group >> 12 & 63], out);
        fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[group & 63] : '=', out);
    }
}

/* The value of a character in both alphabets. Returns 64 if it is no digit. */
static unsigned digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return (unsigned)(digit - 'A');
    if (digit >= 'a' && digit <= 'z')
        return (unsigned)(digit - 'a') + 26;
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0') + 52;
    if (digit == '-' || digit == '+')
        return 62;
    return digit == '_' || digit == '/' ? 63 : 64;
}

/* Puts the bytes in place of their digits. Returns their number, or SIZE_MAX if it is not base64. */
static size_t read_base64(char *text)
{
    unsigned char *bytes = (unsigned char *)text;
    size_t digits = strcspn(text, "=");
    size_t len = 0;
    unsigned group = 0;

    if (digits % 4 == 1 || strlen(text) - digits > 2 || strspn(text + digits, "=") != strlen(text) - digits)
        return SIZE_MAX;
    for (size_t i = 0; i < digits; i++) {
        const unsigned value = digit_value(text[i]);
        if (value == 64)
            return SIZE_MAX;
        group = group << 6 | value;
        if (i % 4 > 0)
            bytes[len++] = (unsigned char)(group >> (6 - 2 * (i % 4)));
    }
    return len;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* A member in one of its two spellings. */
static ses_text member(ses_text object, const char *name, const char *snake)
{
    const ses_text value = json_member(object, name);

    return value.text ? value : json_member(object, snake);
}

static void read_bytes(struct part *part, ses_text data)
{
    const ses_text bytes = json_member(data, "data");

    part->options.kind = SES_ARTIFACT_BYTES;
    part->bytes = json_string(bytes);
    part->len = part->bytes ? read_base64(part->bytes) : SIZE_MAX;
}

static void read_address(struct part *part, ses_text file)
{
    part->options.kind = SES_ARTIFACT_URI;
    part->bytes = json_string(member(file, "fileUri", "file_uri"));
    part->len = part->bytes ? strlen(part->bytes) : SIZE_MAX;
}

/* Returns false if the value has neither bytes nor an address nor a text. */
bool part_read(struct part *part, ses_text value)
{
    const ses_text data = member(value, "inlineData", "inline_data");
    const ses_text file = member(value, "fileData", "file_data");
    const ses_text text = json_member(value, "text");
    const ses_text details = json_is_null(data) ? file : data;

    *part = (struct part){.options = {.size = sizeof part->options, .flags = SES_ARTIFACT_WITHOUT_SESSION},
                          .len = SIZE_MAX};
    if (!json_is_null(data)) {
        read_bytes(part, data);
    } else if (!json_is_null(file)) {
        read_address(part, file);
    } else if (!json_is_null(text)) {
        part->options.kind = SES_ARTIFACT_TEXT;
        part->bytes = json_string(text);
        part->len = part->bytes ? strlen(part->bytes) : SIZE_MAX;
    } else {
        return false;
    }
    part->mime_type = json_string(member(details, "mimeType", "mime_type"));
    part->display_name = json_string(member(details, "displayName", "display_name"));
    part->options.mime_type = part->mime_type;
    part->options.display_name = part->display_name;
    return true;
}

void part_free(struct part *part)
{
    free(part->bytes);
    free(part->mime_type);
    free(part->display_name);
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_details(struct server *server, FILE *out, const ses_artifact_info *info)
{
    if (info->display_name) {
        fputs(",\"displayName\":", out);
        json_put(server, out, info->display_name, SES_NUL);
    }
    if (info->mime_type) {
        fputs(",\"mimeType\":", out);
        json_put(server, out, info->mime_type, SES_NUL);
    }
}

void part_write(struct server *server, FILE *out, const ses_artifact_info *info, const char *bytes,
                size_t len)
{
    switch (info->kind) {
    case SES_ARTIFACT_TEXT:
        fputs("{\"text\":", out);
        json_put(server, out, bytes, len);
        fputc('}', out);
        break;
    case SES_ARTIFACT_URI:
        fputs("{\"fileData\":{\"fileUri\":", out);
        json_put(server, out, bytes, len);
        put_details(server, out, info);
        fputs("}}", out);
        break;
    default:
        fputs("{\"inlineData\":{\"data\":\"", out);
        put_base64(out, (const unsigned char *)bytes, len);
        fputc('"', out);
        put_details(server, out, info);
        fputs("}}", out);
    }
}

void part_write_version(struct server *server, FILE *out, const ses_artifact_info *info)
{
    const char *type = info->kind == SES_ARTIFACT_TEXT && !info->mime_type ? "text/plain" : info->mime_type;

    fprintf(out, "{\"version\":%lld,\"canonicalUri\":", (long long)info->version);
    json_put(server, out, info->uri, SES_NUL);
    fputs(",\"customMetadata\":", out);
    if (info->metadata)
        fwrite(info->metadata, 1, info->metadata_len, out);
    else
        fputs("{}", out);
    fprintf(out, ",\"createTime\":%lld.%06d", (long long)(info->created_us / 1000000),
            (int)(info->created_us % 1000000));
    if (type) {
        fputs(",\"mimeType\":", out);
        json_put(server, out, type, SES_NUL);
    }
    fputc('}', out);
}
