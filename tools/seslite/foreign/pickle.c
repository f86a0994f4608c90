/* The machine that a pickle is written for: a stack, marks on it, and a memo. */
#include "foreign/pickle.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "foreign/pickle_tree.h"

struct machine {
    struct span text;
    size_t at;     /* the next byte */
    size_t opcode; /* where the one that runs begins */
    bool stopped;
    struct pickle_tree tree;
    uint32_t *stack;
    size_t height;
    size_t stack_room;
    uint32_t *marks; /* heights of the stack */
    size_t mark_count;
    size_t mark_room;
    uint32_t *memo;
    size_t memo_count;
    size_t memo_room;
    ses_error *error;
};

/* What stands after an opcode. */
struct operand {
    uint64_t number;
    struct span data;
};

typedef int run_opcode(struct machine *m, const struct operand *operand);

/* ------------------------------------------------------------------------------------------------- refusal */

static int refuse(struct machine *m, const char *why)
{
    return ses__error_at(m->error, SES_INVALID, m->opcode, "the pickle is refused at byte %zu: %s", m->opcode,
                         why);
}

/* After a call that gives no message. */
static int check(struct machine *m, int code)
{
    if (code == SES_NOMEM)
        return ses__error_nomem(m->error);
    if (code == SES_LIMIT)
        return ses__error_at(m->error, SES_LIMIT, m->opcode, "the pickle holds more than %d values",
                             (int)PICKLE_MOST_VALUES);
    return code;
}

/* ----------------------------------------------------------------------------------------- stack and memo */

static int add_number(struct machine *m, uint32_t **list, size_t *count, size_t *room, uint32_t number)
{
    void *items = *list;

    if (*count >= PICKLE_MOST_VALUES)
        return check(m, SES_LIMIT);
    bool ok = ses__memory_grow(m->tree.allocator, &items, room, *count + 1, sizeof **list);
    *list = items;
    if (!ok)
        return check(m, SES_NOMEM);
    (*list)[(*count)++] = number;
    return SES_OK;
}

static int push(struct machine *m, uint32_t number)
{
    return add_number(m, &m->stack, &m->height, &m->stack_room, number);
}

static int push_value(struct machine *m, struct pickle_value value)
{
    uint32_t number = 0;
    int code = check(m, pickle_tree_add(&m->tree, value, &number));

    return code == SES_OK ? push(m, number) : code;
}

/* The height below which no opcode may reach. */
static size_t floor_of(const struct machine *m)
{
    return m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0;
}

/* So many on the stack above the newest mark? */
static int need(struct machine *m, size_t count)
{
    return m->height - floor_of(m) >= count ? SES_OK : refuse(m, "there is too little on the stack");
}

/* Takes the newest mark away; *first is the place of the first value above it. */
static int take_mark(struct machine *m, size_t *first)
{
    if (m->mark_count == 0)
        return refuse(m, "there is no mark");
    *first = m->marks[--m->mark_count];
    return SES_OK;
}

static struct pickle_value *top(const struct machine *m)
{
    return pickle_at(&m->tree, m->stack[m->height - 1]);
}

static int do_mark(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return add_number(m, &m->marks, &m->mark_count, &m->mark_room, (uint32_t)m->height);
}

static int do_pop(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = need(m, 1);
    if (code == SES_OK)
        m->height--;
    return code;
}

static int do_pop_mark(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return take_mark(m, &m->height);
}

/* Numbers of the memo come in order, or nearly: a gap is filled, within the bound of values. */
static int put(struct machine *m, uint64_t index)
{
    int code = need(m, 1);

    if (code == SES_OK && index >= PICKLE_MOST_VALUES)
        return check(m, SES_LIMIT);
    while (code == SES_OK && m->memo_count <= index)
        code = add_number(m, &m->memo, &m->memo_count, &m->memo_room, 0);
    if (code == SES_OK)
        m->memo[index] = m->stack[m->height - 1];
    return code;
}

static int do_put(struct machine *m, const struct operand *operand)
{
    return put(m, operand->number);
}

static int do_memoize(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return put(m, m->memo_count);
}

static int do_get(struct machine *m, const struct operand *operand)
{
    if (operand->number >= m->memo_count || !m->memo[operand->number])
        return refuse(m, "there is nothing in the memo under this number");
    return push(m, m->memo[operand->number]);
}

