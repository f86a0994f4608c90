#include "html/turns.h"

#include <inttypes.h>
#include <string.h>

#include "output/out.h"

static int64_t at_least_0(int64_t count)
{
    return count > 0 ? count : 0;
}

static int64_t sum(int64_t left, int64_t right)
{
    return right > INT64_MAX - left ? INT64_MAX : left + right;
}

static void add_bar(struct turn_bar *bar, const struct turn_bar *more)
{
    bar->turns += more->turns;
    bar->cached = sum(bar->cached, more->cached);
    bar->prompt = sum(bar->prompt, more->prompt);
    bar->answer = sum(bar->answer, more->answer);
}

/* Two bars become one. */
static void join_bars(struct turns *turns)
{
    for (size_t i = 0; i < TURNS_MAX / 2; i++) {
        turns->bars[i] = turns->bars[2 * i];
        add_bar(&turns->bars[i], &turns->bars[2 * i + 1]);
    }
    turns->count = TURNS_MAX / 2;
    turns->per_bar *= 2;
}

/* The bar for the event's turn. */
static struct turn_bar *bar_of(struct turns *turns, const ses_event *event)
{
    const bool same = turns->count > 0 && strcmp(turns->invocation.data, event->invocation_id) == 0;
    struct turn_bar *last = turns->count > 0 ? &turns->bars[turns->count - 1] : NULL;

    if (same)
        return last;
    text_clear(&turns->invocation);
    text_puts(&turns->invocation, event->invocation_id);
    if (last && last->turns < turns->per_bar) {
        last->turns++;
        return last;
    }
    if (turns->count == TURNS_MAX)
        join_bars(turns);
    if (turns->per_bar == 0)
        turns->per_bar = 1;
    last = &turns->bars[turns->count++];
    *last = (struct turn_bar){.first_seq = event->seq, .turns = 1};
    return last;
}

void turns_add(struct turns *turns, const ses_event *event, const ses_usage *usage)
{
    if (!usage)
        return;
    const int64_t prompt = at_least_0(usage->prompt);
    const int64_t cached = at_least_0(usage->cached) < prompt ? at_least_0(usage->cached) : prompt;
    const struct turn_bar used = {.cached = cached,
                                  .prompt = prompt - cached,
                                  .answer = sum(at_least_0(usage->candidates), at_least_0(usage->thoughts))};
    add_bar(bar_of(turns, event), &used);
}

void turns_free(struct turns *turns)
{
    text_free(&turns->invocation);
}

/* ----------------------------------------------------------------------------------------------- the bars */

enum { BAR_WIDTH = 10, BAR_GAP = 2, HEIGHT = 1000 };

static double tokens_of(const struct turn_bar *bar)
{
    return (double)bar->cached + (double)bar->prompt + (double)bar->answer;
}

/* Puts a piece of a bar on what is below it, `*top`. Only numbers stand within the tag. */
static void put_piece(struct page *page, size_t i, double exact, const char *kind, int *top)
{
    const int height = (int)exact;

    *top -= height;
    if (height > 0)
        page_print(page, "<rect class=\"%s\" x=\"%zu\" y=\"%d\" width=\"%d\" height=\"%d\"/>", kind,
                   i * BAR_WIDTH, *top, BAR_WIDTH - BAR_GAP, height);
}

static void put_bar(struct page *page, const struct turn_bar *bar, size_t i, double scale)
{
    int top = HEIGHT;

    page_print(page, "<a href=\"#e%" PRId64 "\"><title>", bar->first_seq);
    page_print(page, "%s from event %" PRId64 ": %" PRId64 " in", counted(bar->turns, "turn"), bar->first_seq,
               sum(bar->cached, bar->prompt));
    if (bar->cached > 0)
        page_print(page, " (%" PRId64 " cached)", bar->cached);
    page_print(page, ", %" PRId64 " out</title>", bar->answer);
    put_piece(page, i, (double)bar->cached * scale, "bar-cached", &top);
    put_piece(page, i, (double)bar->prompt * scale, "bar-prompt", &top);
    put_piece(page, i, (double)bar->answer * scale, "bar-answer", &top);
    page_puts(page, "</a>\n");
}

void turns_put(struct page *page, const struct turns *turns)
{
    double most = 0;

    for (size_t i = 0; i < turns->count; i++)
        most = tokens_of(&turns->bars[i]) > most ? tokens_of(&turns->bars[i]) : most;
    if (turns->count < 2 || most <= 0)
        return;
    const size_t width = turns->count * BAR_WIDTH - BAR_GAP;
    page_print(
        page,
        "<figure class=\"turns\"><svg viewBox=\"0 0 %zu %d\" width=\"%zu\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"Tokens of each turn\">\n",
        width, HEIGHT, 2 * width);
    for (size_t i = 0; i < turns->count; i++)
        put_bar(page, &turns->bars[i], i, (double)HEIGHT / most);
    page_puts(
        page,
        "</svg><figcaption>Tokens of each turn: <span class=\"bar-cached\">cached</span>, "
        "<span class=\"bar-prompt\">in</span>, <span class=\"bar-answer\">out</span></figcaption></figure>\n");
}
