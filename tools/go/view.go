package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
)

// ViewOptions are those of View.
type ViewOptions struct {
	ReadOnly   bool // every write is ErrReadOnly
	Accumulate bool // AppendOutput saves all texts of the agent, not only the final one
}

// A View shows the state of a session as a callback or a tool sees it. Its writes stay in it until they are appended with an
// event. A counter in a shared key never loses a step: a shared key that a view has read and written is ErrStale when
// another value is stored. It uses the lock of its session.
type View struct {
	session *Session
	p       *C.ses_tracked
	cleanup runtime.Cleanup
}

// View opens a view on the session. Close it before the session.
func (s *Session) View(options *ViewOptions) (*View, error) {
	if options == nil {
		options = &ViewOptions{}
	}
	var made *C.ses_tracked
	flags := flag(options.ReadOnly, C.SES_TRACK_READ_ONLY) | flag(options.Accumulate, C.SES_TRACK_ACCUMULATE)
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		o := lend(c, &C.ses_track_options{size: C.sizeof_ses_track_options, flags: flags})
		return C.ses_tracked_open(p, o, &made, &c.err)
	})
	if err != nil {
		return nil, err
	}
	v := &View{session: s, p: made}
	v.cleanup = runtime.AddCleanup(v, forgetView, forgottenView{s, made})
	return v, nil
}

// forgottenView keeps the session, on which C may not free a view while another goroutine uses it.
type forgottenView struct {
	session *Session
	p       *C.ses_tracked
}

func forgetView(f forgottenView) {
	f.session.mu.Lock()
	defer f.session.mu.Unlock()
	C.ses_tracked_close(f.p)
}

// Close frees the view and drops its writes. Closing again does nothing.
func (v *View) Close() error {
	v.session.mu.Lock()
	defer v.session.mu.Unlock()
	if v.p != nil {
		v.cleanup.Stop()
		C.ses_tracked_close(v.p)
		v.p = nil
	}
	return nil
}

// ask runs a call that only looks at memory.
func (v *View) ask(f func(c *call) C.int) (int, error) {
	v.session.mu.Lock()
	defer v.session.mu.Unlock()
	if v.p == nil {
		return 0, closed("view")
	}
	return (&call{}).run(background, f)
}

// Session returns the session of the view.
func (v *View) Session() *Session { return v.session }

func (v *View) set(f func(c *call) C.int) error {
	_, err := v.ask(f)
	return err
}

// Set writes a JSON value.
func (v *View) Set(name string, json []byte) error {
	return v.set(func(c *call) C.int {
		text, length := c.bytes(json)
		return C.ses_tracked_set(v.p, c.text(name), text, length, &c.err)
	})
}

// SetString writes a string.
func (v *View) SetString(name, value string) error {
	return v.set(func(c *call) C.int {
		text, length := c.bytes([]byte(value))
		return C.ses_tracked_set_string(v.p, c.text(name), text, length, &c.err)
	})
}

// SetInt writes an integer.
func (v *View) SetInt(name string, value int64) error {
	return v.set(func(c *call) C.int {
		return C.ses_tracked_set_int64(v.p, c.text(name), C.int64_t(value), &c.err)
	})
}

// SetFloat writes a number. An infinite one, or NaN, is ErrInvalid.
func (v *View) SetFloat(name string, value float64) error {
	return v.set(func(c *call) C.int {
		return C.ses_tracked_set_double(v.p, c.text(name), C.double(value), &c.err)
	})
}

// SetBool writes a boolean.
func (v *View) SetBool(name string, value bool) error {
	return v.set(func(c *call) C.int {
		return C.ses_tracked_set_bool(v.p, c.text(name), C.int(flag(value, 1)), &c.err)
	})
}

// Remove removes a key, which need not exist.
func (v *View) Remove(name string) error {
	return v.set(func(c *call) C.int { return C.ses_tracked_remove(v.p, c.text(name), &c.err) })
}

// Discard drops the view's writes, and its notes of what it has read.
func (v *View) Discard() {
	_, _ = v.ask(func(*call) C.int {
		C.ses_tracked_discard(v.p)
		return C.SES_OK
	})
}

// Value returns a value, or nil if the view shows no such key.
func (v *View) Value(name string) (json.RawMessage, error) {
	var value json.RawMessage
	_, err := v.ask(func(c *call) C.int {
		var text *C.char
		var length C.size_t
		code := C.ses_tracked_get(v.p, c.text(name), &text, &length, &c.err)
		value = borrowed(text, length)
		return code
	})
	return value, err
}

