/*
 * A trace in the form of OpenTelemetry, OTLP as JSON lines
 * (https://opentelemetry.io/docs/specs/otel/protocol/file-exporter): a span for each request, and below it
 * one for each call of the library. A collector reads the file with its receiver otlpjsonfile.
 */
#include "server.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { TRACE_HEX = 32, SPAN_HEX = 16, FLUSH_BYTES = 64 * 1024 };

struct tracer {
    int file;
    pthread_mutex_t lock; /* guards the member below, and lines from each other */
    bool failed;          /* a line was lost, which was said */
};

struct span {
    struct tracer *tracer;
    pthread_mutex_t lock; /* guards the lines: two threads can work for one request */
    char trace[TRACE_HEX + 1];
    char id[SPAN_HEX + 1];
    char parent[SPAN_HEX + 1]; /* "": none */
    int64_t begun_ns;
    char *name; /* the method, and after it the path */
    size_t method_len;
    char *children; /* spans that are not written yet */
    size_t children_len;
    FILE *out; /* writes them */
};

/* The span whose work this thread does. */
static _Thread_local struct span *current;

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* -------------------------------------------------------------------------------------------------- names */

/* Random names need not be secret: each thread makes its own from one secret beginning (splitmix64). */
static uint64_t next_random(void)
{
    static _Thread_local uint64_t state;

    if (state == 0 && getrandom(&state, sizeof state, 0) != (ssize_t)sizeof state)
        state = (uint64_t)now_ns() ^ (uint64_t)(uintptr_t)&state;
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    return mixed ? mixed : 1; /* zero is no name */
}

static void make_span_id(char *id)
{
    (void)snprintf(id, SPAN_HEX + 1, "%016" PRIx64, next_random());
}

static bool is_name(const char *hex, size_t len)
{
    return strspn(hex, "0123456789abcdef") >= len && strspn(hex, "0") < len;
}

/* Reads the W3C's header traceparent: 00-TRACE-PARENT-FLAGS. Returns false if it is not one. */
static bool read_parent(struct span *span, const char *header, bool *is_wanted)
{
    enum {
        TRACE_AT = 3,
        PARENT_AT = TRACE_AT + TRACE_HEX + 1,
        FLAGS_AT = PARENT_AT + SPAN_HEX + 1,
        LEN = FLAGS_AT + 2
    };
    static const char hex[] = "0123456789abcdef";
    const size_t len = header ? strlen(header) : 0;

    if (len < LEN || (len > LEN && (header[LEN] != '-' || strncmp(header, "00", 2) == 0)) ||
        strspn(header, hex) != 2 || strncmp(header, "ff", 2) == 0 || header[2] != '-' ||
        !is_name(header + TRACE_AT, TRACE_HEX) || header[PARENT_AT - 1] != '-' ||
        !is_name(header + PARENT_AT, SPAN_HEX) || header[FLAGS_AT - 1] != '-' ||
        strspn(header + FLAGS_AT, hex) != 2)
        return false;
    memcpy(span->trace, header + TRACE_AT, TRACE_HEX);
    memcpy(span->parent, header + PARENT_AT, SPAN_HEX);
    *is_wanted = strchr("13579bdf", header[FLAGS_AT + 1]) != NULL;
    return true;
}

/* --------------------------------------------------------------------------------------------------- file */

struct tracer *tracer_open(const char *path)
{
    struct tracer *tracer = calloc(1, sizeof *tracer);

    if (!tracer)
        return NULL;
    tracer->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (tracer->file < 0 || pthread_mutex_init(&tracer->lock, NULL) != 0) {
        if (tracer->file >= 0)
            (void)close(tracer->file);
        free(tracer);
        return NULL;
    }
    return tracer;
}

void tracer_close(struct tracer *tracer)
{
    if (!tracer)
        return;
    if (close(tracer->file) != 0)
        fprintf(stderr, "server: the trace could not be written to its end\n");
    (void)pthread_mutex_destroy(&tracer->lock);
    free(tracer);
}

static bool write_all(int file, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t written = write(file, text, len);
        if (written <= 0)
            return false;
        text += written;
        len -= (size_t)written;
    }
    return true;
}

/* A request is answered even if its trace is lost. */
static void write_line(struct tracer *tracer, const char *spans, size_t len)
{
    static const char head[] =
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
        "\"stringValue\":\"seslite-server\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"seslite\"},"
        "\"spans\":[";
    static const char tail[] = "]}]}]}\n";
    const size_t total = sizeof head - 1 + len + sizeof tail - 1;
    char *line = malloc(total);

    if (line) {
        memcpy(line, head, sizeof head - 1);
        memcpy(line + sizeof head - 1, spans, len);
        memcpy(line + sizeof head - 1 + len, tail, sizeof tail - 1);
    }
    (void)pthread_mutex_lock(&tracer->lock);
    if ((!line || !write_all(tracer->file, line, total)) && !tracer->failed) {
        tracer->failed = true;
        fprintf(stderr, "server: the trace lacks requests from now on\n");
    }
    (void)pthread_mutex_unlock(&tracer->lock);
    free(line);
}

