/* Pruning of random logs against a model that tries every boundary. */
#include "../open.h"
#include "append.h"
#include "random.h"

enum { MOST_EVENTS = 60, MOST_FUNCTIONS = 3, KEYS = 6, LOGS = 300 };

struct model_function {
    bool is_response;
    int id; /* 0: none */
    int name;
};

struct model_event {
    int seq;
    int64_t time_us;
    int invocation; /* 0: none */
    int rewinds;    /* an invocation; 0: no rewind */
    int target;     /* its first event when it was stored; 0: none */
    bool compacts;
    int64_t from_us, to_us;
    int function_count;
    struct model_function functions[MOST_FUNCTIONS];
    int keys[KEYS]; /* 0: as before; -1: removed; else the new value */
};

struct model {
    struct fixture *fixture;
    sqlite3 *file; /* NULL: the store is on a server */
    uint64_t seed;
    struct model_event events[MOST_EVENTS]; /* stored ones */
    int count;
    int last_seq;
    int base;
    int base_keys[KEYS];
    int base_seqs[KEYS];
};

/* --------------------------------------------------------------------------------------- a random log */

static struct model_event *event_of(struct model *model, int seq)
{
    for (int i = 0; i < model->count; i++) {
        if (model->events[i].seq == seq)
            return &model->events[i];
    }
    return NULL;
}

static int first_of(struct model *model, int invocation)
{
    for (int i = 0; i < model->count; i++) {
        if (model->events[i].invocation == invocation)
            return model->events[i].seq;
    }
    return 0;
}

static void make_event(struct model *model, struct model_event *event)
{
    uint64_t *seed = &model->seed;
    int before = model->count > 0 ? model->events[model->count - 1].invocation : 1;

    *event = (struct model_event){.seq = model->last_seq + 1};
    event->time_us = (int64_t)(event->seq + (int)random_below(seed, 4)) * 1000000;
    event->invocation = random_below(seed, 8) == 0   ? 0
                        : random_below(seed, 3) == 0 ? (int)random_below(seed, 20) + 1
                        : random_below(seed, 2) == 0 ? event->seq + 20
                                                     : before;
    if (random_below(seed, 9) == 0) {
        event->rewinds = (int)random_below(seed, 25) + 1;
        event->target = first_of(model, event->rewinds);
    } else if (random_below(seed, 6) == 0) {
        event->compacts = true;
        event->from_us = (int64_t)random_below(seed, (size_t)event->seq + 2) * 1000000;
        event->to_us = event->from_us + (int64_t)random_below(seed, 12) * 1000000;
    }
    event->function_count = random_below(seed, 3) == 0 ? (int)random_below(seed, MOST_FUNCTIONS + 1) : 0;
    for (int i = 0; i < event->function_count; i++)
        event->functions[i] = (struct model_function){
            random_below(seed, 2) == 0, random_below(seed, 2) == 0 ? (int)random_below(seed, 6) : 0,
            (int)random_below(seed, 3)};
    for (int i = 0; i < KEYS; i++)
        event->keys[i] = random_below(seed, 4) == 0 ? event->seq : random_below(seed, 10) == 0 ? -1 : 0;
}

/* Keys 4 and 5 are shared ones. */
static const char *const key_names[KEYS] = {"k0", "k1", "k2", "k3", "app:k4", "user:k5"};

static void append_event(struct model *model, const struct model_event *event)
{
    struct text json = {NULL, 0};
    ses_error error;

    text_printf(&json, "{\"id\":\"e%d\",\"timestamp\":%d", event->seq, (int)(event->time_us / 1000000));
    if (event->invocation > 0)
        text_printf(&json, ",\"invocationId\":\"i%d\"", event->invocation);
    text_printf(&json, ",\"content\":{\"parts\":[");
    for (int i = 0; i < event->function_count; i++) {
        const struct model_function *function = &event->functions[i];
        text_printf(&json, "%s{\"%s\":{\"name\":\"f%d\"", i > 0 ? "," : "",
                    function->is_response ? "functionResponse" : "functionCall", function->name);
        if (function->id > 0)
            text_printf(&json, ",\"id\":\"c%d\"", function->id);
        text_printf(&json, "}}");
    }
    text_printf(&json, "]},\"actions\":{\"stateDelta\":{\"temp:t\":1");
    for (int i = 0; i < KEYS; i++) {
        if (event->keys[i] < 0)
            text_printf(&json, ",\"%s\":" REMOVED, key_names[i]);
        else if (event->keys[i] > 0)
            text_printf(&json, ",\"%s\":%d", key_names[i], event->keys[i]);
    }
    text_printf(&json, "}");
    if (event->rewinds > 0)
        text_printf(&json, ",\"rewindBeforeInvocationId\":\"i%d\"", event->rewinds);
    if (event->compacts)
        text_printf(&json,
                    ",\"compaction\":{\"startTimestamp\":%d,\"endTimestamp\":%d,\"compactedContent\":{}}",
                    (int)(event->from_us / 1000000), (int)(event->to_us / 1000000));
    text_printf(&json, "}}");
    assert_ok(ses_append_by_key(model->fixture->store, &key, json.data, json.len, NULL, NULL, &error));
    free(json.data);
}

