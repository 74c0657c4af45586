#pragma once

#define NCURSES_WIDECHAR 1
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

// What Swift cannot see of ncurses: macros that cast, and variables that any thread could change.

enum wake_screen_colour { wake_screen_good = 1, wake_screen_bad = 2, wake_screen_waiting = 3 };

static const chtype wake_screen_bold = A_BOLD;
static const chtype wake_screen_dim = A_DIM;
static const chtype wake_screen_reversed = A_REVERSE;

static inline chtype wake_screen_paint(enum wake_screen_colour colour)
{
    return COLOR_PAIR(colour);
}

// In wchar.h only for programs that ask for X/Open's functions.
int wcwidth(wchar_t character);

// Takes the whole terminal that stdin and stdout are; NULL when it is none that ncurses knows.
static inline SCREEN *wake_screen_open(void)
{
    // Only how characters are written: numbers stay as they are.
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return NULL;
    cbreak();
    noecho();
    nonl();
    // An escape sequence comes at once or not at all: 25 ms tell the key Escape from one.
    set_escdelay(25);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    return screen;
}

// False where the terminal has no colours.
static inline bool wake_screen_colours(void)
{
    if (!has_colors() || start_color() == ERR)
        return false;
    use_default_colors();
    init_pair(wake_screen_good, COLOR_GREEN, -1);
    init_pair(wake_screen_bad, COLOR_RED, -1);
    init_pair(wake_screen_waiting, COLOR_YELLOW, -1);
    return true;
}

static inline int wake_screen_columns(void) { return getmaxx(stdscr); }
static inline int wake_screen_rows(void) { return getmaxy(stdscr); }

// Gives the terminal back as it was.
static inline void wake_screen_close(SCREEN *screen)
{
    endwin();
    delscreen(screen);
}
