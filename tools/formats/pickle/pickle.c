/* The table of opcodes, and the walk through a pickle. */
#include "formats/pickle/pickle.h"

#include "base/error.h"
#include "formats/pickle/machine.h"

/* The operand is a little-endian number of `width` bytes; if `counted`, that many bytes follow. Some opcodes
 * make a value of `kind`. */
struct opcode {
    run_opcode *run;
    unsigned char width;
    bool counted;
    unsigned char kind;
};

static const struct opcode opcodes[256] = {
    ['('] = {pickle_do_mark, 0, false, 0},
    ['.'] = {pickle_do_stop, 0, false, 0},
    ['0'] = {pickle_do_pop, 0, false, 0},
    ['1'] = {pickle_do_pop_mark, 0, false, 0},
    [0x80] = {pickle_do_proto, 1, false, 0},
    [0x95] = {pickle_do_frame, 8, false, 0},
    ['q'] = {pickle_do_put, 1, false, 0}, /* BINPUT */
    ['r'] = {pickle_do_put, 4, false, 0},
    [0x94] = {pickle_do_memoize, 0, false, 0},
    ['h'] = {pickle_do_get, 1, false, 0}, /* BINGET */
    ['j'] = {pickle_do_get, 4, false, 0},
    ['N'] = {pickle_do_empty, 0, false, PICKLE_NONE},
    [0x88] = {pickle_do_empty, 0, false, PICKLE_TRUE},
    [0x89] = {pickle_do_empty, 0, false, PICKLE_FALSE},
    ['K'] = {pickle_do_integer, 1, false, 0}, /* BININT1 */
    ['M'] = {pickle_do_integer, 2, false, 0},
    ['J'] = {pickle_do_signed, 4, false, 0},
    [0x8a] = {pickle_do_long, 1, true, PICKLE_LONG}, /* LONG1 */
    [0x8b] = {pickle_do_long, 4, true, PICKLE_LONG},
    ['G'] = {pickle_do_real, 8, false, 0},
    [0x8c] = {pickle_do_data, 1, true, PICKLE_TEXT}, /* SHORT_BINUNICODE */
    ['X'] = {pickle_do_data, 4, true, PICKLE_TEXT},
    [0x8d] = {pickle_do_data, 8, true, PICKLE_TEXT},
    ['C'] = {pickle_do_data, 1, true, PICKLE_BYTES}, /* SHORT_BINBYTES */
    ['B'] = {pickle_do_data, 4, true, PICKLE_BYTES},
    [0x8e] = {pickle_do_data, 8, true, PICKLE_BYTES},
    [0x96] = {pickle_do_data, 8, true, PICKLE_BYTES}, /* BYTEARRAY8 */
    [']'] = {pickle_do_empty, 0, false, PICKLE_ARRAY},
    [')'] = {pickle_do_empty, 0, false, PICKLE_ARRAY},  /* EMPTY_TUPLE */
    [0x8f] = {pickle_do_empty, 0, false, PICKLE_ARRAY}, /* EMPTY_SET */
    ['}'] = {pickle_do_empty, 0, false, PICKLE_DICT},
    ['t'] = {pickle_do_array_of_items, 0, false, 0},  /* TUPLE */
    [0x91] = {pickle_do_array_of_items, 0, false, 0}, /* FROZENSET */
    [0x85] = {pickle_do_small_tuple, 0, false, 0},
    [0x86] = {pickle_do_small_tuple, 0, false, 0},
    [0x87] = {pickle_do_small_tuple, 0, false, 0},
    ['a'] = {pickle_do_append, 0, false, 0},
    ['e'] = {pickle_do_appends, 0, false, 0},
    [0x90] = {pickle_do_appends, 0, false, 0}, /* ADDITEMS */
    ['s'] = {pickle_do_set_item, 0, false, 0},
    ['u'] = {pickle_do_set_items, 0, false, 0},
    ['c'] = {pickle_do_global, 0, false, 0},
    [0x93] = {pickle_do_stack_global, 0, false, 0},
    [0x81] = {pickle_do_new_object, 0, false, 0},
    ['R'] = {pickle_do_reduce, 0, false, 0},
    ['b'] = {pickle_do_build, 0, false, 0},
};

/* Valid opcodes that are rejected, with their names for the message. */
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
        return pickle_refuse(m, "it is truncated");
    const unsigned char byte = (unsigned char)m->text.ptr[m->at++];
    if (m->opcode == 0 && byte != 0x80)
        return pickle_refuse(m, "it does not begin with protocol 2 or later");
    const struct opcode *opcode = &opcodes[byte];
    if (!opcode->run)
        return ses__error_at(m->error, SES_INVALID, m->opcode,
                             "the pickle is rejected at byte %zu: it contains the opcode 0x%02x (%s)",
                             m->opcode, byte, name_of(byte));
    operand.kind = opcode->kind;
    if (!take_operand(m, opcode, &operand))
        return pickle_refuse(m, "it is truncated");
    return opcode->run(m, &operand);
}

int pickle_to_json(struct span pickle, size_t max_text, struct buffer *json, ses_error *error)
{
    struct machine m = {.text = pickle, .error = error};
    int code = SES_OK;

    pickle_tree_init(&m.tree, json->allocator);
    while (!m.stopped && code == SES_OK)
        code = step(&m);
    if (code == SES_OK)
        code = pickle_write(&m.tree, m.stack[0], max_text, json, error);
    ses__memory_free(json->allocator, m.stack);
    ses__memory_free(json->allocator, m.marks);
    ses__memory_free(json->allocator, m.memo);
    pickle_tree_free(&m.tree);
    return code;
}
