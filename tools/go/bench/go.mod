module example.org/seslite/bench

go 1.24

require (
	example.org/seslite v0.0.0
	github.com/mattn/go-sqlite3 v1.14.53
)

replace example.org/seslite => ../../../build/go/module
