/* The pickle machine: a stack, marks on it, and a memo. */
#ifndef FORMATS_PICKLE_MACHINE_H
#define FORMATS_PICKLE_MACHINE_H

#include "formats/pickle/tree.h"

struct machine {
    struct span text;
    size_t at;     /* the next byte */
    size_t opcode; /* the position of the current one */
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

/* The bytes after an opcode, and the kind of value that it makes. */
struct operand {
    unsigned char kind;
    uint64_t number;
    struct span data;
};

typedef int run_opcode(struct machine *m, const struct operand *operand);

/* Fails with INVALID and the position in the pickle. */
int pickle_refuse(struct machine *m, const char *why);
/* Adds the message to a code that has none yet. */
int pickle_check(struct machine *m, int code);

int pickle_push(struct machine *m, uint32_t number);
int pickle_push_value(struct machine *m, struct pickle_value value);
/* The stack height below which no opcode may reach. */
size_t pickle_floor_of(const struct machine *m);
/* Checks that the stack has this many values above the newest mark. */
int pickle_need(struct machine *m, size_t count);
/* Removes the newest mark; *first becomes the position of the first value above it. */
int pickle_take_mark(struct machine *m, size_t *first);
struct pickle_value *pickle_top(const struct machine *m);

/* The functions of the opcodes. */
run_opcode pickle_do_mark, pickle_do_pop, pickle_do_pop_mark, pickle_do_put, pickle_do_memoize, pickle_do_get,
    pickle_do_stop, pickle_do_proto, pickle_do_frame, pickle_do_empty, pickle_do_data, pickle_do_integer,
    pickle_do_signed, pickle_do_long, pickle_do_real, pickle_do_small_tuple, pickle_do_array_of_items,
    pickle_do_append, pickle_do_appends, pickle_do_set_item, pickle_do_set_items, pickle_do_stack_global,
    pickle_do_global, pickle_do_new_object, pickle_do_reduce, pickle_do_build;

#endif
