package remote

import "filebus/store/record"

// What tests ask of a name.

func (n Name) Kind() Kind             { return n.kind }
func (n Name) Teller() record.StoreID { return n.teller }
func (n Name) Span() Span             { return n.span }
