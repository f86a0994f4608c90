//go:build seslite_postgres

package seslite_test

import (
	"os"
	"testing"

	"example.org/seslite"
)

// A store on the server that SESLITE_POSTGRES names.
func TestPostgres(t *testing.T) {
	connection := os.Getenv("SESLITE_POSTGRES")
	if connection == "" {
		t.Skip("SESLITE_POSTGRES names no server")
	}
	store, err := seslite.OpenPostgres(connection, seslite.Unprepared(), seslite.MaxConnections(2), seslite.Replica(connection))
	must(t, err)
	defer store.Close()
	_, err = store.DeleteApp(ctx, "app", nil)
	must(t, err)
	session := turns(t, store, key, 2)
	same(t, session.Stored(), 4)
	info, err := store.Info()
	must(t, err)
	same(t, info.Engine, "postgresql")
	got(t, store.Backup(ctx, "x.db", nil), seslite.ErrMisuse)
	_, err = seslite.OpenPostgres("no connection string")
	got(t, err, seslite.ErrInvalid)
}
