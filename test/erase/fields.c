/*
 * An event for each field of the table of the ADK's fields, with a secret wherever there is room for one. A
 * redaction leaves a value that the field's class accepts and that does not contain the secret.
 */
#include "erase.h"

#include <cjson/cJSON.h>

#include "seslite_agent.h"

#include "json/base64.h"
#include "model/adk/fields.h"

#define PIN "4711"
#define PIN_DATA "NDcxMQ=="

enum { DEEPEST = 7 };

/* ---------------------------------------------------------------------------------------------- making */

static void make_object(struct text *text, const struct adk_model *model, unsigned depth);

static void make_scalar(struct text *text, const struct adk_field *field, unsigned depth)
{
    const bool kept = field->erasure == ADK_KEEP;
    static const char *const values[][2] = {[ADK_TEXT] = {"\"a " PIN " b\"", "\"x\""},
                                            [ADK_NUMBER] = {"1" PIN, "1"},
                                            [ADK_BOOL] = {"true", "true"},
                                            [ADK_WORD] = {"\"WORD\"", "\"WORD\""},
                                            [ADK_BYTES] = {"\"" PIN_DATA "\"", "\"AAAA\""},
                                            [ADK_JSON] = {"{\"" PIN "\":[" PIN "]}", "{}"},
                                            [ADK_OPAQUE] = {"{\"x\":\"" PIN "\"}", "{}"}};

    if (field->kind == ADK_OBJECT)
        make_object(text, field->model, depth + 1);
    else
        text_printf(text, "%s", values[field->kind][kept]);
}

static void make_value(struct text *text, const struct adk_field *field, unsigned depth)
{
    text_printf(text, "%s", field->form == ADK_LIST ? "[" : field->form == ADK_MAP ? "{\"key\":" : "");
    make_scalar(text, field, depth);
    text_printf(text, "%s", field->form == ADK_LIST ? "]" : field->form == ADK_MAP ? "}" : "");
}

static void make_object(struct text *text, const struct adk_model *model, unsigned depth)
{
    const char *comma = "";

    text_printf(text, "{");
    for (const struct adk_field *field = model->fields; field->name && depth < DEEPEST; field++) {
        text_printf(text, "%s\"%s\":", comma, field->name);
        make_value(text, field, depth);
        comma = ",";
    }
    text_printf(text, "}");
}

/* -------------------------------------------------------------------------------------------- checking */

static void check_object(const cJSON *object, const struct adk_model *model);

static void check_scalar(const cJSON *value, const struct adk_field *field)
{
    char decoded[100];
    size_t len;

    switch (field->kind) {
    case ADK_TEXT:
        assert_true(cJSON_IsString(value));
        break;
    case ADK_NUMBER:
        assert_true(cJSON_IsNumber(value));
        break;
    case ADK_BOOL:
        assert_true(cJSON_IsBool(value));
        break;
    case ADK_WORD:
        assert_true(cJSON_IsString(value));
        assert_string_equal(value->valuestring, "WORD");
        break;
    case ADK_BYTES:
        assert_true(cJSON_IsString(value));
        assert_true(ses__base64_decode(ses__span_of(value->valuestring), decoded, &len));
        assert_null(strstr(decoded, PIN));
        break;
    case ADK_OBJECT:
        assert_true(cJSON_IsObject(value));
        check_object(value, field->model);
        break;
    case ADK_JSON:
    case ADK_OPAQUE:
        break;
    }
}

static void check_value(const cJSON *value, const struct adk_field *field)
{
    const cJSON *item;

    if (cJSON_IsNull(value)) {
        assert_true(field->flags & ADK_NULL);
    } else if (field->form == ADK_ONE) {
        check_scalar(value, field);
    } else {
        assert_true(field->form == ADK_LIST ? cJSON_IsArray(value) : cJSON_IsObject(value));
        cJSON_ArrayForEach(item, value) check_scalar(item, field);
    }
}

static void check_object(const cJSON *object, const struct adk_model *model)
{
    for (const struct adk_field *field = model->fields; field->name; field++) {
        const cJSON *value = cJSON_GetObjectItem(object, field->name);
        if (value)
            check_value(value, field);
        else
            assert_false(field->flags & ADK_REQUIRED && cJSON_GetArraySize(object) > 0);
    }
}

/* Redacts a field of an event, of its actions or of a part. `frame` has a place for it. */
static void check_field(ses_store *store, const struct adk_field *field, const char *frame, int *count)
{
    const ses_redact_options pieces = {
        .size = sizeof pieces, .flags = SES_REDACT_STATE, .find = find_text, .find_context = PIN};
    const ses_redact_options whole = {.size = sizeof whole, .flags = SES_REDACT_STATE};
    struct text value = {NULL, 0};
    struct text event = {NULL, 0};

    make_value(&value, field, 0);
    text_printf(&event, frame, field->name, value.data);
    for (int find = 0; find < 2; find++) {
        char session[40];
        const ses_key of = {"app", "user", session};
        ses_erased erased = {.size = sizeof erased};
        ses_error error;
        snprintf(session, sizeof session, "s%d", (*count)++);
        must_create(store, &of, NULL);
        must_append_by_key(store, &of, event.data);
        assert_true(ses_redact_by_key(store, &of, all, 0, find ? &pieces : &whole, &erased, &error) >= 0);
        const char *left = event_text(store, &of, 1);
        cJSON *json = cJSON_Parse(left);
        assert_non_null(json);
        check_object(json, ses__adk_event);
        if (field->erasure != ADK_KEEP)
            assert_null(strstr(left, PIN));
        cJSON_Delete(json);
    }
    free(value.data);
    free(event.data);
}

