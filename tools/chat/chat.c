/* A small chat, to copy from: README.md in this folder explains it. `chat FILE` plays a scene of a user, and
 * `chat FILE WORKER` answers, under that name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seslite_agent.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"

static int must(int code, const ses_error *error)
{
    if (code >= 0)
        return code;
    fprintf(stderr, "chat: %s: %s\n", ses_code_name(code), error->message);
    exit(1);
}

/* Answers the messages of all users, until none has come for three seconds. */
static void work(ses_store *store, const char *worker)
{
    static const char *const model[] = {"Take", "Take a coat", "Take a coat: it snows."};
    const ses_inbox_take_options next = {.size = sizeof next, .duration_us = 1000000, .wait_ms = 3000};
    const ses_lease_options longer = {.size = sizeof longer, .duration_us = 1000000};
    ses_inputs *taken = NULL;
    ses_lease lease;
    ses_error error;

    while (must(ses_inbox_take(store, NULL, worker, &next, &taken, &lease, &error), &error) == SES_OK) {
        const ses_input *input = ses_inputs_at(taken, 0);
        const ses_key key = {input->app, input->user, input->session};
        const ses_append_options asks = {.size = sizeof asks, .lease = lease.token};
        const ses_draft_options writes = {.size = sizeof writes, .lease = lease.token};
        ses_append_options ends = {.size = sizeof ends, .lease = lease.token, .answers = input->request};
        ses_builder *answer = NULL;
        int failed = ses_append_by_key(store, &key, input->body, input->body_len, &asks, NULL, &error) < 0;
        for (int i = 0; i < 3 && !failed; i++) {
            failed = ses_draft_set(store, &key, model[i], SES_NUL, &writes, &error) < 0 ||
                     ses_lease_renew(store, &key, lease.token, &longer, NULL, &error) < 0;
            (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* the model thinks */
        }
        ends.flags = SES_APPEND_TAKES_DRAFT;
        failed = failed || ses_builder_open(store, "agent", input->request, &answer, &error) < 0 ||
                 ses_builder_text(answer, model[2], SES_NUL, &error) < 0 ||
                 ses_builder_append_by_key(answer, store, &key, &ends, NULL, &error) < 0 ||
                 ses_lease_release(store, &key, lease.token, NULL, &error) < 0;
        if (failed) /* LEASED: another has the message. NOTFOUND: it was deleted. Otherwise it comes again. */
            fprintf(stderr, "%s: %s\n", worker, error.message);
        ses_builder_close(answer);
        ses_inputs_close(taken);
    }
}

/* Sends a message, and shows the answer while it grows. */
static void say(ses_store *store, const ses_key *key, const char *request, const char *text)
{
    const ses_follow_options new = {.size = sizeof new, .flags = SES_FOLLOW_NEW};
    const ses_event *event = NULL;
    ses_follower *follower = NULL;
    ses_builder *message = NULL;
    ses_content *content = NULL;
    ses_error error;

    must(ses_follower_open(store, key, &new, &follower, &error), &error);
    must(ses_builder_open(store, "user", request, &message, &error), &error);
    must(ses_builder_field_string(message, "id", request, SES_NUL, &error), &error);
    must(ses_builder_text(message, text, SES_NUL, &error), &error);
    must(ses_inbox_add(store, key, request, ses_builder_json(message, NULL), SES_NUL, NULL, &error), &error);
    ses_builder_close(message);
    while (!event || strcmp(event->author, "agent") != 0) {
        char *draft = NULL;
        must(ses_follower_next(follower, 100, &event, &error), &error);
        must(ses_draft_get(store, key, NULL, &draft, NULL, NULL, &error), &error);
        fprintf(stderr, "\r%s", draft ? draft : "");
        ses_free(draft);
    }
    must(ses_content_open(store, event->json, event->json_len, &content, &error), &error);
    printf("%s: %s %s\n", key->session, text, ses_content_text(content, NULL));
    ses_content_close(content);
    ses_follower_close(follower);
}

/* Shows which of the conversations that part after the same event this fork is. */
static void show_version(ses_store *store, const ses_key *key, const ses_session *fork)
{
    ses_family *family = NULL;
    ses_error error;
    int64_t seq = 0;
    int number = 1;
    int count = 1;

    ses_session_parent(fork, &seq);
    must(ses_family_open(store, key, NULL, &family, &error), &error);
    for (size_t i = 0; i < ses_family_count(family); i++) {
        const ses_relative *other = ses_family_at(family, i);
        const int is_version = other->seq == seq && other->relation <= SES_RELATION_SIBLING;
        count += is_version;
        number += is_version && other->created_us < ses_session_created_us(fork);
    }
    printf("%s: %d of %d after event %d\n", key->session, number, count, (int)seq);
    ses_family_close(family);
}

static void list(ses_store *store)
{
    const ses_filter in = {.size = sizeof in, .kinds = SES_KIND_CONVERSATION, .archived = SES_ARCHIVED_NO};
    const ses_list_options options = {
        .size = sizeof options, .flags = SES_LIST_PREVIEW | SES_LIST_NO_STATE, .filter = &in};
    ses_page *page = NULL;
    ses_error error;

    must(ses_list(store, "chat", "alice", &options, &page, &error), &error);
    for (size_t i = 0; i < ses_page_count(page); i++) {
        const char *title = ses_session_title(ses_page_session(page, i));
        const ses_preview *preview = ses_page_preview(page, i);
        const char *first = preview->first.text ? preview->first.text : "(empty)";
        printf("- %s | %s\n", title ? title : first, preview->last.text ? preview->last.text : "");
    }
    ses_page_close(page);
}

int main(int argc, char **argv)
{
    const ses_key oslo = {"chat", "alice", "oslo"};
    const ses_key other = {"chat", "alice", "other"};
    const ses_point turn = {.size = sizeof turn, .kind = SES_POINT_LAST_TURN};
    ses_session *fork = NULL;
    ses_store *store = NULL;
    ses_error error;

    must(ses_open(argc > 1 ? argv[1] : "chat.db", NULL, &store, &error), &error);
    if (argc > 2) {
        work(store, argv[2]);
    } else {
        must(ses_create(store, &oslo, NULL, 0, NULL, NULL, &error), &error);
        say(store, &oslo, "request-1", "Will I need a coat in Oslo?");
        say(store, &oslo, "request-2", "And boots?");
        must(ses_fork_by_key(store, &oslo, &turn, &other, NULL, &fork, &error), &error);
        say(store, &other, "request-3", "And gloves?");
        show_version(store, &other, fork);
        list(store);
        must(ses_archive_set_by_key(store, &oslo, 1, NULL, &error), &error);
        list(store);
        ses_session_close(fork);
    }
    ses_close(store);
    return 0;
}
