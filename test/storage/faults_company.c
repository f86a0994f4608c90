/*
 * Every call that writes fails between two others, with which it shares a commit: at each of its statements,
 * and for want of memory. The file, and what its neighbours are told, must be as if it had not been there.
 */
#include <unistd.h>

#include "company.h"

enum { RUNS_APART = UNDER_ASAN || UNDER_TSAN ? 4 : 1 };

static bool is_expected(int code)
{
    static const int codes[] = {[COMPANY_ERROR] = SES_IO,
                                [COMPANY_DISK] = SES_FULL,
                                [COMPANY_CANCEL] = SES_INTERRUPTED,
                                [COMPANY_TIME] = SES_INTERRUPTED,
                                [COMPANY_MEMORY] = SES_NOMEM};
    return code == codes[company.kind];
}

static void run_scene(struct faults *faults, const char *undisturbed)
{
    faults_prepare(faults);
    faults_run(faults);
    if (faults->wrong[0] || company.wrong[0] || (undisturbed && strcmp(faults->dump, undisturbed) != 0)) {
        print_error("scene %d, run %zu of %zu: %s; %s\n%d steps failed, the store held\n%s", faults->scene,
                    fault_calls.run, fault_calls.runs, company.wrong, faults->wrong, faults->failures,
                    faults->dump);
        fail();
    }
}

/* A call fails if something in it does. But one that is cancelled may be done before it looks, and a full
 * disk, which undoes everything, may meet what is derived, without which calls go on. */
static bool are_enough(enum scene scene, long failures, long fired)
{
    const bool is_limit = company.kind == COMPANY_CANCEL || company.kind == COMPANY_TIME;
    const bool goes_on = company.kind == COMPANY_DISK && (scene == SCENE_LISTS || scene == SCENE_INDEX);

    return is_limit || goes_on ? failures >= fired * 2 / 3 : failures == fired;
}

static void fail_each_in(enum scene scene, const char *path)
{
    struct faults faults = {.expected = is_expected,
                            .allocator = &company_allocator,
                            .path = path,
                            .hooks = &company_hooks,
                            .scene = scene};
    char undisturbed[sizeof faults.dump];
    long failures = 0;
    long fired = 0;

    company.recording = true;
    faults_empty.furnish = company_furnish;
    fault_begin_recording();
    fault_calls.outermost = NULL;
    run_scene(&faults, NULL);
    company.recording = false;
    if (fault_calls.count == 0)
        return;
    fault_choose();
    strcpy(undisturbed, faults.dump);
    for (size_t run = 0; run < fault_calls.runs; run += fault_apart(RUNS_APART)) {
        fault_begin_run(run, false);
        run_scene(&faults, undisturbed);
        failures += faults.failures;
        fired += fault_calls.fired;
    }
    if (!are_enough(scene, failures, fired))
        fail_msg("scene %d: of %ld calls in which something failed, %ld did", scene, fired, failures);
    support_figure("faults", fired);
}

static void fail_each(enum company_kind kind)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");

    company.kind = kind;
    for (enum scene scene = SCENE_OPENING + 1; scene < SCENES; scene++)
        if (scene != SCENE_LONG_ARTIFACT) /* which is as large as a group may be */
            fail_each_in(scene, path);
    free(path);
    support_folder_remove(folder);
}

PLAIN_TEST(each_statement_fails)
{
    fail_each(COMPANY_ERROR);
}

PLAIN_TEST(the_disk_is_full)
{
    fail_each(COMPANY_DISK);
}

PLAIN_TEST(the_call_is_cancelled)
{
    fail_each(COMPANY_CANCEL);
}

PLAIN_TEST(the_time_is_over)
{
    fail_each(COMPANY_TIME);
}

PLAIN_TEST(each_allocation_fails)
{
    fail_each(COMPANY_MEMORY);
}

/* ------------------------------------------------------------------------------------------- is that all? */

/* Calls that write nothing, that write in a transaction of their own, or that are forms of others. */
static const char *const without_company[] = {
    /* these read, or change what is in memory only */
    "ses_artifact_inline*", "ses_artifact_list_more", "ses_artifact_names*", "ses_artifact_open*",
    "ses_artifact_read", "ses_artifact_versions*", "ses_cancel_*", "ses_content_*", "ses_context_*",
    "ses_cursor_*", "ses_draft_get", "ses_event_*", "ses_family_open", "ses_follower_*", "ses_get",
    "ses_inbox_list", "ses_inputs_*", "ses_invocation_*", "ses_list*", "ses_output_delta", "ses_hits_indexed",
    "ses_pending_is_long_running", "ses_pending_open*", "ses_refresh", "ses_render", "ses_session_*",
    "ses_shared_state_get", "ses_shared_state_json", "ses_state_*", "ses_store_backup", "ses_store_check",
    "ses_store_export", "ses_store_find", "ses_store_info", "ses_store_interrupt", "ses_store_make_id",
    "ses_store_space", "ses_store_stats", "ses_text_*", "ses_tracked_*", "ses_version_number",
    "ses_builder_*", "ses_artifacts_*", "ses_memory_search", "ses_memory_list",
    /* these are several others */
    "ses_memory_add", "ses_memory_add_events", "ses_memory_forget*",
    /* these open a store */
    "ses_open*",
    /* these have a transaction to themselves, as they ask the caller for events in it */
    "ses_load*", "ses_store_import",
    /* these are others, with values of cJSON */
    "*_cjson"};

static bool is_like(const char *name, const char *pattern)
{
    const size_t len = strlen(pattern);
    const size_t name_len = strlen(name);

    if (pattern[0] == '*')
        return name_len >= len - 1 && strcmp(name + name_len - (len - 1), pattern + 1) == 0;
    return pattern[len - 1] == '*' ? strncmp(name, pattern, len - 1) == 0 : strcmp(name, pattern) == 0;
}

static bool has_had_company(const char *name)
{
    for (int i = 0; i < company.shared_count; i++)
        if (strcmp(company.shared[i], name) == 0)
            return true;
    for (size_t i = 0; i < sizeof without_company / sizeof without_company[0]; i++)
        if (is_like(name, without_company[i]))
            return true;
    return false;
}

/* After the tests above. A call that is new is either in a scene or in the list. */
PLAIN_TEST(each_call_of_the_headers_that_writes_was_among_them)
{
    static const char call[] = "SES_API int ";
    int status = 0;
    char *headers = support_run("cat " HEADERS "/seslite*.h", &status);
    int missing = 0;
    int count = 0;

    for (char *at = headers; (at = strstr(at, call)) != NULL; count++) {
        char *name = at + strlen(call);
        at = name + strcspn(name, "(");
        *at++ = '\0';
        if (!has_had_company(name)) {
            print_error("%s has had no company\n", name);
            missing++;
        }
    }
    free(headers);
    assert_int_equal(status, 0);
    assert_true(count > 150);
    assert_int_equal(missing, 0);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
