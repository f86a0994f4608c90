package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"encoding/json"
)

// ContextOptions are those of Context. With MaxBytes, MaxTokens or MaxTurns the context holds whole turns, from the
// newest back to the one that no longer fits. The newest turn and all summaries stay, and calls and their responses stay
// together.
type ContextOptions struct {
	Visible     bool  // leaves out events that a model is not shown
	LogOrder    bool  // keeps the order of the log where there are summaries, which is otherwise by time
	FirstTurn   bool  // keeps the first turn, too, whatever the budget
	InlineBytes int64 // puts up to so many bytes of artifacts back into the contents; 0: none
	MaxBytes    int64 // of the contents; 0: no limit
	MaxTokens   int64 // of the contents; 0: no limit
	MaxTurns    int64 // besides a first turn that is kept; 0: no limit
	// Count counts the tokens of a content. Without it, four bytes are a token. It must not use the session.
	Count   func(Message) (int64, error)
	LeftOut *LeftOut // if it is given, it is set to what the budget left out
}

// LeftOut is what the budget of a context left out.
type LeftOut struct {
	Events     int64 // that the context would otherwise hold
	Turns      int64 // with such events
	OverBudget bool  // what always stays is larger than the budget
}

// A Message is an event of a context, or the summary by which a compaction replaces events.
type Message struct {
	Event   Event           // for a summary, the compaction event
	Content json.RawMessage // the content to send; nil: the event has none
}

func (t target) context(ctx context.Context, o *ContextOptions) (messages []Message, err error) {
	if o == nil {
		o = &ContextOptions{}
	}
	_, err = t.do(ctx, func(c *call) C.int {
		made := &C.ses_context_options{
			size: C.sizeof_ses_context_options,
			flags: flag(o.Visible, C.SES_CONTEXT_VISIBLE) | flag(o.LogOrder, C.SES_CONTEXT_LOG_ORDER) |
				flag(o.FirstTurn, C.SES_CONTEXT_FIRST_TURN),
			timeout_ms:   c.timeout,
			cancel:       c.cancel,
			inline_bytes: C.int64_t(o.InlineBytes),
			max_bytes:    C.int64_t(o.MaxBytes),
			max_tokens:   C.int64_t(o.MaxTokens),
			max_turns:    C.int64_t(o.MaxTurns),
		}
		if o.Count != nil {
			made.count = (*C.ses_token_counter)(C.ses_go_count)
			made.count_context = c.callback(&callback{count: o.Count})
		}
		options := lend(c, made)
		var p *C.ses_context
		var code C.int
		if c.session != nil {
			code = C.ses_context_open(c.session, options, &p, &c.err)
		} else {
			code = C.ses_context_open_by_key(c.store, c.name, options, &p, &c.err)
		}
		if p != nil {
			defer C.ses_context_close(p)
			for i := C.size_t(0); i < C.ses_context_count(p); i++ {
				messages = append(messages, Message{eventOf(C.ses_context_event(p, i)), copied(C.ses_context_content(p, i))})
			}
			if o.LeftOut != nil {
				left := C.ses_context_left_out(p)
				*o.LeftOut = LeftOut{int64(left.events), int64(left.turns), left.over_budget != 0}
			}
		}
		return code
	})
	return messages, err
}

// Context reads the part of the session's log that a model should be sent, in order, as it is stored now.
func (s *Session) Context(ctx context.Context, options *ContextOptions) ([]Message, error) {
	return s.target().context(ctx, options)
}

// Context reads the part of a session's log that a model should be sent, in order.
func (s *Store) Context(ctx context.Context, key Key, options *ContextOptions) ([]Message, error) {
	return target{store: s, key: key}.context(ctx, options)
}

// A FunctionCall is one that has no response yet.
type FunctionCall struct {
	Function
	Event       Event // the event that holds the call
	LongRunning bool
}

func (t target) pending(ctx context.Context) (calls []FunctionCall, err error) {
	_, err = t.do(ctx, func(c *call) C.int {
		var p *C.ses_pending
		var code C.int
		if c.session != nil {
			code = C.ses_pending_open(c.session, c.options(), &p, &c.err)
		} else {
			code = C.ses_pending_open_by_key(c.store, c.name, c.options(), &p, &c.err)
		}
		if p != nil {
			defer C.ses_pending_close(p)
			for i := C.size_t(0); i < C.ses_pending_count(p); i++ {
				calls = append(calls, FunctionCall{functionOf(C.ses_pending_call(p, i)), eventOf(C.ses_pending_event(p, i)),
					C.ses_pending_is_long_running(p, i) != 0})
			}
		}
		return code
	})
	return calls, err
}

// Pending reads the function calls of the session's live events that have no response after them.
func (s *Session) Pending(ctx context.Context) ([]FunctionCall, error) {
	return s.target().pending(ctx)
}

// Pending reads the function calls of a session's live events that have no response after them.
func (s *Store) Pending(ctx context.Context, key Key) ([]FunctionCall, error) {
	return target{store: s, key: key}.pending(ctx)
}

