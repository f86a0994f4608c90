//go:build seslite_postgres

package lib

// #cgo pkg-config: libpq
// #cgo CFLAGS: -DSESLITE_POSTGRES
import "C"
