// A program with two copies of SQLite: seslite's own and that of go-sqlite3. Each has its own files.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.org/seslite"
	_ "github.com/mattn/go-sqlite3"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "beside")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	store, err := seslite.Open(filepath.Join(folder, "sessions.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	key := seslite.Key{App: "app", User: "user", Session: "s"}
	session, err := store.Create(ctx, key, []byte(`{"n":1}`), nil)
	if err != nil {
		return err
	}
	if _, err := session.Append(ctx, []byte(`{"author":"user","content":{"parts":[{"text":"hello"}]}}`), nil); err != nil {
		return err
	}
	if _, err := store.Index(ctx, nil); err != nil {
		return err
	}
	hits, err := store.Search(ctx, key, "hello", nil)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", filepath.Join(folder, "other.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	info, err := store.Info()
	if err != nil {
		return err
	}
	if len(hits.Hits) != 1 || !hits.Indexed || info.JournalMode != "wal" {
		return fmt.Errorf("%+v, %+v", hits, info)
	}
	fmt.Printf("ok      seslite with SQLite %s, beside go-sqlite3 with %s\n", info.SQLiteVersion, version)
	return nil
}
