#include "model/state/initial.h"

#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"

/* Compares, ignoring white space between tokens, because an indented file has other white space in a delta
 * than in the state. */
static bool is_same_json(struct span a, struct span b)
{
    bool in_string = false;
    size_t i = 0;
    size_t j = 0;

    for (;; i++, j++) {
        while (!in_string && i < a.len && ses__json_is_space(a.ptr[i]))
            i++;
        while (!in_string && j < b.len && ses__json_is_space(b.ptr[j]))
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (a.ptr[i] != b.ptr[j])
            return false;
        if (in_string && a.ptr[i] == '\\' && i + 1 < a.len && j + 1 < b.len && a.ptr[i + 1] == b.ptr[j + 1]) {
            i++; /* an escaped quote does not end the string */
            j++;
        } else if (a.ptr[i] == '"') {
            in_string = !in_string;
        }
    }
}

static int contradicts(const struct delta_op *op, ses_error *error)
{
    return ses__error_set(error, SES_INVALID,
                          "it contradicts the events, which lead to another value of the key \"%.200s\"",
                          op->name.ptr);
}

/* Adds a value that no event has set. A string equal to the tombstone can only be an ordinary value here, so
 * it is written with an escape. */
static void add_initial(struct buffer *initial, const struct delta_op *op)
{
    ses__json_add_member(initial, 1, op->name, op->removes ? TOMBSTONE_AS_TEXT : op->value);
}

/* Checks that the touched keys before `name`, or all, are removed in the end. */
static int pass_removed(const struct changes *touched, size_t *next, const struct span *name,
                        ses_error *error)
{
    for (; *next < touched->name_count; ++*next) {
        const struct delta_op *op = touched->by_name[*next];
        if (name && ses__span_order(op->name, *name) >= 0)
            break;
        if (!op->removes)
            return contradicts(op, error);
    }
    return SES_OK;
}

/* Walks both lists, which are sorted, together. */
int ses__initial_find(const struct changes *final, const struct changes *touched, struct buffer *initial,
                      ses_error *error)
{
    size_t next = 0;

    ses__buffer_add(initial, "{", 1);
    for (size_t i = 0; i < final->name_count; i++) {
        const struct delta_op *op = final->by_name[i];
        if (op->scope != SCOPE_SESSION)
            continue;
        int code = pass_removed(touched, &next, &op->name, error);
        if (code != SES_OK)
            return code;
        if (next == touched->name_count || ses__span_order(touched->by_name[next]->name, op->name) != 0)
            add_initial(initial, op);
        else if (touched->by_name[next]->removes || !is_same_json(touched->by_name[next]->value, op->value))
            return contradicts(op, error);
        else
            next++;
    }
    ses__buffer_add(initial, "}", 1);
    return initial->failed ? ses__error_nomem(error) : pass_removed(touched, &next, NULL, error);
}
