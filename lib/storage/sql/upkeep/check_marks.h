/* The marks that a log must have: found out from its events, and held against the table. */
#ifndef SESLITE_STORAGE_SQL_UPKEEP_CHECK_MARKS_H
#define SESLITE_STORAGE_SQL_UPKEEP_CHECK_MARKS_H

#include "storage/sql/upkeep/check.h"

/* An invocation that some rewind names. */
struct rewound {
    struct span invocation;
    int64_t first; /* its first event; 0: there is none */
};

struct due_mark {
    int64_t seq;
    struct span invocation; /* of a rewind; without text: a compaction */
};

struct check_marks {
    struct arena arena;
    struct due_mark *marks; /* in the order of the log */
    size_t count;
    size_t capacity;
    struct rewound *rewound; /* sorted, each once */
    size_t rewound_count;
};

SESLITE_PRIVATE void ses__check_marks_init(struct check_marks *marks, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__check_marks_free(struct check_marks *marks);
/* The next event that has a mark. False: out of memory. */
SESLITE_PRIVATE bool ses__check_marks_add(struct check_marks *marks, int64_t seq, struct span rewinds_before);
/* When all were added. Reports the first that differs. */
SESLITE_PRIVATE int ses__check_marks_compare(struct check *check, struct check_marks *marks,
                                             const struct session_row *row);

#endif
