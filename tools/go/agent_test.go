package seslite_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"example.org/seslite"
)

func TestEventsAreBuiltAndRead(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	b, err := store.NewEvent("agent", "inv")
	must(t, err)
	for _, err := range []error{
		b.AddText("hi \x00ü"), b.AddThought("hm"), b.AddCall(seslite.Function{ID: "1", Name: "f", JSON: []byte(`{"x":1}`)}),
		b.AddCall(seslite.Function{Name: "g"}), b.AddResponse(seslite.Function{ID: "0", Name: "h", JSON: []byte(`{"r":2}`)}),
		b.AddPart([]byte(`{"fileData":{}}`)), b.SetStateDelta([]byte(`{"k":1}`)), b.SetField("usageMetadata", []byte(`{"totalTokenCount":3}`)),
		b.SetFieldText("branch", "a.b"), b.SetAction("skipSummarization", []byte("true")), b.SetActionText("transferToAgent", "x"),
		b.SetFieldText("errorCode", "E"), b.SetFieldText("errorMessage", "M"),
	} {
		must(t, err)
	}
	got(t, b.AddText("\xff"), seslite.ErrInvalid)
	got(t, b.SetField("content", []byte("1")), seslite.ErrInvalid)
	done, err := b.Append(ctx, session, nil)
	must(t, err)
	again, err := b.AppendByKey(ctx, key, nil)
	must(t, err)
	same(t, []any{again.Status, again.Seq}, []any{seslite.Duplicate, done.Seq})
	text, err := b.JSON()
	must(t, err)
	same(t, strings.Contains(string(text), done.MadeID), true)
	must(t, b.Close())
	got(t, b.AddText("x"), seslite.ErrMisuse)
	_, err = b.AppendByKey(ctx, key, nil)
	got(t, err, seslite.ErrMisuse)

	content, err := store.Content(text)
	must(t, err)
	same(t, content.Text, "hi \x00ü")
	same(t, []any{len(content.Parts), content.Parts[1].Thought, content.Parts[2].Call.Name, content.Parts[4].Response.ID}, "[6 true f 0]")
	same(t, []any{len(content.Calls), content.Calls[1].ID, len(content.Responses), content.Final}, "[2  1 true]")
	same(t, []any{content.ErrorCode, content.ErrorMessage, content.Usage.Total, content.Usage.Cached}, "[E M 3 -1]")
	same(t, content.StateDelta, `{"k":1}`)
	same(t, content.Compaction == nil && content.Actions != nil && content.JSON != nil, true)
	whole, err := store.NewEvent("user", "")
	must(t, err)
	must(t, whole.SetContent([]byte(`{"parts":[]}`)))
	got(t, whole.AddText("x"), seslite.ErrMisuse)
	_, err = store.Content([]byte("{"))
	got(t, err, seslite.ErrJSON)
	_, err = store.NewEvent("", "")
	got(t, err, seslite.ErrInvalid)
}

func TestPendingCallsAreAnswered(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	calls := `{"author":"a","invocationId":"i","longRunningToolIds":["3"],"content":{"parts":[{"functionCall":{"id":"1","name":"f"}},` +
		`{"functionCall":{"id":"2","name":"g","args":{"x":1}}},{"functionCall":{"id":"3","name":"long"}}]}}`
	_, err := session.Append(ctx, []byte(calls), nil)
	must(t, err)
	pending, err := session.Pending(ctx)
	must(t, err)
	same(t, []any{len(pending), pending[1].Name, string(pending[1].JSON), pending[2].LongRunning, pending[0].Event.Seq}, `[3 g {"x":1} true 1]`)
	_, err = session.Answer(ctx, &seslite.AnswerOptions{Answer: func(seslite.FunctionCall) ([]byte, error) { return nil, errFull }})
	same(t, errors.Is(err, errFull), true)
	n, err := session.Answer(ctx, &seslite.AnswerOptions{
		Responses: []seslite.Function{{ID: "1", Name: "f", JSON: []byte(`{"ok":true}`)}},
		Answer: func(call seslite.FunctionCall) ([]byte, error) {
			if call.LongRunning {
				return nil, nil
			}
			return []byte(`{"name":"` + call.Name + `"}`), nil
		},
	})
	same(t, []any{n, err}, "[2 <nil>]")
	pending, err = store.Pending(ctx, key)
	must(t, err)
	same(t, len(pending), 1)
	n, err = store.Answer(ctx, key, nil)
	same(t, []any{n, err}, "[0 <nil>]")
	b, err := store.NewEvent("a", "i")
	must(t, err)
	must(t, b.AddInterrupted(pending[0].Function))
	must(t, b.AddResponseTo(pending[0].Function, []byte(`{"x":1}`)))
	_, err = b.AppendByKey(ctx, key, nil)
	must(t, err)
	messages, err := store.Context(ctx, key, nil)
	must(t, err)
	same(t, len(messages), 3)
	defer func() { same(t, recover(), "tool") }()
	_, err = session.Append(ctx, []byte(strings.ReplaceAll(calls, `"id":"`, `"id":"x`)), &seslite.AppendOptions{Anyway: true})
	must(t, err)
	_, _ = session.Answer(ctx, &seslite.AnswerOptions{Answer: func(seslite.FunctionCall) ([]byte, error) { panic("tool") }})
}