static void append_some(struct model *model)
{
    int more = (int)random_below(&model->seed, (size_t)(MOST_EVENTS - model->count) + 1);

    for (int i = 0; i < more; i++) {
        struct model_event *event = &model->events[model->count];
        make_event(model, event);
        append_event(model, event);
        model->last_seq = event->seq;
        model->count++;
    }
}

/* ------------------------------------------------------------------------------------- the rules, naively */

static bool is_live(struct model *model, int seq)
{
    int at = model->last_seq;

    while (at > model->base) {
        const struct model_event *event = event_of(model, at);
        int from = event->rewinds == 0 ? 0 : event->target > 0 ? event->target : at;
        if (event->rewinds == 0 && at == seq)
            return true;
        if (from > 0 && seq >= from && seq <= at)
            return false;
        at = from > 0 ? from - 1 : at - 1;
    }
    return false;
}

static bool is_same(const struct model_function *a, const struct model_function *b)
{
    return a->id > 0 || b->id > 0 ? a->id == b->id : a->name == b->name;
}

struct model_call {
    struct model_function function;
    int seq;
    bool answered;
};

/* True if a response after the boundary belongs to a call before it. */
static bool parts_calls(struct model *model, int boundary, bool live_only)
{
    struct model_call calls[MOST_EVENTS * MOST_FUNCTIONS];
    int count = 0;
    bool parts = false;

    for (int i = 0; i < model->count; i++) {
        const struct model_event *event = &model->events[i];
        if (live_only && !is_live(model, event->seq))
            continue;
        for (int f = 0; f < event->function_count; f++) {
            const struct model_function *function = &event->functions[f];
            if (!function->is_response)
                continue;
            int last = count - 1;
            if (function->id > 0) {
                while (last >= 0 && !is_same(&calls[last].function, function))
                    last--;
                for (int c = 0; c < count; c++) {
                    if (is_same(&calls[c].function, function) && (c == last || !calls[c].answered)) {
                        parts = parts || (calls[c].seq <= boundary && event->seq > boundary);
                        calls[c].answered = true;
                    }
                }
                continue;
            }
            for (int c = 0; c < count; c++) {
                if (is_same(&calls[c].function, function) && !calls[c].answered) {
                    parts = parts || (calls[c].seq <= boundary && event->seq > boundary);
                    calls[c].answered = true;
                    break;
                }
            }
        }
        for (int f = 0; f < event->function_count; f++) {
            if (!event->functions[f].is_response)
                calls[count++] = (struct model_call){event->functions[f], event->seq, false};
        }
    }
    return parts;
}

static bool parts(struct model *model, int boundary)
{
    for (int i = 0; i < model->count; i++) {
        const struct model_event *event = &model->events[i];
        if (event->seq <= boundary)
            continue;
        if (event->rewinds > 0 && event->target > 0 && event->target <= boundary)
            return true;
        for (int j = 0; j < i && event->invocation > 0; j++) {
            if (model->events[j].seq <= boundary && model->events[j].invocation == event->invocation)
                return true;
        }
    }
    return parts_calls(model, boundary, false) || parts_calls(model, boundary, true);
}

static bool is_covered(struct model *model, const struct model_event *event)
{
    int64_t from_us = event->compacts ? event->from_us : event->time_us;
    int64_t to_us = event->compacts ? event->to_us : event->time_us;

    if (!is_live(model, event->seq))
        return true;
    for (int i = 0; i < model->count; i++) {
        const struct model_event *later = &model->events[i];
        if (later->seq > event->seq && later->compacts && is_live(model, later->seq) &&
            later->from_us <= from_us && to_us <= later->to_us)
            return true;
    }
    return false;
}

static int goal_of(struct model *model, const ses_prune_options *options)
{
    int goal = model->base;

    for (int i = 0; i < model->count; i++) {
        const struct model_event *event = &model->events[i];
        if (((options->which & SES_PRUNE_KEEP) && model->count - i <= options->keep) ||
            ((options->which & SES_PRUNE_BEFORE) && event->time_us >= options->before_us) ||
            ((options->which & SES_PRUNE_SEQ) && event->seq > options->last_seq) ||
            ((options->which & SES_PRUNE_COMPACTED) && !is_covered(model, event)))
            break;
        goal = event->seq;
    }
    return goal;
}

