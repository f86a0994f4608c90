#include "output/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "files/place.h"
#include "output/progress.h"

/* ------------------------------------------------------------------------------------------------- stdout */

bool out_is_terminal(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

size_t out_width(void)
{
    struct winsize size;

    if (!out_is_terminal())
        return SIZE_MAX;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void out_text(const char *text, size_t len)
{
    progress_hide();
    (void)fwrite(text, 1, len, stdout); /* out_flush reports a failure */
}

void out_puts(const char *text)
{
    out_text(text, strlen(text));
}

void out_print(const char *format, ...)
{
    va_list arguments;

    progress_hide();
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
}

static bool has_colours(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return out_is_terminal() && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}

void out_coloured(enum colour colour, const char *text, size_t len)
{
    static const char *const codes[] = {"",         "\033[2m",  "\033[1m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[36m"};

    if (colour == COLOUR_NONE || len == 0 || !has_colours()) {
        out_text(text, len);
    } else {
        out_puts(codes[colour]);
        out_text(text, len);
        out_puts("\033[0m");
    }
}

int out_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    if (errno != EPIPE)
        say("cannot write the output: %s", errno ? strerror(errno) : "an earlier write failed");
    return EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------------------- stderr */

static void put_words(const char *before, const char *format, va_list arguments)
{
    char words[8192];
    struct text clean = {NULL, 0, 0};
    struct text line = {NULL, 0, 0};

    (void)vsnprintf(words, sizeof words, format, arguments);
    place_add_clean(&clean, words);
    text_puts(&line, before);
    text_add_clean(&line, clean.data, clean.len, LINES_KEEP);
    text_puts(&line, "\n");
    progress_hide();
    (void)fflush(stdout); /* keeps the order of data and messages */
    (void)fwrite(line.data, 1, line.len, stderr);
    text_free(&line);
    text_free(&clean);
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_words("seslite: ", format, arguments);
    va_end(arguments);
}

void note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_words("", format, arguments);
    va_end(arguments);
}

int say_usage(const struct run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_words("seslite: ", format, arguments);
    va_end(arguments);
    if (run->command)
        note("See: seslite help %s", run->command->name);
    else
        note("See: seslite help");
    return EXIT_USAGE;
}

int exit_code_of(int code)
{
    switch (code) {
    case SES_NOTFOUND:
        return EXIT_NOTFOUND;
    case SES_EXISTS:
        return EXIT_EXISTS;
    case SES_STALE:
        return EXIT_STALE;
    case SES_BUSY:
    case SES_LEASED:
        return EXIT_BUSY;
    case SES_CORRUPT:
        return EXIT_DAMAGED;
    case SES_NOTASTORE:
    case SES_TOONEW:
    case SES_KEY:
    case SES_UNSUPPORTED:
        return EXIT_NOTASTORE;
    case SES_MISUSE:
    case SES_INVALID:
    case SES_JSON:
    case SES_RANGE:
    case SES_TYPE:
        return EXIT_USAGE;
    default:
        return code < 0 ? EXIT_FAILED : EXIT_OK;
    }
}

int fail(struct run *run)
{
    say("%s", run->error.message);
    return exit_code_of(run->error.code);
}

const char *counted(int64_t count, const char *word)
{
    static char texts[4][64];
    static unsigned next;
    char *text = texts[next++ % 4];

    (void)snprintf(text, sizeof texts[0], "%lld %s%s", (long long)count, word, count == 1 ? "" : "s");
    return text;
}