func TestViewsKeepTheirWrites(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, `{"user:n":1,"s":"x"}`)
	view, err := session.View(nil)
	must(t, err)
	n, found, err := view.IntValue("user:n")
	same(t, []any{n, found, err}, "[1 true <nil>]")
	for _, err := range []error{view.SetInt("user:n", n+1), view.SetString("t", "a\x00b"), view.SetFloat("f", 0.1), view.SetBool("b", true),
		view.Set("j", []byte("[1.0]")), view.Remove("s")} {
		must(t, err)
	}
	got(t, view.SetFloat("f", math.NaN()), seslite.ErrInvalid)
	got(t, view.Set("j", []byte("[")), seslite.ErrJSON)
	text, _, err := view.StringValue("t")
	same(t, []any{text, err}, "[a\x00b <nil>]")
	f, _, err := view.FloatValue("f")
	same(t, []any{f, err}, "[0.1 <nil>]")
	b, _, err := view.BoolValue("b")
	same(t, []any{b, err}, "[true <nil>]")
	value, err := view.Value("j")
	same(t, []any{string(value), err, view.Has("s"), view.Has("j"), view.Changed()}, "[[1.0] <nil> false true true]")
	delta, err := view.Delta()
	must(t, err)
	same(t, strings.Contains(string(delta), "__ADK_SENTINEL_REMOVED__"), true)
	rendered, err := view.Render("{user:n} {none?}{j}", nil)
	same(t, []any{rendered, err}, "[2 [1.0] <nil>]")
	must(t, store.ChangeSharedState(ctx, "app", "user", []byte(`{"n":5}`), nil))
	_, err = view.Append(ctx, event("", ""), nil)
	got(t, err, seslite.ErrStale)
	must(t, session.Refresh(ctx))
	view.Discard()
	n, _, _ = view.IntValue("user:n")
	must(t, view.SetInt("user:n", n+1))
	_, err = view.Append(ctx, event("", ""), nil)
	must(t, err)
	same(t, []any{view.Changed(), view.Session() == session}, "[false true]")
	state, err := view.State()
	must(t, err)
	same(t, state, `{"user:n":6,"s":"x"}`)
	must(t, view.Close())
	must(t, view.Close())
	got(t, view.SetInt("x", 1), seslite.ErrMisuse)
	_, err = view.Append(ctx, event("", ""), nil)
	got(t, err, seslite.ErrMisuse)
	reading, err := session.View(&seslite.ViewOptions{ReadOnly: true})
	must(t, err)
	got(t, reading.SetInt("x", 1), seslite.ErrReadOnly)
	must(t, session.Close())
	got(t, reading.SetInt("x", 1), seslite.ErrMisuse)
	must(t, reading.Close())
}

func TestAContextInTheOrderOfTheLog(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	for _, event := range []string{
		`{"id":"e1","timestamp":5,"author":"user","content":{"parts":[{"text":"x"}]}}`,
		`{"id":"e2","timestamp":3,"author":"user","content":{"parts":[{"text":"x"}]}}`,
		`{"id":"e3","timestamp":9,"author":"user","actions":{"compaction":{"startTimestamp":1,"endTimestamp":2,"compactedContent":{"parts":[{"text":"s"}]}}}}`,
	} {
		_, err := session.Append(ctx, []byte(event), nil)
		must(t, err)
	}
	for inOrder, want := range map[bool]string{false: "[e3 e2 e1]", true: "[e3 e1 e2]"} {
		messages, err := session.Context(ctx, &seslite.ContextOptions{LogOrder: inOrder})
		must(t, err)
		var ids []string
		for _, message := range messages {
			ids = append(ids, message.Event.ID)
		}
		same(t, ids, want)
	}
}

