//go:build seslite_postgres

package seslite

// #include "seslite_postgres.h"
import "C"

// OpenPostgres opens the store in the database that a connection string of libpq names. It exists in programs that are
// built with the tag seslite_postgres, which link libpq.
func OpenPostgres(connection string, options ...Option) (*Store, error) {
	return open(options, func(c *call, o *opening, store **C.ses_store) C.int {
		postgres := C.ses_postgres_options{
			size:            C.sizeof_ses_postgres_options,
			max_connections: C.uint(max(o.postgres.maxConnections, 0)),
			replica:         c.optional(o.postgres.replica),
		}
		if o.postgres.unprepared {
			postgres.unprepared = 1
		}
		return C.ses_open_postgres(c.text(connection), &o.options, &postgres, store, &c.err)
	})
}