static const struct adk_model *model_called(const struct adk_model *model, const char *name)
{
    return ses__adk_field_called(model, name)->model;
}

TEST(every_field_stays_valid_and_says_nothing)
{
    const struct adk_model *content = model_called(ses__adk_event, "content");
    const struct adk_model *models[] = {ses__adk_event, model_called(ses__adk_event, "actions"),
                                        model_called(content, "parts")};
    static const char *const frames[] = {
        "{\"author\":\"a\",\"id\":\"e\",\"timestamp\":1,\"%s\":%s}",
        "{\"author\":\"a\",\"id\":\"e\",\"timestamp\":1,\"actions\":{\"%s\":%s}}",
        "{\"author\":\"a\",\"id\":\"e\",\"timestamp\":1,\"content\":{\"parts\":[{\"%s\":%s}]}}"};
    static const char *const left_out[] = {
        "id",      "author",     "timestamp",     "partial",
        "actions", "stateDelta", "artifactDelta", "rewindBeforeInvocationId"};
    int count = 0;

    for (size_t i = 0; i < 3; i++) {
        for (const struct adk_field *field = models[i]->fields; field->name; field++) {
            bool takes = true;
            for (size_t k = 0; k < sizeof left_out / sizeof left_out[0]; k++)
                takes = takes && strcmp(field->name, left_out[k]) != 0;
            if (takes)
                check_field(fixture->store, field, frames[i], &count);
        }
    }
    assert_true(count > 100);
}

/* ----------------------------------------------------------------------------------------- final events */

static int is_final(ses_store *store, const char *json)
{
    ses_content *content = NULL;
    ses_error error;

    assert_ok(ses_content_open(store, json, SES_NUL, &content, &error));
    const int final = ses_content_is_final(content);
    ses_content_close(content);
    return final;
}

TEST(an_event_is_final_if_it_was)
{
    static const char *const events[] = {
        "'content':{'parts':[{'executableCode':{'code':'1','language':'PYTHON'}},"
        "{'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'42'}}]}",
        "'content':{'parts':[{'code_execution_result':{'outcome':'OUTCOME_OK','output':'42'}},{'text':'x'}]}",
        "'content':{'parts':[{'toolCall':{'id':'x'}}]}",
        "'content':{'parts':[{'thoughtSignature':'AAAA'},{'functionCall':{'id':'c','name':'f','args':{}}}]}",
        "'content':{'parts':[{'functionResponse':{'id':'c','name':'f','response':{'a':1}}}]}",
        "'content':{'parts':[{'functionCall':{'id':'c','name':'f'}}]},'longRunningToolIds':['c']",
        "'content':{'parts':[]},'actions':{'skipSummarization':true}",
        "'errorCode':'X','errorMessage':'secret'"};
    const int count = (int)(sizeof events / sizeof events[0]);
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < count; i++) {
        char event[600];
        snprintf(event, sizeof event, "{'id':'e%d','author':'a','timestamp':1,%s}", i, events[i]);
        must_append_by_key(fixture->store, &key, Q(event));
    }
    int before[16];
    for (int i = 0; i < count; i++)
        before[i] = is_final(fixture->store, event_text(fixture->store, &key, i + 1));
    assert_int_equal(before[0], 0);
    must_redact(fixture->store, &key, all, 0, NULL, &erased);
    for (int i = 0; i < count; i++)
        assert_int_equal(is_final(fixture->store, event_text(fixture->store, &key, i + 1)), before[i]);
    assert_non_null(strstr(event_text(fixture->store, &key, 1),
                           Q("{'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'[redacted]'}}")));
}

/* ------------------------------------------------------------------------------------------- by hand */

/* A member that a later version of the ADK may know: only its absence is sure to be valid. */
TEST(members_that_are_not_known)
{
    const ses_redact_options pieces = {
        .size = sizeof pieces, .find = find_text, .find_context = PIN, .text = "***"};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    for (int i = 1; i <= 2; i++) {
        char event[600];
        snprintf(event, sizeof event,
                 "{'id':'e%d','author':'a','timestamp':1, 'later':{'n':" PIN ",'t':'" PIN "'},'word':'" PIN
                 "','number':" PIN ",'content':{'parts':[{'text':'" PIN "','thoughtSignature':'AAAA" PIN
                 "BBBB'}],'later':" PIN "},'nothing':null}",
                 i);
        must_append_by_key(fixture->store, &key, Q(event));
    }
    must_redact(fixture->store, &key, SEQS(1), NULL, &erased);
    assert_event(fixture->store, &key, 1,
                 Q("{'id':'e1','author':'a','timestamp':1,'content':{'parts':[{'text':'[redacted]'}]},"
                   "'nothing':null}"));
    must_redact(fixture->store, &key, SEQS(2), &pieces, &erased);
    assert_event(
        fixture->store, &key, 2,
        Q("{'id':'e2','author':'a','timestamp':1, 'later':{'n':null,'t':'***'},'word':'***','number':"
          "null,'content':{'parts':[{'text':'***','thoughtSignature':'AAAA" PIN "BBBB'}],"
          "'later':null},'nothing':null}"));
}
