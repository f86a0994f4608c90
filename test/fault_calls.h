/*
 * Which calls fail in a run of a scene (see scenario.h), and when.
 *
 * A step that fails is done again without the fault, so one run makes one call fail in every step, and there
 * are as many runs as the step with the most calls needs. Calls of a step that have the same stack fail in
 * the same way: the first two and the last of them are chosen. A run without faults finds them.
 */
#ifndef SESLITE_TEST_FAULT_CALLS_H
#define SESLITE_TEST_FAULT_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include "support.h"

enum { FAULT_FRAMES = 96, FAULT_STEPS = 128 };

struct fault_call {
    uint64_t stack; /* a hash of it */
    int step;       /* counted from 0 */
    long call;      /* counted from 1 in each step */
};

static struct {
    bool recording;
    void *outermost;             /* the frame that every stack ends with which was walked to its end */
    struct fault_call *recorded; /* after the choice, the chosen ones, by step and call */
    size_t count;
    size_t room;
    size_t first_of[FAULT_STEPS + 1]; /* where the calls of each step begin in `recorded` */
    size_t runs;                      /* what the step with the most calls needs */

    bool for_good; /* all later calls fail too, until the fault is lifted */
    size_t run;    /* counted from 0; SIZE_MAX: nothing fails */
    int step;
    long call;
    long fail_at; /* 0: nothing fails, or nothing fails any more in this step */
    long fired;   /* steps in which a call has failed */
} fault_calls;

/* How far the runs are apart that a test makes, where it makes one in `apart` by itself. */
static inline size_t fault_apart(size_t apart)
{
    return apart * (size_t)support_setting("SESLITE_FAULTS_APART", 1);
}

static inline int fault_walk(void **frames)
{
#ifdef __GLIBC__
    return backtrace(frames, FAULT_FRAMES);
#else
    (void)frames;
    return 0;
#endif
}

/* A stack that cannot be walked to its end counts as one of its own. */
static inline uint64_t fault_stack(void)
{
    void *frames[FAULT_FRAMES];
    const int depth = fault_walk(frames);
    uint64_t hash = UINT64_C(14695981039346656037);

    if (depth == 0 || depth == FAULT_FRAMES || frames[depth - 1] != fault_calls.outermost)
        return (uint64_t)fault_calls.call;
    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline void fault_record(void)
{
    fault_calls.recording = false; /* walking may allocate */
    if (fault_calls.count == fault_calls.room) {
        fault_calls.room = fault_calls.room ? 2 * fault_calls.room : 1024;
        fault_calls.recorded = realloc(fault_calls.recorded, fault_calls.room * sizeof *fault_calls.recorded);
        assert_non_null(fault_calls.recorded);
    }
    fault_calls.recorded[fault_calls.count++] =
        (struct fault_call){.stack = fault_stack(), .step = fault_calls.step, .call = fault_calls.call};
    fault_calls.recording = true;
}

/* Asked at each call that can fail: does this one? */
static inline bool fault_now(void)
{
    fault_calls.call++;
    if (fault_calls.recording)
        fault_record();
    if (fault_calls.fail_at == 0 || fault_calls.call < fault_calls.fail_at ||
        (fault_calls.call > fault_calls.fail_at && !fault_calls.for_good))
        return false;
    fault_calls.fired += fault_calls.call == fault_calls.fail_at;
    return true;
}

static inline void fault_lift(void)
{
    fault_calls.fail_at = 0;
}

static inline void fault_begin_step(int step)
{
    fault_calls.step = step;
    fault_calls.call = 0;
    fault_calls.fail_at = 0;
    if (fault_calls.run != SIZE_MAX && step >= 0) {
        assert_true(step < FAULT_STEPS);
        const size_t at = fault_calls.first_of[step] + fault_calls.run;
        if (at < fault_calls.first_of[step + 1])
            fault_calls.fail_at = fault_calls.recorded[at].call;
    }
}

static inline void fault_begin_run(size_t run, bool for_good)
{
    fault_calls.run = run;
    fault_calls.for_good = for_good;
    fault_calls.fired = 0;
    fault_begin_step(-1);
}

/* Begins the run without faults. Calls before the first step are not recorded, nor made to fail. */
static inline void fault_begin_recording(void)
{
    void *frames[FAULT_FRAMES];
    const int depth = fault_walk(frames);

    fault_begin_run(SIZE_MAX, false);
    fault_calls.outermost = depth > 0 ? frames[depth - 1] : NULL;
    fault_calls.count = 0;
    fault_calls.recording = true;
}

static inline int fault_by_stack(const void *a, const void *b)
{
    const struct fault_call *left = a;
    const struct fault_call *right = b;
    if (left->step != right->step)
        return left->step < right->step ? -1 : 1;
    if (left->stack != right->stack)
        return left->stack < right->stack ? -1 : 1;
    return (left->call > right->call) - (left->call < right->call);
}

static inline int fault_by_call(const void *a, const void *b)
{
    const struct fault_call *left = a;
    const struct fault_call *right = b;
    if (left->step != right->step)
        return left->step < right->step ? -1 : 1;
    return (left->call > right->call) - (left->call < right->call);
}

static inline void fault_drop_repeats(void)
{
    struct fault_call *all = fault_calls.recorded;
    size_t kept = 0;
    size_t nth = 0; /* of those with the same stack */

    for (size_t i = 0; i < fault_calls.count; i++) {
        const struct fault_call *call = &all[i];
        const bool is_last =
            i + 1 == fault_calls.count || call[1].step != call->step || call[1].stack != call->stack;
        if (call->step >= 0 && (nth < 2 || is_last))
            all[kept++] = *call;
        nth = is_last ? 0 : nth + 1;
    }
    fault_calls.count = kept;
}

/* Ends the run without faults, and chooses. */
static inline void fault_choose(void)
{
    size_t at = 0;

    fault_calls.recording = false;
    assert_true(fault_calls.count > 0);
    qsort(fault_calls.recorded, fault_calls.count, sizeof *fault_calls.recorded, fault_by_stack);
    fault_drop_repeats();
    qsort(fault_calls.recorded, fault_calls.count, sizeof *fault_calls.recorded, fault_by_call);
    fault_calls.runs = 0;
    for (int step = 0; step < FAULT_STEPS; step++) {
        fault_calls.first_of[step] = at;
        while (at < fault_calls.count && fault_calls.recorded[at].step == step)
            at++;
        if (at - fault_calls.first_of[step] > fault_calls.runs)
            fault_calls.runs = at - fault_calls.first_of[step];
    }
    assert_int_equal(at, fault_calls.count);
    fault_calls.first_of[FAULT_STEPS] = at;
}

#endif
