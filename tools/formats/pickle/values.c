/* Opcodes that create values and put them into each other. */
#include <string.h>

#include "base/error.h"
#include "formats/pickle/machine.h"

int pickle_do_empty(struct machine *m, const struct operand *operand)
{
    return pickle_push_value(m, (struct pickle_value){.kind = operand->kind});
}

int pickle_do_integer(struct machine *m, const struct operand *operand)
{
    return pickle_push_value(
        m, (struct pickle_value){.kind = PICKLE_INTEGER, .is.integer = (int64_t)operand->number});
}

/* A signed integer of four bytes. */
int pickle_do_signed(struct machine *m, const struct operand *operand)
{
    const int64_t number = (int64_t)operand->number;

    return pickle_push_value(
        m, (struct pickle_value){.kind = PICKLE_INTEGER,
                                 .is.integer = number > INT32_MAX ? number - (INT64_C(1) << 32) : number});
}

int pickle_do_data(struct machine *m, const struct operand *operand)
{
    return pickle_push_value(m, (struct pickle_value){.kind = operand->kind, .is.bytes = operand->data});
}

int pickle_do_long(struct machine *m, const struct operand *operand)
{
    if (operand->data.len > PICKLE_MAX_INTEGER)
        return ses__error_at(m->error, SES_LIMIT, m->opcode,
                             "the pickle contains an integer of more than %d bytes", (int)PICKLE_MAX_INTEGER);
    return pickle_do_data(m, operand);
}

/* Unlike all other numbers, a float has its highest byte first. */
int pickle_do_real(struct machine *m, const struct operand *operand)
{
    uint64_t bits = 0;
    double real = 0;

    for (unsigned i = 0; i < 8; i++)
        bits = bits << 8 | (operand->number >> (8 * i) & 0xff);
    memcpy(&real, &bits, sizeof real);
    return pickle_push_value(m, (struct pickle_value){.kind = PICKLE_REAL, .is.real = real});
}

/* The values from `first` on become items of the array. */
static int take_items(struct machine *m, uint32_t array, size_t first)
{
    int code = SES_OK;

    for (size_t i = first; i < m->height && code == SES_OK; i++)
        code = pickle_check(m, pickle_tree_link(&m->tree, array, 0, m->stack[i]));
    m->height = first;
    return code;
}

static int make_array(struct machine *m, size_t first)
{
    uint32_t array = 0;
    int code =
        pickle_check(m, pickle_tree_add(&m->tree, (struct pickle_value){.kind = PICKLE_ARRAY}, &array));

    if (code == SES_OK)
        code = take_items(m, array, first);
    return code == SES_OK ? pickle_push(m, array) : code;
}

/* TUPLE1 to TUPLE3 are consecutive opcodes. */
int pickle_do_small_tuple(struct machine *m, const struct operand *operand)
{
    (void)operand;
    const size_t count = (unsigned char)m->text.ptr[m->opcode] - 0x84u;
    int code = pickle_need(m, count);

    return code == SES_OK ? make_array(m, m->height - count) : code;
}

int pickle_do_array_of_items(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = pickle_take_mark(m, &first);

    return code == SES_OK ? make_array(m, first) : code;
}

static int add_items(struct machine *m, size_t first)
{
    if (first <= pickle_floor_of(m) || pickle_at(&m->tree, m->stack[first - 1])->kind != PICKLE_ARRAY)
        return pickle_refuse(m, "items are added to a value that is not a list or set");
    return take_items(m, m->stack[first - 1], first);
}

int pickle_do_append(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = pickle_need(m, 2);

    return code == SES_OK ? add_items(m, m->height - 1) : code;
}

int pickle_do_appends(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = pickle_take_mark(m, &first);

    return code == SES_OK ? add_items(m, first) : code;
}

static int set_items(struct machine *m, size_t first)
{
    int code = SES_OK;

    if (first <= pickle_floor_of(m) || pickle_at(&m->tree, m->stack[first - 1])->kind != PICKLE_DICT)
        return pickle_refuse(m, "keys are set in a value that is not a dict");
    if ((m->height - first) % 2 != 0)
        return pickle_refuse(m, "a key has no value");
    for (size_t i = first; i < m->height && code == SES_OK; i += 2)
        code = pickle_check(m, pickle_tree_link(&m->tree, m->stack[first - 1], m->stack[i], m->stack[i + 1]));
    m->height = first;
    return code;
}

int pickle_do_set_item(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = pickle_need(m, 3);

    return code == SES_OK ? set_items(m, m->height - 2) : code;
}

int pickle_do_set_items(struct machine *m, const struct operand *operand)
{
    (void)operand;
    size_t first = 0;
    int code = pickle_take_mark(m, &first);

    return code == SES_OK ? set_items(m, first) : code;
}
