/* deadline.h: a limit of time on a VM's work: a thread that sleeps until the time is over and then sets the
 * VM's interrupt, so that running costs nothing more. */
#ifndef REPLAY_DEADLINE_H
#define REPLAY_DEADLINE_H
#include <stdbool.h>

typedef struct deadline deadline;
/* Not armed yet. `*flag` is set to INTERRUPT_TIME. `grace` > 0: the process leaves with status 1 if it is
   still armed that many seconds after the limit (one operation takes longer). NULL: no memory, no thread. */
deadline *deadline_open(volatile int *flag, double grace);
/* From now on another flag is set; at once, if the time is over. */
void deadline_aim(deadline *d, volatile int *flag); /* d NULL is fine */
/* From now on `seconds` are left. */
void deadline_arm(deadline *d, double seconds);
void deadline_disarm(deadline *d); /* NULL is fine, here and in close */
void deadline_close(deadline *d);
#endif
