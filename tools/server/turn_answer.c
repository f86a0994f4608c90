/* The answer of a turn, which grows while its connection sends it. */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

void turn_wake(struct turn *turn)
{
    if (turn->is_asleep && turn->connection) {
        turn->is_asleep = false;
        MHD_resume_connection(turn->connection);
    }
}

/* The caller holds the lock. Returns false if out of memory. */
static bool add(struct turn *turn, const char *text, size_t len)
{
    if (len >= turn->answer_room - turn->answer_len) {
        const size_t room = (turn->answer_len + len) * 2 + 256;
        char *grown = realloc(turn->answer, room);
        if (!grown)
            return false;
        turn->answer = grown;
        turn->answer_room = room;
    }
    memcpy(turn->answer + turn->answer_len, text, len);
    turn->answer_len += len;
    turn->answer[turn->answer_len] = '\0';
    return true;
}

/* Adds it in one line: a line break in JSON is only space. */
static bool add_message(struct turn *turn, const char *event, size_t len)
{
    const size_t begin = turn->answer_len + 6;

    if (!add(turn, "data: ", 6) || !add(turn, event, len))
        return false;
    for (size_t i = begin; i < begin + len; i++)
        if (turn->answer[i] == '\n' || turn->answer[i] == '\r')
            turn->answer[i] = ' ';
    return add(turn, "\n\n", 2);
}

int turn_answer(void *context, const char *event, size_t len)
{
    struct turn *turn = context;
    bool ok = false;

    (void)pthread_mutex_lock(&turn->lock);
    switch (turn->form) {
    case ANSWER_FINAL:
        turn->answer_len = 0;
        ok = add(turn, event, len);
        break;
    case ANSWER_LIST:
        ok = add(turn, turn->answer_len == 0 ? "[" : ",", 1) && add(turn, event, len);
        break;
    default:
        ok = add_message(turn, event, len);
        turn_wake(turn);
    }
    (void)pthread_mutex_unlock(&turn->lock);
    return ok ? SES_OK : SES_NOMEM;
}
