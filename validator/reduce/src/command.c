/* See command.h. */
#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

enum { POLL_MS = 100, POLL_SILENT_MS = 5, MOST_RUNS = 256, READ_SIZE = 65536 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- The words of the command ---- */

static char *with_name(const char *word, const char *name)
{
    size_t room = 0, size = 0, name_size = strlen(name);
    char *out = NULL;

    for (const char *at = word;; at++) {
        bool is_name = at[0] == '{' && at[1] == '}';

        for (size_t i = 0; i < (is_name ? name_size : 1); i++) {
            out = store_grow(out, size, &room, 1);
            out[size++] = is_name ? name[i] : *at;
        }
        if (is_name)
            at++;
        else if (!*at)
            return out;
    }
}

static char **words_for(const struct command *command, const char *candidate)
{
    size_t count = 0;
    bool is_named = false;
    char **words;

    while (command->words[count] != NULL)
        count++;
    words = store_zeroed(count + 2, sizeof *words);
    for (size_t i = 0; i < count; i++) {
        is_named = is_named || strstr(command->words[i], "{}") != NULL;
        words[i] = with_name(command->words[i], candidate);
    }
    if (!is_named)
        words[count] = with_name("{}", candidate);
    return words;
}

static void free_words(char **words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* ---- One run ---- */

static void become(char **words, int output, int failed)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;
    int why;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(output, STDERR_FILENO) >= 0)
        execvp(words[0], words);
    why = errno;
    if (write(failed, &why, sizeof why) < 0)
        why = 0;
    _exit(127);
}

/* Ends all children of this process, and theirs: these become its children when their parents end. */
static void end_all(void)
{
    char path[64];
    FILE *children;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        children = fopen(path, "re");
        if (children == NULL)
            return;
        while (fscanf(children, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        fclose(children);
    } while (waitpid(-1, NULL, 0) > 0);
}

static void end_as(int status)
{
    sigset_t all;

    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0); /* one core is enough */
        signal(WTERMSIG(status), SIG_DFL);
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/* In the child: a process between hprof-reduce and the command, which ends as the command does, and then ends all that the command
 * has started, in whatever session. SIGTERM asks for that, and comes also when hprof-reduce is killed: no run may go on when the
 * same reduction is taken up again. */
static void watch(char **words, int output, int failed, pid_t parent, const sigset_t *watched)
{
    pid_t command, ended = 0;
    int status = 0;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    command = fork();
    if (command == 0)
        become(words, output, failed);
    if (command < 0 && write(failed, &errno, sizeof errno) < 0)
        _exit(127);
    close(output);
    close(failed);
    while (command > 0 && ended != command && sigwaitinfo(watched, NULL) != SIGTERM)
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0 && ended != command)
            continue;
    if (command > 0)
        kill(-command, SIGKILL);
    end_all();
    end_as(ended == command ? status : SIGKILL);
}

bool run_start(struct run *run, const struct command *command, const char *candidate)
{
    char **words = words_for(command, candidate);
    int output[2], failed[2], why = 0;
    sigset_t watched, before;
    pid_t parent = getpid();

    memset(run, 0, sizeof *run);
    run->output = -1;
    if (pipe2(output, O_CLOEXEC) != 0) {
        free_words(words);
        return false;
    }
    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    if (pipe2(failed, O_CLOEXEC) != 0 || (run->pid = fork()) < 0) {
        why = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(output[0]);
        close(output[1]);
        free_words(words);
        errno = why;
        return false;
    }
    if (run->pid == 0)
        watch(words, output[1], failed[1], parent, &watched);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(output[1]);
    close(failed[1]);
    free_words(words);
    run->output = output[0];
    fcntl(run->output, F_SETFL, O_NONBLOCK);
    run->deadline = command->timeout > 0 ? now() + command->timeout : 0;
    run->tail = command->match != NULL ? store_zeroed(strlen(command->match) + READ_SIZE, 1) : NULL;
    if (read(failed[0], &why, sizeof why) == (ssize_t)sizeof why) {
        run_stop(run);
        run->outcome = (struct outcome){ENDED_NOT_STARTED, why, false};
    }
    close(failed[0]);
    return true;
}

/* Takes what the command has written. False at the end of the output. */
static bool take_output(struct run *run, const char *match)
{
    static char unread[READ_SIZE];
    size_t kept = match != NULL ? strlen(match) - 1 : 0;
    ssize_t size;

    while ((size = read(run->output, match != NULL ? run->tail + run->tail_size : unread, READ_SIZE)) > 0) {
        if (match == NULL)
            continue;
        run->tail_size += (size_t)size;
        if (memmem(run->tail, run->tail_size, match, strlen(match)) != NULL)
            run->outcome.matched = true;
        if (run->tail_size > kept) {
            memmove(run->tail, run->tail + run->tail_size - kept, kept);
            run->tail_size = kept;
        }
    }
    return size != 0;
}

static void finish(struct run *run)
{
    close(run->output);
    free(run->tail);
    run->tail = NULL;
    run->output = -1;
    run->is_over = true;
}

void run_stop(struct run *run)
{
    if (run->is_over)
        return;
    kill(run->pid, SIGTERM);
    while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    finish(run);
}

static void look_at(struct run *run, const struct command *command)
{
    int status;
    pid_t exited;

    if (run->deadline > 0 && now() > run->deadline) {
        take_output(run, command->match);
        run->outcome.ending = ENDED_TIMEOUT;
        run_stop(run);
        return;
    }
    exited = waitpid(run->pid, &status, WNOHANG);
    take_output(run, command->match); /* after the question whether it has exited: nothing is missed */
    if (exited != run->pid)
        return;
    run->outcome.ending = WIFSIGNALED(status) ? ENDED_SIGNAL : ENDED_EXIT;
    run->outcome.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    finish(run);
}

void runs_wait(struct run *const *runs, size_t count, const struct command *command)
{
    struct pollfd waiting[MOST_RUNS];
    nfds_t waiting_count = 0;
    bool is_silent = false;

    for (size_t i = 0; i < count && waiting_count < MOST_RUNS; i++)
        if (!runs[i]->is_over)
            waiting[waiting_count++] = (struct pollfd){.fd = runs[i]->output, .events = POLLIN};
    for (size_t i = 0; i < waiting_count; i++) /* one that has closed its output would end each wait at once */
        if (poll(&waiting[i], 1, 0) > 0 && (waiting[i].revents & (POLLHUP | POLLIN)) == POLLHUP) {
            waiting[i].fd = -1;
            is_silent = true;
        }
    poll(waiting, waiting_count, is_silent ? POLL_SILENT_MS : POLL_MS);
    for (size_t i = 0; i < count; i++)
        if (!runs[i]->is_over)
            look_at(runs[i], command);
}

/* ---- How it ended ---- */

bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    return a->ending == b->ending && a->value == b->value && a->matched == b->matched;
}

const char *outcome_text(const struct outcome *outcome, char text[96])
{
    if (outcome->ending == ENDED_TIMEOUT)
        snprintf(text, 96, "the timeout");
    else if (outcome->ending == ENDED_SIGNAL)
        snprintf(text, 96, "signal %d (%.60s)", outcome->value, strsignal(outcome->value));
    else
        snprintf(text, 96, "exit status %d", outcome->value);
    return text;
}