/* The boundary of a step, by trying all of them. */
static int boundary_of(struct model *model, const ses_prune_options *options, bool *more)
{
    const int goal = goal_of(model, options);
    int within = 0;
    int beyond = 0;
    int whole = 0;

    for (int i = 0; i < model->count && model->events[i].seq <= goal; i++) {
        int seq = model->events[i].seq;
        if (parts(model, seq))
            continue;
        whole = seq;
        if (i < options->limit)
            within = seq;
        else if (beyond == 0)
            beyond = seq;
    }
    *more = whole > (within > 0 ? within : beyond);
    return within > 0 ? within : beyond;
}

/* ---------------------------------------------------------------------------------------------- pruning */

static void apply_to_model(struct model *model, int boundary)
{
    int gone = 0;

    for (; gone < model->count && model->events[gone].seq <= boundary; gone++) {
        for (int k = 0; k < KEYS; k++) {
            if (model->events[gone].keys[k] != 0) {
                model->base_keys[k] = model->events[gone].keys[k];
                model->base_seqs[k] = model->events[gone].seq;
            }
        }
    }
    memmove(model->events, model->events + gone, (size_t)(model->count - gone) * sizeof model->events[0]);
    model->count -= gone;
    model->base = boundary;
}

static void assert_as_model(struct model *model, const char *state_before)
{
    struct text base = {NULL, 0};
    struct text stored = {NULL, 0};
    ses_session *session = must_get(model->fixture->store, &key);

    assert_string_equal(support_state(session, NULL), state_before);
    assert_int_equal(ses_session_base_seq(session), model->base);
    assert_int_equal(ses_session_stored(session), model->count);
    assert_int_equal(ses_session_event_count(session), (size_t)model->count);
    assert_int_equal(ses_session_last_seq(session), model->last_seq);
    for (int i = 0; i < model->count; i++)
        assert_int_equal(ses_session_event(session, (size_t)i)->seq, model->events[i].seq);
    ses_session_close(session);
    if (!model->file)
        return;
    text_add(&base, "", 0);
    for (int i = 0; i < KEYS; i++) {
        static const int by_name[KEYS] = {4, 0, 1, 2, 3, 5};
        int k = by_name[i];
        if (model->base_keys[k] > 0)
            text_printf(&base, "%s|%d|%d\n", key_names[k], model->base_keys[k], model->base_seqs[k]);
    }
    raw_query(model->file, "SELECT key, value, seq FROM base_state ORDER BY key", &stored);
    assert_string_equal(stored.data, base.data);
    free(stored.data);
    free(base.data);
}

/* The events that a call leaves. It takes further steps until half of the events are gone. */
static int prune_model(struct model *model, const ses_prune_options *options)
{
    const int before = model->count;
    bool more = true;

    while (more && (before - model->count) * 2 < before) {
        int boundary = boundary_of(model, options, &more);
        if (boundary > 0)
            apply_to_model(model, boundary);
    }
    return before == model->count ? SES_UNCHANGED : more ? SES_MORE : SES_OK;
}

static void prune_once(struct model *model)
{
    uint64_t *seed = &model->seed;
    ses_prune_options options = {.size = sizeof options,
                                 .which = (unsigned)random_below(seed, 15) + 1,
                                 .keep = (int64_t)random_below(seed, 20),
                                 .before_us =
                                     (int64_t)random_below(seed, (size_t)model->last_seq + 5) * 1000000,
                                 .last_seq = (int64_t)random_below(seed, (size_t)model->last_seq + 5),
                                 .limit = (int64_t)random_below(seed, 20) + 1};
    int64_t deleted = 0;
    ses_error error;
    char *state = NULL;

    if (random_below(seed, 2) == 0) /* all four at once leave little */
        options.which = 1U << random_below(seed, 4);
    assert_ok(ses_state_json_by_key(model->fixture->store, &key, NULL, &state, NULL, &error));
    int before = model->count;
    int expected = prune_model(model, &options);
    assert_code(expected, ses_prune_by_key(model->fixture->store, &key, &options, &deleted, &error));
    assert_int_equal(deleted, before - model->count);
    assert_as_model(model, state);
    ses_free(state);
}

TEST(random_logs_are_pruned_as_the_rules_say)
{
    static struct model model;
    sqlite3 *file = support_on_server() ? NULL : raw_open(fixture->path);
    int pruned = 0;

    for (int log = 0; log < support_steps(LOGS); log++) {
        model = (struct model){.fixture = fixture, .file = file, .seed = (uint64_t)log};
        must_create(model.fixture->store, &key, NULL);
        for (int round = 0; round < 6; round++) {
            int base = model.base;
            append_some(&model);
            prune_once(&model);
            pruned += model.base > base;
        }
        must_delete(model.fixture->store, &key);
    }
    assert_int_equal(sqlite3_close(file), SQLITE_OK);
    assert_true(pruned > support_steps(LOGS) / 2);
}
