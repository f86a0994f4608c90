package seslite

// #include "seslite_agent.h"
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
)

// A Builder makes the JSON of one event as the ADK writes it. An error of its methods leaves it as it was.
type Builder struct {
	store   *Store
	mu      sync.Mutex
	p       *C.ses_builder
	cleanup runtime.Cleanup
}

// NewEvent begins an event by an author, "user" or an agent's name, in an invocation; "": in none.
func (s *Store) NewEvent(author, invocationID string) (*Builder, error) {
	var p *C.ses_builder
	_, err := s.do(background, func(c *call) C.int {
		return C.ses_builder_open(c.store, c.text(author), c.optional(invocationID), &p, &c.err)
	})
	if err != nil {
		return nil, err
	}
	b := &Builder{store: s, p: p}
	b.cleanup = runtime.AddCleanup(b, func(p *C.ses_builder) { C.ses_builder_close(p) }, p)
	return b, nil
}

// Close frees the builder. Closing again does nothing.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.p != nil {
		b.cleanup.Stop()
		C.ses_builder_close(b.p)
		b.p = nil
	}
	return nil
}

// with runs a call on the builder, which needs no store.
func (b *Builder) with(f func(c *call) C.int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.p == nil {
		return closed("builder")
	}
	_, err := (&call{}).run(background, f)
	return err
}

// AddText adds a text.
func (b *Builder) AddText(text string) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_builder_text(b.p, bytes, length, &c.err)
	})
}

// AddThought adds a text that the model thought.
func (b *Builder) AddThought(text string) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_builder_thought(b.p, bytes, length, &c.err)
	})
}

// AddCall adds a function call. Its JSON is the arguments, an object; nil: an empty one.
func (b *Builder) AddCall(of Function) error {
	return b.withFunction(of, func(c *callOf) C.int {
		return C.ses_builder_call(b.p, c.id, c.name, c.text, c.length, &c.err)
	})
}

// AddResponse adds a function response. Its JSON is an object; nil: an empty one.
func (b *Builder) AddResponse(response Function) error {
	return b.withFunction(response, func(c *callOf) C.int {
		return C.ses_builder_response(b.p, c.id, c.name, c.text, c.length, &c.err)
	})
}

// callOf is a call with the parts of a function.
type callOf struct {
	*call
	id, name, text *C.char
	length         C.size_t
}

func (b *Builder) withFunction(f Function, run func(c *callOf) C.int) error {
	return b.with(func(c *call) C.int {
		made := &callOf{call: c, id: c.optional(f.ID), name: c.text(f.Name)}
		made.text, made.length = c.bytes(f.JSON)
		return run(made)
	})
}

// AddResponseTo adds the response to a function call that was read, with the id and the name of the call.
func (b *Builder) AddResponseTo(of Function, response []byte) error {
	return b.with(func(c *call) C.int {
		function := c.function(of)
		bytes, length := c.bytes(response)
		return C.ses_builder_response_to(b.p, lend(c, &function), bytes, length, &c.err)
	})
}

// AddInterrupted adds the response {"error":"interrupted"} to a function call, and marks the event as google-adk does.
func (b *Builder) AddInterrupted(of Function) error {
	return b.with(func(c *call) C.int {
		function := c.function(of)
		return C.ses_builder_interrupted(b.p, lend(c, &function), &c.err)
	})
}

// AddPart adds any other part, a JSON object.
func (b *Builder) AddPart(part []byte) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes(part)
		return C.ses_builder_part(b.p, bytes, length, &c.err)
	})
}

// SetContent sets the whole content, a JSON object, in place of the parts.
func (b *Builder) SetContent(content []byte) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes(content)
		return C.ses_builder_content(b.p, bytes, length, &c.err)
	})
}

// SetStateDelta sets the state changes, a JSON object.
func (b *Builder) SetStateDelta(delta []byte) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes(delta)
		return C.ses_builder_delta(b.p, bytes, length, &c.err)
	})
}

// SetField sets another field of the event to a JSON value.
func (b *Builder) SetField(field string, value []byte) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes(value)
		return C.ses_builder_field(b.p, c.text(field), bytes, length, &c.err)
	})
}

// SetFieldText sets another field of the event to a text.
func (b *Builder) SetFieldText(field, text string) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_builder_field_string(b.p, c.text(field), bytes, length, &c.err)
	})
}

// SetAction sets a field of the event's actions to a JSON value.
func (b *Builder) SetAction(field string, value []byte) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes(value)
		return C.ses_builder_action(b.p, c.text(field), bytes, length, &c.err)
	})
}

// SetActionText sets a field of the event's actions to a text.
func (b *Builder) SetActionText(field, text string) error {
	return b.with(func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_builder_action_string(b.p, c.text(field), bytes, length, &c.err)
	})
}

// JSON returns the event.
func (b *Builder) JSON() (json.RawMessage, error) {
	var event json.RawMessage
	err := b.with(func(c *call) C.int {
		var length C.size_t
		text := C.ses_builder_json(b.p, &length)
		if text == nil {
			return C.SES_NOMEM
		}
		event = borrowed(text, length)
		return C.SES_OK
	})
	return event, err
}

func (b *Builder) append(ctx context.Context, t target, o *AppendOptions) (Appended, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.p == nil {
		return Appended{}, closed("builder")
	}
	return t.appending(ctx, o, func(c *call, a *C.ses_appended) C.int {
		options := c.appendOptions(o)
		if c.session != nil {
			return C.ses_builder_append(b.p, c.session, options, a, &c.err)
		}
		return C.ses_builder_append_by_key(b.p, c.store, c.name, options, a, &c.err)
	})
}

// Append appends the event to a session. It is given an id first, so it can be repeated after any failure, ErrUnknown
// included: the event is stored once.
func (b *Builder) Append(ctx context.Context, session *Session, options *AppendOptions) (Appended, error) {
	return b.append(ctx, session.target(), options)
}

// AppendByKey appends the event to a session at whatever version it has.
func (b *Builder) AppendByKey(ctx context.Context, key Key, options *AppendOptions) (Appended, error) {
	return b.append(ctx, target{store: b.store, key: key}, options)
}
