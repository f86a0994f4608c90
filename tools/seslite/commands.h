/* The functions behind the commands: each runs one, and gives the exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

struct run;

int run_list(struct run *run);
int run_show(struct run *run);
int run_family(struct run *run);
int run_state(struct run *run);
int run_events(struct run *run);
int run_tail(struct run *run);
int run_search(struct run *run);
int run_find(struct run *run);
int run_usage(struct run *run);
int run_html(struct run *run);
int run_create(struct run *run);
int run_append(struct run *run);
int run_import(struct run *run);
int run_export(struct run *run);
int run_artifact_list(struct run *run);
int run_artifact_get(struct run *run);
int run_artifact_put(struct run *run);
int run_artifact_delete(struct run *run);
int run_inbox_list(struct run *run);
int run_inbox_add(struct run *run);
int run_inbox_remove(struct run *run);
int run_memory_list(struct run *run);
int run_memory_search(struct run *run);
int run_memory_add(struct run *run);
int run_memory_forget(struct run *run);
int run_fork(struct run *run);
int run_rewind(struct run *run);
int run_redo(struct run *run);
int run_cut(struct run *run);
int run_redact(struct run *run);
int run_prune(struct run *run);
int run_expire(struct run *run);
int run_delete(struct run *run);
int run_title(struct run *run);
int run_label(struct run *run);
int run_archive(struct run *run);
int run_unarchive(struct run *run);
int run_check(struct run *run);
int run_backup(struct run *run);
int run_maintain(struct run *run);
int run_index(struct run *run);
int run_stats(struct run *run);
int run_doctor(struct run *run);
int run_migrate(struct run *run);
int run_sql(struct run *run);
int run_help(struct run *run);

#endif
