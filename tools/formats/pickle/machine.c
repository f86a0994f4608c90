#include "formats/pickle/machine.h"

#include "base/error.h"

int pickle_refuse(struct machine *m, const char *why)
{
    return ses__error_at(m->error, SES_INVALID, m->opcode, "the pickle is rejected at byte %zu: %s",
                         m->opcode, why);
}

int pickle_check(struct machine *m, int code)
{
    if (code == SES_NOMEM)
        return ses__error_nomem(m->error);
    if (code == SES_LIMIT)
        return ses__error_at(m->error, SES_LIMIT, m->opcode, "the pickle contains more than %d values",
                             (int)PICKLE_MAX_VALUES);
    return code;
}

static int add_number(struct machine *m, uint32_t **list, size_t *count, size_t *room, uint32_t number)
{
    void *items = *list;

    if (*count >= PICKLE_MAX_VALUES)
        return pickle_check(m, SES_LIMIT);
    bool ok = ses__memory_grow(m->tree.allocator, &items, room, *count + 1, sizeof **list);
    *list = items;
    if (!ok)
        return pickle_check(m, SES_NOMEM);
    (*list)[(*count)++] = number;
    return SES_OK;
}

int pickle_push(struct machine *m, uint32_t number)
{
    return add_number(m, &m->stack, &m->height, &m->stack_room, number);
}

int pickle_push_value(struct machine *m, struct pickle_value value)
{
    uint32_t number = 0;
    int code = pickle_check(m, pickle_tree_add(&m->tree, value, &number));

    return code == SES_OK ? pickle_push(m, number) : code;
}

size_t pickle_floor_of(const struct machine *m)
{
    return m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0;
}

int pickle_need(struct machine *m, size_t count)
{
    return m->height - pickle_floor_of(m) >= count ? SES_OK
                                                   : pickle_refuse(m, "the stack has too few values");
}

int pickle_take_mark(struct machine *m, size_t *first)
{
    if (m->mark_count == 0)
        return pickle_refuse(m, "no mark on the stack");
    *first = m->marks[--m->mark_count];
    return SES_OK;
}

struct pickle_value *pickle_top(const struct machine *m)
{
    return pickle_at(&m->tree, m->stack[m->height - 1]);
}

int pickle_do_mark(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return add_number(m, &m->marks, &m->mark_count, &m->mark_room, (uint32_t)m->height);
}

int pickle_do_pop(struct machine *m, const struct operand *operand)
{
    (void)operand;
    int code = pickle_need(m, 1);
    if (code == SES_OK)
        m->height--;
    return code;
}

int pickle_do_pop_mark(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return pickle_take_mark(m, &m->height);
}

/* Memo numbers come nearly in order. A gap is filled, within the limit of values. */
static int put_in_memo(struct machine *m, uint64_t index)
{
    int code = pickle_need(m, 1);

    if (code == SES_OK && index >= PICKLE_MAX_VALUES)
        return pickle_check(m, SES_LIMIT);
    while (code == SES_OK && m->memo_count <= index)
        code = add_number(m, &m->memo, &m->memo_count, &m->memo_room, 0);
    if (code == SES_OK)
        m->memo[index] = m->stack[m->height - 1];
    return code;
}

int pickle_do_put(struct machine *m, const struct operand *operand)
{
    return put_in_memo(m, operand->number);
}

int pickle_do_memoize(struct machine *m, const struct operand *operand)
{
    (void)operand;
    return put_in_memo(m, m->memo_count);
}

int pickle_do_get(struct machine *m, const struct operand *operand)
{
    if (operand->number >= m->memo_count || !m->memo[operand->number])
        return pickle_refuse(m, "the memo has no value with this number");
    return pickle_push(m, m->memo[operand->number]);
}

int pickle_do_stop(struct machine *m, const struct operand *operand)
{
    (void)operand;
    if (m->height != 1 || m->mark_count > 0)
        return pickle_refuse(m, "it does not end with exactly one value");
    if (m->at != m->text.len)
        return pickle_refuse(m, "it continues after its end");
    m->stopped = true;
    return SES_OK;
}

int pickle_do_proto(struct machine *m, const struct operand *operand)
{
    if (m->opcode != 0)
        return pickle_refuse(m, "it names its protocol twice");
    return operand->number >= 2 && operand->number <= 5 ? SES_OK
                                                        : pickle_refuse(m, "its protocol is not 2 to 5");
}

int pickle_do_frame(struct machine *m, const struct operand *operand)
{
    return operand->number <= m->text.len - m->at ? SES_OK : pickle_refuse(m, "it is truncated");
}