// AnswerOptions are those of Answer. Without any answer, each call that is not long-running is answered as interrupted.
type AnswerOptions struct {
	// Answer is asked about each call that Responses does not answer, and returns the response, a JSON object. After
	// nil the call stays pending. It must not use the session.
	Answer    func(FunctionCall) ([]byte, error)
	Responses []Function // responses that the caller already has
	Lease     int64      // as in AppendOptions
}

func (t target) answer(ctx context.Context, o *AnswerOptions) (int64, error) {
	if o == nil {
		o = &AnswerOptions{}
	}
	var answered C.int64_t
	_, err := t.do(ctx, func(c *call) C.int {
		made := &C.ses_answer_options{
			size:           C.sizeof_ses_answer_options,
			response_count: C.size_t(len(o.Responses)),
			lease:          C.int64_t(o.Lease),
			timeout_ms:     c.timeout,
			cancel:         c.cancel,
		}
		if len(o.Responses) > 0 {
			responses := make([]C.ses_function, len(o.Responses))
			for i, response := range o.Responses {
				responses[i] = c.function(response)
			}
			made.responses = lend(c, &responses[0])
		}
		if o.Answer != nil {
			made.answer = (*C.ses_call_answerer)(C.ses_go_answer)
			made.answer_context = c.callback(&callback{answer: o.Answer})
		}
		if c.session != nil {
			return C.ses_pending_answer(c.session, lend(c, made), &answered, &c.err)
		}
		return C.ses_pending_answer_by_key(c.store, c.name, lend(c, made), &answered, &c.err)
	})
	return int64(answered), err
}

// Answer answers the pending calls of the session, stores each answer once, and returns how many there were.
func (s *Session) Answer(ctx context.Context, options *AnswerOptions) (int64, error) {
	return s.target().answer(ctx, options)
}

// Answer answers the pending calls of a session, stores each answer once, and returns how many there were.
func (s *Store) Answer(ctx context.Context, key Key, options *AnswerOptions) (int64, error) {
	return target{store: s, key: key}.answer(ctx, options)
}

// RenderOptions are those of Render.
type RenderOptions struct {
	ADKBraces bool // a run of braces on either side counts as one, as in the ADK's code
	ADKSpaces bool // white space of any script around a name is ignored, as in the ADK's code
	// Artifact reads an artifact that the template names; nil, nil: there is none. Without it artifacts of the session
	// and its user are read from the store. It must not use the session.
	Artifact func(name string) ([]byte, error)
}

// rendering runs a call that renders a template.
func rendering(o *RenderOptions, template string, c *call, f func(text *C.char, length C.size_t, o *C.ses_render_options) C.int) C.int {
	if o == nil {
		o = &RenderOptions{}
	}
	made := &C.ses_render_options{
		size:  C.sizeof_ses_render_options,
		flags: flag(o.ADKBraces, C.SES_RENDER_ADK_BRACES) | flag(o.ADKSpaces, C.SES_RENDER_ADK_SPACES),
	}
	if o.Artifact != nil {
		made.artifacts = (*C.ses_artifact_reader)(C.ses_go_artifact)
		made.artifacts_context = c.callback(&callback{artifact: o.Artifact})
	}
	text, length := c.bytes([]byte(template))
	return f(text, length, lend(c, made))
}

// Render renders an instruction template with the state of the session: {name}, {name?} and {artifact.NAME}.
func (s *Session) Render(template string, options *RenderOptions) (string, error) {
	var rendered owned
	_, err := s.target().do(background, func(c *call) C.int {
		return rendering(options, template, c, func(text *C.char, length C.size_t, o *C.ses_render_options) C.int {
			return C.ses_render(c.session, text, length, o, &rendered.text, &rendered.len, &c.err)
		})
	})
	return string(rendered.take()), err
}

// OutputDelta returns the state changes that save an agent's final text under a key, or nil if there is nothing to save:
// the event is not by the agent, is not final, or has no text.
func (s *Store) OutputDelta(event []byte, agent, key string) (json.RawMessage, error) {
	return giving(background, s, func(c *call, delta *owned) C.int {
		text, length := c.bytes(event)
		return C.ses_output_delta(c.store, text, length, c.text(agent), c.text(key), &delta.text, &delta.len, &c.err)
	})
}

// MarkdownOptions are the options of a Markdown document.
type MarkdownOptions struct {
	TextsOnly bool // only what was said: texts that are no thoughts, and errors
}

// Markdown returns the events that the session holds as a document for people to read, with calls folded.
func (s *Session) Markdown(options *MarkdownOptions) (string, error) {
	if options == nil {
		options = &MarkdownOptions{}
	}
	var text owned
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		o := &C.ses_markdown_options{
			size:  C.sizeof_ses_markdown_options,
			flags: flag(options.TextsOnly, C.SES_MARKDOWN_TEXTS),
		}
		return C.ses_session_markdown(p, lend(c, o), &text.text, &text.len, &c.err)
	})
	return string(text.take()), err
}