func TestAContextFitsABudget(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		author := "user"
		if id == "b" || id == "d" {
			author = "agent"
		}
		_, err := session.Append(ctx, []byte(`{"id":"`+id+`","author":"`+author+`","content":{"parts":[{"text":"of `+id+`"}]}}`), nil)
		must(t, err)
	}
	size := int64(len(`{"parts":[{"text":"of a"}]}`))
	ten := func(m seslite.Message) (int64, error) {
		same(t, string(m.Content), `{"parts":[{"text":"of `+m.Event.ID+`"}]}`)
		return 10, nil
	}
	for _, one := range []struct {
		options seslite.ContextOptions
		want    string
	}{
		{seslite.ContextOptions{}, "abcde {0 0 false}"},
		{seslite.ContextOptions{MaxBytes: 3 * size}, "cde {2 1 false}"},
		{seslite.ContextOptions{MaxBytes: 1}, "e {4 2 true}"},
		{seslite.ContextOptions{MaxTurns: 1, FirstTurn: true}, "abe {2 1 false}"},
		{seslite.ContextOptions{MaxTokens: 39, Count: ten}, "cde {2 1 false}"},
		{seslite.ContextOptions{MaxTokens: 2 * size}, "abcde {0 0 false}"},
	} {
		var left seslite.LeftOut
		one.options.LeftOut = &left
		messages, err := store.Context(ctx, key, &one.options)
		must(t, err)
		ids := ""
		for _, message := range messages {
			ids += message.Event.ID
		}
		same(t, fmt.Sprint(ids, " ", left), one.want)
	}
	_, err := session.Context(ctx, &seslite.ContextOptions{MaxTurns: -1})
	got(t, err, seslite.ErrInvalid)
	counted := func(count int64, err error) error {
		_, err = session.Context(ctx, &seslite.ContextOptions{MaxTokens: 1, Count: func(seslite.Message) (int64, error) { return count, err }})
		return err
	}
	got(t, counted(-1, nil), seslite.ErrMisuse)
	same(t, errors.Is(counted(0, io.EOF), io.EOF), true)
	defer func() { same(t, recover(), "tokenizer") }()
	_, _ = session.Context(ctx, &seslite.ContextOptions{MaxTokens: 1, Count: func(seslite.Message) (int64, error) { panic("tokenizer") }})
}

func TestTemplatesAndOutputs(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, `{"name":"Ann"}`)
	rendered, err := session.Render("Hi {name}{nobody?}, {artifact.a}", &seslite.RenderOptions{ADKBraces: true, Artifact: func(name string) ([]byte, error) {
		return []byte("<" + name + ">"), nil
	}})
	same(t, []any{rendered, err}, "[Hi Ann, <a> <nil>]")
	for spaces, want := range map[bool]string{true: "Ann", false: "{\u3000name}"} {
		rendered, err = session.Render("{\u3000name}", &seslite.RenderOptions{ADKSpaces: spaces})
		same(t, []any{rendered, err}, []any{want, nil})
	}
	_, err = session.Render("{artifact.a}", &seslite.RenderOptions{Artifact: func(string) ([]byte, error) { return nil, nil }})
	got(t, err, seslite.ErrNotFound)
	_, err = session.Render("{nobody}", nil)
	got(t, err, seslite.ErrNotFound)
	final := []byte(`{"author":"agent","content":{"parts":[{"text":"done"}]}}`)
	delta, err := store.OutputDelta(final, "agent", "out")
	same(t, []any{string(delta), err}, `[{"out":"done"} <nil>]`)
	delta, err = store.OutputDelta(final, "other", "out")
	same(t, []any{delta == nil, err}, "[true <nil>]")
	view, err := session.View(&seslite.ViewOptions{Accumulate: true})
	must(t, err)
	_, err = view.AppendOutput(ctx, final, "agent", "out", nil)
	must(t, err)
	out, _, err := session.StringValue("out")
	same(t, []any{out, err}, "[done <nil>]")
	must(t, view.Close())
}
