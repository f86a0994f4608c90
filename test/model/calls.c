/* The book of calls by itself: which calls a response belongs to. */
#include "model/calls.h"

#include "support.h"

struct numbered {
    struct call call;
    int number;
};

struct subject {
    ses_allocator allocator;
    struct calls calls;
    struct numbered made[1000];
    int count;
};

static struct span span_of(const char *text)
{
    return (struct span){text, text ? strlen(text) : 0};
}

static int setup(void **state)
{
    struct subject *subject = calloc(1, sizeof *subject);

    assert_non_null(subject);
    ses__memory_default(&subject->allocator);
    subject->calls = (struct calls){.allocator = &subject->allocator, .seed = {{1, 2}}};
    *state = subject;
    return 0;
}

static int teardown(void **state)
{
    struct subject *subject = *state;

    ses__calls_free(&subject->calls);
    free(subject);
    return 0;
}

/* Calls are numbered from 1. */
static void add_call(struct subject *subject, const char *id, const char *name)
{
    struct numbered *made = &subject->made[subject->count++];

    made->number = subject->count;
    assert_true(ses__calls_add(&subject->calls, span_of(id), span_of(name), &made->call));
}

/* Returns the numbers of the calls that a response belongs to, as the digits of one. */
static int answer(struct subject *subject, const char *id, const char *name)
{
    int numbers = 0;

    for (const struct call *call = ses__calls_answer(&subject->calls, span_of(id), span_of(name)); call;
         call = call->next)
        numbers = numbers * 10 + ((const struct numbered *)call)->number;
    return numbers;
}

#define SUBJECT_TEST(name) TEST_WITH(struct subject *subject, setup, teardown, name)

SUBJECT_TEST(an_id_has_its_calls_the_newest_first)
{
    add_call(subject, "a", "f");
    add_call(subject, "b", "f");
    add_call(subject, "a", "g");
    assert_int_equal(answer(subject, "a", "other"), 31);
    assert_int_equal(answer(subject, "a", NULL), 31);
    add_call(subject, "a", "f");
    assert_int_equal(answer(subject, "a", "f"), 431);
    assert_int_equal(answer(subject, "b", "f"), 2);
    assert_int_equal(answer(subject, "c", "f"), 0);
}

SUBJECT_TEST(calls_that_are_forgotten_are_answered_once)
{
    subject->calls.forgets = true;
    add_call(subject, "a", "f");
    add_call(subject, "a", "f");
    assert_int_equal(answer(subject, "a", "f"), 21);
    assert_int_equal(answer(subject, "a", "f"), 0);
    assert_int_equal(subject->calls.groups.count, 0);
    add_call(subject, "a", "f");
    assert_int_equal(answer(subject, "a", "f"), 3);
}

SUBJECT_TEST(a_name_has_its_calls_one_by_one_the_oldest_first)
{
    add_call(subject, NULL, "f");
    add_call(subject, "", "f");
    add_call(subject, "", "g");
    add_call(subject, "f", "f");
    assert_int_equal(answer(subject, "", "f"), 1);
    add_call(subject, "", "f");
    assert_int_equal(answer(subject, NULL, "f"), 2);
    assert_int_equal(answer(subject, "", "f"), 5);
    assert_int_equal(answer(subject, "", "f"), 0);
    assert_int_equal(answer(subject, "", "g"), 3);
    assert_int_equal(answer(subject, "f", ""), 4);
}

SUBJECT_TEST(calls_with_neither_id_nor_name_belong_together)
{
    add_call(subject, NULL, NULL);
    add_call(subject, "", "");
    assert_int_equal(answer(subject, NULL, ""), 1);
    assert_int_equal(answer(subject, NULL, NULL), 2);
    assert_int_equal(answer(subject, NULL, NULL), 0);
}

SUBJECT_TEST(the_book_holds_many_ids)
{
    char id[8];

    subject->calls.forgets = true;
    for (int i = 1; i <= 1000; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        add_call(subject, id, NULL);
    }
    for (int i = 1; i <= 1000; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        assert_ptr_equal(ses__calls_find(&subject->calls, span_of(id), span_of(NULL)),
                         &subject->made[i - 1].call);
        assert_int_equal(answer(subject, id, NULL), i);
    }
    assert_int_equal(subject->calls.groups.count, 0);
}