static int do_stop(struct machine *m, const struct operand *operand)
{
    (void)operand;
    if (m->height != 1 || m->mark_count > 0)
        return refuse(m, "it ends with other than one value");
    if (m->at != m->text.len)
        return refuse(m, "it goes on after its end");
    m->stopped = true;
    return SES_OK;
}

static int do_proto(struct machine *m, const struct operand *operand)
{
    if (m->opcode != 0)
        return refuse(m, "the protocol is told twice");
    return operand->number >= 2 && operand->number <= 5 ? SES_OK
                                                        : refuse(m, "the protocol is not from 2 to 5");
}

static int do_frame(struct machine *m, const struct operand *operand)
{
    return operand->number <= m->text.len - m->at ? SES_OK : refuse(m, "it was cut short");
}

/* -------------------------------------------------------------------------------------------------- values */

static int do_none(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return push_value(m, (struct pickle_value){.kind = PICKLE_NONE});
}

static int do_true(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return push_value(m, (struct pickle_value){.kind = PICKLE_TRUE});
}

static int do_false(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return push_value(m, (struct pickle_value){.kind = PICKLE_FALSE});
}

static int do_integer(struct machine *m, const struct operand *operand)
{
    return push_value(m,
                      (struct pickle_value){.kind = PICKLE_INTEGER, .is.integer = (int64_t)operand->number});
}

/* Of four bytes, with a sign. */
static int do_signed(struct machine *m, const struct operand *operand)
{
    const int64_t number = (int64_t)operand->number;

    return push_value(
        m, (struct pickle_value){.kind = PICKLE_INTEGER,
                                 .is.integer = number > INT32_MAX ? number - (INT64_C(1) << 32) : number});
}

static int do_long(struct machine *m, const struct operand *operand)
{
    if (operand->data.len > PICKLE_MOST_INTEGER)
        return ses__error_at(m->error, SES_LIMIT, m->opcode,
                             "the pickle holds an integer of more than %d bytes", (int)PICKLE_MOST_INTEGER);
    return push_value(m, (struct pickle_value){.kind = PICKLE_LONG, .is.bytes = operand->data});
}

/* Its highest byte comes first, unlike in all others. */
static int do_real(struct machine *m, const struct operand *operand)
{
    uint64_t bits = 0;
    double real = 0;

    for (unsigned i = 0; i < 8; i++)
        bits = bits << 8 | (operand->number >> (8 * i) & 0xff);
    memcpy(&real, &bits, sizeof real);
    return push_value(m, (struct pickle_value){.kind = PICKLE_REAL, .is.real = real});
}

static int do_text(struct machine *m, const struct operand *operand)
{
    return push_value(m, (struct pickle_value){.kind = PICKLE_TEXT, .is.bytes = operand->data});
}

static int do_bytes(struct machine *m, const struct operand *operand)
{
    return push_value(m, (struct pickle_value){.kind = PICKLE_BYTES, .is.bytes = operand->data});
}

/* ---------------------------------------------------------------------------------------------- containers */

static int do_array(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return push_value(m, (struct pickle_value){.kind = PICKLE_ARRAY});
}

static int do_dict(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return push_value(m, (struct pickle_value){.kind = PICKLE_DICT});
}

/* The values from `first` on become items of the array. */
static int take_items(struct machine *m, uint32_t array, size_t first)
{
    int code = SES_OK;

    for (size_t i = first; i < m->height && code == SES_OK; i++)
        code = check(m, pickle_tree_link(&m->tree, array, 0, m->stack[i]));
    m->height = first;
    return code;
}

static int make_array(struct machine *m, size_t first)
{
    uint32_t array = 0;
    int code = check(m, pickle_tree_add(&m->tree, (struct pickle_value){.kind = PICKLE_ARRAY}, &array));

    if (code == SES_OK)
        code = take_items(m, array, first);
    return code == SES_OK ? push(m, array) : code;
}

/* TUPLE1 to TUPLE3 follow each other. */
static int do_small_tuple(struct machine *m, const struct operand *operand)
{
    (void)operand;
    const size_t count = (unsigned char)m->text.ptr[m->opcode] - 0x84u;
    int code = need(m, count);

    return code == SES_OK ? make_array(m, m->height - count) : code;
}

