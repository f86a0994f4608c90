/* Included before each file of a mutated library: see mutants.py. */
#ifndef SESLITE_MUTANT_H
#define SESLITE_MUTANT_H

extern int ses__mutant;                      /* the number of the active mutant; 0 if none */
extern volatile unsigned char *ses__reached; /* one byte for each mutant: whether a run has reached it */

#define MUTANT(number) (ses__reached[number] = 1, ses__mutant == (number))

#endif
