// Times seslite beside a plain session store on database/sql and go-sqlite3, in one run and in shuffled rounds:
//
//	make go-package && cd tools/go/bench && go run -tags libsqlite3 .     (both on the system's SQLite)
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A contestant keeps sessions. Its appends are durable, and change one key of the session's state.
type contestant interface {
	create(ctx context.Context, id string) error
	append(ctx context.Context, id string, event []byte) error
	get(ctx context.Context, id string, newest int) (events int, err error)
	close() error
}

// A task is what is timed: so many calls, by so many goroutines.
type task struct {
	name       string
	calls      int
	goroutines int
	run        func(ctx context.Context, c contestant, g, i int) error
}

func event(g, i int) []byte {
	return fmt.Appendf(nil, `{"id":"e-%d-%d-%d","author":"agent","invocationId":"i","timestamp":%d,"content":{"parts":[{"text":"%0*d"}]},`+
		`"actions":{"stateDelta":{"k%d":%d}}}`, g, i, rand.Int63(), 1_700_000_000+i, 300, i, i%50, i)
}

func session(g int) string { return fmt.Sprint("s", g) }

var tasks = []task{
	{"append", 15, 1, func(ctx context.Context, c contestant, g, i int) error { return c.append(ctx, session(g), event(g, i)) }},
	{"append, with a deadline", 15, 1, func(ctx context.Context, c contestant, g, i int) error {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return c.append(limited, session(g), event(g, i))
	}},
	{"append, 16 goroutines", 5, 16, func(ctx context.Context, c contestant, g, i int) error { return c.append(ctx, session(g), event(g, i)) }},
	{"get 20 events", 50, 1, func(ctx context.Context, c contestant, g, _ int) error {
		_, err := c.get(ctx, session(g), 20)
		return err
	}},
	{"get 20 events, 16 goroutines", 10, 16, func(ctx context.Context, c contestant, g, _ int) error {
		_, err := c.get(ctx, session(g), 20)
		return err
	}},
}

// measure returns the time of one call.
func measure(ctx context.Context, t task, c contestant) (time.Duration, error) {
	var wait sync.WaitGroup
	failures := make(chan error, t.goroutines)
	begin := time.Now()
	for g := range t.goroutines {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range t.calls {
				if err := t.run(ctx, c, g, i); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	wait.Wait()
	elapsed := time.Since(begin)
	close(failures)
	return elapsed / time.Duration(t.calls*t.goroutines), <-failures
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func compare(ctx context.Context, contestants map[string]contestant, rounds int) error {
	times := map[string]map[string][]time.Duration{}
	for _, t := range tasks {
		times[t.name] = map[string][]time.Duration{}
	}
	names := []string{"seslite", "database/sql"}
	for range rounds {
		for _, t := range rand.Perm(len(tasks)) {
			for _, n := range rand.Perm(len(names)) {
				took, err := measure(ctx, tasks[t], contestants[names[n]])
				if err != nil {
					return fmt.Errorf("%s, %s: %w", names[n], tasks[t].name, err)
				}
				times[tasks[t].name][names[n]] = append(times[tasks[t].name][names[n]], took)
			}
		}
	}
	for _, t := range tasks {
		ours, theirs := median(times[t.name][names[0]]), median(times[t.name][names[1]])
		fmt.Printf("%-30s %10v  database/sql %10v  %.2f times as fast\n", t.name, ours.Round(time.Microsecond),
			theirs.Round(time.Microsecond), float64(theirs)/float64(ours))
	}
	return nil
}

func run(where string, rounds int) error {
	ctx := context.Background()
	folder, err := os.MkdirTemp(where, "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	ours, err := openSeslite(filepath.Join(folder, "seslite.db"))
	if err != nil {
		return err
	}
	defer ours.close()
	plain, err := openPlain(ctx, filepath.Join(folder, "plain.db"))
	if err != nil {
		return err
	}
	defer plain.close()
	contestants := map[string]contestant{"seslite": ours, "database/sql": plain}
	for _, c := range contestants {
		for g := range 16 {
			if err := c.create(ctx, session(g)); err != nil {
				return err
			}
			for i := range 50 {
				if err := c.append(ctx, session(g), event(g, i)); err != nil {
					return err
				}
			}
			if events, err := c.get(ctx, session(g), 20); err != nil || events != 20 {
				return fmt.Errorf("%d events: %w", events, err)
			}
		}
	}
	return compare(ctx, contestants, rounds)
}

func main() {
	rounds := flag.Int("rounds", 61, "how often each task is timed")
	folder := flag.String("folder", "", "where the files are, if not among temporary files")
	flag.Parse()
	if err := run(*folder, *rounds); err != nil {
		log.Fatal(err)
	}
}