static int do_array_of_items(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = take_mark(m, &first);

    return code == SES_OK ? make_array(m, first) : code;
}

static int add_items(struct machine *m, size_t first)
{
    if (first <= floor_of(m) || pickle_at(&m->tree, m->stack[first - 1])->kind != PICKLE_ARRAY)
        return refuse(m, "items are added to what is no list or set");
    return take_items(m, m->stack[first - 1], first);
}

static int do_append(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = need(m, 2);

    return code == SES_OK ? add_items(m, m->height - 1) : code;
}

static int do_appends(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = take_mark(m, &first);

    return code == SES_OK ? add_items(m, first) : code;
}

static int set_items(struct machine *m, size_t first)
{
    int code = SES_OK;

    if (first <= floor_of(m) || pickle_at(&m->tree, m->stack[first - 1])->kind != PICKLE_DICT)
        return refuse(m, "keys are set in what is no dict");
    if ((m->height - first) % 2 != 0)
        return refuse(m, "a key has no value");
    for (size_t i = first; i < m->height && code == SES_OK; i += 2)
        code = check(m, pickle_tree_link(&m->tree, m->stack[first - 1], m->stack[i], m->stack[i + 1]));
    m->height = first;
    return code;
}

static int do_set_item(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = need(m, 3);

    return code == SES_OK ? set_items(m, m->height - 2) : code;
}

static int do_set_items(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = take_mark(m, &first);

    return code == SES_OK ? set_items(m, first) : code;
}

/* ------------------------------------------------------------------------------------------------- classes */

/* A name for a message: it may be anything. */
static void plain_name(struct span name, char *out, size_t capacity)
{
    size_t len = name.len < capacity - 1 ? name.len : capacity - 1;

    for (size_t i = 0; i < len; i++)
        out[i] = (char)(name.ptr[i] > ' ' && name.ptr[i] < 127 ? name.ptr[i] : '?');
    out[len] = '\0';
}

static int push_class(struct machine *m, struct span module, struct span name)
{
    const struct pickle_class *class = pickle_class_of(module, name);
    char names[2][100];

    if (class)
        return push_value(m, (struct pickle_value){.kind = PICKLE_CLASS, .is.class = class});
    plain_name(module, names[0], sizeof names[0]);
    plain_name(name, names[1], sizeof names[1]);
    return ses__error_at(
        m->error, SES_INVALID, m->opcode,
        "the pickle is refused at byte %zu: it names %s.%s, which no event of google-adk holds", m->opcode,
        names[0], names[1]);
}

static int do_stack_global(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = need(m, 2);

    if (code != SES_OK)
        return code;
    const struct pickle_value *name = top(m);
    const struct pickle_value *module = pickle_at(&m->tree, m->stack[m->height - 2]);
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT)
        return refuse(m, "the name of a class is no text");
    m->height -= 2;
    return push_class(m, module->is.bytes, name->is.bytes);
}

static bool take_line(struct machine *m, struct span *line)
{
    const char *start = m->text.ptr + m->at;
    const char *end = memchr(start, '\n', m->text.len - m->at);

    if (!end)
        return false;
    *line = (struct span){start, (size_t)(end - start)};
    m->at += line->len + 1;
    return true;
}

static int do_global(struct machine *m, const struct operand *operand)
{
    struct span module;
    struct span name;

    (void)operand;
    if (!take_line(m, &module) || !take_line(m, &name))
        return refuse(m, "it was cut short");
    return push_class(m, module, name);
}

/* The class below the arguments, which are taken off the stack. NULL: there is none. */
static const struct pickle_class *take_class(struct machine *m, const struct pickle_value **arguments)
{
    if (m->height - floor_of(m) < 2)
        return NULL;
    const struct pickle_value *class = pickle_at(&m->tree, m->stack[m->height - 2]);
    *arguments = top(m);
    if (class->kind != PICKLE_CLASS || (*arguments)->kind != PICKLE_ARRAY)
        return NULL;
    m->height -= 2;
    return class->is.class;
}

static int do_new_object(struct machine *m, const struct operand *operand)
{
    const struct pickle_value *arguments = NULL;
    const struct pickle_class *class = take_class(m, &arguments);

    (void)operand;
    if (!class || class->kind != PICKLE_MODEL || arguments->is.items.count != 0)
        return refuse(m, "an object is made of what is no class, or with arguments");
    return push_value(m, (struct pickle_value){.kind = PICKLE_OBJECT});
}

