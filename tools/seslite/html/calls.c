#include "html/calls.h"

#include <stdlib.h>
#include <string.h>

#include "text/scan.h"
#include "text/text.h"

struct open_call {
    struct open_call *next;
    size_t number; /* of the call */
    int64_t seq;
    size_t len;
    char id[];
};

static void add_number(struct numbers *numbers, int64_t number)
{
    numbers->at = enlarge(numbers->at, numbers->count, &numbers->capacity, sizeof *numbers->at);
    numbers->at[numbers->count++] = number;
}

int64_t number_at(const struct numbers *numbers, size_t index)
{
    return index < numbers->count ? numbers->at[index] : 0;
}

static struct open_call **bucket_of(struct calls *calls, const ses_text *id)
{
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < id->len; i++)
        hash = (hash ^ (unsigned char)id->text[i]) * 16777619;
    return &calls->open[hash % CALL_BUCKETS];
}

void calls_add_call(struct calls *calls, const ses_text *id, int64_t seq)
{
    add_number(&calls->answers, 0);
    if (!id->text || id->len == 0)
        return;
    struct open_call **bucket = bucket_of(calls, id);
    struct open_call *call = allocate(sizeof *call + id->len);
    *call = (struct open_call){*bucket, calls->answers.count - 1, seq, id->len};
    memcpy(call->id, id->text, id->len);
    *bucket = call;
}

void calls_add_response(struct calls *calls, const ses_text *id, int64_t seq)
{
    struct open_call **link = id->text && id->len > 0 ? bucket_of(calls, id) : NULL;

    while (link && *link && ((*link)->len != id->len || memcmp((*link)->id, id->text, id->len) != 0))
        link = &(*link)->next;
    struct open_call *call = link ? *link : NULL;
    add_number(&calls->askers, call ? call->seq : 0);
    if (!call)
        return;
    calls->answers.at[call->number] = seq;
    *link = call->next;
    free(call);
}

static bool is_nothing(const struct piece *value)
{
    return piece_is(value, "null") || piece_is(value, "false") || piece_is(value, "\"\"") ||
           piece_is(value, "{}") || piece_is(value, "[]");
}

bool response_failed(const ses_text *response)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;
    bool failed = false;

    scan_begin(&scan, response->text ? response->text : "", response->text ? response->len : 0);
    while (!failed && scan_member(&scan, &name, &value))
        failed = (strcmp(name.data, "error") == 0 && !is_nothing(&value)) ||
                 ((strcmp(name.data, "isError") == 0 || strcmp(name.data, "is_error") == 0) &&
                  piece_is(&value, "true")) ||
                 (strcmp(name.data, "status") == 0 && piece_is(&value, "\"error\""));
    text_free(&name);
    return failed;
}

void calls_free(struct calls *calls)
{
    for (size_t i = 0; i < CALL_BUCKETS; i++)
        while (calls->open[i]) {
            struct open_call *call = calls->open[i];
            calls->open[i] = call->next;
            free(call);
        }
    free(calls->answers.at);
    free(calls->askers.at);
    *calls = (struct calls){.answers = {NULL, 0, 0}};
}