/* -------------------------------------------------------------------------------------------------- spans */

static void span_free(struct span *span)
{
    if (span->out)
        (void)fclose(span->out);
    (void)pthread_mutex_destroy(&span->lock);
    free(span->children);
    free(span->name);
    free(span);
}

static void name_span(struct span *span, const char *method, const char *url)
{
    const size_t size = strlen(method) + strlen(url) + 2;

    span->name = malloc(size);
    span->method_len = strlen(method);
    if (span->name)
        (void)snprintf(span->name, size, "%s %s", method, url);
}

struct span *span_begin(struct tracer *tracer, const char *method, const char *url, const char *parent)
{
    struct span *span = calloc(1, sizeof *span);
    bool is_wanted = true;

    if (!span || pthread_mutex_init(&span->lock, NULL) != 0) {
        free(span);
        return NULL;
    }
    span->tracer = tracer;
    span->begun_ns = now_ns();
    if (!read_parent(span, parent, &is_wanted))
        (void)snprintf(span->trace, sizeof span->trace, "%016" PRIx64 "%016" PRIx64, next_random(),
                       next_random());
    make_span_id(span->id);
    name_span(span, method, url);
    span->out = is_wanted ? open_memstream(&span->children, &span->children_len) : NULL;
    if (!span->out || !span->name) {
        span_free(span);
        return NULL;
    }
    return span;
}

void span_enter(struct span *span)
{
    current = span;
}

static void put_begin(FILE *out, const char *trace, const char *id, const char *parent)
{
    fprintf(out, "{\"traceId\":\"%s\",\"spanId\":\"%s\"", trace, id);
    if (*parent)
        fprintf(out, ",\"parentSpanId\":\"%s\"", parent);
}

static void put_time(FILE *out, int kind, int64_t begun_ns, int64_t ended_ns)
{
    fprintf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\"",
            kind, begun_ns, ended_ns);
}

static void put_number(FILE *out, const char *before, const char *key, int64_t number)
{
    fprintf(out, "%s{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", before, key, number);
}

/* The names are the server's own, and a URL is encoded, so nothing needs to be escaped but what a client may
 * send nevertheless. */
static void put_text(FILE *out, const char *before, const char *key, const char *text, size_t len)
{
    fprintf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"", before, key);
    for (size_t i = 0; i < len; i++)
        fputc(text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\' ? text[i] : '?', out);
    fputs("\"}}", out);
}

/* A long stream writes its children meanwhile. The caller holds the span's lock. */
static void flush(struct span *span, long at_least)
{
    if (ftell(span->out) >= at_least && fflush(span->out) == 0) {
        write_line(span->tracer, span->children, span->children_len);
        rewind(span->out);
    }
}

/* A call of the library has ended, on its thread. */
void trace_call(void *context, const ses_trace *trace)
{
    struct span *span = current;
    const int64_t ended_ns = now_ns();
    char id[SPAN_HEX + 1];

    (void)context;
    if (!span)
        return;
    make_span_id(id);
    (void)pthread_mutex_lock(&span->lock);
    if (ftell(span->out) > 0)
        fputc(',', span->out);
    put_begin(span->out, span->trace, id, span->id);
    fprintf(span->out, ",\"name\":\"%s\"", trace->call);
    put_time(span->out, 1, ended_ns - (trace->wait_us + trace->work_us) * 1000, ended_ns);
    put_number(span->out, ",\"attributes\":[", "seslite.code", trace->code);
    put_number(span->out, ",", "seslite.wait_us", trace->wait_us);
    put_number(span->out, ",", "seslite.work_us", trace->work_us);
    put_number(span->out, ",", "seslite.bytes_in", trace->bytes_in);
    put_number(span->out, ",", "seslite.bytes_out", trace->bytes_out);
    if (trace->code < 0)
        fprintf(span->out, "],\"status\":{\"code\":2,\"message\":\"%s\"}}", ses_code_name(trace->code));
    else
        fputs("],\"status\":{}}", span->out);
    flush(span, FLUSH_BYTES);
    (void)pthread_mutex_unlock(&span->lock);
}

void span_end(struct span *span, const char *route, unsigned status)
{
    if (!span)
        return;
    if (ftell(span->out) > 0)
        fputc(',', span->out);
    put_begin(span->out, span->trace, span->id, span->parent);
    fprintf(span->out, ",\"name\":\"%.*s%s%s\"", (int)span->method_len, span->name, route ? " /" : "",
            route ? route : "");
    put_time(span->out, 2, span->begun_ns, now_ns());
    put_text(span->out, ",\"attributes\":[", "http.request.method", span->name, span->method_len);
    put_text(span->out, ",", "url.path", span->name + span->method_len + 1,
             strlen(span->name) - span->method_len - 1);
    if (route)
        put_text(span->out, ",", "http.route", route, strlen(route));
    if (status > 0)
        put_number(span->out, ",", "http.response.status_code", status);
    fputs(status == 0 || status >= 500 ? "],\"status\":{\"code\":2}}" : "],\"status\":{}}", span->out);
    flush(span, 0);
    span_free(span);
}
