/* Opcodes that name classes and create objects. */
#include <string.h>

#include "base/error.h"
#include "formats/pickle/machine.h"

/* Cleans a name, which can be any bytes, for a message. */
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
        return pickle_push_value(m, (struct pickle_value){.kind = PICKLE_CLASS, .is.class = class});
    plain_name(module, names[0], sizeof names[0]);
    plain_name(name, names[1], sizeof names[1]);
    return ses__error_at(
        m->error, SES_INVALID, m->opcode,
        "the pickle is rejected at byte %zu: it names %s.%s, which no event of google-adk contains",
        m->opcode, names[0], names[1]);
}

int pickle_do_stack_global(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = pickle_need(m, 2);

    if (code != SES_OK)
        return code;
    const struct pickle_value *name = pickle_top(m);
    const struct pickle_value *module = pickle_at(&m->tree, m->stack[m->height - 2]);
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT)
        return pickle_refuse(m, "the name of a class is not a text");
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

int pickle_do_global(struct machine *m, const struct operand *operand)
{
    struct span module;
    struct span name;

    (void)operand;
    if (!take_line(m, &module) || !take_line(m, &name))
        return pickle_refuse(m, "it is truncated");
    return push_class(m, module, name);
}

/* Pops the arguments and the class below them. Returns NULL if it is not a class. */
static const struct pickle_class *take_class(struct machine *m, const struct pickle_value **arguments)
{
    if (m->height - pickle_floor_of(m) < 2)
        return NULL;
    const struct pickle_value *class = pickle_at(&m->tree, m->stack[m->height - 2]);
    *arguments = pickle_top(m);
    if (class->kind != PICKLE_CLASS || (*arguments)->kind != PICKLE_ARRAY)
        return NULL;
    m->height -= 2;
    return class->is.class;
}

int pickle_do_new_object(struct machine *m, const struct operand *operand)
{
    const struct pickle_value *arguments = NULL;
    const struct pickle_class *class = take_class(m, &arguments);

    (void)operand;
    if (!class || class->kind != PICKLE_MODEL || arguments->is.items.count != 0)
        return pickle_refuse(m, "an object is created from something that is not a class, or with arguments");
    return pickle_push_value(m, (struct pickle_value){.kind = PICKLE_OBJECT});
}

/* Replaces a call by its result, which is known for the few calls that are accepted. */
int pickle_do_reduce(struct machine *m, const struct operand *operand)
{
    const struct pickle_value *arguments = NULL;
    const struct pickle_class *class = take_class(m, &arguments);

    (void)operand;
    if (!class)
        return pickle_refuse(m, "the called value is not a class");
    const uint32_t count = arguments->is.items.count;
    const uint32_t argument = count == 1 ? m->tree.links[arguments->is.items.first].value : 0;
    const enum pickle_kind kind = argument ? pickle_at(&m->tree, argument)->kind : PICKLE_NONE;
    if (class->kind == PICKLE_MODEL && (kind == PICKLE_TEXT || kind == PICKLE_INTEGER))
        return pickle_push(m, argument); /* an enum */
    if (class->kind == PICKLE_SET && kind == PICKLE_ARRAY)
        return pickle_push(m, argument);
    if (class->kind == PICKLE_ORDERED_DICT && count == 0)
        return pickle_push_value(m, (struct pickle_value){.kind = PICKLE_DICT});
    return pickle_refuse(m, "a class is called with unexpected arguments");
}

enum { MOST_PARTS_OF_STATE = 16 };

/* pydantic's: {"__dict__": fields, "__pydantic_extra__": others or None, ...}. */
static int set_state(struct machine *m, struct pickle_value *object, const struct pickle_value *state)
{
    const struct pickle_tree *tree = &m->tree;

    if (state->kind != PICKLE_DICT || state->is.items.count > MOST_PARTS_OF_STATE)
        return pickle_refuse(m, "the state of an object is not that of a pydantic model");
    for (uint32_t link = state->is.items.first; link; link = tree->links[link].next) {
        const struct pickle_link *item = &tree->links[link];
        const bool is_dict = pickle_at(tree, item->value)->kind == PICKLE_DICT;
        if (pickle_is_text(tree, item->key, "__dict__") && is_dict)
            object->is.object.fields = item->value;
        if (pickle_is_text(tree, item->key, "__pydantic_extra__") && is_dict)
            object->is.object.extra = item->value;
    }
    return object->is.object.fields ? SES_OK : pickle_refuse(m, "the state of an object has no fields");
}

int pickle_do_build(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = pickle_need(m, 2);

    if (code != SES_OK)
        return code;
    const struct pickle_value *state = pickle_top(m);
    m->height--;
    if (pickle_top(m)->kind != PICKLE_OBJECT)
        return pickle_refuse(m, "the value that gets a state is not an object");
    return set_state(m, pickle_top(m), state);
}