/* A call, which is not made: what it would give is known of the few that are let through. */
static int do_reduce(struct machine *m, const struct operand *operand)
{
    const struct pickle_value *arguments = NULL;
    const struct pickle_class *class = take_class(m, &arguments);

    (void)operand;
    if (!class)
        return refuse(m, "something is called that is no class");
    const uint32_t count = arguments->is.items.count;
    const uint32_t argument = count == 1 ? m->tree.links[arguments->is.items.first].value : 0;
    const enum pickle_kind kind = argument ? pickle_at(&m->tree, argument)->kind : PICKLE_NONE;
    if (class->kind == PICKLE_MODEL && (kind == PICKLE_TEXT || kind == PICKLE_INTEGER))
        return push(m, argument); /* an enum */
    if (class->kind == PICKLE_SET && kind == PICKLE_ARRAY)
        return push(m, argument);
    if (class->kind == PICKLE_ORDERED_DICT && count == 0)
        return do_dict(m, operand);
    return refuse(m, "a class is called with other arguments than it takes");
}

enum { MOST_PARTS_OF_STATE = 16 };

/* pydantic's: {"__dict__": fields, "__pydantic_extra__": others or None, ...}. */
static int set_state(struct machine *m, struct pickle_value *object, const struct pickle_value *state)
{
    const struct pickle_tree *tree = &m->tree;

    if (state->kind != PICKLE_DICT || state->is.items.count > MOST_PARTS_OF_STATE)
        return refuse(m, "the state of an object is none of pydantic");
    for (uint32_t link = state->is.items.first; link; link = tree->links[link].next) {
        const struct pickle_link *item = &tree->links[link];
        const bool is_dict = pickle_at(tree, item->value)->kind == PICKLE_DICT;
        if (pickle_is_text(tree, item->key, "__dict__") && is_dict)
            object->is.object.fields = item->value;
        if (pickle_is_text(tree, item->key, "__pydantic_extra__") && is_dict)
            object->is.object.extra = item->value;
    }
    return object->is.object.fields ? SES_OK : refuse(m, "the state of an object has no fields");
}

static int do_build(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = need(m, 2);

    if (code != SES_OK)
        return code;
    const struct pickle_value *state = top(m);
    m->height--;
    if (top(m)->kind != PICKLE_OBJECT)
        return refuse(m, "a state is given to what is no object");
    return set_state(m, top(m), state);
}

/* ----------------------------------------------------------------------------------------------- the table */

/* The operand: `width` bytes are a number, the lowest first; `counted`: as many bytes follow. */
struct opcode {
    run_opcode *run;
    unsigned char width;
    bool counted;
};

static const struct opcode opcodes[256] = {
    ['('] = {do_mark, 0, false},
    ['.'] = {do_stop, 0, false},
    ['0'] = {do_pop, 0, false},
    ['1'] = {do_pop_mark, 0, false},
    [0x80] = {do_proto, 1, false},
    [0x95] = {do_frame, 8, false},
    ['q'] = {do_put, 1, false}, /* BINPUT */
    ['r'] = {do_put, 4, false},
    [0x94] = {do_memoize, 0, false},
    ['h'] = {do_get, 1, false}, /* BINGET */
    ['j'] = {do_get, 4, false},
    ['N'] = {do_none, 0, false},
    [0x88] = {do_true, 0, false},
    [0x89] = {do_false, 0, false},
    ['K'] = {do_integer, 1, false}, /* BININT1 */
    ['M'] = {do_integer, 2, false},
    ['J'] = {do_signed, 4, false},
    [0x8a] = {do_long, 1, true}, /* LONG1 */
    [0x8b] = {do_long, 4, true},
    ['G'] = {do_real, 8, false},
    [0x8c] = {do_text, 1, true}, /* SHORT_BINUNICODE */
    ['X'] = {do_text, 4, true},
    [0x8d] = {do_text, 8, true},
    ['C'] = {do_bytes, 1, true}, /* SHORT_BINBYTES */
    ['B'] = {do_bytes, 4, true},
    [0x8e] = {do_bytes, 8, true},
    [0x96] = {do_bytes, 8, true}, /* BYTEARRAY8 */
    [']'] = {do_array, 0, false},
    [')'] = {do_array, 0, false},  /* EMPTY_TUPLE */
    [0x8f] = {do_array, 0, false}, /* EMPTY_SET */
    ['}'] = {do_dict, 0, false},
    ['t'] = {do_array_of_items, 0, false},  /* TUPLE */
    [0x91] = {do_array_of_items, 0, false}, /* FROZENSET */
    [0x85] = {do_small_tuple, 0, false},
    [0x86] = {do_small_tuple, 0, false},
    [0x87] = {do_small_tuple, 0, false},
    ['a'] = {do_append, 0, false},
    ['e'] = {do_appends, 0, false},
    [0x90] = {do_appends, 0, false}, /* ADDITEMS */
    ['s'] = {do_set_item, 0, false},
    ['u'] = {do_set_items, 0, false},
    ['c'] = {do_global, 0, false},
    [0x93] = {do_stack_global, 0, false},
    [0x81] = {do_new_object, 0, false},
    ['R'] = {do_reduce, 0, false},
    ['b'] = {do_build, 0, false},
};

