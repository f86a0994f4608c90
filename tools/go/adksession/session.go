package adksession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"

	"example.org/seslite"
)

// Sessions returns a session service on a store. Any number of goroutines and processes may use it.
//
// An append to a session that another has appended to since it was read is seslite.ErrStale: get the session again. An event
// whose append failed can be appended again, also after seslite.ErrUnknown: it is stored once. Events that a rewind by
// another program has taken back are not shown.
func Sessions(store *seslite.Store) session.Service { return &sessions{store} }

type sessions struct{ store *seslite.Store }

// Create implements session.Service.
func (s *sessions) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req == nil || req.AppName == "" || req.UserID == "" {
		return nil, fmt.Errorf("adksession: the app's name and the user's id are required: %+v", req)
	}
	state, err := encodeState(req.State)
	if err != nil {
		return nil, err
	}
	created, err := s.store.Create(ctx, seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}, state, nil)
	if err != nil {
		return nil, err
	}
	defer created.Close()
	made, err := readSession(s.store, created)
	if err != nil {
		return nil, err
	}
	for name, value := range req.State {
		if strings.HasPrefix(name, session.KeyPrefixTemp) {
			made.state[name] = value
		}
	}
	return &session.CreateResponse{Session: made}, nil
}

func encodeState(state map[string]any) ([]byte, error) {
	if state == nil {
		return nil, nil
	}
	return encode(state)
}

// Get implements session.Service.
func (s *sessions) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req == nil || req.AppName == "" || req.UserID == "" || req.SessionID == "" {
		return nil, fmt.Errorf("adksession: the app's name, the user's id and the session's id are required: %+v", req)
	}
	key := seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}
	found, err := s.store.Get(ctx, key, &seslite.Range{Newest: max(req.NumRecentEvents, 0), Since: req.After, Live: true})
	if err != nil {
		return nil, missing(err)
	}
	defer found.Close()
	made, err := readSession(s.store, found)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: made}, nil
}

// List implements session.Service. The sessions come without events, those that were updated last come first.
func (s *sessions) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req == nil || req.AppName == "" {
		return nil, errors.New("adksession: the app's name is required")
	}
	all := []session.Session{}
	for each, err := range s.store.Sessions(ctx, req.AppName, req.UserID, nil) {
		if err != nil {
			return nil, err
		}
		state, err := decodeState(each.State)
		if err != nil {
			return nil, err
		}
		all = append(all, &current{store: s.store, key: each.Key, version: each.Version, state: state, updated: each.Updated})
	}
	return &session.ListResponse{Sessions: all}, nil
}

// Delete implements session.Service. That there is no such session is not an error.
func (s *sessions) Delete(ctx context.Context, req *session.DeleteRequest) error {
	if req == nil || req.AppName == "" || req.UserID == "" || req.SessionID == "" {
		return fmt.Errorf("adksession: the app's name, the user's id and the session's id are required: %+v", req)
	}
	_, err := s.store.Delete(ctx, seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}, nil)
	return err
}

// AppendEvent implements session.Service. An event without an id gets one.
func (s *sessions) AppendEvent(ctx context.Context, to session.Session, event *session.Event) error {
	if to == nil || event == nil {
		return errors.New("adksession: the session or the event is nil")
	}
	if event.Partial {
		return nil
	}
	if event.ID == "" { // before the append, so that the same event can be appended again after any failure
		id, err := s.store.NewID()
		if err != nil {
			return err
		}
		event.ID = id
	}
	text, err := encodeEvent(event)
	if err != nil {
		return err
	}
	if ours, ok := to.(*current); ok && ours.store == s.store {
		return ours.append(ctx, event, text)
	}
	_, err = s.store.Append(ctx, seslite.Key{App: to.AppName(), User: to.UserID(), Session: to.ID()}, text, nil)
	return missing(err)
}

// current is a session as adk-go sees it. Agents that run at the same time share one.
type current struct {
	store *seslite.Store
	key   seslite.Key

	mu      sync.RWMutex
	version int64
	state   map[string]any
	events  []*session.Event
	updated time.Time
}

// readSession copies a session of the store.
func readSession(store *seslite.Store, from *seslite.Session) (*current, error) {
	text, err := from.State()
	if err != nil {
		return nil, err
	}
	state, err := decodeState(text)
	if err != nil {
		return nil, err
	}
	made := &current{store: store, key: from.Key(), version: from.Version(), state: state, updated: from.Updated()}
	for stored := range from.Events() {
		event, err := decodeEvent(stored)
		if err != nil {
			return nil, err
		}
		made.events = append(made.events, event)
	}
	return made, nil
}

func decodeState(text []byte) (map[string]any, error) {
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	state := make(map[string]any, len(values))
	for name, value := range values {
		decoded, err := decode(value)
		if err != nil {
			return nil, err
		}
		state[name] = decoded
	}
	return state, nil
}

func (c *current) append(ctx context.Context, event *session.Event, text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	done, err := c.store.Append(ctx, c.key, text, &seslite.AppendOptions{Version: &c.version})
	if err != nil {
		return missing(err)
	}
	maps.Copy(c.state, event.Actions.StateDelta)
	c.version, c.updated = done.Version, done.Updated
	if done.Status == seslite.Stored {
		c.events = append(c.events, withoutTemp(event))
	}
	return nil
}

// withoutTemp returns the event as it is stored.
func withoutTemp(event *session.Event) *session.Event {
	kept := *event
	kept.Actions.StateDelta = maps.Clone(event.Actions.StateDelta)
	maps.DeleteFunc(kept.Actions.StateDelta, func(name string, _ any) bool {
		return strings.HasPrefix(name, session.KeyPrefixTemp)
	})
	return &kept
}

// ID implements session.Session.
func (c *current) ID() string { return c.key.Session }

// AppName implements session.Session.
func (c *current) AppName() string { return c.key.App }

// UserID implements session.Session.
func (c *current) UserID() string { return c.key.User }

// LastUpdateTime implements session.Session.
func (c *current) LastUpdateTime() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.updated
}

// State implements session.Session.
func (c *current) State() session.State { return (*state)(c) }

// Events implements session.Session. They are those of this moment.
func (c *current) Events() session.Events {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return events(c.events[:len(c.events):len(c.events)])
}

type state current

// Get implements session.State.
func (s *state) Get(name string) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, found := s.state[name]
	if !found {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

// Set implements session.State. What is set is stored with the event whose state delta has it.
func (s *state) Set(name string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[name] = value
	return nil
}

// All implements session.State.
func (s *state) All() iter.Seq2[string, any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.All(maps.Clone(s.state))
}

type events []*session.Event

// All implements session.Events.
func (e events) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, each := range e {
			if !yield(each) {
				return
			}
		}
	}
}

// Len implements session.Events.
func (e events) Len() int { return len(e) }

// At implements session.Events.
func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}
