/* edit.h: lines typed on a terminal: libedit with a history kept across sessions, bracketed paste,
 * completion, and syntax colouring of what was entered. */
#ifndef REPLAY_EDIT_H
#define REPLAY_EDIT_H
#include "../vm/text.h"

typedef struct editor editor;

/* Completions of the word before the cursor: `line` is what stands before the cursor. The callee adds whole
   words with edit_offer and says in *start at which byte of the line the word begins. */
typedef void edit_completer(void *ctx, editor *e, const char *line, size_t n, size_t *start);

/* NULL when the terminal cannot be edited on. */
editor *edit_open(bool colour, edit_completer *complete, void *ctx);
void edit_close(editor *e);
void edit_offer(editor *e, const char *word);

typedef enum edit_result { EDIT_LINE, EDIT_END, EDIT_INTERRUPT } edit_result;
/* The next line or pasted lines, without the last newline; *line lives until the next call. */
edit_result edit_read(editor *e, const char *prompt, const char **line, size_t *n);
/* Puts an entry (of several lines, perhaps) into the history. */
void edit_remember(editor *e, const char *entry);
/* Removes the prompts `> ` and `... ` at the starts of lines, if the first line has one; in place. */
size_t edit_strip_prompts(char *s, size_t n);
/* Appends text with terminal colours for comments, strings, numbers and keywords. */
void edit_coloured(const char *s, size_t n, text *out);
#endif
