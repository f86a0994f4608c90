/* As door.c: few programs delete or search. */
#include "storage/sqlite/parts.h"
#include "storage/sql/rows/words.h"

const struct words_engine *ses__words_engine(const struct db *db)
{
    return db->engine->words ? db->engine->words : &ses__sqlite_words;
}
