package seslite_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/seslite"
)

const secret = "sk-4711"

// told makes a session with two events and a value each that have the secret.
func told(t *testing.T) *seslite.Store {
	store, _ := openFile(t)
	session, err := store.Create(ctx, key, nil, nil)
	must(t, err)
	must(t, session.Close())
	for n := 1; n <= 2; n++ {
		text := fmt.Sprintf(`{"id":"e%d","author":"user","content":{"parts":[{"text":"a %s, %s"}]},"actions":{"stateDelta":{"k%d":"%s"}}}`,
			n, secret, secret, n, secret)
		_, err := store.Append(ctx, key, []byte(text), nil)
		must(t, err)
	}
	return store
}

func logOf(t *testing.T, store *seslite.Store) string {
	session, err := store.Get(ctx, key, nil)
	must(t, err)
	defer session.Close()
	var all strings.Builder
	for event := range session.Events() {
		all.Write(event.JSON)
	}
	return all.String()
}

func TestRedact(t *testing.T) {
	store := told(t)
	var erased seslite.Erased
	_, err := store.Redact(ctx, key, []int64{1}, &seslite.RedactOptions{DryRun: true, Erased: &erased})
	must(t, err)
	same(t, []any{erased.Events, erased.StateLeft, erased.ForksLeft}, "[1 1 0]")
	same(t, strings.Contains(logOf(t, store), secret), true)

	session, err := store.Get(ctx, key, nil)
	must(t, err)
	defer session.Close()
	more, err := session.Redact(ctx, []int64{2, 1, 1}, &seslite.RedactOptions{State: true, Secure: true, Text: "gone", Erased: &erased})
	must(t, err)
	same(t, []any{erased.Events, erased.StateKeys, more}, "[2 2 false]")
	same(t, strings.Contains(logOf(t, store), secret), false)
	same(t, strings.Contains(logOf(t, store), `{"text":"gone"}`), true)
	_, err = session.Redact(ctx, []int64{}, nil)
	must(t, err)
	_, err = session.Redact(ctx, []int64{3}, nil)
	got(t, err, seslite.ErrNotFound)
	old := int64(1)
	_, err = store.Redact(ctx, key, nil, &seslite.RedactOptions{Version: &old})
	got(t, err, seslite.ErrStale)
}

func TestRedactWhatIsFound(t *testing.T) {
	store := told(t)
	find := func(text []byte, from int) (int, int, error) {
		at := bytes.Index(text[from:], []byte(secret))
		if at < 0 {
			return -1, 0, nil
		}
		return from + at, from + at + len(secret), nil
	}
	var erased seslite.Erased
	_, err := store.Redact(ctx, key, nil, &seslite.RedactOptions{State: true, Find: find, Erased: &erased})
	must(t, err)
	same(t, []any{erased.Events, erased.StateKeys, erased.DerivedLeft}, "[2 2 0]")
	same(t, strings.Contains(logOf(t, store), "a [redacted], [redacted]"), true)

	ended := errors.New("ended")
	_, err = store.Redact(ctx, key, nil, &seslite.RedactOptions{Find: func([]byte, int) (int, int, error) { return 0, 0, ended }})
	same(t, errors.Is(err, ended), true)
	_, err = store.Redact(ctx, key, nil, &seslite.RedactOptions{Find: func([]byte, int) (int, int, error) { return 0, 1 << 40, nil }})
	got(t, err, seslite.ErrMisuse)
}

func TestFind(t *testing.T) {
	store := told(t)
	must(t, store.SetTitle(ctx, key, "about "+secret))
	var found []string
	for _, scope := range []seslite.Key{{}, {App: key.App}, key} {
		found = nil
		for finding, err := range store.FindAll(ctx, scope, secret, &seslite.FindOptions{Limit: 1}) {
			must(t, err)
			same(t, strings.HasPrefix(finding.Text[finding.TextFound:], secret), true)
			found = append(found, fmt.Sprintf("%d/%s/%s/%d", finding.Kind, finding.Session, finding.Name, finding.Seq))
		}
		same(t, found, fmt.Sprintf("[3/%[1]s//0 6/%[1]s/k1/0 6/%[1]s/k2/0 9/%[1]s//1 9/%[1]s//2]", key.Session))
	}
	page, err := store.Find(ctx, seslite.Key{}, "", &seslite.FindOptions{Find: func(text []byte, from int) (int, int, error) {
		at := bytes.Index(text[from:], []byte("about"))
		if at < 0 {
			return -1, 0, nil
		}
		return from + at, from + at + 5, nil
	}})
	must(t, err)
	same(t, []any{len(page.Findings), page.Findings[0].Text, page.Token}, "[1 about "+secret+" ]")
	_, err = store.Find(ctx, seslite.Key{}, "", nil)
	same(t, errors.Is(err, seslite.ErrInvalid), true)
}