/* What is refused although Python knows it, for the message. */
static const char *name_of(unsigned char opcode)
{
    static const char *const names[256] = {['P'] = "PERSID",
                                           ['Q'] = "BINPERSID",
                                           ['i'] = "INST",
                                           ['o'] = "OBJ",
                                           [0x82] = "EXT1",
                                           [0x83] = "EXT2",
                                           [0x84] = "EXT4",
                                           [0x92] = "NEWOBJ_EX",
                                           [0x97] = "NEXT_BUFFER",
                                           ['I'] = "INT",
                                           ['L'] = "LONG",
                                           ['F'] = "FLOAT",
                                           ['S'] = "STRING",
                                           ['V'] = "UNICODE",
                                           ['T'] = "BINSTRING",
                                           ['p'] = "PUT",
                                           ['g'] = "GET",
                                           ['l'] = "LIST",
                                           ['d'] = "DICT",
                                           ['2'] = "DUP",
                                           ['U'] = "SHORT_BINSTRING",
                                           [0x98] = "READONLY_BUFFER"};

    return names[opcode] ? names[opcode] : "unknown";
}

static bool take_operand(struct machine *m, const struct opcode *opcode, struct operand *operand)
{
    if (m->text.len - m->at < opcode->width)
        return false;
    for (unsigned i = 0; i < opcode->width; i++)
        operand->number |= (uint64_t)(unsigned char)m->text.ptr[m->at + i] << (8 * i);
    m->at += opcode->width;
    if (!opcode->counted)
        return true;
    if (m->text.len - m->at < operand->number)
        return false;
    operand->data = (struct span){m->text.ptr + m->at, (size_t)operand->number};
    m->at += operand->data.len;
    return true;
}

static int step(struct machine *m)
{
    struct operand operand = {.number = 0};

    m->opcode = m->at;
    if (m->at == m->text.len)
        return refuse(m, "it was cut short");
    const unsigned char byte = (unsigned char)m->text.ptr[m->at++];
    if (m->opcode == 0 && byte != 0x80)
        return refuse(m, "it does not begin with a protocol from 2 on");
    const struct opcode *opcode = &opcodes[byte];
    if (!opcode->run)
        return ses__error_at(m->error, SES_INVALID, m->opcode,
                             "the pickle is refused at byte %zu: it holds the opcode 0x%02x (%s)", m->opcode,
                             byte, name_of(byte));
    if (!take_operand(m, opcode, &operand))
        return refuse(m, "it was cut short");
    return opcode->run(m, &operand);
}

int pickle_to_json(struct span pickle, size_t most_text, struct buffer *json, ses_error *error)
{
    struct machine m = {.text = pickle, .error = error};
    int code = SES_OK;

    pickle_tree_init(&m.tree, json->allocator);
    while (!m.stopped && code == SES_OK)
        code = step(&m);
    if (code == SES_OK)
        code = pickle_write(&m.tree, m.stack[0], most_text, json, error);
    ses__memory_free(json->allocator, m.stack);
    ses__memory_free(json->allocator, m.marks);
    ses__memory_free(json->allocator, m.memo);
    pickle_tree_free(&m.tree);
    return code;
}
