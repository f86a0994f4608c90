package seslite

// #include "seslite_agent.h"
import "C"

import (
	"encoding/json"
	"time"
)

// A Function is a function call or a function response of an event.
type Function struct {
	ID   string          // pairs a call with its response; "": it has none
	Name string          // of the function
	JSON json.RawMessage // the arguments of a call, or the response: a JSON object; nil: it has none
}

func functionOf(f *C.ses_function) Function {
	return Function{string(copied(f.id)), string(copied(f.name)), copied(f.json)}
}

func (c *call) function(f Function) C.ses_function {
	made := C.ses_function{}
	if f.ID != "" {
		made.id.text, made.id.len = c.bytes([]byte(f.ID))
	}
	if f.Name != "" {
		made.name.text, made.name.len = c.bytes([]byte(f.Name))
	}
	made.json.text, made.json.len = c.bytes(f.JSON)
	return made
}

// A Part is a part of a content.
type Part struct {
	JSON     json.RawMessage // the part, a JSON object
	Text     string          // its text, decoded
	Thought  bool            // the text is what the model thought, not what it said
	Call     *Function
	Response *Function
}

// Usage are the tokens that a model call used. -1: the count is missing.
type Usage struct {
	Prompt     int64 // Cached included
	Cached     int64
	Candidates int64 // the model's answer
	Thoughts   int64
	ToolUse    int64
	Total      int64
}

// A Compaction says that its content replaces the events whose time lies in its range.
type Compaction struct {
	Start   time.Time
	End     time.Time
	Content json.RawMessage
}

// A Content is what an event says.
type Content struct {
	JSON         json.RawMessage // role and parts, as a model is sent them; nil: the event has none
	Text         string          // the text of all parts that are not thoughts
	Parts        []Part
	Calls        []Function
	Responses    []Function
	Final        bool            // the event is an agent's final response, as the ADK decides it
	Actions      json.RawMessage // nil: the event has none
	StateDelta   json.RawMessage // nil: the event has none
	ErrorCode    string
	ErrorMessage string
	Usage        *Usage
	Compaction   *Compaction
}

func optionalFunction(f *C.ses_function) *Function {
	if f == nil {
		return nil
	}
	made := functionOf(f)
	return &made
}

func partOf(p *C.ses_part) Part {
	return Part{copied(p.json), string(copied(p.text)), p.thought != 0, optionalFunction(p.call), optionalFunction(p.response)}
}

func usageOf(u *C.ses_usage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{
		int64(u.prompt), int64(u.cached), int64(u.candidates), int64(u.thoughts), int64(u.tool_use), int64(u.total),
	}
}

func compactionOf(k *C.ses_compaction) *Compaction {
	if k == nil {
		return nil
	}
	return &Compaction{timeOf(k.start_us), timeOf(k.end_us), copied(k.content)}
}

func contentOf(p *C.ses_content) *Content {
	var length C.size_t
	text := C.ses_content_text(p, &length)
	made := &Content{
		JSON:         copied(C.ses_content_json(p)),
		Text:         string(borrowed(text, length)),
		Final:        C.ses_content_is_final(p) != 0,
		Actions:      copied(C.ses_content_actions(p)),
		StateDelta:   copied(C.ses_content_state_delta(p)),
		ErrorCode:    string(copied(C.ses_content_error_code(p))),
		ErrorMessage: string(copied(C.ses_content_error_message(p))),
		Usage:        usageOf(C.ses_content_usage(p)),
		Compaction:   compactionOf(C.ses_content_compaction(p)),
	}
	for i := C.size_t(0); i < C.ses_content_part_count(p); i++ {
		made.Parts = append(made.Parts, partOf(C.ses_content_part(p, i)))
	}
	for i := C.size_t(0); i < C.ses_content_call_count(p); i++ {
		made.Calls = append(made.Calls, functionOf(C.ses_content_call(p, i)))
	}
	for i := C.size_t(0); i < C.ses_content_response_count(p); i++ {
		made.Responses = append(made.Responses, functionOf(C.ses_content_response(p, i)))
	}
	return made
}

// Content reads what an event says, from its JSON.
func (s *Store) Content(event []byte) (*Content, error) {
	var made *Content
	_, err := s.do(background, func(c *call) C.int {
		var p *C.ses_content
		text, length := c.bytes(event)
		code := C.ses_content_open(c.store, text, length, &p, &c.err)
		if p != nil {
			defer C.ses_content_close(p)
			made = contentOf(p)
		}
		return code
	})
	return made, err
}
