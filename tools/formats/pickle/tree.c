#include "formats/pickle/tree.h"

#include <string.h>

void pickle_tree_init(struct pickle_tree *tree, const ses_allocator *allocator)
{
    /* Number 0 of both means none. */
    *tree = (struct pickle_tree){.allocator = allocator, .value_count = 1, .link_count = 1};
}

void pickle_tree_free(struct pickle_tree *tree)
{
    ses__memory_free(tree->allocator, tree->values);
    ses__memory_free(tree->allocator, tree->links);
    pickle_tree_init(tree, tree->allocator);
}

int pickle_tree_add(struct pickle_tree *tree, struct pickle_value value, uint32_t *number)
{
    void *values = tree->values;

    if (tree->value_count >= PICKLE_MAX_VALUES)
        return SES_LIMIT;
    bool ok = ses__memory_grow(tree->allocator, &values, &tree->value_room, tree->value_count + 1,
                               sizeof *tree->values);
    tree->values = values;
    if (!ok)
        return SES_NOMEM;
    *number = (uint32_t)tree->value_count;
    tree->values[tree->value_count++] = value;
    return SES_OK;
}

int pickle_tree_link(struct pickle_tree *tree, uint32_t container, uint32_t key, uint32_t value)
{
    struct pickle_value *of = pickle_at(tree, container);
    void *links = tree->links;

    if (tree->link_count >= PICKLE_MAX_VALUES)
        return SES_LIMIT;
    bool ok = ses__memory_grow(tree->allocator, &links, &tree->link_room, tree->link_count + 1,
                               sizeof *tree->links);
    tree->links = links;
    if (!ok)
        return SES_NOMEM;
    const uint32_t link = (uint32_t)tree->link_count++;
    tree->links[link] = (struct pickle_link){key, value, 0};
    if (of->is.items.last)
        tree->links[of->is.items.last].next = link;
    else
        of->is.items.first = link;
    of->is.items.last = link;
    of->is.items.count++;
    return SES_OK;
}

bool pickle_is_text(const struct pickle_tree *tree, uint32_t number, const char *text)
{
    const struct pickle_value *value = pickle_at(tree, number);

    return value->kind == PICKLE_TEXT && value->is.bytes.len == strlen(text) &&
           memcmp(value->is.bytes.ptr, text, value->is.bytes.len) == 0;
}
