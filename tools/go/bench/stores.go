package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"

	_ "github.com/mattn/go-sqlite3"

	"example.org/seslite"
)

type library struct{ store *seslite.Store }

func openSeslite(path string) (*library, error) {
	store, err := seslite.Open(path)
	return &library{store}, err
}

func key(id string) seslite.Key { return seslite.Key{App: "app", User: "user", Session: id} }

func (s *library) create(ctx context.Context, id string) error {
	made, err := s.store.Create(ctx, key(id), nil, nil)
	if err != nil {
		return err
	}
	return made.Close()
}

func (s *library) append(ctx context.Context, id string, event []byte) error {
	_, err := s.store.Append(ctx, key(id), event, nil)
	return err
}

func (s *library) get(ctx context.Context, id string, newest int) (int, error) {
	found, err := s.store.Get(ctx, key(id), &seslite.Range{Newest: newest})
	if err != nil {
		return 0, err
	}
	defer found.Close()
	if _, err := found.State(); err != nil {
		return 0, err
	}
	count := 0
	for event := range found.Events() {
		if len(event.JSON) > 0 {
			count++
		}
	}
	return count, nil
}

func (s *library) close() error { return s.store.Close() }

// plain is what one writes without a library: two tables, the state as one JSON column, an immediate transaction.
type plain struct {
	db    *sql.DB // whose transactions write
	reads *sql.DB
}

func openPlain(ctx context.Context, path string) (*plain, error) {
	name := "file:" + path + "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=60000"
	db, err := sql.Open("sqlite3", name+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	reads, err := sql.Open("sqlite3", name)
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, `
		CREATE TABLE sessions(id TEXT PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL);
		CREATE TABLE events(session TEXT NOT NULL REFERENCES sessions, seq INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
			PRIMARY KEY(session, seq), UNIQUE(session, id));`)
	return &plain{db, reads}, err
}

func (p *plain) create(ctx context.Context, id string) error {
	_, err := p.db.ExecContext(ctx, "INSERT INTO sessions VALUES(?, '{}', 0)", id)
	return err
}

func (p *plain) append(ctx context.Context, id string, event []byte) error {
	said := struct {
		ID      string
		Actions struct{ StateDelta map[string]json.RawMessage }
	}{}
	if err := json.Unmarshal(event, &said); err != nil {
		return err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var text []byte
	var version int64
	if err := tx.QueryRowContext(ctx, "SELECT state, version FROM sessions WHERE id = ?", id).Scan(&text, &version); err != nil {
		return err
	}
	state := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &state); err != nil {
		return err
	}
	maps.Copy(state, said.Actions.StateDelta)
	if text, err = json.Marshal(state); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO events VALUES(?, ?, ?, ?)", id, version+1, said.ID, event); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE sessions SET state = ?, version = ? WHERE id = ?", text, version+1, id); err != nil {
		return err
	}
	return tx.Commit()
}

func (p *plain) get(ctx context.Context, id string, newest int) (int, error) {
	tx, err := p.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	var state []byte
	if err := tx.QueryRowContext(ctx, "SELECT state FROM sessions WHERE id = ?", id).Scan(&state); err != nil {
		return 0, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT seq, id, body FROM events WHERE session = ? ORDER BY seq DESC LIMIT ?", id, newest)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		var seq int64
		var name string
		var body []byte
		if err := rows.Scan(&seq, &name, &body); err != nil {
			return 0, err
		}
		count++
	}
	return count, rows.Err()
}

func (p *plain) close() error { return errors.Join(p.reads.Close(), p.db.Close()) }
