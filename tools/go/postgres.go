package seslite

// postgresOptions are those that only OpenPostgres uses.
type postgresOptions struct {
	unprepared     bool
	maxConnections int
	replica        string
}

// Unprepared prepares no statements on the server, for poolers that do not know them.
func Unprepared() Option { return func(o *opening) { o.postgres.unprepared = true } }

// MaxConnections is the limit of connections to a server: 8 by default.
func MaxConnections(n int) Option { return func(o *opening) { o.postgres.maxConnections = n } }

// Replica names a replica of the server, from which lists, counts, cursors and exports then read.
func Replica(connection string) Option {
	return func(o *opening) { o.postgres.replica = connection }
}
