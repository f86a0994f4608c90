package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"time"
)

// A Relation is how a session is related to another one.
type Relation int

// The relations of a session.
const (
	Parent  Relation = C.SES_RELATION_PARENT   // it was forked from this one
	Fork    Relation = C.SES_RELATION_FORK     // this one was forked from it
	Sibling Relation = C.SES_RELATION_SIBLING  // both were forked from the same session, after the same event
	Owner   Relation = C.SES_RELATION_CHILD_OF // it is a child of this one
	IsChild Relation = C.SES_RELATION_CHILD    // this one is a child of it
)

// A Relative is a session that is related to another one.
type Relative struct {
	Relation Relation
	Key      Key
	Seq      int64 // the last event that both have; 0 for children
	Created  time.Time
}

// Family returns the sessions that are related to one: parent, forks, siblings, and children.
func (s *Store) Family(ctx context.Context, key Key) (relatives []Relative, err error) {
	_, err = s.do(ctx, func(c *call) C.int {
		var family *C.ses_family
		code := C.ses_family_open(c.store, c.key(key), c.options(), &family, &c.err)
		if family == nil {
			return code
		}
		defer C.ses_family_close(family)
		for i := C.size_t(0); i < C.ses_family_count(family); i++ {
			found := C.ses_family_at(family, i)
			relatives = append(relatives, Relative{
				Relation: Relation(found.relation),
				Key:      Key{key.App, C.GoString(found.user), C.GoString(found.session)},
				Seq:      int64(found.seq),
				Created:  timeOf(found.created_us),
			})
		}
		return code
	})
	return relatives, err
}
