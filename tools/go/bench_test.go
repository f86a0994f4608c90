package seslite_test

import (
	"context"
	"testing"
	"time"

	"example.org/seslite"
)

// BenchmarkAppend shows what a context costs, in memory and in a file.
func BenchmarkAppend(b *testing.B) {
	text := event("i", `{"k":1}`)
	for _, path := range []string{"memory", "file"} {
		for name, limited := range map[string]func() (context.Context, context.CancelFunc){
			"background": func() (context.Context, context.CancelFunc) { return ctx, func() {} },
			"cancel":     func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
			"deadline":   func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, time.Minute) },
		} {
			b.Run(path+"/"+name, func(b *testing.B) {
				store := memory(b)
				if path == "file" {
					store, _ = openFile(b)
				}
				create(b, store, key, "")
				b.ReportAllocs()
				for b.Loop() {
					c, cancel := limited()
					_, err := store.Append(c, key, text, nil)
					cancel()
					must(b, err)
				}
			})
		}
	}
}

// BenchmarkGet reads the newest events of a session and its state.
func BenchmarkGet(b *testing.B) {
	store, _ := openFile(b, seslite.SyncNormal())
	create(b, store, key, "")
	for range 100 {
		_, err := store.Append(ctx, key, event("i", `{"k":1}`), nil)
		must(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		session, err := store.Get(ctx, key, &seslite.Range{Newest: 20})
		must(b, err)
		for range session.Events() {
		}
		_, err = session.State()
		must(b, err)
		must(b, session.Close())
	}
}