func TestReceipts(t *testing.T) {
	store := told(t)
	fork, err := store.Fork(ctx, key, seslite.AfterSeq(1), seslite.Key{App: "app", User: "user", Session: "fork"}, nil)
	must(t, err)
	must(t, fork.Close())
	var erased seslite.Erased
	_, _, err = store.Pop(ctx, key, seslite.AfterSeq(0), &seslite.CutOptions{Erased: &erased})
	must(t, err)
	same(t, []any{erased.Events, erased.ForksLeft}, "[2 1]")
	keep := int64(0)
	_, err = store.Prune(ctx, key, &seslite.PruneOptions{Keep: &keep, Erased: &erased})
	must(t, err)
	same(t, erased.Events, 0)
	deleted, err := store.Delete(ctx, key, &seslite.DeleteOptions{Secure: true, Erased: &erased})
	must(t, err)
	same(t, []any{deleted.Count, erased.Sessions, deleted.More}, "[1 1 false]")
	_, err = store.DeleteUser(ctx, "app", "user", &seslite.DeleteOptions{Erased: &erased})
	must(t, err)
	same(t, []any{erased.Sessions, erased.Events}, "[1 1]")
	_, err = store.Expire(ctx, &seslite.ExpireOptions{Erased: &erased})
	must(t, err)
	same(t, []any{erased.Sessions, erased.ForksLeft}, "[0 -1]")
}

func used(t *testing.T) *seslite.Store {
	store, _ := openFile(t)
	for n, each := range []struct {
		key    seslite.Key
		second int
		usage  string
	}{
		{key, 1, `"modelVersion":"m1","usageMetadata":{"promptTokenCount":10,"totalTokenCount":15}`},
		{key, 86399, `"modelVersion":"m2","usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"totalTokenCount":105}`},
		{seslite.Key{App: "app", User: "other", Session: "t"}, 86400, `"modelVersion":"m1","usageMetadata":{"promptTokenCount":-1}`},
	} {
		session, _, err := store.GetOrCreate(ctx, each.key, nil, nil)
		must(t, err)
		must(t, session.Close())
		_, err = store.Append(ctx, each.key, []byte(fmt.Sprintf(`{"id":"e%d","invocationId":"i%d","timestamp":%d,%s}`, n, n, each.second, each.usage)), nil)
		must(t, err)
	}
	return store
}

func TestUsage(t *testing.T) {
	store := used(t)
	for range 2 {
		usage, err := store.Usage(ctx, seslite.Key{App: "app"}, &seslite.UsageOptions{ByUser: true, ByModel: true})
		must(t, err)
		var rows []string
		for _, row := range usage.Rows {
			rows = append(rows, fmt.Sprintf("%s %s %d %d %d %d %d", row.User, row.Model, row.Calls, row.Prompt, row.Cached, row.Total, row.Odd))
		}
		same(t, rows, "[other m1 1 0 0 0 1 user m1 1 10 0 15 0 user m2 1 100 60 105 0]")
		same(t, []any{usage.Sum.Calls, usage.Sum.Prompt, usage.Sum.First.Unix(), usage.Sum.Last.Unix(), usage.Token}, "[3 110 1 86400 ]")
		events, err := store.Tally(ctx, nil)
		must(t, err)
		same(t, events == 0 || events == 3, true)
	}
	var days []string
	zone := time.FixedZone("one hour ahead", 3600)
	for row, err := range store.UsageAll(ctx, seslite.Key{}, &seslite.UsageOptions{ByDay: true, Zone: zone, Limit: 1}) {
		must(t, err)
		days = append(days, fmt.Sprintf("%s %d", row.Day, row.Calls))
	}
	same(t, days, "[1970-01-01 1 1970-01-02 2]")
	usage, err := store.Usage(ctx, key, &seslite.UsageOptions{Since: time.Unix(2, 0), Before: time.Unix(86400, 0)})
	must(t, err)
	same(t, usage.Sum.Calls, 1)
	usage, err = store.Usage(ctx, seslite.Key{App: "app", User: "user"}, &seslite.UsageOptions{Filter: &seslite.Filter{IDPrefix: "x"}})
	must(t, err)
	same(t, []any{usage.Sum.Calls, usage.Sum.First.IsZero()}, "[0 true]")
	_, err = store.Usage(ctx, seslite.Key{User: "user"}, nil)
	got(t, err, seslite.ErrMisuse)
	calls := 0
	_, err = store.Tally(ctx, &seslite.TallyOptions{Rebuild: true, Progress: func(done, total int64) error { calls++; return nil }})
	must(t, err)
	same(t, calls > 0, true)
}
