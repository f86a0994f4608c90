/* Put before each file of a mutated library: see mutants.py. */
#ifndef SESLITE_MUTANT_H
#define SESLITE_MUTANT_H

extern int ses__mutant;                      /* the number of the mutant that is active; 0: none */
extern volatile unsigned char *ses__reached; /* one byte for each mutant: whether a run has come by it */

#define MUTANT(number) (ses__reached[number] = 1, ses__mutant == (number))

#endif
