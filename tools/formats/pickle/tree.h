/* The content of a pickle as values that refer to each other by number. A value may be part of several
 * others, or of itself. */
#ifndef FORMATS_PICKLE_TREE_H
#define FORMATS_PICKLE_TREE_H

#include "formats/pickle/pickle.h"

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_FALSE,
    PICKLE_TRUE,
    PICKLE_INTEGER,
    PICKLE_LONG, /* an integer in two's complement, little-endian */
    PICKLE_REAL,
    PICKLE_TEXT, /* UTF-8 that may contain surrogates */
    PICKLE_BYTES,
    PICKLE_ARRAY, /* a list, a tuple or a set */
    PICKLE_DICT,
    PICKLE_CLASS,
    PICKLE_OBJECT
};

/* Values, links and memo entries are numbered from 1; 0 means none. */
struct pickle_value {
    unsigned char kind;
    union {
        int64_t integer;
        double real;
        struct span bytes; /* of a text, bytes or a long, within the pickle */
        struct {
            uint32_t first; /* links */
            uint32_t last;
            uint32_t count;
        } items;
        struct {
            uint32_t fields; /* both are dicts, or 0 if not set */
            uint32_t extra;
        } object;
        const struct pickle_class *class;
    } is;
};

/* An item of an array or a dict. */
struct pickle_link {
    uint32_t key; /* 0 in an array */
    uint32_t value;
    uint32_t next;
};

struct pickle_tree {
    const ses_allocator *allocator;
    struct pickle_value *values;
    size_t value_count;
    size_t value_room;
    struct pickle_link *links;
    size_t link_count;
    size_t link_room;
};

void pickle_tree_init(struct pickle_tree *tree, const ses_allocator *allocator);
void pickle_tree_free(struct pickle_tree *tree);
/* Adds a value and sets *number to its number. Fails with LIMIT or NOMEM, without a message. */
int pickle_tree_add(struct pickle_tree *tree, struct pickle_value value, uint32_t *number);
/* Adds an item to the array or dict. Fails with LIMIT or NOMEM, without a message. */
int pickle_tree_link(struct pickle_tree *tree, uint32_t container, uint32_t key, uint32_t value);

static inline struct pickle_value *pickle_at(const struct pickle_tree *tree, uint32_t number)
{
    return &tree->values[number];
}

/* True if the value is this text. */
bool pickle_is_text(const struct pickle_tree *tree, uint32_t number, const char *text);

/* pickle_classes.c: the classes that a pickle may name. */
enum pickle_class_kind {
    PICKLE_MODEL, /* an object with fields, or an enum */
    PICKLE_SET,   /* created from a list */
    PICKLE_ORDERED_DICT
};
struct pickle_class {
    const char *module;
    const char *name; /* NULL for all classes of the module */
    enum pickle_class_kind kind;
};
/* The class, or NULL if it is rejected. */
const struct pickle_class *pickle_class_of(struct span module, struct span name);

/* pickle_json.c: writes a value. Fails with INVALID, LIMIT or NOMEM. */
int pickle_write(const struct pickle_tree *tree, uint32_t number, size_t max_text, struct buffer *json,
                 ses_error *error);

#endif
