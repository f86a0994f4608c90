/* Stores on a PostgreSQL server, with the build tag seslite_postgres. */
#ifdef SESLITE_POSTGRES
#include "seslite_postgres_amalgamation.h"
#endif