func (v *View) valueAs(f func(c *call) C.int) (bool, error) {
	code, err := v.ask(f)
	return err == nil && code != C.SES_ABSENT, err
}

// StringValue returns a value that is a string.
func (v *View) StringValue(name string) (value string, found bool, err error) {
	found, err = v.valueAs(func(c *call) C.int {
		var text *C.char
		var length C.size_t
		code := C.ses_tracked_get_string(v.p, c.text(name), &text, &length, &c.err)
		value = string(borrowed(text, length))
		return code
	})
	return value, found, err
}

// IntValue returns a value that is an integer, exactly.
func (v *View) IntValue(name string) (int64, bool, error) {
	var value C.int64_t
	found, err := v.valueAs(func(c *call) C.int {
		return C.ses_tracked_get_int64(v.p, c.text(name), &value, &c.err)
	})
	return int64(value), found, err
}

// FloatValue returns a value that is a number.
func (v *View) FloatValue(name string) (float64, bool, error) {
	var value C.double
	found, err := v.valueAs(func(c *call) C.int {
		return C.ses_tracked_get_double(v.p, c.text(name), &value, &c.err)
	})
	return float64(value), found, err
}

// BoolValue returns a value that is a boolean.
func (v *View) BoolValue(name string) (value, found bool, err error) {
	var number C.int
	found, err = v.valueAs(func(c *call) C.int {
		return C.ses_tracked_get_bool(v.p, c.text(name), &number, &c.err)
	})
	return number != 0, found, err
}

// Has reports whether the view shows a key.
func (v *View) Has(name string) bool {
	code, err := v.ask(func(c *call) C.int { return C.ses_tracked_has(v.p, c.text(name)) })
	return err == nil && code != 0
}

// Changed reports whether the view holds writes that are not appended.
func (v *View) Changed() bool {
	code, err := v.ask(func(*call) C.int { return C.ses_tracked_changed(v.p) })
	return err == nil && code != 0
}

// State returns everything that the view shows, a JSON object.
func (v *View) State() (json.RawMessage, error) {
	var text owned
	_, err := v.ask(func(c *call) C.int { return C.ses_tracked_json(v.p, &text.text, &text.len, &c.err) })
	return text.take(), err
}

// Delta returns the view's own writes, a JSON object.
func (v *View) Delta() (json.RawMessage, error) {
	var text owned
	_, err := v.ask(func(c *call) C.int { return C.ses_tracked_delta(v.p, &text.text, &text.len, &c.err) })
	return text.take(), err
}

// Append appends an event together with the view's writes, which win over what it contains. After ErrStale, Refresh the
// session, Discard the writes, and read and write again.
func (v *View) Append(ctx context.Context, event []byte, options *AppendOptions) (Appended, error) {
	return v.appending(ctx, options, func(c *call, o *C.ses_append_options, a *C.ses_appended) C.int {
		text, length := c.bytes(event)
		return C.ses_tracked_append(v.p, text, length, o, a, &c.err)
	})
}

// AppendOutput appends an event as Append does, and saves the final text of the agent under a key; "": under none.
func (v *View) AppendOutput(ctx context.Context, event []byte, agent, key string, options *AppendOptions) (Appended, error) {
	return v.appending(ctx, options, func(c *call, o *C.ses_append_options, a *C.ses_appended) C.int {
		text, length := c.bytes(event)
		return C.ses_output_append(v.p, text, length, c.text(agent), c.optional(key), o, a, &c.err)
	})
}

func (v *View) appending(ctx context.Context, o *AppendOptions, f func(c *call, o *C.ses_append_options, a *C.ses_appended) C.int) (Appended, error) {
	return v.session.target().appending(ctx, o, func(c *call, a *C.ses_appended) C.int {
		if v.p == nil {
			panic(refusal{closed("view")})
		}
		return f(c, c.appendOptions(o), a)
	})
}

// Render renders an instruction template with the state that the view shows.
func (v *View) Render(template string, options *RenderOptions) (string, error) {
	var rendered owned
	_, err := v.session.target().do(background, func(c *call) C.int {
		if v.p == nil {
			panic(refusal{closed("view")})
		}
		return rendering(options, template, c, func(text *C.char, length C.size_t, o *C.ses_render_options) C.int {
			return C.ses_tracked_render(v.p, text, length, o, &rendered.text, &rendered.len, &c.err)
		})
	})
	return string(rendered.take()), err
}
